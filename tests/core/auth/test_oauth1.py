"""OAuth 1.0a: what is read from a request, and which signatures are right."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import quote, urlencode

import pytest
import requests
from authlib.oauth1 import ClientAuth
from hypothesis import given
from hypothesis import strategies as st
from oauthlib.oauth1 import (
    SIGNATURE_TYPE_AUTH_HEADER,
    SIGNATURE_TYPE_BODY,
    SIGNATURE_TYPE_QUERY,
    Client,
)
from requests_oauthlib import OAuth1

from mock_platform.core.auth.oauth1 import (
    MAX_NONCE_CHARACTERS,
    Credentials,
    MalformedAuthorization,
    SignedRequest,
    authorization_parameters,
    base_string,
    normalize,
    parse,
    quote_text,
    verify,
)
from tests.generated import examples

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
URL = "http://127.0.0.1:8080/~w1/12/accounts/18ce54d4x5t/line_items"
COMPLETE = {
    "oauth_consumer_key": "key", "oauth_nonce": "nonce", "oauth_signature": "c2ln",
    "oauth_signature_method": "HMAC-SHA1", "oauth_timestamp": "1318622958", "oauth_token": "token",
    "oauth_version": "1.0",
}  # fmt: skip


def header(parameters: dict[str, str]) -> str:
    """An OAuth header with these parameters."""
    pairs = [f'{quote(name, "")}="{quote(value, "~")}"' for name, value in parameters.items()]
    return "OAuth " + ", ".join(pairs)


def request(
    changes: dict[str, str | None] | None = None, *, url: str = URL, form: str | None = None
) -> SignedRequest:
    """A request with a complete header, some parameters of it changed or (`None`) left out."""
    wanted = {**COMPLETE, **(changes or {})}
    given_ = {name: value for name, value in wanted.items() if value is not None}
    return SignedRequest("POST", url, header(given_), form)


def parsed(signed: SignedRequest) -> Credentials:
    """The credentials of a request that has some."""
    credentials = parse(signed)
    assert credentials is not None
    return credentials


def fault(signed: SignedRequest) -> tuple[str, str]:
    """What is wrong with a request: parameter and message."""
    with pytest.raises(MalformedAuthorization) as caught:
        parse(signed)
    assert str(caught.value) == caught.value.message
    return caught.value.parameter, caught.value.message


def signature(base: str, key: str) -> str:
    """HMAC-SHA1 in base64, made without the code under test."""
    return base64.b64encode(hmac.digest(key.encode(), base.encode(), hashlib.sha1)).decode()


# -- published examples --------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "url", "authorization", "consumer_secret", "token_secret"), [
    ("POST", "https://photos.example.net/initiate",
     ('OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", '
      'oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131200", '
      'oauth_nonce="wIjqoS", oauth_callback="http%3A%2F%2Fprinter.example.com%2Fready", '
      'oauth_signature="74KNZJeDHnMBp0EMJ9ZHt%2FXKycU%3D"'), "kd94hf93k423kf44", ""),
    ("POST", "https://photos.example.net/token",
     ('OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", '
      'oauth_token="hh5s93j4hdidpola", oauth_signature_method="HMAC-SHA1", '
      'oauth_timestamp="137131201", oauth_nonce="walatlh", oauth_verifier="hfdp7dh39dks9884", '
      'oauth_signature="gKgrFCywp7rO0OXSjdot%2FIHF7IU%3D"'), "kd94hf93k423kf44",
     "hdhd0244k9j7ao03"),
    ("GET", "http://photos.example.net/photos?file=vacation.jpg&size=original",
     ('OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", '
      'oauth_token="nnch734d00sl2jdk", oauth_signature_method="HMAC-SHA1", '
      'oauth_timestamp="137131202", oauth_nonce="chapoH", '
      'oauth_signature="MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D"'), "kd94hf93k423kf44",
     "pfkkdhi9sl3r4s00"),
])  # fmt: skip
def test_rfc_protocol_example(
    method: str, url: str, authorization: str, consumer_secret: str, token_secret: str
) -> None:
    """The three signed requests of RFC 5849, section 1.2, are right, and not with other secrets."""
    signed = SignedRequest(method, url, authorization, None)
    credentials = parsed(signed)

    assert verify(signed, credentials, consumer_secret, token_secret)
    assert not verify(signed, credentials, consumer_secret, token_secret + "x")
    assert not verify(signed, credentials, consumer_secret + "x", token_secret)


def test_rfc_base_string() -> None:
    """Repeated keys, empty values, + and %20 make the base string of RFC 5849, section 3.4.1.1."""
    authorization = (
        'OAuth realm="Example", oauth_consumer_key="9djdj82h48djs9d2", '
        'oauth_token="kkk9d7dh3k39sjv7", oauth_signature_method="HMAC-SHA1", '
        'oauth_timestamp="137131201", oauth_nonce="7d8f3e4a", '
        'oauth_signature="r6%2FTJjbCOr97%2F%2BUU0NsvSne7s5g%3D"'
    )
    url = "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b"
    signed = SignedRequest("post", url, authorization, "c2&a3=2+q")
    credentials = parsed(signed)
    normalized = normalize(credentials.parameters)

    assert (
        "a2=r%20b&a3=2%20q&a3=a&b5=%3D%253D&c%40=&c2=&oauth_consumer_key=9djdj82h48djs9d2"
        "&oauth_nonce=7d8f3e4a&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131201"
        "&oauth_token=kkk9d7dh3k39sjv7"
    ) == normalized
    assert (
        "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D"
        "%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce"
        "%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201"
        "%26oauth_token%3Dkkk9d7dh3k39sjv7"
    ) == base_string(signed.method, credentials.address, normalized)
    assert verify(signed, credentials, "j49sk3j29djd", "dh893hdasih9")


@pytest.mark.spec("A, Authentication", "Header Authorization")
def test_vendor_example() -> None:
    """The request of the vendor's page "Creating a signature" has the signature printed there."""
    authorization = (
        'OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", '
        'oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", '
        'oauth_signature="Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D", oauth_signature_method="HMAC-SHA1", '
        'oauth_timestamp="1318622958", '
        'oauth_token="370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb", oauth_version="1.0"'
    )
    signed = SignedRequest(
        "POST",
        "https://api.x.com/1.1/statuses/update.json?include_entities=true",
        authorization,
        "status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21",
    )
    consumer_secret = "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"
    token_secret = "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"

    assert verify(signed, parsed(signed), consumer_secret, token_secret)


