"""Requests signed with each usual mistake, made without the code that looks for mistakes."""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote, urlencode

from mock_platform.core.auth.oauth1 import SignedRequest

CONSUMER_SECRET = "consumer/secret+%1"
TOKEN_SECRET = "token secret&~2"
KEY = "consumer%2Fsecret%2B%251&token%20secret%26~2"
ORIGIN = "http://127.0.0.1:8080"
PATH = "/~w1/sandbox/12/accounts/18ce54d4x5t/line%20items"
ADDRESS = ORIGIN + PATH
OTHERS = {"the secret of app 7": "seventh app's", "the secret of token 8": "eighth token's"}
HOSTS = ("api.platform.test", "proxy.test:9443")

Pairs = list[tuple[str, str]]
QUERY: Pairs = [("b", "2"), ("B", "1"), ("a", "9"), ("a", "10"), ("a b", "x/y z")]
FORM: Pairs = [
    ("text", "Hello + a *signed* (request)! 50%25 ~é"),
    ("c[", "1"),
    ("c1", ""),
    ("c", "="),
]
OAUTH: Pairs = [
    ("oauth_timestamp", "1318622958"),
    ("oauth_consumer_key", "key"),
    ("oauth_nonce", "nonce+/="),
    ("oauth_signature_method", "HMAC-SHA1"),
    ("oauth_token", "token"),
    ("oauth_callback", "http://localhost/cb?x=1"),
]
SENT: Pairs = [*QUERY, *FORM, *OAUTH]


def percent(text: str) -> str:
    """Percent-encoding as RFC 5849 asks for it."""
    return quote(text, safe="~")


def joined(
    pairs: Iterable[tuple[str, str]] = SENT,
    encode: Callable[[str], str] = percent,
    arrange: Callable[[Pairs], Iterable[tuple[str, str]]] = sorted,
) -> str:
    """The parameters encoded, then arranged, then joined."""
    encoded = [(encode(name), encode(value)) for name, value in pairs]
    return "&".join(f"{name}={value}" for name, value in arrange(encoded))


def as_arranged(pairs: Iterable[tuple[str, str]]) -> str:
    """Parameters encoded and joined in this order."""
    return joined(pairs, arrange=lambda encoded: encoded)


def digest(
    *,
    method: str = "POST",
    address: str = ADDRESS,
    parameters: str | None = None,
    base: str | None = None,
    key: str = KEY,
    algorithm: str = "sha1",
) -> bytes:
    """What a client computes; without arguments, the right thing for the usual request."""
    parameters = joined() if parameters is None else parameters
    base = base or f"{method}&{percent(address)}&{percent(parameters)}"
    return hmac.digest(key.encode(), base.encode(), algorithm)


def text(made: bytes) -> str:
    """A digest as it is sent."""
    return base64.b64encode(made).decode()


def signature(**how: Any) -> str:
    """The signature that a client sends which signs so."""
    return text(digest(**how))


def request(
    sent: str,
    *,
    method: str = "POST",
    address: str = ADDRESS,
    query: str | None = None,
    form: str | None = "",
    header: Sequence[tuple[str, str]] = OAUTH,
    body: str | None = None,
) -> SignedRequest:
    """A request with this signature, the usual one except for the arguments."""
    query = urlencode(QUERY) if query is None else query
    form = urlencode(FORM) if form == "" else form
    items = [*header, ("oauth_signature", sent)]
    authorization = "OAuth " + ", ".join(f'{name}="{percent(value)}"' for name, value in items)
    url = f"{address}?{query}" if query else address
    return SignedRequest(method, url, authorization, form, body)


class Wrong(NamedTuple):
    """A request signed with one mistake, and a part of what is said about it."""

    mistake: str
    says: str
    signed: SignedRequest


def wrong(mistake: str, says: str = "", **how: Any) -> Wrong:
    """The usual request, signed with a mistake."""
    return Wrong(mistake, says, request(signature(**how)))


