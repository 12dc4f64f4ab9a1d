"""Ad accounts and what hangs on them (document B, "Account" and the sections after it)."""

from __future__ import annotations

from marshmallow import Schema

from mock_platform.core.fields import Choice, Flag, Instant, ListOf, Nested, Text
from mock_platform.core.table import Reference, Table

INDUSTRY_TYPES = (
    "AGENCY",
    "BUSINESS_TO_BUSINESS",
    "ONLINE_SERVICES",
    "EDUCATION",
    "FINANCIAL",
    "HEALTH",
    "GOVERNMENT",
    "MEDIA",
    "MOBILE",
    "RESTAURANT",
    "RETAIL",
    "TECHNOLOGY",
    "TRAVEL",
    "OTHER",
)


class Stamped(Schema):
    """What every record carries unless stated (document B, "Resources and fields")."""

    created_at = Instant(as_sent=True, required=True)
    updated_at = Instant(as_sent=True, required=True)
    deleted = Flag(load_default=False)


class PostGrant(Schema):
    """That an advertiser lets a user post on its behalf."""

    advertiser_user_id = Text(required=True)
    caller_user_id = Text(required=True)


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


ACCOUNTS = Table("accounts", AccountRecord, references=(Reference("_users", "users"),))
TABLES = (ACCOUNTS,)
