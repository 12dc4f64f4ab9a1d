"""What a list promises whatever it contains: its order, its pages, and what its filters leave.

A difference is a rule that does not hold for the other server's list, unless the sandbox's own list
breaks it as well. A rule that says nothing about a list (it is too short, say) does not break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from mock_platform.api.ads.filters import SearchText
from mock_platform.core.jsonio import canonical
from mock_platform.core.operation import Operation
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.compare import Difference, show
from mock_platform.verification.compare.plan import PAGE_SIZES, Probe
from mock_platform.verification.compare.values import list_names, name_of_id, singular

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

    operation: Operation
    path: str
    probe: Probe
    query: Mapping[str, str]
    answer: ComparedAnswer
    plain: ComparedAnswer
    """The same server's answer to the plain request."""


def compare_lists(ours: Asked, theirs: Asked) -> Iterator[Difference]:
    """Return the rules that the other list breaks and the sandbox's does not."""
    if _is_same(ours, theirs):
        return
    yield from _list_broken(judge(ours), judge(theirs))
    if ours.probe.kind != "refusals":
        yield from compare_order(ours.query, ours.answer, theirs.answer)


def compare_same_request(
    operation: Operation,
    path: str,
    query: Mapping[str, str],
    ours: ComparedAnswer | None,
    theirs: ComparedAnswer,
) -> Iterator[Difference]:
    """Return the rules that a list breaks which both servers were asked for in the same words.

    `ours` is `None` where the sandbox was not asked: what a list promises holds anyway.
    """
    if not theirs.is_success:
        return
    probe = Probe("recorded", "plain")
    own: Iterable[RuleVerdict] = ()
    if ours is not None:
        own = judge(Asked(operation, path, probe, query, ours, ours))
    yield from _list_broken(own, judge(Asked(operation, path, probe, query, theirs, theirs)))
    if ours is not None:
        yield from compare_order(query, ours, theirs)


def _list_broken(
    ours: Iterable[RuleVerdict], theirs: Iterable[RuleVerdict]
) -> Iterator[Difference]:
    # A rule that the sandbox's own list breaks is either not understood here or not promised; it is
    # no difference of the other server.
    own = {(each.kind, each.where, each.rule) for each in ours if not each.holds}
    for each in theirs:
        if not each.holds and (each.kind, each.where, each.rule) not in own:
            yield Difference(each.kind, each.where, each.rule, each.got)


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
    """Return rules about consecutive pages that only the other server breaks."""
    yield from _list_broken(judge_pages(ours), judge_pages(theirs))


def judge_pages(pages: list[Asked]) -> Iterator[RuleVerdict]:
    """Return whether pages continue one another, and agree with the whole list."""
    # Pages are compared with the whole list of the same server, not with the other server: each has
    # its own records, and "no gap, no repetition, same order" is the same promise on both.
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
            yield RuleVerdict("paging", _name_place(last), text, ends, show(last.next_page, 40))
    first = pages[0].answer
    if len(whole) > len(seen[0]):
        named = isinstance(first.next_page, str) and bool(first.next_page)
        text = "a page with others after it names the next one"
        yield RuleVerdict("paging", _name_place(first), text, named, show(first.next_page, 40))


def _name_place(answer: ComparedAnswer) -> str:
    return "meta.next_token" if answer.meta else "next_cursor"


def _check_size(asked: Asked) -> Iterator[RuleVerdict]:
    for name in PAGE_SIZES:
        if name not in asked.query or not asked.query[name].isdecimal():
            continue
        # Fewer records than asked for are only wrong if there are that many, which the plain list
        # shows.
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
    return judge_order(asked.query, asked.answer)


def judge_order(query: Mapping[str, str], answer: ComparedAnswer) -> Iterator[RuleVerdict]:
    """Return whether a list is sorted as its request says; of several ways the first counts."""
    wanted, name, way = _read_sort(query)
    found = [r[name] for r in answer.records if r.get(name) is not None]
    if not name or len(found) < 2 or len({type(each) for each in found}) > 1:
        return
    holds = found == sorted(found, reverse=way == "desc")
    yield RuleVerdict(
        "order", f"data[].{name}", f"sorted by sort_by={wanted}", holds, "another order"
    )


def _read_sort(query: Mapping[str, str]) -> tuple[str, str, str]:
    """Return what counts of `sort_by`, the attribute, and the way; empty without it."""
    wanted = query.get("sort_by", "").partition(",")[0].strip()
    name, _, way = wanted.rpartition("-")
    return wanted, name, way


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
        yield RuleVerdict("paging", "next_cursor", text, found is None, show(found, 40))
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
    field = _find_field(asked.operation, name)
    if isinstance(field, SearchText):
        test = field.search.make_test(value)
        others = [str(r.get("name")) for r in asked.answer.records if not test(r)]
        rule, place = field.search.describe(name), field.search.attributes[0]
        yield RuleVerdict("filter", f"data[].{place}", rule, not others, ", ".join(others[:3]))


def _find_field(operation: Operation, name: str) -> Any:
    """Return how the sandbox declares a parameter; `None` if it does not."""
    return None if operation.params is None else operation.params().fields.get(name)


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


def compare_order(
    query: Mapping[str, str], ours: ComparedAnswer, theirs: ComparedAnswer
) -> Iterator[Difference]:
    """Compare the order of two lists of the same records.

    The same ids are not enough: the order is that of the values which `sort_by` names, and then of
    when the records were made. Where these differ, the order may.
    """
    here, there = ours.keys, theirs.keys
    if len(here) < 2 or not ours.is_list or here == there or sorted(here) != sorted(there):
        return
    # Equal values may be in any order. So before the order of ids is compared, each record's
    # deciding values must be the same on both servers.
    names = (_read_sort(query)[1], "created_at")
    if _list_ranks(ours, names) != _list_ranks(theirs, names):
        return
    text, got = ", ".join(here[:3]), ", ".join(there[:3])
    yield Difference(
        "order", "data[]", "the order of the sandbox", "another order", f"{text} → {got}"
    )


def _list_ranks(answer: ComparedAnswer, names: Sequence[str]) -> dict[str, bytes]:
    """Return what decides about each record's place, by its key: the whole record if no field."""
    return {
        key: canonical([record[name] for name in names if name in record] or record)
        for key, record in zip(answer.keys, answer.records, strict=True)
    }