# -- what client libraries sign ------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# Clients refuse or mistreat parameters of their own protocol's names, `realm` among them.
NAME = TEXT.filter(lambda name: not name.startswith("oauth_") and name != "realm")
PAIRS = st.lists(st.tuples(NAME, TEXT), max_size=6)
SECRET = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
TOKEN = st.text(st.sampled_from("abcXYZ019-_"), min_size=1, max_size=12)
SEGMENT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


def address(segments: list[str], query: list[tuple[str, str]], origin: str) -> str:
    """An address as clients write it."""
    path = "".join("/" + quote(segment, "") for segment in segments)
    return f"{origin}{path}?{urlencode(query)}" if query else f"{origin}{path}"


@examples(100)
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
    segments=st.lists(SEGMENT, min_size=1, max_size=3), query=PAIRS, form=PAIRS,
    place=st.sampled_from([SIGNATURE_TYPE_AUTH_HEADER, SIGNATURE_TYPE_QUERY, SIGNATURE_TYPE_BODY]),
    secrets=st.tuples(SECRET, SECRET), realm=st.sampled_from([None, "photos"]),
)  # fmt: skip
def test_oauthlib_signatures(
    *,
    method: Literal["GET", "POST", "PUT", "DELETE"],
    segments: list[str],
    query: list[tuple[str, str]],
    form: list[tuple[str, str]],
    place: Any,
    secrets: tuple[str, str],
    realm: str | None,
) -> None:
    """What oauthlib's client signs is right wherever it puts the parameters, and nothing else."""
    if method == "GET":
        form = []
    if not form and place == SIGNATURE_TYPE_BODY:
        place = SIGNATURE_TYPE_AUTH_HEADER
    client = Client("key", secrets[0], "token", secrets[1], signature_type=place, realm=realm)
    url, headers, body = client.sign(
        address(segments, query, "http://LOCALHOST:8080"), method,
        body=urlencode(form) if form else None, headers=dict(FORM) if form else {}, realm=realm,
    )  # fmt: skip
    signed = SignedRequest(method, url, headers.get("Authorization"), body)
    longer = SignedRequest(
        method, url + ("&z=" if "?" in url else "?z="), signed.authorization, body
    )

    assert verify(signed, parsed(signed), *secrets)
    assert not verify(signed, parsed(signed), secrets[0], secrets[1] + "x")
    assert not verify(longer, parsed(longer), *secrets)


