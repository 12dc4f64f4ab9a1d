"""The whole v2 interface, compared with its public description: `surface.json`, one row each.

The file has facts of the public description 2.167 and of the pages on rate limits: kinds of
credentials, scopes, parameters with their bounds, keys of bodies, statuses and limits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Operation
from tests.support import BEARER, HARBOR, USER_TOKEN, Keys, Sandbox, sandbox

FACTS: Mapping[str, Any] = json.loads(Path(__file__).with_name("surface.json").read_text())
ROWS: Mapping[str, Mapping[str, Any]] = {row["operation"]: row for row in FACTS["operations"]}
B, U1, U2 = "bearer", "oauth1", "oauth2"
KEYS: Mapping[str, Keys | str] = {B: BEARER, U1: HARBOR, U2: USER_TOKEN}
"""Credentials of each kind."""
OTHER_KINDS: Mapping[str, tuple[set[str], tuple[str, ...]]] = {
    "POST /2/activity/subscriptions": ({B, U1, U2}, ("post.read",)),
    "POST /2/articles/draft": ({U1, U2}, ("post.read", "post.write", "users.read")),
    "POST /2/articles/:/publish": ({U1, U2}, ("post.read", "post.write", "users.read")),
}
"""Operations that take what the reference for named endpoints says, which is about 2.166."""
FURTHER: Mapping[str, set[str]] = {"GET /2/users/:/mentions": {"exclude"}}
"""Parameters that the pages of the documentation have and the description has not."""
OLDER: Mapping[str, tuple[set[str], tuple[str, ...]]] = {
    "POST /2/account_activity/replay/webhooks/:/subscriptions/all": ({B}, ()),
    "POST /2/evaluate_note": ({U1, U2}, ("post.write",)),
    "POST /2/users/:/blocking": ({U1, U2}, ("block.write", "post.read", "users.read")),
    "DELETE /2/users/:/blocking/:": ({U1, U2}, ("block.write", "post.read", "users.read")),
}
"""Operations that the description no longer has."""


def shape(operation: Operation) -> str:
    """Method and path, without the names of the path's parameters."""
    parts = [":" if part.startswith(":") else part for part in operation.path.split("/")]
    return f"{operation.method} {'/'.join(parts)}"


