"""Who signed a request: timestamps, nonces, and what clients do a little differently."""

from __future__ import annotations

import hmac
from base64 import b64encode
from urllib.parse import quote

import pytest
from oauthlib.common import Request
from oauthlib.oauth1 import Client

from mock_platform.core.auth.oauth1 import base_string, normalize
from mock_platform.core.auth.oauth1_caller import SignatureAuthenticator
from mock_platform.core.call import Call, Caller
from mock_platform.core.failures.errors import Unauthorized
from mock_platform.world.clock import machine_now
from mock_platform.world.world import World
from tests.core.auth.posts import URL, request, signed
from tests.support import HARBOR, NORTHBIKE, Keys

SCHEMES = ("oauth1", "oauth1-app")


def caller(world: World, call: Call, tolerance: int = 300) -> Caller:
    """Who signed it, as a server with this tolerance reads it."""
    found = SignatureAuthenticator(tolerance).caller(call, world, SCHEMES)
    assert found is not None
    return found


def refusal(world: World, call: Call, tolerance: int = 300) -> tuple[str, str]:
    """The kind of a refusal and what the journal shows."""
    with pytest.raises(Unauthorized) as caught:
        caller(world, call, tolerance)
    assert call.diagnosis is not None
    return caught.value.fault, call.diagnosis["explanation"]


def test_without_a_signature_nobody_signed(world: World) -> None:
    """A request without any OAuth parameter has no caller, and is not refused here."""
    assert SignatureAuthenticator(300).caller(request(), world, SCHEMES) is None


@pytest.mark.parametrize("tolerance", [300, 60])
@pytest.mark.parametrize("side", [-1, 1])
def test_timestamps_are_accepted_within_the_tolerance(
    world: World, tolerance: int, side: int
) -> None:
    """Just inside it a request is accepted, just outside refused, at any time of the world."""
    world.clock.advance(10_000)
    now = int(machine_now().timestamp())
    inside = signed(timestamp=str(now + side * (tolerance - 2)))
    outside = signed(timestamp=str(now + side * (tolerance + 3)))

    assert "oauth1" == caller(world, inside, tolerance).scheme
    kind, reason = refusal(world, outside, tolerance)
    assert "timestamp" == kind
    assert f"seconds {'ahead of' if side > 0 else 'behind'} this machine's clock" in reason
    assert "oauth.timestamp-tolerance" in outside.assumptions


def test_a_nonce_counts_with_its_key_token_and_timestamp(world: World) -> None:
    """The same nonce is refused for the same three, and accepted where one of them differs."""
    now = int(machine_now().timestamp())
    app = Keys(HARBOR.key, HARBOR.secret)

    def use(keys: Keys, timestamp: int) -> Caller:
        return caller(world, signed(keys, nonce="n", timestamp=str(timestamp)))

    use(HARBOR, now)
    use(NORTHBIKE, now)
    use(app, now)
    use(HARBOR, now - 1)
    again = signed(HARBOR, nonce="n", timestamp=str(now))

    assert "nonce" == refusal(world, again)[0]
    assert "oauth.nonce-once" in again.assumptions


def test_a_wrong_signature_uses_no_nonce_up(world: World) -> None:
    """A client cannot use up another's nonces."""
    now = str(int(machine_now().timestamp()))
    wrong = Keys(HARBOR.key, HARBOR.secret, HARBOR.token, "wrong")

    assert "signature" == refusal(world, signed(wrong, nonce="n", timestamp=now))[0]
    assert "oauth1" == caller(world, signed(nonce="n", timestamp=now)).scheme


@pytest.mark.parametrize(("version", "noted"), [("1.0", False), ("1.0A", True), ("1.0a", True)])
def test_a_variant_of_the_version_is_taken_and_noted(
    world: World, version: str, noted: bool
) -> None:
    """Clients that send 1.0A, signed as they send it, are understood."""
    client = Client(HARBOR.key, HARBOR.secret, HARBOR.token, HARBOR.token_secret)
    parameters: dict[str, str] = dict(
        # oauthlib's stubs leave out the types of `Request`.
        client.get_oauth_params(Request(URL, "POST"))  # type: ignore[no-untyped-call]
    )
    parameters["oauth_version"] = version
    pairs = list(parameters.items())
    base = base_string("POST", URL, normalize(pairs))
    digest = hmac.digest(f"{HARBOR.secret}&{HARBOR.token_secret}".encode(), base.encode(), "sha1")
    parameters["oauth_signature"] = quote(b64encode(digest).decode(), "")
    header = "OAuth " + ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    call = request(headers={"Authorization": header})

    assert "oauth1" == caller(world, call).scheme
    assert noted == ("oauth.version-variant" in call.assumptions)
    assert noted == bool(call.warnings)