Named = list[tuple[str, str]]


def sign_with_requests(query: Named, form: Named, secrets: tuple[str, str], token: str) -> Any:
    """What goes out on the wire through requests with requests_oauthlib."""
    auth = OAuth1("key", secrets[0], token, secrets[1])
    prepared = requests.Request("POST", URL, params=query, data=form, auth=auth).prepare()
    body = prepared.body.decode() if isinstance(prepared.body, bytes) else prepared.body
    sent: Any = prepared.headers["Authorization"]  # its bytes hide behind the published type
    authorization = sent.decode() if isinstance(sent, bytes) else sent
    return SignedRequest("POST", prepared.url or "", authorization, body)


def sign_with_authlib(query: Named, form: Named, secrets: tuple[str, str], token: str) -> Any:
    """What authlib's client signs."""
    client = ClientAuth("key", secrets[0], token=token, token_secret=secrets[1])
    called = address(["12", "é/x"], query, "https://127.0.0.1:8443")
    url, headers, body = client.prepare("POST", called, dict(FORM), urlencode(form))
    return SignedRequest("POST", url, headers["Authorization"], body)


@pytest.mark.parametrize("sign", [sign_with_requests, sign_with_authlib])
@examples(100)
@given(query=PAIRS, form=PAIRS, token=TOKEN, secrets=st.tuples(SECRET, SECRET))
def test_signatures_of_other_clients(
    sign: Callable[..., SignedRequest],
    query: Named,
    form: Named,
    token: str,
    secrets: tuple[str, str],
) -> None:
    """What other libraries sign is right."""
    signed = sign(query, form, secrets, token)

    assert verify(signed, parsed(signed), *secrets)


@pytest.mark.parametrize(("url", "form", "normalized"), [
    ("?ids[]=2&ids[]=10&ids[]=1", None, "ids%5B%5D=1&ids%5B%5D=10&ids%5B%5D=2"),
    ("?q=a+b", None, "q=a%20b"),
    ("?q=a%2Bb", None, "q=a%2Bb"),
    ("?q=~-._", None, "q=~-._"),
    ("?q=%7E%2D", None, "q=~-"),
    ("?q=caf%C3%A9", None, "q=caf%C3%A9"),
    ("?q=café", None, "q=caf%C3%A9"),
    ("?q=%FF", None, "q=%EF%BF%BD"),
    ("?a&b=", None, "a=&b="),
    ("?a=1&&b=2", None, "a=1&b=2"),
    ("?a=1#part?b=2", None, "a=1"),
    ("", "a=%21%2A%27%28%29", "a=%21%2A%27%28%29"),
    ("?x=1", "x=1", "x=1&x=1"),
])  # fmt: skip
def test_parameters_as_sent(url: str, form: str | None, normalized: str) -> None:
    """Query and form are decoded as forms are and encoded as RFC 5849 asks."""
    credentials = parsed(request(url=URL + url, form=form))
    others = [pair for pair in credentials.parameters if not pair[0].startswith("oauth_")]

    assert normalized == normalize(others)


# -- a parameter in two places -------------------------------------------------------------------


