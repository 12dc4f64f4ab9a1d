"""Published keys and tokens, and those that were published before in their place."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.support import ACCOUNT, BEARER, HARBOR, NORTHBIKE, OTHER_ACCOUNT, Keys, Sandbox

FORMER = replace(HARBOR, token="2244994945-hRbDeskAccessTokenQ4mZ8sV1xK7tY2wL9pN5cJ3")
FORMER_SECRET = "hbrDeskSecret5mVd81JpQkL3sYx6RgTa2NfB0oCwUiEz9"
FORMER_BEARER = (
    "AAAAAAAAAAAAAAAAAAAAAHbrDeskBearer7Kq2Vx9Lm4%2FtR8wYc3Zn6JsPd1Fg5HuEoBkTaXiQv0Me2%3D"
)
FORMER_OTHER = replace(NORTHBIKE, token="3805104374-nBkPosterAccessTokenL2kX9vR5tM8qZ4wC7yB1s")
OWNER = {HARBOR: ACCOUNT, NORTHBIKE: OTHER_ACCOUNT, FORMER: ACCOUNT, FORMER_OTHER: OTHER_ACCOUNT}


def read(box: Sandbox, keys: Keys) -> int:
    """The status of a request with these keys."""
    return box.call("GET", f"/12/accounts/{OWNER[keys]}", keys=keys).status_code


@pytest.mark.parametrize("keys", [HARBOR, NORTHBIKE])
def test_published_access_tokens_have_the_public_form(box: Sandbox, keys: Keys) -> None:
    """The id of the user, a dash, and forty letters and digits; no warning."""
    assert keys.token is not None
    assert re.fullmatch(r"[0-9]+-[A-Za-z0-9]{40}", keys.token, re.ASCII)
    assert read(box, keys) == 200
    assert [] == box.world.journal.find()[-1].warnings


@pytest.mark.parametrize("keys", [HARBOR, NORTHBIKE])
def test_published_keys_have_the_usual_lengths(keys: Keys) -> None:
    """Programs that check what they are configured with take them."""
    assert (len(keys.key), len(keys.secret)) == (25, 50)
    assert re.fullmatch(r"A{21}[A-Za-z0-9%]{80,}", BEARER, re.ASCII)


def test_the_former_pair_and_bearer_are_accepted_with_a_warning(box: Sandbox) -> None:
    """An app that was configured before still signs, and reads with its bearer token."""
    app = replace(HARBOR, key="hbrDeskKey7uE2qXn0Zt4Wc9", secret=FORMER_SECRET)
    wrong = replace(app, secret=HARBOR.secret)

    calls = [
        box.call("GET", f"/12/accounts/{ACCOUNT}", keys=k) for k in (app, wrong, FORMER_BEARER)
    ]

    assert [200, 401, 200] == [answer.status_code for answer in calls]
    told = [entry.warnings for entry in box.world.journal.find()]
    assert all("`mock-platform credentials` prints the new one" in each[0] for each in told)


@pytest.mark.parametrize("keys", [FORMER, FORMER_OTHER])
def test_the_former_token_is_accepted_with_a_warning(box: Sandbox, keys: Keys) -> None:
    """Requests that are signed with it succeed, and the journal says where the new one is."""
    assert read(box, keys) == 200
    (warning,) = box.world.journal.find()[-1].warnings
    assert "`mock-platform credentials` prints the new one" in warning


@pytest.mark.parametrize(("used", "other"), [(HARBOR, FORMER), (FORMER, HARBOR)])
def test_both_end_together(box: Sandbox, used: Keys, other: Keys) -> None:
    """Whichever of the two is invalidated, neither is accepted any more, and nothing is held."""
    assert box.call("POST", "/1.1/oauth/invalidate_token", keys=used).status_code == 200

    assert [401, 401] == [read(box, used), read(box, other)]
    held = {"kind": "access", "state": "active", "app_id": "11827", "user_id": "2244994945"}
    assert box.world.store.count("tokens", held) == 0


def test_a_world_with_credentials_of_its_own_has_no_former_ones(box: Sandbox) -> None:
    """There, nothing was published before."""
    box.client.put("/_mock/worlds/own", json={"own_credentials": True})

    found = box.client.get("/_mock/state/tokens", headers={"X-Mock-World": "own"}).get_json()
    assert found["records"]
    assert {None} == {token["former_id"] for token in found["records"]}
