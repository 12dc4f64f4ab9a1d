"""What a line item promotes: posts, or an account that wants followers.

A post of a user for reposts only is promoted by a repost that the account's own user makes.
"""

from __future__ import annotations

from mock_platform.api.ads.accounts.history import HISTORY_ENTRIES, record_change
from mock_platform.api.ads.accounts.users_and_apps import (
    FULL,
    FULL_USER,
    REPOSTS_ONLY,
    find_full_user,
    find_promotable_type,
)
from mock_platform.api.ads.campaigns.line_item_parts import (
    APPROVAL_STATUS,
    INCOMPATIBLE,
    add_part,
    find_line_item,
    make_approval_kind,
    make_deletion_recorder,
    make_settler,
    require_product,
)
from mock_platform.api.ads.campaigns.records import PromotedAccountRecord, PromotedPostRecord
from mock_platform.api.ads.conventions import Several, fail, may_use_campaigns
from mock_platform.api.ads.filters import ExactFilter, IdsFilter
from mock_platform.api.ads.resource import LINE_ITEM, TIMESTAMPS, Resource, apply_changes
from mock_platform.api.v2.objects.post_text import make_source
from mock_platform.api.v2.posts.changes import repost
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.fields import CommaList, Long, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MOST_POSTS = 50
TIMELINE = "PLATFORM_TIMELINE"

PROMOTED_POSTS_SHAPE = public_fact(
    "promoted-posts.all",
    "Promoted posts are listed, read, created (up to 50 posts at once, all or none) and deleted as "
    "documented publicly; the spec only names them.",
    "adjacent operations, section 5",
    gap=True,
)
PROMOTED_POSTS_WHOSE = public_fact(
    "promoted-posts.whose",
    "An account promotes posts of its FULL promotable user, and posts that were made through it. "
    "Of a REPOSTS_ONLY user it promotes a new nullcast repost. An unknown post answers 404 "
    "POST_NOT_FOUND, another user's 403 ACTION_NOT_ALLOWED.",
    "adjacent operations, section 5",
)
PROMOTED_POSTS_PROMOTED_TWICE = expectation(
    "promoted-posts.promoted-twice",
    "Promoting a post again on the same line item returns the promotion that exists.",
)
PROMOTED_POSTS_TIMELINE_PLACEMENT = public_fact(
    "promoted-posts.timeline-placement",
    "A post promoted by a PROMOTED_ACCOUNT line item adds PLATFORM_TIMELINE to its placements.",
    "adjacent operations, section 5",
)

PROMOTED_POSTS = Resource(
    name="promoted_posts",
    path="/12/accounts/:account_id/promoted_posts",
    schema=PromotedPostRecord,
    noun="promoted post",
    spec="Endpoints not shown",
    missing="PROMOTED_POST_NOT_FOUND",
    parent=LINE_ITEM,
    origin=Origin.NAMED,
    assumptions=(PROMOTED_POSTS_SHAPE,),
    gates=(may_use_campaigns,),
)
PROMOTED_POSTS_KIND = make_approval_kind("promoted_post", PROMOTED_POSTS.table)
_settle = make_settler(PROMOTED_POSTS_KIND.name, PROMOTED_POSTS)


class PromotedPostCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    post_ids = CommaList(Long(), required=True, most=MOST_POSTS)


def create_promoted_post(call: Call, world: World) -> list[Record]:
    """Promote posts by a line item, all of them or none.

    Raises:
        AdsFailure: The line item is of another product, or posts cannot be promoted.
    """
    # All or none: everything that can be refused is checked before the first record is made.
    line_item = find_line_item(call, world, call.params["line_item_id"])
    require_product(line_item, "PROMOTED_POSTS", "PROMOTED_ACCOUNT")
    posts = _find_posts(call, world)
    promoted = _find_promoted(world, line_item["id"])
    made = []
    for post in posts:
        record = promoted.get(post["id_str"])
        if record is None:
            fields = {
                "line_item_id": line_item["id"],
                "post_id": _find_promotable(call, world, post),
            }
            table, kind = PROMOTED_POSTS.table, PROMOTED_POSTS_KIND.name
            record = add_part(call, world, table, fields, entity="PROMOTED_POST", approval=kind)
        else:
            call.assume(PROMOTED_POSTS_PROMOTED_TWICE)
        made.append(record)
    if line_item["product_type"] == "PROMOTED_ACCOUNT":
        _add_timeline_placement(call, world, line_item)
    return made


