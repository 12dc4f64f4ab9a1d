"""The signature of RFC 5849: our functions return what oauthlib's return, for any text."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import example, given
from hypothesis import strategies as st
from oauthlib.oauth1.rfc5849 import signature as rfc5849
from oauthlib.oauth1.rfc5849 import utils

from mock_platform.core.auth.oauth1 import (
    authorization_parameters,
    base_string,
    base_string_uri,
    escape,
    normalize,
    sign,
)
from tests.generated import examples

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# Plain texts take the short ways, and those with one odd character hardly miss them.
TEXT = st.one_of(ANY, st.text("aZ0_.~-", max_size=6), st.text("aZ0_.~-%:/&= +é\n", max_size=8))
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=6)
HOST = st.one_of(
    st.sampled_from(
        ["127.0.0.1", "LOCALHOST", "[::1]", "[::0001]", "127.0.0.01", "user@host", "", "é.example"]
    ),
    st.text("ab.-09", min_size=1, max_size=9),
)
PORT = st.one_of(
    st.sampled_from(
        ["", ":", ":80", ":443", ":8080", ":08080", ":0", ":59999", ":65535", ":65536"]
    ),
    st.integers(0, 70_000).map(lambda port: f":{port}"),
    st.text("0123x ", max_size=3).map(lambda port: f":{port}"),
)
PATH = st.text("/aZ0.~%:;@!$&'()*+,= -#?\t\né", max_size=10)


def outcome(function: Any, *arguments: str) -> tuple[str, str]:
    """What a function returned, or why it refused."""
    try:
        return "returned", function(*arguments)
    except ValueError as fault:
        return "refused", str(fault)


@given(TEXT)
def test_escape(text: str) -> None:
    """Texts are percent-encoded as by oauthlib."""
    assert utils.escape(text) == escape(text)


@given(PAIRS)
def test_normalize(pairs: list[tuple[str, str]]) -> None:
    """Parameters are encoded, sorted and joined as by oauthlib."""
    assert rfc5849.normalize_parameters(cast("Any", pairs)) == normalize(pairs)


@examples(300)
@given(
    scheme=st.sampled_from(["http", "https", "HTTP", "ftp", " http"]),
    host=HOST,
    port=PORT,
    path=PATH,
)
@example(scheme="http", host="127.0.0.1", port=":8080", path="//a/..;b/c?d#e")
@example(scheme="http", host="a", port="", path="/b\n")
@example(scheme="http", host="a", port="", path="/b?\n[c]")
def test_base_string_uri(scheme: str, host: str, port: str, path: str) -> None:
    """An address is read as by oauthlib, or refused for the same reason."""
    url = f"{scheme}://{host}{port}{path}"

    assert outcome(rfc5849.base_string_uri, url) == outcome(base_string_uri, url)


@given(method=st.sampled_from(["GET", "put", "M-SEARCH"]), address=TEXT, pairs=PAIRS)
def test_base_string(method: str, address: str, pairs: list[tuple[str, str]]) -> None:
    """The base string is oauthlib's."""
    normalized = normalize(pairs)
    expected = rfc5849.signature_base_string(cast("Any", method), address, normalized)

    assert expected == base_string(method, address, normalized)


@given(base=ANY, secrets=st.tuples(TEXT, TEXT))
def test_sign(base: str, secrets: tuple[str, str]) -> None:
    """The signature is oauthlib's, empty secrets included."""

    class Client:
        client_secret, resource_owner_secret = secrets

    assert rfc5849.sign_hmac_sha1_with_client(base, Client) == sign(base, *secrets).decode()


@given(
    st.lists(
        st.tuples(
            st.text("ao_XÄ%", min_size=1, max_size=4),
            st.sampled_from(["=", " =", "= "]),
            st.text("a+/%235BDF,= \té", max_size=6),
            st.sampled_from([",", ", ", ",  ", " ,", ",,"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_usual_header_reads_as_any_other(items: list[tuple[str, str, str, str]]) -> None:
    """A list that is read at one go has the pairs that it has when it is read item by item."""
    text = "".join(f'{name}{sign_}"{value}"{comma}' for name, sign_, value, comma in items)
    by_item = authorization_parameters(f"OAuth ,{text}")  # an empty item, which is passed over

    assert by_item == authorization_parameters(f"OAuth {text}")
    assert by_item is not None
    assert len(items) == len(by_item)
