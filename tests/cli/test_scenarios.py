from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from tests.cli.running import run

SOUND = (
    "name: capped\ndescription: Too much.\nparameters: {period: Daily}\n"
    "rules: [{then: {problem: usage-capped, period: $period}}]\n"
)


def test_check(tmp_path: Path) -> None:
    """Scenario files are checked together with fixtures, in folders and by themselves."""
    (tmp_path / "a.yaml").write_text(SOUND)
    (tmp_path / "b.json").write_text('{"name": "b",\n "rules": [{"then": {"eror": 1}}]}')
    (tmp_path / "users.json").write_text('[{"id": "7"}]')

    sound, json_file = run("check", tmp_path / "a.yaml"), run("check", tmp_path / "b.json")
    folder = run("check", tmp_path)

    assert (0, "") == (sound.exit_code, sound.stdout)
    assert 1 == json_file.exit_code
    assert json_file.stdout.startswith(f"{tmp_path / 'b.json'}:2:22: rules[0].then.eror: ")
    assert "users.json:1:2: record 0, field " in folder.stdout
    assert "b.json:2:22: rules[0].then.eror" in folder.stdout


def test_check_of_a_folder_of_scenarios(tmp_path: Path) -> None:
    """A folder that holds scenarios alone needs no fixtures."""
    (tmp_path / "a.yaml").write_text(SOUND)
    (tmp_path / "b.json").write_text('{"name": "b", "rules": [{"then": {"error": 89}}]}')

    assert 0 == run("check", tmp_path).exit_code


def test_check_of_a_collection(tmp_path: Path) -> None:
    """A file with the records of a collection is neither a scenario nor a fixture."""
    (tmp_path / "lists.json").write_text('[{"id": "1"}]')
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nrules: [{on: /2/shops, then: {collection: lists.json}}]\n"
    )

    sound = run("check", tmp_path)
    (tmp_path / "lists.json").write_text('[{"id": "1"}, {}]')
    bad = run("check", tmp_path / "mine.yaml")

    assert (0, "") == (sound.exit_code, sound.stdout)
    assert (1, f"{tmp_path / 'mine.yaml'}:2:31: rules[0].then.collection: "
            f"{tmp_path / 'lists.json'}:1:15: [1]: expected a text or a whole number as id; "
            "it is missing") == (bad.exit_code, bad.stdout.strip())  # fmt: skip


def test_list(tmp_path: Path) -> None:
    """Names, parameters and descriptions, as columns or as the control route returns them."""
    file = tmp_path / "a.yaml"
    file.write_text(SOUND)

    text = run("scenarios", "--format", "text", "--scenario", file).stdout
    listed = json.loads(run("scenarios", "--format", "json", "--scenario", file).stdout)

    line = next(line for line in text.splitlines() if line.startswith("capped"))
    assert ["capped (active)", "period", "Too much."] == re.split(" {2,}", line)
    (found,) = [entry for entry in listed["scenarios"] if entry["active"]]
    assert ("capped", {"period": "Daily"}) == (found["name"], found["parameters"])


def test_what_programs_read() -> None:
    """Where no terminal is, the list is what `GET /_mock/scenarios` answers."""
    server = create_app(Platform()).test_client().get("/_mock/scenarios").get_json()

    assert server == json.loads(run("scenarios").stdout)


@pytest.mark.live
def test_what_people_read() -> None:
    """On a terminal it is columns."""
    master, terminal = os.openpty()
    words = [sys.executable, "-m", "mock_platform", "scenarios"]
    with subprocess.Popen(words, stdout=terminal) as command:
        os.close(terminal)
        beginning = os.read(master, 8)
        os.close(master)
        command.kill()

    assert b"SCENARIO" == beginning


def test_schema() -> None:
    """The schema of the files, for editors."""
    schema = json.loads(run("scenarios", "--format", "schema").stdout)

    Draft202012Validator.check_schema(schema)
    assert "Scenario of mock_platform" == schema["title"]


def test_bad_start_up(tmp_path: Path) -> None:
    """A scenario that cannot be used ends the start with status 4 and every fault."""
    file = tmp_path / "a.yaml"
    file.write_text("name: a\nrules: [{then: {eror: 89}}]")
    needy = tmp_path / "b.yaml"
    needy.write_text("name: b\nparameters: {r: null}\nrules: [{then: {set: {users/$r: {}}}}]")

    found = [run("scenarios", "--scenario", each) for each in (file, needy, "no-such-scenario")]

    assert [4, 4, 4] == [result.exit_code for result in found]
    assert f"1 fault in the scenarios.\n{file}:2:17: rules[0].then.eror" in found[0].stderr
    assert "TABLE/ID" in found[1].stderr
    assert "There is no scenario 'no-such-scenario'" in found[2].stderr


ODD = (
    "name: odd\nrules:\n  - on: line_items.list\n    call: 1\n    times: 2\n"
    "    then: {error: 130}\n"
)


def test_warnings(tmp_path: Path) -> None:
    """What is odd is shown on standard error, and fails only if that is asked for."""
    file = tmp_path / "odd.yaml"
    file.write_text(ODD)
    text = (
        f"Warning: {file}:5:5: rules[0].times: has no effect: with this `call` the rule acts at "
        "most once"
    )

    shown, ignored = run("check", file), run("check", file, "--warnings", "ignore")
    refused = run("check", file, "--warnings", "error")

    assert (0, "") == (shown.exit_code, shown.stdout)
    assert text in shown.stderr
    assert (0, False) == (ignored.exit_code, text in ignored.stderr)
    assert 1 == refused.exit_code
    assert text in refused.stderr
    assert "One warning found, and --warnings error makes them faults." in refused.stderr
