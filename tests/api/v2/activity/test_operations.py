"""Apps subscribe to activities, and what happens reaches the webhooks that want to hear of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.release_history import EVENT_NAMES
from mock_platform.api.v2.usage.counting import count_month
from tests.api.oauth.app_client import AppClient, messages
from tests.support import HARBOR, NORTHBIKE, USER_TOKEN, Keys
from tests.support_receiver import Receiver
from tests.support_replay import NOW, WEBHOOK, Desk

PATH = "/2/activity/subscriptions"
USER = "2244994945"
OTHER_USER = "3805104374"
BIO = {"event_type": "profile.update.bio", "filter": {"user_id": USER}}
EMPTY = ("activity_subscriptions",)
pytestmark = pytest.mark.usefixtures("receiver")


class Client(AppClient):
    """Calls the endpoints of one sandbox as one app."""

    path = PATH

    def subscribe(self, keys: Keys | None = None, **body: Any) -> TestResponse:
        """Ask for a subscription."""
        return self.call("POST", keys=keys, json=BIO | body)

    def create(self, **body: Any) -> dict[str, Any]:
        """Ask for a subscription that must be made; the subscription."""
        answer = self.subscribe(**body)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        found: dict[str, Any] = answer.get_json()["data"]["subscription"]
        return found

    def emit(self, **event: Any) -> TestResponse:
        """Let something happen."""
        body = {"event_type": "profile.update.bio", "user_id": USER} | event
        return self.desk.client.post("/_mock/events", json=body)


class TestSubscribe:
    """Subscriptions are made."""

    def test_answer(self, client: Client) -> None:
        """The answer holds the subscription and how many there are."""
        body = client.subscribe(tag="bios", webhook_id=WEBHOOK).get_json()

        subscription = body["data"]["subscription"]
        assert {
            "subscription_id": subscription["subscription_id"],
            "event_type": "profile.update.bio",
            "filter": {"user_id": USER},
            "tag": "bios",
            "webhook_id": WEBHOOK,
            "created_at": "2026-11-20T12:00:30.000Z",
            "updated_at": "2026-11-20T12:00:30.000Z",
        } == subscription
        assert 1 == body["data"]["total_subscriptions_for_instance_id"]
        assert {"total_subscriptions": 1} == body["meta"]

    def test_what_was_not_sent_is_left_out(self, client: Client) -> None:
        """A subscription without tag and webhook has neither key."""
        assert not {"tag", "webhook_id"} & set(client.create())

    @pytest.mark.parametrize("direction", ["sent", "received", "both", "inbound", "outbound"])
    def test_direction(self, client: Client, direction: str) -> None:
        """A direction is repeated as the subscriber wrote it."""
        wanted = {"user_id": USER, "direction": direction}

        assert wanted == client.create(event_type="dm.received", filter=wanted)["filter"]

    def test_unknown_direction(self, client: Client) -> None:
        """Another direction is refused."""
        wanted = {"user_id": USER, "direction": "up"}

        assert 1 == len(messages(client.subscribe(event_type="dm.sent", filter=wanted)))

    def test_no_direction(self, client: Client) -> None:
        """A type without directions takes none."""
        wanted = {"user_id": USER, "direction": "sent"}

        assert ["filter.direction is not allowed for profile.update.bio"] == messages(
            client.subscribe(filter=wanted)
        )

    @pytest.mark.parametrize(
        ("event_type", "wanted", "message"),
        [
            ("profile.update.bio", {}, "filter.user_id is required for profile.update.bio"),
            ("news.new", {"user_id": USER}, "filter.keyword is required for news.new"),
            ("oauth.revoke", {"user_id": USER}, "filter must be empty for oauth.revoke"),
        ],
    )
    def test_filter(
        self, client: Client, event_type: str, wanted: dict[str, str], message: str
    ) -> None:
        """Each type wants its own filter."""
        assert [message] == messages(client.subscribe(event_type=event_type, filter=wanted))

    @pytest.mark.parametrize(
        ("event_type", "wanted"), [("news.new", {"keyword": "coffee"}), ("oauth.revoke", {})]
    )
    def test_other_filters(self, client: Client, event_type: str, wanted: dict[str, str]) -> None:
        """News are filtered by a keyword, revocations not at all."""
        assert wanted == client.create(event_type=event_type, filter=wanted)["filter"]

    @pytest.mark.parametrize(("length", "accepted"), [(1, True), (150, True), (151, False)])
    def test_length_of_a_keyword(self, client: Client, length: int, accepted: bool) -> None:
        """A keyword has 1 to 150 characters."""
        answer = client.subscribe(event_type="news.new", filter={"keyword": "x" * length})

        assert accepted == (answer.status_code == 200)

    @pytest.mark.parametrize(
        ("length", "accepted"), [(0, False), (1, True), (200, True), (201, False)]
    )
    def test_length_of_a_tag(self, client: Client, length: int, accepted: bool) -> None:
        """A tag has 1 to 200 characters."""
        assert accepted == (client.subscribe(tag="x" * length).status_code == 200)

    def test_unknown_type(self, client: Client) -> None:
        """An unknown type is refused with the nearest one."""
        (message,) = messages(client.subscribe(event_type="profile.update.bioo"))

        assert "Did you mean 'profile.update.bio'?" in message

    def test_former_name(self, client: Client) -> None:
        """A former name is accepted with a warning."""
        answer = client.subscribe(event_type="ProfileBioUpdate")

        assert 200 == answer.status_code
        (entry,) = client.desk.client.get("/_mock/requests?limit=1").get_json()["requests"]
        assert any("deprecated" in warning for warning in entry["warnings"])

    def test_not_yet_in_force(self) -> None:
        """A name that the release history brings later is refused before."""
        with Desk(freeze=datetime(2026, 6, 3, tzinfo=UTC)) as desk:
            (message,) = messages(Client(desk).subscribe(event_type="post.create"))
        assert "in force from 2026-06-04" in message
        with Desk(freeze=datetime(2026, 6, 4, tzinfo=UTC)) as desk:
            assert 200 == Client(desk).subscribe(event_type="post.create").status_code

    @pytest.mark.parametrize(
        ("event_type", "status"),
        [
            ("dm.received", 200),
            ("spaces.start", 200),
            ("ProfileBioUpdate", 200),
            ("profile.update.bio", 400),
            ("like.create", 400),
        ],
    )
    def test_before_dotted_names(self, event_type: str, status: int) -> None:
        """Before 2026-03-18 the interface is there with its types of that time, and no others."""
        with Desk(freeze=datetime(2026, 3, 12, tzinfo=UTC)) as desk:
            client = Client(desk)
            answer = client.subscribe(event_type=event_type)
            listed = client.call("GET")
        assert (status, 200) == (answer.status_code, listed.status_code)
        if status == 400:
            body = answer.get_json()
            assert body["type"].endswith("/invalid-request")
            assert {"event_type": [event_type]} == body["errors"][0]["parameters"]
            assert "is in force from 2026-03-18" in body["errors"][0]["message"]

    def test_direction_before_its_date(self) -> None:
        """A direction is refused until the release history adds it."""
        wanted = {"user_id": USER, "direction": "sent"}
        moment = datetime(2026, 3, 17, tzinfo=UTC)
        with Desk(freeze=moment) as desk:
            (message,) = messages(Client(desk).subscribe(event_type="dm.sent", filter=wanted))
        with Desk(freeze=moment, releases="all") as desk:
            answer = Client(desk).subscribe(event_type="dm.sent", filter=wanted)

        assert message.startswith("filter.direction exists from 2026-03-18 on")
        assert 200 == answer.status_code

    def test_all_releases_know_all_types(self) -> None:
        """With --releases all a type is taken, and can happen, before its date."""
        with Desk(freeze=datetime(2025, 1, 1, tzinfo=UTC), releases="all") as desk:
            client = Client(desk)

            assert 200 == client.subscribe(event_type="post.delete").status_code
            assert 201 == client.emit().status_code

    @pytest.mark.parametrize("webhook", ["1", "1201845037316968449"])
    def test_webhook(self, client: Client, webhook: str) -> None:
        """A webhook that is unknown or another app's is refused."""
        assert [f"WebhookIdInvalid: the app has no webhook {webhook}"] == messages(
            client.subscribe(webhook_id=webhook)
        )

    def test_duplicate(self, client: Client) -> None:
        """The same type, filter and webhook are subscribed once; another webhook is another one."""
        client.create()

        answer = client.subscribe(tag="another tag")
        assert 409 == answer.status_code
        assert (
            "DuplicateSubscriptionFailed: Subscription already exists"
            == answer.get_json()["detail"]
        )
        assert 200 == client.subscribe(webhook_id=WEBHOOK).status_code

    @pytest.mark.parametrize("limit", [1, 2])
    def test_cap(self, limit: int) -> None:
        """An app has as many subscriptions as --subscription-limit says."""
        with Desk(subscription_limit=limit) as desk:
            client = Client(desk)
            held = client.call("GET").get_json()["meta"]["total_subscriptions"]
            for _ in range(held):
                first = client.call("GET").get_json()["data"][0]["subscription_id"]
                client.call("DELETE", f"{PATH}/{first}")
            for number in range(limit):
                client.create(filter={"user_id": str(number + 1)})
            answer = client.subscribe(filter={"user_id": "99"})

        assert 403 == answer.status_code
        assert answer.get_json()["detail"].startswith("SubscriptionLimitExceeded")


