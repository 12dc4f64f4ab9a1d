"""Audiences, who may use them, who is in them, and do-not-reach lists (document B).

The document shows permissions, targeted entries and do-not-reach lists; the audience record itself
has the shape of the public facts (section 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from marshmallow import fields, pre_load

from mock_platform.core.assumptions import public_fact
from mock_platform.core.fields import Choice, Flag, Instant, Integer, Json, ListOf, Text
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table, rename_fields
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind

AUDIENCES = "custom_audiences"
PERMISSIONS = "audience_permissions"
USERS = "audience_users"
PROCESSING = "PROCESSING"
PROCESSED = "PROCESSED"
FLEXIBLE = "FLEXIBLE"
"""The type of audiences that are combinations of others."""
TOO_SMALL = "TOO_SMALL"
SMALLEST_TARGETABLE_USERS = 100
READ_ONLY, READ_WRITE = PERMISSION_LEVELS = ("READ_ONLY", "READ_WRITE")
IDENTIFIERS = ("email", "device_id", "handle", "platform_id", "phone_number", "partner_user_id")

YOUNG_AUDIENCE = public_fact(
    "custom-audiences.young",
    "A new audience is PROCESSING and TOO_SMALL, its size not shown, until its transition of kind "
    "audience, by default an hour after its creation. Uploads are taken all the time.",
    "adjacent operations, section 7.1",
)


class CustomAudience(Stamped):
    """A custom audience as it is served."""

    id = Text(required=True)
    name = Text(required=True)
    description = Text(load_default=None, allow_none=True)
    audience_type = Text(load_default="CRM")
    audience_size = Integer(load_default=None, allow_none=True)
    targetable = Flag(load_default=True)
    targetable_types = ListOf(Text(), load_default=lambda: ["CRM", "EXCLUDED_CRM"])
    reasons_not_targetable = ListOf(Text(), load_default=list)
    owner_account_id = Text(required=True)
    partner_source = Text(load_default="OTHER")
    permission_level = Choice(PERMISSION_LEVELS, load_default=READ_WRITE)


class OwnAudience(CustomAudience):
    """A custom audience as its update answers."""

    is_owner = Flag()


class CustomAudienceRecord(OwnAudience):
    """A custom audience as stored; tailored audiences of version 5 are the same records.

    `_size` is how many users it has while it is being processed and does not show its size;
    `_segments` are the audiences of which a flexible one is made.
    """

    _size = Integer(low=0, load_default=None, allow_none=True)
    _segments = Json(load_default=None, allow_none=True)


class AudiencePermission(Stamped):
    """A permission to use another account's audience, without the key of the audience."""

    id = Text(required=True)
    granted_account_id = Text(required=True)
    permission_level = Choice(PERMISSION_LEVELS, required=True)


class CustomAudiencePermission(AudiencePermission):
    """A permission as version 12 serves it."""

    custom_audience_id = Text(dump_only=True)


class TailoredAudiencePermissionRecord(AudiencePermission):
    """A permission as it is stored, and as version 5 serves it."""

    tailored_audience_id = Text(dump_only=True)
    _audience_id = Text(required=True)


class AudienceUserRecord(Schema):
    """One user of an audience or do-not-reach list, by hashed identifiers."""

    _id = Text(required=True)
    _audience_id = Text(required=True)
    identifiers = Json(required=True)
    effective_at = Instant(load_default=None, allow_none=True)
    expires_at = Instant(load_default=None, allow_none=True)


class DoNotReachListRecord(Stamped):
    """A list of users that no campaign of the account may reach; a new one is being processed.

    `_size` is how many users it has, which `list_size` does not show of a young or small list.
    """

    id = Text(required=True)
    name = Text(load_default="Do Not Reach List")
    description = Text(load_default=None, allow_none=True)
    targetable = Flag(load_default=False)
    reasons_not_targetable = ListOf(Text(), load_default=lambda: [PROCESSING, TOO_SMALL])
    list_size = Integer(load_default=None, allow_none=True)
    _size = Integer(low=0, load_default=None, allow_none=True)
    _account_id = Text(required=True)

    @pre_load
    def fill_state(self, data: Any, **_: Any) -> Any:
        """Where only one of `targetable` and its reasons is given, derive the other one from it."""
        if not isinstance(data, dict):
            return data
        targetable, reasons = data.get("targetable"), data.get("reasons_not_targetable")
        if targetable is True and "reasons_not_targetable" not in data:
            return data | {"reasons_not_targetable": []}
        if reasons == [] and "targetable" not in data:
            return data | {"targetable": True}
        return data


