"""Timelines of the v2 interface: posts of a user, mentions, and the home timeline.

Each is a page of posts, newest first, between two moments or two ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    Rates,
    check_self,
    declare_public,
    find_id_faults,
    get_user,
    make_id_field,
    make_moment_field,
)
from mock_platform.api.v2.objects.answers import FIELD_SELECTION, PARTIAL_ERRORS, ObjectAnswer
from mock_platform.api.v2.objects.lists import (
    HIDDEN_USERS,
    PostPageQuery,
    make_exclude_field,
    make_sight,
    match_excluded,
    show_posts,
    take_user,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.objects.post_view import is_latest
from mock_platform.api.v2.objects.relations import FOLLOWS, HIDDEN_REPOSTS, MUTES, is_blocked
from mock_platform.api.v2.pages import (
    TIMED_POSTS,
    TOKEN_FORMS,
    PageMeta,
    TokenPage,
    take_page_both_ways,
)
from mock_platform.api.v2.prices import OWN_POST_READ, POST_READ
from mock_platform.api.v2.search.search import find_order_faults, read_window
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Integer, Nested, Text
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Order, Record, Term, Within
from mock_platform.world.world import World

TIMELINE_SHAPES = public_fact(
    "timelines.shapes",
    "Timelines have the newest version of each post, the newest post first, and newest_id and "
    "oldest_id in meta. since_id and until_id are exclusive and win over the times. They reach "
    "3,200 posts back, mentions and posts without replies 800; behind that they are empty.",
    "all of v2, section 7",
    gap=True,
)
TIMELINE_POSTS = expectation(
    "timelines.posts",
    "Promoted-only posts are in no timeline. Mentions are posts of others that name the user or "
    "reply to the user, no reposts. Home has posts of the caller and of followed users; of these "
    "replies only to the caller, to themselves and to followed users, posts in a community only if "
    "shared with followers, nothing of muted or blocked users, nor reposts of their posts, and no "
    "reposts of users whose reposts the caller does not want (friendships/update of version 1.1).",
)
_LONGEST, _SHORTEST = 3200, 800
_MENTIONING = ("entities.user_mentions.id_str", "in_reply_to_user_id_str")
_LARGEST_ID_FIRST = Order("id", descending=True)
_BEHIND = 1 << 40
"""Above every sequence number."""
_FEW_POSTS = 100


class MentionsQuery(PostPageQuery):
    """The page of a timeline, between which moments or ids, and what to show of its posts."""

    max_results = Integer(low=5, high=100, load_default=10)
    start_time = make_moment_field()
    end_time = make_moment_field()
    since_id = make_id_field("a post id of ")
    until_id = make_id_field("a post id of ")
    excluded = make_exclude_field()


class HomeQuery(MentionsQuery):
    """The same for the home timeline, whose pages are longer."""

    max_results = Integer(low=1, high=100, load_default=100)


class _TimelineMeta(PageMeta):
    newest_id = Text()
    oldest_id = Text()


class TimelinePage(ObjectAnswer):
    """A page of a timeline."""

    data = POST_OBJECT.several()
    meta = Nested(_TimelineMeta)


def find_time_faults(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the id in the path and with the times."""
    is_home = call.operation == "timelines.home"
    find = check_self() if is_home else find_id_faults
    yield from find(params, call, world, settings)
    yield from find_order_faults(params)


@take_user
def list_posts(call: Call, world: World, user: Record) -> dict[str, Any]:
    """Return the page of the posts of a user."""
    most = _SHORTEST if "replies" in (call.params.get("excluded") or ()) else _LONGEST
    match, may_see = {"_user_id": user["id"]}, make_sight(call, world)
    return _show(call, world, _take(call, world, match, most=most, where=may_see))


@take_user
def list_mentions(call: Call, world: World, user: Record) -> dict[str, Any]:
    """Return the page of the posts that mention a user."""
    may_see = make_sight(call, world)
    page = _take(
        call,
        world,
        {"_reposted_post_id": None},
        most=_SHORTEST,
        term=Term(_MENTIONING, user["id"]),
        where=lambda post: post["_user_id"] != user["id"] and may_see(post),
    )
    return _show(call, world, page)


