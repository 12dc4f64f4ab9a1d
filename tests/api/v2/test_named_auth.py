"""The kinds of tokens and the scopes that each named endpoint takes, as the reference lists."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Operation, Origin
from tests.support import BEARER, HARBOR, USER_TOKEN, Keys, Sandbox, sandbox

B, U1, U2 = "bearer", "oauth1", "oauth2"
READ = ("post.read", "users.read")
WRITE = ("post.read", "post.write", "users.read")
DM_READ = ("dm.read", "post.read", "users.read")
DM_WRITE = ("dm.write", "post.read", "users.read")
ACCOUNT = ("dm.read", "dm.write", "post.read", "users.read")
LISTED: dict[str, tuple[set[str], tuple[str, ...]]] = {
    "GET /2/webhooks": ({B}, ()),
    "POST /2/webhooks": ({B, U1}, ()),
    "PUT /2/webhooks/:": ({B, U1}, ()),
    "DELETE /2/webhooks/:": ({B, U1}, ()),
    "POST /2/activity/subscriptions": ({B, U1, U2}, ("post.read",)),
    "GET /2/activity/subscriptions": ({B, U1, U2}, ("like.read", "post.read")),
    "PUT /2/activity/subscriptions/:": ({B}, ()),
    "DELETE /2/activity/subscriptions/:": ({B}, ()),
    "DELETE /2/activity/subscriptions": ({B}, ()),
    "GET /2/activity/stream": ({B}, ()),
    "POST /2/account_activity/webhooks/:/subscriptions/all": ({U1, U2}, ACCOUNT),
    "GET /2/account_activity/webhooks/:/subscriptions/all": ({U1, U2}, ACCOUNT),
    "GET /2/account_activity/webhooks/:/subscriptions/all/list": ({B}, ()),
    "DELETE /2/account_activity/webhooks/:/subscriptions/:/all": ({B}, ()),
    "GET /2/account_activity/subscriptions/count": ({B}, ()),
    "POST /2/account_activity/replay/webhooks/:/subscriptions/all": ({B}, ()),
    "GET /2/posts/search/stream/rules": ({B}, ()),
    "POST /2/posts/search/stream/rules": ({B}, ()),
    "GET /2/posts/search/stream/rules/counts": ({B}, ()),
    "GET /2/posts/search/stream": ({B}, ()),
    "GET /2/posts/search/webhooks": ({B}, ()),
    "POST /2/posts/search/webhooks/:": ({B}, ()),
    "DELETE /2/posts/search/webhooks/:": ({B}, ()),
    "GET /2/connections": ({B}, ()),
    "DELETE /2/connections": ({B}, ()),
    "DELETE /2/connections/all": ({B}, ()),
    "DELETE /2/connections/:": ({B}, ()),
    "POST /2/posts": ({U1, U2}, WRITE),
    "DELETE /2/posts/:": ({U1, U2}, WRITE),
    "GET /2/posts/:": ({B, U1, U2}, READ),
    "GET /2/posts": ({B, U1, U2}, READ),
    "GET /2/posts/search/recent": ({B, U1, U2}, READ),
    "GET /2/posts/search/all": ({B}, ()),
    "GET /2/posts/counts/recent": ({B}, ()),
    "GET /2/posts/counts/all": ({B}, ()),
    "GET /2/users/me": ({U1, U2}, READ),
    "GET /2/users/:": ({B, U1, U2}, READ),
    "GET /2/users": ({B, U1, U2}, READ),
    "GET /2/users/by": ({B, U1, U2}, READ),
    "GET /2/users/by/username/:": ({B, U1, U2}, READ),
    "POST /2/dm_conversations/with/:/messages": ({U1, U2}, DM_WRITE),
    "POST /2/dm_conversations/:/messages": ({U1, U2}, DM_WRITE),
    "POST /2/dm_conversations": ({U1, U2}, DM_WRITE),
    "GET /2/dm_events": ({U1, U2}, DM_READ),
    "GET /2/dm_events/:": ({U1, U2}, DM_READ),
    "GET /2/dm_conversations/with/:/dm_events": ({U1, U2}, DM_READ),
    "GET /2/dm_conversations/:/dm_events": ({U1, U2}, DM_READ),
    "GET /2/usage/posts": ({B}, ()),
    "POST /2/articles/draft": ({U1, U2}, WRITE),
    "POST /2/articles/:/publish": ({U1, U2}, WRITE),
    "GET /2/news/search": ({B, U2}, READ),
    "GET /2/news/:": ({B, U1, U2}, READ),
    "POST /2/notes": ({U1, U2}, ("post.write",)),
    "DELETE /2/notes/:": ({U1, U2}, ("post.write",)),
    "GET /2/notes/search/notes_written": ({U1, U2}, ("post.read",)),
    "GET /2/notes/search/posts_eligible_for_notes": ({U1, U2}, ("post.read",)),
    "POST /2/evaluate_note": ({U1, U2}, ("post.write",)),
}
"""Columns "Auth" of the reference for named endpoints; `:` is any parameter of a path."""
OWN = {"/2/oauth2/authorize", "/2/oauth2/token", "/2/oauth2/revoke"}
"""The endpoints that make and end tokens."""


KEYS: dict[str, Keys | str] = {B: BEARER, U1: HARBOR, U2: USER_TOKEN}
"""Credentials of each kind."""


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox in which every endpoint exists, also the one that was retired."""
    return sandbox(freeze=datetime(2026, 3, 19, tzinfo=UTC), releases="all")


def shape(operation: Operation) -> str:
    """Method and path, without the names of the path's parameters."""
    parts = [":" if part.startswith(":") else part for part in operation.path.split("/")]
    return f"{operation.method} {'/'.join(parts)}"


NAMED = [
    operation
    for operation in OPERATIONS
    if operation.origin is Origin.NAMED
    and operation.dialect == "v2"
    and operation.path not in OWN
    and not operation.path.startswith("/2/media/")
]


@pytest.mark.parametrize("operation", NAMED, ids=lambda operation: operation.id)
def test_kinds_and_scopes(operation: Operation) -> None:
    """An operation takes what the reference lists, and nothing else."""
    kinds, scopes = LISTED[shape(operation)]

    assert (kinds, scopes) == (set(operation.auth.schemes), tuple(sorted(operation.auth.scopes)))


@pytest.mark.parametrize("operation", NAMED, ids=lambda operation: operation.id)
def test_other_kinds_are_refused(box: Sandbox, operation: Operation) -> None:
    """Whoever calls with another kind of credentials is refused before anything else."""
    path = re.sub(r":[a-z_]+", "1", operation.path)
    for kind in {B, U1, U2} - set(operation.auth.schemes):
        answer = box.call(operation.method, path, keys=KEYS[kind])

        assert 403 == answer.status_code, (kind, answer.text)
        assert answer.get_json()["type"].endswith("/unsupported-authentication")


def test_media_takes_users_with_their_scope() -> None:
    """Every step of an upload needs media.write."""
    found = [each for each in OPERATIONS if each.path.startswith("/2/media/")]

    assert found
    assert all({U1, U2} == set(each.auth.schemes) for each in found)
    assert {("media.write",)} == {each.auth.scopes for each in found}
