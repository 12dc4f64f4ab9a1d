"""What the operations of the v2 interface refuse in one way: bounds, ids, tiers.

The rows follow from the declarations, so an operation that is added is tested here without a line.
The tests of its family have what it alone refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Location, Operation, Origin
from tests.support import BEARER, HARBOR, USER_TOKEN, Keys, Sandbox, sandbox

OWN = "2244994945"
KNOWN: Mapping[str, Keys | str] = {"oauth1": HARBOR, "oauth2": USER_TOKEN, "bearer": BEARER}
V2 = [each for each in OPERATIONS if each.dialect == "v2" and KNOWN.keys() & {*each.auth.schemes}]
PUBLIC = [each for each in V2 if each.origin is Origin.PUBLIC_FACT]
"""Those that the specification does not name; the rules of the others have rows of their own."""


def of_each(operations: Sequence[Operation]) -> pytest.MarkDecorator:
    """Make of a test one for each of some operations."""
    return pytest.mark.parametrize("operation", operations, ids=lambda operation: operation.id)


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox in which every endpoint exists, also those that were retired."""
    return sandbox(freeze=datetime(2026, 3, 19, tzinfo=UTC), releases="all")


def ask(
    box: Sandbox,
    operation: Operation,
    *,
    keys: Keys | str | None = None,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    ids: Mapping[str, str] | None = None,
) -> TestResponse:
    """The answer of an operation; ids in its path that are not given are the caller's."""
    chosen = keys or next(KNOWN[kind] for kind in KNOWN if kind in operation.auth.schemes)
    path = re.sub(":([a-z_]+)", lambda name: (ids or {}).get(name[1], OWN), operation.path)
    more: dict[str, Any] = {"json": body or {}} if operation.location is Location.JSON else {}
    return box.call(operation.method, path, keys=chosen, query_string=query or {}, **more)


def list_faults(answer: TestResponse) -> dict[str, str]:
    """The messages of a refusal by the parameters at fault."""
    assert 400 == answer.status_code, answer.text
    errors = answer.get_json()["errors"]
    return {name: each["message"] for each in errors for name in each["parameters"]}


@pytest.fixture(scope="module")
def queries(box: Sandbox) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The parameters of queries by name, of each method and path of the description."""
    paths = box.client.get("/2/openapi.json").get_json()["paths"]
    return {
        f"{method.upper()} {path}": {
            each["name"]: each for each in described.get("parameters", ()) if each["in"] == "query"
        }
        for path, methods in paths.items()
        for method, described in methods.items()
    }


def describe(queries: Mapping[str, Mapping[str, Any]], operation: Operation) -> Mapping[str, Any]:
    """The parameters of an operation's query; none of one that is no longer described."""
    path = re.sub(":([a-z_]+)", r"{\1}", operation.path)
    return queries.get(f"{operation.method} {path}", {})


def list_outside(schema: Mapping[str, Any]) -> Iterator[str]:
    """Values just outside of the bounds of a parameter, not listed, and not as its pattern."""
    steps = {"minimum": -1, "maximum": 1}
    yield from (str(schema[name] + step) for name, step in steps.items() if name in schema)
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield "x" * (schema["minLength"] - 1)
    if "maxItems" in schema:
        yield ",".join(["1"] * (schema["maxItems"] + 1))
    if "enum" in schema or "enum" in schema.get("items", ()):
        yield "nothing"
    if schema.get("type") == "boolean":
        yield "perhaps"
    if "pattern" in schema or "pattern" in schema.get("items", ()):
        yield "?"


def list_inside(schema: Mapping[str, Any]) -> Iterator[str]:
    """The outermost values within the bounds of a parameter."""
    yield from (str(schema[name]) for name in ("minimum", "maximum") if name in schema)
    if "maxLength" in schema and not {"pattern", "enum", "format"} & schema.keys():
        yield "x" * schema["maxLength"]
    if "maxItems" in schema and not {"pattern", "enum"} & schema["items"].keys():
        yield ",".join(["1"] * schema["maxItems"])


