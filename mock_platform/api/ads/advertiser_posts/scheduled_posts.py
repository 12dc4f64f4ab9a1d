"""Scheduled posts: list, read, create, change, delete (document B, "Endpoints not shown").

When the world's clock passes a post's moment, the post is made and promoted.
"""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.advertiser_posts.composer import GRANT, MEDIA_MIX, TEXT, find_text_faults
from mock_platform.api.ads.advertiser_posts.plans import (
    CROWD,
    DELETED,
    DONE,
    MOMENT,
    NO_ACCOUNT,
    PLANS,
    SCHEDULED,
    WHOSE,
    change_plan,
    find_moment_faults,
    list_plans,
    make_kind,
    make_plan,
    require_pending,
    require_room,
)
from mock_platform.api.ads.advertiser_posts.records import (
    DeletedScheduledPost,
    LongId,
    ScheduledPostRecord,
    WholeMinute,
)
from mock_platform.api.ads.advertiser_posts.scheduled_promotions import promote_scheduled
from mock_platform.api.ads.conventions import Many, One, ads
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, list_parameters
from mock_platform.api.ads.resource import Resource
from mock_platform.api.v2.media.records import MediaKey
from mock_platform.api.v2.objects.post_texts import CARD_URI
from mock_platform.api.v2.objects.posts import MAX_NAME_CHARACTERS
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.fields import CommaList, Flag, Long, Text
from mock_platform.core.operation import Echo, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SCHEDULED_POSTS = Resource(
    name="scheduled_posts",
    table="scheduled_posts",
    path="/12/accounts/:account_id/scheduled_posts",
    id_parameter="scheduled_post_id",
    schema=ScheduledPostRecord,
    noun="scheduled post",
    spec="Endpoints not shown",
    soft=False,
)
KIND = make_kind(promote_scheduled)
KINDS = (KIND,)


class ScheduledUpdate(Schema):
    """Parameters of the update; an empty value removes what was there."""

    text = Text(allow_none=True)
    media_keys = CommaList(MediaKey(), most=4, allow_none=True)
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>", allow_none=True)
    nullcast = Flag()
    name = Text(max_length=MAX_NAME_CHARACTERS, allow_none=True)
    scheduled_at = WholeMinute()


class ScheduledCreate(Schema):
    """Parameters of the creation of a scheduled post."""

    as_user_id = Long(required=True)
    scheduled_at = WholeMinute(required=True)
    text = Text()
    media_keys = CommaList(MediaKey(), most=4)
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>")
    nullcast = Flag(load_default=True)
    name = Text(max_length=MAX_NAME_CHARACTERS)

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_text(self, data: Record, original: Any, **_: Any) -> None:
        """Require text or media."""
        faults = {name: [fault] for name, fault in find_text_faults(original)}
        if faults:
            raise ValidationError(faults)


def list_(call: Call, world: World) -> PageOf:
    """Return one page of the scheduled posts of a user."""
    world.transitions.settle_all(KIND.name)
    return list_plans(call, world, SCHEDULED_POSTS.table)


def create(call: Call, world: World) -> Record:
    """Schedule a post for a moment of the clock."""
    record = make_plan(call, world, SCHEDULED_POSTS.table) | {
        "scheduled_at": call.params["scheduled_at"],
        "completed_at": None,
        "scheduled_status": SCHEDULED,
        "post_id": None,
        "_failure": None,
    }
    require_room(world, record)
    world.store.put(SCHEDULED_POSTS.table, record["id"], record)
    world.transitions.settle(KIND.name, record["id"])
    return record


def update(call: Call, world: World) -> Record:
    """Change a scheduled post that is not out yet; only what is sent changes."""
    world.transitions.settle(KIND.name, call.path_params["scheduled_post_id"])
    before = require_pending(call, world, SCHEDULED_POSTS)
    if not call.params:
        return before
    after = change_plan(call, world, before)
    if after["scheduled_at"] != before["scheduled_at"]:
        require_room(world, after)
    world.store.put(SCHEDULED_POSTS.table, after["id"], after)
    return after


