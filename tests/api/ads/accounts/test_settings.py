"""Features of an account: read, and on the sandbox added and removed (document B)."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.ads.accounts.settings import READ_FILTER, SANDBOX_KEYS
from tests.api.ads.support import assumptions, echo
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of

PATH = f"/12/accounts/{ACCOUNT}/features"
SANDBOX = f"/sandbox{PATH}"
GRANTED = [
    "AGE_TARGETING", "CONVERSATION_CARD", "CONVERSATION_CARD_FOUR_OPTIONS", "PROMOTED_MEDIA_POLLS",
    "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING",
]  # fmt: skip
DOCUMENTED = """
AGE_TARGETING, ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE, AWARENESS_OBJECTIVE, BRAND_TPN,
CHARGE_FOR_GOOD_CLICK, CONVERSATION_CARD, CONVERSATION_CARD_FOUR_OPTIONS, CONVERSATION_CARD_UNLOCK,
CPI_CHARGING, DIRECT_MESSAGE_CARD, DR_TAP, ENGAGER_RETARGETING, EVENT_TARGETING,
INSTALLED_APP_CATEGORY_TARGETING, MOBILE_CONVERSION_TRANSACTION_VALUE, OPTIMIZED_ACTION_BIDDING,
REACH_AND_FREQUENCY_ANALYTICS, REACH_FREQUENCY_CAP, VALIDATED_AGE_TARGETING,
VIDEO_VIEWS_MIDROLL_OBJECTIVE, PREROLL_VIEWS_OBJECTIVE, VIDEO_APP_DOWNLOAD_CARD
"""
"""The document's own list of what the sandbox adds and removes."""


def ask(box: Sandbox, method: str, path: str, **params: Any) -> Any:
    """The keys that are answered."""
    return data_of(box.ask(method, path, **params))


WRONG = ("INVALID_PARAMETER", "feature_keys")
REFUSED = [
    *(Refusal(f"GET {PATH}", f"a read with an empty key: {wanted!r}", 400, [WRONG],
              query={"feature_keys": wanted}) for wanted in ("", "REACH_FREQUENCY_CAP,")),
    *(Refusal(f"{method} {SANDBOX}", f"{method} of {wanted or 'an empty key'}", 400, [WRONG],
              query={"feature_keys": f"BRAND_TPN,{wanted},AGE_TARGETING"},
              messages=[", ".join(SANDBOX_KEYS)],
              spec={"B, Account feature keys": ["Sandbox add/remove"]})
      for method in ("POST", "DELETE")
      for wanted in ("NO_SUCH_FEATURE", "WEBSITE_CLICKS_CPM_BILLING", "PROMOTED_MEDIA_POLLS",
                     "dr_tap", "")),
    *(Refusal(f"{method} {SANDBOX}", f"{method} without keys", 400,
              [("MISSING_PARAMETER", "feature_keys")],
              spec={"operations": ["features.add", "features.remove"]})
      for method in ("POST", "DELETE")),
    *(Refusal(f"{method} {PATH}", f"{method} at the plain address", 405,
              [("METHOD_NOT_ALLOWED", None)], query={"feature_keys": "AGE_TARGETING"},
              spec={"operations": ["features.add"]})
      for method in ("POST", "DELETE")),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Any other key is refused with the allowed ones, and none of the request is added."""
    row.check(box)


@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/features")
def test_all(box: Sandbox) -> None:
    """All granted keys come in alphabetical order and once, without a cursor."""
    assert box.read(PATH) == {"request": {"params": {"account_id": ACCOUNT}}, "data": GRANTED}
    assert sorted(GRANTED) == GRANTED
    box.change("accounts", ACCOUNT, _features=["REACH_FREQUENCY_CAP", "BRAND_TPN", "BRAND_TPN"])
    assert ask(box, "GET", PATH) == ["BRAND_TPN", "REACH_FREQUENCY_CAP"]


@pytest.mark.spec("B, Account feature keys", "Read filter values")
@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/features")
@pytest.mark.parametrize(("wanted", "expected"), [
    *((key, [key]) for key in READ_FILTER),
    ("REACH_FREQUENCY_CAP,REACH_AND_FREQUENCY_ANALYTICS", GRANTED[4:6]),
    ("AGE_TARGETING", GRANTED[:1]), ("BRAND_TPN", []),
    ("NO_SUCH_FEATURE,REACH_FREQUENCY_CAP", ["REACH_FREQUENCY_CAP"]), ("reach_frequency_cap", []),
])  # fmt: skip
def test_filter(box: Sandbox, wanted: str, expected: list[str]) -> None:
    """Each documented value leaves that feature, as do others that are granted.

    An answer to keys beyond the documented ones says what it rests on.
    """
    response = box.ask("GET", PATH, feature_keys=wanted)

    assert data_of(response) == expected
    assert echo(response) == {"account_id": ACCOUNT, "feature_keys": wanted.split(",")}
    known = set(wanted.split(",")) <= set(READ_FILTER)
    assert ("features.read-filter" in assumptions(response)) is not known


def test_account_scope(box: Sandbox) -> None:
    """Each account has its own features."""
    path = f"/12/accounts/{OTHER_ACCOUNT}/features"

    assert box.read(path, keys=NORTHBIKE)["data"] == ["SHARE_AUDIENCE_OUTSIDE_BUSINESS"]


@pytest.mark.spec("B, Account feature keys", "Sandbox add/remove")
def test_the_documented_keys() -> None:
    """The keys that can be added are those of the document, no more and no fewer."""
    assert sorted(DOCUMENTED.replace(",", " ").split()) == list(SANDBOX_KEYS)


@pytest.mark.spec("B, Account feature keys", "Sandbox add/remove")
@pytest.mark.spec("operations", "features.add", "features.remove")
@pytest.mark.parametrize("key", SANDBOX_KEYS)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_each(box: Sandbox, method: str, key: str) -> None:
    """Each documented key is added and removed; the answer is what the account has then."""
    expected = sorted({*GRANTED, key} if method == "POST" else {*GRANTED} - {key})
    response = box.ask(method, SANDBOX, feature_keys=key)

    assert echo(response) == {"account_id": ACCOUNT, "feature_keys": [key]}
    assert data_of(response) == ask(box, "GET", PATH) == expected


@pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts/:account_id/features")
def test_several(box: Sandbox) -> None:
    """Several are added or removed at once; one that is there already changes nothing.

    Features are no fields of the account: its updated_at stays, and other accounts have none.
    """
    before = box.record("accounts", ACCOUNT)["updated_at"]
    wanted = "CPI_CHARGING,BRAND_TPN,AGE_TARGETING,BRAND_TPN"
    added = sorted([*GRANTED, "BRAND_TPN", "CPI_CHARGING"])

    assert ask(box, "POST", SANDBOX, feature_keys=wanted) == added
    left = [key for key in added if key not in {"BRAND_TPN", "AGE_TARGETING"}]
    assert ask(box, "DELETE", SANDBOX, feature_keys="BRAND_TPN,AGE_TARGETING,DR_TAP") == left
    assert box.record("accounts", ACCOUNT)["updated_at"] == before
    assert "CPI_CHARGING" not in box.record("accounts", "18ce55fw2ag")["_features"]


def test_in_a_form(box: Sandbox) -> None:
    """The keys may be sent in a form."""
    response = box.call("POST", SANDBOX, form={"feature_keys": "BRAND_TPN,DR_TAP"})

    assert {"BRAND_TPN", "DR_TAP"} <= {*data_of(response)}