@of_each(V2)
def test_bounds(box: Sandbox, queries: Any, operation: Operation) -> None:
    """A value just outside of its bounds, or of a list, is refused by name; the bounds are not.

    What they name may be refused as there is no such record.
    """
    for name, each in describe(queries, operation).items():
        schema = each["schema"]
        for value in list_outside(schema):
            found = list_faults(ask(box, operation, query={name: value}))
            assert name in found, (value, found)
        for value in list_inside(schema) if not name.endswith("_token") else ():
            with closing(ask(box, operation, query={name: value})) as answer:
                refused = list_faults(answer) if 400 == answer.status_code else {}
                assert "NotFound: " in refused.get(name, "NotFound: "), value


@of_each(V2)
def test_required(box: Sandbox, queries: Any, operation: Operation) -> None:
    """What a query must have and has not is named."""
    required = {name for name, each in describe(queries, operation).items() if each["required"]}
    assert not required or required <= set(list_faults(ask(box, operation)))


@pytest.fixture(scope="module")
def bodies(box: Sandbox) -> Mapping[str, Any]:
    """The schemas of JSON bodies, of each method and path of the description."""
    document = box.client.get("/2/openapi.json").get_json()
    found = {}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            content = described.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            name = schema.get("$ref", "").rpartition("/")[2]
            found[f"{method.upper()} {path}"] = document["components"]["schemas"].get(name, schema)
    return found


@of_each([each for each in PUBLIC if each.location is Location.JSON])
def test_bodies(box: Sandbox, bodies: Mapping[str, Any], operation: Operation) -> None:
    """Keys that are missing are named, and texts and numbers just outside of their bounds."""
    schema = describe(bodies, operation)
    required = {name for name in schema.get("required", ()) if "tweet" not in name}
    assert not required or required <= list_faults(ask(box, operation)).keys()
    for name, each in schema.get("properties", {}).items():
        for value in list_outside(each):
            sent = int(value) if each["type"] == "integer" else value
            assert name in list_faults(ask(box, operation, body={name: sent})), value
        for value in list_inside(each) if each.get("type") != "array" else ():
            sent = int(value) if each["type"] == "integer" else value
            answer = ask(box, operation, body={name: sent})
            assert 400 != answer.status_code or name not in list_faults(answer), value


@of_each([each for each in PUBLIC if each.rules is not None and "/upload/" not in each.path])
def test_ids_in_paths(box: Sandbox, operation: Operation) -> None:
    """What cannot be an id is refused with the name that it has in the path."""
    for name in {*operation.path_names} - {"media_hash_key", "resource_id"}:  # which are texts
        assert "[no-id]" in list_faults(ask(box, operation, ids={name: "no-id"}))[name]


@pytest.fixture(scope="module")
def tiered() -> Sandbox:
    """A sandbox that refuses apps of lower tiers."""
    return sandbox(freeze=datetime(2026, 4, 20, tzinfo=UTC), tiers="on", releases="all")


@of_each([each for each in V2 if each.tier_gate is not None])
@pytest.mark.parametrize("tier", ["self_serve", "enterprise", "partner"])
def test_tiers(tiered: Sandbox, operation: Operation, tier: str) -> None:
    """With `--tiers on`, apps of lower tiers are refused what is kept for enterprises."""
    tiered.change("apps", "11827", _tier=tier)
    answer = ask(tiered, operation)

    if tier == "self_serve":
        assert (403, "client-not-enrolled") == (answer.status_code, answer.get_json()["reason"])
    else:
        assert 403 != answer.status_code
        answer.close()


@pytest.mark.parametrize("day", [19, 20])
@of_each([each for each in V2 if each.id in {"likes.create", "following.create"}])
def test_tiers_since_their_day(operation: Operation, day: int) -> None:
    """Likes and follows are kept for enterprises from 2026-04-20 on."""
    box = sandbox(freeze=datetime(2026, 4, day, tzinfo=UTC), tiers="on")
    box.change("apps", "11827", _tier="self_serve")
    assert (403 if day == 20 else 400) == ask(box, operation).status_code
