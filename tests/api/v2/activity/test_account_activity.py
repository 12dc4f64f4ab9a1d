"""Webhooks are subscribed to users; the replay path that was retired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient, messages
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys, body_of
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

USER = "2244994945"
COUNT = "/2/account_activity/subscriptions/count"
TABLE = "account_activity_subscriptions"
EMPTY = (TABLE,)
OAUTH2 = datetime(2026, 1, 15, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)


def path(webhook: str = WEBHOOK, end: str = "all") -> str:
    """The address of a webhook's subscriptions."""
    return f"/2/account_activity/webhooks/{webhook}/subscriptions/{end}"


class Client(AppClient):
    """Calls the endpoints of one sandbox as one app, or as one of its users."""

    path = COUNT

    def subscribe(self, webhook: str = WEBHOOK, keys: Keys = HARBOR, **more: Any) -> TestResponse:
        """Ask for a subscription of the webhook to the user who signs."""
        return self.call("POST", path(webhook), keys=keys, **more)

    def count(self) -> Any:
        """The numbers of subscriptions."""
        return self.read()["data"]


def test_subscribed_shown_listed_and_ended(client: Client) -> None:
    """A subscription is made for the user who signs, and ended by the app."""
    before = client.call("GET", path(), keys=HARBOR).get_json()
    made = client.subscribe(json={})
    after = client.call("GET", path(), keys=HARBOR).get_json()
    listed = client.read(path(end="all/list"))
    ended = client.call("DELETE", path(end=f"{USER}/all"))

    assert {"data": {"subscribed": False}} == before == body_of(ended)
    assert {"data": {"subscribed": True}} == after == body_of(made)
    assert "X-Mock-Warnings" not in made.headers
    assert listed["data"] == {
        "application_id": "11827",
        "webhook_id": WEBHOOK,
        "webhook_url": "http://127.0.0.1:8091/webhooks/platform",
        "subscriptions": [{"user_id": USER}],
    }
    assert [] == client.read(path(end="all/list"))["data"]["subscriptions"]


def test_count(client: Client, desk: Desk) -> None:
    """All numbers are texts; the count goes over all webhooks of the owner's apps, not others'."""
    desk.change("apps", "11827", _tier="self_serve")
    client.subscribe()
    client.subscribe("1146654567674912770")
    client.subscribe("1201845037316968449", NORTHBIKE)

    assert {
        "account_name": "harbor_roasters", "provisioned_count": "3", "subscriptions_count_all": "2",
        "subscriptions_count_direct_messages": "0",
    } == client.count()  # fmt: skip


@pytest.mark.parametrize(
    ("tier", "held", "most"),
    [("self_serve", 2, "3"), ("self_serve", 3, "3"), ("enterprise", 3, "5000")],
)
def test_limit(client: Client, desk: Desk, tier: str, held: int, most: str) -> None:
    """An owner has three subscriptions over all webhooks, with an enterprise app 5,000."""
    desk.change("apps", "11827", _tier=tier)
    for user in map(str, range(1, held + 1)):
        record = {"_id": user, "webhook_id": "1146654567674912770", "user_id": user}
        desk.put(TABLE, user, record | {"created_at": "2026-11-20T12:00:00.000Z"})
    answer = client.subscribe()

    assert most == client.count()["provisioned_count"]
    assert (held < int(most)) == (answer.status_code == 200)
    if answer.status_code != 200:
        assert [
            "SubscriptionLimitExceeded: the account has 3 subscriptions, and 3 are allowed (the "
            "_tier of app 11827 decides)"
        ] == messages(answer)


@pytest.mark.parametrize(
    ("method", "end"), [("POST", "all"), ("GET", "all"), ("GET", "all/list"), ("DELETE", "5/all")]
)
def test_the_webhook_of_another_app(client: Client, method: str, end: str) -> None:
    """A webhook of another app is as unknown as one that does not exist."""
    answer = client.call(
        method, path("1201845037316968449", end), keys=HARBOR if end == "all" else None
    )
    assert ["WebhookIdInvalid: the app has no webhook 1201845037316968449"] == messages(answer)


