from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.control.support import call, detail, fields
from tests.scenario.support import LINE_ITEMS
from tests.support import Sandbox, Sandboxes

DOCUMENT: dict[str, Any] = {
    "description": "Everything is refused.",
    "spec": "B, Errors",
    "parameters": {"code": 89},
    "rules": [{"on": "line_items.list", "times": 1, "then": {"error": "$code"}}],
}


@pytest.fixture
def box(sandboxes: Sandboxes) -> Sandbox:
    """A sandbox that asks for no credentials and knows one scenario."""
    box = sandboxes.get(auth="off")
    assert 200 == call(box, "PUT", "/scenarios/refused", json=DOCUMENT).status_code
    return box


def listed(box: Sandbox, name: str = "refused", world: str = "") -> dict[str, Any]:
    """A scenario as the list shows it."""
    found = call(box, "GET", "/scenarios", world).get_json()["scenarios"]
    return next(entry for entry in found if entry["name"] == name)


def test_list(box: Sandbox) -> None:
    """Each has its name, description, parameters, whether it is active, what its rules did."""
    assert {
        "name": "refused",
        "description": "Everything is refused.",
        "spec": "B, Errors",
        "parameters": {"code": 89},
        "active": False,
        "given": {},
        "state": None,
        "rules": [],
    } == listed(box)


def test_activate_and_deactivate(box: Sandbox) -> None:
    """A switch answers with the scenario; its counters move with the requests."""
    on = call(box, "POST", "/scenarios/refused/activate", json={"parameters": {"code": 93}})
    statuses = [box.call("GET", LINE_ITEMS, keys=None).status_code for _ in range(2)]

    assert (200, True, {"code": 93}) == (
        on.status_code, on.get_json()["active"], on.get_json()["given"],
    )  # fmt: skip
    assert [403, 200] == statuses
    (rule,) = listed(box)["rules"]
    assert {
        "rule": 0, "on": ["line_items.list"], "expected": False, "matched": 2,
        "fired": 1, "remaining": 0, "refused": 0,
    } == rule  # fmt: skip
    assert not call(box, "POST", "/scenarios/refused/deactivate").get_json()["active"]


def test_activate_without_a_body(box: Sandbox) -> None:
    """Without parameters the defaults hold, and no body is needed."""
    assert 200 == call(box, "POST", "/scenarios/refused/activate").status_code
    assert 401 == box.call("GET", LINE_ITEMS, keys=None).status_code


def test_deactivate_all(box: Sandbox) -> None:
    """All are switched off at once."""
    call(box, "POST", "/scenarios/refused/activate")

    assert 204 == call(box, "POST", "/scenarios/deactivate").status_code
    assert 200 == box.call("GET", LINE_ITEMS, keys=None).status_code


def test_get(box: Sandbox) -> None:
    """One scenario comes with its document, which can be put back."""
    document = call(box, "GET", "/scenarios/refused").get_json()["document"]

    assert {"name": "refused", **DOCUMENT} == document
    assert 200 == call(box, "PUT", "/scenarios/refused", json=document).status_code


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/scenarios/refusd"),
        ("POST", "/scenarios/refusd/activate"),
        ("POST", "/scenarios/refusd/deactivate"),
    ],
)
def test_unknown(box: Sandbox, method: str, path: str) -> None:
    """An unknown name is reported with the nearest one."""
    answer = call(box, method, path)

    assert "Did you mean 'refused'?" in detail(answer, 404)


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        ({"rules": []}, "rules", "expected 1 to 500 entries"),
        ({"rules": [{"then": {"error": 90}}]}, "rules[0].then.error", "90 is not allowed"),
        ({**DOCUMENT, "name": "other"}, "name", "use the same name"),
        ({"rules": [{"then": {"error": "$x"}}]}, "rules[0].then.error", "$x is no parameter"),
    ],
)
def test_bad_document(box: Sandbox, body: Any, field: str, told: str) -> None:
    """A document with faults is refused with all of them, and the one before stays."""
    answer = call(box, "PUT", "/scenarios/refused", json=body)

    assert (422, [field]) == (answer.status_code, fields(answer))
    assert told in detail(answer)
    assert "Everything is refused." == listed(box)["description"]


@pytest.mark.parametrize(
    ("parameters", "field", "told"),
    [
        ({"cod": 1}, "parameters.cod", "not activated: cod: is no parameter; its parameters: code"),
        ({"cod": 1}, "parameters.cod", "Did you mean 'code'?"),
        ({"code": 90}, "parameters.code", "not activated: code: 90 is not allowed"),
    ],
)
def test_bad_parameters(box: Sandbox, parameters: Any, field: str, told: str) -> None:
    """A parameter that does not fit is named; nothing is switched on."""
    answer = call(box, "POST", "/scenarios/refused/activate", json={"parameters": parameters})

    assert (422, [field]) == (answer.status_code, fields(answer))
    assert told in detail(answer)
    assert not listed(box)["active"]