def _find_posts(call: Call, world: World) -> list[Record]:
    """Return the posts to promote, each once.

    Raises:
        AdsFailure: Posts are unknown, or of users whom the account may not promote.
    """
    account_id = call.path_params["account_id"]
    found: list[Record] = []
    errors: list[AdsError] = []
    for number in dict.fromkeys(call.params["post_ids"]):
        post = world.store.get("posts", str(number))
        if post is None:
            text = f"No post has the id {number}"
            errors.append(AdsError("POST_NOT_FOUND", text, "post_ids"))
            continue
        own = post["_account_id"] == account_id
        if not own and find_promotable_type(world, account_id, post["_user_id"]) is None:
            text = f"Post {number} is not by a promotable user of account {account_id}"
            errors.append(AdsError("ACTION_NOT_ALLOWED", text, "post_ids"))
            continue
        found.append(post)
    if errors:
        call.assume(PROMOTED_POSTS_WHOSE)
        raise AdsFailure(*errors)
    return found


def _find_promoted(world: World, line_item_id: str) -> dict[str, Record]:
    """Return what a line item promotes, by post; a repost also by the post that it repeats."""
    found: dict[str, Record] = {}
    for entry in world.store.page(
        PROMOTED_POSTS.table, {"line_item_id": line_item_id, "deleted": False}
    ):
        post = world.store.get("posts", entry.record["post_id"]) or {}
        # A post for reposts only is promoted by a repost of it. The client names the original each
        # time, so the promotion is found by either id, and no second repost is made.
        for key in (entry.record["post_id"], post.get("_reposted_post_id")):
            if key is not None:
                found.setdefault(key, entry.record)
    return found


def _find_promotable(call: Call, world: World, post: Record) -> str:
    """Return the id of a post, or of a new nullcast repost if its author is for reposts only."""
    account_id = call.path_params["account_id"]
    if find_promotable_type(world, account_id, post["_user_id"]) != REPOSTS_ONLY:
        return str(post["id_str"])
    own = world.store.get("users", find_full_user(world, account_id) or "")
    if own is None:
        return str(post["id_str"])
    fields = {
        "nullcast": True,
        "scopes": {"followers": False},
        "source": make_source(call.caller.app),
        "_account_id": account_id,
    }
    return str(repost(world, own, post, fields=fields).record["id_str"])


def _add_timeline_placement(call: Call, world: World, line_item: Record) -> None:
    placements = line_item["placements"]
    if TIMELINE in placements or "ALL_ON_PLATFORM" in placements:
        return
    call.assume(PROMOTED_POSTS_TIMELINE_PLACEMENT)
    after = apply_changes(world, line_item, {"placements": [*placements, TIMELINE]})
    world.store.put("line_items", line_item["id"], after)
    record_change(call, world, "LINE_ITEM", line_item, after)


# Promoted accounts: users that a line item promotes to win followers: list, read, add, delete.

PRODUCT = "PROMOTED_ACCOUNT"

PROMOTED_ACCOUNTS_SHAPE = public_fact(
    "promoted-accounts.all",
    "Promoted accounts are listed, read, created and deleted as documented publicly; the spec does "
    "not name them. A user who is promoted already is not promoted again.",
    "adjacent operations, section 5",
    gap=True,
)
PROMOTED_ACCOUNTS_ELIGIBLE = expectation(
    "promoted-accounts.eligible",
    "An account can promote its FULL promotable user. Another user answers 400 INVALID_USER, an "
    "unknown one 403 USER_NOT_FOUND.",
)

PROMOTED_ACCOUNTS = Resource(
    name="promoted_accounts",
    path="/12/accounts/:account_id/promoted_accounts",
    schema=PromotedAccountRecord,
    noun="promoted account",
    spec="Line items",
    missing="PROMOTED_ACCOUNT_NOT_FOUND",
    parent=LINE_ITEM,
    origin=Origin.ADJACENT,
    assumptions=(PROMOTED_ACCOUNTS_SHAPE,),
    gates=(may_use_campaigns,),
)
PROMOTED_ACCOUNTS_KIND = make_approval_kind("promoted_account", PROMOTED_ACCOUNTS.table)
_promoted_accounts_settle = make_settler(PROMOTED_ACCOUNTS_KIND.name, PROMOTED_ACCOUNTS)


class PromotedAccountCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    user_id = Long(required=True)


