"""Apps subscribe to activities, and what happens reaches the webhooks that want to hear of it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.release_history import EVENT_NAMES
from mock_platform.api.v2.usage.counting import count_month
from tests.api.oauth.app_client import AppClient, messages
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys, body_of
from tests.support_receiver import Receiver
from tests.support_replay import NOW, WEBHOOK, Desk

PATH = "/2/activity/subscriptions"
USER = "2244994945"
OTHER_USER = "3805104374"
OWN: dict[str, Any] = {"user_id": USER}
BIO = {"event_type": "profile.update.bio", "filter": OWN}
EMPTY = ("activity_subscriptions",)
pytestmark = pytest.mark.usefixtures("receiver")


class Client(AppClient):
    """Calls the endpoints of one sandbox as one app."""

    path = PATH

    def subscribe(self, keys: Keys | None = None, **body: Any) -> TestResponse:
        """Ask for a subscription."""
        return self.call("POST", keys=keys, json=BIO | body)

    def create(self, **body: Any) -> Any:
        """Ask for a subscription that must be made; the subscription."""
        return body_of(self.subscribe(**body))["data"]["subscription"]

    def emit(self, **event: Any) -> TestResponse:
        """Let something happen."""
        body = {"event_type": "profile.update.bio", "user_id": USER} | event
        return self.desk.client.post("/_mock/events", json=body)

    def happen(self, **event: Any) -> Any:
        """Let something happen; what became of it."""
        return body_of(self.emit(**event), 201)


class TestSubscribe:
    """Subscriptions are made."""

    def test_answer(self, client: Client) -> None:
        """The answer holds the subscription and how many there are; what was not sent is no key."""
        body = client.subscribe(tag="bios", webhook_id=WEBHOOK).get_json()
        subscription = body["data"]["subscription"]
        moment = "2026-11-20T12:00:30.000Z"

        assert subscription == BIO | {
            "subscription_id": subscription["subscription_id"], "tag": "bios",
            "webhook_id": WEBHOOK, "created_at": moment, "updated_at": moment,
        }  # fmt: skip
        assert 1 == body["data"]["total_subscriptions_for_instance_id"]
        assert {"total_subscriptions": 1} == body["meta"]
        assert not {"tag", "webhook_id"} & set(client.create())

    @pytest.mark.parametrize(
        ("event_type", "wanted"),
        [
            *(
                ("dm.received", OWN | {"direction": direction})
                for direction in ("sent", "received", "both", "inbound", "outbound")
            ),
            ("news.new", {"keyword": "coffee"}),
            ("oauth.revoke", {}),
        ],
    )
    def test_filters(self, client: Client, event_type: str, wanted: dict[str, str]) -> None:
        """A filter is repeated as it was written; news have a keyword, revocations nothing."""
        assert wanted == client.create(event_type=event_type, filter=wanted)["filter"]

    @pytest.mark.parametrize(("length", "keyword", "tag"), [(0, 400, 400), (1, 200, 200),
        (150, 200, 200), (151, 400, 200), (200, 400, 200), (201, 400, 400)])  # fmt: skip
    def test_lengths(self, client: Client, length: int, keyword: int, tag: int) -> None:
        """A keyword has 1 to 150 characters, a tag 1 to 200."""
        text = "x" * length
        news = client.subscribe(event_type="news.new", filter={"keyword": text})
        assert (keyword, tag) == (news.status_code, client.subscribe(tag=text).status_code)

    def test_former_name(self, client: Client) -> None:
        """A former name is accepted with a warning."""
        client.create(event_type="ProfileBioUpdate")
        (entry,) = client.read("/_mock/requests?limit=1")["requests"]
        assert any("deprecated" in warning for warning in entry["warnings"])

    @pytest.mark.parametrize(
        ("moment", "event_type", "since"),
        [("2026-06-03", "post.create", "2026-06-04"), ("2026-06-04", "post.create", None),
         ("2026-03-12", "dm.received", None), ("2026-03-12", "spaces.start", None),
         ("2026-03-12", "ProfileBioUpdate", None),
         ("2026-03-12", "profile.update.bio", "2026-03-18"),
         ("2026-03-12", "like.create", "2026-03-18")],
    )  # fmt: skip
    def test_types_of_a_date(self, moment: str, event_type: str, since: str | None) -> None:
        """The interface has the types that the release history has by then, and no others."""
        with Desk(freeze=datetime.fromisoformat(f"{moment}T00:00:00Z")) as desk:
            client = Client(desk)
            answer = client.subscribe(event_type=event_type)
            client.read()
        if since is None:
            body_of(answer)
        else:
            (message,) = messages(answer)
            assert f"is in force from {since}" in message
            assert {"event_type": [event_type]} == answer.get_json()["errors"][0]["parameters"]

    def test_direction_before_its_date(self) -> None:
        """A direction is refused until the release history adds it."""
        wanted = OWN | {"direction": "sent"}
        moment = datetime(2026, 3, 17, tzinfo=UTC)
        with Desk(freeze=moment) as desk:
            (message,) = messages(Client(desk).subscribe(event_type="dm.sent", filter=wanted))
        with Desk(freeze=moment, releases="all") as desk:
            Client(desk).create(event_type="dm.sent", filter=wanted)

        assert message.startswith("filter.direction exists from 2026-03-18 on")

    def test_all_releases_know_all_types(self) -> None:
        """With --releases all a type is taken, and can happen, before its date."""
        with Desk(freeze=datetime(2025, 1, 1, tzinfo=UTC), releases="all") as desk:
            Client(desk).create(event_type="post.delete")
            Client(desk).happen()

    def test_duplicate(self, client: Client) -> None:
        """The same type, filter and webhook are subscribed once; another webhook is another one."""
        client.create()
        detail = "DuplicateSubscriptionFailed: Subscription already exists"
        assert detail == body_of(client.subscribe(tag="another tag"), 409)["detail"]
        client.create(webhook_id=WEBHOOK)

    @pytest.mark.parametrize("limit", [1, 2])
    def test_cap(self, limit: int) -> None:
        """An app has as many subscriptions as --subscription-limit says."""
        with Desk(subscription_limit=limit) as desk:
            desk.clear(*EMPTY)
            client = Client(desk)
            for number in range(limit):
                client.create(filter={"user_id": str(number + 1)})
            body = body_of(client.subscribe(filter={"user_id": "99"}), 403)

        assert body["detail"].startswith("SubscriptionLimitExceeded")


class TestPrivateTypes:
    """Private types need the user's agreement."""

    @pytest.mark.parametrize(
        "event_type", ["like.create", "dm.sent", "post.reply.create", "mute.mute"]
    )
    def test_without_grant(self, client: Client, event_type: str) -> None:
        """A bearer token without the user's grant is refused."""
        answer = client.subscribe(event_type=event_type, filter={"user_id": OTHER_USER})
        assert "has not granted" in body_of(answer, 403)["detail"]
        assert "activity.private-types" in answer.headers["X-Mock-Assumptions"].split(",")

    def test_agreement(self, client: Client, desk: Desk) -> None:
        """A grant of the user to the app is enough, and a user who signs the request agrees."""
        grant = {"_id": "g1", "app_id": "11827", "user_id": OTHER_USER, "access": "write"}
        desk.put("grants", "g1", grant | {"created_at": "2026-01-01T00:00:00Z"})
        client.create(event_type="like.create", filter={"user_id": OTHER_USER})
        client.create(keys=HARBOR, event_type="like.create")

    @pytest.mark.parametrize(
        ("event_type", "scope"),
        [("dm.sent", "dm.read"), ("chat.received", "dm.read"), ("like.create", "like.read"),
         ("mute.mute", "mute.read"), ("block.block", "block.read"),
         ("post.reply.create", "post.read")],
    )  # fmt: skip
    @pytest.mark.parametrize("kind", ["grant", "oauth2", "refresh"])
    def test_with_grant_of_oauth2(
        self, client: Client, desk: Desk, event_type: str, scope: str, kind: str
    ) -> None:
        """A grant or a valid token of OAuth 2.0 is enough with the scope of the type."""
        owner = {"app_id": "11827", "user_id": OTHER_USER, "created_at": "2026-01-01T00:00:00Z"}
        table = "grants" if kind == "grant" else "tokens"
        record = owner | {"id": "g1", "_id": "g1", "kind": kind, "state": "active"}
        statuses = []
        ended = {"expires_at": "2026-11-20T12:00:30Z"}
        for more in ({"scopes": ["media.write"]}, {"scopes": [scope]} | ended, {"scopes": [scope]}):
            desk.put(table, "g1", record | {"expires_at": None} | more)
            answer = client.subscribe(event_type=event_type, filter={"user_id": OTHER_USER})
            statuses.append(answer.status_code)
            desk.clear(*EMPTY)

        assert [403, 200 if kind == "grant" else 403, 200] == statuses

    @pytest.mark.parametrize(
        ("event_type", "scope", "status"),
        [("like.create", "like.read", 200), ("like.create", "dm.read", 403),
         ("dm.sent", "dm.read", 200), ("dm.sent", "like.read", 403),
         ("profile.update.bio", "like.read", 200)],
    )  # fmt: skip
    def test_user_tokens_need_the_scope_of_the_type(
        self, desk: Desk, event_type: str, scope: str, status: int
    ) -> None:
        """Beside post.read; the refusal names the scope."""
        desk.change("tokens", USER_TOKEN, scopes=["post.read", scope])
        answer = desk.call("POST", PATH, keys=USER_TOKEN, json=BIO | {"event_type": event_type})
        assert status == answer.status_code
        assert status == 200 or "needs the scope" in answer.get_json()["detail"]


