"""What a list promises whatever it contains: its order, its pages, and what its filters leave.

Each rule is checked on both servers. A difference is what holds for the sandbox's list, and not for
the other one; a rule that says nothing about a list (it is too short, say) holds for neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from mock_platform.drift.answers import ComparedAnswer
from mock_platform.drift.difference import Difference, shorten
from mock_platform.drift.plan import PAGE_SIZES, Probe
from mock_platform.drift.values import list_names, name_of_id, singular

RuleKind = Literal["order", "paging", "filter"]


class RuleVerdict(Struct, frozen=True):
    """Whether a rule holds for one list; `got` describes what was found instead."""

    kind: RuleKind
    where: str
    rule: str
    holds: bool
    got: str = ""


class Asked(Struct, frozen=True):
    """A request for a list as one server got it, and its answer."""

    path: str
    probe: Probe
    query: Mapping[str, str]
    answer: ComparedAnswer
    plain: ComparedAnswer
    """The same server's answer to the plain request."""


def compare_lists(ours: Asked, theirs: Asked) -> Iterator[Difference]:
    """Return the rules that hold for the sandbox's list and not for the other one."""
    if _is_same(ours, theirs):
        return
    kept = {(each.kind, each.where, each.rule) for each in judge(ours) if each.holds}
    for each in judge(theirs):
        if not each.holds and (each.kind, each.where, each.rule) in kept:
            yield Difference(each.kind, each.where, each.rule, each.got)
    if ours.probe.kind != "refusals":
        yield from _compare_order(ours.answer, theirs.answer)


def _is_same(one: Asked, other: Asked) -> bool:
    """Return whether two servers got the same request, and gave the same answers."""
    return (
        one.answer.body == other.answer.body
        and one.plain.body == other.plain.body
        and (one.path, one.query) == (other.path, other.query)
    )


def judge(asked: Asked) -> Iterator[RuleVerdict]:
    """Return the verdict of each rule that says something about this list."""
    if not asked.answer.is_list:
        return
    for check in _RULES:
        yield from check(asked)


def compare_pages(ours: list[Asked], theirs: list[Asked]) -> Iterator[Difference]:
    """Return rules about consecutive pages that hold for the sandbox only."""
    kept = {(each.kind, each.where, each.rule) for each in judge_pages(ours) if each.holds}
    for each in judge_pages(theirs):
        if not each.holds and (each.kind, each.where, each.rule) in kept:
            yield Difference(each.kind, each.where, each.rule, each.got)


def judge_pages(pages: list[Asked]) -> Iterator[RuleVerdict]:
    """Return whether pages continue one another, and agree with the whole list."""
    whole = pages[0].plain.keys
    seen = [page.answer.keys for page in pages]
    flat = [key for page in seen for key in page]
    repeated = len(flat) - len(set(flat))
    rule = "a page begins where the one before it ended"
    if len(pages) > 1:
        agrees = flat == whole[: len(flat)]
        got = f"{repeated} records repeated" if repeated else "records left out or in another order"
        yield RuleVerdict("paging", "data[]", rule, agrees, "" if agrees else got)
        if pages[0].plain.next_page is None and len(whole) > 1:
            last = pages[-1].answer
            ends = last.next_page is None
            text = "the last page names no next page"
            yield RuleVerdict("paging", _name_place(last), text, ends, shorten(last.next_page, 40))
    first = pages[0].answer
    if len(whole) > len(seen[0]):
        named = isinstance(first.next_page, str) and bool(first.next_page)
        text = "a page with others after it names the next one"
        yield RuleVerdict("paging", _name_place(first), text, named, shorten(first.next_page, 40))


def _name_place(answer: ComparedAnswer) -> str:
    return "meta.next_token" if answer.meta else "next_cursor"


def _check_size(asked: Asked) -> Iterator[RuleVerdict]:
    for name in PAGE_SIZES:
        if name not in asked.query or not asked.query[name].isdecimal():
            continue
        size, got = int(asked.query[name]), len(asked.answer.records)
        if asked.probe.kind == "pages" and len(asked.plain.records) >= size:
            rule = f"as many records as {name} says, if there are so many"
            last = not _is_first(asked)
            yield RuleVerdict("paging", "data[]", rule, last or got == size, f"{got} of {size}")
        rule = f"no more records than {name} says"
        yield RuleVerdict("paging", "data[]", rule, got <= size, f"{got} of {size}")


