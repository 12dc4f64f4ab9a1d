"""The graph of users and posts against a plain model, on random histories.

The model has sets of pairs in the order in which they were made. After each step some lists, counts
and pages are compared with it: the invariants of the public description of v2, by their numbers.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tests.property.machine import Family, run
from tests.support import BEARER, Keys

HARBOR_ID, NORTH_ID, INES_ID = "2244994945", "3805104374", "2790441185"
USERS = (HARBOR_ID, NORTH_ID, INES_ID)
user = st.sampled_from(USERS)
number = st.integers(0, 30)
yes = st.booleans()
TABLES = (
    "follows", "follow_requests", "blocks", "mutes", "likes", "bookmarks", "list_members",
    "list_followers", "list_pins", "lists",
)  # fmt: skip
FIELDS = {"user.fields": "public_metrics,connection_status", "post.fields": "public_metrics"}


class Graph(Family):
    """Three users who do everything to one another; `edges` holds pairs, oldest first."""

    @initialize()
    def begin(self) -> None:
        """Begin without posts and relations; every count is that of the relations."""
        self.start()
        self.keys = {one: self._issue(one) for one in USERS}
        store = self.world.store
        with self.world.work():
            for table in (*TABLES, "posts"):
                for entry in store.page(table):
                    store.remove(table, entry.key)
            counts = ("followers_count", "friends_count", "favourites_count", "statuses_count")
            none = dict.fromkeys([*counts, "listed_count", "media_count"], 0)
            for one in USERS:
                record = store.get("users", one) or {}
                store.put("users", one, record | none | {"pinned_post_id": None})
        self.edges: dict[str, list[tuple[str, str]]] = {
            name: [] for name in ("follows", "requests", "mutes", "likes", "bookmarks")
        }
        self.posts: dict[str, dict[str, Any]] = {}
        """Posts that are there, oldest first: author, text, and what they refer to."""
        self.protected: set[str] = set()

    def _issue(self, user_id: str) -> Keys | str:
        body = {"user": user_id, "kind": "oauth2"}
        answer = self.box.client.post("/_mock/credentials/regenerate", json=body)
        return str(answer.get_json()["access_token"])

    def send(self, who: str, method: str, path: str, **body: Any) -> Any:
        """One request of a user: the status and the answer."""
        more = {"json": body} if body else {}
        answer = self.box.call(method, path, keys=self.keys[who], **more)
        return answer.status_code, answer.get_json()

    def read_all(self, path: str, who: str | None = None, size: int | None = None) -> list[str]:
        """The ids of all pages of a list."""
        found: list[str] = []
        query = {} if size is None else {"max_results": size}
        while True:
            keys = BEARER if who is None else self.keys[who]
            page = self.box.call("GET", path, keys=keys, query_string=query).get_json()
            found += [each["id"] for each in page.get("data", ())]
            if "next_token" not in page.get("meta", {}):
                return found
            query = query | {"pagination_token": page["meta"]["next_token"]}

    def pick(self, number: int) -> str | None:
        """The id of one of the posts."""
        return None if not self.posts else list(self.posts)[number % len(self.posts)]

    def may_see(self, who: str | None, author: str) -> bool:
        """Whether a viewer sees the posts of an author."""
        return (
            author not in self.protected
            or who == author
            or (who is not None and (who, author) in self.edges["follows"])
        )

    def put_edge(self, name: str, edge: tuple[str, str]) -> None:
        """Add a pair, once."""
        if edge not in self.edges[name]:
            self.edges[name].append(edge)

    def end_edge(self, name: str, edge: tuple[str, str]) -> None:
        """Remove a pair, if it is there."""
        if edge in self.edges[name]:
            self.edges[name].remove(edge)

    # -- what happens ----------------------------------------------------------------------------

    @rule(who=user, other=user)
    def follow(self, who: str, other: str) -> None:
        """A follow is made, waits for a protected user, or is refused."""
        status, body = self.send(who, "POST", f"/2/users/{who}/following", target_user_id=other)
        if who == other:
            assert 400 == status
            return
        waits = other in self.protected and (who, other) not in self.edges["follows"]
        assert {"following": not waits, "pending_follow": waits} == body["data"]
        self.put_edge("requests" if waits else "follows", (who, other))

    @rule(who=user, other=user)
    def unfollow(self, who: str, other: str) -> None:
        """An unfollow is always answered in the same way."""
        _, body = self.send(who, "DELETE", f"/2/users/{who}/following/{other}")
        assert {"data": {"following": False}} == body
        self.end_edge("follows", (who, other))
        self.end_edge("requests", (who, other))

    @rule(who=user, other=user, on=yes)
    def mute(self, who: str, other: str, *, on: bool) -> None:
        """A mute changes nothing but the list of the one who mutes."""
        if on and who != other:
            self.send(who, "POST", f"/2/users/{who}/muting", target_user_id=other)
            self.put_edge("mutes", (who, other))
        elif not on:
            self.send(who, "DELETE", f"/2/users/{who}/muting/{other}")
            self.end_edge("mutes", (who, other))

    @rule(who=user, kind=st.sampled_from(["plain", "reply", "quote"]), which=number)
    def post(self, who: str, kind: str, which: int) -> None:
        """A post, perhaps one that refers to another."""
        self.tick()
        target = None if kind == "plain" else self.pick(which)
        if target is not None and not self.may_see(who, self.posts[target]["author"]):
            return
        body: dict[str, Any] = {"text": f"Post {len(self.posts)} {self.now}"}
        if target is not None and kind == "reply":
            body["reply"] = {"in_reply_to_post_id": target}
        elif target is not None:
            body["quote_post_id"] = target
        status, made = self.send(who, "POST", "/2/posts", **body)
        if status == 201:
            kind = "plain" if target is None else kind
            self.posts[made["data"]["id"]] = {"author": who, "kind": kind, "target": target}

    @rule(who=user, which=number, on=yes)
    def repost(self, who: str, which: int, *, on: bool) -> None:
        """A repost is a post; its undoing removes it; a second one is refused."""
        self.tick()
        target = self.pick(which)
        if target is None or self.posts[target]["kind"] == "repost":
            return
        own = [
            key
            for key, post in self.posts.items()
            if post == {"author": who, "kind": "repost", "target": target}
        ]
        if not on:
            _, body = self.send(who, "DELETE", f"/2/users/{who}/reposts/{target}")
            assert body["data"]["reposted"] is False
            for key in own:
                self.forget(key)
            return
        author = self.posts[target]["author"]
        if author in self.protected and who != author:
            return
        status, body = self.send(who, "POST", f"/2/users/{who}/reposts", post_id=target)
        assert status == (400 if own else 200), body
        if status == 200:
            made = {"author": who, "kind": "repost", "target": target}
            self.posts[body["data"]["rest_id"]] = made

    @rule(who=user, which=number, on=yes, name=st.sampled_from(["likes", "bookmarks"]))
    def mark(self, who: str, which: int, name: str, *, on: bool) -> None:
        """A like or a bookmark, or its end."""
        post = self.pick(which)
        if post is None or self.posts[post]["kind"] == "repost":
            return
        if on and not self.may_see(who, self.posts[post]["author"]):
            return
        if on:
            status, body = self.send(who, "POST", f"/2/users/{who}/{name}", post_id=post)
            assert 200 == status, body
            self.put_edge(name, (who, post))
        else:
            self.send(who, "DELETE", f"/2/users/{who}/{name}/{post}")
            self.end_edge(name, (who, post))

    @rule(which=number)
    def delete(self, which: int) -> None:
        """A deleted post takes its reposts, likes and bookmarks along."""
        post = self.pick(which)
        if post is None or self.posts[post]["kind"] == "repost":
            return
        status, _ = self.send(self.posts[post]["author"], "DELETE", f"/2/posts/{post}")
        assert 200 == status
        self.forget(post)

    def forget(self, post: str) -> None:
        """Remove a post, what reposts it, and all edges to them, from the model."""
        gone = {post} | {
            key
            for key, other in self.posts.items()
            if other["kind"] == "repost" and other["target"] == post
        }
        self.posts = {key: other for key, other in self.posts.items() if key not in gone}
        for name in ("likes", "bookmarks"):
            self.edges[name] = [edge for edge in self.edges[name] if edge[1] not in gone]

    @rule(who=user, on=yes)
    def protect(self, who: str, *, on: bool) -> None:
        """A user hides their posts; those who follow already still see them."""
        if not on and any(edge[1] == who for edge in self.edges["requests"]):
            return
        self.box.change("users", who, protected=on)
        (self.protected.add if on else self.protected.discard)(who)

    @rule(who=user, path=st.sampled_from(["likes", "following", "muting", "bookmarks"]))
    def act_for_another(self, who: str, path: str) -> None:
        """Nobody acts for another user (no. 10, 18)."""
        other = USERS[(USERS.index(who) + 1) % 3]
        name = "post_id" if path in {"likes", "bookmarks"} else "target_user_id"
        status, body = self.send(who, "POST", f"/2/users/{other}/{path}", **{name: "1"})
        assert 400 == status
        assert "must be the same as the authenticating user" in body["errors"][0]["message"]

    # -- what holds ------------------------------------------------------------------------------

    def newest(self, name: str, end: int, key: str) -> list[str]:
        """The other ends of the edges at a record, the latest first."""
        return [edge[1 - end] for edge in reversed(self.edges[name]) if edge[end] == key]

    @invariant()
    def lists_are_those_of_the_model(self) -> None:
        """Lists of users are exact, in order, and counts are their lengths (no. 1, 2, 13, 15)."""
        if not hasattr(self, "posts"):
            return
        for one in USERS:
            followers = self.newest("follows", 1, one)
            assert followers == self.read_all(f"/2/users/{one}/followers", one)
            assert followers == self.read_all(f"/2/users/{one}/followers", one, size=1)
            assert self.newest("follows", 0, one) == self.read_all(f"/2/users/{one}/following", one)
            assert self.newest("mutes", 0, one) == self.read_all(f"/2/users/{one}/muting", one)
            shown = self.box.call("GET", f"/2/users/{one}", keys=BEARER, query_string=FIELDS)
            metrics = shown.get_json()["data"]["public_metrics"]
            assert {
                "followers_count": len(followers),
                "following_count": len(self.newest("follows", 0, one)),
                "post_count": sum(post["author"] == one for post in self.posts.values()),
                "like_count": len(self.newest("likes", 0, one)),
                "listed_count": 0,
                "media_count": 0,
            } == metrics

    @invariant()
    def posts_count_what_refers_to_them(self) -> None:
        """Counts of posts are the edges and the references of the model (no. 3, 4, 5, 7)."""
        for key, post in getattr(self, "posts", {}).items():
            if post["kind"] == "repost":
                continue
            path = f"/2/posts/{key}?post.fields=public_metrics"
            counts = self.send(post["author"], "GET", path)[1]["data"]["public_metrics"]
            kinds = [other["kind"] for other in self.posts.values() if other["target"] == key]
            assert (
                len(self.newest("likes", 1, key)),
                len(self.newest("bookmarks", 1, key)),
                *(kinds.count(kind) for kind in ("repost", "quote", "reply")),
            ) == tuple(
                counts[f"{name}_count"] for name in ("like", "bookmark", "repost", "quote", "reply")
            )

    @invariant()
    def lists_of_posts_show_what_may_be_seen(self) -> None:
        """Likes, bookmarks and timelines have what their reader may see (no. 11, 14, 19, 21)."""
        if not hasattr(self, "posts"):
            return
        for one in USERS:
            for name, path in (("likes", "liked_posts"), ("bookmarks", "bookmarks")):
                expected = [
                    post
                    for post in self.newest(name, 0, one)
                    if self.may_see(one, self.posts[post]["author"])
                ]
                assert expected == self.read_all(f"/2/users/{one}/{path}", one)
            stranger = USERS[(USERS.index(one) + 1) % 3]
            seen = self.read_all(f"/2/users/{one}/posts", stranger, size=100)
            own = [key for key, post in self.posts.items() if post["author"] == one]
            assert seen == (own[::-1] if self.may_see(stranger, one) else [])


def test_graph() -> None:
    """Users, posts and their relations are what a plain model says, on random histories."""
    run(Graph, sequences=12, steps=25)
