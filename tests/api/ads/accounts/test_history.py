"""Account history: the allowlist, the window in whole hours, and what is written into it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import ValidationError
from werkzeug.test import TestResponse

from mock_platform.api.ads.accounts.history import WholeHour
from tests.api.ads.support import delete, echo, put
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of, faults, refusal

PATH = f"/12/accounts/{ACCOUNT}/account_history"
LINE_ITEM = "itttx"
QUERY = {
    "entity_type": "LINE_ITEM", "entity_id": LINE_ITEM, "start_time": "2026-09-02T08:00:00Z",
    "end_time": "2026-09-02T12:00:00Z",
}  # fmt: skip
"""Takes in the three entries of the fixtures: at 08:00, 09:10 and 11:45."""
TIMES = ["2026-09-02T08:00:00Z", "2026-09-02T09:10:00Z", "2026-09-02T11:45:00Z"]


@pytest.fixture(autouse=True)
def _clock_stands_off_the_hour(box: Sandbox) -> None:
    box.world.clock.freeze(datetime(2026, 11, 20, 10, 30, tzinfo=UTC))


def ask(box: Sandbox, **params: str | None) -> TestResponse:
    """The history, with some parameters changed or (None) left out."""
    return box.ask("GET", PATH, **QUERY | params)


def times(response: TestResponse) -> list[str]:
    """When what is listed happened."""
    return [entry["change_time"] for entry in data_of(response)]


@pytest.mark.spec("B, Accounts", "beta, allowlist")
@pytest.mark.spec("B, Authentication", "Catalog endpoints")
def test_allowlist(box: Sandbox) -> None:
    """An app that is not on the allowlist is refused before its parameters are read."""
    path = f"/12/accounts/{OTHER_ACCOUNT}/account_history"
    response = box.call("GET", path, keys=NORTHBIKE)
    box.change("apps", "20993", _allowlist=["account_history"])

    assert (403, [("UNAUTHORIZED_CLIENT_APPLICATION", None)]) == refusal(response)
    assert "account_history" in response.get_json()["errors"][0]["message"]
    assert times(box.ask("GET", path, keys=NORTHBIKE, **QUERY)) == []


REFUSED = [
    *(({name: None}, "MISSING_PARAMETER") for name in QUERY),
    *(({"entity_type": value}, "INVALID_PARAMETER")
      for value in ("ACCOUNT", "line_item", "CAMPAIGN,LINE_ITEM", "")),
    # minutes, seconds, fractions, offsets that leave minutes, and no times
    *(({name: moment}, "INVALID_PARAMETER")
      for name in ("start_time", "end_time")
      for moment in ("2026-09-02T09:00:01Z", "2026-09-02T09:59:59Z", "2026-09-02T09:01:00Z",
                     "2026-09-02T09:00:00.000001Z", "2026-09-02T09:00:00+05:30", "yesterday",
                     "1756800000", "")),
    # a window that is empty or ends before it begins
    *(({"end_time": f"2026-09-02T{hour}:00:00Z"}, "INVALID_TIME_WINDOW") for hour in ("08", "07")),
    *(({"user_id": value}, "INVALID_PARAMETER")
      for value in ("", "9" * 20, "harbor_roasters", "-1")),
]  # fmt: skip


class TestParameters:
    """What has to be sent, and how."""

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_history")
    @pytest.mark.parametrize(("change", "code"), REFUSED)
    def test_refused(self, box: Sandbox, change: dict[str, str | None], code: str) -> None:
        """One parameter that is missing or wrong is named."""
        assert (400, [(code, *change)]) == refusal(ask(box, **change))

    def test_all_missing(self, box: Sandbox) -> None:
        """All that is missing is named at once."""
        missing = [("MISSING_PARAMETER", name) for name in sorted(QUERY)]

        assert sorted(faults(box.call("GET", PATH))) == missing

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_history")
    def test_entity_types(self, box: Sandbox) -> None:
        """The five documented types are accepted."""
        for kind in ("CAMPAIGN", "LINE_ITEM", "PROMOTED_POST", "TARGETING_CRITERIA",
                     "PROMOTED_ACCOUNT"):  # fmt: skip
            assert ask(box, entity_type=kind).status_code == 200, kind

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_history")
    @pytest.mark.parametrize("start", [
        TIMES[0], "2026-09-02T08:00Z", "2026-09-02T10:00:00+02:00", "2026-09-02T08:00:00.000Z",
    ])  # fmt: skip
    def test_whole_hours(self, box: Sandbox, start: str) -> None:
        """Whole hours are accepted in every ISO 8601 form, and echoed in one; so are dates."""
        response = ask(box, start_time=start)

        assert times(response) == TIMES
        assert echo(response)["start_time"] == TIMES[0]
        assert times(ask(box, start_time="2026-09-02", end_time="2026-09-03")) == TIMES

    @pytest.mark.parametrize("user_id", ["1", "9" * 19])
    def test_user_id(self, box: Sandbox, user_id: str) -> None:
        """A user id has 1 to 19 digits."""
        assert times(ask(box, user_id=user_id)) == []

    def test_all_at_once(self, box: Sandbox) -> None:
        """Everything wrong is named in one answer, and only what could be read is echoed."""
        response = ask(box, entity_type="X", count="0", end_time="2026-09-02T08:00:00Z")

        assert sorted(faults(response)) == [
            ("INVALID_PARAMETER", "count"), ("INVALID_PARAMETER", "entity_type"),
            ("INVALID_TIME_WINDOW", "end_time"),
        ]  # fmt: skip
        assert set(echo(response)) == {"account_id", "end_time", "entity_id", "start_time"}

    @given(st.datetimes(), st.booleans())
    def test_only_whole_hours(self, moment: datetime, on_the_hour: bool) -> None:
        """A moment is accepted exactly if nothing is left below the hour."""
        hour = moment.replace(minute=0, second=0, microsecond=0)
        if on_the_hour:
            moment = hour

        assert (moment == hour) == _taken(f"{moment.isoformat()}Z")


def _taken(text: str) -> bool:
    try:
        WholeHour().deserialize(text)
    except ValidationError:
        return False
    return True


class TestEntries:
    """What is listed."""

    @pytest.mark.spec("B, Account history entry", "change_by {user_id")
    def test_shape(self, box: Sandbox) -> None:
        """An entry has the documented fields, and no id."""
        body = ask(box).get_json()
        keys = {"change_by", "changes", "change_time", "change_type", "entity", "entity_id"}

        assert [set(entry) for entry in body["data"]] == 3 * [keys | {"entity_data"}]
        assert body["data"][0]["change_by"] == {"user_id": "2244994945", "platform": "API_OTHER"}
        assert [entry["change_type"] for entry in body["data"]] == ["CREATE", "UPDATE", "UPDATE"]
        assert "id" not in body["data"][0]["entity_data"]
        assert body["next_cursor"] is None

    @pytest.mark.parametrize(("start", "end", "expected"), [
        ("08", "12", TIMES), ("08", "09", TIMES[:1]), ("07", "08", []), ("09", "11", TIMES[1:2]),
        ("11", "12", TIMES[2:]), ("12", "13", []),
    ])  # fmt: skip
    def test_window(self, box: Sandbox, start: str, end: str, expected: list[str]) -> None:
        """Start is inclusive, end exclusive."""
        window = {"start_time": f"2026-09-02T{start}:00Z", "end_time": f"2026-09-02T{end}:00Z"}

        assert times(ask(box, **window)) == expected

    def test_on_both_edges(self, box: Sandbox) -> None:
        """An entry at the very start is in, one at the very end is not."""
        noon = "2026-09-02T12:00:00Z"
        box.change("account_history", "hx3", change_time=noon)

        assert times(ask(box)) == TIMES[:2]
        assert times(ask(box, end_time="2026-09-02T13:00:00Z")) == [*TIMES[:2], noon]

    @pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_history")
    def test_by_user_and_entity(self, box: Sandbox) -> None:
        """What one user did; type and id both have to fit, and so has the account."""
        assert times(ask(box, user_id="2244994945")) == TIMES[:2]
        assert times(ask(box, user_id="2790441185")) == TIMES[2:]
        assert times(ask(box, entity_id="nope")) == times(ask(box, entity_type="CAMPAIGN")) == []
        box.change("account_history", "hx1", _account_id="18ce55fw2ag")
        assert times(ask(box)) == TIMES[1:]

    def test_no_other_list_parameters(self, box: Sandbox) -> None:
        """What other lists accept besides count and cursor is ignored here."""
        names = ("with_total_count", "with_deleted", "sort_by")
        body = ask(box, **dict.fromkeys(names, "true")).get_json()

        assert "total_count" not in body
        assert not {*names} & body["request"]["params"].keys()
        assert len(body["data"]) == 3

    def test_written_by_operations(self, box: Sandbox) -> None:
        """What an update changes is in the history at once, with who did it and what it was."""
        for _ in range(2):  # the second time nothing changes
            put(box, f"line_items/{LINE_ITEM}", name="Renamed")
        delete(box, f"line_items/{LINE_ITEM}")
        window = {"start_time": "2026-11-20T10:00:00Z", "end_time": "2026-11-20T11:00:00Z"}
        data = data_of(ask(box, **window))

        assert [entry["change_type"] for entry in data] == ["UPDATE", "DELETE"]
        assert data[0]["changes"] == {"name": {"before": "Holiday clicks, US", "after": "Renamed"}}
        assert data[0]["entity_data"]["name"] == "Renamed"
        assert data[1]["entity_data"]["deleted"] is True
        for entry in data:
            assert entry["change_time"] == "2026-11-20T10:30:00Z"
            assert entry["change_by"] == {"user_id": "2244994945", "platform": "API_OTHER"}
