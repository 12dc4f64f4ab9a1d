"""The pages of scenarios: found, switched on with parameters, watched, switched off."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

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
    """Scenarios are found by status, code, words and what they are."""
    define(box, {"name": "own", "rules": [{"then": {"error": 89}}]})
    engine(box).activate("outage")

    found = show(box, f"{SCENARIOS}?q=rate+429")
    assert "rate-limited" in found
    assert "answer-lost" not in found
    for text, name, other in (
        ("500", "about-blank", "audience-batch-too-many-operations"),
        ("timeout", "slow-network", "catalog-exists"),
        ("logged out", "token-revoked-midway", "catalog-exists"),
        ("second delete gives 404", "line-item-deleted-twice", "poll-card-gone"),
        ("LINE_ITEM_NOT_FOUND", "line-item-deleted-twice", "catalog-exists"),
    ):
        page = show(box, f"{SCENARIOS}?{urlencode({'q': text})}")
        assert name in page, text
        assert other not in page, text
    own = show(box, f"{SCENARIOS}?show=own")
    assert "1 of" in own
    assert "own this world's" in own
    active = call(box, "GET", f"{SCENARIOS}?show=active").text
    assert 'class="name" href="/_mock/console/scenarios/outage"' in active
    assert "No scenario has these words." in show(box, f"{SCENARIOS}?q=no+such+thing")
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

    done(submit(box, on, **{"parameters.limit": "", "parameters.on": "*"}))
    assert {"on": "*"} == given(box, "rate-limited")

    twice = f"{SCENARIOS}/line-item-deleted-twice/on"
    done(submit(box, twice, **{"parameters.call": '{"every":2}'}))
    assert {"call": {"every": 2}} == given(box, "line-item-deleted-twice")
    done(submit(box, twice, **{"parameters.call": "", "number.call": "7"}))
    assert {"call": 7} == given(box, "line-item-deleted-twice")
    done(submit(box, f"{SCENARIOS}/stream-line-lost/on", **{"parameters.times": "any"}))
    assert {"times": None} == given(box, "stream-line-lost")


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ({"parameters.line_item_id": "123"}, "123"),
        ({"parameters.line_item_id": '{"in": ["a"]}'}, {"in": ["a"]}),
    ],
)
def test_values_of_any_kind(box: Sandbox, form: dict[str, str], value: object) -> None:
    """Where any value is allowed, an object is a condition, and anything else a text."""
    done(submit(box, f"{SCENARIOS}/line-item-delete-retried/on", **form))

    assert {"line_item_id": value} == given(box, "line-item-delete-retried")


@pytest.mark.parametrize(
    ("name", "form", "text"),
    [
        ("rate-limited", {"parameters.limit": "x"}, "limit: expected a whole number"),
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
    """Fields are choices by name, suggestions or bounds; null is offered where it means any."""
    page = call(box, "GET", f"{SCENARIOS}/usage-capped").text
    assert '<option value="post_search.recent">' in page
    assert "From 400 to 599; left empty: the usual one of this type." in page
    period = page.partition('id="parameter-period"')[2].partition("</select>")[0]
    assert ["Daily", "Monthly"] == re.findall(r'value="(\w+)"', period)

    items = show(box, f"{SCENARIOS}/line-item-deleted-twice")
    assert "Which line item any line item Holiday clicks, US (itttx)" in items
    assert "Which call every call the first the second" in items


def test_recently_used(box: Sandbox) -> None:
    """What was switched on last comes first, then what clients meet most, then the groups."""
    answer = submit(box, f"{SCENARIOS}/list-full/on", back="list")
    assert answer.location.endswith(SCENARIOS)
    used = {"Cookie": "mock_platform_used=list-full"}
    assert used["Cookie"] in ";".join(answer.headers.getlist("Set-Cookie")).split(";")

    page = text_of(call(box, "GET", SCENARIOS, headers=used), 200)
    assert "Recently used 1 list-full" in page
    first, last = page.index("What clients meet most"), page.index("Any request 5")
    assert first < page.index("usage-capped") < page.index("Sign-in and rights") < last


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

    assert "# how many are let through in each window" in shipped.text
    assert 'attachment; filename="own.yaml"' == own.headers["Content-Disposition"]
    assert "text/plain; charset=utf-8" == own.content_type
    assert "name: own\n" in own.text
    assert "<b>" not in call(box, "GET", f"{SCENARIOS}/own").text
    assert "<b>" in text_of(call(box, "GET", f"{SCENARIOS}/own"), 200)


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
