"""The costs as one JSON document, made, merged, and said in a sentence; quick to load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Literal, get_args

from msgspec import Struct

By = Literal["operation", "test", "app", "day"]
BY: tuple[By, ...] = get_args(By)
CostsDocument = dict[str, Any]
"""What `GET /_mock/costs` answers."""


class Sum(Struct):
    """What some calls cost together."""

    calls: int = 0
    resources: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    def add(self, other: Sum) -> None:
        """Add what other calls cost to this sum."""
        self.calls += other.calls
        self.resources += other.resources
        self.usd += other.usd
        self.unpriced += other.unpriced


def _read_sum(row: Mapping[str, Any]) -> Sum:
    unpriced = row.get("unpriced", 0)
    return Sum(row["calls"], row["resources"], Decimal(row["usd"]), unpriced)


def make_document(whole: Sum, items: Mapping[str, Sum], since: date | None) -> CostsDocument:
    """Return the document of these sums, the dearest first; `since`: of when the prices are."""
    rows = sorted(items.items(), key=lambda item: (-item[1].usd, item[0]))
    return {
        "currency": "USD",
        "usd": write_usd(whole.usd),
        "calls": whole.calls,
        "resources": whole.resources,
        "items": [
            {
                "key": key,
                "calls": part.calls,
                "resources": part.resources,
                "usd": write_usd(part.usd),
            }
            for key, part in rows
        ],
        "prices_of": None if since is None else since.isoformat(),
        "unpriced": whole.unpriced,
    }


def merge_costs(documents: Sequence[CostsDocument]) -> CostsDocument:
    """Return the costs of several servers or processes as one document."""
    items: dict[str, Sum] = {}
    whole = Sum()
    for document in documents:
        whole.add(_read_sum(document))
        for row in document["items"]:
            items.setdefault(row["key"], Sum()).add(_read_sum(row))
    since = max((each["prices_of"] for each in documents if each["prices_of"]), default=None)
    return make_document(whole, items, None if since is None else date.fromisoformat(since))


def describe_costs(document: CostsDocument) -> str:
    """Return the sum in one sentence, for summaries."""
    calls, unpriced = document["calls"], document["unpriced"]
    text = f"{calls} call{'' if calls == 1 else 's'} would have cost ${document['usd']}"
    more = f", {unpriced} of them have no public price" if unpriced else ""
    return f"{text} (prices of {document['prices_of']}){more}"


def write_usd(amount: Decimal) -> str:
    """Return an amount of US dollars as text, with three decimals or as many as it has.

    Example:
        >>> write_usd(Decimal("0.05")), write_usd(Decimal("0.0005"))
        ('0.050', '0.0005')
    """
    text = format(amount.normalize(), "f")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(3, '0')}"
