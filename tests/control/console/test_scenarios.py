"""The pages of scenarios: found, switched on with parameters, watched, switched off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mock_platform.control.console.scenarios import PAGE_SIZE
from mock_platform.core.installed import folder
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.engine import Engine
from tests.control.console.support import done, refused, show, submit, text_of
from tests.control.support import call
from tests.scenario.support import LINE_ITEMS, define
from tests.support import Sandbox, sandbox

SCENARIOS = "/console/scenarios"


def engine(box: Sandbox) -> Engine:
    """The engine of the default world."""
    return find_engine(box.world)


def given(box: Sandbox, name: str) -> object:
    """The parameters with which a scenario is active."""
    told = engine(box).describe(name)
    assert told["active"]
    return told["given"]


def test_search(box: Sandbox) -> None:
    """Scenarios are found by words of their names and descriptions, or by what they are."""
    define(box, {"name": "own", "rules": [{"then": {"error": 89}}]})
    engine(box).activate("outage")

    found = show(box, f"{SCENARIOS}?q=rate+429")
    assert "rate-limited" in found
    assert "answer-lost" not in found
    own = show(box, f"{SCENARIOS}?show=own")
    assert "1 of" in own
    assert "own this world's" in own
    active = call(box, "GET", f"{SCENARIOS}?show=active").text
    assert 'class="name" href="/_mock/console/scenarios/outage"' in active
    assert "No scenario has these words." in show(box, f"{SCENARIOS}?q=nothing+at+all")
    assert "show" in show(box, f"{SCENARIOS}?show=some", status=400)


def test_switch_on_with_parameters(box: Sandbox) -> None:
    """Values have the types that the scenario takes; empty fields are the defaults."""
    on = f"{SCENARIOS}/rate-limited/on"

    said = done(
        submit(box, on, **{"parameters.on": "line_items.get", "parameters.limit": "3",
                           "parameters.window": "15m"})
    )  # fmt: skip
    assert "rate-limited is on." == said
    assert {"on": "line_items.get", "limit": 3, "window": "15m"} == given(box, "rate-limited")

    done(submit(box, on, **{"parameters.limit": "", "any.on": "on"}))
    assert {"on": None} == given(box, "rate-limited")


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ({"parameters.line_item_id": "123"}, "123"),
        ({"parameters.line_item_id": "123", "json.line_item_id": "text"}, "123"),
        ({"parameters.line_item_id": '{"in": ["a"]}', "json.line_item_id": "json"}, {"in": ["a"]}),
    ],
)
def test_values_of_any_kind(box: Sandbox, form: dict[str, str], value: object) -> None:
    """Where any value is allowed, the form says whether it is text or JSON."""
    done(submit(box, f"{SCENARIOS}/line-item-delete-retried/on", **form))

    assert {"line_item_id": value} == given(box, "line-item-delete-retried")


@pytest.mark.parametrize(
    ("name", "form", "text"),
    [
        ("rate-limited", {"parameters.limit": "x"}, "limit: expected a number like 0"),
        ("rate-limited", {"parameters.limit": "-1"}, "from 0 to 1,000,000"),
        ("rate-limited", {"parameters.on": "line_item.get"}, "Did you mean 'line_items.get'?"),
        ("invalid-request", {"parameters.errors": "[{"}, "errors: line 1, column"),
        ("conflict", {"parameters.status": "200"}, "from 400 to 599"),
    ],
)
def test_refused_parameters(box: Sandbox, name: str, form: dict[str, str], text: str) -> None:
    """A value that does not fit is shown again, with what is allowed, at its field."""
    answer = submit(box, f"{SCENARIOS}/{name}/on", **form)

    assert text in refused(answer, 422)
    field, value = next(iter(form.items()))
    assert re.search(
        rf'name="{field}"[^>]*aria-invalid="true" aria-describedby="[^"]*-fault', answer.text
    )
    assert value in answer.text
    assert not engine(box).describe(name)["active"]


def test_the_form_shows_what_is_allowed(box: Sandbox) -> None:
    """Fields are choices, suggestions or bounds, with the author's comment and the default."""
    page = call(box, "GET", f"{SCENARIOS}/not-authorized-for-resource").text

    assert '<option value="space">' in page
    assert '<option value="users.me">' in page
    assert "Id of the operation that fails; default: webhooks.replay." in page
    assert "a whole number from 400 to 599" in page


