"""What all v2 families have in common: when they begin, what their paths and bodies are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.conventions import (
    NamedPostBody,
    check_path,
    declare_public,
    wrap_data,
)
from mock_platform.core.auth.authenticate import BEARER as APP
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Location, Operation
from mock_platform.settings import Settings
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys, Sandbox, Sandboxes, sandbox
from tests.support_replay import WEBHOOK

ADDED: Mapping[str, Sequence[str]] = {
    "2025-05-20": ["GET /2/account_activity/subscriptions/count", "GET /2/webhooks"],
    "2025-07-08": [
        "POST /2/notes", "DELETE /2/notes/1991204475120123960",
        "GET /2/notes/search/notes_written?test_mode=true",
        "GET /2/notes/search/posts_eligible_for_notes?test_mode=true",
    ],
    "2025-09-09": [
        "GET /2/posts/search/stream/rules", "GET /2/posts/search/stream/rules/counts",
        "GET /2/posts/search/webhooks", f"POST /2/posts/search/webhooks/{WEBHOOK}",
        f"DELETE /2/posts/search/webhooks/{WEBHOOK}",
    ],
    "2025-09-17": ["POST /2/evaluate_note"],
    "2025-09-19": [
        "GET /2/connections", "DELETE /2/connections", "DELETE /2/connections/all",
        "DELETE /2/connections/activity_stream",
    ],
    "2025-11-19": ["GET /2/news/search?query=coffee", "GET /2/news/1991204475120123905"],
    "2026-01-29": ["GET /2/users/2244994945/affiliates"],
    "2026-06-11": ["POST /2/articles/draft", "POST /2/articles/1991204475120123970/publish"],
}  # fmt: skip
"""Requests of endpoints that the release history dates, by its date."""
SIGNED = ("/2/notes", "/2/articles", "/2/evaluate_note", "/2/dm_")
"""The beginnings of the paths for which a user signs."""


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox whose clock moves."""
    found = sandbox()
    found.change("apps", "11827", _tier="enterprise")
    return found


def sign(path: str) -> Keys | str:
    """Return what authenticates a request."""
    return HARBOR if path.startswith(SIGNED) else BEARER


@pytest.mark.spec(
    "A, Release history", "2025-05-20: Account Activity v2",
    case="GET /2/account_activity/subscriptions/count",
)  # fmt: skip
@pytest.mark.parametrize(
    ("request_", "date"), [(each, date) for date, group in ADDED.items() for each in group]
)
def test_endpoints_begin_with_their_release(box: Sandbox, request_: str, date: str) -> None:
    """A microsecond before its date an endpoint does not exist, and the refusal says why."""
    method, path = request_.split(" ")
    moment = datetime.fromisoformat(f"{date}T00:00:00+00:00")
    box.world.clock.freeze(moment - timedelta(microseconds=1))
    before = box.call(method, path, keys=sign(path))
    box.world.clock.freeze(moment)
    after = box.call(method, path, keys=sign(path))

    assert (404, "about:blank") == (before.status_code, before.get_json()["type"])
    assert f"adds this endpoint on {date}" in before.get_json()["detail"]
    assert "releases.clock" in before.headers["X-Mock-Assumptions"].split(",")
    assert "adds this endpoint" not in after.text
    assert method != "GET" or after.status_code == 200


def test_ids_in_paths(box: Sandbox) -> None:
    """Each parameter of a path has to be an id, or what its own pattern says."""
    call = Call("GET", "/", "/", "", (), path_params={"id": "x", "user_id": "5", "name": "a-b"})
    rule = check_path("id", "user_id", name=re.compile("[a-z]+"))
    found = [name for name, _ in rule({}, call, box.world, Settings())]
    assert ["id", "name"] == found


@pytest.mark.parametrize(
    ("method", "params", "location"),
    [("GET", NamedPostBody, Location.QUERY), ("POST", NamedPostBody, Location.JSON),
     ("PUT", NamedPostBody, Location.JSON), ("DELETE", NamedPostBody, Location.QUERY),
     ("POST", None, Location.QUERY)],
)  # fmt: skip
def test_where_parameters_are(
    method: str, params: type[NamedPostBody] | None, location: Location
) -> None:
    """Parameters of a write are in a JSON body; a write without any needs no body."""
    declared = declare_public(
        "things.any", f"{method} /2/things", lambda _call, _world: {}, "Do anything", auth=APP,
        returns=wrap_data("ThingAnswer", done=Flag()), params=params, assumptions=(),
    )  # fmt: skip

    assert (location, None) == (declared.location, declared.since)


WRITES = [
    operation
    for operation in OPERATIONS
    if operation.dialect == "v2"
    and operation.method != "GET"
    and "oauth1" in operation.auth.schemes
    and any(scope.endswith(".write") for scope in operation.auth.scopes)
    and not operation.auth.permissions_override
]
"""What changes something for a user who signs."""
READ_ALONE = "Your client app is not configured with the appropriate oauth1 app permissions"


@pytest.mark.parametrize("operation", WRITES, ids=lambda each: each.id)
def test_a_token_that_may_only_read_does_not_write(
    sandboxes: Sandboxes, operation: Operation
) -> None:
    """Whatever changes something is refused, before anything else is looked at."""
    box = sandboxes.get()
    box.change("tokens", str(HARBOR.token), access="read")

    answer = box.call(operation.method, re.sub(r":\w+", "1", operation.path))
    assert (403, "about:blank") == (answer.status_code, answer.get_json()["type"])
    assert answer.get_json()["detail"].startswith(READ_ALONE)
    assert "v2.oauth1-permissions" in answer.headers["X-Mock-Assumptions"].split(",")


def test_an_app_that_may_only_read(sandboxes: Sandboxes) -> None:
    """Its signed requests read; messages lack a permission of their own, other tokens none."""
    box = sandboxes.get()
    box.change("apps", "11827", _permissions=["read"])

    written = box.call("POST", "/2/posts", json={"text": "Hello"})
    assert written.get_json()["detail"].startswith(READ_ALONE)
    assert "_permissions of app 11827 lacks write" in written.headers["X-Mock-Why"]
    message = box.call("POST", "/2/dm_conversations/with/3805104374/messages", json={"text": "Hi"})
    assert [93] == [each["code"] for each in message.get_json()["errors"]]
    assert 201 == box.call("POST", "/2/posts", json={"text": "Hi"}, keys=USER_TOKEN).status_code
    assert "2244994945" == box.read("/2/users/me")["data"]["id"]


@pytest.mark.parametrize(
    "path", ["/2/broadcasts", "/2/broadcasts/scheduled", "/2/chat/conversations", "/2/dm_events"]
)
def test_a_token_belongs_to_the_user_who_asked(sandboxes: Sandboxes, path: str) -> None:
    """Where each user has a list of the own, the token of another user's list is refused."""
    box = sandboxes.get()
    box.change("apps", "20993", _permissions=["read", "write", "direct_messages"])
    token = box.read(path, max_results=1)["meta"]["next_token"]

    assert box.read(path, max_results=1, pagination_token=token)["data"]
    refused = box.read(path, keys=NORTHBIKE, status=400, max_results=1, pagination_token=token)
    assert ["pagination_token"] == [*refused["errors"][0]["parameters"]]
