"""Drafts and scheduled posts: list, read, create, change, delete, and the preview of a draft.

Document B names them ("Endpoints not shown"). When the world's clock passes the moment of a
scheduled post, the post is made and promoted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from marshmallow import ValidationError, validates_schema
from msgspec import Struct

from mock_platform.api.ads.advertiser_posts.operations import (
    AUTHOR_DEFAULT,
    GRANT_NEEDED,
    MEDIA_MIX,
    TEXT_REQUIRED,
    default_author,
    find_text_faults,
)
from mock_platform.api.ads.advertiser_posts.plans import (
    DELETED,
    FINAL_STATUS,
    PLANS_OF_USER,
    PLANS_SERVED,
    POST_LIMIT,
    SCHEDULED,
    SCHEDULED_MOMENT,
    change_plan,
    find_moment_faults,
    list_plans,
    make_kind,
    make_plan,
    require_pending,
    require_room,
)
from mock_platform.api.ads.advertiser_posts.records import (
    DeletedDraftPost,
    DeletedScheduledPost,
    DraftPostRecord,
    LongId,
    ScheduledPostRecord,
    WholeMinute,
)
from mock_platform.api.ads.advertiser_posts.scheduled_promotions import promote_scheduled
from mock_platform.api.ads.conventions import JSON_TYPE, Many, One, ads
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, list_parameters
from mock_platform.api.ads.resource import Resource
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.objects.post_view import CARD_URI
from mock_platform.api.v2.objects.posts import MAX_NAME_CHARACTERS
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.schemas import REQUEST_ECHO
from mock_platform.core.fields import CommaList, Flag, Long, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Echo, Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

PREVIEW_ANSWER = expectation(
    "draft-posts.preview",
    "The preview of a draft answers a message that names its user; nobody is notified.",
)

DRAFTS = Resource(
    name="draft_posts",
    path="/12/accounts/:account_id/draft_posts",
    schema=DraftPostRecord,
    noun="draft post",
    spec="Endpoints not shown",
    soft=False,
)
SCHEDULED_POSTS = Resource(
    name="scheduled_posts",
    path="/12/accounts/:account_id/scheduled_posts",
    schema=ScheduledPostRecord,
    noun="scheduled post",
    spec="Endpoints not shown",
    soft=False,
)
KIND = make_kind(promote_scheduled)
KINDS = (KIND,)


class PlanUpdate(Schema):
    """Parameters of the update of a draft; an empty value removes what was there."""

    text = Text(allow_none=True)
    media_keys = CommaList(MediaKey(), most=4, allow_none=True)
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>", allow_none=True)
    nullcast = Flag()
    name = Text(max_length=MAX_NAME_CHARACTERS, allow_none=True)


class ScheduledUpdate(PlanUpdate):
    """Parameters of the update of a scheduled post."""

    scheduled_at = WholeMinute()


class PlanContent(Schema):
    """What drafts and scheduled posts say at their creation."""

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


class DraftAuthor(Schema):
    """Who is to post a draft; echoed as text."""

    as_user_id = LongId(required=True)


class ScheduledAuthor(Schema):
    """Who is to post, and when; the author is echoed as a number."""

    as_user_id = Long(required=True)
    scheduled_at = WholeMinute(required=True)


# Fields of the second base come first, and refusals are in the order of the fields.


class DraftCreate(PlanContent, DraftAuthor):
    """Parameters of the creation of a draft."""


class ScheduledCreate(PlanContent, ScheduledAuthor):
    """Parameters of the creation of a scheduled post."""


# -- drafts -------------------------------------------------------------------------------------


class Message(Struct, frozen=True):
    """A text under `message`, and no data."""

    schema: type[Schema] | None = None
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the body: a text beside the echo."""
        return {
            "type": "object",
            "properties": {"request": REQUEST_ECHO, "message": {"type": "string"}},
            "required": ["request", "message"],
            "additionalProperties": False,
        }

    def reply(self, call: Call, result: str) -> Reply:
        """Return the reply for a text."""
        body = {"request": {"params": call.echo}, "message": result}
        return Reply(self.status, dumps(body), [JSON_TYPE])


def list_drafts(call: Call, world: World) -> PageOf:
    """Return one page of the drafts of a user."""
    return list_plans(call, world, DRAFTS.table)


def create_draft(call: Call, world: World) -> Record:
    """Keep a post that is made later, or never."""
    record = make_plan(call, world, DRAFTS.table)
    world.store.put(DRAFTS.table, record["id"], record)
    return record