class TestPrivateTypes:
    """Private types need the user's agreement."""

    @pytest.mark.parametrize(
        "event_type", ["like.create", "dm.sent", "post.reply.create", "mute.mute"]
    )
    def test_without_grant(self, client: Client, event_type: str) -> None:
        """A bearer token without the user's grant is refused."""
        answer = client.subscribe(event_type=event_type, filter={"user_id": OTHER_USER})

        assert 403 == answer.status_code
        assert "has not granted" in answer.get_json()["detail"]
        assert "activity.private-types" in answer.headers["X-Mock-Assumptions"].split(",")

    def test_with_grant(self, client: Client, desk: Desk) -> None:
        """A grant of the user to the app is enough."""
        with desk.world.work():
            grant = {"_id": "g1", "app_id": "11827", "user_id": OTHER_USER, "access": "write"}
            desk.world.store.put("grants", "g1", grant | {"created_at": "2026-01-01T00:00:00Z"})

        answer = client.subscribe(event_type="like.create", filter={"user_id": OTHER_USER})

        assert 200 == answer.status_code

    def test_own_activities(self, client: Client) -> None:
        """A user who signs the request agrees."""
        answer = client.subscribe(HARBOR, event_type="like.create", filter={"user_id": USER})

        assert 200 == answer.status_code

    @pytest.mark.parametrize(
        ("event_type", "scope"),
        [
            ("dm.sent", "dm.read"),
            ("chat.received", "dm.read"),
            ("like.create", "like.read"),
            ("mute.mute", "mute.read"),
            ("block.block", "block.read"),
            ("post.reply.create", "post.read"),
        ],
    )
    @pytest.mark.parametrize("kind", ["grant", "oauth2", "refresh"])
    def test_with_grant_of_oauth2(
        self, client: Client, desk: Desk, event_type: str, scope: str, kind: str
    ) -> None:
        """A grant or a valid token of OAuth 2.0 is enough with the scope of the type."""
        owner = {"app_id": "11827", "user_id": OTHER_USER, "created_at": "2026-01-01T00:00:00Z"}
        table = "grants" if kind == "grant" else "tokens"
        record = owner | {"id": "g1", "_id": "g1", "kind": kind, "state": "active"}
        body = {"event_type": event_type, "filter": {"user_id": OTHER_USER}}
        statuses = []
        ended = {"expires_at": "2026-11-20T12:00:30Z"}
        for more in ({"scopes": ["media.write"]}, {"scopes": [scope]} | ended, {"scopes": [scope]}):
            desk.put(table, "g1", record | {"expires_at": None} | more)
            answer = client.call("POST", json=body)
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                made = answer.get_json()["data"]["subscription"]["subscription_id"]
                desk.remove("activity_subscriptions", made)

        assert [403, 200 if kind == "grant" else 403, 200] == statuses

    @pytest.mark.parametrize(
        ("event_type", "scope", "status"),
        [
            ("like.create", "like.read", 200),
            ("like.create", "dm.read", 403),
            ("dm.sent", "dm.read", 200),
            ("dm.sent", "like.read", 403),
            ("profile.update.bio", "like.read", 200),
        ],
    )
    def test_user_tokens_need_the_scope_of_the_type(
        self, client: Client, desk: Desk, event_type: str, scope: str, status: int
    ) -> None:
        """Beside post.read; the refusal names the scope."""
        desk.put(
            "tokens",
            USER_TOKEN,
            desk.record("tokens", USER_TOKEN) | {"scopes": ["post.read", scope]},
        )
        headers = {"Authorization": f"Bearer {USER_TOKEN}"}
        body = {"event_type": event_type, "filter": {"user_id": USER}}
        answer = desk.client.post(PATH, json=body, headers=headers)

        assert status == answer.status_code
        if status == 403:
            assert "needs the scope" in answer.get_json()["detail"]

    def test_permission_for_direct_messages(self, desk: Desk) -> None:
        """Messages need the app's permission as well."""
        answer = Client(desk).subscribe(
            NORTHBIKE, event_type="dm.sent", filter={"user_id": OTHER_USER}
        )

        assert 403 == answer.status_code
        assert "permission" in answer.get_json()["detail"]


