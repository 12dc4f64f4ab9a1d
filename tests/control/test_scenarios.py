from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mock_platform.cli.server_context import ScenarioFiles
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.scenarios import check_scenario_text, find_scenario_folder, save_scenario
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.library import check
from mock_platform.settings import Settings
from tests.control.support import call, detail, fields
from tests.scenario.support import LINE_ITEMS, SOUND, write
from tests.support import Sandbox, Sandboxes, make_platform

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
        "name": "refused", "description": "Everything is refused.", "spec": "B, Errors",
        "parameters": {"code": 89}, "active": False, "given": {}, "state": None, "rules": [],
    } == listed(box)  # fmt: skip


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
        "fired": 1, "remaining": 0, "refused": 0, "acts_on": None,
        "hidden_by": None,
    } == rule  # fmt: skip
    assert not call(box, "POST", "/scenarios/refused/deactivate").get_json()["active"]


def test_activate_without_a_body(box: Sandbox) -> None:
    """Without parameters the defaults hold, and no body is needed; all are switched off at once."""
    assert 200 == call(box, "POST", "/scenarios/refused/activate").status_code
    assert 401 == box.call("GET", LINE_ITEMS, keys=None).status_code
    assert 204 == call(box, "POST", "/scenarios/deactivate").status_code
    assert 200 == box.call("GET", LINE_ITEMS, keys=None).status_code


def test_get(box: Sandbox) -> None:
    """One scenario comes with its document, which can be put back."""
    document = call(box, "GET", "/scenarios/refused").get_json()["document"]

    assert {"name": "refused", **DOCUMENT} == document
    assert 200 == call(box, "PUT", "/scenarios/refused", json=document).status_code


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


FAULTY = "name: a\nrules:\n  - on: webhooks.replya\n    then: {error: 89}\n"
ODD = "name: a\nrules:\n  - then: {error: 89}\n  - on: users.me\n    then: {error: 88}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one scenario, `known`."""
    root = tmp_path / "mine"
    write(root, "known.yaml")
    return root


@pytest.fixture
def platform(folder: Path) -> Platform:
    """A platform that begins with that folder."""
    return make_platform(Settings(scenarios=(str(folder),)))


def refused(platform: Platform, text: str, name: str, folder: Path) -> ControlRefusal:
    """The refusal to save a text."""
    with pytest.raises(ControlRefusal) as caught:
        save_scenario(platform, text, name, folder)
    return caught.value


@pytest.mark.parametrize("text", [FAULTY, ODD, "name: [", "", SOUND.format("a")])
def test_a_text_is_checked_as_its_file_is(platform: Platform, tmp_path: Path, text: str) -> None:
    """Lines, columns, fields and texts are those of `mock-platform check`."""
    file = tmp_path / "a.yaml"
    file.write_text(text)

    of_text = check_scenario_text(platform, text)
    of_file = check([file], platform.library.catalog)

    def told(complaints: object) -> list[tuple[int, int, str, str]]:
        return [(c.line, c.column, c.field, c.text) for c in complaints]  # type: ignore[attr-defined]

    assert told(of_file.complaints) == told(of_text.complaints)
    assert told(of_file.warnings) == told(of_text.warnings)
    assert (of_text.scenario is None) == bool(of_text.complaints)


def test_a_text_may_name_files_only_in_a_folder(platform: Platform, folder: Path) -> None:
    """Records in a file beside the scenario are found where the text will be saved."""
    (folder / "rows.json").write_text('[{"id": "1"}]')
    text = "name: a\nrules: [{on: /2/shops, then: {collection: rows.json}}]"

    assert check_scenario_text(platform, text).complaints
    assert not check_scenario_text(platform, text, "a.yaml", folder).complaints


def test_a_saved_scenario_is_known_at_once(platform: Platform, folder: Path) -> None:
    """It is a file of the folder, and every world can activate it."""
    saved = save_scenario(platform, SOUND.format("new"), "below/new.yaml", folder)

    assert folder / "below" / "new.yaml" == saved.file
    assert SOUND.format("new") == saved.file.read_text()
    find_engine(platform.worlds.default).activate("new")


