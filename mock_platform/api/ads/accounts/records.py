"""Ad accounts and the records that belong to them (document B, "Account" and what follows)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mock_platform.core.fields import Choice, Instant, Integer, Json, ListOf, Nested, Text
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

ENTITIES = ("CAMPAIGN", "LINE_ITEM", "PROMOTED_POST", "TARGETING_CRITERIA", "PROMOTED_ACCOUNT")

INDUSTRY_TYPES = (
    "AGENCY", "BUSINESS_TO_BUSINESS", "ONLINE_SERVICES", "EDUCATION", "FINANCIAL", "HEALTH",
    "GOVERNMENT", "MEDIA", "MOBILE", "RESTAURANT", "RETAIL", "TECHNOLOGY", "TRAVEL", "OTHER",
)  # fmt: skip
COMPOSER = "POST_COMPOSER"
PERMISSIONS = (
    "ACCOUNT_ADMIN",
    "AD_MANAGER",
    "CREATIVE_MANAGER",
    "CAMPAIGN_ANALYST",
    "ANALYST",
    "PARTNER_AUDIENCE_MANAGER",
    COMPOSER,
)
"""What a user may be in an account."""
_MAY_COMPOSE = frozenset(PERMISSIONS[:3])
"""The permissions beside which POST_COMPOSER may be."""
PRODUCT_TYPES = ("MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_POSTS")


class PostGrant(Schema):
    """An advertiser's permission for a user to post on its behalf."""

    advertiser_user_id = Text(required=True)
    caller_user_id = Text(required=True)


class UserPermissions(Schema):
    """What one user of an account may do with it."""

    user_id = Text(required=True)
    permissions = ListOf(Choice(PERMISSIONS), required=True, least=1)


class AccountRecord(Stamped):
    """An ad account. `_users` may work with it; `_features` are the feature keys granted to it."""

    id = Text(required=True)
    name = Text(required=True)
    business_name = Text(load_default=None, allow_none=True)
    business_id = Text(load_default=None, allow_none=True)
    timezone = Text(load_default="America/Los_Angeles")
    timezone_switch_at = Instant(as_sent=True, load_default=None, allow_none=True)
    approval_status = Text(load_default="ACCEPTED")
    industry_type = Choice(INDUSTRY_TYPES, load_default=None, allow_none=True)
    _users = ListOf(Text(), load_default=list)
    _features = ListOf(Text(), load_default=list)
    _post_grants = ListOf(Nested(PostGrant), load_default=list)
    _user_access = ListOf(Nested(UserPermissions), load_default=list)
    """The permissions of its users; one without an entry is an administrator."""


PROMOTABLE_USER_TYPES = ("FULL", "REPOSTS_ONLY")


class PromotableUserRecord(Stamped):
    """A user whose posts an account may promote: its own (FULL, one per account) or another one."""

    id = Text(required=True)
    user_id = Text(required=True)
    promotable_user_type = Choice(PROMOTABLE_USER_TYPES, load_default="FULL")
    _account_id = Text(required=True)


class BusinessCategoryRecord(Schema):
    """An advertiser business category and the IAB categories that belong to it."""

    id = Text(required=True)
    name = Text(required=True)
    iab_categories = ListOf(
        Text(pattern=r"IAB\d{1,2}(?:-\d{1,2})?", pattern_text="an IAB code such as IAB8 or IAB8-5"),
        required=True,
        least=1,
    )


class CuratedCategoryRecord(Schema):
    """A set of publishers, available in its listed countries only."""

    id = Text(required=True)
    name = Text(required=True)
    description = Text(load_default=None, allow_none=True)
    # The form only: the list of all countries is too large to be read at each start.
    country_codes = ListOf(
        Text(pattern=r"[A-Z]{2}", pattern_text="an ISO 3166-1 alpha-2 code such as US"),
        required=True,
    )
    publisher_user_ids = ListOf(
        Text(pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits"), load_default=list
    )
    videos_monetized_in_last_thirty_days = Integer(low=0, load_default=0)
    created_at = Instant(as_sent=True, required=True)
    updated_at = Instant(as_sent=True, required=True)


class PlacementsRecord(Schema):
    """The combinations of placements that line items of a product type may have."""

    product_type = Choice(PRODUCT_TYPES, required=True)
    placements = ListOf(ListOf(Text(min_length=1), least=1), required=True)
    _id = Text(required=True)


class ChangedBy(Schema):
    """Who changed an entity, and on which platform."""

    user_id = Text(required=True)
    platform = Text(load_default="API_OTHER")


class AccountHistoryRecord(Schema):
    """One entry of an account's history: an entity before and after a change."""

    change_by = Nested(ChangedBy, required=True)
    changes = Json(load_default=dict)
    change_time = Instant(required=True)
    change_type = Choice(("CREATE", "UPDATE", "DELETE"), required=True)
    entity = Choice(ENTITIES, required=True)
    entity_id = Text(required=True)
    entity_data = Json(load_default=dict)
    _id = Text(required=True)
    _account_id = Text(required=True)


def _check_access(record: Record) -> Iterator[tuple[str, str]]:
    for entry in record["_user_access"]:
        if entry["user_id"] not in record["_users"]:
            text = f"user {entry['user_id']} has permissions but is no user of the account; "
            yield "_user_access", text + "add the id to the field _users, or remove this entry"
        if COMPOSER in entry["permissions"] and _MAY_COMPOSE.isdisjoint(entry["permissions"]):
            allowed = ", ".join(sorted(_MAY_COMPOSE))
            yield "_user_access", f"{COMPOSER} needs one of {allowed} beside it"


def _draw_account(draft: Draft) -> Record:
    user = draft.first("users")
    return {"name": draft.company(), "_users": [] if user is None else [user["id"]]}


ACCOUNTS = Table(
    "accounts",
    AccountRecord,
    references=(Reference("_users", "users"),),
    check=_check_access,
    draw=_draw_account,
    is_scope=True,
)
PROMOTABLE_USERS = Table(
    "promotable_users",
    PromotableUserRecord,
    references=(Reference("_account_id", "accounts"), Reference("user_id", "users")),
    once=("_account_id", "user_id"),
)
BUSINESS_CATEGORIES = Table("advertiser_business_categories", BusinessCategoryRecord)
CURATED_CATEGORIES = Table("curated_categories", CuratedCategoryRecord)
PLACEMENTS = Table("placements", PlacementsRecord, key="_id")
ACCOUNT_HISTORY = Table(
    "account_history",
    AccountHistoryRecord,
    key="_id",
    references=(Reference("_account_id", "accounts"),),
)
TABLES = (
    ACCOUNTS,
    PROMOTABLE_USERS,
    BUSINESS_CATEGORIES,
    CURATED_CATEGORIES,
    PLACEMENTS,
    ACCOUNT_HISTORY,
)
