"""The figures for people and for programs, and whether one of them fell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mock_platform.core import installed
from mock_platform.core.jsonio import loads
from mock_platform.verification.fidelity.measure import (
    CLASSES,
    EXPLAINED,
    FamilyFigures,
    Measurement,
    NamedDifference,
)

_MOST = 15
"""Differences that the text lists; JSON and the page have all."""


def describe_size(found: Measurement) -> str:
    """Return how large the instrument is."""
    return (
        f"{found.facts:,} recorded or published answers from {found.sources:,} sources, about "
        f"{found.operations:,} operations; {found.total.compared:,} points"
    )


def describe_share(part: int, whole: int) -> str:
    """Return a share with its numbers.

    Example:
        >>> describe_share(3, 4)
        '3 of 4 (75.0 percent)'
    """
    return f"{part:,} of {whole:,} ({100 * part / whole if whole else 100:.1f} percent)"


def write_text(found: Measurement) -> Iterator[str]:
    """Yield the lines for a terminal."""
    total = found.total
    yield f"Instrument: {describe_size(found)}."
    yield f"Served of all public operations:  {describe_share(total.served, total.public)}"
    promised = describe_share(total.promised_served, total.promised)
    yield f"Served of those promised:         {promised}"
    yield f"Points that match:                {describe_share(total.match, total.compared)}"
    both = total.match + total.explained
    yield f"Points that match or are explained: {describe_share(both, total.compared)}"
    yield ""
    for kind, meaning in CLASSES.items():
        yield f"  {kind:<3} {found.count_class(kind):>6,}  {meaning}"
    yield ""
    for each in found.differences[:_MOST]:
        yield (
            f"  {each.kind:<3} {each.count:>5} x {each.operation} {each.where}: "
            f"{each.expected} → {each.got}"
        )
    if len(found.differences) > _MOST:
        yield f"  and {len(found.differences) - _MOST:,} more; --format json has all."
    yield from (f"Not compared: {note}" for note in found.notes)


def write_page(found: Measurement) -> list[str]:
    """Return the lines of the generated part of the page."""
    total = found.total
    both = total.match + total.explained
    lines = [
        f"The instrument: {describe_size(found)}.",
        "",
        "| figure | |",
        "|---|---|",
        f"| served of all public operations | {describe_share(total.served, total.public)} |",
        f"| served of those promised | {describe_share(total.promised_served, total.promised)} |",
        f"| points that match | {describe_share(total.match, total.compared)} |",
        f"| points that match or are explained | {describe_share(both, total.compared)} |",
        "",
        "| subject | public operations | promised | points | match | explained |",
        "|---|---|---|---|---|---|",
        *(_write_family(each) for each in found.families),
        "",
        "| class | points | what it means |",
        "|---|---|---|",
        *(f"| {kind} | {found.count_class(kind):,} | {text} |" for kind, text in CLASSES.items()),
        "",
        f"Public operations that are not served: {_join(found.missing) or 'none'}.",
    ]
    for kind, meaning in CLASSES.items():
        listed = [each for each in found.differences if each.kind == kind]
        if listed:
            lines += ["", f"### {kind}: {meaning}", ""]
            lines += _write_differences(listed)
    return lines


def _write_differences(listed: list[NamedDifference]) -> Iterator[str]:
    """Yield one row for each reason and operation, with the places."""
    yield "| points | operation | places | why |"
    yield "|---|---|---|---|"
    grouped: dict[tuple[str, str], list[NamedDifference]] = {}
    for each in listed:
        grouped.setdefault((each.operation, each.reason), []).append(each)
    for (operation, reason), items in grouped.items():
        count = sum(each.count for each in items)
        places = _join(dict.fromkeys(each.where for each in items))
        yield f"| {count:,} | `{operation}` | {places} | {_escape(reason)} |"


def _write_family(each: FamilyFigures) -> str:
    return (
        f"| {each.family} | {each.served} of {each.public} | "
        f"{each.promised_served} of {each.promised} | {each.compared:,} | {each.match:,} | "
        f"{each.explained:,} |"
    )


def _join(texts: Any) -> str:
    return ", ".join(f"`{_escape(text)}`" for text in texts)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def read_baseline() -> Mapping[str, Any]:
    """Return the figures that must not fall."""
    found: Mapping[str, Any] = loads((installed.folder("fidelity") / "baseline.json").read_bytes())
    return found


def list_falls(found: Measurement, baseline: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is worse than the baseline, which has these keys of a measurement as JSON."""
    now = found.as_json()
    for name in ("surface", "promised"):
        if now[name]["served"] < baseline[name]["served"]:
            yield f"{name}: {now[name]['served']} served, and it was {baseline[name]['served']}"
    for names in (("match",), ("match", "explained")):
        is_now, was = (_find_share(each["points"], names) for each in (now, baseline))
        if is_now < was:
            yield f"points that {' or are '.join(names)}: {is_now:.3%}, and it was {was:.3%}"
    for kind in (each for each in CLASSES if each not in EXPLAINED):
        is_now, was = now["classes"][kind], baseline["classes"][kind]
        if is_now > was:
            yield f"differences of class {kind}: {is_now}, and it was {was}"


def _find_share(points: Mapping[str, int], names: Iterable[str]) -> float:
    return sum(points[name] for name in names) / (points["compared"] or 1)
