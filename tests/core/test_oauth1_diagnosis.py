"""Each usual mistake in signing is told apart, within bounds, and no secret is told with it."""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_platform.core import oauth1_diagnosis
from mock_platform.core.oauth1 import SignedRequest, parse
from mock_platform.core.oauth1_diagnosis import (
    LONGEST_PARAMETERS,
    MISTAKES,
    MOST_CHARACTERS,
    MOST_GUESSES,
    MOST_PARAMETERS,
    MOST_SECRETS,
    Diagnosis,
    explain,
)

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
    """Parameters encoded and joined in the order given."""
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
    """A request with this signature, the usual one but for what is given."""
    query = urlencode(QUERY) if query is None else query
    form = urlencode(FORM) if form == "" else form
    items = [*header, ("oauth_signature", sent)]
    authorization = "OAuth " + ", ".join(f'{name}="{percent(value)}"' for name, value in items)
    url = f"{address}?{query}" if query else address
    return SignedRequest(method, url, authorization, form, body)


def diagnosis(
    signed: SignedRequest,
    *,
    token_secret: str = TOKEN_SECRET,
    others: dict[str, str] | None = None,
    hosts: Sequence[str] = HOSTS,
) -> Diagnosis:
    """What is told of a request."""
    credentials = parse(signed)
    assert credentials is not None
    others = OTHERS if others is None else others
    return explain(signed, credentials, CONSUMER_SECRET, token_secret, others, hosts)


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
    elsewhere(
        "address-host", f"http://localhost:8080{PATH}", "host localhost instead of 127.0.0.1"
    ),
    elsewhere(
        "address-host",
        f"https://api.platform.test{PATH}",
        HTTPS,
        NO_PORT,
        "host api.platform.test instead of 127.0.0.1",
    ),
    elsewhere(
        "address-host",
        f"https://api.platform.test{BARE}",
        HTTPS,
        NO_PORT,
        "host api.platform.test instead of 127.0.0.1",
        "world prefix and /sandbox left out",
    ),
    elsewhere(
        "address-host",
        f"https://proxy.test:9443{UNPREFIXED}/".removesuffix("/"),
        HTTPS,
        PORT,
        "host proxy.test instead of 127.0.0.1",
        "world prefix left out",
    ),
    elsewhere("address-world-prefix", ORIGIN + UNPREFIXED, "world prefix left out"),
    elsewhere("address-sandbox-prefix", f"{ORIGIN}/~w1{BARE}", "/sandbox left out"),
    elsewhere("address-sandbox-prefix", ORIGIN + BARE, "world prefix and /sandbox left out"),
    elsewhere("address-trailing-slash", f"{ADDRESS}/", "slash at the end added"),
    elsewhere("address-path-encoding", unquote(ADDRESS), "path percent-decoded"),
    elsewhere("address-path-encoding", ADDRESS.replace("%", "%25"), "path percent-encoded again"),
    elsewhere("query-in-address", QUERY_ADDRESS, "query left in it"),
    elsewhere(
        "query-in-address", QUERY_ADDRESS, "query left in it", parameters=joined([*FORM, *OAUTH])
    ),
    elsewhere("address-scheme", f"https://127.0.0.1:8080{PATH}/", HTTPS, "slash at the end added"),
    Wrong(
        "address-host-case",
        "'http://LOCALHOST:8080/12/a' when it called 'http://localhost:8080/12/a': "
        "host not in lowercase.",
        request(
            signature(address="http://LOCALHOST:8080/12/a"), address="http://LOCALHOST:8080/12/a"
        ),
    ),
    Wrong(
        "address-trailing-slash",
        "slash at the end left out",
        request(signature(address=f"{ORIGIN}/12/a"), address=f"{ORIGIN}/12/a/"),
    ),
    Wrong(
        "address-port",
        "port 80 instead of none",
        request(signature(address="http://localhost:80/12"), address="http://localhost/12"),
    ),
    Wrong(
        "address-world-prefix",
        f"'{ORIGIN}/' when",
        request(signature(address=f"{ORIGIN}/"), address=f"{ORIGIN}/~w1"),
    ),
]
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
    *[
        wrong("parameter-missing", f"the parameter '{name}' out", parameters=joined(without(name)))
        for name in ("text", "a b", "oauth_callback", "oauth_token", "oauth_nonce", "c1")
    ],
    Wrong(
        "empty-values-missing",
        "without a value",
        request(
            signature(parameters=joined([("r", "1"), ("t", "2"), *OAUTH])),
            query="p=&r=1",
            form="s=&t=2",
        ),
    ),
    wrong("repeated-counted-once", "only once", parameters=joined(REPEATED_LAST)),
    Wrong(
        "repeated-counted-once",
        "only once",
        request(
            signature(parameters=joined([("a", "1"), ("z", "1"), *OAUTH])),
            query="a=1&a=2&z=1&z=2",
            form=None,
        ),
    ),
    Wrong(
        "repeated-counted-once",
        "only once",
        request(
            signature(parameters=joined([("a", "1"), ("z", "1"), *OAUTH])),
            query="a=1&a=1&z=1&z=1",
            form=None,
        ),
    ),
    wrong("counted-twice", "counted the query twice", parameters=joined([*SENT, *QUERY])),
    wrong("counted-twice", "counted the body twice", parameters=joined([*SENT, *FORM])),
    wrong(
        "counted-twice", "the parameter 'oauth_token' twice",
        parameters=joined([*SENT, ("oauth_token", "token")]),
    ),
    wrong(
        "parameter-extra", "signed oauth_version=1.0,",
        parameters=joined([*SENT, ("oauth_version", "1.0")]),
    ),
    wrong(
        "parameter-extra", "signed oauth_verifier=,",
        parameters=joined([*SENT, ("oauth_verifier", "")]),
    ),
    Wrong("realm-signed", "the realm", REALM),
    bodied(
        "json-body-signed", JSON,
        [("name", "A card"), ("count", "3"), ("deep", '{"a":[1]}')],
    ),
    bodied("json-body-signed", JSON, [(JSON, "")]),
    bodied("json-body-signed", "[1]", [("body", "[1]")]),
    bodied("form-type-missing", "text=a+b&d=1", [("text", "a b"), ("d", "1")]),
    Wrong(
        "plus-not-encoded",
        "send it as %2B",
        request(
            signature(parameters=joined([("q", "a+b"), ("r", "c+d"), *OAUTH])),
            query="q=a+b", form="r=c+d",
        ),
    ),
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
    wrong(
        "double-encoded",
        TWICE.format("the value of 'oauth_callback'"),
        parameters=one_twice("oauth_callback"),
    ),
    wrong("double-encoded", TWICE.format("the joined parameters"), parameters=percent(PARAMETERS)),
    wrong("double-encoded", TWICE.format("the address"), address=percent(ADDRESS)),
    wrong(
        "double-encoded",
        TWICE.format("the address and the joined parameters"),
        address=percent(ADDRESS),
        parameters=percent(PARAMETERS),
    ),
    *encoded("not-encoded", RAW.format("the parameters"), str),
    wrong(
        "not-encoded",
        RAW.format("the joined parameters"),
        base=f"POST&{percent(ADDRESS)}&{PARAMETERS}",
    ),
    wrong("not-encoded", RAW.format("the address"), base=f"POST&{ADDRESS}&{percent(PARAMETERS)}"),
    wrong(
        "not-encoded",
        RAW.format("the address and the joined parameters"),
        base=f"POST&{ADDRESS}&{PARAMETERS}",
    ),
    *encoded("space-as-plus", "spaces as +", lambda it: quote_plus(it, safe="~")),
    *encoded(
        "space-as-plus", "spaces as +", lambda it: quote_plus(it, safe="*").replace("~", "%7E")
    ),
    *encoded("reserved-characters", "another set", lambda it: quote(it, safe="~!*'()")),
    *encoded("reserved-characters", "another set", lambda it: quote(it, safe="~/")),
    *encoded("reserved-characters", "another set", lambda it: quote(it, safe="~!*'();/?:@&=+$,#")),
    *encoded("reserved-characters", "another set", lambda it: percent(it).replace("~", "%7E")),
    *encoded("lowercase-hex", "as in %2f", lambda it: lower_hex(percent(it))),
    wrong("lowercase-hex", "as in %2f", base=lower_hex(BASE)),
    wrong(
        "lowercase-hex",
        "as in %2f",
        base=lower_hex(f"POST&{percent(ADDRESS)}&{percent(lower_hex(PARAMETERS))}"),
    ),
    wrong(
        "decoded-twice", "once too often", parameters=joined(encode=lambda it: percent(unquote(it)))
    ),
]
OAUTH_FIRST = [*sorted(OAUTH), *sorted((percent(n), percent(v)) for n, v in (*QUERY, *FORM))]
ORDERS = [
    wrong(
        "values-not-sorted", "not to have sorted the values",
        parameters=joined(arrange=lambda pairs: sorted(pairs, key=lambda pair: pair[0])),
    ),
    wrong("sorted-before-encoding", "before encoding", parameters=as_arranged(sorted(SENT))),
    wrong(
        "sorted-ignoring-case", "without regard to case",
        parameters=joined(
            arrange=lambda pairs: sorted(pairs, key=lambda pair: (pair[0].lower(), pair[1]))
        ),
    ),
    wrong(
        "sorted-ignoring-case", "without regard to case",
        parameters=joined(
            arrange=lambda pairs: sorted(pairs, key=lambda pair: pair[0].lower())
        ),
    ),
    wrong(
        "sorted-as-joined", "name=value",
        parameters=joined(arrange=lambda pairs: sorted(pairs, key="=".join)),
    ),
    wrong("not-sorted", "in another order", parameters=as_arranged(SENT)),
    wrong("not-sorted", "in another order", parameters=as_arranged([*OAUTH, *FORM, *QUERY])),
    wrong("not-sorted", "in another order", parameters=as_arranged([*sorted(OAUTH), *QUERY, *FORM])),
    wrong(
        "not-sorted", "with the OAuth parameters sorted apart",
        parameters="&".join(
            [joined(OAUTH), joined([*QUERY, *FORM])]
        ),
    ),
    wrong(
        "not-sorted", "with the OAuth parameters sorted apart",
        parameters="&".join(
            [joined([*QUERY, *FORM]), joined(OAUTH)]
        ),
    ),
]  # fmt: skip
ALL = [*SIGNATURES, *KEYS, *METHODS, *ADDRESSES, *WHICH, *WRITTEN, *ORDERS]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.mistake)
def test_mistake_is_told(case: Wrong) -> None:
    """The mistake that a client signed with is named, with what it concerns."""
    found = diagnosis(case.signed)

    assert (case.mistake, True) == (found.mistake, case.says in found.explanation)


