"""Draft posts: list, read, create, change, delete, preview (document B, "Endpoints not shown")."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, validates_schema
from msgspec import Struct

from mock_platform.api.ads.advertiser_posts.composer import GRANT, MEDIA_MIX, TEXT, find_text_faults
from mock_platform.api.ads.advertiser_posts.plans import (
    DELETED,
    NO_ACCOUNT,
    PLANS,
    WHOSE,
    change_plan,
    list_plans,
    make_plan,
)
from mock_platform.api.ads.advertiser_posts.records import DeletedDraftPost, DraftPostRecord, LongId
from mock_platform.api.ads.conventions import JSON_TYPE, Many, One, ads
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, list_parameters
from mock_platform.api.ads.resource import Resource
from mock_platform.api.v2.media.records import MediaKey
from mock_platform.api.v2.objects.post_texts import CARD_URI
from mock_platform.api.v2.objects.posts import MAX_NAME_CHARACTERS
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.schemas import REQUEST_ECHO
from mock_platform.core.example import Example
from mock_platform.core.fields import CommaList, Flag, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

PREVIEW = expectation(
    "draft-posts.preview",
    "The preview of a draft answers a message that names its user; nobody is notified.",
)

DRAFTS = Resource(
    name="draft_posts",
    table="draft_posts",
    path="/12/accounts/:account_id/draft_posts",
    id_parameter="draft_post_id",
    schema=DraftPostRecord,
    noun="draft post",
    spec="Endpoints not shown",
    soft=False,
)


class DraftUpdate(Schema):
    """Parameters of the update; an empty value removes what was there."""

    text = Text(allow_none=True)
    media_keys = CommaList(MediaKey(), most=4, allow_none=True)
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>", allow_none=True)
    nullcast = Flag()
    name = Text(max_length=MAX_NAME_CHARACTERS, allow_none=True)


class DraftCreate(Schema):
    """Parameters of the creation of a draft."""

    as_user_id = LongId(required=True)
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


def list_(call: Call, world: World) -> PageOf:
    """Return one page of the drafts of a user."""
    return list_plans(call, world, DRAFTS.table)


def create(call: Call, world: World) -> Record:
    """Keep a post that is made later, or never."""
    record = make_plan(call, world, DRAFTS.table)
    world.store.put(DRAFTS.table, record["id"], record)
    return record


def update(call: Call, world: World) -> Record:
    """Change a draft; only what is sent changes."""
    before = DRAFTS.get_by_id(call, world)
    if not call.params:
        return before
    after = change_plan(call, world, before)
    world.store.put(DRAFTS.table, after["id"], after)
    return after


def delete(call: Call, world: World) -> Record:
    """Delete a draft for good."""
    draft = DRAFTS.get_by_id(call, world)
    world.store.remove(DRAFTS.table, draft["id"])
    return draft | {"status": DELETED}


def preview(call: Call, world: World) -> str:
    """Say that the user of a draft can preview it."""
    draft = DRAFTS.get_by_id(call, world)
    user = world.store.get("users", draft["user_id"]) or {}
    return f"A preview of the draft was sent to @{user.get('screen_name', draft['user_id'])}."


_ONE = f"{DRAFTS.path}/:{DRAFTS.id_parameter}"
_REFUSALS = ("USER_NOT_FOUND", "ACTION_NOT_ALLOWED", "MEDIA_NOT_FOUND", "CARD_NOT_FOUND")

OPERATIONS: tuple[Operation, ...] = (
    ads(
        "draft_posts.list",
        "GET",
        DRAFTS.path,
        list_,
        summary="List draft posts",
        spec=DRAFTS.spec,
        returns=Many(DraftPostRecord),
        params=list_parameters(
            "DraftPostsList",
            {"user_id": LongId()},
            count=100,
            most=200,
            with_deleted=False,
            with_total_count=False,
        ),
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        assumptions=(NEXT_CURSOR, PLANS, WHOSE),
    ),
    DRAFTS.get(with_deleted=False, echo=NO_ACCOUNT, origin=Origin.NAMED, assumptions=(PLANS,)),
    ads(
        "draft_posts.create",
        "POST",
        DRAFTS.path,
        create,
        summary="Create a draft post",
        spec=DRAFTS.spec,
        returns=One(DraftPostRecord),
        params=DraftCreate,
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        errors=(*_REFUSALS, "POST_CANNOT_BE_BLANK"),
        statuses=(403, 404),
        assumptions=(PLANS, GRANT),
        may_assume=(TEXT, MEDIA_MIX),
        example=Example(query={"as_user_id": "2244994945", "text": "Fresh from the roaster"}),
    ),
    ads(
        "draft_posts.update",
        "PUT",
        _ONE,
        update,
        summary="Change a draft post",
        spec=DRAFTS.spec,
        returns=One(DraftPostRecord),
        params=DraftUpdate,
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        errors=("NOT_FOUND", *_REFUSALS[2:], "POST_CANNOT_BE_BLANK"),
        statuses=(404,),
        assumptions=(PLANS,),
        may_assume=(TEXT, MEDIA_MIX),
    ),
    ads(
        "draft_posts.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Delete a draft post for good",
        spec=DRAFTS.spec,
        returns=One(DeletedDraftPost),
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        errors=("NOT_FOUND",),
        statuses=(404,),
        assumptions=(PLANS,),
    ),
    ads(
        "draft_posts.preview",
        "POST",
        f"{DRAFTS.path}/preview/:{DRAFTS.id_parameter}",
        preview,
        summary="Send a preview of a draft post",
        spec=DRAFTS.spec,
        returns=Message(),
        origin=Origin.NAMED,
        echo=NO_ACCOUNT,
        errors=("NOT_FOUND",),
        statuses=(404,),
        assumptions=(PLANS, PREVIEW),
        example=Example(query={}),
    ),
)
