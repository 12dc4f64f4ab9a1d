from __future__ import annotations

import pytest

from mock_platform.control.console.scenario_editor import write_failure_scenario
from mock_platform.control.examples import Sample
from mock_platform.control.failure_examples import find_operation_parameter, find_provocations
from mock_platform.control.operation_pages import make_example
from mock_platform.control.scenarios import check_scenario_text
from mock_platform.verification.coverage.contract import Outcome, find_codes, list_documented
from tests.support import Sandbox, sandbox


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox that is reset before each scenario."""
    return sandbox()


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

        example = make_example(box.platform, operation, box.world)
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