def update_draft(call: Call, world: World) -> Record:
    """Change a draft; only what is sent changes."""
    before = DRAFTS.get_by_id(call, world)
    if not call.params:
        return before
    after = change_plan(call, world, before)
    world.store.put(DRAFTS.table, after["id"], after)
    return after


def delete_draft(call: Call, world: World) -> Record:
    """Delete a draft for good."""
    draft = DRAFTS.get_by_id(call, world)
    world.store.remove(DRAFTS.table, draft["id"])
    return draft | {"status": DELETED}


def preview_draft(call: Call, world: World) -> str:
    """Say that the user of a draft can preview it."""
    draft = DRAFTS.get_by_id(call, world)
    user = world.store.get("users", draft["user_id"]) or {}
    return f"A preview of the draft was sent to @{user.get('screen_name', draft['user_id'])}."


# -- scheduled posts ----------------------------------------------------------------------------


def list_scheduled(call: Call, world: World) -> PageOf:
    """Return one page of the scheduled posts of a user."""
    world.transitions.evaluate_all(KIND.name)
    return list_plans(call, world, SCHEDULED_POSTS.table)


def create_scheduled(call: Call, world: World) -> Record:
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
    world.transitions.evaluate(KIND.name, record["id"])
    return record


def update_scheduled(call: Call, world: World) -> Record:
    """Change a scheduled post that is not out yet; only what is sent changes."""
    world.transitions.evaluate(KIND.name, call.path_params["scheduled_post_id"])
    before = require_pending(call, world, SCHEDULED_POSTS)
    if not call.params:
        return before
    after = change_plan(call, world, before)
    if after["scheduled_at"] != before["scheduled_at"]:
        require_room(world, after)
    world.store.put(SCHEDULED_POSTS.table, after["id"], after)
    return after


def delete_scheduled(call: Call, world: World) -> Record:
    """Delete a scheduled post for good, before it is out."""
    world.transitions.evaluate(KIND.name, call.path_params["scheduled_post_id"])
    record = require_pending(call, world, SCHEDULED_POSTS)
    world.store.remove(SCHEDULED_POSTS.table, record["id"])
    return record | {"scheduled_status": DELETED}


def _settle(call: Call, world: World, record: Record) -> Record:
    """Return a post that is read as it is now; each read counts where posts wait for reads."""
    world.transitions.evaluate(KIND.name, record["id"], poll=True)
    return world.store.get(SCHEDULED_POSTS.table, record["id"]) or record


_NO_ACCOUNT = Echo(hidden=("account_id",))
"""The echo of all operations, but for the number of a scheduled post."""
_NUMBER = Echo(numbers=(SCHEDULED_POSTS.id_parameter,), hidden=_NO_ACCOUNT.hidden)
_UNKNOWN = ("MEDIA_NOT_FOUND", "CARD_NOT_FOUND")
_BLANK, _FULL = "POST_CANNOT_BE_BLANK", "SCHEDULED_POST_LIMIT_EXCEEDED"
_ONE_DRAFT = f"{DRAFTS.path}/:{DRAFTS.id_parameter}"
_ONE_SCHEDULED = f"{SCHEDULED_POSTS.path}/:{SCHEDULED_POSTS.id_parameter}"
_LIST = partial(list_parameters, count=100, most=200, with_deleted=False, with_total_count=False)
_declare = partial(ads, spec=DRAFTS.spec, origin=Origin.NAMED)

