"""Rows of the documents that several tests check together: by heading, how each row begins."""

from __future__ import annotations

Rows = dict[str, list[str]]

ID_FILTERS: Rows = {
    "B, Tailored audience permissions (version 5)": ["GET: count (default"],
    "B, Account media": ["GET /12/accounts/:account_id/account_media: account_media_ids"],
    "B, Cards": ["GET /12/accounts/:account_id/cards: card_types"],
    "B, Poll cards": ["GET /12/accounts/:account_id/cards/poll: card_ids"],
    "B, Video conversation cards": ["GET /12/accounts/:account_id/cards/video_conversation"],
    "B, Accounts": ["GET /12/accounts: account_ids"],
}
"""Lists that take ids."""
_LINKS: Rows = {
    "B, Line item curated categories": ["GET /12/accounts/:account_id/line_item_curated_categories"]
}
_APPS = "GET /12/accounts/:account_id/account_apps"
_CATEGORIES = "GET /12/accounts/:account_id/curated_categories: list"
_HISTORY = "GET /12/accounts/:account_id/account_history"
WRITTEN: Rows = (
    ID_FILTERS
    | _LINKS
    | {
        "B, Product catalogs (early access only)": [
            "GET /product_catalogs/:product_catalog_id/products"
        ],
        "B, Media library": ["GET /12/accounts/:account_id/media_library: count"],
    }
)
"""Lists whose records come and go."""
SORTED: Rows = ID_FILTERS | _LINKS | {"B, Accounts": [*ID_FILTERS["B, Accounts"], _APPS]}
"""Lists with sort_by."""
COUNTED: Rows = SORTED | {"B, Accounts": [*SORTED["B, Accounts"], _CATEGORIES]}
"""Lists with with_total_count."""
PAGED: Rows = WRITTEN | {"B, Accounts": [*COUNTED["B, Accounts"], _HISTORY]}
"""Lists with count and cursor."""

PROBLEM_OBJECT = "A, Problem object (media type application/problem+json, modelled on RFC 7807)"
EVERY_PROBLEM: Rows = {
    PROBLEM_OBJECT: [
        "about:blank: Generic",
        "client-disconnected",
        "client-forbidden",
        "conflict: A new",
        "disallowed-resource",
        "duplicate-rules",
        "invalid-request",
        "invalid-rules: Submitted",
        "noncompliant-rules",
        "not-authorized-for-field",
        "not-authorized-for-resource",
        "operational-disconnect",
        "resource-not-found",
        "resource-unavailable",
        "rule-cap: Maximum",
        "streaming-connection",
        "unsupported-authentication",
        "usage-capped: A",
    ]
}
"""The eighteen types."""
