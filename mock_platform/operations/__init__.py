"""Every operation in one table: a module per path family, nothing registers by side effect."""

from __future__ import annotations

from importlib import import_module

from mock_platform.core.operation import NotServed, Operation, table
from mock_platform.operations.openapi import DESCRIPTION_ID
from mock_platform.records.shared import SHARED_TABLES
from mock_platform.records.table import Table
from mock_platform.world.transitions import TransitionKind

FAMILIES = (
    "oauth",
    "oauth_pages",
    "webhooks",
    "activity",
    "posts_search_stream",
    "posts_search_stream_rules",
    "activity_stream",
    "posts_search_webhooks",
    "connections",
    "account_activity",
    "dm_conversations",
    "dm_events",
    "news",
    "usage",
    "media",
    "notes",
    "articles",
    "evaluate_note",
    "oauth2",
    "oauth2_user",
    "account_media",
    "cards",
    "cards_poll",
    "cards_video_conversation",
    "cards_image_conversation",
    "cards_all",
    "media_library",
    "public_posts",
    "users",
    "older_users",
    "post_search",
    "post",
    "posts",
    "draft_posts",
    "scheduled_posts",
    "scheduled_promoted_posts",
    "post_previews",
    "accounts",
    "account_apps",
    "account_history",
    "advertiser_business_categories",
    "authenticated_user_access",
    "promotable_users",
    "iab_categories",
    "content_categories",
    "publishers",
    "bidding_rules",
    "targeting_suggestions",
    "user_settings",
    "tax_settings",
    "audience_estimate",
    "curated_categories",
    "features",
    "placements",
    "funding_instruments",
    "campaigns",
    "line_items",
    "line_item_curated_categories",
    "promoted_posts",
    "promoted_accounts",
    "media_creatives",
    "tracking_tags",
    "preroll_call_to_actions",
    "targeting_criteria",
    "targeting_options",
    "insights",
    "stats",
    "stats_jobs",
    "product_sets",
    "product_catalogs",
    "scheduled_feeds",
    "tailored_audiences",
    "do_not_reach_lists",
    "custom_audiences",
    "custom_audiences_permissions",
    "custom_audiences_users",
)
"""The modules that declare operations. Each has `OPERATIONS`, and may have `TABLES`, `KINDS` and
`NOT_SERVED`."""

_MODULES = tuple(import_module(f"{__name__}.{name}") for name in FAMILIES)

OPERATIONS: tuple[Operation, ...] = table(*(module.OPERATIONS for module in _MODULES))
"""All operations that are served, except the description of the v2 interface itself."""
OPERATION_IDS: tuple[str, ...] = (*(operation.id for operation in OPERATIONS), DESCRIPTION_ID)
"""The ids of all operations."""

TABLES: tuple[Table, ...] = (
    *SHARED_TABLES,
    *(entry for module in _MODULES for entry in getattr(module, "TABLES", ())),
)
"""All tables of records: those that several families share, then those that one family has for
itself."""

NOT_SERVED: tuple[NotServed, ...] = tuple(
    path for module in _MODULES for path in getattr(module, "NOT_SERVED", ())
)
"""Paths that are not served, and that would otherwise match the path of a record."""

KINDS: tuple[TransitionKind, ...] = tuple(
    kind for module in _MODULES for kind in getattr(module, "KINDS", ())
)
"""All kinds of slow state changes."""
