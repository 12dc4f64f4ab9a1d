"""Control characters and endless numbers, wherever control plane and pages take text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.control.console.serving import LOGIN_ROUTES, LOGOUT, PAGES
from mock_platform.control.route import Route
from mock_platform.control.routes import ROUTES
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from tests.support import FORM, Sandbox, sandbox

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
_ALL = (*ROUTES, *(route for page in PAGES for route in page.routes), *LOGIN_ROUTES, LOGOUT)
_BROWSER = [each for each in OPERATIONS if each.path.endswith(("/authorize", "/authenticate"))]
_ODD = ("\n", "/a\r\nX: y", "a\0b", "\x1b", "\x7f", "\u2028", "9" * 400, "%")
_IN_FORMS = ("name", "seconds", "seed", "to", "key", "text", "file", "next", "record")
_TOKEN = "s3cret"
SETTINGS = {"control_token": _TOKEN}


def list_odd_requests(route: Route) -> Iterator[tuple[str, dict[str, str]]]:
    """Paths with their query, and forms, in each of which one text is odd."""
    queries = [field.data_key or name for name, field in route.query().fields.items()]
    for odd in _ODD:
        for name in _PARAMETER.findall(route.path):
            yield _fill(route, {name: odd}), {}
        for name in {*queries} - {"wait"}:
            yield f"{_fill(route, {})}?{urlencode({name: odd})}", {}
        for name in _IN_FORMS if route.form else ():
            yield _fill(route, {}), {"token": _TOKEN, name: odd}


def _fill(route: Route, values: dict[str, str]) -> str:
    def replace(found: re.Match[str]) -> str:
        return quote(values.get(found[1], "users"), safe="")

    return f"/_mock{_PARAMETER.sub(replace, route.path)}"


@pytest.mark.parametrize("route", _ALL, ids=lambda route: f"{route.method} {route.path}")
def test_routes_never_fail(box: Sandbox, route: Route) -> None:
    """Whatever text a route gets, the sandbox itself does not fail."""
    headers = {"Authorization": f"Bearer {_TOKEN}", "Origin": "http://localhost"}
    for path, form in list_odd_requests(route):
        sent: dict[str, Any] = {"data": form, "content_type": FORM} if route.form else {"json": {}}
        more = {} if route.method == "GET" else sent
        answer = box.client.open(path, method=route.method, headers=headers, **more)
        status = answer.status_code
        answer.close()
        assert (status, []) == (status if status < 500 else "no failure", box.platform.errors)


@pytest.mark.parametrize("operation", _BROWSER, ids=lambda operation: str(operation.id))
def test_pages_of_the_consent_never_fail(box: Sandbox, operation: Operation) -> None:
    """Whatever text the pages on which users sign in get, the sandbox itself does not fail."""
    schema = operation.params or Schema
    names = {field.data_key or name for name, field in schema().fields.items()}
    for name in names | {"oauth_token", "redirect_uri", "state", "screen_name", "password"}:
        for odd in _ODD:
            sent: dict[str, Any] = {"query_string": {name: odd}}
            if operation.method != "GET":
                sent |= {"data": {name: odd}, "content_type": FORM}
            answer = box.client.open(operation.path, method=operation.method, **sent)
            assert answer.status_code < 500
    assert [] == box.platform.errors


def test_the_name_of_a_file_of_records(tmp_path: Path) -> None:
    """A NUL in the name of a file of records is a fault of the scenario, with its place."""
    (tmp_path / "own.yaml").write_text(
        "name: own\nrules:\n  - on: line_items.list\n    then: {error: 99}\n", encoding="utf-8"
    )
    rule = '{on: ["GET /c", "GET /c/:id"], then: {collection: "a\\0b.json"}}'
    text = f"name: own\nrules: [{rule}]\n"
    box = sandbox(scenarios=(str(tmp_path),))
    form = {"text": text, "file": "c.yaml", "folder": str(tmp_path), "action": "save"}
    answer = box.client.post(
        "/_mock/console/scenarios/+new", data=form, headers={"Origin": "http://localhost"}
    )

    assert 422 == answer.status_code
    assert "the name of a file has no NUL character" in answer.text
    assert [] == box.platform.errors