subscribe = partial(Refusal, f"POST {PATH}", keys=BEARER)
REFUSED = [
    subscribe("another direction", 400, messages=["filter.direction"],
              json={"event_type": "dm.sent", "filter": OWN | {"direction": "up"}}),
    subscribe("a direction of a type without any", 400,
              json=BIO | {"filter": OWN | {"direction": "sent"}},
              messages=["filter.direction is not allowed for profile.update.bio"]),
    subscribe("no user", 400, json=BIO | {"filter": {}},
              messages=["filter.user_id is required for profile.update.bio"]),
    subscribe("news without a keyword", 400, json=BIO | {"event_type": "news.new"},
              messages=["filter.keyword is required for news.new"]),
    subscribe("a revocation with a filter", 400, json=BIO | {"event_type": "oauth.revoke"},
              messages=["filter must be empty for oauth.revoke"]),
    subscribe("an unknown type", 400, json=BIO | {"event_type": "profile.update.bioo"},
              messages=["Did you mean 'profile.update.bio'?"]),
    subscribe("an unknown webhook", 400, json=BIO | {"webhook_id": "1"},
              messages=["WebhookIdInvalid: the app has no webhook 1"]),
    subscribe("the webhook of another app", 400, json=BIO | {"webhook_id": "1201845037316968449"},
              messages=["WebhookIdInvalid: the app has no webhook 1201845037316968449"]),
    Refusal(f"POST {PATH}", "messages without the app's permission", 403, keys=NORTHBIKE,
            json={"event_type": "dm.sent", "filter": {"user_id": OTHER_USER}},
            problem="about:blank", text="permission"),
    Refusal(f"GET {PATH}", "a short token", 400, query={"pagination_token": "short"}, keys=BEARER,
            messages=["size [5] is not at least 16"]),
    Refusal(f"GET {PATH}", "a foreign token", 400, query={"pagination_token": "x" * 40},
            keys=BEARER, messages=["pagination_token"]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


class TestList:
    """Subscriptions are listed."""

    def test_none(self, client: Client) -> None:
        """An empty list has no data."""
        assert {"meta": {"result_count": 0, "total_subscriptions": 0}} == client.read()

    def test_pages(self, client: Client) -> None:
        """Pages follow one another by their tokens, each subscription once."""
        made = [client.create(filter={"user_id": str(n)})["subscription_id"] for n in range(1, 6)]
        seen: list[str] = []
        more = ""
        while True:
            body = client.read(f"{PATH}?max_results=2{more}")
            seen += [each["subscription_id"] for each in body["data"]]
            assert 5 == body["meta"]["total_subscriptions"]
            if "next_token" not in body["meta"]:
                break
            more = f"&pagination_token={body['meta']['next_token']}"

        assert made == seen


class TestChange:
    """Subscriptions are changed and deleted."""

    def test_update(self, client: Client, desk: Desk) -> None:
        """Tag, webhook and the moment change; the filter cannot, and who tries is warned."""
        made = client.create()
        desk.world.clock.advance(60)
        body = {"tag": "t", "webhook_id": WEBHOOK}
        answer = client.call("PUT", f"{PATH}/{made['subscription_id']}", json=body)
        again = client.call(
            "PUT", f"{PATH}/{made['subscription_id']}", json={"filter": {"user_id": "1"}}
        )

        changed = made | body | {"updated_at": "2026-11-20T12:01:30.000Z"}
        assert {"data": {"subscription": changed, "total_subscriptions": 1}} == answer.get_json()
        assert OWN == again.get_json()["data"]["subscription"]["filter"]
        assert "unknown-key" in again.headers["X-Mock-Warnings"]

    def test_delete(self, client: Client) -> None:
        """A deleted subscription is gone; the answer says how many remain."""
        first, second = client.create(), client.create(filter={"user_id": "5"})
        answer = client.call("DELETE", f"{PATH}/{first['subscription_id']}")
        assert {"data": {"deleted": True}, "meta": {"total_subscriptions": 1}} == answer.get_json()
        assert [second] == client.read()["data"]

    def test_delete_several(self, client: Client) -> None:
        """Several go at once, or none if one of them is unknown."""
        ids = [client.create(filter={"user_id": str(n)})["subscription_id"] for n in (1, 2, 3)]
        refused = body_of(client.call("DELETE", f"{PATH}?ids={ids[0]},77"), 400)
        assert [{"ids": ["77"]}] == [each["parameters"] for each in refused["errors"]]
        answer = client.call("DELETE", f"{PATH}?ids={ids[0]},{ids[2]}")
        assert 1 == answer.get_json()["meta"]["total_subscriptions"]

    def test_deleted_webhook(self, client: Client) -> None:
        """A subscription whose webhook is deleted goes on without one."""
        client.create(webhook_id=WEBHOOK)
        client.call("DELETE", f"/2/webhooks/{WEBHOOK}")
        (subscription,) = client.read()["data"]
        assert "webhook_id" not in subscription


class TestFanOut:
    """What happens reaches who wants to hear of it."""

    def test_delivery(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """An activity is delivered with the filter and the tag of the subscription."""
        client.create(tag="bios", webhook_id=WEBHOOK)
        answer = client.happen(payload={"before": "a", "after": "b"})
        desk.wait()

        (body,) = [post.json for post in receiver.received]
        assert body["data"] == BIO | {
            "event_uuid": answer["activity"]["event_uuid"],
            "tag": "bios",
            "payload": {"before": "a", "after": "b"},
        }
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
        ("direction", "delivered"),
        [("sent", 1), ("outbound", 1), ("both", 1), ("received", 0), ("inbound", 0)],
    )
    def test_direction(self, client: Client, direction: str, delivered: int) -> None:
        """A direction is compared by its meaning."""
        client.create(
            keys=HARBOR, event_type="dm.sent", filter=OWN | {"direction": direction},
            webhook_id=WEBHOOK,
        )  # fmt: skip
        answer = client.happen(payload={}, event_type="dm.sent", direction="sent")

        assert delivered == len(answer["outlets"])

    @pytest.mark.parametrize(("headline", "delivered"), [("More coffee", 1), ("More tea", 0)])
    def test_keyword(self, client: Client, headline: str, delivered: int) -> None:
        """News reach subscriptions whose keyword is in them."""
        client.create(event_type="news.new", filter={"keyword": "Coffee"}, webhook_id=WEBHOOK)
        answer = client.happen(event_type="news.new", user_id=None, payload={"headline": headline})
        assert delivered == len(answer["outlets"])

    @pytest.mark.parametrize(
        ("keyword", "delivered"),
        [("FLAT white", 1), ("everyone", 0), ("2026", 0), ("harbor", 0), ("en", 0)],
    )
    def test_keyword_of_a_post(self, client: Client, keyword: str, delivered: int) -> None:
        """The text is what a post says; who posted it, when, and how is not."""
        wanted = OWN | {"keyword": keyword}
        client.create(event_type="post.create", filter=wanted, webhook_id=WEBHOOK)
        payload = {
            "id": "2026", "text": "A flat white", "created_at": "2026-03-01T12:00:00.000Z",
            "lang": "en", "reply_settings": "everyone", "entities": {"annotations": []},
            "author": {"data": {"name": "Harbor Roasters", "description": "By the harbor"}},
        }  # fmt: skip
        answer = client.happen(event_type="post.create", payload=payload)
        assert delivered == len(answer["outlets"])

    @pytest.mark.parametrize(
        ("subscription", "event", "reason"),
        [
            ({"webhook_id": WEBHOOK}, {"event_type": "profile.update.url"}, "it is for profile."),
            ({"webhook_id": WEBHOOK}, {"user_id": OTHER_USER}, f"user {USER}, not {OTHER_USER}"),
            ({}, {}, "it names no webhook"),
            (None, {}, "POST /2/activity/subscriptions"),
        ],
    )
    def test_why_not(
        self, client: Client, subscription: Any, event: dict[str, Any], reason: str
    ) -> None:
        """An event without receivers says why, or how to subscribe if there is no subscription."""
        if subscription is not None:
            client.create(**subscription)
        answer = client.happen(payload={}, **event)

        assert [] == answer["outlets"]
        assert reason in answer["why_not"][0]

    def test_invalid_webhook(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """An event for an invalid webhook is kept and not delivered, and the answer says so."""
        client.create(webhook_id=WEBHOOK)
        desk.lead_to(receiver.url, valid=False)
        answer = client.happen(payload={})
        desk.wait()

        assert [False] == [outlet["delivering"] for outlet in answer["outlets"]]
        assert "is not valid" in answer["why_not"][0]
        assert [] == receiver.received


class TestEmit:
    """Something happens on command."""

    def payload(self, client: Client, event_type: str) -> Any:
        """What is made up for an event without a payload."""
        return client.happen(event_type=event_type)["activity"]["payload"]

    @pytest.mark.parametrize(
        ("event_type", "field"),
        [("profile.update.bio", "description"), ("profile.update.screenname", "screen_name"),
         ("profile.update.geo", "location"), ("profile.update.url", "url"),
         ("profile.update.profile_picture", "profile_image_url_https"),
         ("profile.update.banner_picture", "profile_banner_url")],
    )  # fmt: skip
    def test_profile(self, client: Client, desk: Desk, event_type: str, field: str) -> None:
        """Without a payload a believable one is made, and the user's record changes with it."""
        before = desk.record("users", USER)[field]
        payload = self.payload(client, event_type)
        assert before == payload["before"] != payload["after"]
        assert payload["after"] == desk.record("users", USER)[field]

    def test_verification(self, client: Client, desk: Desk) -> None:
        """Verification is a name in the event and a flag in the record."""
        payload = self.payload(client, "profile.update.verified")
        assert {"before": "business", "after": "none"} == payload
        assert not desk.record("users", USER)["verified"]

    @pytest.mark.parametrize("event_type", [entry.name for entry in EVENT_NAMES])
    def test_every_type(self, client: Client, event_type: str) -> None:
        """Each named type of activity can happen without a payload, and gets one that says more."""
        assert self.payload(client, event_type)

    @pytest.mark.parametrize("event_type", ["spaces.start", "spaces.end"])
    def test_spaces(self, client: Client, event_type: str) -> None:
        """A Space has its host and its name in the payload."""
        payload = self.payload(client, event_type)
        assert USER == payload["user"]["data"]["id"]
        assert event_type.replace(".", "_") == payload["event_type"]

    @pytest.mark.parametrize("event_type", ["follow.follow", "mute.unmute", "block.block"])
    def test_between_users(self, client: Client, event_type: str) -> None:
        """What one user does to another names both."""
        payload = self.payload(client, event_type)
        assert USER == payload["source"]["data"]["id"] != payload["target"]["data"]["id"]

    @pytest.mark.parametrize(
        ("event", "field"),
        [({"event_type": "broadcast.pause"}, "payload"), ({"event_type": "no.such"}, "event_type"),
         ({"user_id": "1"}, "user_id"), ({"created_at": "2027-01-01T00:00:00Z"}, "created_at"),
         ({"created_at": "2026-03-17T23:59:59Z"}, "event_type"), ({"colour": "red"}, "colour"),
         ({"direction": "up", "payload": {}}, "direction")],
    )  # fmt: skip
    def test_faults(self, client: Client, desk: Desk, event: dict[str, Any], field: str) -> None:
        """What is wrong is named with its field, and nothing happens."""
        bio = desk.record("users", USER)["description"]
        body = body_of(client.emit(**event), 422)

        assert field in [fault["field"] for fault in body["faults"]]
        assert 0 == desk.world.store.count("activities")
        assert bio == desk.record("users", USER)["description"]

    def test_past(self, client: Client) -> None:
        """Something may have happened before now."""
        activity = client.happen(created_at="now-2h")["activity"]
        assert "2026-11-20T10:00:30.000Z" == activity["created_at"]

    def test_straight_to_a_webhook(self, desk: Desk, receiver: Receiver) -> None:
        """With webhook_id an event goes to that webhook, whoever is subscribed."""
        body = {"webhook_id": WEBHOOK, "event_type": "profile.update.bio", "payload": {}}
        answer = desk.client.post("/_mock/events", json=body).get_json()
        desk.wait()

        assert (True, 1) == (answer["delivering"], len(receiver.received))
        assert NOW.date().isoformat() == answer["created_at"][:10]


class TestUsage:
    """Posts that are delivered are reads of the app."""

    def count(self, desk: Desk) -> int:
        """How many posts the app's project has read in this month."""
        return count_month(desk.world, desk.record("apps", "11827"))

    def test_counted(self, client: Client, desk: Desk) -> None:
        """A delivered post counts once, other events do not."""
        before = self.count(desk)
        client.create(event_type="post.create", webhook_id=WEBHOOK)
        client.create(event_type="post.create", webhook_id=WEBHOOK, filter={"user_id": OTHER_USER})
        client.create(webhook_id=WEBHOOK)
        client.emit(event_type="post.create")
        client.emit()

        assert before + 1 == self.count(desk)

    @pytest.mark.parametrize("left", [1, 0])
    def test_cap(self, client: Client, desk: Desk, left: int) -> None:
        """Beyond the cap a post is not delivered, and the answer says why."""
        client.create(event_type="post.create", webhook_id=WEBHOOK)
        desk.change("apps", "11827", _post_cap=self.count(desk) + left)
        answer = client.happen(event_type="post.create")

        assert left == len(answer["outlets"])
        reason = "app 11827 has read as many posts as it may: Usage cap exceeded"
        assert (left == 0) == any(reason in text for text in answer["why_not"])