def test_every_mistake_is_tried() -> None:
    """No mistake is listed that the tests above do not sign with."""
    assert set(MISTAKES) == {case.mistake for case in ALL}


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.mistake)
def test_no_secret_is_told(case: Wrong) -> None:
    """Neither a secret, encoded or not, nor the signature stands in a diagnosis."""
    credentials = parse(case.signed)
    assert credentials is not None
    told = json.dumps(diagnosis(case.signed).as_json())
    secrets = [CONSUMER_SECRET, TOKEN_SECRET, *OTHERS.values()]
    kept = [*secrets, *map(percent, secrets), credentials.signature, percent(credentials.signature)]

    assert [] == [secret for secret in kept if secret in told]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.mistake)
def test_explanation_is_short(case: Wrong) -> None:
    """An explanation is one sentence or two that say what was done and what to do."""
    explanation = diagnosis(case.signed).explanation

    assert explanation.endswith(".")
    assert len(explanation) < 500
    assert "{" not in explanation


def test_base_string_and_parameters_are_the_servers() -> None:
    """The server's own base string and normalized parameters are shown whole."""
    found = diagnosis(request("c2ln"))

    assert BASE == found.base_string
    assert PARAMETERS == found.normalized_parameters
    assert {
        "base_string": BASE,
        "normalized_parameters": PARAMETERS,
        "mistake": "signature-form",
        "explanation": "oauth_signature is not the base64 text of a 20-byte HMAC-SHA1 digest, 28 "
        "characters that end in =; send that, percent-encoded once.",
    } == found.as_json()


