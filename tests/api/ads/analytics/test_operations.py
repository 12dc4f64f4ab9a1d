"""Synchronous stats: what may be asked, the shape of the answer, and what makes it up."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.analytics.queries import METRIC_GROUPS
from tests.api.ads.support import assumptions, echo, ids, without
from tests.refusals import Refusal, refusals
from tests.scenario.library.support import Stage
from tests.support import ACCOUNT, NORTHBIKE, Sandbox, Sandboxes, data_of

PATH = f"/12/stats/accounts/{ACCOUNT}"
ACTIVE = f"{PATH}/active_entities"
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
CLICKS, CAMPAIGN, FUNDING = "itttx", "8wku2", "m2k8s"
QUERY = {
    "entity": "LINE_ITEM", "entity_ids": CLICKS, "start_time": "2026-11-16T08:00:00Z",
    "end_time": "2026-11-18T08:00:00Z", "granularity": "DAY", "metric_groups": "ENGAGEMENT,BILLING",
    "placement": "ALL_ON_PLATFORM",
}  # fmt: skip
PINNED = {
    "entity": "LINE_ITEM", "entity_id": CLICKS, "start_time": "2026-11-16T08:00:00Z",
    "end_time": "2026-11-16T20:00:00Z", "placement": "ALL_ON_PLATFORM", "metrics": {"clicks": 7},
}  # fmt: skip
MIDNIGHT = "Expect time to be midnight in the account's local timezone for day granularity"
TOO_LONG = "The end_time can be a maximum of 7.days+1.hours after the start_time"
SETTINGS = {"freeze": NOW}


def ask(box: Sandbox, **params: str | None) -> TestResponse:
    """The figures, with some parameters changed or (None) left out."""
    return box.ask("GET", PATH, **QUERY | params)


def metrics(box: Sandbox, **params: str | None) -> dict[str, Any]:
    """The metrics of the one entity that is asked for."""
    (row,) = data_of(ask(box, **params))
    found: dict[str, Any] = row["id_data"][0]["metrics"]
    return found


def texts(response: TestResponse) -> list[tuple[str, str, str]]:
    """Code, message and parameter of each error."""
    errors = response.get_json()["errors"]
    return [(error["code"], error["message"], error["parameter"]) for error in errors]


figures = partial(Refusal, f"GET {PATH}")
REFUSED = [
    *(figures(f"no {name}", 400, [("MISSING_PARAMETER", name)],
              query={each: QUERY[each] for each in QUERY if each != name},
              messages=[f'"{name}" is a required parameter'])
      for name in QUERY),
    *(figures(f"{name} {value or 'that is empty'}", 400, [("INVALID_PARAMETER", name)],
              query=QUERY | {name: value})
      for name, value in (
          ("entity", "ORGANIC_POST"), ("granularity", "WEEK"),
          ("metric_groups", "ENGAGEMENT,MONEY"), ("placement", "PLATFORM_SEARCH"),
          ("entity_ids", ""), ("start_time", "yesterday"))),
    *(figures(f"a fractional hour {value}", 400, [("INVALID_PARAMETER", "start_time")],
              query=QUERY | {"start_time": value, "granularity": "HOUR"},
              messages=["Time cannot be fractional hours"])
      for value in ("2026-11-16T08:30:00Z", "2026-11-16T08:00:00.5Z")),
    figures("an empty window", 400, [("INVALID_TIME_WINDOW", "end_time")],
            query=QUERY | {"end_time": QUERY["start_time"]}),
    figures("the account of another user", 403, [("ACCOUNT_NOT_FOUND", "account_id")], query=QUERY,
            keys=NORTHBIKE),
    *(Refusal(f"GET {ACTIVE}", holds, 400, [(code, name)],
              query={"start_time": QUERY["start_time"], "end_time": QUERY["end_time"],
                     "entity": "LINE_ITEM"} | params)
      for holds, code, name, params in (
          ("activity of an account", "INVALID_PARAMETER", "entity", {"entity": "ACCOUNT"}),
          ("activity of a quarter of an hour", "INVALID_PARAMETER", "start_time",
           {"start_time": "2026-11-16T08:15:00Z"}),
          ("activity in too many line items", "INVALID_PARAMETER", "line_item_ids",
           {"line_item_ids": ",".join(["1"] * 201)}),
          ("two filters at once", "EXCLUSIVE_PARAMETERS", "line_item_ids",
           {"campaign_ids": "1", "line_item_ids": "2"}))),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """The parameter is named, in the words of the live service."""
    row.check(box)


class TestQuestion:
    """What may be asked."""

    @pytest.mark.parametrize("placement", ["ALL_ON_PLATFORM", "PUBLISHER_NETWORK", "TREND"])
    def test_each_placement_is_taken(self, box: Sandbox, placement: str) -> None:
        """Only where the line item is shown are there figures."""
        shown = metrics(box, placement=placement)["impressions"] is not None

        assert shown is (placement == "ALL_ON_PLATFORM")

    @pytest.mark.parametrize(("count", "status"), [(20, 200), (21, 400)])
    def test_twenty_entities_at_most(self, box: Sandbox, count: int, status: int) -> None:
        """Twenty ids are taken; one more is refused."""
        ids = ",".join([CLICKS, *(f"x{number}" for number in range(count - 1))])

        assert ask(box, entity_ids=ids).status_code == status

    def test_mobile_conversions_are_asked_alone(self, box: Sandbox) -> None:
        """They are answered, as null; the journal warns where another group is asked for too."""
        own = METRIC_GROUPS["MOBILE_CONVERSION"]

        assert metrics(box, metric_groups="MOBILE_CONVERSION") == dict.fromkeys(own)
        mixed = metrics(box, metric_groups="MOBILE_CONVERSION,BILLING")
        assert mixed.keys() == {*own, *METRIC_GROUPS["BILLING"]}
        before, last = box.world.journal.find()[-2:]
        assert (before.warnings, len(last.warnings)) == ([], 1)

    def test_two_hundred_and_fifty_in_fifteen_minutes(self, sandboxes: Sandboxes) -> None:
        """The public limit of analytics, counted in one window."""
        answer = sandboxes.get(limits="public").ask("GET", PATH, **QUERY)

        assert answer.headers["x-rate-limit-limit"] == "250"


class TestTimes:
    """The window of the question."""

    def test_a_day_that_does_not_begin_at_midnight(self, box: Sandbox) -> None:
        """One error for each end, in the words of the live service."""
        start, end, error = "2026-11-16T07:00:00Z", "2026-11-18T09:00:00Z", "INVALID_TIME_WINDOW"

        assert texts(ask(box, start_time=start)) == [(error, MIDNIGHT, "")]
        assert texts(ask(box, start_time=start, end_time=end)) == [(error, MIDNIGHT, "")] * 2

    def test_midnight_is_counted_with_the_offset_of_today(self, box: Sandbox) -> None:
        """In November a day of September begins at 08:00 UTC, though it was summer there then."""
        september = {"start_time": "2026-09-07T08:00:00Z", "end_time": "2026-09-08T08:00:00Z"}

        assert ask(box, **september).status_code == 200
        box.world.clock.freeze(datetime(2026, 9, 20, 10, tzinfo=UTC))
        assert ask(box, **september).status_code == 400

    def test_a_bare_date_is_midnight_of_the_account(self, box: Sandbox) -> None:
        """It is echoed in UTC."""
        box.world.clock.freeze(datetime(2026, 9, 20, 10, tzinfo=UTC))
        params = echo(ask(box, start_time="2026-09-07", end_time="2026-09-14"))

        assert params["start_time"] == "2026-09-07T07:00:00Z"
        assert params["end_time"] == "2026-09-14T07:00:00Z"

    def test_half_an_hour_is_whole_where_the_zone_has_one(self, box: Sandbox) -> None:
        """Midnight in Kolkata is 18:30 UTC."""
        box.change("accounts", ACCOUNT, timezone="Asia/Kolkata")
        days = {"start_time": "2026-11-15T18:30:00Z", "end_time": "2026-11-16T18:30:00Z"}

        assert len(metrics(box, **days)["impressions"]) == 1

    def test_seven_days_and_an_hour_at_most(self, box: Sandbox) -> None:
        """The longest window is taken; an hour more is refused, in the words of the service."""
        taken, refused = (
            ask(box, end_time=f"2026-11-23T{hour}:00:00Z", granularity="HOUR")
            for hour in ("09", "10")
        )

        assert taken.status_code == 200
        assert texts(refused) == [("INVALID_TIME_WINDOW", TOO_LONG, "end_time")]


class TestAnswer:
    """The shape of the answer."""

    def test_keys_in_order(self, box: Sandbox) -> None:
        """data_type, time_series_length, data and the echo, which has no account_id."""
        response = ask(box)
        body = response.get_json()
        row = body["data"][0]
        order = "start_time end_time entity entity_ids granularity placement metric_groups"
        unsent = dict.fromkeys(("segmentation_type", "country", "platform"))

        assert list(body) == ["data_type", "time_series_length", "data", "request"]
        assert (body["data_type"], body["time_series_length"]) == ("stats", 2)
        assert list(echo(response)) == [*order.split(), *unsent]
        lists = {"entity_ids": [CLICKS], "metric_groups": ["ENGAGEMENT", "BILLING"]}
        assert echo(response) == QUERY | unsent | lists
        assert (row["id"], [part["segment"] for part in row["id_data"]]) == (CLICKS, [None])
        assert "stats.made-up" in assumptions(response)

    @pytest.mark.parametrize(("granularity", "end", "length"), [
        ("HOUR", "2026-11-17T08:00:00Z", 24), ("DAY", "2026-11-23T08:00:00Z", 7),
        ("TOTAL", "2026-11-20T08:00:00Z", 1),
    ])  # fmt: skip
    def test_a_number_for_each_bucket(
        self, box: Sandbox, granularity: str, end: str, length: int
    ) -> None:
        """Each metric that happened has as many numbers as time_series_length says."""
        body = ask(box, granularity=granularity, end_time=end).get_json()
        found = body["data"][0]["id_data"][0]["metrics"]

        assert body["time_series_length"] == length
        assert {len(v) for v in found.values() if v is not None} == {length}
        assert found["carousel_swipes"] is None

    @pytest.mark.parametrize(("entity", "key", "has"), [
        ("ACCOUNT", ACCOUNT, set()),
        ("FUNDING_INSTRUMENT", FUNDING, {"billed_charge_local_micro"}),
        ("CAMPAIGN", CAMPAIGN, {"billed_charge_local_micro", "clicks", "video_total_views"}),
        ("PROMOTED_POST", "1efwlo", {"billed_charge_local_micro", "clicks"}),
    ])  # fmt: skip
    def test_what_each_entity_has(self, box: Sandbox, entity: str, key: str, has: set[str]) -> None:
        """Accounts and funding instruments have fewer metrics."""
        groups = "ENGAGEMENT,BILLING,VIDEO,WEB_CONVERSION"
        found = metrics(box, entity=entity, entity_ids=key, metric_groups=groups)

        assert {*METRIC_GROUPS["ENGAGEMENT"][:6]} | has <= {*found}
        assert (len(found) == 6) is (entity == "ACCOUNT")
        assert found["impressions"] is not None

    @pytest.mark.parametrize("path", [f"line_items/{CLICKS}", f"campaigns/{CAMPAIGN}"])
    def test_a_pause_that_is_over_in_the_same_second(self, box: Sandbox, path: str) -> None:
        """Figures of the past stay as they were, in whatever order one second has its changes."""
        before = metrics(box)
        for status in ("PAUSED", "ACTIVE"):
            data_of(box.ask("PUT", f"/12/accounts/{ACCOUNT}/{path}", entity_status=status))

        assert metrics(box) == before

    def test_unknown_and_foreign_ids_are_left_out(self, box: Sandbox) -> None:
        """The others are answered in the order in which they were asked for, each once."""
        wanted = f"iu0p9,{CLICKS},unknown,iv7pd,{CLICKS}"

        assert ids(ask(box, entity_ids=wanted)) == ["iu0p9", CLICKS]


class TestPinned:
    """Figures that a test sets itself."""

    def test_a_scenario_pins_figures(self, box: Sandbox) -> None:
        """The entity has exactly these, and its campaign as much more or less."""
        day = {"end_time": "2026-11-17T08:00:00Z"}
        before = metrics(box, entity="CAMPAIGN", entity_ids=CAMPAIGN, **day)
        own = metrics(box, **day)
        Stage("stats-pinned", box, clicks=4000)
        found = metrics(box, granularity="HOUR", **day)
        campaign = metrics(box, entity="CAMPAIGN", entity_ids=CAMPAIGN, **day)
        assert found["impressions"] == [1000] * 24
        assert sum(found["clicks"]) == 4000
        assert sum(found["billed_charge_local_micro"]) == 96_000_000
        for name, pinned in (("impressions", 24_000), ("clicks", 4000), ("likes", own["likes"][0])):
            assert campaign[name] == [before[name][0] - own[name][0] + pinned]

    def test_outside_of_the_window_nothing_changes(self, box: Sandbox) -> None:
        """A bucket that the window covers in part has the pinned part and its own rest."""
        day = {"end_time": "2026-11-17T08:00:00Z"}
        hours = metrics(box, granularity="HOUR", **day)["clicks"]
        box.put("pinned_figures", "few", PINNED | {"id": "few"})

        assert metrics(box, **day)["clicks"] == [7 + sum(hours[12:])]

    def test_figures_that_cannot_be_pinned(self, box: Sandbox) -> None:
        """Unknown metrics, wrong numbers and windows that are not of whole hours."""
        times = {"start_time": "2026-11-16T08:30:00Z", "end_time": "2026-11-16T08:00:00Z"}
        record = PINNED | times | {"id": "wrong", "metrics": {"clicks": -1, "money": 3}}
        response = box.client.put("/_mock/state/pinned_figures/wrong", json=record)

        assert response.status_code == 422
        for part in ("whole hour", "later than start_time", "whole number", "is not a metric"):
            assert part in response.text


def list_active(box: Sandbox, **params: str) -> Any:
    """The answer to a question about two days."""
    times = {name: QUERY[name] for name in ("start_time", "end_time")}
    return box.ask("GET", ACTIVE, **times | params)


def test_the_entities_with_figures(box: Sandbox) -> None:
    """Exactly those that have impressions, with the hours in which they were shown."""
    found = data_of(list_active(box, entity="LINE_ITEM"))
    every = [e.key for e in box.world.store.page("line_items", {"_account_id": ACCOUNT})]
    shown = [key for key in every if metrics(box, entity_ids=key)["impressions"]]

    assert shown
    assert [row["entity_id"] for row in found] == sorted(shown)
    assert without(found[0], "entity_id") == {
        "activity_start_time": QUERY["start_time"], "activity_end_time": QUERY["end_time"],
        "placements": ["ALL_ON_PLATFORM"],
    }  # fmt: skip


@pytest.mark.parametrize(("params", "found"), [
    ({"entity": "PROMOTED_POST", "line_item_ids": CLICKS}, ["1efwlo", "1efx0t"]),
    ({"entity": "PROMOTED_POST", "line_item_ids": "iu8h1"}, []),
    ({"entity": "LINE_ITEM", "campaign_ids": f"{CAMPAIGN},8wmq4"}, [CLICKS, "iu0p9"]),
    ({"entity": "CAMPAIGN", "funding_instrument_ids": FUNDING}, [CAMPAIGN, "8wmq4"]),
    ({"entity": "FUNDING_INSTRUMENT", "funding_instrument_ids": FUNDING}, [FUNDING]),
])  # fmt: skip
def test_active_parts(box: Sandbox, params: dict[str, str], found: list[str]) -> None:
    """Only what belongs to one of the named entities."""
    assert [row["entity_id"] for row in data_of(list_active(box, **params))] == found


class TestReach:
    """How many people saw the ads."""

    def reach(self, box: Sandbox, noun: str, end: str = "2026-11-18", **params: str) -> Any:
        """The answer about some days."""
        return box.ask("GET", f"{PATH}/reach/{noun}", start_time="2026-11-16", end_time=end,
                       **params)  # fmt: skip

    @pytest.mark.parametrize(("noun", "entity", "key", "others"), [
        ("campaigns", "CAMPAIGN", CAMPAIGN, ",unknown,8x7ny"),
        ("funding_instruments", "FUNDING_INSTRUMENT", FUNDING, ""),
    ])  # fmt: skip
    def test_fewer_people_than_impressions(
        self, box: Sandbox, noun: str, entity: str, key: str, others: str
    ) -> None:
        """Each person sees an ad once or more often; unknown ids are left out."""
        body = self.reach(box, noun, **{f"{noun[:-1]}_ids": key + others}).get_json()
        row = body["data"][0]
        shown = metrics(box, entity=entity, entity_ids=key, granularity="TOTAL")
        frequency = shown["impressions"][0] / row["total_audience_reach"]

        assert list(body) == ["data_type", "data", "request"]
        assert (body["data_type"], row["id"]) == ("reach", key)
        assert 1 < row["average_frequency"] < 3
        assert row["average_frequency"] == pytest.approx(frequency, abs=0.01)
        nothing = {"id": "8x7ny", "total_audience_reach": 0, "average_frequency": 0}
        assert body["data"][1:] == ([nothing] if others else [])

    def test_more_days_reach_more_people(self, box: Sandbox) -> None:
        """And each of them more often."""
        two, four = (
            data_of(self.reach(box, "campaigns", end=end, campaign_ids=CAMPAIGN))[0]
            for end in ("2026-11-18", "2026-11-20")
        )

        assert two["total_audience_reach"] < four["total_audience_reach"]
        assert two["average_frequency"] <= four["average_frequency"]

    @pytest.mark.parametrize(("count", "status"), [(20, 200), (21, 400)])
    def test_twenty_at_most(self, box: Sandbox, count: int, status: int) -> None:
        """One more is refused, and so is a question without ids."""
        ids = ",".join(f"c{number}" for number in range(count))

        assert self.reach(box, "campaigns", campaign_ids=ids).status_code == status
        assert self.reach(box, "campaigns").status_code == 400
