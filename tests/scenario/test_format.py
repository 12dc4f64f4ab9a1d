from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from docs.generators.scenario_examples import EVENT, REPLAY, Example
from docs.generators.scenario_format import list_examples, list_subjects
from mock_platform.api import served as operations
from mock_platform.core.call import Call
from mock_platform.core.documents import forms
from mock_platform.core.documents.forms import FieldsForm
from mock_platform.core.errors import BadScenario
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import loads
from mock_platform.scenario.effects import KINDS
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.schema import (
    SCHEMA_ID,
    ParameterForm,
    describe_parameters,
    json_schema,
    make_forms,
)
from tests.scenario.support import OPERATIONS, engine, read
from tests.support import BEARER, Sandbox, Sandboxes

CATALOG = Catalog.collect(operations.OPERATIONS)
SCHEMA = json_schema(CATALOG.ids)
EXAMPLES = list_examples()
NOON = "2026-03-01T12:00:00Z"
OF_A_CLIENT = {"grant_type": "client_credentials"}


@pytest.fixture
def box(sandboxes: Sandboxes) -> Sandbox:
    """A sandbox whose clock is stopped at noon."""
    found = sandboxes.get(releases="all")
    found.client.put("/_mock/clock", json={"action": "freeze", "to": NOON})
    return found


def send(box: Sandbox, request: str) -> int:
    """The status of the answer to a request of an example."""
    method, path = request.split(" ", 1)
    if request == REPLAY:
        minute = box.world.clock.now().strftime("%Y%m%d%H%M")
        body = {"webhook_id": "1146654567674912769", "from_date": minute, "to_date": minute}
        return box.call(method, path, keys=BEARER, json=body).status_code
    if path == "/oauth2/token":
        app = box.client.get("/_mock/credentials").get_json()["app"]
        basic = (app["consumer_key"], app["consumer_secret"])
        return box.call(method, path, keys=None, form=OF_A_CLIENT, auth=basic).status_code
    path, _, query = path.partition("?")
    call = Call(
        method, f"http://localhost{path}", path, "http://localhost",
        [("Authorization", f"Bearer {BEARER}")], query_string=query,
    )  # fmt: skip
    reply = box.platform.handle(call)  # without a socket, whose connection a fault would break
    if reply.stream is not None:
        reply.stream.close()
    return reply.status


def count_actions(found: Engine) -> int:
    """How often the rules of the active scenarios acted."""
    return sum(rule["fired"] for each in found.as_json() for rule in each["rules"])


# -- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_each_example_of_the_page_does_what_it_shows(box: Sandbox, name: str) -> None:
    """It fits the published schema, can be activated, and answers as it says."""
    example: Example = EXAMPLES[name]
    scenario = loads(example.document, box.platform.library.catalog)
    assert Draft202012Validator(SCHEMA).is_valid(json.loads(dumps(scenario.document)))
    engine(box).define(scenario)
    engine(box).activate(scenario.name)

    for request, status in example.calls:
        if request == EVENT:
            ask = engine(box).on_line if name.startswith("line ") else engine(box).on_delivery
            assert ask({"event_type": "post.create", "id": "1"}, holding=False) is not None
        else:
            assert status == send(box, request), request

    never = ("condition clock.before", "effect items")
    assert (name in never) == (count_actions(engine(box)) == 0)


@pytest.mark.parametrize("keys", list(list_subjects()))
def test_each_key_has_an_example(keys: str) -> None:
    """Keys, conditions, operators and effects as they are declared all have one."""
    assert keys.split() == sorted(list_subjects()[keys])


def find_fields(form: object, seen: set[int]) -> list[FieldsForm]:
    """All forms of objects inside a form."""
    if id(form) in seen or not hasattr(form, "__struct_fields__"):
        return []
    seen.add(id(form))
    found = [form] if isinstance(form, FieldsForm) else []
    for name in form.__struct_fields__:
        value = getattr(form, name)
        inner = [value]
        if isinstance(value, dict):
            inner = [part for each in value.values()
                     for part in (each.values() if isinstance(each, dict) else [each])]  # fmt: skip
        for each in inner:
            found += find_fields(each, seen)
    return found


def test_each_key_is_described() -> None:
    """A sentence on each key of each object; editors show it, and so does the page."""
    document = make_forms(("a.b",)).document
    found = find_fields(document, set())

    undescribed = {name for form in found for name in form.fields if not form.describe(name)} - {
        "problem"
    }

    assert len(found) > 50
    assert set() == undescribed


# -- the schema ----------------------------------------------------------------------------------


def test_the_schema_is_small_and_named() -> None:
    """Editors load it in one go; its id and title say what it is."""
    Draft202012Validator.check_schema(SCHEMA)

    assert len(dumps(SCHEMA)) < 64_000
    assert (SCHEMA_ID, "Scenario of mock_platform") == (SCHEMA["$id"], SCHEMA["title"])


