from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support import BEARER
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

END = datetime(2026, 3, 25, 16, tzinfo=UTC)
BEFORE = END - timedelta(hours=4)


@pytest.fixture
def desk(receiver: Receiver) -> Iterator[Desk]:
    """A sandbox whose clock is frozen before the path's end."""
    with Desk(receiver.url, freeze=BEFORE) as found:
        found.pace("manual")
        yield found
        assert [] == found.platform.errors


def post(
    desk: Desk, webhook_id: str = WEBHOOK, *, bearer: str = BEARER, **query: Any
) -> TestResponse:
    """Ask for a replay the old way, for the last hour unless an argument changes it."""
    whole = {"from_date": desk.ago(hours=1), "to_date": desk.ago()} | query
    return desk.client.post(
        f"/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all",
        query_string={name: value for name, value in whole.items() if value is not None},
        headers={"Authorization": f"Bearer {bearer}"},
    )


@pytest.mark.spec("A, Versioning", "brand word inside")
@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_before_its_end_it_answers_in_its_own_shape(desk: Desk) -> None:
    """for_user_id is the app's owner; the job is under replay_event."""
    answer = post(desk)
    body = answer.get_json()

    assert 200 == answer.status_code
    assert {"for_user_id", "replay_event"} == set(body)
    assert "2244994945" == body["for_user_id"]
    assert {"job_id", "created_at"} == set(body["replay_event"])
    assert "2026-03-25T12:00:00.000Z" == body["replay_event"]["created_at"]
    assert "account-activity.replay-shape" in answer.headers["X-Mock-Assumptions"]


def test_its_job_is_a_job(desk: Desk, receiver: Receiver) -> None:
    """The job delivers, and is in its successor's way as the successor's is in its."""
    desk.pace("immediate")
    job_id = post(desk, from_date=desk.ago(hours=24)).get_json()["replay_event"]["job_id"]
    desk.wait()
    assert desk.event_ids() == receiver.event_ids
    assert "COMPLETE" == desk.job(job_id)["state"]

    desk.pace("manual")
    desk.create()
    assert (409, "http://localhost/2/problems/conflict") == (
        post(desk).status_code,
        post(desk).get_json()["type"],
    )


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
@pytest.mark.parametrize(("moment", "status"), [(END - timedelta(microseconds=1), 200), (END, 410)])
def test_its_end_is_exact(desk: Desk, moment: datetime, status: int) -> None:
    """It works until 2026-03-25 16:00 UTC on the world's clock, and is gone from then on."""
    desk.world.clock.travel(moment)

    assert status == post(desk).status_code


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_after_its_end_it_names_its_successor() -> None:
    """Today the path answers 410 with a generic problem."""
    with Desk() as desk:
        answer = post(desk)

    assert (410, "application/problem+json") == (answer.status_code, answer.content_type)
    assert {
        "type": "about:blank",
        "title": "Gone",
        "status": 410,
        "detail": "This endpoint was retired on 2026-03-25 at 12:00 ET. Use POST "
        "/2/webhooks/replay instead.",
    } == answer.get_json()
    assert "account-activity.replay-retired" in answer.headers["X-Mock-Assumptions"]


def test_gone_comes_before_parameters_and_after_authentication() -> None:
    """A retired path does not look at what was sent, but does ask who is calling."""
    with Desk() as desk:
        assert 410 == post(desk, "x", from_date=None).status_code
        assert 401 == post(desk, bearer="nobody's").status_code


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
@pytest.mark.parametrize(
    ("moment", "warned"),
    [
        (datetime(2026, 3, 19, 23, 59, 59, tzinfo=UTC), False),
        (datetime(2026, 3, 20, tzinfo=UTC), True),
    ],
)
def test_its_deprecation_is_warned_of(desk: Desk, moment: datetime, warned: bool) -> None:
    """From the announcement on the journal says that the path ends."""
    desk.world.clock.travel(moment)
    post(desk)
    (entry,) = desk.world.journal

    assert warned == any("deprecated" in text for text in entry.warnings)


def test_everything_wrong_is_told_at_once(desk: Desk) -> None:
    """Path and query are checked by the same rules as the successor's body."""
    answer = post(desk, "x" * 3, from_date=desk.ago(hours=24, minutes=1), to_date="nope")
    errors = answer.get_json()["errors"]

    assert 400 == answer.status_code
    assert {
        "webhook_id": ["xxx"],
        "from_date": [desk.ago(hours=24, minutes=1)],
        "to_date": ["nope"],
    } == {name: values for error in errors for name, values in error["parameters"].items()}


@pytest.mark.parametrize("name", ["from_date", "to_date"])
def test_both_dates_are_required(desk: Desk, name: str) -> None:
    """A date that is missing is named."""
    left_out: dict[str, Any] = {name: None}
    answer = post(desk, **left_out)

    assert [{"message": f'"{name}" is a required parameter', "parameters": {name: []}}] == (
        answer.get_json()["errors"]
    )


@pytest.mark.parametrize(("webhook_id", "status"), [("1" * 19, 404), ("1" * 20, 400)])
def test_the_webhook_is_looked_up_after_its_form(desk: Desk, webhook_id: str, status: int) -> None:
    """19 digits are looked for, 20 refused."""
    assert status == post(desk, webhook_id).status_code


@pytest.mark.spec("A, Other v2 endpoints", "Other v2 endpoints")
def test_strict_refuses_it() -> None:
    """The spec only names the path, so --strict does not serve its shape."""
    with Desk(freeze=BEFORE, strict=True) as desk:
        assert 501 == post(desk).status_code