def test_what_it_did(box: Sandbox) -> None:
    """The page and the list show how often the rules fired, and how often they still can."""
    engine(box).activate("flaky-network", {"failures": 2, "fault": "empty"})
    define(box, {"name": "two", "rules": [{"on": "line_items.list", "times": 2,
                                           "then": {"error": "INVALID_PARAMETER"}}]})  # fmt: skip
    engine(box).activate("two")
    engine(box).deactivate("flaky-network")
    box.call("GET", LINE_ITEMS)

    assert "1 fired 1 remaining 1 matched" in show(box, f"{SCENARIOS}/two")
    assert "two defaults 1 1 1 Switch off" in show(box, f"{SCENARIOS}/+active")


def test_switch_off(box: Sandbox) -> None:
    """Scenarios are switched off one by one, or all at once; own ones can be removed."""
    define(box, {"name": "own", "rules": [{"then": {"error": 89}}]})
    for name in ("own", "conflict", "outage"):
        engine(box).activate(name)

    assert "conflict is off." == done(submit(box, f"{SCENARIOS}/conflict/off"))
    assert submit(box, f"{SCENARIOS}/outage/off", back="list").location.endswith(SCENARIOS)
    assert engine(box).describe("own")["active"]
    assert done(submit(box, f"{SCENARIOS}/+off"))
    assert not engine(box).describe("own")["active"]
    assert "was removed" in done(submit(box, f"{SCENARIOS}/own/remove"))
    assert "There is no scenario 'own'" in show(box, f"{SCENARIOS}/own", status=404)
    assert 409 == submit(box, f"{SCENARIOS}/outage/remove").status_code


def test_download(box: Sandbox) -> None:
    """A file of the server is sent as its author wrote it, another scenario as YAML."""
    define(box, {"name": "own", "description": "<b>", "rules": [{"then": {"error": 89}}]})

    shipped = call(box, "GET", f"{SCENARIOS}/rate-limited/file")
    own = call(box, "GET", f"{SCENARIOS}/own/file")

    assert "# how many are let through in a window" in shipped.text
    assert 'attachment; filename="own.yaml"' == own.headers["Content-Disposition"]
    assert "text/plain; charset=utf-8" == own.content_type
    assert "name: own\n" in own.text
    assert "<b>" not in call(box, "GET", f"{SCENARIOS}/own").text
    assert "<b>" in text_of(call(box, "GET", f"{SCENARIOS}/own"), 200)


def test_pages(box: Sandbox) -> None:
    """A long list is shown page by page, and every scenario is on one of them."""
    names = [scenario.name for scenario in engine(box).list_scenarios()]
    pages = [
        call(box, "GET", f"{SCENARIOS}?skip={n}").text for n in range(0, len(names), PAGE_SIZE)
    ]

    assert len(pages) > 2
    assert all(any(f'class="name" href="/_mock{SCENARIOS}/{n}"' in p for p in pages) for n in names)
    assert "skip=0" in pages[1]
    assert "Next" not in pages[-1]


def test_the_heading_of_a_text_says_where_its_file_is(tmp_path: Path) -> None:
    """Without what differs on each machine; the whole path is below it."""
    own = tmp_path / "given" / "late" / "own.yaml"
    own.parent.mkdir(parents=True)
    packaged = folder("scenarios") / "rate-limited.yaml"
    own.write_text(packaged.read_text().replace("name: rate-limited", "name: own"))
    box = sandbox(scenarios=(str(tmp_path / "given"),))

    for name, place, file in (
        ("rate-limited", "scenarios/rate-limited.yaml of the package", packaged),
        ("own", "given/late/own.yaml", own),
    ):
        page = call(box, "GET", f"{SCENARIOS}/{name}").text
        heading = page.partition('<h2 id="text">')[2].partition("</h2>")[0]
        assert f'Its text <span class="note">{place}</span>' == heading
        assert f"<code>{file}</code>" in page