def _require_product_of_any(call: Call, world: World) -> None:
    """Require that one of the line items in the filter promotes accounts.

    Raises:
        AdsFailure: INCOMPATIBLE_LINE_ITEM (400).
    """
    wanted = call.params.get("line_item_ids")
    if wanted is None:
        return
    account_id = call.path_params["account_id"]
    found = [world.store.get("line_items", key) or {} for key in wanted]
    mine = [item for item in found if item.get("_account_id") == account_id]
    if not any(item["product_type"] == PRODUCT for item in mine):
        text = f"None of the line items has the product type {PRODUCT}"
        raise fail(INCOMPATIBLE, text, "line_item_ids")


def create_promoted_account(call: Call, world: World) -> Record:
    """Promote a user by a line item; one who is promoted already stays so."""
    line_item = find_line_item(call, world, call.params["line_item_id"])
    require_product(line_item, PRODUCT)
    user_id = str(call.params["user_id"])
    _require_eligible(call, world, user_id)
    match = {"line_item_id": line_item["id"], "user_id": user_id, "deleted": False}
    promoted = world.store.page(PROMOTED_ACCOUNTS.table, match, limit=1)
    if promoted:
        return promoted[0].record
    fields = {"line_item_id": line_item["id"], "user_id": user_id}
    table, kind = PROMOTED_ACCOUNTS.table, PROMOTED_ACCOUNTS_KIND.name
    return add_part(call, world, table, fields, entity="PROMOTED_ACCOUNT", approval=kind)


def _require_eligible(call: Call, world: World, user_id: str) -> None:
    account_id = call.path_params["account_id"]
    if find_promotable_type(world, account_id, user_id) == FULL:
        return
    call.assume(PROMOTED_ACCOUNTS_ELIGIBLE)
    if world.store.get("users", user_id) is None:
        raise fail("USER_NOT_FOUND", f"No user has the id {user_id}", "user_id")
    text = f"User {user_id} is not the FULL promotable user of account {account_id}"
    raise fail("INVALID_USER", text, "user_id")


KINDS = (PROMOTED_POSTS_KIND, PROMOTED_ACCOUNTS_KIND)
OPERATIONS: tuple[Operation, ...] = (
    PROMOTED_POSTS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("promoted_post_ids")),
        sort=(*TIMESTAMPS, "paused"),
        show=_settle,
        assumptions=(APPROVAL_STATUS,),
    ),
    PROMOTED_POSTS.get(show=_settle, assumptions=(APPROVAL_STATUS,)),
    PROMOTED_POSTS.create(
        create_promoted_post,
        PromotedPostCreate,
        "Promote posts by a line item",
        returns=Several(PromotedPostRecord),
        assumptions=(APPROVAL_STATUS, PROMOTED_POSTS_WHOSE, FULL_USER),
        may_assume=(
            PROMOTED_POSTS_PROMOTED_TWICE,
            PROMOTED_POSTS_TIMELINE_PLACEMENT,
            HISTORY_ENTRIES,
        ),
        errors=("LINE_ITEM_NOT_FOUND", "POST_NOT_FOUND", "ACTION_NOT_ALLOWED", INCOMPATIBLE),
        statuses=(403, 404),
        example=Example(query={"line_item_id": "itttx", "post_ids": "1712850617439551491"}),
    ),
    PROMOTED_POSTS.delete(
        before=make_deletion_recorder("PROMOTED_POST"), may_assume=(HISTORY_ENTRIES,)
    ),
    PROMOTED_ACCOUNTS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("promoted_account_ids")),
        sort=(*TIMESTAMPS, "paused"),
        prepare=_require_product_of_any,
        show=_promoted_accounts_settle,
        assumptions=(APPROVAL_STATUS,),
    ),
    PROMOTED_ACCOUNTS.get(show=_promoted_accounts_settle, assumptions=(APPROVAL_STATUS,)),
    PROMOTED_ACCOUNTS.create(
        create_promoted_account,
        PromotedAccountCreate,
        "Promote a user by a line item",
        assumptions=(APPROVAL_STATUS, FULL_USER),
        may_assume=(PROMOTED_ACCOUNTS_ELIGIBLE, HISTORY_ENTRIES),
        errors=("LINE_ITEM_NOT_FOUND", "USER_NOT_FOUND", "INVALID_USER", INCOMPATIBLE),
        statuses=(403, 404),
        example=Example(query={"line_item_id": "iuj2q", "user_id": "2244994945"}),
    ),
    PROMOTED_ACCOUNTS.delete(
        before=make_deletion_recorder("PROMOTED_ACCOUNT"), may_assume=(HISTORY_ENTRIES,)
    ),
)
