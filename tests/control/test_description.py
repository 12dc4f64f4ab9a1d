from __future__ import annotations

from typing import Any

import pytest
from openapi_spec_validator import validate

from mock_platform.control.routes import ROUTES, describe_everything
from mock_platform.core.openapi import templated
from mock_platform.version import __version__
from tests.control.support import call
from tests.support import Sandbox, sandbox


@pytest.fixture
def box() -> Sandbox:
    """A fresh sandbox."""
    return sandbox()


def described(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Method and path of everything that a document describes."""
    return {(m.upper(), path) for path, item in document["paths"].items() for m in item}


def test_valid(box: Sandbox) -> None:
    """The document is valid OpenAPI 3.1 and names the program's version."""
    document = call(box, "GET", "/openapi.json").get_json()

    validate(document)
    assert ("3.1.0", __version__) == (document["openapi"], document["info"]["version"])


def test_everything_served(box: Sandbox) -> None:
    """Every operation and every JSON route stands in it, and nothing else."""
    document = describe_everything(box.platform).at("http://localhost")

    operations = {
        (operation.method, ("/sandbox" if operation.sandbox_only else "") + templated(path))
        for operation in box.platform.operations
        for path in (operation.path, *operation.also)
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
    assert {"operation", "status", "method", "path", "rule", "since", "limit"} == {
        parameter["name"] for parameter in requests["parameters"]
    }


def test_token() -> None:
    """Where a token is needed the document says so."""
    box = sandbox(control_token="s3cret")
    headers = {"X-Mock-Control-Token": "s3cret"}

    document = call(box, "GET", "/openapi.json", headers=headers).get_json()

    assert [{"control": []}] == document["paths"]["/_mock/clock"]["get"]["security"]
    assert "control" in document["components"]["securitySchemes"]
    validate(document)
