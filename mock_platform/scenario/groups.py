"""The groups in which scenarios are shown, and those that are shown first."""

from __future__ import annotations

GROUPS = {
    "sign-in": "Sign-in and rights",
    "limits": "Limits and caps",
    "webhooks": "Webhooks and replay",
    "streams": "Streams",
    "campaigns": "Line items and campaigns",
    "creatives": "Creatives and media",
    "audiences": "Audiences",
    "posts": "Posts and users",
    "network": "Network",
    "requests": "Any request",
    "other": "Others",
}
"""What `group` in a scenario may be, with the title of each."""
OTHER = "other"
"""The group of a scenario that names none."""
MAIN = (
    "usage-capped",
    "line-item-deleted-twice",
    "answer-lost",
    "token-revoked-midway",
    "rate-limited",
    "webhook-receiver-down",
    "replay-conflict",
    "stream-cut",
    "outage",
    "slow-network",
    "user-token-expired",
    "flaky-network",
)
"""The scenarios that are shown before all groups, in this order: what clients meet most."""