@pytest.mark.parametrize("counted", ["once", "twice"])
def test_same_parameter_in_two_places(counted: str) -> None:
    """A token that is in header and form may be signed once or, as in RFC 5849, twice."""
    pairs = [(name, value) for name, value in COMPLETE.items() if name != "oauth_signature"]
    pairs.append(("oauth_verifier", "pin"))
    if counted == "twice":
        pairs.append(("oauth_token", "token"))
    parameters = "&".join(f"{name}={value}" for name, value in sorted(pairs))
    base = f"POST&{quote(URL, '~')}&{quote(parameters, '~')}".replace("/", "%2F")
    signed = request(
        {"oauth_signature": signature(base, "consumer&secret")},
        form="oauth_token=token&oauth_verifier=pin",
    )
    credentials = parsed(signed)

    assert ("token", "pin") == (credentials.token, credentials.verifier)
    assert verify(signed, credentials, "consumer", "secret")
    assert not verify(signed, credentials, "consumer", "other")


def test_other_repeated_parameters_count_each_time() -> None:
    """Only OAuth parameters may be counted once; an ordinary one counts as often as it is sent."""
    signed = request(url=f"{URL}?a=1&a=1", form="a=1")

    assert 3 == normalize(parsed(signed).merged_parameters).count("a=1")


@pytest.mark.parametrize("name", ["oauth_token", "oauth_callback", "oauth_signature"])
def test_contradictory_places(name: str) -> None:
    """Two places that name different values are refused, without repeating the values."""
    signed = request({name: "one"}, form=f"{name}=two")

    assert (
        name,
        (
            f"'{name}' in the body differs from the one in the Authorization header; "
            "send it in one place, or the same value in both"
        ),
    ) == fault(signed)


@pytest.mark.parametrize(("authorization", "url", "form", "name", "place"), [
    (header(COMPLETE) + ', oauth_nonce="nonce"', URL, None, "oauth_nonce", "header"),
    (header(COMPLETE) + ', x="1", x="2"', URL, None, "x", "header"),
    (header(COMPLETE), f"{URL}?oauth_token=token&oauth_token=token", None, "oauth_token", "query"),
    (header(COMPLETE), URL, "oauth_token=token&oauth_token=token", "oauth_token", "body"),
])  # fmt: skip
def test_repeated_in_one_place(
    authorization: str, url: str, form: str | None, name: str, place: str
) -> None:
    """An OAuth parameter, or any in the header, occurs at most once in each place."""
    place = "Authorization header" if place == "header" else place

    assert (name, f"'{name}' occurs twice in the {place}; send it once") == fault(
        SignedRequest("POST", url, authorization, form)
    )


def test_realm_of_a_header_beside_parameters_in_the_query() -> None:
    """The header's realm is never signed, whatever other places hold."""
    listed = header(COMPLETE | {"Realm": "r"})
    credentials = parsed(SignedRequest("GET", f"{URL}?oauth_callback=oob", listed, None))

    assert ("oob", "r") == (credentials.callback, credentials.realm)
    assert "Realm" not in [name for name, _ in credentials.parameters]


def test_all_parameters_in_query() -> None:
    """Parameters are read from the query alone too, with an ordinary `realm` as well."""
    query = urlencode({**COMPLETE, "realm": "r", "oauth_callback": "oob"})
    credentials = parsed(SignedRequest("GET", f"{URL}?{query}", None, None))

    assert ("key", "token", "c2ln", "nonce", 1318622958, "oob", None) == (
        credentials.consumer_key, credentials.token, credentials.signature, credentials.nonce,
        credentials.timestamp, credentials.callback, credentials.verifier,
    )  # fmt: skip
    assert ("realm", "r") in credentials.parameters
    assert credentials.realm is None
    assert not [name for name, _ in credentials.parameters if name == "oauth_signature"]


# -- the header ----------------------------------------------------------------------------------


@pytest.mark.parametrize("authorization", [None, "", "Bearer abc", "Basic a2V5", "OAuth2 a=b"])
@pytest.mark.parametrize("form", [None, "", "a=1&xoauth_token=2"])
def test_unsigned(authorization: str | None, form: str | None) -> None:
    """A request with no OAuth header and no OAuth parameter has no credentials."""
    assert parse(SignedRequest("POST", f"{URL}?b=2", authorization, form)) is None