def errors(rule: dict[str, object]) -> list[str]:
    """The messages of the schema's library about a rule."""
    document = {"name": "a", "rules": [rule]}
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"then": {"problem": "usage-caped"}}, "'usage-caped' is not one of ["),
        ({"then": {"problem": "usage-capped", "period": "Dayly"}}, "'Dayly' is not one of ["),
        ({"then": {"eror": 1}}, "Additional properties are not allowed ('eror' was unexpected)"),
        ({"then": [{"delay": -1}]}, "-1 is less than the minimum of 0"),
        ({"then": {"fault": "rest"}}, "'rest' is not one of ["),
        ({"then": {"respond": {"status": 700}}}, "700 is greater than the maximum of 599"),
        ({"on": "line_items.lst", "then": {"error": 89}}, "'line_items.lst' is not one of ["),
        ({"on": "deliveries", "then": {"dorp": True}}, "('dorp' was unexpected)"),
        ({"wen": {}, "then": {"error": 89}}, "('wen' was unexpected)"),
    ],
)
def test_one_mistake_is_one_message(rule: dict[str, object], text: str) -> None:
    """The schema leads to the form that was meant, instead of listing all others."""
    (found,) = errors(rule)

    assert text in found


def test_the_loader_names_the_nearest_slug() -> None:
    """A misspelt problem type is one complaint, with the one that was meant."""
    with pytest.raises(BadScenario) as fault:
        loads(
            "name: a\nrules:\n  - then: {problem: usage-caped}\n",
            CATALOG,
        )

    (found,) = fault.value.complaints
    assert (3, 12, "rules[0].then.problem") == (found.line, found.column, found.field)
    assert found.text.startswith("\"usage-caped\" is not allowed. Did you mean 'usage-capped'?")


def test_a_file_may_name_its_schema() -> None:
    """`$schema` is accepted in JSON and YAML, and changes nothing."""
    rules = {"rules": [{"then": {"error": 89}}]}
    document = {"$schema": "./scenario.schema.json", "name": "a", **rules}

    found = loads(dumps(document), CATALOG, "a.json")

    assert Draft202012Validator(SCHEMA).is_valid(document)
    assert loads(dumps({"name": "a", **rules}), CATALOG, "a.json").bind({}) == found.bind({})
    yaml = "$schema: x\nname: a\nrules: [{then: {error: 89}}]\n# yaml-language-server: $schema=x\n"
    assert found.bind({}) == loads(yaml, CATALOG).bind({})


def test_effects_are_offered_with_their_descriptions() -> None:
    """An editor that knows nothing yet shows each effect with its sentence."""
    text = dumps(SCHEMA).decode()

    for kind in KINDS.values():
        if kind.form is not None:
            assert dumps(kind.form.description).decode() in text
    assert forms.NAME in text


def described(parameters: str, rule: str) -> dict[str, ParameterForm]:
    """The parameters of a scenario with one rule."""
    scenario = read(f"name: s\nparameters: {{{parameters}}}\nrules: [{{{rule}}}]")
    return {
        form.name: form for form in describe_parameters(scenario.document, scenario.catalog.ids)
    }


def test_allowed_values_come_from_the_place() -> None:
    """Where the rules take one of some words, or numbers within bounds, the parameter does."""
    found = described(
        "on: webhooks.replay, kind: null, status: null, times: 2",
        "on: $on, times: $times, then: {problem: disallowed-resource, resource_type: $kind, "
        "status: $status}",
    )

    assert found["on"].kind == "text"
    assert {*OPERATIONS, "*"} <= {*found["on"].choices}
    assert not found["on"].only_choices
    assert found["kind"].kind == "text"
    assert found["kind"].choices == ("user", "post", "media", "list", "space")
    assert (found["status"].kind, found["status"].low, found["status"].high) == ("number", 400, 599)
    assert found["status"].whole
    assert found["times"].default == 2
    assert found["times"].used == ("times",)


def test_kinds() -> None:
    """A default says the kind; without one, the places do; where they differ, anything goes."""
    found = described(
        "flag: true, items: [1], wait: 2, id: null, code: 88, text: a",
        "when: {json: {a: $flag, b: $items, c: $id, d: $text, e: $code}}, then: {delay: $wait}",
    )

    kinds = {name: form.kind for name, form in found.items()}
    assert kinds == {
        "flag": "flag", "items": "json", "wait": "duration", "id": "any", "code": "number",
        "text": "text",
    }  # fmt: skip
    assert (found["wait"].low, found["wait"].high) == (0, 300)
    assert found["code"].low is found["code"].high is None


def test_places_inside_of_effects_and_keys() -> None:
    """A parameter is found in rules on deliveries, in nested effects and in keys."""
    deliveries = described(
        "attempts: null", "on: deliveries, then: {fail: {status: 500, attempts: $attempts}}"
    )
    keyed = described("id: abc", "then: {set: {line_items/$id: null}}")

    assert (deliveries["attempts"].low, deliveries["attempts"].high) == (1, 100)
    assert keyed["id"].used == ("then.set.line_items/$id",)
    assert keyed["id"].kind == "text"


def test_what_two_places_share() -> None:
    """A parameter that two places use may be what both allow."""
    scenario = read(
        "name: s\nparameters: {n: 450}\nrules:\n"
        "- {times: $n, then: {problem: conflict, status: $n}}\n"
    )
    form = describe_parameters(scenario.document, scenario.catalog.ids)[0]

    assert (form.low, form.high) == (400, 599)
    assert form.used == ("times", "then.status")
