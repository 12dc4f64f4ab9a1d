"""Webhooks that are linked to the filtered stream receive the posts that match the app's rules."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.usage.counting import count_month
from tests.api.oauth.app_client import messages
from tests.api.v2.filtered_stream.support import APP, PostingClient
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

PATH = "/2/posts/search/webhooks"
ONE = f"{PATH}/{WEBHOOK}"
USER = "2244994945"
OTHER_USER = "3805104374"
OTHER_WEBHOOK = "1146654567674912770"
FOREIGN_WEBHOOK = "1201845037316968449"
EMPTY = ("stream_rules", "activity_subscriptions", "account_activity_subscriptions")
pytestmark = pytest.mark.usefixtures("receiver")


class Client(PostingClient):
    """Links the webhooks of one app, which has one rule."""

    path = PATH

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.change("apps", APP, _tier="enterprise")

    def links(self) -> Any:
        """All links."""
        return self.read()["data"]["links"]

    def link(self, query: str = "", path: str = ONE) -> TestResponse:
        """Link a webhook."""
        return self.call("POST", f"{path}{query}")

    def emit(self, **event: Any) -> dict[str, Any]:
        """Let something happen; the answer."""
        body = {"event_type": "post.create", "user_id": OTHER_USER} | event
        found: dict[str, Any] = self.desk.client.post("/_mock/events", json=body).get_json()
        return found

    def bodies(self, receiver: Receiver) -> list[Any]:
        """What the receiver has when everything is delivered."""
        self.desk.wait()
        return [received.json for received in receiver.received]


class TestLinks:
    """Webhooks are linked and unlinked."""

    def test_link(self, client: Client) -> None:
        """A link is listed with its fields as they are written in a query."""
        answer = client.link("?expansions=author_id&user.fields=username,verified")

        assert {"data": {"provisioned": True}} == answer.get_json()
        (link,) = client.links()
        fields = link.pop("fields")
        assert {
            "application_id": APP, "business_user_id": USER,
            "created_at": "2026-11-20T12:00:30.000Z", "instance_id": WEBHOOK, "webhook_id": WEBHOOK,
        } == link  # fmt: skip
        assert ["expansions=author_id", "user.fields=username,verified"] == sorted(fields)

    def test_link_again(self, client: Client) -> None:
        """Linking a webhook again changes its fields; older paths and names of fields are taken."""
        older = f"/2/tweets/search/webhooks/{WEBHOOK}"
        for query, path, shown in (
            ("post.fields=lang", ONE, "post.fields=lang"),
            ("expansions=referenced_tweets.id", older, "expansions=referenced_posts.id"),
        ):
            assert 200 == client.link(f"?{query}", path=path).status_code
            assert [[shown]] == [link["fields"] for link in client.links()]

    def test_several(self, client: Client) -> None:
        """Several webhooks may be linked; one is unlinked by itself."""
        client.link()
        client.link(path=f"{PATH}/{OTHER_WEBHOOK}")
        assert {"data": {"deleted": True}} == client.call("DELETE", ONE).get_json()
        assert [OTHER_WEBHOOK] == [link["webhook_id"] for link in client.links()]

    def test_not_linked(self, client: Client) -> None:
        """A webhook that is not linked cannot be unlinked."""
        text = f"WebhookIdInvalid: webhook {WEBHOOK} is not linked to the filtered stream"
        assert [text] == messages(client.call("DELETE", ONE))

    @pytest.mark.parametrize("method", ["POST", "DELETE"])
    def test_webhooks_of_others(self, client: Client, method: str) -> None:
        """The webhook of another app is refused."""
        assert [f"WebhookIdInvalid: the app has no webhook {FOREIGN_WEBHOOK}"] == messages(
            client.call(method, f"{PATH}/{FOREIGN_WEBHOOK}")
        )

    def test_unknown_fields(self, client: Client) -> None:
        """A field that posts do not have is refused."""
        assert 1 == len(messages(client.link("?post.fields=smell")))
        assert [] == client.links()

    def test_a_webhook_that_is_deleted(self, client: Client) -> None:
        """Deleting a webhook ends its link."""
        client.link()
        client.call("DELETE", f"/2/webhooks/{WEBHOOK}")
        assert [] == client.links()

    @pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", ONE), ("DELETE", ONE)])
    def test_tiers(self, client: Client, method: str, path: str) -> None:
        """Only apps above the self-serve tier have links; the refusal names the app and a tier."""
        client.link()
        client.desk.change("apps", APP, _tier="self_serve")
        refused = client.call(method, path)

        assert {
            "type": "http://localhost/2/problems/client-forbidden",
            "title": "Client Forbidden",
            "status": 403,
            "detail": "When authenticating requests to the v2 endpoints, you must use keys and "
            "tokens from a developer App that is attached to a Project. You can create a project "
            "via the developer portal.",
            "reason": "client-not-enrolled",
            "registration_url": "https://developer.example.com/en/portal/products",
            "client_id": APP,
            "required_enrollment": "Enterprise",
        } == refused.get_json()
        client.desk.change("apps", APP, _tier="partner")
        assert 200 == client.call(method, path).status_code


class TestDelivery:
    """Posts that match are delivered."""

    def test_body(self, client: Client, receiver: Receiver) -> None:
        """The body is the line of the stream: the post, and all rules that match, with tags."""
        client.link()
        first, second = client.rule("coffee", tag="drinks"), client.rule("from:northbike_co")
        client.rule("tea")
        text, id_ = "Coffee after the ride", client.post("Coffee after the ride")["id_str"]

        (body,) = client.bodies(receiver)
        assert {
            "data": {"id": id_, "text": text, "edit_history_post_ids": [id_]},
            "matching_rules": [{"id": first, "tag": "drinks"}, {"id": second, "tag": ""}],
        } == body

    def test_fields(self, client: Client, receiver: Receiver) -> None:
        """A link has its own fields and expansions."""
        client.link("?post.fields=lang&expansions=author_id")
        client.rule("coffee")
        client.post("Coffee")

        (body,) = client.bodies(receiver)
        assert ("en", OTHER_USER) == tuple(body["data"][name] for name in ("lang", "author_id"))
        assert ["northbike_co"] == [u["username"] for u in body["includes"]["users"]]

    def test_what_does_not_match(self, client: Client, receiver: Receiver) -> None:
        """A post that no rule matches is not delivered, and the answer shows why."""
        client.link()
        client.rule("tea")
        answer = client.emit(payload={"id": "1", "text": "coffee"})

        assert [] == answer["outlets"]
        reason = f"no rule of app {APP} matches; POST /_mock/rules/explain shows why"
        assert f"filtered stream at webhook {WEBHOOK}: {reason}" in answer["why_not"]
        assert [] == client.bodies(receiver)

    def test_an_event_that_somebody_emits(self, client: Client, receiver: Receiver) -> None:
        """A post that is not stored is delivered as its event has it."""
        client.link()
        rule = client.rule("from:northbike_co coffee")
        payload = {"id": "1", "text": "coffee", "author_id": OTHER_USER, "lang": "en"}
        answer = client.emit(payload=payload)

        (body,) = client.bodies(receiver)
        assert ["filtered_stream"] == [outlet["product"] for outlet in answer["outlets"]]
        assert {
            "data": {"id": "1", "text": "coffee", "edit_history_post_ids": ["1"]},
            "matching_rules": [{"id": rule, "tag": ""}],
        } == body

    @pytest.mark.parametrize("event_type", ["post.mention.create", "post.delete", "like.create"])
    def test_other_events(self, client: Client, event_type: str) -> None:
        """The stream carries posts that are made, and nothing else."""
        client.link()
        client.rule("coffee")
        answer = client.emit(event_type=event_type, payload={"id": "1", "text": "coffee"})
        assert [] == answer["outlets"]

    @pytest.mark.parametrize("state", ["protected", "_suspended"])
    def test_protected_authors(self, client: Client, receiver: Receiver, state: str) -> None:
        """Posts of protected and of suspended users are never delivered."""
        reason = "the author is protected or suspended"
        client.link()
        client.rule("coffee")
        client.desk.change("users", OTHER_USER, **{state: True})
        client.post("Coffee")
        answer = client.emit(payload={"id": "1", "text": "coffee", "author_id": OTHER_USER})

        assert f"filtered stream at webhook {WEBHOOK}: {reason}" in answer["why_not"]
        assert [] == client.bodies(receiver)

    def test_replay(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """What could not be delivered is delivered by a replay, the same body."""
        desk.remove_events()
        client.link()
        client.rule("coffee")
        receiver.plan.extend([500, 500, 500])
        client.post("Coffee")
        first = client.bodies(receiver)[-1]
        desk.world.clock.advance(3600)
        desk.create()

        assert [first] * 4 == [b for b in client.bodies(receiver) if "matching_rules" in b]

    def test_usage(self, client: Client, desk: Desk) -> None:
        """A delivered post counts; when the cap is reached, nothing is delivered."""
        client.link()
        client.rule("coffee")
        read = count_month(desk.world, desk.record("apps", APP))
        client.desk.change("apps", APP, _post_cap=read + 1)
        payload = {"text": "coffee", "author_id": OTHER_USER}
        first = client.emit(payload=payload | {"id": "1"})
        second = client.emit(payload=payload | {"id": "2"})

        assert ["filtered_stream"] == [outlet["product"] for outlet in first["outlets"]]
        assert [] == second["outlets"]
        assert (
            f"filtered stream at webhook {WEBHOOK}: app {APP} has read as many posts as it may: "
            "Usage cap exceeded: Monthly product cap"
        ) in second["why_not"]
