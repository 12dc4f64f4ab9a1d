from __future__ import annotations

import re
import shlex

import pytest

from mock_platform.control.console.own_failure import write_failure_scenario
from mock_platform.control.examples import Sample
from mock_platform.control.operation_pages import (
    find_operation_parameter,
    find_provocations,
    make_example,
)
from mock_platform.control.scenarios import check_scenario_text
from mock_platform.core.operation import Operation
from mock_platform.scenario.outcomes import Outcome, find_codes, list_documented
from tests.support import Sandbox, sandbox

OPERATIONS = sandbox().platform.operations
_ENDLESS = re.compile(r"stream(?!_rules)|/stream$")
"""Streams answer for as long as they are open."""
ENDING = [each for each in OPERATIONS if not _ENDLESS.search(f"{each.id} {each.path}")]


@pytest.fixture(scope="module")
def shared() -> Sandbox:
    """The sandbox of all tests here."""
    return sandbox()


@pytest.fixture
def box(shared: Sandbox) -> Sandbox:
    """The shared sandbox with the records of its start: an example may have deleted some."""
    shared.world.reset()
    return shared


@pytest.mark.parametrize("operation", ENDING, ids=lambda each: each.id)
def test_an_example_works_as_it_stands(box: Sandbox, operation: Operation) -> None:
    """In a fresh world; those of which the page says that a step is missing are refused."""
    example = make_example(operation, box.world)
    if example is None:
        return

    answer = box.client.open(
        example.path, method=example.method, headers=dict(example.headers), data=example.body
    )

    assert (operation.example.is_refused) == (answer.status_code >= 400), answer.text


def test_all_operations_have_an_example(box: Sandbox) -> None:
    """The default fixtures have something for each."""
    missing = [operation.id for operation in OPERATIONS if not make_example(operation, box.world)]

    assert missing == []


def test_a_page_has_everything_about_an_operation(box: Sandbox) -> None:
    """Parameters with their place, an example, failures with their scenarios, assumptions."""
    answer = box.client.get("/_mock/operations/webhooks.replay.txt")

    assert "text/plain; charset=utf-8" == answer.content_type
    for text in (
        "POST /2/webhooks/replay",
        "- from_date (body, required): first minute",
        "- 409 conflict: scenario conflict, replay-conflict",
        "- replay.window: ",
    ):
        assert text in answer.text
    found = re.search(r"^curl .*?\n\n", answer.text, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert "http://localhost/2/webhooks/replay" == shlex.split(found[0])[-1]
    program = answer.text.partition("import requests")[2].partition("\n\n## ")[0]
    compile(program, "example", "exec")


def test_a_misspelt_operation_is_explained(box: Sandbox) -> None:
    """With the nearest id."""
    answer = box.client.get("/_mock/operations/webhook.replay.txt")

    assert 404 == answer.status_code
    assert "Did you mean 'webhooks.replay'?" in answer.get_json()["detail"]


@pytest.mark.parametrize("path", ["/llms.txt", "/_mock/llms.txt"])
def test_every_link_of_the_list_is_answered(box: Sandbox, path: str) -> None:
    """The list names a page for each operation, and pages of the documentation."""
    listed = box.client.get(path).text

    links = re.findall(r"\]\(http://localhost([^)]+)\)", listed)
    assert {f"/_mock/operations/{each.id}.txt" for each in OPERATIONS} < set(links)
    pages = [link for link in links if link.startswith("/_mock/pages/")]
    assert len(pages) >= 10
    assert "/_mock/pages/SKILL.md" == pages[0]
    assert {200} == {box.client.get(link).status_code for link in [*pages, links[-1]]}


def test_the_list_of_a_world_leads_into_the_world(box: Sandbox) -> None:
    """Its examples are addressed to the world."""
    box.client.put("/_mock/worlds/listed")

    assert "http://localhost/~listed/_mock/operations/" in box.client.get("/~listed/llms.txt").text
    page = box.client.get("/~listed/_mock/operations/accounts.list.txt")
    assert "'http://localhost/~listed/12/accounts'" in page.text


@pytest.mark.parametrize("name", ["nothing", "..%2FREADME", "%2E%2E%2Fpyproject"])
def test_a_page_outside_of_the_documentation_is_not_served(box: Sandbox, name: str) -> None:
    """Names are those of pages, never paths."""
    assert 404 == box.client.get(f"/_mock/pages/{name}.md").status_code


def provoke(box: Sandbox, example: Sample) -> set[Outcome]:
    """The outcomes of an example, until it is answered as without a scenario."""
    found: set[Outcome] = set()
    for _ in range(2):
        answer = box.client.open(
            example.path, method=example.method, headers=dict(example.headers), data=example.body
        )
        codes = find_codes(answer.status_code, answer.get_data())
        found |= {Outcome(answer.status_code, code) for code in codes}
    return found


@pytest.mark.parametrize(
    "name", ["webhooks.replay", "public_posts.create", "campaigns.create", "custom_audiences.users"]
)
def test_a_scenario_provokes_the_failure_beside_it(box: Sandbox, name: str) -> None:
    """Switched on with the parameters that the page names, it makes the example fail so."""
    operation = next(each for each in box.platform.operations if each.id == name)
    documented = list_documented(operation, box.platform.settings)
    for each in find_provocations(box.platform.library, operation, documented):
        scenario = box.platform.library.find(each.scenario)
        assert scenario is not None
        if any(rule.when for rule in box.platform.library.bind_defaults(scenario)):
            continue  # only requests of a certain form
        box.world.reset()
        activated = box.client.post(
            f"/_mock/scenarios/{each.scenario}/activate", json={"parameters": each.parameters}
        )
        assert 200 == activated.status_code, activated.text

        example = make_example(operation, box.world)
        assert example is not None
        assert each.outcomes & provoke(box, example), str(each)


def test_a_page_leads_to_the_scenario(box: Sandbox) -> None:
    """The link of a failure points the scenario's form at the operation."""
    page = box.client.get("/_mock/console/operations/campaigns.create").text
    link = "/_mock/console/scenarios/audience-batch-request-error?operation=campaigns.create"

    assert link in page
    assert 'value="campaigns.create"' in box.client.get(link).text
    scenario = box.platform.library.find("outage")
    assert scenario is not None
    assert "on" == find_operation_parameter(scenario)


def test_every_documented_failure_can_be_provoked(box: Sandbox) -> None:
    """For a failure without a scenario the editor begins with one that has no faults."""
    seen = set()
    for operation in box.platform.operations:
        for outcome in list_documented(operation, box.platform.settings):
            known = (outcome, operation.path.split("/")[1])
            if outcome.status < 400 or known in seen:
                continue
            seen.add(known)
            checked = check_scenario_text(box.platform, write_failure_scenario(operation, outcome))
            assert checked.scenario is not None, (operation.id, outcome, checked.complaints)

    assert len(seen) > 100
    page = box.client.get("/_mock/console/operations/campaigns.create").text
    assert "+new?operation=campaigns.create&amp;status=400&amp;code=MISSING_PARAMETER" in page
    editor = box.client.get(
        "/_mock/console/scenarios/+new?operation=campaigns.create&status=400&code=MISSING_PARAMETER"
    )
    assert "code: MISSING_PARAMETER" in editor.text
