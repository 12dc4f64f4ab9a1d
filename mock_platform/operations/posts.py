"""Posts of an account: the name of one, and a list of those that are out, drafted or scheduled.

Document B shows the name ("Posting on behalf of an advertiser"); the list is not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from mock_platform.core.ads import Many, One, ads, fail, not_found
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Flag, Text
from mock_platform.core.operation import Echo, Operation, Origin
from mock_platform.core.paging import NEXT_CURSOR, PageOf, list_parameters, paginate
from mock_platform.core.schema import Schema
from mock_platform.records.listed_posts import PLAN_TABLES, show_listed
from mock_platform.records.planned_posts import LongId
from mock_platform.records.posts import (
    MAX_NAME_CHARACTERS,
    POST_TYPES,
    PUBLISHED,
    SCHEDULED,
    ListedPost,
    NamedPost,
    make_post_object,
)
from mock_platform.rules.advertiser_posts import may_post
from mock_platform.rules.planned_posts import KIND_NAME
from mock_platform.rules.promotable_users import find_full_user, find_promotable_type
from mock_platform.store.interface import Record
from mock_platform.world.world import World

SHAPE = public_fact(
    "posts.named-object",
    "The update of a name answers with the extended form beside the text that the spec names: "
    "full_text, display_text_range and post_id; post_id is echoed as a number. An empty name "
    "removes the name.",
    "section 3, long ids in echo; section 7, post create",
)
LIST = public_fact(
    "posts.all",
    "The posts of a user are listed in the extended form of the 1.1 interface: by default nullcast "
    "ones that are no replies, of the account's FULL promotable user.",
    "adjacent operations, section 8.4",
    gap=True,
)
LISTED = expectation(
    "posts.listed",
    "A draft has its own id as post_id, and so has a scheduled post until it is out; then it is "
    "listed as published. A text that begins with @ is a mention. user_id is a promotable user of "
    "the account, or one who lets the caller post; others answer 403 ACTION_NOT_ALLOWED.",
)
NULLCAST, ALL, ORGANIC = "NULLCAST", "ALL", "ORGANIC"


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
    return make_post_object(world, named) | {"text": post["full_text"]}


def list_(call: Call, world: World) -> PageOf:
    """Return one page of the posts, drafts or scheduled posts of a user.

    Raises:
        AdsFailure: The user does not exist, or the account may not show their posts (403).
    """
    world.transitions.settle_all(KIND_NAME)
    kind, timeline = call.params["post_type"], call.params["timeline_type"]
    user_id = _require_user(call, world)
    match: dict[str, Any] = {"_user_id": user_id}
    if kind != PUBLISHED:
        match = {"_account_id": call.path_params["account_id"], "user_id": user_id}
    if kind == SCHEDULED:
        match["scheduled_status"] = SCHEDULED
    if timeline != ALL:
        match["nullcast"] = timeline == NULLCAST
    table, keys = PLAN_TABLES.get(kind, "posts"), call.params.get("post_ids")
    page = paginate(call, world, table, match, keys=keys, where=_make_test(call))
    trim = call.params["trim_user"]
    shown = [show_listed(world, kind, record, trim=trim) for record in page.records]
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


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "posts.list",
        "GET",
        "/12/accounts/:account_id/posts",
        list_,
        summary="List the posts, drafts or scheduled posts of a user",
        spec="not shown",
        returns=Many(ListedPost),
        params=list_parameters(
            "PostsList",
            {
                "post_type": Choice(POST_TYPES, required=True),
                "post_ids": CommaList(LongId(), most=200),
                "user_id": LongId(),
                "timeline_type": Choice((NULLCAST, ALL, ORGANIC), load_default=NULLCAST),
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
        assumptions=(NEXT_CURSOR, LIST, LISTED),
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
        assumptions=(SHAPE,),
        errors=("POST_NOT_FOUND",),
        statuses=(404,),
    ),
)
