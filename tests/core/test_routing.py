"""Finding the operation of a path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

import pytest

from mock_platform.core.operation import Operation
from mock_platform.core.routing import Nearest, Router
from mock_platform.operations import OPERATIONS

ROUTES = [
    ("GET", "/12/accounts/:account_id/cards", "cards.list"),
    ("PUT", "/12/accounts/:account_id/cards/:card_id", "cards.update"),
    ("GET", "/12/accounts/:account_id/cards/poll", "poll.list"),
    ("GET", "/12/accounts/:account_id/cards/poll/:card_id", "poll.get"),
    ("DELETE", "/12/accounts/:account_id/cards/:card_type/:card_id", "cards.delete"),
    ("POST", "/oauth/request_token", "oauth.request_token"),
]


@pytest.mark.parametrize(
    ("method", "path", "target", "params"),
    [
        ("GET", "/12/accounts/a1/cards", "cards.list", {"account_id": "a1"}),
        ("PUT", "/12/accounts/a1/cards/9", "cards.update", {"account_id": "a1", "card_id": "9"}),
        ("GET", "/12/accounts/a1/cards/poll", "poll.list", {"account_id": "a1"}),
        ("HEAD", "/12/accounts/a1/cards", "cards.list", {"account_id": "a1"}),
        (
            "PUT",
            "/12/accounts/a%2Fb/cards/%C3%A9",
            "cards.update",
            {"account_id": "a/b", "card_id": "é"},
        ),
    ],
)
def test_a_path_leads_to_its_operation(
    method: str, path: str, target: str, params: dict[str, str]
) -> None:
    """Static segments win, encoded ones are decoded one by one, HEAD follows GET."""
    found = Router(ROUTES).find(method, path)

    assert (target, params) == (found.target, dict(found.params))


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/12/accounts/a1/cards/poll", ("GET",)),
        ("DELETE", "/12/accounts/a1/cards/poll/7", ("GET",)),
        ("DELETE", "/oauth/request_token", ("POST",)),
        ("GET", "/12/accounts/a1/cards/9", ("PUT",)),
    ],
)
def test_a_wrong_method_never_falls_back_to_a_varying_segment(
    method: str, path: str, allowed: tuple[str, ...]
) -> None:
    """`PUT /cards/poll` is a wrong method on the poll cards, not an update of the card `poll`."""
    found = Router(ROUTES).find(method, path)

    assert (None, allowed) == (found.target, found.allowed)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
def test_a_reserved_segment_is_never_a_varying_one(method: str) -> None:
    """`cards/all` leads nowhere, while what is below it and beside it stays."""
    router = Router(ROUTES)
    router.reserve("/12/accounts/:account_id/cards/all")

    assert (None, ()) == (
        router.find(method, "/12/accounts/a1/cards/all").target,
        router.find(method, "/12/accounts/a1/cards/all").allowed,
    )
    assert "cards.update" == router.find("PUT", "/12/accounts/a1/cards/all2").target
    assert "cards.delete" == router.find("DELETE", "/12/accounts/a1/cards/all/9").target


@pytest.mark.parametrize(
    "path",
    ["/", "", "/12", "/12/accounts//cards", "/12/accounts/a1/cards/", "//oauth/request_token"],
)
def test_a_path_that_is_none_leads_nowhere(path: str) -> None:
    """Empty segments, trailing slashes and partial paths are no operation's path."""
    found = Router(ROUTES).find("GET", path)

    assert (None, ()) == (found.target, found.allowed)


def test_the_nearest_operations_are_named() -> None:
    """A misspelt path is answered with the operations that come closest, best first."""
    found = Nearest(OPERATIONS).to("POST", "/oauth2/tokn")

    assert found[0].id == "oauth2.token"


def test_a_hostile_path_costs_little() -> None:
    """A path with thousands of segments is compared by its beginning only."""
    assert not Nearest(OPERATIONS).to("GET", "/x" * 50_000)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH"])
def test_the_nearest_operations_are_those_of_a_full_comparison(method: str) -> None:
    """Leaving out what cannot win changes no answer, and asking again gives the same one."""
    nearest = Nearest(OPERATIONS)
    asked = list(_misspelt())

    wanted = [_compared_in_full(method, path) for path in asked]

    assert wanted == [_ids(nearest.to(method, path)) for path in asked]
    assert wanted[-20:] == [_ids(nearest.to(method, path)) for path in asked[-20:]]
    assert {0, 1, 2, 3} == {len(found) for found in wanted}


def _misspelt() -> Iterator[str]:
    """Paths of operations with an id, and the same with a few letters or a segment gone wrong."""
    yield from ("/", "", "/12", "/2/", "/%F0%9F%98%80", "/robots.txt", "/oauth2", "/oauth/" * 20)
    yield from ("/accunts/9", "/12/line_item", "/2/webhook", "/tokens", "/cards/1/2/3")
    for number, operation in enumerate(OPERATIONS[::4]):
        segments = operation.path.replace(":", "7").split("/")
        yield "/".join(segments)
        letters = list("/".join(segments))
        for place in range(1 + number % 5, len(letters), 3 + number % 7):
            letters[place] = "aeé/_s4:"[place % 8]
        yield "".join(letters)
        del segments[1 + number % (len(segments) - 1)]
        yield "/".join(segments)


def _compared_in_full(method: str, path: str) -> list[str]:
    """The same ranking in its plainest form: every operation compared, all sorted."""

    def shape(text: str) -> str:
        segments = [
            ":" if part.startswith(":") or (place and re.search(r"\d", part)) else part
            for place, part in enumerate(text.strip("/").split("/")[:16])
        ]
        return "/".join(part[:64] for part in segments)

    def closeness(operation: Operation) -> float:
        ratio = SequenceMatcher(None, shape(path), shape(operation.path)).ratio()
        return ratio + (0.05 if operation.method == method else 0.0)

    def interface(text: str) -> str | None:
        first = text.strip("/").split("/")[0]
        if first in {"2", "1.1", "oauth", "oauth2"}:
            return "A"
        return "B" if first.isdecimal() else None

    own = [op for op in OPERATIONS if interface(shape(path)) in {None, interface(op.path)}]
    ranked = [op for op in sorted(own, key=closeness, reverse=True)[:3] if closeness(op) > 0.6]
    return [op.id for op in ranked if interface(op.path) == interface(ranked[0].path)]


def _ids(operations: Iterable[Operation]) -> list[str]:
    return [operation.id for operation in operations]
