"""Lists of users and of posts that hang on something: their pages, and who is left out.

Followers, members, posts that somebody liked: a list is a page of edges of a relation, or of posts,
shown with the fields and expansions that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

from msgspec.structs import replace

from mock_platform.api.v2.conventions import require_record
from mock_platform.api.v2.objects.answers import (
    PARTIAL_ERRORS,
    ObjectAnswer,
    PostSelectionQuery,
    UserSelectionQuery,
    get_viewer_id,
    hide_record,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT, USER_OBJECT
from mock_platform.api.v2.objects.relations import (
    Relation,
    is_present,
    make_sight_of,
    may_see,
    may_see_posts_of,
)
from mock_platform.api.v2.pages import (
    PagedQuery,
    PageMeta,
    TokenForm,
    TokenPage,
    make_token_field,
    take_page_both_ways,
)
from mock_platform.api.v2.usage.counting import COUNTED_ONCE, count_posts
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import CommaList, Integer, Nested
from mock_platform.core.operation import Handler
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

HIDDEN_USERS = public_fact(
    "v2.hidden-users",
    "What hangs on a protected user whom the caller does not follow, or on one whom a block "
    "separates from the caller, answers 200 with errors alone: not-authorized-for-resource.",
    "all of v2, section 1.3",
)


class UserPageQuery(PagedQuery, UserSelectionQuery):
    """The page of a list of users, and what to show of them."""


class LongUserPageQuery(UserPageQuery):
    """The page of a list of up to 1,000 users, and what to show of them."""

    max_results = Integer(low=1, high=1000, load_default=100)
    pagination_token = make_token_field()


class PostPageQuery(PagedQuery, PostSelectionQuery):
    """The page of a list of posts, and what to show of them."""


def make_exclude_field() -> CommaList:
    """Return the parameter that leaves replies or reposts out of a list."""
    return make_names_field(("replies", "reposts"), data_key="exclude")


class PageOfObjects(ObjectAnswer):
    """Objects with the selected fields, what they refer to, and the tokens of the next pages."""

    meta = Nested(PageMeta)


class PageOfUsers(PageOfObjects):
    """A page of users."""

    data = USER_OBJECT.several()


class PageOfPosts(PageOfObjects):
    """A page of posts."""

    data = POST_OBJECT.several()


def list_related_users(
    call: Call,
    world: World,
    relation: Relation,
    key: str,
    form: TokenForm,
    *,
    show: Literal["source", "target"] = "target",
) -> dict[str, Any]:
    """Return the page of users at one end of a relation, the latest edge first.

    `key` is the record at the other end. Suspended and deactivated users are left out.
    """
    shown = relation.target if show == "target" else relation.source
    other = relation.source if show == "target" else relation.target

    field, users = shown.field, dict[str, Record]()

    def is_shown(edge: Record) -> bool:
        user = world.store.get("users", edge[field])
        if user is None or not is_present(user):
            return False
        users[edge[field]] = user
        return True

    match = {other.field: key}
    page = take_page_both_ways(call, world, relation.name, match, form=form, where=is_shown)
    return show_users(call, world, page, [users[edge[field]] for edge in page.records])


def show_users(call: Call, world: World, page: TokenPage, users: list[Record]) -> dict[str, Any]:
    """Return the answer with the users of a page."""
    answer = start_answer(call, world)
    answer.add_users(users)
    return answer.show_all(meta=page.meta())


def make_sight(call: Call, world: World) -> Callable[[Record], bool]:
    """Return the test whether the caller may see a post; each author is looked up once."""
    return make_sight_of(world, get_viewer_id(call))


def list_related_posts(
    call: Call,
    world: World,
    relation: Relation,
    key: str,
    form: TokenForm,
    *,
    most: int | None = None,
) -> dict[str, Any]:
    """Return the page of posts to which the edges of a record lead, the latest edge first."""
    page = take_related_posts(call, world, relation, key, form, most=most)
    return show_posts(call, world, page, page.records)


def take_related_posts(
    call: Call,
    world: World,
    relation: Relation,
    key: str,
    form: TokenForm,
    *,
    most: int | None = None,
) -> TokenPage:
    """Return the page with the posts to which the edges of a record lead, the latest edge first.

    Posts that the caller may not see are left out, before the page is filled. `most` is how many
    the list shows at all.
    """
    field, is_seen = relation.target.field, make_sight(call, world)
    posts: dict[str, Record] = {}

    def is_shown(edge: Record) -> bool:
        post = world.store.get("posts", edge[field])
        if post is None or not is_seen(post):
            return False
        posts[edge[field]] = post
        return True

    match = {relation.source.field: key}
    page = take_page_both_ways(
        call, world, relation.name, match, form=form, where=is_shown, most=most
    )
    return replace(page, records=[posts[edge[field]] for edge in page.records])


def show_posts(
    call: Call, world: World, page: TokenPage, posts: list[Record], **meta: Any
) -> dict[str, Any]:
    """Return the answer with the posts of a page, and count them as read.

    Raises:
        ProblemFailure: The app's project has read as many posts as it may (usage-capped).
    """
    app = call.caller.app
    if app is not None:
        call.assume(COUNTED_ONCE)
        count_posts(world, app, [post["id_str"] for post in posts])
    answer = start_answer(call, world)
    answer.add_posts(posts)
    return answer.show_all(meta=page.meta(**meta))


def match_excluded(call: Call) -> dict[str, Any]:
    """Return what the posts of a list have in common if `exclude` leaves some out."""
    excluded = call.params.get("excluded") or ()
    match: dict[str, Any] = {"nullcast": False}
    if "reposts" in excluded:
        match["_reposted_post_id"] = None
    if "replies" in excluded:
        match["in_reply_to_status_id_str"] = None
    return match


def require_seen_post(
    call: Call, world: World, find: Callable[[str], Record | None] | None = None
) -> Record:
    """Return the post in the path, on which a list hangs; `find` looks it up, else its key does.

    Raises:
        ProblemFailure: It does not exist (404), or the caller may not see it (403).
    """
    post = require_record(call, world, "posts", "post", PARTIAL_ERRORS, find=find)
    if not may_see(world, post, get_viewer_id(call)):
        raise ProblemFailure(hide_record("id", call.path_params["id"]), PARTIAL_ERRORS)
    return post


def take_user(list_: Callable[[Call, World, Record], dict[str, Any]]) -> Handler:
    """Return the handler of a list that hangs on the user in the path; `list_` gets that user.

    The list of a user whom the caller may not see is errors alone.
    """

    @wraps(list_)
    def handle(call: Call, world: World) -> dict[str, Any]:
        user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
        if may_see_posts_of(world, user, get_viewer_id(call)):
            return list_(call, world, user)
        call.assume(HIDDEN_USERS)
        return {"errors": [hide_record("id", user["id"], "user").as_item(call.base_url)]}

    return handle