def without(name: str) -> Pairs:
    """The usual parameters but one."""
    return [pair for pair in SENT if pair[0] != name]


def lower_hex(escaped: str) -> str:
    """Percent-encoding with small letters."""
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), escaped)


C, T = KEY.split("&")
O7, O8 = (percent(secret) for secret in OTHERS.values())
RAW_KEY = f"{CONSUMER_SECRET}&{TOKEN_SECRET}"
RIGHT = digest()
PARAMETERS = joined()
BASE = f"POST&{percent(ADDRESS)}&{percent(PARAMETERS)}"
QUERY_ADDRESS = f"{ADDRESS}?{urlencode(QUERY)}"


def with_raw_plus() -> SignedRequest:
    """A request with everything in the query, whose right signature holds a + sent as it is."""
    for number in range(1_000):
        pairs = [*OAUTH[:2], *OAUTH[3:], ("oauth_nonce", str(number))]
        sent = signature(parameters=joined(pairs))
        if "+" in sent and "/" in sent:
            break
    query = f"{urlencode(pairs)}&oauth_signature={sent}"
    return SignedRequest("POST", f"{ADDRESS}?{query}", None, None)


SIGNATURES = [
    Wrong("signature-not-encoded", "%2B", with_raw_plus()),
    Wrong("signature-encoded-twice", "twice", request(percent(text(RIGHT)))),
    Wrong("signature-encoded-twice", "twice", request(percent(percent(text(RIGHT))))),
    Wrong("signature-alphabet", "URL-safe", request(text(RIGHT).rstrip("="))),
    Wrong("signature-alphabet", "URL-safe", request(base64.urlsafe_b64encode(RIGHT).decode()[:-1])),
    Wrong("signature-hexadecimal", "hexadecimal", request(RIGHT.hex())),
    Wrong("signature-hexadecimal", "hexadecimal", request(RIGHT.hex().upper())),
    Wrong("signature-hexadecimal", "hexadecimal", request(text(RIGHT.hex().encode()))),
    Wrong("other-hash", "HMAC-SHA256", request(signature(algorithm="sha256"))),
    Wrong("other-hash", "HMAC-SHA256", request(digest(algorithm="sha256").hex())),
    Wrong("other-hash", "HMAC-SHA512", request(signature(algorithm="sha512"))),
    Wrong("plaintext", "signing key itself", request(KEY)),
    Wrong("plaintext", "signing key itself", request(RAW_KEY)),
    Wrong("signature-form", "28 characters", request("c2ln")),
    Wrong("signature-form", "28 characters", request("no base64")),
]
KEYS = [
    wrong("token-secret-missing", "left the token secret out", key=f"{C}&"),
    wrong("consumer-secret-missing", "left the consumer secret out", key=f"&{T}"),
    wrong("secrets-swapped", "before the consumer secret", key=f"{T}&{C}"),
    wrong("ampersand-missing", "without &", key=f"{C}{T}"),
    wrong("ampersand-missing", "without &", key=C),
    wrong("ampersand-missing", "without &", key=CONSUMER_SECRET + TOKEN_SECRET),
    wrong("secrets-not-encoded", "percent-encode each", key=RAW_KEY),
    wrong("secrets-not-encoded", "percent-encode each", key=f"{C}&{TOKEN_SECRET}"),
    wrong("secrets-not-encoded", "percent-encode each", key=f"{CONSUMER_SECRET}&{T}"),
    wrong("secret-not-trimmed", "a line end", key=f"{C}%0A&{T}%0A"),
    wrong("secret-not-trimmed", "a line end", key=f"{C}&{T}%0D%0A"),
    wrong("secret-not-trimmed", "quotation marks", key=f"%22{C}%22&{T}"),
    wrong("other-secret", "used the secret of app 7 as consumer secret.", key=f"{O7}&{T}"),
    wrong("other-secret", "used the secret of token 8 as token secret.", key=f"{C}&{O8}"),
    wrong(
        "other-secret",
        "the secret of app 7 as consumer secret and the secret of token 8 as token secret.",
        key=f"{O7}&{O8}",
    ),
]
METHODS = [
    wrong("method-lowercase", "sign 'POST'", method="post"),
    wrong("other-method", "the method GET instead of 'POST'", method="GET"),
    wrong("other-method", "the method PUT instead of 'POST'", method="PUT"),
]


