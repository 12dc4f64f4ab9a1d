"""Which operation answers a method and a path on a server."""

from __future__ import annotations

import pytest

from tests.support import Sandbox


@pytest.mark.parametrize(("path", "surface", "names", "found"), [
    ("/12/accounts/1/promoted_posts", "plain", "neutral", "promoted_posts.list"),
    ("/12/accounts/1/promoted_posts", "plain", "original", "promoted_posts.list"),
    ("/12/accounts/1/promoted_tweets", "plain", "original", "promoted_posts.list"),
    ("/12/accounts/1/promoted_tweets", "plain", "neutral", None),
    ("/12/accounts/1/promoted_posts", "sandbox", "neutral", "promoted_posts.list"),
    ("/2/webhooks", "plain", "neutral", "webhooks.list"),
    ("/2/webhooks/", "plain", "neutral", "webhooks.list"),
    ("/2/webhooks//", "plain", "neutral", None),
    ("/2/webhooks", "sandbox", "neutral", None),
])  # fmt: skip
def test_an_operation_is_found_by_path(
    box: Sandbox, path: str, surface: str, names: str, found: str | None
) -> None:
    """The sandbox address has the advertising interface only; original names are taken if asked."""
    operation = box.platform.where("GET", path, surface, names)  # type: ignore[arg-type]

    assert found == (None if operation is None else operation.id)


def test_the_methods_of_a_path_are_listed(box: Sandbox) -> None:
    """All of them are, and none where no operation has the path."""
    assert ("GET", "POST") == box.platform.methods_at("/2/webhooks")
    assert () == box.platform.methods_at("/2/nothing")


@pytest.mark.parametrize(("method", "path", "may"), [
    ("POST", "/2/webhooks", True),
    ("PUT", "/2/webhooks/1", True),
    ("PUT", "/2/webhooks/1/", True),
    ("GET", "/2/webhooks", False),
    ("POST", "/2/webhooks/replay", False),
])  # fmt: skip
def test_only_challenges_may_block(box: Sandbox, method: str, path: str, may: bool) -> None:
    """A request may wait for an address only where its operation challenges one."""
    assert may is box.platform.may_block(method, path)


@pytest.mark.parametrize(
    "path", ["/2/users/me/", "/12/accounts/", "/sandbox/12/accounts/", "/1.1/users/show.json/"]
)
def test_a_slash_at_the_end_is_ignored(box: Sandbox, path: str) -> None:
    """The operation answers as without it, and a warning says what was ignored."""
    query = {"screen_name": "harbor_roasters"} if "show" in path else {}
    answers = [box.call("GET", each, query_string=query) for each in (path, path[:-1])]

    assert answers[0].get_json() == answers[1].get_json()
    assert [each.status_code for each in answers] == [200, 200]
    warned = [each.headers.get("X-Mock-Warnings") for each in answers]
    assert warned == ["trailing-slash", None]
