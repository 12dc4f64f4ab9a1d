"""How activity spreads over a day: keyword insights and figures of ads follow the same hours."""

from __future__ import annotations

BY_HOUR = (
    34, 26, 20, 17, 15, 16, 21, 31, 42, 50, 55, 58,
    61, 62, 61, 60, 61, 64, 69, 75, 80, 78, 66, 48,
)  # fmt: skip
"""Relative volumes of the hours of a day, UTC."""
HOUR_SECONDS = 3_600
DAY_SECONDS = 24 * HOUR_SECONDS