def elsewhere(mistake: str, address: str, *says: str, **how: Any) -> Wrong:
    """The usual request, signed for another address."""
    shown = repr(address.partition("?")[0])
    sentence = f"the address {shown} when it called '{ADDRESS}': {', '.join(says)}. Sign"
    return wrong(mistake, sentence, address=address, **how)


UNPREFIXED = PATH.removeprefix("/~w1")
BARE = UNPREFIXED.removeprefix("/sandbox")
HTTPS, PORT, NO_PORT = (
    "https instead of http",
    "port 9443 instead of 8080",
    "port left out instead of 8080",
)
ADDRESSES = [
    elsewhere("address-scheme", ADDRESS.replace("http:", "https:"), HTTPS),
    elsewhere("address-port", f"http://127.0.0.1{PATH}", NO_PORT),
    elsewhere("address-port", f"http://127.0.0.1:80{PATH}", "port 80 instead of 8080"),
    elsewhere("address-host", f"http://localhost:8080{PATH}",
              "host localhost instead of 127.0.0.1"),
    elsewhere("address-host", f"https://api.platform.test{PATH}", HTTPS, NO_PORT,
              "host api.platform.test instead of 127.0.0.1"),
    elsewhere("address-host", f"https://api.platform.test{BARE}", HTTPS, NO_PORT,
              "host api.platform.test instead of 127.0.0.1", "world prefix and /sandbox left out"),
    elsewhere("address-host", f"https://proxy.test:9443{UNPREFIXED}/".removesuffix("/"), HTTPS,
              PORT, "host proxy.test instead of 127.0.0.1", "world prefix left out"),
    elsewhere("address-world-prefix", ORIGIN + UNPREFIXED, "world prefix left out"),
    elsewhere("address-sandbox-prefix", f"{ORIGIN}/~w1{BARE}", "/sandbox left out"),
    elsewhere("address-sandbox-prefix", ORIGIN + BARE, "world prefix and /sandbox left out"),
    elsewhere("address-trailing-slash", f"{ADDRESS}/", "slash at the end added"),
    elsewhere("address-path-encoding", unquote(ADDRESS), "path percent-decoded"),
    elsewhere("address-path-encoding", ADDRESS.replace("%", "%25"), "path percent-encoded again"),
    elsewhere("query-in-address", QUERY_ADDRESS, "query left in it"),
    elsewhere("query-in-address", QUERY_ADDRESS, "query left in it",
              parameters=joined([*FORM, *OAUTH])),
    elsewhere("address-scheme", f"https://127.0.0.1:8080{PATH}/", HTTPS, "slash at the end added"),
    Wrong("address-host-case",
          "'http://LOCALHOST:8080/12/a' when it called 'http://localhost:8080/12/a': "
          "host not in lowercase.",
          request(signature(address="http://LOCALHOST:8080/12/a"),
                  address="http://LOCALHOST:8080/12/a")),
    Wrong("address-trailing-slash", "slash at the end left out",
          request(signature(address=f"{ORIGIN}/12/a"), address=f"{ORIGIN}/12/a/")),
    Wrong("address-port", "port 80 instead of none",
          request(signature(address="http://localhost:80/12"), address="http://localhost/12")),
    Wrong("address-world-prefix", f"'{ORIGIN}/' when",
          request(signature(address=f"{ORIGIN}/"), address=f"{ORIGIN}/~w1")),
]  # fmt: skip
REPEATED_LAST: Pairs = list(dict(SENT).items())
REALM = request(
    signature(parameters=joined([*SENT, ("realm", "Ads")])), header=[("realm", "Ads"), *OAUTH]
)
JSON = json.dumps({"name": "A card", "count": 3, "deep": {"a": [1]}})


