"""The literals of `mock_platform.names`: what exists, and what a misspelt name is for mypy.

Each `type: ignore` here is an error of its own as soon as mypy accepts the line.
"""

from __future__ import annotations

from typing import get_args

import pytest

from mock_platform import WorldFace, names
from mock_platform.client.interface import PlatformFace
from mock_platform.core.errors import BadEvent, BadParameters, UnknownScenario, UnknownTable
from mock_platform.names import ErrorCode, EventType, OperationId, OwnName, ScenarioName, TableName
from mock_platform.platform import Platform


def test_a_misspelt_name_is_an_error_of_types_and_of_the_call(
    platform: PlatformFace, world: WorldFace
) -> None:
    """In every parameter that takes a name, on the platform and on each world."""
    with pytest.raises(UnknownScenario):
        platform.activate("usage-caped")  # type: ignore[call-overload]
    with pytest.raises(BadParameters):
        world.activate("usage-capped", perod="Daily")  # type: ignore[call-overload]
    with pytest.raises(BadParameters):
        world.activate("usage-capped", period="daily")  # type: ignore[call-overload]
    with pytest.raises(BadParameters):
        world.activate("outage", on="accounts.lst")  # type: ignore[call-overload]
    with pytest.raises(UnknownScenario):
        world.deactivate("usage-caped")  # type: ignore[arg-type]
    with pytest.raises(UnknownTable):
        world.state["acounts"]  # type: ignore[index]
    with pytest.raises(ValueError, match=r"id 'accounts.lst'. Did you mean 'accounts.list'\?"):
        world.journal.count(operation="accounts.lst")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'oauth1', 'oauth2', 'bearer' or None, not 'basic'"):
        world.session("basic")  # type: ignore[arg-type]
    with pytest.raises(BadEvent):
        world.emit("post.crate")  # type: ignore[arg-type]


def test_names_that_exist_and_names_of_ones_own_are_taken(world: WorldFace) -> None:
    """Literals, what the sandbox itself returned, and whatever is called an own name."""
    scenario: ScenarioName = "outage"
    event: EventType = "ProfileBioUpdate"
    operation: OperationId = "accounts.list"
    codes: list[ErrorCode] = ["LINE_ITEM_NOT_FOUND", 89]
    tables = list(world.state)

    mine = world.define({"name": "my-outage", "rules": [{"on": "*", "then": {"error": 89}}]})
    world.activate(mine)
    world.activate(OwnName("my-outage"))
    world.activate(scenario)
    world.activate("usage-capped", period="Daily", on="accounts.list")
    world.activate("outage", on=OwnName("GET /2/shops/:id"))
    world.deactivate()
    world.emit(event, payload={"after": "Tea."})

    assert 0 == world.journal.count(operation=operation)
    assert tables == [world.state[table].name for table in tables]
    assert codes


def test_the_literals_are_there_while_a_program_runs() -> None:
    """Each has what the sandbox has, and no other name exists."""
    platform = Platform()

    assert {each.name for each in platform.library} == {*get_args(ScenarioName)}
    assert {*platform.tables} == {*get_args(TableName)}
    assert {each.id for each in platform.operations} == {*get_args(OperationId)}
    assert {"post.create", "follow.follow", "ProfileBioUpdate"} <= {*get_args(EventType)}
    assert {"NOT_FOUND", 89} <= {*get_args(ErrorCode)}
    with pytest.raises(AttributeError, match="'Scenario'"):
        names.__getattr__("Scenario")