def delete(call: Call, world: World) -> Record:
    """Delete a scheduled post for good, before it is out."""
    world.transitions.settle(KIND.name, call.path_params["scheduled_post_id"])
    record = require_pending(call, world, SCHEDULED_POSTS)
    world.store.remove(SCHEDULED_POSTS.table, record["id"])
    return record | {"scheduled_status": DELETED}


def _settle(call: Call, world: World, record: Record) -> Record:
    """Return a post that is read as it is now; each read counts where posts wait for reads."""
    world.transitions.settle(KIND.name, record["id"], poll=True)
    return world.store.get(SCHEDULED_POSTS.table, record["id"]) or record


_ONE = f"{SCHEDULED_POSTS.path}/:{SCHEDULED_POSTS.id_parameter}"
_NUMBER = Echo(numbers=(SCHEDULED_POSTS.id_parameter,), hidden=NO_ACCOUNT.hidden)
_REFUSALS = ("MEDIA_NOT_FOUND", "CARD_NOT_FOUND", "SCHEDULED_POST_LIMIT_EXCEEDED")

OPERATIONS: tuple[Operation, ...] = (
    ads(
        "scheduled_posts.list",
        "GET",
        SCHEDULED_POSTS.path,
        list_,
        summary="List scheduled posts",
        spec=SCHEDULED_POSTS.spec,
        returns=Many(ScheduledPostRecord),
        params=list_parameters(
            "ScheduledPostsList",
            {"user_id": LongId()},
            count=100,
            most=200,
            with_deleted=False,
            with_total_count=False,
        ),
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        assumptions=(NEXT_CURSOR, PLANS, WHOSE, MOMENT),
    ),
    SCHEDULED_POSTS.get(
        with_deleted=False,
        show=_settle,
        echo=NO_ACCOUNT,
        origin=Origin.NAMED,
        assumptions=(PLANS, MOMENT),
    ),
    ads(
        "scheduled_posts.create",
        "POST",
        SCHEDULED_POSTS.path,
        create,
        summary="Schedule a post",
        spec=SCHEDULED_POSTS.spec,
        returns=One(ScheduledPostRecord),
        params=ScheduledCreate,
        rules=find_moment_faults,
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        errors=("USER_NOT_FOUND", "ACTION_NOT_ALLOWED", *_REFUSALS, "POST_CANNOT_BE_BLANK"),
        statuses=(403, 404),
        assumptions=(PLANS, MOMENT, CROWD, GRANT),
        may_assume=(TEXT, MEDIA_MIX),
        example=Example(
            query={
                "as_user_id": "2244994945",
                "text": "Fresh from the roaster",
                "scheduled_at": "2027-03-01T08:00:00Z",
            }
        ),
    ),
    ads(
        "scheduled_posts.update",
        "PUT",
        _ONE,
        update,
        summary="Change a scheduled post",
        spec=SCHEDULED_POSTS.spec,
        returns=One(ScheduledPostRecord),
        params=ScheduledUpdate,
        rules=find_moment_faults,
        origin=Origin.NAMED,
        echo=_NUMBER,
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED", *_REFUSALS, "POST_CANNOT_BE_BLANK"),
        statuses=(403, 404),
        assumptions=(PLANS, MOMENT, CROWD),
        may_assume=(TEXT, MEDIA_MIX, DONE),
    ),
    ads(
        "scheduled_posts.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Delete a scheduled post for good",
        spec=SCHEDULED_POSTS.spec,
        returns=One(DeletedScheduledPost),
        origin=Origin.NAMED,
        echo=_NUMBER,
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED"),
        statuses=(403, 404),
        assumptions=(PLANS,),
        may_assume=(DONE,),
    ),
)