def bodied(mistake: str, body: str, pairs: Pairs) -> Wrong:
    """A request with a body that is no declared form, whose content was signed as parameters."""
    sent = signature(parameters=joined([*QUERY, *OAUTH, *pairs]))
    return Wrong(mistake, "", request(sent, form=None, body=body))


WHICH = [
    wrong("query-missing", "left the query out", parameters=joined([*FORM, *OAUTH])),
    wrong("body-missing", "left the form body out", parameters=joined([*QUERY, *OAUTH])),
    wrong("query-and-body-missing", "query and form body", parameters=joined(OAUTH)),
    *[wrong("parameter-missing", f"the parameter '{name}' out", parameters=joined(without(name)))
      for name in ("text", "a b", "oauth_callback", "oauth_token", "oauth_nonce", "c1")],
    Wrong("empty-values-missing", "without a value",
          request(signature(parameters=joined([("r", "1"), ("t", "2"), *OAUTH])), query="p=&r=1",
                  form="s=&t=2")),
    wrong("repeated-counted-once", "only once", parameters=joined(REPEATED_LAST)),
    Wrong("repeated-counted-once", "only once",
          request(signature(parameters=joined([("a", "1"), ("z", "1"), *OAUTH])),
                  query="a=1&a=2&z=1&z=2", form=None)),
    Wrong("repeated-counted-once", "only once",
          request(signature(parameters=joined([("a", "1"), ("z", "1"), *OAUTH])),
                  query="a=1&a=1&z=1&z=1", form=None)),
    wrong("counted-twice", "counted the query twice", parameters=joined([*SENT, *QUERY])),
    wrong("counted-twice", "counted the body twice", parameters=joined([*SENT, *FORM])),
    wrong("counted-twice", "the parameter 'oauth_token' twice",
          parameters=joined([*SENT, ("oauth_token", "token")])),
    wrong("parameter-extra", "signed oauth_version=1.0,",
          parameters=joined([*SENT, ("oauth_version", "1.0")])),
    wrong("parameter-extra", "signed oauth_verifier=,",
          parameters=joined([*SENT, ("oauth_verifier", "")])),
    Wrong("realm-signed", "the realm", REALM),
    bodied("json-body-signed", JSON, [("name", "A card"), ("count", "3"), ("deep", '{"a":[1]}')]),
    bodied("json-body-signed", JSON, [(JSON, "")]),
    bodied("json-body-signed", "[1]", [("body", "[1]")]),
    bodied("form-type-missing", "text=a+b&d=1", [("text", "a b"), ("d", "1")]),
    Wrong("plus-not-encoded", "send it as %2B",
          request(signature(parameters=joined([("q", "a+b"), ("r", "c+d"), *OAUTH])), query="q=a+b",
                  form="r=c+d")),
]  # fmt: skip


def encoded(mistake: str, says: str, encode: Callable[[str], str]) -> list[Wrong]:
    """Names and values encoded in another way: all of them, and all but the protocol's."""
    others = sorted(
        [(encode(name), encode(value)) for name, value in (*QUERY, *FORM)]
        + [(percent(name), percent(value)) for name, value in OAUTH]
    )
    return [
        wrong(mistake, says, parameters=joined(encode=encode)),
        wrong(mistake, says, parameters="&".join(f"{name}={value}" for name, value in others)),
    ]


def one_twice(called: str) -> str:
    """The parameters, the value of one encoded twice."""
    pairs = [(n, percent(percent(v) if n == called else v)) for n, v in SENT]
    return "&".join(f"{name}={value}" for name, value in sorted((percent(n), v) for n, v in pairs))