def test_right_signature() -> None:
    """A right signature has no mistake."""
    found = diagnosis(request(signature()))

    assert (None, "The signature is right.") == (found.mistake, found.explanation)


def test_wrong_secret() -> None:
    """A signature that no usual mistake gives is put down to the secrets, and both are named."""
    found = diagnosis(request(signature(key="another&secret")))

    assert "secret" == found.mistake
    assert (
        "No usual mistake reproduces this signature, so most likely the consumer secret of 'key' "
        "or the secret of the oauth_token that is sent differs from the one that the client "
        "signed with. Compare the client's secrets with the ones that were issued here, then its "
        "base string with this one, character by character."
    ) == found.explanation


def test_wrong_secret_without_token() -> None:
    """Without a token only the consumer secret is suspected, and its key may lack the &."""
    pairs = [pair for pair in OAUTH if pair[0] != "oauth_token"]
    parameters = joined([*QUERY, *FORM, *pairs])
    wrong_secret = request(signature(parameters=parameters, key="another&"), header=pairs)
    no_ampersand = request(signature(parameters=parameters, key=C), header=pairs)
    empty_token = [*pairs, ("oauth_token", "")]
    extra = signature(parameters=joined([*QUERY, *FORM, *empty_token]), key=f"{C}&")

    assert "the oauth_token" not in diagnosis(wrong_secret, token_secret="").explanation
    assert "ampersand-missing" == diagnosis(no_ampersand, token_secret="").mistake
    assert "parameter-extra" == diagnosis(request(extra, header=pairs), token_secret="").mistake


