"""Lists of posts: those of an account that are out, drafted or scheduled, and their previews.

Document B shows the name ("Posting on behalf of an advertiser"); the list is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape, unescape
from typing import Any

from msgspec.structs import replace

from mock_platform.api.ads.accounts.users_and_apps import find_full_user, find_promotable_type
from mock_platform.api.ads.advertiser_posts.operations import may_post
from mock_platform.api.ads.advertiser_posts.plans import KIND_NAME
from mock_platform.api.ads.advertiser_posts.records import LongId, show_plan
from mock_platform.api.ads.conventions import Data, Many, One, ads, fail, not_found
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, list_parameters, paginate
from mock_platform.api.v2.objects.post_text import Links, find_links
from mock_platform.api.v2.objects.posts import (
    DRAFT,
    MAX_NAME_CHARACTERS,
    POST_TYPES,
    PUBLISHED,
    SCHEDULED,
    ListedPost,
    NamedPost,
    make_post_object,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Flag, Text
from mock_platform.core.operation import Echo, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# The posts of an account of every type, as its list and its previews show them.

PLAN_TABLES = {DRAFT: "draft_posts", SCHEDULED: "scheduled_posts"}


def find_listed(world: World, account_id: str, kind: str, keys: Iterable[str]) -> list[Record]:
    """Return those posts of a type that an account may see, in the form of the 1.1 interface."""
    found = []
    for key in keys:
        record = world.store.get(PLAN_TABLES.get(kind, "posts"), key)
        if record is None or not _is_seen(world, account_id, kind, record):
            continue
        found.append(show_listed(world, kind, record))
    return found


def show_listed(
    world: World, kind: str, record: Record, *, trim: bool = False, links: Links | None = None
) -> Record:
    """Return a stored post, draft or scheduled post in the form of the 1.1 interface."""
    show = make_post_object if kind == PUBLISHED else show_plan
    return show(world, record, trim=trim, links=links)


def _is_seen(world: World, account_id: str, kind: str, record: Record) -> bool:
    if record["_account_id"] == account_id:
        return record.get("scheduled_status", SCHEDULED) == SCHEDULED or kind == PUBLISHED
    if kind != PUBLISHED:
        return False
    return find_promotable_type(world, account_id, record["_user_id"]) is not None


NAMED_SHAPE = public_fact(
    "posts.named-object",
    "The update of a name answers with the extended form beside the text that the spec names: "
    "full_text, display_text_range and post_id; post_id is echoed as a number. An empty name "
    "removes the name.",
    "section 3, long ids in echo; section 7, post create",
)
POSTS_LISTED = public_fact(
    "posts.all",
    "The posts of a user are listed in the extended form of the 1.1 interface: by default nullcast "
    "ones that are no replies, of the account's FULL promotable user.",
    "adjacent operations, section 8.4",
    gap=True,
)
LISTED_AS = expectation(
    "posts.listed",
    "A draft has its own id as post_id, and so has a scheduled post until it is out; then it is "
    "listed as published. A text that begins with @ is a mention. user_id is a promotable user of "
    "the account, or one who lets the caller post; others answer 403 ACTION_NOT_ALLOWED.",
)
NULLCAST, ACCOUNT_POSTS_ALL, ORGANIC = "NULLCAST", "ALL", "ORGANIC"


class NameUpdate(Schema):
    """Parameters of the update of a name."""

    name = Text(required=True, max_length=MAX_NAME_CHARACTERS, allow_none=True)


def update_name(call: Call, world: World) -> Record:
    """Set or remove the name of a post of the account."""
    post_id = call.path_params["post_id"]
    post = world.store.get("posts", post_id)
    if post is None or post["_account_id"] != call.path_params["account_id"]:
        raise not_found("POST_NOT_FOUND", "post", "post_id", post_id)
    named = post | {"name": call.params["name"]}
    world.store.put("posts", post_id, named)
    shown = make_post_object(world, named, links=find_links(call))
    return shown | {"text": shown["full_text"]}


def list_account_posts(call: Call, world: World) -> PageOf:
    """Return one page of the posts, drafts or scheduled posts of a user.

    Raises:
        AdsFailure: The user does not exist, or the account may not show their posts (403).
    """
    world.transitions.evaluate_all(KIND_NAME)
    kind, timeline = call.params["post_type"], call.params["timeline_type"]
    user_id = _require_user(call, world)
    match: dict[str, Any] = {"_user_id": user_id}
    if kind != PUBLISHED:
        match = {"_account_id": call.path_params["account_id"], "user_id": user_id}
    if kind == SCHEDULED:
        match["scheduled_status"] = SCHEDULED
    if timeline != ACCOUNT_POSTS_ALL:
        match["nullcast"] = timeline == NULLCAST
    table, keys = PLAN_TABLES.get(kind, "posts"), call.params.get("post_ids")
    page = paginate(call, world, table, match, keys=keys, where=_make_test(call))
    trim = call.params["trim_user"]
    links = find_links(call)
    shown = [show_listed(world, kind, one, trim=trim, links=links) for one in page.records]
    return replace(page, records=shown)


def _require_user(call: Call, world: World) -> str:
    assert call.account is not None
    assert call.caller.user is not None
    account, caller = call.account, call.caller.user["id"]
    user_id: str | None = call.params.get("user_id")
    if user_id is None:
        return find_full_user(world, account["id"]) or caller
    if world.store.get("users", user_id) is None:
        raise fail("USER_NOT_FOUND", f"No user has the id {user_id}", "user_id")
    seen = find_promotable_type(world, account["id"], user_id) is not None
    if not seen and not may_post(account, caller, user_id):
        text = f"User {user_id} is not a promotable user of account {account['id']}"
        raise fail("ACTION_NOT_ALLOWED", text, "user_id")
    return user_id


def _make_test(call: Call) -> Callable[[Record], bool]:
    prefix = call.params.get("name", "").casefold()
    replies = call.params["include_mentions_and_replies"]

    def is_wanted(post: Record) -> bool:
        if prefix and not (post["name"] or "").casefold().startswith(prefix):
            return False
        text = str(post.get("full_text", post.get("text")))
        addressed = text.startswith("@") or post.get("in_reply_to_status_id") is not None
        return replies or not addressed

    return is_wanted


_ACCOUNT_POSTS_OPERATIONS: tuple[Operation, ...] = (
    ads(
        "posts.list",
        "GET",
        "/12/accounts/:account_id/posts",
        list_account_posts,
        summary="List the posts, drafts or scheduled posts of a user",
        spec="not shown",
        returns=Many(ListedPost),
        params=list_parameters(
            "PostsList",
            {
                "post_type": Choice(POST_TYPES, required=True),
                "post_ids": CommaList(LongId(), most=200),
                "user_id": LongId(),
                "timeline_type": Choice(
                    (NULLCAST, ACCOUNT_POSTS_ALL, ORGANIC), load_default=NULLCAST
                ),
                "name": Text(min_length=1, max_length=MAX_NAME_CHARACTERS),
                "include_mentions_and_replies": Flag(load_default=False),
                "trim_user": Flag(load_default=False),
            },
            with_deleted=False,
            with_total_count=False,
        ),
        origin=Origin.ADJACENT,
        errors=("USER_NOT_FOUND", "ACTION_NOT_ALLOWED"),
        statuses=(403,),
        assumptions=(NEXT_CURSOR, POSTS_LISTED, LISTED_AS),
    ),
    ads(
        "posts.update_name",
        "PUT",
        "/12/accounts/:account_id/posts/:post_id/name",
        update_name,
        summary="Set or remove the name of a post",
        spec="Posting on behalf of an advertiser",
        returns=One(NamedPost),
        params=NameUpdate,
        echo=Echo(numbers=("post_id",)),
        assumptions=(NAMED_SHAPE,),
        errors=("POST_NOT_FOUND",),
        statuses=(404,),
    ),
)


# Previews of posts: how posts, drafts and scheduled posts look, as frames to show in a page.

PREVIEW_ROWS = public_fact(
    "post-previews.all",
    "Previews are rows of post_id and an iframe, without next_cursor; ids of posts of another type "
    "or of others are left out.",
    "adjacent operations, section 8.4",
    gap=True,
)
PREVIEW_FRAME = expectation(
    "post-previews.frame", "The frame holds the name and the text of the post, and loads nothing."
)


class PreviewsQuery(Schema):
    """Parameters of the previews."""

    post_ids = CommaList(LongId(), required=True, most=200)
    post_type = Choice(POST_TYPES, required=True)


class PostPreview(Schema):
    """A preview of one post."""

    post_id = Text(required=True)
    preview = Text(required=True)


def list_post_previews(call: Call, world: World) -> list[dict[str, str]]:
    """Return a frame for each of the posts that the account may see."""
    world.transitions.evaluate_all(KIND_NAME)
    keys = list(dict.fromkeys(call.params["post_ids"]))
    found = find_listed(world, call.path_params["account_id"], call.params["post_type"], keys)
    return [{"post_id": post["id_str"], "preview": _make_frame(post)} for post in found]


def _make_frame(post: dict[str, object]) -> str:
    author = post["user"]
    assert isinstance(author, dict)
    name = escape(str(author.get("name", author["id_str"])))
    page = f"<p><b>{name}</b></p><p>{escape(unescape(str(post['full_text'])))}</p>"
    return f'<iframe class="post-preview" sandbox="" srcdoc="{escape(page)}"></iframe>'


_POST_PREVIEWS_OPERATIONS: tuple[Operation, ...] = (
    ads(
        "post_previews.list",
        "GET",
        "/12/accounts/:account_id/post_previews",
        list_post_previews,
        summary="Preview posts",
        spec="Endpoints not shown",
        returns=Data(PostPreview, many=True),
        params=PreviewsQuery,
        origin=Origin.ADJACENT,
        assumptions=(PREVIEW_ROWS, PREVIEW_FRAME),
    ),
)


OPERATIONS = (*_ACCOUNT_POSTS_OPERATIONS, *_POST_PREVIEWS_OPERATIONS)
