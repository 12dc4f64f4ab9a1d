"""The figures of the facts: none falls, and other facts and servers are measured as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from docs.generators.page_parts import write_fidelity
from mock_platform.cli.main import group
from mock_platform.core import installed
from mock_platform.core.auth.tester_access import environment
from mock_platform.verification.fidelity.facts import read_packaged
from mock_platform.verification.fidelity.measure import Measurement, measure_sandbox
from mock_platform.verification.fidelity.report import list_falls, read_baseline, write_page
from tests.support import BEARER, HARBOR, sandbox
from tests.verification.compare.servers import differing

FACT: dict[str, Any] = {
    "operation": "GET /2/users/:id",
    "source": "a report",
    "kind": "recorded",
    "request": {"method": "GET", "path": "/2/users/:id", "headers": {"Authorization": "Bearer B"}},
    "response": {"status": 200, "json": {"data": {"id": "12", "name": "A", "username": "b"}}},
}
CREATED = FACT | {"response": FACT["response"] | {"status": 201}}


@pytest.fixture(scope="module")
def figures() -> Measurement:
    """The sandbox, measured with the facts of the project."""
    return measure_sandbox(read_packaged())


def run(*words: str, **env: str) -> Result:
    """What the command prints."""
    return CliRunner().invoke(group, ["fidelity", *words], env=env)


def run_json(*words: str, **env: str) -> Any:
    """The figures that the command prints as JSON."""
    return json.loads(run(*words, "--format", "json", **env).stdout)


def write(folder: Path, *facts: Any) -> Path:
    """A folder with facts, one a file."""
    for number, fact in enumerate(facts):
        (folder / f"{number}.json").write_text(json.dumps(fact))
    return folder


def change(**changes: Any) -> dict[str, Any]:
    """The fact with another record."""
    data = FACT["response"]["json"]["data"] | changes
    return FACT | {"response": {"status": 200, "json": {"data": data}}}


def test_no_figure_falls(figures: Measurement) -> None:
    """What is served, what matches, and what is not explained are no worse than before."""
    assert [] == list(list_falls(figures, read_baseline()))


def test_the_committed_page_is_what_the_generator_writes(figures: Measurement) -> None:
    """The page shows the figures as they are; `make docs` writes it."""
    committed = (Path(__file__).parents[3] / "docs/fidelity.md").read_text("utf-8")
    assert write_fidelity(figures) == committed, "run `make docs`"


def test_falls_are_named(figures: Measurement) -> None:
    """Each figure that is worse than the baseline by one is named."""
    kept = {**figures.as_json()}
    kept["surface"] = {"served": kept["surface"]["served"] + 1}
    kept["points"] = {**kept["points"], "match": kept["points"]["match"] + 1}
    kept["classes"] = {**kept["classes"], "NP": kept["classes"]["NP"] - 1}

    found = [fall.partition(":")[0] for fall in list_falls(figures, kept)]

    assert found == [
        "surface", "points that match", "points that match or are explained",
        "differences of class NP",
    ]  # fmt: skip


def test_figures_add_up(figures: Measurement) -> None:
    """Each point matches or is in one named difference, and each difference has a reason."""
    total = figures.total
    unexplained = sum(figures.count_class(kind) for kind in ("P", "NP", "L"))

    assert total.compared == total.match + total.explained + unexplained
    assert total.compared > 5000
    assert all(each.reason for each in figures.differences)
    assert len(read_packaged()) == figures.facts


def test_the_folder_is_small() -> None:
    """The facts that are installed with the package stay below a megabyte."""
    files = installed.folder("fidelity").iterdir()

    assert sum(file.stat().st_size for file in files) < 1_000_000


def test_the_page_lists_every_difference(figures: Measurement) -> None:
    """The generated page has the size of the instrument, and each place that differs."""
    page = "\n".join(write_page(figures))

    assert f"{figures.facts:,} recorded or published answers" in page
    assert [each.where for each in figures.differences if f"`{each.where}`" not in page] == []


@pytest.mark.parametrize(("fact", "match", "found"), [
    (FACT, 4, []),
    (change(location="Oslo"), 5, []),
    (change(nonsense=1), 4, [("data.nonsense", "L", "1", "absent")]),
    (FACT | {"response": FACT["response"] | {"status": 201}}, 3, [("(status)", "P", "201", "200")]),
])  # fmt: skip
def test_own_facts(tmp_path: Path, fact: Any, match: int, found: list[tuple[str, ...]]) -> None:
    """A folder of facts is measured: the record of an answer is loaded, and compared."""
    measured = run_json("--against", str(write(tmp_path, fact)))
    keys = ("where", "class", "expected", "got")
    told = [tuple(each[key] for key in keys) for each in measured["differences"]]

    assert (match, found) == (measured["points"]["match"], told)
    assert {"public", "served"} == measured["surface"].keys()


def test_recordings(tmp_path: Path) -> None:
    """An archive is measured like facts, under the operations of the sandbox."""
    box = sandbox()
    for path in ("/2/users/2244994945", "/2/users/abc"):
        box.call("GET", path, keys=BEARER)
    archive = box.client.get("/_mock/requests.har").get_json()
    (tmp_path / "traffic.har").write_text(json.dumps(archive))

    measured = run_json("--against", str(tmp_path))

    assert 2 == measured["facts"]
    assert 1 == measured["operations"]
    assert {"users"} == {each["family"] for each in measured["families"] if each["points"]["match"]}


@pytest.mark.live
def test_a_server_gets_reads_alone() -> None:
    """A server on this machine is asked with GET, and what it does not have is noted."""
    keys = environment(sandbox().client.get("/_mock/credentials").get_json())
    with differing() as server:
        measured = run_json("--against", server.url, **keys)

    assert {"GET"} == {method for method, _ in server.asked}
    assert 0 < measured["facts"] < len(read_packaged())
    assert any("does more than read" in note for note in measured["notes"])


@pytest.mark.parametrize(("content", "says"), [
    ("{", "0.json:1"),
    ('{"operation": 1, "request": {}, "response": {}}', "0.json:1:18: request: path is"),
    ("[]", "has no facts. They are .json files"),
])  # fmt: skip
def test_bad_facts_are_refused(tmp_path: Path, content: str, says: str) -> None:
    """A file that is no fact is named, with its line and what is wrong."""
    (tmp_path / "0.json").write_text(content)

    found = run("--against", str(tmp_path))

    assert (2, True) == (found.exit_code, says in found.output.replace("\n", " ")), found.output


def test_another_machine_needs_consent() -> None:
    """Nothing is sent to another machine without --yes."""
    found = run("--against", "https://api.example.com", MOCK_PLATFORM_BEARER_TOKEN=HARBOR.key)

    assert 2 == found.exit_code
    assert "--yes sends it requests that only read" in found.output
