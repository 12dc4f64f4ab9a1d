"""Likes of the v2 interface: liking and unliking, and the lists of both sides."""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.activity.activities import LIKE_ACTIVITIES
from mock_platform.api.v2.conventions import (
    ANY_USER,
    ENTERPRISE_ONLY,
    NamedPostBody,
    Rates,
    check_self,
    declare_public,
    find_id_faults,
    forbid,
    get_user,
    get_user_id,
    require_enterprise_from,
    wrap_data,
)
from mock_platform.api.v2.likes.changes import LIKE_EVENTS, like, unlike
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS
from mock_platform.api.v2.objects.lists import (
    PageOfPosts,
    PageOfUsers,
    PostPageQuery,
    UserPageQuery,
    list_related_posts,
    list_related_users,
    require_seen_post,
)
from mock_platform.api.v2.objects.post_view import list_versions
from mock_platform.api.v2.objects.relations import LIKES, RELATION_COUNTS
from mock_platform.api.v2.pages import TIMED_POSTS, TOKEN_FORMS, USERS
from mock_platform.api.v2.posts.named_posts import NAMED_POSTS, find_named_post, require_named_post
from mock_platform.api.v2.prices import (
    INTERACTION_CREATE,
    INTERACTION_DELETE,
    LIKED_POST_READ,
    USER_READ,
)
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, Integer
from mock_platform.core.operation import Example
from mock_platform.world.world import World

LIKE_SHAPES = public_fact(
    "likes.shapes",
    "Liked posts and liking users are listed with the latest like first. Liking and unliking "
    "answer 200 whether or not something changes; both share their rate windows.",
    "all of v2, section 4",
    gap=True,
)
LIKE_REFUSALS = public_fact(
    "likes.refusals",
    "A like of a post that is missing is refused with 400 and a message alone; a like of an older "
    "version of an edited post with 403.",
    "all of v2, section 4",
)
PRIVATE_LIKES = expectation(
    "likes.private",
    "Likes are private, as they have been since June 2024. liked_posts are those of the caller, "
    "another id is refused with 400. liking_users are for the author of the post; others get an "
    "empty list, and 403 if they may not see the post.",
)


class LikedPostsQuery(PostPageQuery):
    """The page of a list of liked posts, of at least 5, and what to show of them."""

    max_results = Integer(low=5, high=100, load_default=100)


LikeAnswer = wrap_data("LikeAnswer", liked=Flag(required=True))


def create(call: Call, world: World) -> dict[str, Any]:
    """Like a post.

    Raises:
        ProblemFailure: It is missing (400), hidden from the caller, or was edited since (403).
    """
    post = require_named_post(call, world)
    if call.params["post_id"] in list_versions(post)[:-1]:
        raise forbid("You cannot like a Post that has been edited.", LIKE_REFUSALS)
    like(world, get_user(call), post)
    return {"data": {"liked": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Unlike a post, whether or not the caller likes it."""
    post = find_named_post(world, call.path_params["post_id"])
    if post is not None:
        unlike(world, get_user(call), post)
    return {"data": {"liked": False}}


def list_liked_posts(call: Call, world: World) -> dict[str, Any]:
    """Return the page of posts that the caller likes."""
    return list_related_posts(call, world, LIKES, get_user_id(call), TIMED_POSTS)


def list_liking_users(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users who like a post of the caller; of another post an empty one.

    Raises:
        ProblemFailure: The post does not exist (404), or the caller may not see it (403).
    """
    post = require_seen_post(call, world, partial(find_named_post, world))
    if post["_user_id"] != get_user_id(call):
        return {"meta": {"result_count": 0}}
    return list_related_users(call, world, LIKES, post["id_str"], USERS, show="source")


_declare_list = partial(
    declare_public,
    auth=Auth(ANY_USER, scopes=("like.read", "post.read", "users.read")),
    limit=Rates(app=75, user=75),
    assumptions=(LIKE_SHAPES, PRIVATE_LIKES, FIELD_SELECTION, TOKEN_FORMS),
)
_declare = partial(
    declare_public,
    returns=LikeAnswer,
    auth=Auth(ANY_USER, scopes=("like.write", "post.read", "users.read")),
    limit=Rates(user=50, user_daily=1000, shared="likes"),
    rules=check_self(),
)
_LIKED = "1789900000000000004"
OPERATIONS = (
    _declare_list(
        "liked_posts.list",
        "GET /2/users/:id/liked_posts",
        list_liked_posts,
        "List the posts that a user likes",
        params=LikedPostsQuery,
        rules=check_self(),
        returns=PageOfPosts,
        errors=("invalid-request", "usage-capped"),
        may_assume=(COUNTED_ONCE,),
        price=LIKED_POST_READ,
    ),
    _declare_list(
        "liking_users.list",
        "GET /2/posts/:id/liking_users",
        list_liking_users,
        "List the users who like a post",
        params=UserPageQuery,
        rules=find_id_faults,
        returns=PageOfUsers,
        errors=("invalid-request", "resource-not-found", "not-authorized-for-resource"),
        may_assume=(PARTIAL_ERRORS,),
        price=USER_READ,
    ),
    _declare(
        "likes.create",
        "POST /2/users/:id/likes",
        create,
        "Like a post",
        params=NamedPostBody,
        errors=("invalid-request", "about:blank"),
        assumptions=(LIKE_SHAPES, NAMED_POSTS, LIKE_ACTIVITIES, LIKE_EVENTS, RELATION_COUNTS),
        may_assume=(LIKE_REFUSALS, ENTERPRISE_ONLY),
        tier_gate=require_enterprise_from("2026-04-20"),
        example=Example(json={"post_id": _LIKED}),
        price=INTERACTION_CREATE,
    ),
    _declare(
        "likes.delete",
        "DELETE /2/users/:id/likes/:post_id",
        delete,
        "Unlike a post",
        rules=check_self("id", "post_id"),
        assumptions=(LIKE_SHAPES, NAMED_POSTS, LIKE_EVENTS, RELATION_COUNTS),
        example=Example(path={"post_id": _LIKED}),
        price=INTERACTION_DELETE,
    ),
)
