"""Every operation in one table: a module per path family, nothing registers by side effect."""

from mock_platform.core.operation import NotServed, Operation, table
from mock_platform.operations import (
    account_activity,
    account_apps,
    account_history,
    account_media,
    accounts,
    advertiser_business_categories,
    audience_estimate,
    cards,
    cards_poll,
    cards_video_conversation,
    curated_categories,
    custom_audiences,
    do_not_reach_lists,
    features,
    insights,
    line_item_curated_categories,
    line_items,
    media_library,
    oauth,
    oauth2,
    placements,
    post,
    posts,
    product_catalogs,
    product_sets,
    tailored_audiences,
    webhooks,
)
from mock_platform.world.transitions import Kind

_FAMILIES = (
    oauth,
    webhooks,
    account_activity,
    oauth2,
    account_media,
    cards,
    cards_poll,
    cards_video_conversation,
    media_library,
    post,
    posts,
    accounts,
    account_apps,
    account_history,
    advertiser_business_categories,
    audience_estimate,
    curated_categories,
    features,
    placements,
    line_items,
    line_item_curated_categories,
    insights,
    product_sets,
    product_catalogs,
    tailored_audiences,
    do_not_reach_lists,
    custom_audiences,
)

OPERATIONS: tuple[Operation, ...] = table(*(family.OPERATIONS for family in _FAMILIES))
"""All operations that are served."""

NOT_SERVED: tuple[NotServed, ...] = tuple(
    path for family in _FAMILIES for path in getattr(family, "NOT_SERVED", ())
)
"""Paths that are not served, and that would otherwise match the path of a record."""

KINDS: tuple[Kind, ...] = tuple(
    kind for family in _FAMILIES for kind in getattr(family, "KINDS", ())
)
"""All kinds of slow state changes."""