def test_token_of_a_request_without_one() -> None:
    """A token's secret used where no token is sent is found among the other secrets."""
    pairs = [pair for pair in OAUTH if pair[0] != "oauth_token"]
    sent = signature(parameters=joined([*QUERY, *FORM, *pairs]), key=f"{C}&{O8}")
    found = diagnosis(request(sent, header=pairs), token_secret="")

    assert "other-secret" == found.mistake
    assert "used the secret of token 8 as token secret." in found.explanation


@pytest.mark.parametrize("counted", ["once", "twice"])
def test_mistakes_beside_a_repeated_token(counted: str) -> None:
    """A mistake is also told of a client that counts a repeated OAuth parameter once."""
    form = [("oauth_token", "token"), ("text", "a")]
    pairs = [*form[1:], *OAUTH] if counted == "once" else [*form, *OAUTH]
    address = "https://api.platform.test/12/a"
    sent = signature(address=address, parameters=joined(pairs))
    signed = request(sent, address=f"{ORIGIN}/12/a", query="", form=urlencode(form))

    assert "address-host" == diagnosis(signed).mistake


# -- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "mistake"), [(99, "other-secret"), (100, "secret")])
def test_number_of_other_secrets(number: int, mistake: str) -> None:
    """The first hundred other secrets are tried."""
    others = {f"secret {place}": f"number-{place}" for place in range(200)}
    signed = request(signature(key=f"number-{number}&{T}"))

    assert 100 == MOST_SECRETS
    assert mistake == diagnosis(signed, others=others).mistake


@pytest.mark.parametrize(("number", "mistake"), [(7, "address-host"), (8, "secret")])
def test_number_of_hosts(number: int, mistake: str) -> None:
    """The first eight hosts are tried."""
    hosts = [f"host{place}.test" for place in range(20)]
    signed = request(signature(address=f"http://host{number}.test:8080{PATH}"))

    assert mistake == diagnosis(signed, hosts=hosts).mistake


@pytest.mark.parametrize("beyond", [0, 1])
def test_number_of_parameters(beyond: int) -> None:
    """Each parameter is looked at in requests of up to 64, and it is said when it was not."""
    pairs = [(f"p{place}", "1") for place in range(MOST_PARAMETERS + beyond - len(OAUTH))]
    sent = signature(parameters=joined([*pairs[1:], *OAUTH]))
    found = diagnosis(request(sent, query=urlencode(pairs), form=None))

    assert ["parameter-missing", "secret"][beyond] == found.mistake
    assert beyond == found.explanation.startswith("The request is too long to try every")


