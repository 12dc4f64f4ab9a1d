"""How many requests are left, as the older interface says it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import BEARER, HARBOR, Sandbox, body_of, sandbox

PATH = "/1.1/application/rate_limit_status.json"
SEARCH, SHOWN, OWN = "/search/posts", "/users/show/:id", PATH[4:-5]


def read(box: Sandbox, keys: Any = HARBOR, **query: str) -> Any:
    """The windows of a caller, by path."""
    body = body_of(box.call("GET", PATH, keys=keys, query_string=query))
    return {path: one for family in body["resources"].values() for path, one in family.items()}


def test_windows_are_counted() -> None:
    """Each read takes one from its own window, a refused one more than there are; time fills it."""
    box = sandbox(limits="public")
    for _ in range(3):
        box.call("GET", "/1.1/search/tweets.json", query_string={"q": "coffee"})
    found = read(box)
    others = read(box, BEARER)
    box.world.clock.advance(seconds=901)

    assert (180, 177) == (found[SEARCH]["limit"], found[SEARCH]["remaining"])
    assert (900, 900) == (found[SHOWN]["limit"], found[SHOWN]["remaining"])
    assert 179 == found[OWN]["remaining"]
    assert (450, 450) == (others[SEARCH]["limit"], others[SEARCH]["remaining"])
    assert "/statuses/home_timeline" not in others
    assert 180 == read(box)[SEARCH]["remaining"]


def test_a_limit_ends_at_nothing() -> None:
    """The number never falls below 0, and the moment is the one of the headers."""
    box = sandbox(limits="public")
    answers = [box.call("GET", "/1.1/account/settings.json") for _ in range(16)]
    left = read(box)["/account/settings"]

    assert (200, 429) == (answers[14].status_code, answers[15].status_code)
    assert 0 == left["remaining"]
    assert str(left["reset"]) == answers[15].headers["x-rate-limit-reset"]


def test_without_limits(box: Sandbox) -> None:
    """Where no limit is in force, the windows are full, and those of the caller are named."""
    box.call("GET", "/1.1/search/posts.json", query_string={"q": "coffee"})
    context = body_of(box.call("GET", PATH))["rate_limit_context"]

    assert read(box)[SEARCH]["limit"] == read(box)[SEARCH]["remaining"]
    assert {"access_token": HARBOR.token} == context
    assert "application" in body_of(box.call("GET", PATH, keys=BEARER))["rate_limit_context"]


@pytest.mark.parametrize(
    ("resources", "families"),
    [("search", ["search"]), ("users,search", ["users", "search"]), ("none,search", ["search"])],
)
def test_families(box: Sandbox, resources: str, families: list[str]) -> None:
    """Resources chooses families; one that is not served is left out, with a warning."""
    answer = box.call("GET", PATH, query_string={"resources": resources})

    assert families == list(body_of(answer)["resources"])
    assert ("none" in resources) == ("no-effect" in answer.headers.get("X-Mock-Warnings", ""))


def test_original_names(box: Sandbox) -> None:
    """Paths have the words of the platform where the caller has them."""
    answer = box.call("GET", PATH, headers={"X-Mock-Names": "original"})

    assert "/search/tweets" in body_of(answer)["resources"]["search"]


def test_its_own_limit() -> None:
    """180 requests in 15 minutes are answered, one more is not; without keys not one."""
    box = sandbox(limits="public")
    answers = [box.call("GET", PATH, keys=BEARER) for _ in range(181)]

    assert (200, 429) == (answers[179].status_code, answers[180].status_code)
    assert 400 == box.call("GET", PATH, keys=None).status_code
