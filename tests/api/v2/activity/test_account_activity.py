"""Webhooks are subscribed to users; the replay path that was retired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient, messages
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

USER = "2244994945"
COUNT = "/2/account_activity/subscriptions/count"
TABLE = "account_activity_subscriptions"
EMPTY = (TABLE,)
LAUNCH = datetime(2025, 5, 20, tzinfo=UTC)
OAUTH2 = datetime(2026, 1, 15, tzinfo=UTC)


def path(webhook: str = WEBHOOK, end: str = "all") -> str:
    """The address of a webhook's subscriptions."""
    return f"/2/account_activity/webhooks/{webhook}/subscriptions/{end}"


class Client(AppClient):
    """Calls the endpoints of one sandbox as one app, or as one of its users."""

    path = COUNT

    def subscribe(self, webhook: str = WEBHOOK, keys: Keys = HARBOR, **more: Any) -> TestResponse:
        """Ask for a subscription of the webhook to the user who signs."""
        return self.call("POST", path(webhook), keys=keys, **more)

    def count(self) -> dict[str, str]:
        """The numbers of subscriptions."""
        found: dict[str, str] = self.call("GET").get_json()["data"]
        return found


def fill(desk: Desk, number: int) -> None:
    """Subscribe the app's second webhook so many times."""
    with desk.world.work():
        for user in range(1, number + 1):
            record = {
                "_id": f"s{user}",
                "webhook_id": "1146654567674912770",
                "user_id": str(user),
                "created_at": "2026-11-20T12:00:00.000Z",
            }
            desk.world.store.put(TABLE, record["_id"], record)


def set_tier(desk: Desk, tier: str) -> None:
    """Set the tier of the well-known app."""
    desk.change("apps", "11827", _tier=tier)


def test_subscribed_shown_listed_and_ended(client: Client) -> None:
    """A subscription is made for the user who signs, and ended by the app."""
    before = client.call("GET", path(), keys=HARBOR).get_json()
    made = client.subscribe()
    after = client.call("GET", path(), keys=HARBOR).get_json()
    listed = client.call("GET", path(end="all/list")).get_json()
    ended = client.call("DELETE", path(end=f"{USER}/all"))
    last = client.call("GET", path(end="all/list")).get_json()

    assert {"data": {"subscribed": False}} == before
    assert (200, {"data": {"subscribed": True}}) == (made.status_code, made.get_json())
    assert {"data": {"subscribed": True}} == after
    assert {
        "data": {
            "application_id": "11827",
            "webhook_id": WEBHOOK,
            "webhook_url": "http://127.0.0.1:8091/webhooks/platform",
            "subscriptions": [{"user_id": USER}],
        }
    } == listed
    assert (200, {"data": {"subscribed": False}}) == (ended.status_code, ended.get_json())
    assert [] == last["data"]["subscriptions"]


def test_an_empty_object_as_body(client: Client) -> None:
    """The body may be an empty object."""
    answer = client.subscribe(json={})

    assert (200, None) == (answer.status_code, answer.headers.get("X-Mock-Warnings"))


def test_count(client: Client, desk: Desk) -> None:
    """All numbers are texts; the count goes over all webhooks of the owner's apps."""
    set_tier(desk, "self_serve")
    client.subscribe()
    client.subscribe("1146654567674912770")

    assert {
        "account_name": "harbor_roasters",
        "provisioned_count": "3",
        "subscriptions_count_all": "2",
        "subscriptions_count_direct_messages": "0",
    } == client.count()


def test_the_same_again(client: Client) -> None:
    """A second subscription of the same webhook to the same user is refused."""
    client.subscribe()

    assert ["DuplicateSubscriptionFailed: Subscription already exists"] == messages(
        client.subscribe()
    )


@pytest.mark.parametrize(("held", "accepted"), [(2, True), (3, False)])
def test_limit(client: Client, desk: Desk, held: int, accepted: bool) -> None:
    """An owner has three subscriptions over all webhooks."""
    set_tier(desk, "self_serve")
    fill(desk, held)
    answer = client.subscribe()

    assert accepted == (answer.status_code == 200)
    if not accepted:
        assert [
            "SubscriptionLimitExceeded: the account has 3 subscriptions, and 3 are allowed (the "
            "_tier of app 11827 decides)"
        ] == messages(answer)