@pytest.mark.parametrize(("authorization", "pairs"), [
    ('OAuth a="1",b="2"', [("a", "1"), ("b", "2")]),
    ('oauth  a = "1" ,\tb="2",', [("a", "1"), ("b", "2")]),
    ('OAuth a="x,y=z", b=2,, c=""', [("a", "x,y=z"), ("b", "2"), ("c", "")]),
    ('OAuth a="1%2B+%20%C3%A9%"', [("a", "1++ é%")]),
    ('OAuth %61="1", realm="http://x/"', [("a", "1"), ("realm", "http://x/")]),
    ("OAuth", []),
    ("Bearer a", None),
    (None, None),
])  # fmt: skip
def test_header_syntax(authorization: str | None, pairs: list[tuple[str, str]] | None) -> None:
    """Items of the header are separated by commas, quoted or not, and percent-decoded."""
    assert pairs == authorization_parameters(authorization)


@pytest.mark.parametrize(("authorization", "item"), [
    ('OAuth a="1", b', 2),
    ('OAuth a="1" b="2"', 1),
    ('OAuth a="1', 1),
    ('OAuth ="1"', 1),
    ('OAuth a=1"2"', 1),
    ('OAuth a="1", b="2", c d="3"', 3),
])  # fmt: skip
def test_header_faults(authorization: str, item: int) -> None:
    """A header of another form is refused and the place of the fault is named."""
    expected = (
        "Authorization",
        (
            f'item {item} of the Authorization header is not of the form name="value"; '
            "separate parameters with commas and percent-encode names and values"
        ),
    )

    assert expected == fault(SignedRequest("GET", URL, authorization, None))


def test_hostile_header_is_read_in_one_pass() -> None:
    """A long header of blanks or of items ends in a fault or in credentials, not in a stall."""
    assert "Authorization" == fault(SignedRequest("GET", URL, f"OAuth {' ' * 200_000}x", None))[0]
    assert "Authorization" == fault(SignedRequest("GET", URL, f"OAuth a{' ' * 200_000}x", None))[0]
    many = header({**COMPLETE, **{f"x{number}": "1" for number in range(5_000)}})
    assert 5_006 == len(parsed(SignedRequest("GET", URL, many, None)).header)


def test_surrogates_are_harmless() -> None:
    """Text that no client can have signed is replaced, not stumbled over."""
    signed = SignedRequest(
        "GET", f"{URL}/\udc80?a=\udc80", header({**COMPLETE, "x": "y"}) + ', z="\udc80"', "b=\udc80"
    )
    credentials = parsed(signed)

    assert {("a", "?"), ("b", "?"), ("z", "?")} <= set(credentials.parameters)
    assert not verify(signed, credentials, "consumer", "secret")


@pytest.mark.parametrize("sent", ["tnnArxj06cWHq44gCs1OSKk/jLY=", "é", "%", "x" * 10_000],
                         ids=["other", "é", "%", "long"])  # fmt: skip
def test_any_signature_text_is_compared(sent: str) -> None:
    """A signature of any form is compared, and refused if it is another."""
    signed = request({"oauth_signature": sent})

    assert not verify(signed, parsed(signed), "consumer", "secret")


def test_signature_with_its_plus_as_it_is() -> None:
    """A header whose signature was not percent-encoded is read as it is."""
    authorization = header({**COMPLETE, "oauth_signature": "SIG"}).replace("SIG", "a+b/c=")

    assert "a+b/c=" == parsed(SignedRequest("GET", URL, authorization, None)).signature


# -- faults of single parameters -----------------------------------------------------------------


@pytest.mark.spec("A, Authentication", "Header Authorization")
@pytest.mark.parametrize(
    "name",
    ["oauth_consumer_key", "oauth_signature_method", "oauth_signature", "oauth_timestamp",
     "oauth_nonce"],
)  # fmt: skip
def test_missing_or_empty(name: str) -> None:
    """Each required parameter is named when it is missing and when it is empty."""
    assert (name, f"{name} is missing; send it in the Authorization header") == fault(
        request({name: None})
    )
    assert (name, f"{name} is empty; give it a value") == fault(request({name: ""}))


