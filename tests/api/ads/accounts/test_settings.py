"""Features of an account: read, and on the sandbox added and removed (document B)."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.accounts.settings import READ_FILTER, SANDBOX_KEYS
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults

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


def ask(box: Sandbox, method: str, path: str, **params: Any) -> TestResponse:
    """One request with these parameters in the query."""
    return box.call(method, path, query_string=params)


def keys(response: TestResponse) -> Any:
    """The keys that are answered."""
    assert response.status_code == 200, response.get_json()
    return response.get_json()["data"]


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


class TestGet:
    """GET /12/accounts/:account_id/features."""

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/features")
    def test_all(self, box: Sandbox) -> None:
        """All granted keys come in alphabetical order, without a cursor."""
        body = ask(box, "GET", PATH).get_json()

        assert body == {"request": {"params": {"account_id": ACCOUNT}}, "data": GRANTED}
        assert sorted(GRANTED) == GRANTED

    def test_sorted_and_once(self, box: Sandbox) -> None:
        """However they are stored, keys are answered sorted and once."""
        box.change("accounts", ACCOUNT, _features=["REACH_FREQUENCY_CAP", "BRAND_TPN", "BRAND_TPN"])

        assert keys(ask(box, "GET", PATH)) == ["BRAND_TPN", "REACH_FREQUENCY_CAP"]

    @pytest.mark.spec("B, Account feature keys", "Read filter values")
    @pytest.mark.parametrize("key", READ_FILTER)
    def test_documented_filter(self, box: Sandbox, key: str) -> None:
        """Each documented value of the filter leaves that feature."""
        body = ask(box, "GET", PATH, feature_keys=key).get_json()

        assert body["data"] == [key]
        assert body["request"]["params"] == {"account_id": ACCOUNT, "feature_keys": [key]}

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/features")
    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ("REACH_FREQUENCY_CAP,REACH_AND_FREQUENCY_ANALYTICS", GRANTED[4:6]),
            ("AGE_TARGETING", GRANTED[:1]),
            ("BRAND_TPN", []),
            ("NO_SUCH_FEATURE,REACH_FREQUENCY_CAP", ["REACH_FREQUENCY_CAP"]),
            ("reach_frequency_cap", []),
        ],
    )
    def test_other_filter(self, box: Sandbox, wanted: str, expected: list[str]) -> None:
        """Of other keys those that are granted are left; unknown ones are ignored."""
        assert keys(ask(box, "GET", PATH, feature_keys=wanted)) == expected

    def test_filter_is_recorded(self, box: Sandbox) -> None:
        """An answer to keys beyond the documented ones says what it rests on."""
        documented = ask(box, "GET", PATH, feature_keys=",".join(READ_FILTER))
        other = ask(box, "GET", PATH, feature_keys="AGE_TARGETING")

        assert "features.read-filter" not in documented.headers["X-Mock-Assumptions"]
        assert "features.read-filter" in other.headers["X-Mock-Assumptions"]

    def test_account_scope(self, box: Sandbox) -> None:
        """Features of a foreign account are out of reach."""
        path = f"/12/accounts/{OTHER_ACCOUNT}/features"

        assert faults(box.call("GET", path)) == [("ACCOUNT_NOT_FOUND", "account_id")]
        assert keys(box.call("GET", path, keys=NORTHBIKE)) == ["SHARE_AUDIENCE_OUTSIDE_BUSINESS"]


class TestAdd:
    """POST {sandbox}/12/accounts/:account_id/features."""

    @pytest.mark.spec("B, Account feature keys", "Sandbox add/remove")
    def test_the_documented_keys(self) -> None:
        """The keys that can be added are those of the document, no more and no fewer."""
        assert sorted(DOCUMENTED.replace("\n", " ").replace(",", " ").split()) == list(SANDBOX_KEYS)

    @pytest.mark.spec("B, Account feature keys", "Sandbox add/remove")
    @pytest.mark.spec("operations", "features.add", "features.remove")
    @pytest.mark.parametrize("key", SANDBOX_KEYS)
    @pytest.mark.parametrize("method", ["POST", "DELETE"])
    def test_each(self, box: Sandbox, method: str, key: str) -> None:
        """Each documented key is added and removed; the answer is what the account has then."""
        expected = sorted({*GRANTED, key} if method == "POST" else {*GRANTED} - {key})

        body = ask(box, method, SANDBOX, feature_keys=key).get_json()

        assert body == {
            "request": {"params": {"account_id": ACCOUNT, "feature_keys": [key]}},
            "data": expected,
        }
        assert keys(ask(box, "GET", PATH)) == expected

    @pytest.mark.spec("B, Accounts", "POST {ads_sandbox_base_url}/12/accounts/:account_id/features")
    def test_several_and_twice(self, box: Sandbox) -> None:
        """Several are added at once; one that is there already changes nothing."""
        wanted = "CPI_CHARGING,BRAND_TPN,AGE_TARGETING,BRAND_TPN"

        assert keys(ask(box, "POST", SANDBOX, feature_keys=wanted)) == sorted(
            [*GRANTED, "BRAND_TPN", "CPI_CHARGING"]
        )

    def test_in_a_form(self, box: Sandbox) -> None:
        """The keys may be sent in a form."""
        response = box.call("POST", SANDBOX, form={"feature_keys": "BRAND_TPN,DR_TAP"})

        assert {"BRAND_TPN", "DR_TAP"} <= {*keys(response)}

    def test_account_is_untouched(self, box: Sandbox) -> None:
        """Features are no fields of the account: its updated_at stays, other accounts have none."""
        before = box.record("accounts", ACCOUNT)["updated_at"]

        ask(box, "POST", SANDBOX, feature_keys="DR_TAP")

        assert box.record("accounts", ACCOUNT)["updated_at"] == before
        assert "DR_TAP" not in box.record("accounts", "18ce55fw2ag")["_features"]


class TestRemove:
    """DELETE {sandbox}/12/accounts/:account_id/features."""

    def test_several(self, box: Sandbox) -> None:
        """Several are removed at once."""
        wanted = "REACH_FREQUENCY_CAP,AGE_TARGETING,DR_TAP"

        assert keys(ask(box, "DELETE", SANDBOX, feature_keys=wanted)) == [
            "CONVERSATION_CARD",
            "CONVERSATION_CARD_FOUR_OPTIONS",
            "PROMOTED_MEDIA_POLLS",
            "REACH_AND_FREQUENCY_ANALYTICS",
            "WEBSITE_CLICKS_CPM_BILLING",
        ]
