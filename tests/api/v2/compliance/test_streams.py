"""Compliance streams: every change that copies have to follow, from each place where it is made."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import LIKES
from mock_platform.api.v2.posts.changes import delete_post
from mock_platform.world.store.interface import Record
from tests.api.v2.filtered_stream.support import PostingClient as Client
from tests.support import BEARER, body_of
from tests.support_replay import Desk
from tests.support_streams import OTHER_USER, USER, Lines

SETTINGS = {"stream_keepalive": 0.001}
POSTS, USERS = "/2/posts/compliance/stream", "/2/users/compliance/stream"
LIKED, LABELS = "/2/likes/compliance/stream", "/2/posts/label/stream"
STREAMS = {
    POSTS: "posts_compliance_stream", USERS: "users_compliance_stream",
    LIKED: "likes_compliance_stream", LABELS: "post_label_stream",
}  # fmt: skip
AT = {"event_at": "2026-11-20T12:00:30.000Z"}


def partition_of(id_: str) -> int:
    """The partition of a post or a user."""
    return int(id_) % 4 + 1


def listen(client: Client, path: str, id_: str, more: str = "") -> Lines:
    """The stream of the partition of an id."""
    return client.open(f"?partition={partition_of(id_)}{more}", path=path)


def patch(client: Client, table: str, key: str, **fields: Any) -> None:
    """Change a record through the control plane."""
    answer = client.desk.client.patch(f"/_mock/state/{table}/{key}", json=fields)
    assert 200 == answer.status_code, answer.text


def erase(client: Client, post: Record) -> None:
    """Delete a post as its author does."""
    with client.desk.world.work():
        delete_post(client.desk.world, post)


def is_silent(client: Client) -> bool:
    """Whether nothing waits for an open stream."""
    streams = client.desk.client.get("/_mock/streams").get_json()["streams"]
    return not any(stream["lag"] for stream in streams)


def about(post: Record) -> dict[str, Any]:
    """How lines name a post."""
    return {"post": {"id": post["id_str"], "author_id": post["_user_id"]}}


class TestPosts:
    """The stream of what becomes of posts."""

    def test_deletion(self, client: Client) -> None:
        """A deleted post is one line in its partition, with what it quotes, once only."""
        quoted = client.post("Bread")
        post = client.post("Yes", quoted=quoted)
        id_ = post["id_str"]
        lines = listen(client, POSTS, id_)
        other = client.open(f"?partition={partition_of(id_) % 4 + 1}", path=POSTS)
        erase(client, post)

        line = {**about(post), **AT, "quote_post_id": quoted["id_str"]}
        assert {"data": {"delete": line}} == lines.next()
        assert 404 == client.desk.client.delete(f"/_mock/state/posts/{id_}").status_code
        assert is_silent(client)
        other.close()

    def test_deletion_through_the_control_plane(self, client: Client) -> None:
        """A post that the control plane removes makes a line too."""
        post = client.post("Bread")
        lines = listen(client, POSTS, post["id_str"])
        client.desk.client.delete(f"/_mock/state/posts/{post['id_str']}")
        assert {"data": {"delete": about(post) | AT}} == lines.next()

    def test_deletion_with_reposts_versions_and_likes(self, client: Client) -> None:
        """Each version and each repost is a line; the likes that end with it make no line."""
        first = client.post("Bred")
        second = client.post("Bread", previous=first)
        repost = client.post("RT", user=USER, reposted=second)
        with client.desk.world.work():
            LIKES.add(client.desk.world, USER, second["id_str"])
        likes = client.open(path=LIKED)
        erase(client, client.desk.record("posts", second["id_str"]))

        client.desk.world.clock.advance(seconds=1)
        window = "&start_time=2026-11-20T12:00:00Z"
        opened = [client.open(f"?partition={n}{window}", path=POSTS) for n in range(1, 5)]
        found = [line["data"].get("delete") for lines in opened for line in lines.rest()]
        ids = sorted(each["post"]["id"] for each in found if each)
        assert sorted(post["id_str"] for post in (first, second, repost)) == ids
        assert is_silent(client)
        likes.close()

    def test_edits(self, client: Client) -> None:
        """An edit names the new version and all versions."""
        first = client.post("Bred")
        opened = [client.open(f"?partition={number}", path=POSTS) for number in range(1, 5)]
        ids = [first["id_str"], client.post("Bread", previous=first)["id_str"]]

        line = {"post": {"id": ids[1]}, "initial_post_id": ids[0], "edit_post_ids": ids, **AT}
        assert {"data": {"post_edit": line}} == opened[partition_of(ids[1]) - 1].next()

    def test_withheld_and_dropped(self, client: Client) -> None:
        """Countries that withhold a post, and a post that is dropped and comes back."""
        post = client.post("Bread")
        lines = listen(client, POSTS, post["id_str"])
        patch(client, "posts", post["id_str"], _withheld_in_countries=["DE", "FR"])
        patch(client, "posts", post["id_str"], _withheld_in_countries=[])
        patch(client, "posts", post["id_str"], _dropped=True)
        patch(client, "posts", post["id_str"], _dropped=True, favorite_count=3)
        patch(client, "posts", post["id_str"], _dropped=False)
        line = about(post) | AT

        countries = {"withheld_in_countries": ["DE", "FR"]}
        assert {"data": {"withheld": line | countries}} == lines.next()
        assert [{"drop": line}, {"undrop": line}] == [lines.next()["data"] for _ in range(2)]
        assert is_silent(client)

    def test_withheld_posts_say_so(self, client: Client) -> None:
        """The field withheld of posts and of users has the countries."""
        post = client.post("Bread")
        patch(client, "posts", post["id_str"], _withheld_in_countries=["DE"])
        patch(client, "users", USER, withheld_in_countries=["FR"])
        shown = client.call("GET", f"/2/posts/{post['id_str']}?post.fields=withheld").get_json()
        user = client.call("GET", f"/2/users/{USER}?user.fields=withheld").get_json()

        expected = {"copyright": False, "country_codes": ["DE"], "scope": "post"}
        assert expected == shown["data"]["withheld"]
        assert {"country_codes": ["FR"], "scope": "user"} == user["data"]["withheld"]


class TestUsers:
    """The stream of what becomes of users."""

    @pytest.mark.parametrize(
        ("field", "begun", "ended"),
        [
            ("protected", "user_protect", "user_unprotect"),
            ("_suspended", "user_suspend", "user_unsuspend"),
            ("_deactivated", "user_delete", "user_undelete"),
        ],
    )
    def test_states(self, client: Client, field: str, begun: str, ended: str) -> None:
        """A state begins and ends; what does not change is no line."""
        lines = listen(client, USERS, USER)
        for value in (True, True, False):
            patch(client, "users", USER, **{field: value})
        line = {"user": {"id": USER}, **AT}

        assert [{begun: line}, {ended: line}] == [lines.next()["data"] for _ in range(2)]
        assert is_silent(client)

    def test_removed_users(self, client: Client) -> None:
        """A user who is removed is deleted; one who was deactivated before makes no second line."""
        user = client.desk.record("users", USER) | {"id": "77"}
        client.desk.put("users", "77", user)
        lines = listen(client, USERS, "77")
        client.desk.remove("users", "77")
        client.desk.put("users", "77", user | {"_deactivated": True})
        client.desk.remove("users", "77")

        assert {"data": {"user_delete": {"user": {"id": "77"}, **AT}}} == lines.next()
        assert is_silent(client)

    def test_withheld_users(self, client: Client) -> None:
        """Countries that withhold a user; the end of it has no line."""
        lines = listen(client, USERS, USER)
        patch(client, "users", USER, withheld_in_countries=["DE"])
        patch(client, "users", USER, withheld_in_countries=[])
        line = {"user": {"id": USER}, "withheld_in_countries": ["DE"], **AT}

        assert {"data": {"user_withheld": line}} == lines.next()
        assert is_silent(client)

    def test_scrubbed_places(self, client: Client) -> None:
        """The posts up to the one that is named lose their places, later ones keep them."""
        place = {"id": "01a9a39529b27f36", "full_name": "Lisbon"}
        old, new = (client.post("Here", user=USER, fields={"place": place}) for _ in range(2))
        lines = listen(client, USERS, USER)
        patch(client, "users", USER, _geo_scrubbed_up_to=old["id_str"])
        line = {"user": {"id": USER}, "up_to_post_id": old["id_str"], **AT}

        assert {"data": {"scrub_geo": line}} == lines.next()
        assert client.desk.record("posts", old["id_str"])["place"] is None
        assert place == client.desk.record("posts", new["id_str"])["place"]

    @pytest.mark.parametrize(
        ("stored", "shown", "value"),
        [("name", "name", "Harbour"), ("screen_name", "username", "harbour"),
         ("description", "description", ""), ("location", "location", "Porto"),
         ("url", "url", "https://roast.example"),
         ("profile_image_url_https", "profile_image_url", "https://a.example/1.png"),
         ("profile_banner_url", "profile_banner_url", "https://a.example/2.png")],
    )  # fmt: skip
    def test_profiles(self, client: Client, stored: str, shown: str, value: str) -> None:
        """Each field of a profile that changes is a line with its new value."""
        patch(client, "users", USER, **{stored: "before"})
        lines = listen(client, USERS, USER)
        patch(client, "users", USER, **{stored: value})
        change = {"profile_field": shown, "new_value": value}

        line = {"user": {"id": USER}, **change, **AT}
        assert {"data": {"user_profile_modification": line}} == lines.next()

    def test_profile_events_and_counts(self, client: Client) -> None:
        """What POST /_mock/events changes makes a line; counts are no profile."""
        lines = listen(client, USERS, USER)
        patch(client, "users", USER, followers_count=5)
        event = {"event_type": "profile.update.geo", "user_id": USER}
        client.desk.client.post("/_mock/events", json=event)
        line = lines.next()["data"]["user_profile_modification"]

        assert "location" == line["profile_field"]
        assert client.desk.record("users", USER)["location"] == line["new_value"]


class TestLikesAndLabels:
    """The streams without partitions."""

    def test_unlike(self, client: Client) -> None:
        """The end of a like is a delete; a second end and a like make no line."""
        world, post = client.desk.world, client.post("Bread")["id_str"]
        lines = client.open(path=LIKED)
        with world.work():
            LIKES.add(world, USER, post)
        for _ in range(2):
            with world.work():
                LIKES.remove(world, USER, post)
        line = {"favorite": {"id": post, "user_id": USER}, **AT}

        assert {"data": {"delete": line}} == lines.next()
        assert is_silent(client)

    def test_labels(self, client: Client) -> None:
        """A notice below a post, and a post that is made unviewable; their end has no line."""
        post = client.post("Bread")
        lines = client.open(path=LABELS)
        notice = {
            "event_type": "misleading", "application": "notes", "details": "Read on",
            "label_title": "Misleading", "extended_details_url": "https://help.platform.example/1",
        }  # fmt: skip
        for changed in ({"_notice": notice}, {"_notice": None}, {"_made_unviewable_by": "rules"}):
            patch(client, "posts", post["id_str"], **changed)
        line = about(post) | AT

        assert {"data": {"public_post_notice": line | notice}} == lines.next()
        expected = {"public_post_unviewable": line | {"application": "rules"}}
        assert {"data": expected} == lines.next()
        assert is_silent(client)


class TestConnections:
    """All four are streams like the others."""

    @pytest.mark.parametrize("path", STREAMS)
    def test_backfill_and_window(self, client: Client, path: str) -> None:
        """What happened before comes first, or in a window that ends by itself."""
        post = client.post("Bread")
        with client.desk.world.work():
            LIKES.add(client.desk.world, USER, post["id_str"])
            client.desk.change("posts", post["id_str"], _dropped=True, _made_unviewable_by="rules")
        with client.desk.world.work():
            LIKES.remove(client.desk.world, USER, post["id_str"])
            client.desk.change("users", USER, protected=True)
        client.desk.world.clock.advance(seconds=240)
        number = partition_of(USER if path == USERS else post["id_str"])
        query = f"&partition={number}" if path in {POSTS, USERS} else ""

        first = client.open(f"?backfill_minutes=5{query}", path=path).next()
        window = "?start_time=2026-11-20T12:00:00Z&end_time=2026-11-20T12:02:00Z"
        assert [first] == client.open(window + query, path=path).rest()
        late = "?start_time=2026-11-20T12:01:00Z"
        assert [] == client.open(late + query, path=path).rest()

    @pytest.mark.parametrize("path", STREAMS)
    def test_two_connections(self, client: Client, path: str) -> None:
        """A third connection is refused; a disconnected one has its last line."""
        query = "?partition=4" if path in {POSTS, USERS} else ""
        lines, _ = (client.open(query, path=path) for _ in range(2))
        refused = client.call("GET", path + query)
        client.call("DELETE", f"/2/connections/{STREAMS[path]}")

        assert "TooManyConnections" == body_of(refused, 429)["connection_issue"]
        assert "ForceDisconnect" == lines.next()["errors"][0]["disconnect_type"]


class TestWorlds:
    """Events belong to the commit of their cause, and to nothing else."""

    def test_refused_work(self, client: Client) -> None:
        """What is undone makes no line."""
        lines = listen(client, USERS, USER)
        with suppress(ZeroDivisionError), client.desk.world.work():
            client.desk.change("users", USER, protected=True)
            raise ZeroDivisionError
        patch(client, "users", USER, protected=True)

        assert "user_protect" in lines.next()["data"]
        assert is_silent(client)

    def test_reset(self, client: Client) -> None:
        """A reset makes no line, and forgets what happened before it."""
        patch(client, "users", USER, protected=True)
        client.desk.client.post("/_mock/reset")
        lines = listen(client, USERS, USER, "&start_time=2026-11-20T12:00:00Z")
        assert [] == lines.rest()

    def test_ids_are_not_used_up(self) -> None:
        """The ids of what is made later do not depend on events."""
        found = []
        for protects in (True, False):
            with Desk() as desk:
                desk.change("users", OTHER_USER, **({"protected": True} if protects else {}))
                found.append(desk.world.ids.snowflake())

        assert found[0] == found[1]


def test_original_names(client: Client) -> None:
    """Paths, lines and names of connections have their older words."""
    headers = {"X-Mock-Names": "original", "Authorization": f"Bearer {BEARER}"}
    post = client.post("Bread")
    paths = f"compliance/stream?partition={partition_of(post['id_str'])}", "label/stream"
    opened = [Lines(client.desk.client.get(f"/2/tweets/{path}", headers=headers)) for path in paths]
    patch(client, "posts", post["id_str"], _made_unviewable_by="rules", _dropped=True)
    named = {"tweet": {"id": post["id_str"], "author_id": OTHER_USER}, **AT}

    assert {"drop": named} == opened[0].next()["data"]
    assert {"public_tweet_unviewable": named | {"application": "rules"}} == opened[1].next()["data"]
    shown = client.desk.client.get("/2/connections", headers=headers).get_json()["data"]
    assert {"tweets_compliance_stream", "tweet_label_stream"} == {
        each["endpoint_name"] for each in shown
    }
