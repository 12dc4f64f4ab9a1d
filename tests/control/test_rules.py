"""A rule is explained against a post: what matches, what does not, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.control.description import RefusalFault
from tests.control.support import call, detail
from tests.support import Sandbox, sandbox

POST = {
    "id": "1",
    "text": "Cold brew by the harbour",
    "author_id": "2244994945",
    "referenced_posts": [{"type": "quoted", "id": "2"}],
}
QUOTED = {"id": "2", "text": "A flat white", "author_id": "9"}
STORED = "1712850617439551492"
"""We are open on Sundays now."""


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox that these tests only read."""
    found = sandbox()
    yield found
    found.platform.close()


def explain(box: Sandbox, rule: str, **more: Any) -> TestResponse:
    """Ask whether a rule matches the post above, or another one."""
    post = {} if "post_id" in more else {"post": POST}
    return call(box, "POST", "/rules/explain", json={"rule": rule} | post | more)


def test_explanation(box: Sandbox) -> None:
    """Each part has its text, its place and whether it matches; failed parts are listed."""
    assert {
        "matches": False,
        "tree": {
            "text": "brew (tea OR has:images)",
            "matches": False,
            "kind": "and",
            "terms": [
                {"text": "brew", "matches": True, "kind": "word", "position": 1},
                {
                    "text": "tea OR has:images",
                    "matches": False,
                    "kind": "or",
                    "terms": [
                        {"text": "tea", "matches": False, "kind": "word", "position": 7},
                        {"text": "has:images", "matches": False, "kind": "has", "position": 14},
                    ],
                },
            ],
        },
        "failed": [{"text": "tea", "position": 7}, {"text": "has:images", "position": 14}],
        "warnings": [],
    } == explain(box, "brew (tea OR has:images)").get_json()


@pytest.mark.parametrize(
    ("rule", "failed"),
    [
        ("brew -(tea OR harbour)", ["-(tea OR harbour)"]),
        ("brew -harbour", ["-harbour"]),
        ("tea OR milk", ["tea", "milk"]),
        ("brew", []),
    ],
)
def test_failed_parts(box: Sandbox, rule: str, failed: list[str]) -> None:
    """The parts that keep a rule from matching are those that fail."""
    answer = explain(box, rule).get_json()

    assert failed == [part["text"] for part in answer["failed"]]
    assert answer["matches"] == (not failed)


@pytest.mark.parametrize(
    ("rule", "more", "matches"),
    [
        ("from:harbor_roasters", {}, True),  # a stored user
        ('"flat white"', {}, False),  # the quoted post is not known
        ('"flat white"', {"includes": {"posts": [QUOTED]}}, True),
        ('"flat white"', {"includes": {"posts": [QUOTED]}, "product": "search"}, False),
        ("min_likes:0", {"product": "search"}, True),
        ("sundays from:harbor_roasters", {"post_id": STORED}, True),
        ("sundays -is:nullcast", {"post_id": STORED}, True),
        ("mondays", {"post_id": STORED}, False),
    ],
)
def test_posts(box: Sandbox, rule: str, more: dict[str, Any], matches: bool) -> None:
    """A post is an object with what it refers to, or stored."""
    assert matches == explain(box, rule, **more).get_json()["matches"]


def test_warnings(box: Sandbox) -> None:
    """What is accepted in vain is reported."""
    assert ["bio: is accepted here but never matches (at position 1)"] == (
        explain(box, "bio:coffee").get_json()["warnings"]
    )
    (told,) = explain(box, "cat", post={"id": "1", "txt": "cat"}).get_json()["warnings"]
    assert told.startswith("'txt' is no field of a post. Did you mean 'text'? Its fields: arti")


@pytest.mark.parametrize(
    ("rule", "fault", "position"),
    [
        ("(cat", "no viable alternative at input '<EOF>' (at position 5)", 5),
        ("cat has:polls", "Reference to invalid operator 'has:polls'", None),
        ("cat and dog", "Ambiguous use of and as a keyword. Use a space to logically join two "
         'clauses, or "and" to find occurrences of and in text (at position 5)', 5),
        ("x" * 2_049, "Rules must be at most 2048 characters long, this one has 2049", None),
    ],
)  # fmt: skip
def test_faulty_rules(box: Sandbox, rule: str, fault: str, position: int | None) -> None:
    """A rule with faults is refused with each fault and its position."""
    answer = explain(box, rule)
    faults = answer.get_json()["faults"]

    assert 422 == answer.status_code
    assert f"The rule cannot be used: {fault}." == detail(answer)
    assert [{"field": "rule", "message": fault, "position": position}] == faults
    assert {} == RefusalFault(many=True).validate(faults)  # as described


@pytest.mark.parametrize(
    ("product", "length", "status"),
    [("stream", 2_048, 200), ("search", 4_096, 200), ("search", 4_097, 422)],
)
def test_length(box: Sandbox, product: str, length: int, status: int) -> None:
    """A rule has the length of the most generous tier, a query that of queries."""
    assert status == explain(box, "x" * length, product=product).status_code
