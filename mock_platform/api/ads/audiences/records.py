"""Audiences, who may use them, who is in them, and do-not-reach lists (document B).

The document shows permissions, targeted entries and do-not-reach lists; the audience record itself
has the shape of the public facts (section 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from marshmallow import fields, pre_load

from mock_platform.api.ads.audiences.membership import PROCESSING, TOO_SMALL
from mock_platform.core.fields import Choice, Flag, Instant, Integer, Json, ListOf, Text
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table, rename_fields
from mock_platform.world.store.interface import Record

PERMISSION_LEVELS = ("READ_ONLY", "READ_WRITE")
IDENTIFIERS = (
    "email",
    "device_id",
    "handle",
    "platform_id",
    "phone_number",
    "partner_user_id",
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
    permission_level = Choice(PERMISSION_LEVELS, load_default="READ_WRITE")


class OwnAudience(CustomAudience):
    """A custom audience as its update answers."""

    is_owner = Flag()


class CustomAudienceRecord(OwnAudience):
    """A custom audience as stored; tailored audiences of version 5 are the same records.

    `_size` is how many users it has while it is being processed and does not show its size.
    """

    _size = Integer(low=0, load_default=None, allow_none=True)


class TailoredAudiencePermissionRecord(Stamped):
    """A permission to use another account's audience, as version 5 serves it."""

    id = Text(required=True)
    granted_account_id = Text(required=True)
    permission_level = Choice(PERMISSION_LEVELS, required=True)
    tailored_audience_id = Text(dump_only=True)
    _audience_id = Text(required=True)


class CustomAudiencePermission(Stamped):
    """A permission to use another account's audience, as version 12 serves it."""

    id = Text(required=True)
    granted_account_id = Text(required=True)
    permission_level = Choice(PERMISSION_LEVELS, required=True)
    custom_audience_id = Text(dump_only=True)


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


def _check_user(record: Record) -> Iterator[tuple[str, str]]:
    for kind, values in record["identifiers"].items():
        if kind not in IDENTIFIERS:
            allowed = ", ".join(IDENTIFIERS)
            yield f"identifiers.{kind}", f"{kind!r} is no kind of identifier; kinds: {allowed}"
        elif not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            yield f"identifiers.{kind}", f"identifiers.{kind} must be an array of strings"


_AUDIENCE = Reference("_audience_id", "custom_audiences")

CUSTOM_AUDIENCES = Table(
    "custom_audiences",
    CustomAudienceRecord,
    references=(Reference("owner_account_id", "accounts"),),
)
AUDIENCE_PERMISSIONS = Table(
    "audience_permissions",
    TailoredAudiencePermissionRecord,
    references=(_AUDIENCE, Reference("granted_account_id", "accounts")),
    from_public=rename_fields(
        ("tailored_audience_id", "_audience_id"), ("custom_audience_id", "_audience_id")
    ),
)
DO_NOT_REACH_LISTS = Table(
    "do_not_reach_lists",
    DoNotReachListRecord,
    references=(Reference("_account_id", "accounts"),),
)
AUDIENCE_USERS = Table(
    "audience_users",
    AudienceUserRecord,
    key="_id",
    references=(Reference("_audience_id", "custom_audiences", "do_not_reach_lists"),),
    check=_check_user,
)
TABLES: tuple[Any, ...] = (
    CUSTOM_AUDIENCES,
    AUDIENCE_PERMISSIONS,
    DO_NOT_REACH_LISTS,
    AUDIENCE_USERS,
)