def test_a_definition_that_an_active_one_cannot_take(box: Sandbox) -> None:
    """Where the values of an active scenario do not fit the new document, the old one goes on."""
    call(box, "POST", "/scenarios/refused/activate", json={"parameters": {"code": 93}})

    answer = call(box, "PUT", "/scenarios/refused", json={"rules": [{"then": {"error": 89}}]})

    assert (422, ["parameters.code"]) == (answer.status_code, fields(answer))
    assert (
        "It is active, and cannot continue with the parameters of its activation: "
        "code: is no parameter; its parameters: none."
    ) == detail(answer)
    assert 403 == box.call("GET", LINE_ITEMS, keys=None).status_code


YAML = "name: soon\nrules:\n- on: line_items.list\n  then: {error: 88}  # as in a file\n"


@pytest.mark.parametrize("media_type", ["application/yaml", "text/yaml; charset=utf-8"])
def test_a_document_in_yaml(box: Sandbox, media_type: str) -> None:
    """A file goes in as it is."""
    answer = call(box, "PUT", "/scenarios/soon", data=YAML, headers={"Content-Type": media_type})
    call(box, "POST", "/scenarios/soon/activate")

    assert (200, "soon") == (answer.status_code, answer.get_json()["name"])
    assert 429 == box.client.get(LINE_ITEMS).status_code


@pytest.mark.parametrize(
    ("path", "text", "field", "told"),
    [
        ("/scenarios/soon", YAML.replace("88", "90"), "rules[0].then.error",
         "soon.yaml:4:10: rules[0].then.error: 90 is not allowed"),
        ("/scenarios/soon", "a: [", "", "soon.yaml:1:5: not valid YAML"),
        ("/scenarios/late", YAML, "name", "the address has the name 'late', the document 'soon'"),
    ],
)  # fmt: skip
def test_bad_yaml(box: Sandbox, path: str, text: str, field: str, told: str) -> None:
    """Its faults are reported with line and column, as those of a file."""
    yaml = {"Content-Type": "application/yaml"}

    answer = call(box, "PUT", path, data=text, headers=yaml)

    assert (422, [field]) == (answer.status_code, fields(answer))
    assert told in detail(answer)


def test_other_media_types(box: Sandbox) -> None:
    """Anything else is refused with what is accepted; other routes accept no YAML."""
    headers = {"Content-Type": "text/plain"}
    answer = call(box, "PUT", "/scenarios/soon", data=YAML, headers=headers)
    clock = call(box, "PUT", "/clock", data="a: 1", headers={"Content-Type": "application/yaml"})

    assert (415, 415) == (answer.status_code, clock.status_code)
    assert "application/json (or YAML with application/yaml); got text/plain" in detail(answer)


def test_worlds(box: Sandbox) -> None:
    """Definitions and switches act on one world."""
    call(box, "PUT", "/worlds/w1")
    call(box, "PUT", "/scenarios/own", "w1", json=DOCUMENT)
    call(box, "POST", "/scenarios/own/activate", "w1")

    assert ["own"] == [
        entry["name"] for entry in call(box, "GET", "/scenarios", "w1").get_json()["scenarios"]
        if entry["active"]
    ]  # fmt: skip
    assert 404 == call(box, "GET", "/scenarios/own").status_code
    assert 200 == box.call("GET", LINE_ITEMS, keys=None).status_code


def test_a_server_that_cannot_break_connections(box: Sandbox) -> None:
    """Activation is refused with what to do about it."""
    call(box, "PUT", "/scenarios/lost", json={"rules": [{"then": {"fault": "reset"}}]})
    box.platform.disable_connections()

    answer = call(box, "POST", "/scenarios/lost/activate")

    assert "mock-platform serve" in detail(answer, 409)


def test_schema(box: Sandbox) -> None:
    """The schema is valid, and takes what the loader takes."""
    schema = call(box, "GET", "/scenarios/schema.json").get_json()

    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid({"name": "refused", **DOCUMENT})
    assert not Draft202012Validator(schema).is_valid(DOCUMENT)


def test_a_definition_is_removed(box: Sandbox) -> None:
    """A scenario of this world goes with what it did; other worlds are not touched."""
    call(box, "PUT", "/worlds/w1")
    call(box, "PUT", "/scenarios/refused", "w1", json=DOCUMENT)
    call(box, "POST", "/scenarios/refused/activate")

    removed = call(box, "DELETE", "/scenarios/refused")
    again = call(box, "DELETE", "/scenarios/refused")

    assert (204, 404) == (removed.status_code, again.status_code)
    assert 200 == box.call("GET", LINE_ITEMS, keys=None).status_code
    assert listed(box, world="w1")["name"] == "refused"


def test_a_removed_definition_uncovers_the_packaged_one(box: Sandbox) -> None:
    """The scenario of the package with this name is known again; it cannot be removed itself."""
    packaged = listed(box, "outage")["description"]
    call(box, "PUT", "/scenarios/outage", json=DOCUMENT)

    assert "Everything is refused." == listed(box, "outage")["description"]
    assert 204 == call(box, "DELETE", "/scenarios/outage").status_code
    assert packaged == listed(box, "outage")["description"]
    refused = call(box, "DELETE", "/scenarios/outage")
    assert "POST /_mock/scenarios/outage/deactivate" in detail(refused, 409)
