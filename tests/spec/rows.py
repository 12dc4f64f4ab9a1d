"""Rows of the documents that several tests check together: by heading, how each row begins."""

from __future__ import annotations

Rows = dict[str, list[str]]

_ID_FILTERS = [
    "tailored_audiences.permissions.list",
    "account_media.list",
    "cards.list",
    "cards_poll.list",
    "cards_video_conversation.list",
    "accounts.list",
]
_WRITTEN = [*_ID_FILTERS, "line_item_curated_categories.list"]
_SORTED = [*_WRITTEN, "account_apps.list"]
_COUNTED = [*_SORTED, "curated_categories.list"]
_PRODUCTS = ["product_catalogs.products.list", "media_library.list"]
ID_FILTERS: Rows = {"operations": _ID_FILTERS}
"""Lists that take ids."""
WRITTEN: Rows = {"operations": [*_WRITTEN, *_PRODUCTS]}
"""Lists whose records come and go."""
SORTED: Rows = {"operations": _SORTED}
"""Lists with sort_by."""
COUNTED: Rows = {"operations": _COUNTED}
"""Lists with with_total_count."""
PAGED: Rows = {"operations": [*_COUNTED, *_PRODUCTS, "account_history.list"]}
"""Lists with count and cursor."""

REPLAY = "A, POST {base_url}/2/webhooks/replay"
REPLAY_REQUEST = "A, Replay job create request"
REPLAY_RESPONSE = "A, Replay job create response (HTTP 200, application/json)"
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
