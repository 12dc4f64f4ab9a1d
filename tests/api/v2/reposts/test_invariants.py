"""Counts, lists and timelines agree after any sequence of posts, reposts, edits and deletions."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from mock_platform.api.v2.objects.post_view import list_versions, show_post
from mock_platform.api.v2.posts.changes import create_post, delete_post, repost
from mock_platform.world.store.interface import Record
from tests.api.v2.posts.support import INES, OTHER, OWN, ids
from tests.generated import examples
from tests.support import Sandbox, sandbox

USERS = (OWN, OTHER, INES)
Step = tuple[str, str, int]
"""What happens, the user, and the place of the post that it happens to."""
STEPS = st.tuples(
    st.sampled_from(("post", "reply", "quote", "repost", "edit", "delete")),
    st.sampled_from(USERS),
    st.integers(0, 9),
)


def start_without_posts() -> Sandbox:
    """A sandbox in which nothing was posted."""
    box = sandbox(freeze=datetime(2026, 11, 22, 12, tzinfo=UTC))
    box.clear("posts")
    for user in USERS:
        box.change("users", user, statuses_count=0)
    return box


def read_newest(box: Sandbox) -> list[Record]:
    """The newest version of each post."""
    found = [entry.record for entry in box.world.store.page("posts")]
    return [post for post in found if list_versions(post)[-1] == post["id_str"]]


def act(box: Sandbox, step: Step) -> None:
    """Let a user do something; a second repost of the same post is its end."""
    (kind, user_id, place), world, posts = step, box.world, read_newest(box)
    originals = [post for post in posts if not post["_reposted_post_id"]]
    user = box.record("users", user_id)
    box.advance(seconds=1)
    with world.work():
        if kind == "post" or not originals:
            create_post(world, user, "Hello")
            return
        target = originals[place % len(originals)]
        if kind == "reply":
            create_post(world, user, "Answer", reply_to=target)
        elif kind == "quote":
            create_post(world, user, "Look", quoted=target)
        elif kind == "edit":
            create_post(world, box.record("users", target["_user_id"]), "Hi", previous=target)
        elif kind == "delete":
            delete_post(world, posts[place % len(posts)])
        else:
            again = [each for each in posts if each["_user_id"] == user_id
                     and each["_reposted_post_id"] in list_versions(target)]  # fmt: skip
            repost(world, user, target) if not again else delete_post(world, again[0])


@examples(12)
@given(st.lists(STEPS, min_size=5, max_size=25))
def test_counts_and_lists_agree(steps: list[Step]) -> None:
    """Each count is the number of what it counts, and lists hold what refers to a post."""
    box = start_without_posts()
    for step in steps:
        act(box, step)
    posts = read_newest(box)
    for post in posts:
        versions = list_versions(post)
        # A repost has the reposts of its original, and replies and quotes of its own.
        original = box.world.store.get("posts", post["_reposted_post_id"] or "") or post
        shared = list_versions(original)
        referring = {
            name: [each["id_str"] for each in posts if each[field] in ids_]
            for name, field, ids_ in (("repost_count", "_reposted_post_id", shared),
                                      ("quote_count", "_quoted_post_id", versions),
                                      ("reply_count", "in_reply_to_status_id_str", versions))
        }  # fmt: skip
        counts = show_post(box.world, post, ["public_metrics"])["public_metrics"]
        for name, found in referring.items():
            assert len(found) == counts[name], name
        path = f"/2/posts/{post['id_str']}"
        assert referring["repost_count"][::-1] == ids(box, f"{path}/reposts")
        quotes = ids(box, f"{path}/quote_posts", max_results=100)
        assert sorted(referring["quote_count"]) == sorted(quotes)
        others = [e for e in posts if e["_reposted_post_id"] in versions
                  and e["_user_id"] != post["_user_id"]]  # fmt: skip
        latest = max((each["created_at"] for each in others), default=None)
        assert latest == post["_reposted_at"]
    for user in USERS:
        own = [post["id_str"] for post in posts if post["_user_id"] == user]
        assert own[::-1] == ids(box, f"/2/users/{user}/posts", max_results=100)
        assert len(own) == box.record("users", user)["statuses_count"]
