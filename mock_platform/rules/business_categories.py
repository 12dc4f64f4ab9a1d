"""The business categories that line items name: by IAB codes, or by ids."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mock_platform.core.assumptions import settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INVALID, MISSING
from mock_platform.world.world import World

CATEGORIES = settled(
    "line-items.categories",
    "categories takes IAB codes or business category ids; for PREROLL_VIEWS they must name one or "
    "two business categories; unknown ones answer 404 INVALID_IAB_CATEGORY.",
)
_IAB = re.compile(r"IAB\d{1,2}(?:-\d{1,2})?", re.ASCII)


def require_known_categories(call: Call, world: World, categories: Sequence[str]) -> None:
    """Require that each value names a category.

    Raises:
        AdsFailure: INVALID_IAB_CATEGORY (404), one for each unknown value.
    """
    call.assume(CATEGORIES)
    _, unknown = _find_businesses(world, categories)
    if unknown:
        raise AdsFailure(
            *(
                AdsError(
                    "INVALID_IAB_CATEGORY",
                    f"{category!r} is no known IAB category or business category"
                    + ("" if _IAB.fullmatch(category) else "; IAB codes look like IAB8 or IAB8-18"),
                    "categories",
                )
                for category in unknown
            )
        )


def check_preroll_categories(world: World, categories: Sequence[str]) -> list[AdsError]:
    """Return what is wrong with the categories of a line item with objective PREROLL_VIEWS.

    They must name one or two business categories ("Advertiser business category").
    """
    named, _ = _find_businesses(world, categories)
    if 1 <= len(named) <= 2:
        return []
    text = (
        "one or two business categories must be set for the objective PREROLL_VIEWS; "
        f"categories names {len(named)}"
    )
    return [AdsError(INVALID if named else MISSING, text, "categories")]


def _find_businesses(world: World, categories: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the ids of the business categories that codes or ids name, and unknown names."""
    named, unknown = set(), []
    entries = world.store.page("advertiser_business_categories")
    for category in categories:
        hits = {
            entry.key
            for entry in entries
            if entry.key == category or category in entry.record["iab_categories"]
        }
        named |= hits
        if not hits:
            unknown.append(category)
    return named, unknown
