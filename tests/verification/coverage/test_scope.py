"""The scope of a coverage."""

from __future__ import annotations

import pytest

from mock_platform.api.served import OPERATION_IDS
from mock_platform.platform import Platform
from mock_platform.verification.coverage.gate import BadPatterns, CoverageScope
from tests.control.support import call, fields
from tests.support import sandbox
from tests.verification.coverage.test_document import LIST, coverage

IDS = ("line_items.get", "line_items.list", "oauth.request_token", "oauth2.token")


def test_the_ids_are_those_of_the_platform() -> None:
    """Patterns can be checked before a platform is made."""
    assert sorted(OPERATION_IDS) == sorted(op.id for op in Platform().operations)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("line_items.*", IDS[:2]),
        (" line_items.get , oauth* ", (IDS[0], *IDS[2:])),
        ("oauth.*", IDS[2:3]),
        ("*", IDS),
        ("*.list,", IDS[1:2]),
    ],
)
def test_patterns_choose_operations(text: str, inside: tuple[str, ...]) -> None:
    """They are separated by commas; a star is any text."""
    scope = CoverageScope.read(text, IDS)

    assert list(inside) == [name for name in IDS if scope.includes(name)]


def test_without_patterns_everything_is_inside() -> None:
    """The scope of nothing in particular is everything."""
    assert all(map(CoverageScope().includes, IDS))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("line_item.*", "'line_item.*' matches no operation; did you mean 'line_items.*'?"),
        ("line_items.gte", "'line_items.gte' matches no operation; did you mean 'line_items.get'?"),
        ("lineitems.ge*", "'lineitems.ge*' matches no operation; did you mean 'line_items.get'?"),
        ("oath*", "'oath*' matches no operation; did you mean 'oauth.*'?"),
        ("Line_items.*", "'Line_items.*' matches no operation; did you mean 'line_items.*'?"),
        ("zzz", "'zzz' matches no operation ("),
        ("oauth*,zzz,yyy", "'zzz' matches no operation; 'yyy' matches no operation ("),
        (" , ", "no pattern is given; write one such as 'line_items.*,oauth*'"),
    ],
)
def test_patterns_without_operation_are_refused(text: str, told: str) -> None:
    """Each is named, with the nearest operation or family."""
    with pytest.raises(BadPatterns) as caught:
        CoverageScope.read(text, IDS)

    assert str(caught.value).startswith(told)


def test_a_coverage_is_restricted() -> None:
    """Operations, totals, percentage and problem types are those of the scope alone."""
    box = sandbox()
    box.call("GET", f"{LIST}?count=2")
    box.call("GET", "/12/accounts")
    whole = coverage(box)

    found = call(box, "GET", "/coverage?only=line_items.*").get_json()
    replay = call(box, "GET", "/coverage?only=webhooks.replay").get_json()

    ids = [row["id"] for row in found["operations"]]
    assert ids == [name for name in OPERATION_IDS if name.startswith("line_items.")]
    assert ["line_items.*"] == found["only"]
    assert (1, len(ids)) == (found["totals"]["operations"]["covered"], len(found["operations"]))
    assert found["percent"] > whole["percent"]
    assert [] == found["problem_types"]
    assert "conflict" in {kind["slug"] for kind in replay["problem_types"]}
    assert {row["operation"] for row in found["never_seen"]} <= set(ids)


def test_the_route_refuses_patterns_without_operation() -> None:
    """With the name of the parameter and what was meant."""
    answer = call(sandbox(), "GET", "/coverage?only=line_item.*")

    assert (400, ["only"]) == (answer.status_code, fields(answer))
    assert "did you mean 'line_items.*'?" in answer.get_json()["detail"]


def test_names_of_the_query_are_those_on_the_wire() -> None:
    """A misspelt parameter is refused with the known ones."""
    detail = call(sandbox(), "GET", "/coverage?onyl=x").get_json()["detail"]

    assert "'onyl' is unknown here; known: format, only. Did you mean 'only'?" in detail