@pytest.mark.parametrize("beyond", [0, 1])
def test_length_of_parameters(beyond: int) -> None:
    """Each parameter is looked at in requests of up to 4,000 characters of parameters."""
    filler = "x" * (LONGEST_PARAMETERS + beyond - len(joined(OAUTH)) - len("p=1&q=&"))
    pairs = [("p", "1"), ("q", filler)]
    sent = signature(parameters=joined([*pairs[1:], *OAUTH]))
    signed = request(sent, query=urlencode(pairs), form=None)

    assert LONGEST_PARAMETERS + beyond == len(diagnosis(signed).normalized_parameters)
    assert ["parameter-missing", "secret"][beyond] == diagnosis(signed).mistake


def counted(signed: SignedRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Diagnosis, int, int]:
    """The diagnosis of a request, how many times it was signed, and how many characters."""
    signings: list[int] = []

    def counting(base: str, key: str, algorithm: str = "sha1") -> bytes:
        signings.append(len(base))
        return hmac.digest(key.encode(), base.encode(), algorithm)

    monkeypatch.setattr(oauth1_diagnosis, "_hmac", counting)
    others = {f"secret {place}": f"number-{place}" for place in range(200)}
    hosts = [f"host{place}.test:{place + 1000}" for place in range(20)]
    found = diagnosis(signed, others=others, hosts=hosts)
    return found, len(signings), sum(signings)


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("&".join(f"p{place}=%25{place}" for place in range(5_000)), None),
        ("a=1", "&".join("a=1" for _ in range(20_000))),
        ("q=" + "x" * 200_000, "a[]=%20" * 5_000),
        ("&".join(f"p{place}=%25+{place}" for place in range(50)), None),
        ("oauth_token=token&b=1", "oauth_token=token"),
    ],
    ids=["names", "repeated", "long", "detailed", "merged"],
)
def test_hostile_requests_are_bounded(
    query: str, form: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large a request is, it is signed again a bounded number of times and characters."""
    signed = request(signature(key="another&secret"), query=query, form=form)
    found, times, characters = counted(signed, monkeypatch)
    unbounded = 4 * 2 * len(found.base_string)  # the right one and three other hashes, twice

    assert "secret" == found.mistake
    assert times <= MOST_GUESSES + 8
    assert characters <= MOST_CHARACTERS + unbounded


def test_bounds_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guessing ends with the last allowed guess and says that it did not try everything."""
    signed = request(signature(key="another&secret"))
    monkeypatch.setattr(oauth1_diagnosis, "MOST_GUESSES", 10)
    few, times, _ = counted(signed, monkeypatch)
    monkeypatch.setattr(oauth1_diagnosis, "MOST_GUESSES", 10_000)
    monkeypatch.setattr(oauth1_diagnosis, "MOST_CHARACTERS", 20 * len(BASE))
    short, more, _ = counted(signed, monkeypatch)

    assert (10 + 3, 20 + 3) == (times, more)
    assert few.explanation.startswith("The request is too long to try every usual mistake")
    assert short.explanation.startswith("The request is too long to try every usual mistake")


@pytest.mark.parametrize(("secret", "shown"), [("12345678", False), ("1234567", True)])
def test_secret_sent_as_a_parameter(secret: str, shown: bool) -> None:
    """A secret that a client sends as a parameter is taken out, unless it is shorter than 8."""
    others = {"the secret of app 7": secret}
    signed = request(signature(), query=urlencode([("api_secret", secret)]))
    found = diagnosis(signed, others=others)

    assert shown == (secret in found.base_string)
    assert shown == (secret in found.normalized_parameters)
    assert ("[redacted]" in found.base_string) == (not shown)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
NAME = TEXT.filter(lambda name: not name.startswith("oauth_"))


@settings(deadline=None, max_examples=40)
@given(
    query=st.lists(st.tuples(NAME, TEXT), max_size=4),
    form=st.lists(st.tuples(NAME, TEXT), max_size=4),
    body=TEXT,
    other=st.sampled_from(["another&secret", f"{C}&", f"{T}&{C}"]),
)
def test_any_parameters(query: Pairs, form: Pairs, body: str, other: str) -> None:
    """Whatever is sent, a wrong key is told as what it is and no guess stumbles."""
    sent = signature(parameters=joined([*query, *form, *OAUTH]), key=other)
    signed = request(sent, query=urlencode(query), form=urlencode(form) or None, body=body)
    expected = {"another&secret": "secret", f"{C}&": "token-secret-missing"}

    assert expected.get(other, "secrets-swapped") == diagnosis(signed).mistake