def test_a_change_reaches_the_active_scenario(platform: Platform, folder: Path) -> None:
    """The new version of a file is active where the last one was, and is loaded only once."""
    watched = ScenarioFiles(platform)
    engine = find_engine(platform.worlds.default)
    engine.activate("known")
    text = "name: known\nrules: [{then: {error: 88}}]"

    save_scenario(platform, text, "known.yaml", folder, replace=True)
    active = engine.list_scenarios(), engine.describe("known")["active"]
    rules = engine.rules.early, engine.rules.late
    watched.reload()

    assert active[1]
    assert rules == (engine.rules.early, engine.rules.late)
    assert {"error": 88} == engine.find("known").document["rules"][0]["then"]


def test_a_file_that_was_saved_is_watched(platform: Platform, folder: Path) -> None:
    """An editor's change to a file that the console made is noticed."""
    watched = ScenarioFiles(platform)
    saved = save_scenario(platform, SOUND.format("new"), "new.yaml", folder)
    watched.reload()

    saved.file.write_text("name: new\nrules: [{then: {error: 88}}]")
    watched.reload()

    known = platform.library.find("new")
    assert known is not None
    assert {"error": 88} == known.document["rules"][0]["then"]


def test_refusals_leave_everything(platform: Platform, folder: Path) -> None:
    """Faults of the text or the name, a taken name, and an existing file write nothing."""
    faulty = refused(platform, FAULTY, "a.yaml", folder)
    taken = refused(platform, SOUND.format("known"), "other.yaml", folder)
    renamed = refused(platform, SOUND.format("other"), "known.yaml", folder)
    exists = refused(platform, SOUND.format("known"), "known.yaml", folder)
    outside = refused(platform, SOUND.format("a"), "../a.yaml", folder)

    assert 422 == faulty.status
    assert [(3, 5)] == [(each["line"], each["column"]) for each in faulty.extra["faults"]]
    assert "did you mean 'webhooks.replay'" in faulty.detail.lower()
    assert "'known' is the name of" in taken.detail
    assert "restart it for another name" in renamed.detail
    assert (409, "file") == (exists.status, exists.extra["faults"][0]["field"])
    assert 422 == outside.status
    assert ["known.yaml"] == [each.name for each in folder.iterdir()]


def test_a_scenario_of_the_start_must_not_need_parameters(tmp_path: Path) -> None:
    """A version that could not begin with the server is not saved over one that does."""
    folder = tmp_path / "mine"
    write(folder, "a.yaml")
    platform = make_platform(Settings(scenarios=(str(folder), "a")))
    text = "name: a\nparameters: {code: null}\nrules: [{then: {error: $code}}]"

    assert check_scenario_text(platform, text).scenario is not None
    with pytest.raises(ControlRefusal, match="was not saved"):
        save_scenario(platform, text, "a.yaml", folder, replace=True)
    assert SOUND.format("a") == (folder / "a.yaml").read_text()


def test_folders(platform: Platform, folder: Path) -> None:
    """The first folder is meant unless another is named; without any it is refused."""
    assert folder == find_scenario_folder(platform) == find_scenario_folder(platform, str(folder))
    with pytest.raises(ControlRefusal, match="is no folder"):
        find_scenario_folder(platform, "/etc")
    with pytest.raises(ControlRefusal, match="--scenario FOLDER"):
        find_scenario_folder(make_platform(Settings()))


@pytest.mark.parametrize(("then", "warnings"), [
    ({"delay": 0}, []),
    ({"items": {"0": "NOT_FOUND"}},
     ["rules[0].then.items: has no effect: none of the operations takes a batch"]),
])  # fmt: skip
def test_what_is_odd_is_said(box: Sandbox, then: dict[str, Any], warnings: list[str]) -> None:
    """A scenario that is defined is taken, and its oddities are in the answer."""
    document = {"name": "odd", "rules": [{"on": "line_items.list", "then": then}]}

    answer = call(box, "PUT", "/scenarios/odd", json=document)

    assert (200, warnings) == (answer.status_code, answer.get_json()["warnings"])