OPERATIONS: tuple[Operation, ...] = (
    _declare(
        "draft_posts.list",
        "GET",
        DRAFTS.path,
        list_drafts,
        summary="List draft posts",
        returns=Many(DraftPostRecord),
        params=_LIST("DraftPostsList", {"user_id": LongId()}),
        echo=_NO_ACCOUNT,
        assumptions=(NEXT_CURSOR, PLANS_SERVED, PLANS_OF_USER),
    ),
    DRAFTS.get(
        with_deleted=False, echo=_NO_ACCOUNT, origin=Origin.NAMED, assumptions=(PLANS_SERVED,)
    ),
    _declare(
        "draft_posts.create",
        "POST",
        DRAFTS.path,
        create_draft,
        summary="Create a draft post",
        returns=One(DraftPostRecord),
        params=DraftCreate,
        echo=_NO_ACCOUNT,
        errors=("USER_NOT_FOUND", "ACTION_NOT_ALLOWED", *_UNKNOWN, _BLANK),
        statuses=(403, 404),
        assumptions=(PLANS_SERVED, GRANT_NEEDED),
        gates=(default_author,),
        may_assume=(TEXT_REQUIRED, MEDIA_MIX, AUTHOR_DEFAULT),
        example=Example(query={"as_user_id": "2244994945", "text": "Fresh from the roaster"}),
    ),
    _declare(
        "draft_posts.update",
        "PUT",
        _ONE_DRAFT,
        update_draft,
        summary="Change a draft post",
        returns=One(DraftPostRecord),
        params=PlanUpdate,
        echo=_NO_ACCOUNT,
        errors=("NOT_FOUND", *_UNKNOWN, _BLANK),
        statuses=(404,),
        assumptions=(PLANS_SERVED,),
        may_assume=(TEXT_REQUIRED, MEDIA_MIX),
    ),
    _declare(
        "draft_posts.delete",
        "DELETE",
        _ONE_DRAFT,
        delete_draft,
        summary="Delete a draft post for good",
        returns=One(DeletedDraftPost),
        echo=_NO_ACCOUNT,
        errors=("NOT_FOUND",),
        statuses=(404,),
        assumptions=(PLANS_SERVED,),
    ),
    _declare(
        "draft_posts.preview",
        "POST",
        f"{DRAFTS.path}/preview/:{DRAFTS.id_parameter}",
        preview_draft,
        summary="Send a preview of a draft post",
        returns=Message(),
        echo=_NO_ACCOUNT,
        errors=("NOT_FOUND",),
        statuses=(404,),
        assumptions=(PLANS_SERVED, PREVIEW_ANSWER),
        example=Example(query={}),
    ),
    _declare(
        "scheduled_posts.list",
        "GET",
        SCHEDULED_POSTS.path,
        list_scheduled,
        summary="List scheduled posts",
        returns=Many(ScheduledPostRecord),
        params=_LIST("ScheduledPostsList", {"user_id": LongId()}),
        echo=_NO_ACCOUNT,
        assumptions=(NEXT_CURSOR, PLANS_SERVED, PLANS_OF_USER, SCHEDULED_MOMENT),
    ),
    SCHEDULED_POSTS.get(
        with_deleted=False,
        show=_settle,
        echo=_NO_ACCOUNT,
        origin=Origin.NAMED,
        assumptions=(PLANS_SERVED, SCHEDULED_MOMENT),
    ),
    _declare(
        "scheduled_posts.create",
        "POST",
        SCHEDULED_POSTS.path,
        create_scheduled,
        summary="Schedule a post",
        returns=One(ScheduledPostRecord),
        params=ScheduledCreate,
        rules=find_moment_faults,
        echo=_NO_ACCOUNT,
        errors=("USER_NOT_FOUND", "ACTION_NOT_ALLOWED", *_UNKNOWN, _FULL, _BLANK),
        statuses=(403, 404),
        assumptions=(PLANS_SERVED, SCHEDULED_MOMENT, POST_LIMIT, GRANT_NEEDED),
        gates=(default_author,),
        may_assume=(TEXT_REQUIRED, MEDIA_MIX, AUTHOR_DEFAULT),
        example=Example(
            query={
                "as_user_id": "2244994945",
                "text": "Fresh from the roaster",
                "scheduled_at": "2027-03-01T08:00:00Z",
            }
        ),
    ),
    _declare(
        "scheduled_posts.update",
        "PUT",
        _ONE_SCHEDULED,
        update_scheduled,
        summary="Change a scheduled post",
        returns=One(ScheduledPostRecord),
        params=ScheduledUpdate,
        rules=find_moment_faults,
        echo=_NUMBER,
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED", *_UNKNOWN, _FULL, _BLANK),
        statuses=(403, 404),
        assumptions=(PLANS_SERVED, SCHEDULED_MOMENT, POST_LIMIT),
        may_assume=(TEXT_REQUIRED, MEDIA_MIX, FINAL_STATUS),
    ),
    _declare(
        "scheduled_posts.delete",
        "DELETE",
        _ONE_SCHEDULED,
        delete_scheduled,
        summary="Delete a scheduled post for good",
        returns=One(DeletedScheduledPost),
        echo=_NUMBER,
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED"),
        statuses=(403, 404),
        assumptions=(PLANS_SERVED,),
        may_assume=(FINAL_STATUS,),
    ),
)
