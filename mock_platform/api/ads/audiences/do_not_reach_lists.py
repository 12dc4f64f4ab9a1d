"""Do-not-reach lists: list, create, delete, and uploads of their users (document B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_platform.api.ads.audiences.records import (
    PROCESSING,
    SMALLEST_TARGETABLE_USERS,
    TOO_SMALL,
    DoNotReachListRecord,
    UserCounts,
    WithDeleted,
    make_processing,
    read_size,
)
from mock_platform.api.ads.audiences.users import (
    ASSUMPTIONS,
    EXAMPLE,
    HASH,
    OPERATION_TYPES,
    BatchRules,
    apply_uploads,
)
from mock_platform.api.ads.batches import as_operations
from mock_platform.api.ads.conventions import Batch, Many, One, ads, fail
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf
from mock_platform.api.ads.resource import Resource, apply_changes, draw_unused_id, make_timestamps
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Instant, ListOf, Nested, Text
from mock_platform.core.operation import Example, Location, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ECHO_WITHOUT_USERS = public_fact(
    "do-not-reach.echo-without-users",
    "request is an array parallel to data with params, users left out and times normalised, and "
    "operation_type.",
    "section 3, echo quirks",
)
LATEST_EXPIRY = settled(
    "do-not-reach.latest-expiry",
    "expires_at is optional, later than now and at most 13 calendar months ahead.",
    "B, Do-not-reach lists",
)

YOUNG_LIST = public_fact(
    "do-not-reach.young-list",
    "A new list is PROCESSING and TOO_SMALL, its size not shown, until its transition of kind "
    "do_not_reach_list, by default an hour after its creation. Afterwards list_size shows sizes "
    "from 100 users on, a smaller list is TOO_SMALL with list_size null. Uploads are taken all the "
    "time and start no new processing; the delete changes nothing of this.",
    "section 7, do-not-reach",
)

LISTED_AND_CREATED = public_fact(
    "do-not-reach.all",
    "Do-not-reach lists are listed and created as documented publicly; the spec shows neither. An "
    "account has one list; a second one answers 400 INVALID_PARAMETER.",
    "adjacent operations, section 7.3",
    gap=True,
)

LISTS = Resource(
    name="do_not_reach_lists",
    path="/12/accounts/:account_id/do_not_reach_lists",
    id_parameter="do_not_reach_list_id",
    schema=DoNotReachListRecord,
    noun="do-not-reach list",
    spec="Do-not-reach lists",
)
RULES = BatchRules(("email", "phone_number"), latest_months=13)


class DoNotReachListCreate(Schema):
    """Parameters of the creation."""

    description = Text()


class ListUser(Schema):
    """One user, by hashed identifiers."""

    email = ListOf(Text(pattern=HASH))
    phone_number = ListOf(Text(pattern=HASH))


class ListParams(Schema):
    """The `params` of one operation of the batch."""

    users = ListOf(Nested(ListUser), required=True, least=1)
    expires_at = Instant()


class ListOperation(Schema):
    """One operation of the batch."""

    class Meta:
        """The body is an array of operations."""

        many = True

    operation_type = Choice(OPERATION_TYPES, required=True)
    params = Nested(ListParams, required=True)


def upload_users(call: Call, world: World) -> tuple[Sequence[Any], Sequence[Mapping[str, Any]]]:
    """Add users to the list and remove users from it, all of them or none."""
    uploads = call.params["items"]
    settle(call, world)
    record = LISTS.get_by_id(call, world)
    size = max(0, read_size(record, "list_size") + apply_uploads(world, record["id"], uploads))
    processing = PROCESSING in record["reasons_not_targetable"]
    after = apply_changes(world, record, _make_size_fields(record, size, processing=processing))
    world.store.put(LISTS.table, record["id"], after)
    counts = [
        {"success_count": len(upload.users), "total_count": len(upload.users)} for upload in uploads
    ]
    return counts, [upload.describe(call.path_params) for upload in uploads]


def list_(call: Call, world: World) -> PageOf:
    """Return the lists of the account."""
    match: dict[str, Any] = {"_account_id": call.path_params["account_id"]}
    if not call.params["with_deleted"]:
        match["deleted"] = False
    keys = [entry.key for entry in world.store.page(LISTS.table, match)]
    for key in keys:
        world.transitions.evaluate(LIST.name, key, poll=True)
    return PageOf([entry.record for entry in world.store.pick(LISTS.table, keys)])


def create(call: Call, world: World) -> Record:
    """Create the list of the account, which is processed first.

    Raises:
        AdsFailure: INVALID_PARAMETER (400); the account has one.
    """
    account_id = call.path_params["account_id"]
    match = {"_account_id": account_id, "deleted": False}
    if world.store.page(LISTS.table, match, limit=1):
        raise fail("INVALID_PARAMETER", f"Account {account_id} has a do-not-reach list already")
    key = draw_unused_id(world, LISTS.table, 5)
    record: Record = {
        "id": key,
        "name": "Do Not Reach List",
        "description": call.params.get("description"),
        "targetable": False,
        "reasons_not_targetable": [PROCESSING, TOO_SMALL],
        "list_size": None,
        **make_timestamps(world),
        "_size": 0,
        "_account_id": account_id,
    }
    world.store.put(LISTS.table, key, record)
    world.transitions.begin(LIST.name, key)
    return world.store.get(LISTS.table, key) or record


def settle(call: Call, world: World) -> None:
    """Let the list of the path leave PROCESSING if it is due.

    Raises:
        AdsFailure: 404; the account has no list with this id.
    """
    world.transitions.evaluate(LIST.name, LISTS.get_by_id(call, world)["id"], poll=True)


def _make_size_fields(record: Mapping[str, Any], size: int, *, processing: bool) -> dict[str, Any]:
    """Return the fields of a list that follow from its size."""
    small = size < SMALLEST_TARGETABLE_USERS
    others = [r for r in record["reasons_not_targetable"] if r not in {PROCESSING, TOO_SMALL}]
    # A list that is being processed counts as too small, of any size.
    own = [PROCESSING, TOO_SMALL] if processing else [TOO_SMALL] if small else []
    reasons = [*own, *others]
    return {
        "targetable": not reasons,
        "reasons_not_targetable": reasons,
        "list_size": None if small or processing else size,
        "_size": size,
    }


LIST = make_processing("do_not_reach_list", LISTS.table, "list_size", _make_size_fields)
KINDS = (LIST,)


OPERATIONS = (
    ads(
        "do_not_reach_lists.list",
        "GET",
        LISTS.path,
        list_,
        summary="List do-not-reach lists",
        spec=LISTS.spec,
        returns=Many(DoNotReachListRecord),
        params=WithDeleted,
        origin=Origin.ADJACENT,
        assumptions=(LISTED_AND_CREATED, YOUNG_LIST, NEXT_CURSOR),
    ),
    ads(
        "do_not_reach_lists.create",
        "POST",
        LISTS.path,
        create,
        summary="Create a do-not-reach list",
        spec=LISTS.spec,
        returns=One(DoNotReachListRecord),
        params=DoNotReachListCreate,
        origin=Origin.ADJACENT,
        assumptions=(LISTED_AND_CREATED, YOUNG_LIST),
        example=Example(path={"account_id": "18ce5b7qk2c"}),
    ),
    ads(
        "do_not_reach_lists.users",
        "POST",
        "/12/batch/accounts/:account_id/do_not_reach_lists/:do_not_reach_list_id/users",
        upload_users,
        summary="Upload users of a do-not-reach list",
        spec=LISTS.spec,
        returns=Batch(UserCounts),
        params=ListOperation,
        location=Location.JSON,
        read_body=as_operations,
        rules=RULES.check,
        assumptions=(ECHO_WITHOUT_USERS, LATEST_EXPIRY, YOUNG_LIST),
        may_assume=ASSUMPTIONS,
        errors=("NOT_FOUND",),
        statuses=(404,),
        example=EXAMPLE,
    ),
    LISTS.delete(prepare=settle, assumptions=(YOUNG_LIST,)),
)
