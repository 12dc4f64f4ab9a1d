from __future__ import annotations

import pytest

from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.fit.verdicts import Judge


@pytest.fixture(scope="module")
def judge() -> Judge:
    """The verdicts of a sandbox."""
    return Judge(Platform(Settings(default_fixtures=False)))


@pytest.mark.parametrize(("method", "url", "expected"), [
    ("GET", "https://api.x.com/2/tweets/1?x=1", "renamed public_posts.get"),
    ("GET", "https://api.x.com/2/posts/{id}", "assumed public_posts.get"),
    ("GET", "https://api.x.com/1.1/users/show.json", "assumed users.show"),
    ("GET", "https://ads-api.x.com/11/accounts/{id}/line_items", "renamed line_items.list"),
    ("GET", "https://ads-api.x.com/12/accounts/{id}/cards", "served cards.list"),
    ("POST", "https://ads-api-sandbox.x.com/12/accounts", "served accounts.create"),
    ("POST", "https://ads-api.x.com/12/accounts", "missing "),
    ("GET", "http://127.0.0.1:8080/~w1/sandbox/12/accounts", "served accounts.list"),
    ("GET", "https://x.com/i/oauth2/authorize?x=1", "renamed oauth2.authorize"),
    ("PATCH", "https://api.x.com/2/tweets/1", "missing "),
    ("GET", "https://ads-api.x.com/12/accounts/{id}/videos", "missing "),
    ("GET", "https://stream.twitter.com/1.1/statuses/filter.json", "missing "),
    ("GET", "https://x.com/home", "missing "),
    ("GET", "https://api.x.com/2/users/{id}/{relation}", "unknown "),
    ("GET", "https://api.x.com/2/{path}", "unknown "),
    ("GET", "https://api.x.com/2/users{path}", "unknown "),
    ("GET", "https://api.x.com/{version}/users/me", "unknown "),
    ("GET", "https://api.x.com/2/nothing/{id}", "missing "),
    ("GET", "https://api.x.com/2/tweets/search/recent{query}", "renamed post_search.recent"),
    ("", "https://api.x.com/2/tweets", "unknown "),
    ("GET", "{base}/2/users/me", "assumed users.me"),
    ("GET", "{base}/2/nothing", "unknown "),
    ("GET", "{url}", "unknown "),
])  # fmt: skip
def test_a_request_is_judged(judge: Judge, method: str, url: str, expected: str) -> None:
    """By method and path; what may be several operations is never said to be served."""
    verdict = judge.judge(method, url)

    assert verdict is not None
    assert expected == f"{verdict.status} {verdict.operation}"


@pytest.mark.parametrize("url", [
    "https://example.com/2/tweets", "https://notx.com/2/tweets", "http://localhost:3000/api",
    "http://localhost:8080/_mock/reset", "/api/users", "https://api.x.com.example.com/2/tweets",
])  # fmt: skip
def test_requests_for_others(judge: Judge, url: str) -> None:
    """Other hosts, the control plane, and paths of a server of one's own are left out."""
    assert judge.judge("GET", url) is None


@pytest.mark.parametrize(("method", "url", "note"), [
    ("GET", "https://api.x.com/2/tweets/1", "here it is GET /2/posts/:id; with original names"),
    ("GET", "https://api.x.com/2/users/me", "on the assumption users.shapes"),
    ("PATCH", "https://api.x.com/2/tweets/1", "the path answers GET, DELETE only"),
    ("GET", "https://api.x.com/2/userz/me", "not served; nearest: GET /2/users/me"),
    ("GET", "https://ads-api.x.com/12/accounts/1/videos", "are in the media library"),
    ("", "https://api.x.com/2/users/me", "its method is not written down; here the path answers"),
])  # fmt: skip
def test_the_note_says_why(judge: Judge, method: str, url: str, note: str) -> None:
    """Each verdict but the best has its reason."""
    verdict = judge.judge(method, url)

    assert verdict is not None
    assert note in verdict.note