class WithDeleted(Schema):
    """Whether what is deleted is shown."""

    with_deleted = Flag(load_default=False)


class TargetedLineItem(Schema):
    """A line item that targets an audience."""

    id = Text(required=True)
    name = Text(required=True, allow_none=True)
    servable = Flag(required=True)


class TargetedEntry(Schema):
    """A campaign with its line items that target an audience."""

    campaign_id = Text(required=True)
    campaign_name = Text(required=True)
    line_items = fields.List(fields.Nested(TargetedLineItem), required=True)


class UserCounts(Schema):
    """How many user records were sent and accepted; the two are equal."""

    success_count = Integer(required=True)
    total_count = Integer(required=True)


def read_size(record: Mapping[str, Any], field: str) -> int:
    """Return how many users an audience or list has, even if its `field` does not show it."""
    hidden: int | None = record.get("_size")
    return record[field] or 0 if hidden is None else hidden


def make_processing(
    name: str, table: str, field: str, describe: Callable[..., dict[str, Any]]
) -> TransitionKind:
    """Return how a new audience or list is processed, after which `field` shows its size.

    `describe` gets a record, its size and `processing`, and returns the fields that follow.
    """
    return TransitionKind(
        name,
        table,
        "reasons_not_targetable",
        PROCESSING,
        (PROCESSED,),
        Pace("time", seconds=3600),
        also=lambda record, to: describe(
            record, read_size(record, field), processing=to == PROCESSING
        ),
        read=lambda record: (
            PROCESSING if PROCESSING in record.get("reasons_not_targetable", ()) else PROCESSED
        ),
        since="created_at",
    )


def describe_audience_size(
    audience: Mapping[str, Any], size: int, *, processing: bool
) -> dict[str, Any]:
    """Return the fields of an audience that follow from its size."""
    own = [PROCESSING, TOO_SMALL] if processing else []
    if not processing and size < SMALLEST_TARGETABLE_USERS:
        own = [TOO_SMALL]
    others = [r for r in audience["reasons_not_targetable"] if r not in {PROCESSING, TOO_SMALL}]
    return {
        "targetable": not (own or others),
        "reasons_not_targetable": [*others, *own],
        "audience_size": None if processing else size,
        "_size": size if processing else None,
    }


AUDIENCE = make_processing("audience", AUDIENCES, "audience_size", describe_audience_size)


def _check_user(record: Record) -> Iterator[tuple[str, str]]:
    for kind, values in record["identifiers"].items():
        if kind not in IDENTIFIERS:
            allowed = ", ".join(IDENTIFIERS)
            yield f"identifiers.{kind}", f"{kind!r} is no kind of identifier; kinds: {allowed}"
        elif not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            yield f"identifiers.{kind}", f"identifiers.{kind} must be an array of strings"


TABLES = (
    Table(AUDIENCES, CustomAudienceRecord, references=(Reference("owner_account_id", "accounts"),)),
    Table(
        PERMISSIONS,
        TailoredAudiencePermissionRecord,
        references=(
            Reference("_audience_id", AUDIENCES),
            Reference("granted_account_id", "accounts"),
        ),
        from_public=rename_fields(
            ("tailored_audience_id", "_audience_id"), ("custom_audience_id", "_audience_id")
        ),
    ),
    Table(
        "do_not_reach_lists",
        DoNotReachListRecord,
        references=(Reference("_account_id", "accounts"),),
    ),
    Table(
        USERS,
        AudienceUserRecord,
        key="_id",
        references=(Reference("_audience_id", AUDIENCES, "do_not_reach_lists"),),
        check=_check_user,
    ),
)
