"""Finding the operation of a path."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Operation
from mock_platform.core.routing import Nearest, Router, _find_closest

NEAREST = Nearest(OPERATIONS)
ROUTES = [
    ("GET", "/12/accounts/:account_id/cards", "cards.list"),
    ("PUT", "/12/accounts/:account_id/cards/:card_id", "cards.update"),
    ("GET", "/12/accounts/:account_id/cards/poll", "poll.list"),
    ("GET", "/12/accounts/:account_id/cards/poll/:card_id", "poll.get"),
    ("DELETE", "/12/accounts/:account_id/cards/:card_type/:card_id", "cards.delete"),
    ("POST", "/oauth/request_token", "oauth.request_token"),
]


@pytest.mark.parametrize(("method", "path", "target", "params"), [
    ("GET", "/12/accounts/a1/cards", "cards.list", {"account_id": "a1"}),
    ("PUT", "/12/accounts/a1/cards/9", "cards.update", {"account_id": "a1", "card_id": "9"}),
    ("GET", "/12/accounts/a1/cards/poll", "poll.list", {"account_id": "a1"}),
    ("HEAD", "/12/accounts/a1/cards", "cards.list", {"account_id": "a1"}),
    ("PUT", "/12/accounts/a%2Fb/cards/%C3%A9", "cards.update",
     {"account_id": "a/b", "card_id": "é"}),
])  # fmt: skip
def test_a_path_leads_to_its_operation(
    method: str, path: str, target: str, params: dict[str, str]
) -> None:
    """Static segments win, encoded ones are decoded one by one, HEAD follows GET."""
    found = Router(ROUTES).find(method, path)

    assert (target, params) == (found.target, dict(found.params))


@pytest.mark.parametrize(("method", "path", "allowed"), [
    ("PUT", "/12/accounts/a1/cards/poll", ("GET",)),
    ("DELETE", "/12/accounts/a1/cards/poll/7", ("GET",)),
    ("DELETE", "/oauth/request_token", ("POST",)),
    ("GET", "/12/accounts/a1/cards/9", ("PUT",)),
])  # fmt: skip
def test_a_wrong_method_never_falls_back_to_a_varying_segment(
    method: str, path: str, allowed: tuple[str, ...]
) -> None:
    """`PUT /cards/poll` is a wrong method on the poll cards, not an update of the card `poll`."""
    found = Router(ROUTES).find(method, path)

    assert (None, allowed) == (found.target, found.allowed)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
def test_a_reserved_segment_is_never_a_varying_one(method: str) -> None:
    """`cards/all` leads nowhere, while what is below it and next to it stays."""
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
    assert NEAREST.to("POST", "/oauth2/tokn")[0].id == "oauth2.token"


@pytest.mark.parametrize(
    "wanted",
    ["12/acounts/:/line_item", "2/users/:/folowing", "12/accounts/:/cards", "oauth", "", "qq"],
)
def test_the_nearest_paths_are_those_of_the_standard_library(wanted: str) -> None:
    """They are found with fewer comparisons, in the same order."""
    paths = {operation.path.strip("/") for operation in OPERATIONS}

    assert get_close_matches(wanted, paths, 3) == _find_closest(wanted, paths)


def test_a_hostile_path_costs_little() -> None:
    """A path with thousands of segments is compared by its beginning only."""
    assert not NEAREST.to("GET", "/x" * 50_000)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_a_misspelt_segment_leads_back(operation: Operation) -> None:
    """Whichever operation's path has a letter too much, that operation is named first."""
    path = f"{operation.path}x".replace(":", "7")

    found = NEAREST.to(operation.method, path)

    assert operation.method == found[0].method
    assert operation in found
    assert found == NEAREST.to(operation.method, path)


def test_a_path_of_neither_interface_is_compared_with_both() -> None:
    """All that is named is of the interface of the closest one."""
    found = _ids(NEAREST.to("GET", "/accounts"))

    assert ["accounts.list", "accounts.create", "accounts.get"] == found
    assert "oauth2.token" == NEAREST.to("POST", "/oath2/token")[0].id


def _ids(operations: Iterable[Operation]) -> list[str]:
    return [operation.id for operation in operations]