def test_limit_of_a_higher_tier(client: Client, desk: Desk) -> None:
    """An enterprise app may have more."""
    set_tier(desk, "enterprise")
    fill(desk, 3)

    assert 200 == client.subscribe().status_code
    assert "5000" == client.count()["provisioned_count"]


@pytest.mark.parametrize(
    ("method", "end"), [("POST", "all"), ("GET", "all"), ("GET", "all/list"), ("DELETE", "5/all")]
)
def test_unknown_webhook(client: Client, method: str, end: str) -> None:
    """A webhook of another app is as unknown as one that does not exist."""
    for webhook in ("1201845037316968449", "5"):
        keys = HARBOR if end == "all" else None
        answer = client.call(method, path(webhook, end), keys=keys)

        assert [f"WebhookIdInvalid: the app has no webhook {webhook}"] == messages(answer)


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


class TestOAuth2:
    """A user may be subscribed with an OAuth 2.0 token as well."""

    def call(self, desk: Desk, method: str = "POST") -> TestResponse:
        """Call as the well-known user with an OAuth 2.0 token."""
        headers = {"Authorization": f"Bearer {USER_TOKEN}"}
        return desk.client.open(path(), method=method, headers=headers)

    @pytest.mark.spec("A, Release history", "2026-01-15: OAuth 2.0")
    @pytest.mark.parametrize("method", ["POST", "GET"])
    @pytest.mark.parametrize(
        ("moment", "status"), [(OAUTH2 - timedelta(microseconds=1), 403), (OAUTH2, 200)]
    )
    def test_since(self, method: str, moment: datetime, status: int) -> None:
        """OAuth 2.0 is taken from 2026-01-15 on; before, only signatures."""
        with Desk(freeze=moment) as desk:
            answer = self.call(desk, method)

        assert status == answer.status_code
        if status == 403:
            assert (
                "http://localhost/2/problems/unsupported-authentication"
                == (answer.get_json()["type"])
            )
            assert "account-activity.oauth2" in answer.headers["X-Mock-Assumptions"]

    def test_all_releases(self) -> None:
        """With --releases all it is taken at any time."""
        with Desk(freeze=OAUTH2 - timedelta(days=1), releases="all") as desk:
            assert 200 == self.call(desk).status_code

    @pytest.mark.spec("A, Authentication", "When OAuth 1.0a permissions")
    @pytest.mark.parametrize(
        ("permissions", "delivered"),
        [(["read", "write"], False), (["read", "write", "direct_messages"], True)],
    )
    def test_permissions(self, desk: Desk, permissions: list[str], delivered: bool) -> None:
        """The app's permissions decide on messages, whatever the scopes of the token are."""
        self.call(desk)
        desk.change("apps", "11827", _permissions=permissions)
        event = {"event_type": "dm.received", "user_id": USER}
        answer = desk.client.post("/_mock/events", json=event).get_json()

        products = [outlet.get("product") for outlet in answer["outlets"]]
        assert delivered == ("account_activity" in products)

    @pytest.mark.spec("A, Authentication", "When OAuth 1.0a permissions are present")
    @pytest.mark.parametrize("missing", ["dm.read", "dm.write", "post.read", "users.read"])
    def test_scopes(self, desk: Desk, missing: str) -> None:
        """Each of four scopes is needed, unless the user has given the app OAuth 1.0a access."""
        with desk.world.work():
            token = desk.record("tokens", USER_TOKEN)
            scopes = [scope for scope in token["scopes"] if scope != missing]
            desk.world.store.put("tokens", USER_TOKEN, token | {"scopes": scopes})
        overridden = self.call(desk, "GET")
        desk.put(
            "tokens",
            str(HARBOR.token),
            desk.record("tokens", str(HARBOR.token)) | {"state": "invalidated"},
        )

        answer = self.call(desk)

        assert 200 == overridden.status_code
        assert "oauth2.permissions-override" in overridden.headers["X-Mock-Assumptions"]
        assert 403 == answer.status_code
        assert f"needs the scope {missing}" in answer.get_json()["detail"]


