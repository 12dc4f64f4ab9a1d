"""The filtered stream: which posts an app gets, in which form, and who may connect."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.usage.counting import count_month
from mock_platform.world.clock import parse_instant
from tests.api.v2.filtered_stream.support import APP
from tests.api.v2.filtered_stream.support import PostingClient as Client
from tests.support_streams import OTHER_USER, USER, Lines

PATH = "/2/posts/search/stream"
RULES = f"{PATH}/rules"
PROBLEMS = "http://localhost/2/problems"
EMPTY = ("activity_subscriptions", "stream_rules")
SETTINGS = {"stream_keepalive": 0.001}


def texts(*lines: dict[str, Any]) -> list[str]:
    """The texts of posts."""
    return [line["data"]["text"] for line in lines]


class TestLine:
    """A line is a post with all rules that match it."""

    def test_whole(self, client: Client) -> None:
        """It has the default fields of the post, and each rule with its tag, empty or not."""
        first, second = client.rule("coffee", tag="drinks"), client.rule("from:harbor_roasters")
        client.rule("tea")
        lines = client.open()
        text = "Coffee after the ride, posted by the app's own user"
        id_ = client.post(text, user=USER)["id_str"]

        assert {
            "data": {"id": id_, "text": text, "edit_history_post_ids": [id_]},
            "matching_rules": [{"id": first, "tag": "drinks"}, {"id": second, "tag": ""}],
        } == lines.next()

    def test_fields(self, client: Client) -> None:
        """Fields, expansions, their older names and the older path choose what a line shows."""
        client.rule("coffee")
        query = "?tweet.fields=lang&expansions=author_id&user.fields=verified"
        lines = client.open(query, path="/2/tweets/search/stream")
        client.post("Coffee")

        line = lines.next()
        assert {"id", "text", "edit_history_post_ids", "lang", "author_id"} == set(line["data"])
        assert ["data", "includes", "matching_rules"] == list(line)
        (author,) = line["includes"]["users"]
        assert {"id", "name", "username", "verified"} == set(author)

    def test_errors(self, client: Client) -> None:
        """What an expansion does not find is named in the line."""
        client.rule("coffee")
        lines = client.open("?expansions=in_reply_to_user_id")
        client.post("Coffee", fields={"in_reply_to_user_id_str": "404"})
        assert [f"{PROBLEMS}/resource-not-found"] == [e["type"] for e in lines.next()["errors"]]

    def test_only_what_matches(self, client: Client) -> None:
        """Posts that no rule matches, and what else happens, is not in the stream."""
        client.rule("coffee")
        lines = client.open()
        client.post("Tea")
        client.emit(event_type="profile.update.bio", payload={"before": "coffee", "after": "b"})
        client.emit(event_type="post.mention.create", payload={"id": "1", "text": "coffee"})
        client.post("Coffee")

        assert ["Coffee"] == texts(lines.next())

    def test_quoted_posts(self, client: Client) -> None:
        """A rule matches the text of a quoted post as well."""
        client.rule("espresso")
        quoted = client.post("Espresso")
        lines = client.open()
        client.post("Yes", quoted=quoted)

        assert ["Yes"] == texts(lines.next())

    def test_edits(self, client: Client) -> None:
        """An edited post is a new line with its new id and its whole history."""
        client.rule("coffee")
        lines = client.open()
        first = client.post("Coffee")
        second = client.post("More coffee", previous=first)

        lines.next()
        history = [first["id_str"], second["id_str"]]
        shown = {"id": history[1], "text": "More coffee", "edit_history_post_ids": history}
        assert shown == lines.next()["data"]

    def test_posts_that_are_not_stored(self, client: Client) -> None:
        """An event that names a post of its own is shown as it has it; the stream is an outlet."""
        client.rule("coffee")
        lines = client.open("?post.fields=lang")
        payload = {"id": "1", "text": "coffee", "lang": "en"}
        answer = client.emit(event_type="post.create", user_id=OTHER_USER, payload=payload)

        assert payload | {"edit_history_post_ids": ["1"]} == lines.next()["data"]
        streams = [outlet for outlet in answer["outlets"] if outlet["kind"] == "stream"]
        assert ["filtered_stream"] == [outlet["endpoint"] for outlet in streams]

    @pytest.mark.parametrize("stored", [True, False])
    def test_protected_authors(self, client: Client, stored: bool) -> None:
        """Posts of protected users are never in it, not even if they are protected later."""
        client.rule("coffee")
        lines = client.open()
        if stored:
            with client.desk.world.work():
                client.post("Coffee of a user who hides")
                client.desk.change("users", OTHER_USER, protected=True)
        else:
            client.desk.change("users", OTHER_USER, protected=True)
            payload = {"id": "1", "text": "coffee"}
            client.emit(event_type="post.create", user_id=OTHER_USER, payload=payload)
        client.post("Coffee", user=USER)

        assert ["Coffee"] == texts(lines.next())


class TestOutlets:
    """Whoever lets something happen learns which streams get it, and why others do not."""

    @pytest.mark.parametrize(
        ("event", "reason"),
        [
            ({"payload": {"id": "1", "text": "tea"}},
             f"no rule of app {APP} matches; POST /_mock/rules/explain shows why"),
            ({"payload": {"id": "1", "text": 5}},
             "the payload does not have the form of a post: "
             "AttributeError(\"'int' object has no attribute 'casefold'\")"),
            ({"event_type": "profile.update.bio"},
             "it carries post.create, not profile.update.bio"),
        ],
    )  # fmt: skip
    def test_no_match(self, client: Client, event: dict[str, Any], reason: str) -> None:
        """A stream whose rules do not match is no outlet; the reason is in the answer."""
        client.rule("coffee")
        lines = client.open()
        answer = client.emit(**{"event_type": "post.create", "user_id": OTHER_USER} | event)

        (stream,) = client.connections()
        assert f"stream {stream['id']}: {reason}" in answer["why_not"]
        assert "stream" not in [outlet["kind"] for outlet in answer["outlets"]]
        client.post("Coffee")
        assert ["Coffee"] == texts(lines.next())


class TestRules:
    """Rules take effect while the stream is open."""

    def test_changes(self, client: Client) -> None:
        """Added rules match the next post, deleted ones and those of other apps none."""
        tea = client.rule("tea")
        client.desk.put("stream_rules", "5", {"id": "5", "value": "coffee", "_app_id": "20993"})
        lines = client.open()
        client.post("Coffee")
        client.rule("coffee")
        client.post("More coffee")
        client.call("POST", RULES, json={"delete": {"ids": [tea]}})
        client.post("Tea")
        client.post("Coffee again")

        assert ["More coffee", "Coffee again"] == texts(lines.next(), lines.next())

    def test_no_rules(self, client: Client) -> None:
        """Without rules there is no stream."""
        assert {
            "type": f"{PROBLEMS}/streaming-connection",
            "title": "ConnectionException",
            "status": 409,
            "detail": "You must define rules using the POST /2/posts/search/stream/rules endpoint "
            "before connecting to filtered stream.",
            "connection_issue": "RuleConfigurationIssue",
        } == client.read(status=409)

    def test_faulty_rules(self, client: Client) -> None:
        """A stored rule that is not valid refuses the connection, and says which."""
        client.rule("coffee")
        client.desk.put("stream_rules", "5", {"id": "5", "value": "(coffee", "_app_id": APP})
        body = client.read(status=409)

        assert "RulesInvalidIssue" == body["connection_issue"]
        assert body["detail"] == (
            "Your rules are not valid any more: rule 5: no viable alternative at input '<EOF>' "
            "(at position 8)."
        )


class TestConnections:
    """Who may connect, and how often."""

    @pytest.mark.parametrize(
        ("tier", "allowed"), [("self_serve", 1), ("enterprise", 2), ("partner", 2)]
    )
    def test_too_many(self, client: Client, tier: str, allowed: int) -> None:
        """One connection more than the tier has is refused, not one to another endpoint."""
        client.desk.change("apps", APP, _tier=tier)
        client.rule("coffee")
        lines = [client.open() for _ in range(allowed)]
        refused = client.read(status=429)
        client.post("Coffee")

        assert {
            "type": f"{PROBLEMS}/streaming-connection",
            "title": "ConnectionException",
            "status": 429,
            "detail": "This stream is currently at the maximum allowed connection limit.",
            "connection_issue": "TooManyConnections",
        } == refused
        assert [["Coffee"]] * allowed == [texts(each.next()) for each in lines]
        assert ["filtered_stream"] * allowed == [e["endpoint_name"] for e in client.connections()]
        assert isinstance(client.open(path="/2/activity/stream"), Lines)


class TestPast:
    """Posts that were made before the stream was opened."""

    def test_backfill(self, client: Client) -> None:
        """The matches of the last minutes come first, oldest first."""
        client.rule("coffee")
        client.post("Old coffee")
        client.desk.world.clock.advance(150)
        client.post("Coffee")
        client.post("Tea")
        client.desk.world.clock.advance(30)
        client.post("New coffee")
        lines = client.open("?backfill_minutes=2")
        client.post("Fresh coffee")

        assert ["Coffee", "New coffee", "Fresh coffee"] == texts(*(lines.next() for _ in range(3)))

    def test_later_rules(self, client: Client) -> None:
        """A rule does not match what was posted before it was added."""
        client.rule("tea")
        client.post("Coffee and tea")
        client.desk.world.clock.advance(1)
        coffee = client.rule("coffee")
        client.post("Coffee")
        lines = client.open("?backfill_minutes=5")

        first, second = lines.next(), lines.next()
        assert ["Coffee and tea", "Coffee"] == texts(first, second)
        assert coffee not in [rule["id"] for rule in first["matching_rules"]]
        assert [coffee] == [rule["id"] for rule in second["matching_rules"]]

    def test_deleted_posts(self, client: Client) -> None:
        """A post that was deleted since is shown as it was."""
        client.rule("coffee")
        id_ = client.post("Coffee")["id_str"]
        client.desk.remove("posts", id_)
        lines = client.open("?backfill_minutes=5")

        shown = {"id": id_, "text": "Coffee", "edit_history_post_ids": [id_]}
        assert shown == lines.next()["data"]


class TestUsage:
    """Each line counts as a read post."""

    def test_count(self, client: Client) -> None:
        """What matches counts once a day, however often it is sent."""
        app = client.desk.record("apps", APP)
        before = count_month(client.desk.world, app)
        client.rule("coffee")
        client.post("Tea")
        client.post("Coffee")
        for _ in range(2):
            lines = client.open("?backfill_minutes=5")
            lines.next()
            lines.close()

        assert before + 1 == count_month(client.desk.world, app)

    def test_cap(self, client: Client) -> None:
        """A stream ends with the problem as its last line when the cap is reached."""
        read = count_month(client.desk.world, client.desk.record("apps", APP))
        client.desk.change("apps", APP, _post_cap=read + 1)
        client.rule("coffee")
        lines = client.open()
        client.post("Coffee")
        client.post("More coffee")

        first, last = lines.rest()
        assert ["Coffee"] == texts(first)
        (error,) = last["errors"]
        assert (f"{PROBLEMS}/usage-capped", "UsageCapExceeded") == (error["type"], error["title"])
        assert ["usage_capped"] == [one["disconnect_reason"] for one in client.connections()]

    def test_connecting_beyond_the_cap(self, client: Client) -> None:
        """An app that has read as many posts as it may cannot connect."""
        client.rule("coffee")
        client.desk.change("apps", APP, _post_cap=0)
        assert "UsageCapExceeded" == client.read(status=429)["title"]


def test_no_date(client: Client) -> None:
    """The release history dates the path of the rules, not the stream."""
    client.rule("coffee")
    client.desk.world.clock.travel(parse_instant("2025-09-08T00:00:00Z"))
    assert 404 == client.call("GET", RULES).status_code
    assert isinstance(client.open(), Lines)
