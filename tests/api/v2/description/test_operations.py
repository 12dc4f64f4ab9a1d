"""The description of v2: each answer of an example is valid under it, in the same names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest
from jsonschema import Draft202012Validator

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS
from mock_platform.control.examples import sample
from mock_platform.core.envelope import Lines
from mock_platform.core.operation import MINUTE, Operation
from mock_platform.settings import NamesMode
from tests.descriptions import validate
from tests.support import BEARER, Sandbox, sandbox
from tests.test_kept_worlds import NOON

WIRES = (("neutral", "spec"), ("original", "spec"), ("original", "recorded"))


@cache
def open_box(names: NamesMode, wire: str) -> tuple[Sandbox, Mapping[str, Any]]:
    """A sandbox with these names and this wire, and the description that it serves."""
    box = sandbox(freeze=NOON, limits="off", names=names, wire=wire)
    return box, box.call("GET", "/2/openapi.json", keys=None).get_json()


def list_answered() -> Iterator[Operation]:
    """The operations under `/2` whose examples are answered at once, with JSON."""
    found = credentials(sandbox(freeze=NOON).world)
    for operation in OPERATIONS:
        if operation.dialect != "v2" or isinstance(operation.returns, Lines):
            continue
        try:
            sample(operation, found)
        except LookupError:
            continue
        yield operation


def find_described(document: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """What a document says of each operation, by our id of it."""
    return {
        entry["x-mock-operation"]: entry
        for item in document["paths"].values()
        for entry in item.values()
        if "operationId" in entry
    }


def list_all_fields(described: Mapping[str, Any]) -> dict[str, str]:
    """Everything that a client can ask an operation to show, by parameter."""
    return {
        each["name"]: ",".join(each["schema"]["items"]["enum"])
        for each in described.get("parameters", ())
        if re.search(r"[.]fields$|^expansions$", each["name"])
    }


@pytest.mark.parametrize(("names", "wire"), WIRES)
@pytest.mark.parametrize("operation", list(list_answered()), ids=lambda each: each.id)
def test_answers_are_valid_under_the_description(
    operation: Operation, names: NamesMode, wire: str
) -> None:
    """A client that checks what it gets, or was generated, reads every answer."""
    box, document = open_box(names, wire)
    box.world.reset()
    asked = sample(operation, credentials(box.world))
    body = None if asked.body is None else asked.body.replace(MINUTE, "202603011159")

    described = find_described(document)[operation.id]
    path = f"{asked.path}{'&' if '?' in asked.path else '?'}{urlencode(list_all_fields(described))}"
    answer = box.client.open(path, method=asked.method, headers=asked.headers, data=body)

    responses = described["responses"]
    content = responses.get(str(answer.status_code), responses["default"]).get("content", {})
    if answer.data and str(answer.mimetype).endswith("json"):
        form = {**content[answer.mimetype]["schema"], "components": document["components"]}
        faults = Draft202012Validator(form).iter_errors(answer.get_json())
        assert [f"{each.json_path}: {each.message}" for each in faults] == []


@pytest.mark.parametrize(
    "path", ["posts", "mentions", "followers", "following", "owned_lists", "list_memberships"]
)
def test_what_hangs_on_a_hidden_user_is_described(path: str) -> None:
    """An answer of errors alone is valid as well: there is no page, so it has no meta."""
    box, document = open_box("neutral", "spec")
    box.world.reset()
    box.change("users", "3805104374", protected=True)

    answer = box.call("GET", f"/2/users/3805104374/{path}", keys=BEARER)
    [described] = [
        item["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        for route, item in document["paths"].items()
        if route == f"/2/users/{{id}}/{path}"
    ]
    form = {**described, "components": document["components"]}
    faults = Draft202012Validator(form).iter_errors(answer.get_json())
    assert ["errors"] == list(answer.get_json())
    assert [] == [each.message for each in faults]


@pytest.mark.parametrize(("names", "wire"), WIRES)
def test_descriptions_are_valid(names: NamesMode, wire: str) -> None:
    """The document follows OpenAPI, and refers to nothing that it does not have."""
    _, document = open_box(names, wire)

    validate(document)
    assert names == "neutral" or not re.search(
        r'"(?:repost_count|edit_history_post_ids)"', str(document)
    )


@pytest.mark.parametrize("path", ["users/99", "users/x", "users/by/username/gone", "lists/1"])
def test_refusals_of_the_recorded_wire_are_described(path: str) -> None:
    """They are JSON like everything else there, and their status may be missing."""
    box, document = open_box("original", "recorded")

    answer = box.call("GET", f"/2/{path}")

    described = find_described(document)["users.get"]["responses"]["default"]["content"]
    assert ({"application/json"}, "application/json") == ({*described}, answer.mimetype)
    form = {**described["application/json"]["schema"], "components": document["components"]}
    faults = Draft202012Validator(form).iter_errors(answer.get_json())
    assert [] == [each.message for each in faults]


@pytest.mark.parametrize(
    ("wire", "status"),
    [("spec", "x-mock-recorded"), ("recorded", "201"), ("spec,rules=201", "201"),
     ("recorded,rules=200", "x-mock-recorded")],
)  # fmt: skip
def test_what_is_recorded_otherwise_is_described(wire: str, status: str) -> None:
    """Rules that are made answer 201 there; elsewhere the description says that they would."""
    _, document = open_box("original", wire)

    described = document["paths"]["/2/tweets/search/stream/rules"]["post"]["responses"]

    kind = "application/json" if wire.startswith("recorded") else "application/problem+json"
    assert {"200", "default", status} == {*described}
    assert kind == next(iter(described["default"]["content"]))


def test_the_fields_of_a_form_have_original_names() -> None:
    """A form takes older names too; what it lists is that of the newer parameter, as in a query."""
    _, document = open_box("original", "spec")

    entry = document["paths"]["/2/tweets/search/webhooks/{webhook_id}"]["post"]
    form = entry["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    listed = form["properties"]["tweet.fields"]["items"]["enum"]
    assert "edit_history_tweet_ids" in listed
    assert "edit_history_post_ids" not in listed
