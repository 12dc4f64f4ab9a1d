"""What the credentials of a request name, without any check of them."""

from __future__ import annotations

from urllib.parse import quote, unquote

import pytest

from mock_platform.core.auth.lookup import credential_hints, find_bearer
from mock_platform.core.call import FORM, Call
from mock_platform.world.world import World
from tests import support
from tests.core.auth.posts import URL, basic, bearer, request
from tests.support import HARBOR


@pytest.mark.parametrize(("value", "found"), [
    (support.BEARER, True),
    (unquote(support.BEARER), True),
    (quote(support.BEARER, ""), False),
    (unquote(support.BEARER) + "=", False),
    (str(HARBOR.token), False),
    ("", False),
])  # fmt: skip
def test_bearer_tokens_are_found_encoded_and_decoded(world: World, value: str, found: bool) -> None:
    """As handed out, or percent-decoded, which is recorded; nothing else, no other kind."""
    call = request()

    assert found == (find_bearer(call, world, value) is not None)
    assert (found and value != support.BEARER) == ("oauth2.bearer-decoded" in call.assumptions)


@pytest.mark.parametrize(("call", "hints"), [
    (bearer("b"), ["b"]),
    (bearer("b%2F"), ["b%2F"]),
    (bearer("b/="), ["b/=", "b%2F%3D"]),
    (basic("k:/", "s"), ["k:/"]),
    (request(headers={"Authorization": "Basic %"}), []),
    (request(headers={"Authorization": "Basic \xff"}), []),
    (request(headers={"Authorization": 'OAuth oauth_consumer_key="k%2F", oauth_token="t"'}),
     ["t", "k/"]),
    (request(f"{URL}?a=b&oauth_token=t%20t"), ["t t"]),
    (request(headers={"Content-Type": FORM}, body="oauth_token=t&oauth_consumer_key=k"),
     ["t", "k"]),
    (request(headers={"Content-Type": "text/plain"}, body="oauth_token=t"), []),
    (request(), []),
])  # fmt: skip
def test_hints_are_the_tokens_then_the_keys(call: Call, hints: list[str]) -> None:
    """From whichever place, unverified, to find the world they belong to."""
    assert hints == list(credential_hints(call))
