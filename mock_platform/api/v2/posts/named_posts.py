"""The post that a user likes or bookmarks: which one an id means, and what is refused."""

from __future__ import annotations

from mock_platform.api.v2.conventions import forbid, refuse_value
from mock_platform.api.v2.objects.answers import get_viewer_id
from mock_platform.api.v2.objects.post_view import list_versions
from mock_platform.api.v2.objects.relations import may_see
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.failures.codes import not_authorized_to_see
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

NAMED_POSTS = expectation(
    "posts.named",
    "The id of a repost means its original, that of an older version for the newest one. A "
    "post that is missing is refused with 400 and a message alone, one whose author is protected "
    "or separated from the caller by a block with 403. Likes and bookmarks of an edited post go "
    "over to its new version.",
)


def find_named_post(world: World, post_id: str) -> Record | None:
    """Return the post that an id means: of a repost the original, the newest version."""
    post = world.store.get("posts", post_id)
    if post is not None and post.get("_reposted_post_id"):
        post = world.store.get("posts", post["_reposted_post_id"])
    return None if post is None else world.store.get("posts", list_versions(post)[-1])


def require_named_post(call: Call, world: World) -> Record:
    """Return the post that the body names.

    Raises:
        ProblemFailure: It does not exist (400), or the caller may not see it (403).
    """
    post_id = call.params["post_id"]
    post = find_named_post(world, post_id)
    if post is None:
        raise refuse_value("This post cannot be found.", NAMED_POSTS)
    if not may_see(world, post, get_viewer_id(call)):
        raise forbid(not_authorized_to_see("post", "post_id", post_id), NAMED_POSTS)
    return post