def test_ending_what_is_not_there(client: Client) -> None:
    """A subscription that does not exist cannot be ended."""
    assert [f"SubscriptionNotFound: user {USER} is not subscribed at webhook {WEBHOOK}"] == (
        messages(client.call("DELETE", path(end=f"{USER}/all")))
    )


def test_an_invalid_webhook(client: Client, desk: Desk) -> None:
    """A webhook that is not valid may be subscribed, with a warning."""
    client.subscribe("1146654567674912771")
    assert ["webhook 1146654567674912771 is not valid, so it will receive nothing"] == (
        list(desk.world.journal)[-1].warnings
    )


def test_deleting_the_webhook_ends_its_subscriptions(client: Client) -> None:
    """A webhook that is deleted takes its subscriptions with it."""
    client.subscribe()
    client.call("DELETE", f"/2/webhooks/{WEBHOOK}")
    assert "0" == client.count()["subscriptions_count_all"]


def call(desk: Desk, method: str = "POST") -> TestResponse:
    """Subscribe as the well-known user with an OAuth 2.0 token."""
    return desk.call(method, path(), keys=USER_TOKEN)


@pytest.mark.spec("A, Release history", "2026-01-15: OAuth 2.0")
@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize(
    ("moment", "releases", "status"),
    [(OAUTH2 - INSTANT, "clock", 403), (OAUTH2, "clock", 200), (OAUTH2 - INSTANT, "all", 200)],
)
def test_oauth2_since(method: str, moment: datetime, releases: str, status: int) -> None:
    """OAuth 2.0 is taken from 2026-01-15 on, or with --releases all; before, only signatures."""
    with Desk(freeze=moment, releases=releases) as desk:
        answer = call(desk, method)

    assert status == answer.status_code
    if status == 403:
        assert answer.get_json()["type"].endswith("/2/problems/unsupported-authentication")
        assert "account-activity.oauth2" in answer.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, Authentication", "When OAuth 1.0a permissions")
@pytest.mark.parametrize("more", [[], ["direct_messages"]])
def test_permissions_of_oauth2(desk: Desk, more: list[str]) -> None:
    """The app's permissions decide on messages, whatever the scopes of the token are."""
    call(desk)
    desk.change("apps", "11827", _permissions=["read", "write", *more])
    event = {"event_type": "dm.received", "user_id": USER}
    answer = desk.client.post("/_mock/events", json=event).get_json()

    products = [outlet.get("product") for outlet in answer["outlets"]]
    assert bool(more) == ("account_activity" in products)


@pytest.mark.spec("A, Authentication", "When OAuth 1.0a permissions are present")
@pytest.mark.parametrize("missing", ["dm.read", "dm.write", "post.read", "users.read"])
def test_scopes_of_oauth2(desk: Desk, missing: str) -> None:
    """Each of four scopes is needed, unless the user has given the app OAuth 1.0a access."""
    scopes = [each for each in desk.record("tokens", USER_TOKEN)["scopes"] if each != missing]
    desk.change("tokens", USER_TOKEN, scopes=scopes)
    overridden = call(desk, "GET")
    desk.change("tokens", str(HARBOR.token), state="invalidated")

    assert 200 == overridden.status_code
    assert "oauth2.permissions-override" in overridden.headers["X-Mock-Assumptions"]
    assert f"needs the scope {missing}" in body_of(call(desk), 403)["detail"]


def test_the_fixtures_show_something() -> None:
    """The packaged webhooks have subscriptions to list."""
    with Desk() as desk:
        body = Client(desk).read(path("1146654567674912770", "all/list"))
    assert [{"user_id": "2790441185"}] == body["data"]["subscriptions"]


END = datetime(2026, 3, 25, 16, tzinfo=UTC)
BEFORE = END - timedelta(hours=4)


@pytest.fixture
def older(receiver: Receiver) -> Iterator[Desk]:
    """A sandbox whose clock is frozen before the path's end."""
    with Desk(receiver.url, freeze=BEFORE) as found:
        found.pace("manual")
        yield found
        assert [] == found.platform.errors


