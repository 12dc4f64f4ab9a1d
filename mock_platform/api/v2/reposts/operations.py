"""Reposts and quotes of the v2 interface: reposting, taking it back, and the lists of both.

A repost is a post of its own, made and deleted like others (`posts.changes`). The lists find
reposts and quotes by what they refer to.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    NamedPostBody,
    Rates,
    check_self,
    declare_public,
    find_id_faults,
    get_user,
    get_user_id,
    refuse_value,
    wrap_data,
)
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS
from mock_platform.api.v2.objects.lists import (
    PageOfPosts,
    PageOfUsers,
    PostPageQuery,
    UserPageQuery,
    make_exclude_field,
    make_sight,
    match_excluded,
    require_seen_post,
    show_posts,
    show_users,
)
from mock_platform.api.v2.objects.post_text import make_source
from mock_platform.api.v2.objects.post_view import is_latest, list_versions
from mock_platform.api.v2.objects.relations import RELATION_COUNTS
from mock_platform.api.v2.pages import (
    QUOTES,
    TIMED_POSTS,
    TOKEN_FORMS,
    USERS,
    TokenForm,
    TokenPage,
    take_page_both_ways,
)
from mock_platform.api.v2.posts.changes import POST_ACTIVITIES, delete_post, find_reposts, repost
from mock_platform.api.v2.posts.creation import UNREACHED_POSTS, require_access
from mock_platform.api.v2.posts.named_posts import NAMED_POSTS, find_named_post, require_named_post
from mock_platform.api.v2.prices import CONTENT_MANAGE, INTERACTION_CREATE, POST_READ, USER_READ
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, Integer, Text
from mock_platform.core.operation import Example
from mock_platform.world.store.interface import Order, Record, Within
from mock_platform.world.world import World

REPOST_SHAPES = public_fact(
    "reposts.shapes",
    "A repost is a post of the user: its text is RT @name: and the original's, cut at 140 "
    "characters, and it refers to the original. The answer has its id twice, as id and rest_id. To "
    "take it back deletes it; without one that is answered in the same way. A second repost "
    "answers 400.",
    "all of v2, section 6",
    gap=True,
)
REPOST_LISTS = expectation(
    "reposts.lists",
    "Reposts and quotes of every version of a post are in its lists, the latest first; those of "
    "users whose posts the caller may not see are left out. Promoted-only reposts are in none. A "
    "repost has the number and the lists of the reposts of its original. reposts_of_me has the "
    "post first that another user reposted last.",
)
REPOSTED_ALREADY = "You cannot repost a Post that you have already reposted."
_LATEST_REPOST_FIRST = Order("_reposted_at", descending=True)
_BEFORE_ANY_MOMENT = ((2, ""), 0)
"""The position behind all posts that were reposted: the others have no moment."""


class QuotePageQuery(PostPageQuery):
    """The page of a list of quotes, and what to show of them."""

    max_results = Integer(low=10, high=100, load_default=10)
    excluded = make_exclude_field()


RepostAnswer = wrap_data(
    "RepostAnswer",
    id=Text(),
    rest_id=Text(),
    reposted=Flag(required=True),
)
RepostEndAnswer = wrap_data("RepostEndAnswer", reposted=Flag(required=True))


def create(call: Call, world: World) -> dict[str, Any]:
    """Repost a post.

    Raises:
        ProblemFailure: The post is unknown or reposted already (400), or may not be shared (403).
    """
    user, post = get_user(call), require_named_post(call, world)
    require_access(world, user, post, to_share=True)
    if find_reposts(world, user["id"], post):
        raise refuse_value(REPOSTED_ALREADY, REPOST_SHAPES)
    made = repost(world, user, post, fields={"source": make_source(call.caller.app)})
    id_ = made.record["id_str"]
    return {"data": {"id": id_, "rest_id": id_, "reposted": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Take back the repost of a post."""
    post = find_named_post(world, call.path_params["source_post_id"])
    for own in [] if post is None else find_reposts(world, get_user_id(call), post):
        delete_post(world, own)
    return {"data": {"reposted": False}}


