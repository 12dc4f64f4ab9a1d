"""Promotions that wait for a scheduled post: made, listed, and carried out when it is out."""

from __future__ import annotations

from mock_platform.api.ads.accounts.history import record_change_of
from mock_platform.api.ads.advertiser_posts.plans import KIND_NAME, SCHEDULED
from mock_platform.api.ads.advertiser_posts.records import ScheduledPromotedPostRecord
from mock_platform.api.ads.campaigns.line_item_parts import (
    INCOMPATIBLE,
    UNDER_REVIEW,
    add_part,
    find_line_item,
    require_product,
)
from mock_platform.api.ads.conventions import One, ads, fail, may_use_campaigns, not_found
from mock_platform.api.ads.filters import ExactFilter, IdsFilter
from mock_platform.api.ads.resource import (
    LINE_ITEM,
    Resource,
    apply_changes,
    draw_unused_id,
    make_timestamps,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Long, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Promotions that wait for a scheduled post: when it is out, each becomes a promoted post.

TABLE = "scheduled_promoted_posts"
_PROMOTED, _APPROVAL = "promoted_posts", "promoted_post"


def promote_scheduled(world: World, plan: Record, post: Record) -> None:
    """Promote a post that is out by the line items that wait for it."""
    match = {"scheduled_post_id": plan["id"], "deleted": False}
    for entry in world.store.page(TABLE, match):
        waiting = entry.record
        line_item = world.store.get("line_items", waiting["line_item_id"])
        if line_item is None or line_item["deleted"]:
            continue  # nothing can be promoted by it any more
        key = draw_unused_id(world, _PROMOTED)
        promoted = {
            "id": key,
            "line_item_id": waiting["line_item_id"],
            "post_id": post["id_str"],
            "entity_status": "ACTIVE",
            "approval_status": UNDER_REVIEW,
            **make_timestamps(world),
            "_account_id": waiting["_account_id"],
        }
        world.store.put(_PROMOTED, key, promoted)
        world.transitions.begin(_APPROVAL, key)
        promoted = world.store.get(_PROMOTED, key) or promoted
        user_id = plan["_caller_user_id"] or plan["user_id"]
        account_id = waiting["_account_id"]
        record_change_of(world, account_id, user_id, "PROMOTED_POST", None, promoted)
        after = apply_changes(world, waiting, {"post_id": post["id_str"]})
        world.store.put(TABLE, entry.key, after)


PROMOTIONS_WAIT = public_fact(
    "scheduled-promoted-posts.all",
    "A line item is associated with a scheduled post; post_id is null until the post is out, and "
    "then the line item promotes it. It can be deleted until then.",
    "adjacent operations, section 8.4",
    gap=True,
)
PROMOTION_REFUSALS = expectation(
    "scheduled-promoted-posts.refusals",
    "A scheduled post that is unknown answers 404 NOT_FOUND, one that is out or has failed 403 "
    "ACTION_NOT_ALLOWED, and so does deleting an association whose post is out. The same "
    "association again is returned as it is.",
)

SCHEDULED_PROMOTED_POSTS = Resource(
    name="scheduled_promoted_posts",
    table=TABLE,
    path="/12/accounts/:account_id/scheduled_promoted_posts",
    schema=ScheduledPromotedPostRecord,
    noun="scheduled promoted post",
    spec="Endpoints not shown",
    parent=LINE_ITEM,
    gates=(may_use_campaigns,),
)


class ScheduledPromotedPostCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    scheduled_post_id = Long(required=True)


def create(call: Call, world: World) -> Record:
    """Let a line item promote a post when it is out."""
    line_item = find_line_item(call, world, call.params["line_item_id"])
    require_product(line_item, "PROMOTED_POSTS", "PROMOTED_ACCOUNT")
    plan = _require_scheduled(call, world, str(call.params["scheduled_post_id"]))
    pair = {"line_item_id": line_item["id"], "scheduled_post_id": plan["id"]}
    for entry in world.store.page(TABLE, pair | {"deleted": False}, limit=1):
        call.assume(PROMOTION_REFUSALS)
        return entry.record
    return add_part(call, world, TABLE, pair | {"post_id": None})


def _require_scheduled(call: Call, world: World, key: str) -> Record:
    world.transitions.evaluate(KIND_NAME, key)
    plan = world.store.get("scheduled_posts", key)
    if plan is None or plan["_account_id"] != call.path_params["account_id"]:
        call.assume(PROMOTION_REFUSALS)
        raise not_found("NOT_FOUND", "scheduled post", "scheduled_post_id", key)
    if plan["scheduled_status"] != SCHEDULED:
        call.assume(PROMOTION_REFUSALS)
        text = f"Scheduled post {key} has the status {plan['scheduled_status']} already"
        raise fail("ACTION_NOT_ALLOWED", text, "scheduled_post_id")
    return plan


def _settle_all(call: Call, world: World) -> None:
    world.transitions.evaluate_all(KIND_NAME)


def _settle(call: Call, world: World, record: Record) -> Record:
    world.transitions.evaluate(KIND_NAME, record["scheduled_post_id"], poll=True)
    return world.store.get(TABLE, record["id"]) or record


def _require_waiting(call: Call, world: World, record: Record) -> None:
    if record["post_id"] is not None:
        call.assume(PROMOTION_REFUSALS)
        text = f"The scheduled post {record['scheduled_post_id']} is out and is promoted already"
        raise fail("ACTION_NOT_ALLOWED", text, "scheduled_promoted_post_id")


OPERATIONS: tuple[Operation, ...] = (
    SCHEDULED_PROMOTED_POSTS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("scheduled_promoted_post_ids")),
        prepare=_settle_all,
        origin=Origin.NAMED,
        assumptions=(PROMOTIONS_WAIT,),
    ),
    SCHEDULED_PROMOTED_POSTS.get(show=_settle, origin=Origin.NAMED, assumptions=(PROMOTIONS_WAIT,)),
    ads(
        "scheduled_promoted_posts.create",
        "POST",
        SCHEDULED_PROMOTED_POSTS.path,
        create,
        summary="Promote a scheduled post as soon as it is out",
        spec=SCHEDULED_PROMOTED_POSTS.spec,
        returns=One(ScheduledPromotedPostRecord),
        params=ScheduledPromotedPostCreate,
        origin=Origin.NAMED,
        errors=("LINE_ITEM_NOT_FOUND", "NOT_FOUND", "ACTION_NOT_ALLOWED", INCOMPATIBLE),
        statuses=(403, 404),
        assumptions=(PROMOTIONS_WAIT,),
        may_assume=(PROMOTION_REFUSALS,),
        example=Example(
            query={
                "line_item_id": "itttx",
                "scheduled_post_id": "1991600000000000203",
            }
        ),
        gates=(may_use_campaigns,),
    ),
    SCHEDULED_PROMOTED_POSTS.delete(
        prepare=_settle_all,
        before=_require_waiting,
        origin=Origin.NAMED,
        assumptions=(PROMOTIONS_WAIT,),
        may_assume=(PROMOTION_REFUSALS,),
    ),
)