def test_another_app_counts_its_own(desk: Desk) -> None:
    """Apps of other owners have their own numbers."""
    client = Client(desk)
    client.subscribe("1201845037316968449", NORTHBIKE)

    assert "0" == client.count()["subscriptions_count_all"]


def test_the_fixtures_show_something() -> None:
    """The packaged webhooks have subscriptions to list."""
    with Desk() as desk:
        answer = Client(desk).call("GET", path("1146654567674912770", "all/list"))

    assert [{"user_id": "2790441185"}] == answer.get_json()["data"]["subscriptions"]


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
    whole = {"from_date": older.ago(hours=1), "to_date": older.ago()} | query
    return older.client.post(
        f"/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all",
        query_string={name: value for name, value in whole.items() if value is not None},
        headers={"Authorization": f"Bearer {bearer}"},
    )


@pytest.mark.spec("A, Versioning", "brand word inside")
@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_before_its_end_it_answers_in_its_own_shape(older: Desk) -> None:
    """for_user_id is the app's owner; the job is under replay_event."""
    answer = post(older)
    body = answer.get_json()

    assert 200 == answer.status_code
    assert {"for_user_id", "replay_event"} == set(body)
    assert "2244994945" == body["for_user_id"]
    assert {"job_id", "created_at"} == set(body["replay_event"])
    assert "2026-03-25T12:00:00.000Z" == body["replay_event"]["created_at"]
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
    assert (409, "http://localhost/2/problems/conflict") == (
        post(older).status_code,
        post(older).get_json()["type"],
    )


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
@pytest.mark.parametrize(("moment", "status"), [(END - timedelta(microseconds=1), 200), (END, 410)])
def test_its_end_is_exact(older: Desk, moment: datetime, status: int) -> None:
    """It works until 2026-03-25 16:00 UTC on the world's clock, and is gone from then on."""
    older.world.clock.travel(moment)

    assert status == post(older).status_code


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_after_its_end_it_names_its_successor() -> None:
    """Today the path answers 410 with a generic problem."""
    with Desk() as older:
        answer = post(older)

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
    with Desk() as older:
        assert 410 == post(older, "x", from_date=None).status_code
        assert 401 == post(older, bearer="nobody's").status_code


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
@pytest.mark.parametrize(
    ("moment", "warned"),
    [
        (datetime(2026, 3, 19, 23, 59, 59, tzinfo=UTC), False),
        (datetime(2026, 3, 20, tzinfo=UTC), True),
    ],
)
def test_its_deprecation_is_warned_of(older: Desk, moment: datetime, warned: bool) -> None:
    """From the announcement on the journal says that the path ends."""
    older.world.clock.travel(moment)
    post(older)
    (entry,) = older.world.journal

    assert warned == any("deprecated" in text for text in entry.warnings)


def test_everything_wrong_is_told_at_once(older: Desk) -> None:
    """Path and query are checked by the same rules as the successor's body."""
    answer = post(older, "x" * 3, from_date=older.ago(hours=24, minutes=1), to_date="nope")
    errors = answer.get_json()["errors"]

    assert 400 == answer.status_code
    assert {
        "webhook_id": ["xxx"],
        "from_date": [older.ago(hours=24, minutes=1)],
        "to_date": ["nope"],
    } == {name: values for error in errors for name, values in error["parameters"].items()}


@pytest.mark.parametrize("name", ["from_date", "to_date"])
def test_both_dates_are_required(older: Desk, name: str) -> None:
    """A date that is missing is named."""
    left_out: dict[str, Any] = {name: None}
    answer = post(older, **left_out)

    assert [{"message": "field is required", "parameters": {name: []}}] == (
        answer.get_json()["errors"]
    )


@pytest.mark.parametrize(("webhook_id", "status"), [("1" * 19, 404), ("1" * 20, 400)])
def test_the_webhook_is_looked_up_after_its_form(older: Desk, webhook_id: str, status: int) -> None:
    """19 digits are looked for, 20 refused."""
    assert status == post(older, webhook_id).status_code


@pytest.mark.spec("A, Other v2 endpoints", "Other v2 endpoints")
def test_strict_refuses_it() -> None:
    """The spec only names the path, so --strict does not serve its shape."""
    with Desk(freeze=BEFORE, strict=True) as older:
        assert 501 == post(older).status_code