SERVED = [
    each
    for each in OPERATIONS
    if each.dialect == "v2" and (shape(each) in ROWS or shape(each) in OLDER)
]
BY_SHAPE = {shape(each): each for each in SERVED}


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox in which every endpoint exists, also those that were retired."""
    return sandbox(freeze=datetime(2026, 3, 19, tzinfo=UTC), releases="all")


@pytest.fixture(scope="module")
def document(box: Sandbox) -> Mapping[str, Any]:
    """The description that the sandbox serves, by method and path without names."""
    paths = box.client.get("/2/openapi.json").get_json()["paths"]
    return {
        f"{method.upper()} {re.sub(r'{[a-z_]+}', ':', path)}": described
        for path, methods in paths.items()
        for method, described in methods.items()
    }


@pytest.mark.parametrize("operation", SERVED, ids=lambda operation: operation.id)
def test_kinds_and_scopes(operation: Operation) -> None:
    """An operation takes the credentials and the scopes of the description, and nothing else."""
    row = ROWS.get(shape(operation), {"kinds": (), "scopes": ()})
    listed = set(row["kinds"]), tuple(row["scopes"])
    kinds, scopes = OTHER_KINDS.get(shape(operation)) or OLDER.get(shape(operation)) or listed
    assert (kinds, scopes) == (set(operation.auth.schemes), tuple(sorted(operation.auth.scopes)))


@pytest.mark.parametrize(
    "operation", [each for each in SERVED if each.auth.schemes], ids=lambda operation: operation.id
)
def test_other_kinds_are_refused(box: Sandbox, operation: Operation) -> None:
    """Whoever calls with another kind of credentials is refused before anything else."""
    path = re.sub(r":[a-z_]+", "1", operation.path)
    for kind in {B, U1, U2} - set(operation.auth.schemes):
        answer = box.call(operation.method, path, keys=KEYS[kind])

        assert 403 == answer.status_code, (kind, answer.text)
        assert answer.get_json()["type"].endswith("/unsupported-authentication")
        assert kind != B or answer.get_json()["detail"].startswith(
            "Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  "
            "Supported authentication types are [OAuth"
        )


def test_parameters_of_paths(document: Mapping[str, Any]) -> None:
    """Each id in a path is described by its form, so that tools do not make up others."""
    free = {
        (name, each["name"])
        for name, described in document.items()
        for each in described.get("parameters", ())
        if each["in"] == "path" and each["schema"] == {"type": "string"}
    }
    keys = {"POST /2/compliance/jobs/:/upload/:", "PUT /2/compliance/jobs/:/upload/:"}
    assert {name for name, _ in free} == {*keys, "GET /2/compliance/jobs/:/download/:"}


@pytest.mark.parametrize(
    ("path", "name", "pattern"),
    [
        ("GET /2/users/:", "id", "^[0-9]{1,19}$"),
        ("GET /2/users/by/username/:", "username", "^[A-Za-z0-9_]{1,15}$"),
        ("DELETE /2/users/:/following/:", "target_user_id", "^[0-9]{1,19}$"),
        ("GET /2/spaces/:", "id", "^[a-zA-Z0-9]{1,13}$"),
        ("GET /2/users/:/timelines/reverse_chronological", "id", "^[0-9]{1,19}$"),
        ("PUT /2/webhooks/:", "webhook_id", "^[0-9]{1,19}$"),
        ("POST /2/media/upload/:/append", "id", "^[0-9]{1,19}$"),
    ],
)
def test_patterns_of_paths(document: Mapping[str, Any], path: str, name: str, pattern: str) -> None:
    """The patterns are those of the public description."""
    [schema] = [
        each["schema"]
        for each in document[path]["parameters"]
        if (each["in"], each["name"]) == ("path", name)
    ]
    assert pattern == schema["pattern"]


NEW = [each for each in SERVED if each.origin.value == "public fact" and shape(each) in ROWS]
_BOUNDS = ("minimum", "maximum", "minItems", "maxItems", "default", "enum")


def test_ids_are_those_of_the_public_description(document: Mapping[str, Any]) -> None:
    """Clients generated from either description have methods of the same names."""
    published = {each["id"] for each in FACTS["operations"]}
    described = {name: each.get("operationId") for name, each in document.items()}

    for name, row in ROWS.items():
        assert row["id"] == described[name]
    others = [each for name, each in described.items() if each and name not in ROWS]
    assert not published & {*others}


@pytest.mark.parametrize("operation", NEW, ids=lambda operation: operation.id)
def test_parameters(document: Mapping[str, Any], operation: Operation) -> None:
    """Parameters of the query have the names, bounds and values of the description.

    Older spellings (`tweet.fields`) are further parameters; bounds that the description leaves
    open may be closer.
    """
    described = {
        each["name"]: each
        for each in document[shape(operation)].get("parameters", ())
        if each["in"] == "query"
    }
    for name, facts in ROWS[shape(operation)]["query"].items():
        assert name in described, name
        schema = described[name]["schema"]
        assert bool(facts.get("required")) == described[name]["required"], name
        for bound in _BOUNDS:
            if bound in facts and bound != "enum":
                assert facts[bound] == schema.get(bound), (name, bound)
        taken = schema.get("items", schema).get("enum", ())
        assert set(facts.get("enum", ())) <= set(taken), name
        if "values" in facts:
            assert set(FACTS["values"][facts["values"]]) <= set(taken), name
    known = {*ROWS[shape(operation)]["query"], *FURTHER.get(shape(operation), ())}
    further = set(described) - known
    assert {each for each in further if "tweet" not in each} == set(), "not in the description"


@pytest.mark.parametrize("operation", NEW, ids=lambda operation: operation.id)
def test_bodies_and_statuses(document: Mapping[str, Any], operation: Operation) -> None:
    """A body has the keys of the description, required where it says so; the status is its own."""
    row, described = ROWS[shape(operation)], document[shape(operation)]

    assert str(row["status"]) in described["responses"]
    if "body" in row:
        content = described["requestBody"]["content"]
        schema = next(iter(content.values()))["schema"]
        if "$ref" in schema:
            found = sandbox().client.get("/2/openapi.json").get_json()["components"]["schemas"]
            schema = found[schema["$ref"].rpartition("/")[2]]
        names = {each for each in schema["properties"] if "tweet" not in each}
        assert names == set(row["body"]["properties"])
        assert set(schema.get("required", ())) == set(row["body"]["required"])


_WINDOWS = {"15min": 900, "24hrs": 86_400, "sec": 1}
_OLDER_LIMITS = {"list_followers.list": 180, "followed_lists.list": 15}
"""Those that recorded answers and older pages show, and the page of today leaves out."""


@pytest.mark.parametrize(
    "operation",
    [each for each in SERVED if each in NEW or "limits" in ROWS.get(shape(each), {})],
    ids=lambda operation: operation.id,
)
def test_limits(operation: Operation) -> None:
    """The windows are those of the public page, by app and by user."""
    published = {
        (per, int(number), _WINDOWS[window])
        for per, texts in ROWS[shape(operation)].get("limits", {}).items()
        for number, window in (text.split("/") for text in texts)
    }

    if "/stream" in operation.path and not published:
        published = {("app", 50, 900)}  # the page says it of the sample stream alone
    if operation.id in _OLDER_LIMITS:
        published = {(per, _OLDER_LIMITS[operation.id], 900) for per in ("app", "user")}

    assert published == {(limit.per, limit.count, limit.seconds) for limit in operation.limits}


def test_nothing_is_missing() -> None:
    """Every operation of the description is served."""
    missing = sorted(set(ROWS) - set(BY_SHAPE) - {"GET /2/openapi.json"})
    assert [] == missing