TWICE, RAW = "percent-encoded {} twice", "not to have percent-encoded {};"
WRITTEN = [
    *encoded("double-encoded", TWICE.format("the parameters"), lambda it: percent(percent(it))),
    wrong("double-encoded", TWICE.format("the value of 'text'"), parameters=one_twice("text")),
    wrong("double-encoded", TWICE.format("the value of 'oauth_callback'"),
          parameters=one_twice("oauth_callback")),
    wrong("double-encoded", TWICE.format("the joined parameters"), parameters=percent(PARAMETERS)),
    wrong("double-encoded", TWICE.format("the address"), address=percent(ADDRESS)),
    wrong("double-encoded", TWICE.format("the address and the joined parameters"),
          address=percent(ADDRESS), parameters=percent(PARAMETERS)),
    *encoded("not-encoded", RAW.format("the parameters"), str),
    wrong("not-encoded", RAW.format("the joined parameters"),
          base=f"POST&{percent(ADDRESS)}&{PARAMETERS}"),
    wrong("not-encoded", RAW.format("the address"), base=f"POST&{ADDRESS}&{percent(PARAMETERS)}"),
    wrong("not-encoded", RAW.format("the address and the joined parameters"),
          base=f"POST&{ADDRESS}&{PARAMETERS}"),
    *encoded("space-as-plus", "spaces as +", lambda it: quote_plus(it, safe="~")),
    *encoded("space-as-plus", "spaces as +",
             lambda it: quote_plus(it, safe="*").replace("~", "%7E")),
    *encoded("reserved-characters", "another set", lambda it: quote(it, safe="~!*'()")),
    *encoded("reserved-characters", "another set", lambda it: quote(it, safe="~/")),
    *encoded("reserved-characters", "another set", lambda it: quote(it, safe="~!*'();/?:@&=+$,#")),
    *encoded("reserved-characters", "another set", lambda it: percent(it).replace("~", "%7E")),
    *encoded("lowercase-hex", "as in %2f", lambda it: lower_hex(percent(it))),
    wrong("lowercase-hex", "as in %2f", base=lower_hex(BASE)),
    wrong("lowercase-hex", "as in %2f",
          base=lower_hex(f"POST&{percent(ADDRESS)}&{percent(lower_hex(PARAMETERS))}")),
    wrong("decoded-twice", "once too often",
          parameters=joined(encode=lambda it: percent(unquote(it)))),
]  # fmt: skip
OAUTH_FIRST = [*sorted(OAUTH), *sorted((percent(n), percent(v)) for n, v in (*QUERY, *FORM))]
ORDERS = [
    wrong("values-not-sorted", "not to have sorted the values",
          parameters=joined(arrange=lambda pairs: sorted(pairs, key=lambda pair: pair[0]))),
    wrong("sorted-before-encoding", "before encoding", parameters=as_arranged(sorted(SENT))),
    wrong("sorted-ignoring-case", "without regard to case",
          parameters=joined(
              arrange=lambda pairs: sorted(pairs, key=lambda pair: (pair[0].lower(), pair[1])))),
    wrong("sorted-ignoring-case", "without regard to case",
          parameters=joined(arrange=lambda pairs: sorted(pairs, key=lambda pair: pair[0].lower()))),
    wrong("sorted-as-joined", "name=value",
          parameters=joined(arrange=lambda pairs: sorted(pairs, key="=".join))),
    wrong("not-sorted", "in another order", parameters=as_arranged(SENT)),
    wrong("not-sorted", "in another order", parameters=as_arranged([*OAUTH, *FORM, *QUERY])),
    wrong("not-sorted", "in another order",
          parameters=as_arranged([*sorted(OAUTH), *QUERY, *FORM])),
    wrong("not-sorted", "with the OAuth parameters sorted apart",
          parameters="&".join([joined(OAUTH), joined([*QUERY, *FORM])])),
    wrong("not-sorted", "with the OAuth parameters sorted apart",
          parameters="&".join([joined([*QUERY, *FORM]), joined(OAUTH)])),
]  # fmt: skip
ALL = [*SIGNATURES, *KEYS, *METHODS, *ADDRESSES, *WHICH, *WRITTEN, *ORDERS]