def list_home(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the posts of the caller and of those whom the caller follows."""
    user_id = get_user(call)["id"]
    may_see, shown_authors = make_sight(call, world), FOLLOWS.find_targets(world, user_id, user_id)

    @cache
    def is_wanted(author_id: str) -> bool:
        muted = MUTES.find(world, user_id, author_id) is not None
        return not muted and not is_blocked(world, user_id, author_id)

    @cache
    def shows_reposts(author_id: str) -> bool:
        return HIDDEN_REPOSTS.find(world, user_id, author_id) is None

    def is_shown(post: Record) -> bool:
        author, answered = post["_user_id"], post.get("in_reply_to_user_id_str")
        original = world.store.get("posts", post.get("_reposted_post_id") or "")
        return (
            may_see(post)
            and is_wanted(author)
            and (answered in {None, author} or author == user_id or answered in shown_authors)
            and (not post.get("_community_id") or bool(post.get("_share_with_followers")))
            and (original is None or (is_wanted(original["_user_id"]) and shows_reposts(author)))
        )

    within = Within("_user_id", shown_authors)
    page = _take(call, world, {}, most=_LONGEST, scope=user_id, within=within, where=is_shown)
    return _show(call, world, page)


def _take(
    call: Call,
    world: World,
    match: Mapping[str, Any],
    *,
    most: int,
    where: Callable[[Record], bool] | None = None,
    scope: str = "",
    **more: Any,
) -> TokenPage:
    """Return the page of posts that lie in the window of the call, the newest version of each."""
    window = read_window(call, world.clock.now(), recent=False, reach=None)

    def is_shown(post: Record) -> bool:
        is_wanted = where is None or where(post)
        return is_wanted and window.contains(post) and is_latest(post)

    start, end = window.times
    match = {**match, **match_excluded(call)}
    if window.since_id is not None:
        # Programs ask again and again for what is newer than the last post that they know. Few
        # posts have a larger id, and none that is older than these has to be looked at.
        known = ((1, window.since_id), _BEHIND)
        newer = world.store.page(
            "posts", match, order=_LARGEST_ID_FIRST, until=known, limit=_FEW_POSTS, **more
        )
        if len(newer) < _FEW_POSTS:
            start = min((entry.record["created_at"] for entry in newer), default=end)
    return take_page_both_ways(
        call,
        world,
        "posts",
        match,
        form=TIMED_POSTS,
        where=is_shown,
        most=most,
        depth=most,
        begin=((2, end), -1),  # before all posts of that moment: times are texts, which are kind 2
        end=((2, start), -1),
        scope=scope,
        **more,
    )


def _show(call: Call, world: World, page: TokenPage) -> dict[str, Any]:
    ids = sorted(post["id"] for post in page.records)
    ends = {"newest_id": str(ids[-1]), "oldest_id": str(ids[0])} if ids else {}
    return show_posts(call, world, page, page.records, **ends)


_declare = partial(
    declare_public,
    auth=Auth(ANY_CALLER, scopes=("post.read", "users.read")),
    params=MentionsQuery,
    rules=find_time_faults,
    returns=TimelinePage,
    errors=("invalid-request", "resource-not-found", "usage-capped"),
    assumptions=(TIMELINE_SHAPES, TIMELINE_POSTS, FIELD_SELECTION, TOKEN_FORMS),
    may_assume=(HIDDEN_USERS, PARTIAL_ERRORS, COUNTED_ONCE),
)
OPERATIONS = (
    _declare(
        "timelines.posts",
        "GET /2/users/:id/posts",
        list_posts,
        "List the posts of a user",
        limit=Rates(app=10_000, user=900),
        price=OWN_POST_READ,
    ),
    _declare(
        "timelines.mentions",
        "GET /2/users/:id/mentions",
        list_mentions,
        "List the posts that mention a user",
        limit=Rates(app=450, user=300),
        price=OWN_POST_READ,
    ),
    _declare(
        "timelines.home",
        "GET /2/users/:id/timelines/reverse_chronological",
        list_home,
        "List the posts of those whom the caller follows",
        params=HomeQuery,
        auth=Auth(ANY_USER, scopes=("post.read", "users.read")),
        limit=Rates(user=180),
        errors=("invalid-request", "usage-capped"),
        price=POST_READ,
    ),
)