class TestList:
    """Subscriptions are listed."""

    def test_none(self, client: Client) -> None:
        """An empty list has no data."""
        assert {"meta": {"result_count": 0, "total_subscriptions": 0}} == client.call(
            "GET"
        ).get_json()

    def test_pages(self, client: Client) -> None:
        """Pages follow one another by their tokens, each subscription once."""
        made = [client.create(filter={"user_id": str(n)})["subscription_id"] for n in range(1, 6)]
        seen: list[str] = []
        token = ""
        while True:
            path = f"{PATH}?max_results=2" + (f"&pagination_token={token}" if token else "")
            body = client.call("GET", path).get_json()
            seen += [each["subscription_id"] for each in body["data"]]
            assert 5 == body["meta"]["total_subscriptions"]
            token = body["meta"].get("next_token", "")
            if not token:
                break

        assert made == seen

    @pytest.mark.parametrize("token", ["short", "x" * 40])
    def test_foreign_token(self, client: Client, token: str) -> None:
        """A token that is not in this list is refused."""
        assert 1 == len(messages(client.call("GET", f"{PATH}?pagination_token={token}")))


class TestChange:
    """Subscriptions are changed and deleted."""

    def test_update(self, client: Client, desk: Desk) -> None:
        """Tag and webhook change, and the moment of the change."""
        made = client.create()
        desk.world.clock.advance(60)

        answer = client.call(
            "PUT", f"{PATH}/{made['subscription_id']}", json={"tag": "t", "webhook_id": WEBHOOK}
        )

        assert {
            "data": {
                "subscription": made
                | {"tag": "t", "webhook_id": WEBHOOK, "updated_at": "2026-11-20T12:01:30.000Z"},
                "total_subscriptions": 1,
            }
        } == answer.get_json()

    def test_update_of_the_filter(self, client: Client) -> None:
        """The filter cannot change; who tries is warned."""
        made = client.create()

        answer = client.call(
            "PUT", f"{PATH}/{made['subscription_id']}", json={"filter": {"user_id": "1"}}
        )

        assert made["filter"] == answer.get_json()["data"]["subscription"]["filter"]
        assert "unknown-key" in answer.headers["X-Mock-Warnings"]

    def test_delete(self, client: Client) -> None:
        """A deleted subscription is gone; the answer says how many remain."""
        first, second = client.create(), client.create(filter={"user_id": "5"})

        answer = client.call("DELETE", f"{PATH}/{first['subscription_id']}")

        assert {"data": {"deleted": True}, "meta": {"total_subscriptions": 1}} == answer.get_json()
        assert [second] == client.call("GET").get_json()["data"]

    def test_delete_several(self, client: Client) -> None:
        """Several go at once, or none if one of them is unknown."""
        ids = [client.create(filter={"user_id": str(n)})["subscription_id"] for n in (1, 2, 3)]

        assert 1 == len(messages(client.call("DELETE", f"{PATH}?ids={ids[0]},77")))
        answer = client.call("DELETE", f"{PATH}?ids={ids[0]},{ids[2]}")

        assert 1 == answer.get_json()["meta"]["total_subscriptions"]

    def test_deleted_webhook(self, client: Client) -> None:
        """A subscription whose webhook is deleted goes on without one."""
        client.create(webhook_id=WEBHOOK)

        client.call("DELETE", f"/2/webhooks/{WEBHOOK}")

        (subscription,) = client.call("GET").get_json()["data"]
        assert "webhook_id" not in subscription

    @pytest.mark.parametrize("method", ["PUT", "DELETE"])
    def test_unknown(self, client: Client, method: str) -> None:
        """An unknown subscription is named in the refusal."""
        answer = client.call(method, f"{PATH}/77", json={})

        assert ["SubscriptionNotFound: the app has no subscription 77"] == messages(answer)


