from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mock_platform.control.routes import ROUTES, describe_everything
from mock_platform.core.description.openapi import template_path
from mock_platform.version import __version__
from tests.control.support import call
from tests.descriptions import keep_paths, validate
from tests.support import Sandbox, sandbox


def described(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Method and path of everything that a document describes."""
    return {(m.upper(), path) for path, item in document["paths"].items() for m in item}


def test_valid(box: Sandbox) -> None:
    """The document is valid OpenAPI 3.1 and names the program's version.

    Its operations are those of the contract, which the tests of the contract validate.
    """
    document = call(box, "GET", "/openapi.json").get_json()

    validate(keep_paths(document, lambda path: path.startswith("/_mock")))
    assert ("3.1.0", __version__) == (document["openapi"], document["info"]["version"])


def test_everything_served(box: Sandbox) -> None:
    """Every operation (of advertising twice) and every JSON route are in it, and nothing else."""
    document = describe_everything(box.platform).at("http://localhost")

    operations = {
        (operation.method, prefix + template_path(path))
        for operation in box.platform.operations
        for path in (operation.path, *operation.also)
        for prefix in ("", "/sandbox")
        if (not prefix and not operation.sandbox_only) or (prefix and operation.dialect == "ads")
    }
    routes = {
        (route.method, route.rule.replace("path:", "").replace("<", "{").replace(">", "}"))
        for route in ROUTES
        if route.media_type != "text/html"
    }
    assert operations | routes == described(document)


def test_server_is_the_address_called(box: Sandbox) -> None:
    """The server entry is the address at which the document was asked for."""
    plain = call(box, "GET", "/openapi.json")
    prefixed = box.call(
        "GET", "/~default/_mock/openapi.json", keys=None, headers={"Host": "127.0.0.1:1234"}
    )

    assert [{"url": "http://localhost"}] == plain.get_json()["servers"]
    assert [{"url": "http://127.0.0.1:1234/~default"}] == prefixed.get_json()["servers"]


def test_bodies_of_routes(box: Sandbox) -> None:
    """Bodies and queries of routes are described by what checks them."""
    document = call(box, "GET", "/openapi.json").get_json()
    clock = document["components"]["schemas"]["ClockBody"]
    requests = document["paths"]["/_mock/requests"]["get"]

    assert ["freeze", "travel", "advance", "resume"] == clock["properties"]["action"]["enum"]
    assert ["action"] == clock["required"]
    assert {"operation", "status", "method", "path", "rule", "ended", "since", "limit"} == {
        parameter["name"] for parameter in requests["parameters"]
    }


def test_token(document: dict[str, Any]) -> None:
    """Where a token is needed the document says so, and nothing else in it is different."""
    box = sandbox(control_token="s3cret")
    headers = {"X-Mock-Control-Token": "s3cret"}

    found = call(box, "GET", "/openapi.json", headers=headers).get_json()

    assert [{"control": []}] == found["paths"]["/_mock/clock"]["get"]["security"]
    schemes = {"control": found["components"]["securitySchemes"].pop("control")}
    validate(
        {key: found[key] for key in ("openapi", "info")}
        | {"paths": {}, "components": {"securitySchemes": schemes}}
    )
    assert list_without_security(document) == list_without_security(found)
    assert document["components"] == found["components"]


def list_without_security(document: dict[str, Any]) -> dict[str, Any]:
    """What a document says of each method and path, but not of the control token."""
    return {
        f"{method} {path}": {key: entry[key] for key in entry if key != "security"}
        if path.startswith("/_mock/")
        else entry
        for path, item in document["paths"].items()
        for method, entry in item.items()
    }


# -- bodies and names of the control plane -------------------------------------------------------


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The description of a server with its usual settings."""
    return describe_everything(sandbox().platform).at("http://localhost")


def test_the_sandbox_describes_what_the_plain_address_does(
    box: Sandbox, document: dict[str, Any]
) -> None:
    """Each advertising operation is described twice, alike but for its id."""
    paths = document["paths"]

    for operation in box.platform.operations:
        if operation.dialect == "ads" and not operation.sandbox_only:
            method = operation.method.lower()
            plain = paths[template_path(operation.path)][method]
            other = paths[f"/sandbox{template_path(operation.path)}"][method]
            assert f"sandbox.{operation.id}" == other["operationId"]
            assert plain == other | {"operationId": operation.id}


def test_operation_ids_occur_once(document: dict[str, Any]) -> None:
    """No id is that of two operations."""
    paths = document["paths"]
    ids = [e["operationId"] for item in paths.values() for e in item.values() if "operationId" in e]

    assert len(ids) == len(set(ids))


def test_bodies_say_what_is_required(document: dict[str, Any]) -> None:
    """A body is required where it has required fields; the others may be left out."""
    required = {
        f"{method.upper()} {path}": entry["requestBody"]["required"]
        for path, item in document["paths"].items()
        for method, entry in item.items()
        if path.startswith("/_mock") and "requestBody" in entry
    }

    assert {
        "PUT /_mock/clock", "PUT /_mock/make", "POST /_mock/events",
        "POST /_mock/rules/explain", "PUT /_mock/scenarios/{name}",
        "PUT /_mock/state", "PUT /_mock/state/{table}/{key}", "PATCH /_mock/state/{table}/{key}",
        "POST /_mock/streams/{key}/stall", "POST /_mock/transitions/{kind}/{key}",
        "POST /_mock/provider-states", "POST /_mock/provider-messages", "POST /_mock/mcp",
    } == {route for route, needed in required.items() if needed}  # fmt: skip


def body_of(document: dict[str, Any], method: str, path: str) -> Draft202012Validator:
    """What checks a JSON body as the description says."""
    content = document["paths"][path][method]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    return Draft202012Validator(schema | {"components": document["components"]})


EVENT = {"webhook_id": "1", "event_type": "profile.update.bio", "payload": {}}


@pytest.mark.parametrize(
    ("method", "path", "body", "fits"),
    [
        ("put", "/clock", {"action": "travel", "to": "2026-01-01T00:00:00Z"}, True),
        ("put", "/clock", {"action": "travel"}, False),
        ("put", "/clock", {"action": "advance", "seconds": 1}, True),
        ("put", "/clock", {"action": "advance"}, False),
        ("put", "/clock", {"action": "resume", "seconds": 1}, False),
        ("put", "/clock", {"action": "freeze"}, True),
        ("put", "/clock", {}, False),
        ("post", "/events", EVENT, True),
        ("post", "/events", EVENT | {"created_at": "now-2h"}, True),
        ("post", "/events", EVENT | {"event_type": "no.such"}, False),
        ("post", "/events", {"webhook_id": "1", "payload": {}}, False),
        ("post", "/events", EVENT | {"x": 1}, False),
        ("put", "/scenarios/{name}", {"rules": [{"then": {"error": 88}}]}, True),
        ("put", "/scenarios/{name}", {"rules": [{}]}, False),
        ("put", "/scenarios/{name}", {"name": "x"}, False),
        ("put", "/state", {"tables": {"users": []}}, True),
        ("put", "/state", {"tables": {"userz": []}}, False),
        ("put", "/state", {}, False),
        ("post", "/transitions/{kind}/{key}", {"to": "COMPLETE"}, True),
        ("post", "/transitions/{kind}/{key}", {"to": "DONE!"}, False),
        ("post", "/transitions/{kind}/{key}", {}, False),
        ("put", "/worlds/{name}", {"from": "default"}, True),
        ("put", "/worlds/{name}", {"from": "no name"}, False),
    ],
)
def test_what_bodies_must_be(
    box: Sandbox,
    document: dict[str, Any],
    method: str,
    path: str,
    body: dict[str, Any],
    *,
    fits: bool,
) -> None:
    """The description takes sound bodies and refuses those that the route refuses."""
    described = body_of(document, method, f"/_mock{path}")
    names = {"{name}": "w1", "{kind}": "replay_job", "{key}": "1"}
    for name, value in names.items():
        path = path.replace(name, value)
    response = call(box, method.upper(), path, json=body)

    assert fits is described.is_valid(body)
    if not fits:
        assert 422 == response.status_code


def test_dumped_state_fits(box: Sandbox, document: dict[str, Any]) -> None:
    """What a world returns as its state is accepted as a new state."""
    body_of(document, "put", "/_mock/state").validate(call(box, "GET", "/state").get_json())


@pytest.mark.parametrize("wire", ["recorded", "spec,problems=json"])
def test_the_description_of_another_wire(wire: str) -> None:
    """Problems of the platform are JSON there; those of the control plane stay as they are."""
    described = call(sandbox(wire=wire), "GET", "/openapi.json").get_json()["paths"]
    platform = described["/2/users/{id}"]["get"]["responses"]["default"]
    control = described["/_mock/worlds/{name}"]["put"]["responses"]

    assert ["application/json"] == [*platform["content"]]
    assert {"application/problem+json"} == {
        kind for status, one in control.items() if status >= "4" for kind in one["content"]
    }
