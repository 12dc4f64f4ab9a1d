"""Posts are counted once a day for each app; what a project has read, and may read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.api.v2.usage.counting import (
    PROJECT_CAP,
    count_month,
    count_posts,
    find_reached_cap,
    get_project_id,
)
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World
from tests.api.oauth.app_client import AppClient
from tests.support import body_of
from tests.support_replay import Desk

APP, OTHER_APP = "11827", "20993"


@pytest.fixture
def world() -> Iterator[World]:
    """A world in which nothing was read yet."""
    with Desk() as desk:
        desk.clear("usage")
        yield desk.world


@pytest.fixture
def app(world: World) -> Record:
    """The app that reads."""
    return get_app(world, APP)


def get_app(world: World, app_id: str) -> Record:
    """An app of a world."""
    found = world.store.get("apps", app_id)
    assert found is not None
    return found


def read(world: World, app: Record, *post_ids: str) -> int:
    """Let an app read posts; what its project has read in the month by then."""
    with world.work():
        count_posts(world, app, post_ids)
    return count_month(world, app)


def test_once_a_day(world: World, app: Record) -> None:
    """A post counts once on a day, and again on the next one."""
    assert [2, 2, 3] == [
        read(world, app, "1", "2"), read(world, app, "2", "1", "1"), read(world, app, "3")
    ]  # fmt: skip
    world.clock.advance(86_400)

    assert [4, 4] == [read(world, app, "1"), read(world, app, "1")]


def test_earlier_days_are_forgotten(world: World, app: Record) -> None:
    """Which posts were read is remembered for one day, how many for ever."""
    for _ in range(3):
        read(world, app, "1", "2", "3")
        world.clock.advance(86_400)
    read(world, app, "1")

    assert 1 == world.store.count("_posts_read")
    assert [3, 3, 3, 1] == [entry.record["posts"] for entry in world.store.page("usage")]


def test_apps_count_for_themselves(world: World, app: Record) -> None:
    """A post that two apps of a project read counts twice."""
    other = get_app(world, OTHER_APP) | {"_owner_user_id": app["_owner_user_id"]}
    with world.work():
        world.store.put("apps", OTHER_APP, other)
    read(world, app, "1")

    assert 2 == read(world, other, "1")
    assert 2 == count_month(world, app)
    assert get_project_id(app) == get_project_id(other)


def test_other_projects_do_not_count(world: World, app: Record) -> None:
    """What another project reads does not matter."""
    read(world, get_app(world, OTHER_APP), "1")
    assert 0 == count_month(world, app)


@pytest.mark.parametrize("cap", [None, 10])
def test_cap(world: World, app: Record, cap: int | None) -> None:
    """A read that begins just below the cap is counted in full; the next one is refused."""
    number = PROJECT_CAP if cap is None else cap
    with world.work():
        world.store.put("apps", APP, app | {"_post_cap": cap})
        row = {"_id": "a", "app_id": APP, "date": "2026-11-01T00:00:00.000Z", "posts": number - 1}
        world.store.put("usage", "a", row)
    app = get_app(world, APP)

    assert find_reached_cap(world, app) is None
    assert number + 1 == read(world, app, "1", "2")
    with pytest.raises(ProblemFailure) as refused:
        read(world, app, "3")
    assert {
        "type": "/2/problems/usage-capped", "title": "UsageCapExceeded",
        "detail": "Usage cap exceeded: Monthly product cap", "status": 429, "period": "Monthly",
        "scope": "Product", "account_id": int(get_project_id(app)),
        "product_name": "standard-basic",
    } == refused.value.problem.as_json("")  # fmt: skip
    assert number + 1 == count_month(world, app)


def test_cap_of_the_next_month(world: World, app: Record) -> None:
    """With the next month a project may read again."""
    capped = app | {"_post_cap": 1}
    read(world, capped, "1")
    assert find_reached_cap(world, capped) is not None
    world.clock.advance(11 * 86_400)

    assert 1 == read(world, capped, "1")


PATH = "/2/usage/posts"


class Client(AppClient):
    """Calls the endpoint as one app."""

    path = PATH

    def usage(self, **query: Any) -> Any:
        """Read the usage."""
        return body_of(self.call("GET", query_string=query))["data"]


def test_usual_fields(client: Client, desk: Desk) -> None:
    """Without usage.fields the answer has the cap and what of it is used."""
    assert {
        "cap_reset_day": 1, "project_cap": PROJECT_CAP,
        "project_id": get_project_id(desk.record("apps", APP)), "project_usage": 412 + 388 + 95,
    } == client.usage()  # fmt: skip


def test_days(client: Client, desk: Desk) -> None:
    """Each of the last days is listed for the project and for its apps, today last; or seven."""
    fields = {"usage.fields": "daily_project_usage,daily_client_app_usage"}
    days = [
        {"date": "2026-11-18T00:00:00.000Z", "usage": 388},
        {"date": "2026-11-19T00:00:00.000Z", "usage": 412},
        {"date": "2026-11-20T00:00:00.000Z", "usage": 0},
    ]
    project = int(get_project_id(desk.record("apps", APP)))

    assert client.usage(**{"days": 3} | fields) == {
        "daily_project_usage": {"project_id": project, "usage": days},
        "daily_client_app_usage": [{"client_app_id": APP, "usage": days, "usage_result_count": 3}],
    }
    assert 7 == len(client.usage(**fields)["daily_project_usage"]["usage"])


def test_apps_of_one_owner(client: Client, desk: Desk) -> None:
    """A project consists of the apps of one owner; each is listed, and all count."""
    desk.change("apps", OTHER_APP, _owner_user_id=desk.record("apps", APP)["_owner_user_id"])
    data = client.usage(**{"usage.fields": "project_usage,daily_client_app_usage"})
    assert [APP, OTHER_APP] == [one["client_app_id"] for one in data["daily_client_app_usage"]]
    assert 412 + 388 + 95 + 27 == data["project_usage"]


def test_month(client: Client, desk: Desk) -> None:
    """The usage of the project begins again with each month, at midnight UTC."""
    for key, day, posts in (("a", "2026-10-31", 1000), ("b", "2026-11-01", 5)):
        record = {"app_id": APP, "date": f"{day}T00:00:00.000Z", "posts": posts}
        answer = desk.client.put(f"/_mock/state/usage/{key}", json=record)
        assert 2 == answer.status_code // 100, answer.get_json()
    found = [client.usage()["project_usage"]]
    for moment in (
        datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC),
        datetime(2026, 12, 1, tzinfo=UTC),
    ):
        desk.world.clock.travel(moment)
        found.append(client.usage()["project_usage"])

    assert [900, 900, 0] == found