def list_reposts(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the reposts of a post."""
    page = _take_reposts(call, world, TIMED_POSTS)
    return show_posts(call, world, page, page.records)


def list_reposters(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the users who reposted a post."""
    page = _take_reposts(call, world, USERS)
    users = (world.store.get("users", each["_user_id"]) for each in page.records)
    return show_users(call, world, page, [user for user in users if user is not None])


def _take_reposts(call: Call, world: World, form: TokenForm) -> TokenPage:
    post = require_seen_post(call, world)
    # A repost has the reposts of its original, as it has their number.
    original = world.store.get("posts", post.get("_reposted_post_id") or "") or post
    within = Within("_reposted_post_id", list_versions(original))
    may_see = make_sight(call, world)
    return take_page_both_ways(
        call, world, "posts", {"nullcast": False}, form=form, within=within, where=may_see
    )


def list_quotes(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the posts that quote a post; it has no token of the page before."""
    within = Within("_quoted_post_id", list_versions(require_seen_post(call, world)))
    may_see, match = make_sight(call, world), match_excluded(call)

    def is_shown(post: Record) -> bool:
        return is_latest(post) and may_see(post)

    page = take_page_both_ways(
        call, world, "posts", match, form=QUOTES, within=within, where=is_shown
    )
    return show_posts(call, world, TokenPage(page.records, page.next_token), page.records)


def list_reposted(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the caller's posts that other users reposted."""
    page = take_page_both_ways(
        call,
        world,
        "posts",
        {"_user_id": get_user_id(call)},
        form=TIMED_POSTS,
        order=_LATEST_REPOST_FIRST,
        end=_BEFORE_ANY_MOMENT,
        where=is_latest,
        scope=get_user_id(call),
    )
    return show_posts(call, world, page, page.records)


_declare = partial(
    declare_public,
    auth=Auth(ANY_USER, scopes=("post.read", "post.write", "users.read")),
    limit=Rates(user=50),
    may_assume=(NAMED_POSTS, UNREACHED_POSTS),
)
_declare_list = partial(
    declare_public,
    auth=Auth(ANY_CALLER, scopes=("post.read", "users.read")),
    params=PostPageQuery,
    rules=find_id_faults,
    returns=PageOfPosts,
    limit=Rates(app=75, user=75),
    errors=("invalid-request", "resource-not-found", "not-authorized-for-resource"),
    statuses=(429,),
    assumptions=(REPOST_LISTS, REPOST_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
    may_assume=(PARTIAL_ERRORS, COUNTED_ONCE),
    price=POST_READ,
)
OPERATIONS = (
    _declare(
        "reposts.create",
        "POST /2/users/:id/reposts",
        create,
        "Repost a post",
        params=NamedPostBody,
        rules=check_self(),
        returns=RepostAnswer,
        errors=("invalid-request", "about:blank"),
        assumptions=(REPOST_SHAPES, POST_ACTIVITIES, RELATION_COUNTS),
        example=Example(json={"post_id": "1789900000000000006"}),
        price=INTERACTION_CREATE,
    ),
    _declare(
        "reposts.delete",
        "DELETE /2/users/:id/reposts/:source_post_id",
        delete,
        "Take back a repost",
        rules=check_self("id", "source_post_id"),
        returns=RepostEndAnswer,
        assumptions=(REPOST_SHAPES, RELATION_COUNTS),
        example=Example(path={"source_post_id": "1789900000000000004"}),
        price=CONTENT_MANAGE,
    ),
    _declare_list(
        "reposts.list",
        "GET /2/posts/:id/reposts",
        list_reposts,
        "List the reposts of a post",
        example=Example(path={"id": "1789900000000000004"}),
    ),
    _declare_list(
        "reposts.users",
        "GET /2/posts/:id/reposted_by",
        list_reposters,
        "List who reposted a post",
        params=UserPageQuery,
        returns=PageOfUsers,
        statuses=(),
        may_assume=(PARTIAL_ERRORS,),
        example=Example(path={"id": "1789900000000000004"}),
        price=USER_READ,
    ),
    _declare_list(
        "quotes.list",
        "GET /2/posts/:id/quote_posts",
        list_quotes,
        "List the posts that quote a post",
        params=QuotePageQuery,
        example=Example(path={"id": "1789900000000000001"}),
    ),
    _declare_list(
        "reposts.of_me",
        "GET /2/users/reposts_of_me",
        list_reposted,
        "List the caller's posts that others reposted",
        auth=Auth(ANY_USER, scopes=("post.read", "timeline.read")),
        rules=None,
        limit=Rates(user=75),
        errors=("invalid-request", "usage-capped"),
        statuses=(),
    ),
)