def _is_first(asked: Asked) -> bool:
    return not any(name in asked.query for name in ("cursor", "pagination_token", "next_token"))


def _check_order(asked: Asked) -> Iterator[RuleVerdict]:
    wanted = asked.query.get("sort_by", "")
    name, _, way = wanted.rpartition("-")
    found = [r[name] for r in asked.answer.records if r.get(name) is not None]
    if not name or len(found) < 2 or len({type(each) for each in found}) > 1:
        return
    holds = found == sorted(found, reverse=way == "desc")
    yield RuleVerdict(
        "order", f"data[].{name}", f"sorted by sort_by={wanted}", holds, "another order"
    )


def _check_total(asked: Asked) -> Iterator[RuleVerdict]:
    body = asked.answer.json
    if asked.query.get("with_total_count") == "true" and asked.answer.next_page is None:
        total, count = body.get("total_count"), len(asked.answer.records)
        rule = "the number of all records"
        yield RuleVerdict("paging", "total_count", rule, total == count, f"{total} for {count}")
    total = body.get("total_count")
    if total is not None and total == len(asked.answer.records) and _is_first(asked):
        found = asked.answer.next_page
        text = "a page with all records names no next page"
        yield RuleVerdict("paging", "next_cursor", text, found is None, shorten(found, 40))
    if "result_count" in asked.answer.meta:
        total, count = asked.answer.meta["result_count"], len(asked.answer.records)
        rule = "the number of records of the page"
        yield RuleVerdict(
            "paging", "meta.result_count", rule, total == count, f"{total} for {count}"
        )


def _check_filter(asked: Asked) -> Iterator[RuleVerdict]:
    name = asked.probe.about
    value = asked.query.get(name)
    if value is None or asked.probe.kind != "parameters" or not asked.answer.records:
        return
    one = singular(name)
    own = name_of_id(asked.path)
    wanted = set(value.split(","))
    for field in ("id", "media_key") if one in {own, "id"} else (*list_names(one),):
        found = [str(r[field]) for r in asked.answer.records if isinstance(r.get(field), str | int)]
        if found:
            rule = f"only records with the {name} that was sent"
            others = [each for each in found if each not in wanted]
            yield RuleVerdict("filter", f"data[].{field}", rule, not others, ", ".join(others[:3]))
            return
    if name == "q":
        names = [str(r["name"]) for r in asked.answer.records if isinstance(r.get("name"), str)]
        others = [each for each in names if not each.casefold().startswith(value.casefold())]
        rule = "only records whose name begins with q"
        yield RuleVerdict("filter", "data[].name", rule, not others, ", ".join(others[:3]))


def _check_deleted(asked: Asked) -> Iterator[RuleVerdict]:
    if "with_deleted" in asked.query:
        before = set(asked.plain.keys)
        after = set(asked.answer.keys)
        lost = len(before - after)
        rule = "with_deleted only adds records"
        yield RuleVerdict("filter", "data[]", rule, not lost, f"{lost} records are gone")
    elif asked.probe.kind == "plain":
        deleted = [r for r in asked.answer.records if r.get("deleted") is True]
        rule = "no deleted records unless they are asked for"
        yield RuleVerdict("filter", "data[].deleted", rule, not deleted, f"{len(deleted)} deleted")


_RULES: tuple[Callable[[Asked], Iterator[RuleVerdict]], ...] = (
    _check_size,
    _check_order,
    _check_total,
    _check_filter,
    _check_deleted,
)


def _compare_order(ours: ComparedAnswer, theirs: ComparedAnswer) -> Iterator[Difference]:
    """Compare the order of two lists of the same records."""
    here, there = ours.keys, theirs.keys
    if len(here) > 1 and ours.is_list and here != there and sorted(here) == sorted(there):
        text, got = ", ".join(here[:3]), ", ".join(there[:3])
        yield Difference(
            "order", "data[]", "the order of the sandbox", "another order", f"{text} → {got}"
        )