class TestFanOut:
    """What happens reaches who wants to hear of it."""

    def test_delivery(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """An activity is delivered with the filter and the tag of the subscription."""
        client.create(tag="bios", webhook_id=WEBHOOK)

        answer = client.emit(payload={"before": "a", "after": "b"}).get_json()
        desk.wait()

        (body,) = [post.json for post in receiver.received]
        assert {
            "data": {
                "event_uuid": answer["activity"]["event_uuid"],
                "filter": {"user_id": USER},
                "event_type": "profile.update.bio",
                "tag": "bios",
                "payload": {"before": "a", "after": "b"},
            }
        } == body
        (outlet,) = answer["outlets"]
        assert ("webhook", WEBHOOK, True) == (outlet["kind"], outlet["id"], outlet["delivering"])
        assert [] == answer["why_not"]

    def test_two_subscriptions(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """Two subscriptions get an event each, with the same event_uuid."""
        client.create(tag="one", webhook_id=WEBHOOK)
        client.create(event_type="ProfileBioUpdate", filter={"user_id": "1"}, webhook_id=WEBHOOK)
        desk.lead_to(receiver.url, "1146654567674912770")
        client.create(tag="two", webhook_id="1146654567674912770")

        client.emit(payload={})
        desk.wait()

        bodies = [post.json["data"] for post in receiver.received]
        assert ["one", "two"] == sorted(body["tag"] for body in bodies)
        assert 1 == len({body["event_uuid"] for body in bodies})

    def test_replay(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """What was delivered live is delivered once more by a replay, the same body."""
        desk.remove_events()
        client.create(webhook_id=WEBHOOK)
        client.emit(payload={"before": "a", "after": "b"})
        desk.wait()
        desk.world.clock.advance(3600)

        desk.create()
        desk.wait()

        first, second = [post.json for post in receiver.received if post.event_id is not None]
        assert first == second

    @pytest.mark.parametrize(
        ("direction", "event", "delivered"),
        [
            ("sent", {"event_type": "dm.sent", "direction": "sent"}, True),
            ("outbound", {"event_type": "dm.sent", "direction": "sent"}, True),
            ("both", {"event_type": "dm.sent", "direction": "sent"}, True),
            ("received", {"event_type": "dm.sent", "direction": "sent"}, False),
            ("inbound", {"event_type": "dm.sent", "direction": "sent"}, False),
        ],
    )
    def test_direction(
        self, client: Client, direction: str, event: dict[str, str], delivered: bool
    ) -> None:
        """A direction is compared by its meaning."""
        client.subscribe(
            HARBOR, event_type="dm.sent", filter={"user_id": USER, "direction": direction},
            webhook_id=WEBHOOK,
        )  # fmt: skip

        assert delivered == bool(client.emit(payload={}, **event).get_json()["outlets"])

    def test_keyword(self, client: Client) -> None:
        """News reach subscriptions whose keyword is in them."""
        client.create(event_type="news.new", filter={"keyword": "Coffee"}, webhook_id=WEBHOOK)

        hit = client.emit(event_type="news.new", user_id=None, payload={"headline": "More coffee"})
        miss = client.emit(event_type="news.new", user_id=None, payload={"headline": "More tea"})

        assert (1, 0) == (len(hit.get_json()["outlets"]), len(miss.get_json()["outlets"]))

    @pytest.mark.parametrize(
        ("subscription", "event", "reason"),
        [
            ({}, {"event_type": "profile.update.url"}, "it is for profile.update.bio"),
            ({}, {"user_id": OTHER_USER}, f"it follows user {USER}, not {OTHER_USER}"),
            ({"webhook_id": None}, {}, "it names no webhook"),
        ],
    )
    def test_why_not(
        self, client: Client, subscription: dict[str, Any], event: dict[str, Any], reason: str
    ) -> None:
        """An event without receivers says why, subscription by subscription."""
        body = {"webhook_id": WEBHOOK} | subscription
        client.create(**{name: value for name, value in body.items() if value is not None})

        answer = client.emit(payload={}, **event).get_json()

        assert [] == answer["outlets"]
        assert reason in answer["why_not"][0]

    def test_no_subscription(self, client: Client) -> None:
        """Without any subscription the answer says how to make one."""
        assert "POST /2/activity/subscriptions" in client.emit(payload={}).get_json()["why_not"][0]

    def test_invalid_webhook(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """An event for an invalid webhook is kept and not delivered, and the answer says so."""
        client.create(webhook_id=WEBHOOK)
        desk.lead_to(receiver.url, valid=False)

        answer = client.emit(payload={}).get_json()
        desk.wait()

        assert [False] == [outlet["delivering"] for outlet in answer["outlets"]]
        assert "is not valid" in answer["why_not"][0]
        assert [] == receiver.received


class TestEmit:
    """Something happens on command."""

    @pytest.mark.parametrize(
        ("event_type", "field"),
        [
            ("profile.update.bio", "description"),
            ("profile.update.screenname", "screen_name"),
            ("profile.update.geo", "location"),
            ("profile.update.url", "url"),
            ("profile.update.profile_picture", "profile_image_url_https"),
            ("profile.update.banner_picture", "profile_banner_url"),
        ],
    )
    def test_profile(self, client: Client, desk: Desk, event_type: str, field: str) -> None:
        """Without a payload a believable one is made, and the user's record changes with it."""
        before = desk.record("users", USER)[field]

        payload = client.emit(event_type=event_type).get_json()["activity"]["payload"]

        assert before == payload["before"] != payload["after"]
        assert payload["after"] == desk.record("users", USER)[field]

    def test_verification(self, client: Client, desk: Desk) -> None:
        """Verification is a name in the event and a flag in the record."""
        payload = client.emit(event_type="profile.update.verified").get_json()["activity"][
            "payload"
        ]

        assert {"before": "business", "after": "none"} == payload
        assert not desk.record("users", USER)["verified"]

    @pytest.mark.parametrize("event_type", [entry.name for entry in EVENT_NAMES])
    def test_every_type(self, client: Client, event_type: str) -> None:
        """Each named type of activity can happen without a payload, and gets one that says more."""
        answer = client.emit(event_type=event_type)

        assert 201 == answer.status_code, answer.get_data(as_text=True)
        assert answer.get_json()["activity"]["payload"]

    @pytest.mark.parametrize("event_type", ["spaces.start", "spaces.end"])
    def test_spaces(self, client: Client, event_type: str) -> None:
        """A Space has its host and its name in the payload."""
        payload = client.emit(event_type=event_type).get_json()["activity"]["payload"]

        assert USER == payload["user"]["data"]["id"]
        assert event_type.replace(".", "_") == payload["event_type"]

    @pytest.mark.parametrize("event_type", ["follow.follow", "mute.unmute", "block.block"])
    def test_between_users(self, client: Client, event_type: str) -> None:
        """What one user does to another names both."""
        payload = client.emit(event_type=event_type).get_json()["activity"]["payload"]

        assert USER == payload["source"]["data"]["id"] != payload["target"]["data"]["id"]

    @pytest.mark.parametrize(
        ("event", "field"),
        [
            ({"event_type": "broadcast.pause"}, "payload"),
            ({"event_type": "no.such"}, "event_type"),
            ({"user_id": "1"}, "user_id"),
            ({"created_at": "2027-01-01T00:00:00Z"}, "created_at"),
            ({"created_at": "2026-03-17T23:59:59Z"}, "event_type"),
            ({"colour": "red"}, "colour"),
            ({"direction": "up", "payload": {}}, "direction"),
        ],
    )
    def test_faults(self, client: Client, desk: Desk, event: dict[str, Any], field: str) -> None:
        """What is wrong is named with its field, and nothing happens."""
        bio = desk.record("users", USER)["description"]
        answer = client.emit(**event)

        assert 422 == answer.status_code
        assert field in [fault["field"] for fault in answer.get_json()["faults"]]
        assert 0 == desk.world.store.count("activities")
        assert bio == desk.record("users", USER)["description"]

    def test_past(self, client: Client) -> None:
        """Something may have happened before now."""
        answer = client.emit(created_at="now-2h").get_json()

        assert "2026-11-20T10:00:30.000Z" == answer["activity"]["created_at"]

    def test_straight_to_a_webhook(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """With webhook_id an event goes to that webhook, whoever is subscribed."""
        body = {"webhook_id": WEBHOOK, "event_type": "profile.update.bio", "payload": {}}

        answer = desk.client.post("/_mock/events", json=body).get_json()
        desk.wait()

        assert (True, 1) == (answer["delivering"], len(receiver.received))
        assert NOW.date().isoformat() == answer["created_at"][:10]
        del client


class TestUsage:
    """Posts that are delivered are reads of the app."""

    def read(self, desk: Desk) -> int:
        """How many posts the app's project has read in this month."""
        return count_month(desk.world, desk.record("apps", "11827"))

    def test_counted(self, client: Client, desk: Desk) -> None:
        """A delivered post counts once, other events do not."""
        before = self.read(desk)
        client.create(event_type="post.create", webhook_id=WEBHOOK)
        client.create(event_type="post.create", webhook_id=WEBHOOK, filter={"user_id": OTHER_USER})
        client.create(webhook_id=WEBHOOK)

        client.emit(event_type="post.create")
        client.emit()

        assert before + 1 == self.read(desk)

    @pytest.mark.parametrize(("left", "delivered"), [(1, 1), (0, 0)])
    def test_cap(self, client: Client, desk: Desk, left: int, delivered: int) -> None:
        """Beyond the cap a post is not delivered, and the answer says why."""
        client.create(event_type="post.create", webhook_id=WEBHOOK)
        cap = self.read(desk) + left
        desk.client.patch("/_mock/state/apps/11827", json={"_post_cap": cap})

        answer = client.emit(event_type="post.create").get_json()

        assert delivered == len(answer["outlets"])
        reason = "app 11827 has read as many posts as it may: Usage cap exceeded"
        assert (delivered == 0) == any(reason in text for text in answer["why_not"])