def test_header_without_oauth_parameters() -> None:
    """An OAuth header that has only a realm lacks its first parameter."""
    assert "oauth_consumer_key" == fault(SignedRequest("GET", URL, 'OAuth realm="x"', None))[0]
    assert "oauth_consumer_key" == fault(SignedRequest("GET", URL, "OAuth", None))[0]


def test_misspelled_name() -> None:
    """A near name is pointed at, but not one that means something else."""
    signed = request({"oauth_consumer_key": None, "oauth_consumerkey": "key"})
    unrelated = request({"oauth_signature": None})

    assert (
        "oauth_consumer_key is missing; send it in the Authorization header "
        "(did you mean it by 'oauth_consumerkey'?)"
    ) == fault(signed)[1]
    assert "did you mean" not in fault(unrelated)[1]


def test_optional_parameters() -> None:
    """Token, version, callback and verifier may be missing; an empty token counts as missing."""
    credentials = parsed(request({"oauth_token": None, "oauth_version": None}))

    assert (None, None, None) == (credentials.token, credentials.callback, credentials.verifier)
    empty = parsed(request({"oauth_token": ""}))
    assert empty.token is None
    assert ("oauth_token", "") in empty.parameters


@pytest.mark.spec("A, Authentication", "Header Authorization")
@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_nonce accepts")
@pytest.mark.parametrize(("name", "values", "message"), [
    ("oauth_signature_method", ["PLAINTEXT", "RSA-SHA1", "HMAC-SHA256", "hmac-sha1"],
     "oauth_signature_method '{}' is not supported; sign with HMAC-SHA1 and write it exactly "
     "so"),
    ("oauth_version", ["1.0b", "2.0", "1", ""], "oauth_version must be 1.0 or left out, got '{}'"),
    ("oauth_timestamp", ["0", "00", "-5", "+5", "5.0", " 5", "1e3", "١٢٣", "²", "abc", "9" * 20],
     "oauth_timestamp must be a positive whole number of seconds since 1970 in ASCII digits, "
     "at most 19 of them, got '{}'"),
    ("oauth_nonce", ["é"], "oauth_nonce accepts ASCII characters only, got '{}'"),
    ("oauth_nonce", ["n" * (MAX_NONCE_CHARACTERS + 1)],
     "oauth_nonce has 256 characters; at most 255 are allowed"),
])  # fmt: skip
def test_values_that_are_refused(name: str, values: list[str], message: str) -> None:
    """The message says what the parameter may be, and what was sent."""
    for value in values:
        assert (name, message.format(value)) == fault(request({name: value}))


@pytest.mark.parametrize("timestamp", ["1", "0001", "9" * 19])
def test_timestamp_in_form(timestamp: str) -> None:
    """The smallest and the longest timestamp are read; how near it is, others judge."""
    assert int(timestamp) == parsed(request({"oauth_timestamp": timestamp})).timestamp


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_nonce accepts")
def test_the_longest_nonce() -> None:
    """A nonce of 255 characters is read."""
    longest = "n" * MAX_NONCE_CHARACTERS

    assert longest == parsed(request({"oauth_nonce": longest})).nonce


@pytest.mark.parametrize(
    "url", ["http://host:99999/a", "http://host:0/a", "http:///a", "/a", "http://[::1/a"]
)
def test_address_that_cannot_be_signed(url: str) -> None:
    """An address without a host or with an impossible port is the Host header's fault."""
    parameter, message = fault(request(url=url))

    assert "Host" == parameter
    assert message.startswith("the called address cannot be signed (")
    assert message.endswith(
        "); send a Host header that names a host and, if it is not the default one, a port"
    )


def test_shown_text_is_cut() -> None:
    """A text in a message is whole up to the limit and cut beyond it."""
    assert "'" + "a" * 60 + "'" == quote_text("a" * 60)
    assert "'" + "a" * 60 + "…'" == quote_text("a" * 61)
