from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from mock_platform import MockPlatform, WorldFace, failures
from mock_platform.api.served import OPERATIONS
from mock_platform.core.errors import BadParameters, BadQuery, UnknownScenario
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.rendering import render
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.names import OwnName
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import loads
from mock_platform.scenario.effects.effect import RefusingEffect
from mock_platform.scenario.failures import find_failure, list_failures
from mock_platform.scenario.outcomes import (
    Outcome,
    find_codes,
    find_match,
    list_documented,
    make_call,
)
from mock_platform.scenario.outline import FAILURE_ID
from mock_platform.settings import Settings

CATALOG = Catalog.collect(OPERATIONS)
LIST = "/12/accounts/18ce54d4x5t/line_items"
MISSING = "line_items.list-403-ACCOUNT_NOT_FOUND"


@pytest.fixture(scope="module")
def platform() -> Iterator[MockPlatform]:
    """A server for the tests of this module."""
    with MockPlatform.start() as started:
        yield started


@pytest.fixture(params=["local", "remote"])
def world(request: pytest.FixtureRequest, platform: MockPlatform) -> Iterator[WorldFace]:
    """A world of its own, reached in both ways."""
    name = "failing"
    platform.world(name)
    with MockPlatform.connect(platform.base_url) as remote:
        yield (platform if request.param == "local" else remote).world(name)
    platform.drop_world(name)


def status_of(world: WorldFace, **headers: str) -> int:
    """The status of a call of `line_items.list`."""
    with world.session(auth="oauth1") as session:
        status: int = session.get(LIST, headers=headers).status_code
        return status


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda entry: entry.id)
def test_every_failure_is_given(operation: Operation) -> None:
    """Each documented failure has an id of its own, by which its scenario answers with it."""
    documented = [
        each for each in list_documented(operation, Settings(limits="public")) if each.status >= 400
    ]
    found = list(list_failures(operation, network=True))

    assert documented == [(each.status, each.code) for each in found if each.status is not None]
    assert len(found) == len({each.id for each in found})
    for failure in found:
        assert re.fullmatch(FAILURE_ID, failure.id)
        assert failure == find_failure(failure.id, CATALOG)
        (rule,) = failure.as_scenario(CATALOG).bind({})
        (effect,) = rule.effects
        assert (1, (operation.id,)) == (rule.times, rule.on)
        if isinstance(effect, RefusingEffect):
            reply = effect.foresee(call := make_call(operation))
            if isinstance(reply, Failure):
                reply = render(reply, call)
            got = [Outcome(reply.status, code) for code in find_codes(reply.status, reply.body)]
            unnamed = f'"error":"{failure.code}"'.encode() in reply.body
            assert unnamed or failure.status in {find_match(each, documented)[0] for each in got}  # type: ignore[index]


def test_ids() -> None:
    """Failures print as readable ids, by status or with those of the network."""
    assert ["line_items.update-404-LINE_ITEM_NOT_FOUND"] == [
        str(each) for each in failures("line_items.update", 404) if "LINE_ITEM" in each.code
    ]
    found = failures("public_posts.delete", statuses=[401], network=True)
    assert [
        "public_posts.delete-401-89", "public_posts.delete-401",
        "public_posts.delete-network-reset", "public_posts.delete-network-empty",
        "public_posts.delete-network-truncate", "public_posts.delete-network-garbage",
        "public_posts.delete-network-timeout", "public_posts.delete-network-answer-lost",
    ] == [str(each) for each in found]  # fmt: skip
    assert found[0].id == found[0].__name__


def test_documents() -> None:
    """The document of a failure can be sent, kept and read like any other."""
    for failure in failures("line_items.delete", network=True):
        scenario = failure.as_scenario(CATALOG)
        read = loads(dumps(scenario.document), CATALOG, "failure.json")

        assert (failure.id, scenario.needs_connection) == (read.name, read.needs_connection)
        assert scenario.bind({}) == read.bind({})


@pytest.mark.parametrize(("arguments", "kind", "text"), [
    (("line_item.*",), BadQuery, "matches no operation; did you mean 'line_items.*'?"),
    (("",), BadQuery, "no pattern is given"),
    (("line_items.get", 418), BadQuery, "418 is documented by no operation of 'line_items.get'"
                                        "; they document 400, 401, 403, 404"),
    (("line_items.get", ["404"]), TypeError, "statuses are integers such as 404, not '404'"),
    ((404,), TypeError, "pattern is text such as 'line_items.*', not 404"),
])  # fmt: skip
def test_bad_questions(arguments: tuple[object, ...], kind: type[Exception], text: str) -> None:
    """What cannot be listed is refused with what can: an empty list would be an empty test."""
    with pytest.raises(kind, match=re.escape(text)):
        failures(*arguments)  # type: ignore[arg-type]


def test_the_next_call_fails(world: WorldFace) -> None:
    """A failure is for the next call, for so many, or for the request that asks for it."""
    (failure,) = (each for each in failures("line_items.list", 403) if str(each) == MISSING)

    assert (403, 200) == (status_of(world, **failure.headers), status_of(world))
    world.fail(failure)
    assert [403, 200] == [status_of(world), status_of(world)]
    assert (MISSING, 0) == tuple(world.journal.find(status=403)[-1].rule.values())[:2]  # type: ignore[union-attr]
    assert [MISSING] == [each["name"] for each in world.scenarios if each["active"]]
    world.fail(MISSING, times=2)
    assert [403, 403, 200] == [status_of(world) for _ in range(3)]
    world.fail(MISSING, times=None)
    world.deactivate(OwnName(MISSING))
    assert 200 == status_of(world)


@pytest.mark.parametrize(("failure", "times", "kind", "text"), [
    ("line_items.list-403-ACOUNT_NOT_FOUND", 1, UnknownScenario, f"Did you mean '{MISSING}'"),
    ("outage", 1, ValueError, "activate is for scenarios"),
    (MISSING, 0, BadParameters, "times"),
])  # fmt: skip
def test_no_such_failure(
    world: WorldFace, failure: str, times: int, kind: type[Exception], text: str
) -> None:
    """An unknown id, a scenario, and a number of no call are refused."""
    with pytest.raises(kind, match=text):
        world.fail(failure, times=times)


def test_a_start_with_a_failure() -> None:
    """The start of a server takes a failure like any scenario; a reset brings it back."""
    with MockPlatform.start(scenarios=(MISSING,)) as platform:
        assert [403, 200] == [status_of(platform), status_of(platform)]
        platform.reset()
        assert 403 == status_of(platform)