def post(
    older: Desk, webhook_id: str = WEBHOOK, *, bearer: str = BEARER, **query: Any
) -> TestResponse:
    """Ask for a replay the old way, for the last hour unless an argument changes it."""
    path = f"/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all"
    whole = {"from_date": older.ago(hours=1), "to_date": older.ago()} | query
    return older.ask("POST", path, keys=bearer, **whole)


@pytest.mark.spec("A, Versioning", "brand word inside")
@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_before_its_end_it_answers_in_its_own_shape(older: Desk) -> None:
    """for_user_id is the app's owner; the job is under replay_event."""
    answer = post(older)
    body = body_of(answer)
    job_id = body["replay_event"]["job_id"]

    assert body == {
        "for_user_id": USER,
        "replay_event": {"job_id": job_id, "created_at": "2026-03-25T12:00:00.000Z"},
    }
    assert "account-activity.replay-shape" in answer.headers["X-Mock-Assumptions"]


def test_its_job_is_a_job(older: Desk, receiver: Receiver) -> None:
    """The job delivers, and is in its successor's way as the successor's is in its."""
    older.pace("immediate")
    job_id = post(older, from_date=older.ago(hours=24)).get_json()["replay_event"]["job_id"]
    older.wait()
    assert older.event_ids() == receiver.event_ids
    assert "COMPLETE" == older.job(job_id)["state"]

    older.pace("manual")
    older.create()
    assert "http://localhost/2/problems/conflict" == body_of(post(older), 409)["type"]


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
@pytest.mark.parametrize(("moment", "status"), [(END - INSTANT, 200), (END, 410)])
def test_its_end_is_exact(older: Desk, moment: datetime, status: int) -> None:
    """It works until 2026-03-25 16:00 UTC on the world's clock, and is gone from then on."""
    older.world.clock.travel(moment)
    assert status == post(older).status_code


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_after_its_end_it_names_its_successor() -> None:
    """It answers 410 with a generic problem, before parameters and after authentication."""
    with Desk() as older:
        answer = post(older)
        assert 410 == post(older, "x", from_date=None).status_code
        assert 401 == post(older, bearer="nobody's").status_code

    assert (410, "application/problem+json") == (answer.status_code, answer.content_type)
    assert {
        "type": "about:blank",
        "title": "Gone",
        "status": 410,
        "detail": "This endpoint was retired on 2026-03-25 at 12:00 ET. Use POST "
        "/2/webhooks/replay instead.",
    } == answer.get_json()
    assert "account-activity.replay-retired" in answer.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
@pytest.mark.parametrize("warned", [False, True])
def test_its_deprecation_is_warned_of(older: Desk, warned: bool) -> None:
    """From the announcement on the journal says that the path ends."""
    older.world.clock.travel(datetime(2026, 3, 20, tzinfo=UTC) - timedelta(seconds=not warned))
    post(older)
    (entry,) = older.world.journal
    assert warned == any("deprecated" in text for text in entry.warnings)


def test_everything_wrong_is_told_at_once(older: Desk) -> None:
    """Path and query are checked by the same rules as the successor's body."""
    early = older.ago(hours=24, minutes=1)
    errors = body_of(post(older, "xxx", from_date=early, to_date="nope"), 400)["errors"]
    missing = body_of(post(older, from_date=None, to_date=None), 400)["errors"]

    assert {"webhook_id": ["xxx"], "from_date": [early], "to_date": ["nope"]} == {
        name: values for error in errors for name, values in error["parameters"].items()
    }
    assert missing == [
        {"message": "field is required", "parameters": {name: []}}
        for name in ("from_date", "to_date")
    ]


@pytest.mark.parametrize(("webhook_id", "status"), [("1" * 19, 404), ("1" * 20, 400)])
def test_the_webhook_is_looked_up_after_its_form(older: Desk, webhook_id: str, status: int) -> None:
    """19 digits are looked for, 20 refused."""
    assert status == post(older, webhook_id).status_code


@pytest.mark.spec("A, Other v2 endpoints", "Other v2 endpoints")
def test_strict_refuses_it() -> None:
    """The spec only names the path, so --strict does not serve its shape."""
    with Desk(freeze=BEFORE, strict=True) as older:
        assert 501 == post(older).status_code
