"""Brings a world into the provider state from which everything in a Pact file begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_platform.core.jsonio import dumps
from mock_platform.platform import Platform
from mock_platform.records.state import State
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import loads as loads_scenario
from mock_platform.scenario.library import Library
from mock_platform.world.clock import parse_instant
from mock_platform.world.world import World


def begin_again(platform: Platform, world: World, params: Mapping[str, Any]) -> None:
    """Reset a world, then change what the parameters of the state `BEGINNING` say.

    Raises:
        KeyError, TypeError, ValueError: They are not those of a file that this package wrote.
    """
    world.reset()
    if "clock" in params:
        with world.work():
            world.clock.freeze(parse_instant(params["clock"]))
            world.transitions.settle_every_kind()
    state = State(world, platform.tables)
    for name, keys in params.get("removed", {}).items():
        for key in keys:
            if key in state[name]:
                state[name].delete(key)
    for name, rows in params.get("records", {}).items():
        table = platform.tables[name]
        for row in rows:
            # Keys that the state leaves out stay as they were.
            held = state[name].get(table.key_of(row) or "") or {}
            state[name].put({**held, **row}, unchecked=True)
    _activate(world, platform.library, params.get("scenarios", ()))


def _activate(world: World, library: Library, scenarios: Sequence[Mapping[str, Any]]) -> None:
    engine = find_engine(world)
    for each in scenarios:
        if "document" in each:
            text = dumps(each["document"])
            engine.define(loads_scenario(text, library.catalog, f"{each['name']}.json"))
        engine.activate(each["name"], each.get("parameters", {}))
