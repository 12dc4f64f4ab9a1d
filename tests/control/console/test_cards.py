"""A click on the card of a scenario does what the card says, without any choice."""

from __future__ import annotations

import pytest

from mock_platform.control.scenario_cards import make_cards
from mock_platform.scenario.deliveries import DELIVERIES, LINES
from mock_platform.scenario.director import find_engine
from mock_platform.serving.flask.sending import NoConnection
from tests.control.console.support import done, show, submit
from tests.scenario.library.support import NAMES, Stage
from tests.support import Sandbox, sandbox

ANYWHERE = "line_items.list"
"""The operation that is asked where a scenario acts on all of them."""


@pytest.fixture(scope="module")
def shared() -> Sandbox:
    """One sandbox for all, which is reset for each."""
    return sandbox()


def click(name: str, box: Sandbox) -> Stage:
    """A sandbox at its start, in which one card was clicked."""
    box.client.post("/_mock/reset")
    stage = Stage(name, box)
    box.client.post("/_mock/scenarios/deactivate")
    assert f"{name} is on." == done(submit(box, f"/console/scenarios/{name}/on", back="list"))
    return stage


def ask(stage: Stage, operation: str, *conditions: str) -> int | None:
    """The status of an answer; `None` if the connection broke."""
    try:
        return stage.ask(operation, *conditions).status_code
    except NoConnection:
        return None


@pytest.mark.parametrize("name", NAMES)
def test_the_obvious_call_meets_it(shared: Sandbox, name: str) -> None:
    """Of three calls of the first operation on the card, one gets what the card shows."""
    stage = click(name, shared)
    scenario = find_engine(shared.world).find(name)
    (card,) = make_cards(shared.platform, [scenario], by_click=True)
    rules = scenario.bind(scenario.card)
    rule = next((each for each in rules if each.expected), rules[0])
    if {DELIVERIES, LINES} & {*rule.on}:
        return  # the answers of requests do not show it
    operation = ANYWHERE if rule.everywhere else rule.on[0]
    conditions = (*rule.when.get("query", {}), *rule.when.get("json", {}))

    statuses = [ask(stage, operation, *conditions) for _ in range(3)]

    assert sum(stage.fired) > 0
    shown = {int(each[:3]) for each in card.outcomes if each[:3].isdigit()}
    assert not shown or shown & {*statuses}, (card.outcomes, statuses)
    everywhere = any(each.everywhere for each in rules)
    assert card.on.startswith("every operation" if everywhere else operation)


def test_limits_end_with_their_window(box: Sandbox) -> None:
    """Every call is refused until the window is over, whichever it is; then calls work again."""
    box.world.clock.freeze()
    stage = click("rate-limited", box)
    box.world.clock.freeze()

    def ask_all() -> list[int | None]:
        return [ask(stage, each) for each in (ANYWHERE, "accounts.list", ANYWHERE)]

    refused = ask_all()
    last = stage.last.response_headers
    box.world.clock.advance(60)

    assert ([429] * 3, [200] * 3) == (refused, ask_all())
    assert ("x-rate-limit-remaining", "0") in last


def test_the_second_delete_is_refused(box: Sandbox) -> None:
    """The first delete works; each one after it finds nothing, on whichever line item."""
    stage = click("line-item-deleted-twice", box)
    path = "/12/accounts/18ce54d4x5t/line_items/iu0p9"

    assert [200, 404] == [ask(stage, "line_items.delete") for _ in range(2)]
    assert 404 == stage.ask("line_items.delete", path=path).status_code


def test_the_usage_cap_stops_reads_of_posts(box: Sandbox) -> None:
    """Searches, timelines, posts and streams of them are refused, and a user is still found."""
    stage = click("usage-capped", box)
    reads = ("post_search.recent", "timelines.posts", "public_posts.get", "sample_stream.open")

    assert [429] * 4 == [ask(stage, each) for each in reads]
    assert 200 == ask(stage, "users.get")


def test_a_card_and_its_form_say_what_a_click_sets(box: Sandbox) -> None:
    """The card names the values, and the form of the scenario begins with them."""
    assert "every operation, window 60" in show(box, "/console/scenarios?q=rate-limited")
    form = box.client.get("/_mock/console/scenarios/rate-limited").text
    assert '<option value="*" selected>every operation</option>' in form
    assert 'name="parameters.window" value="60"' in form
    capped = box.client.get("/_mock/console/scenarios/usage-capped").text
    assert "selected>post_search.recent, post_search.all and 17 more</option>" in capped


def test_several_operations_are_sent_as_one_choice(box: Sandbox) -> None:
    """The form sends the list of a card as it is, and one operation in its place."""
    listed = '["accounts.list","accounts.get"]'
    page = "/console/scenarios/usage-capped/on"

    done(submit(box, page, **{"parameters.on": listed}))
    several = find_engine(box.world).describe("usage-capped")["given"]["on"]
    done(submit(box, page, **{"parameters.on": "accounts.get"}))

    assert ["accounts.list", "accounts.get"] == several
    assert "accounts.get" == find_engine(box.world).describe("usage-capped")["given"]["on"]
