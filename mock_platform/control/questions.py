"""What the processes of a server ask one another, and the answers of this one.

The routes of the control plane that concern more than one world ask the other processes, and add
their answers to what this process knows. Questions and answers are JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.guard import END_SESSION, OPEN_SESSION, SESSION_SECONDS, Sessions
from mock_platform.control.metrics import METRICS, Metrics
from mock_platform.control.route import ControlRequest
from mock_platform.core.warning_counts import WarningRecorder
from mock_platform.platform import Platform
from mock_platform.verification.costs.recorder import CostRecorder
from mock_platform.verification.coverage.outcomes import Recorder
from mock_platform.world.clock import UPTIME, format_date
from mock_platform.world.names import UnknownWorld
from mock_platform.world.worlds import pack_world

WORLDS = "worlds"
"""The worlds that live there."""
WORLD_NAMES = "world names"
"""The names of the worlds that live there."""
ENTRY = "entry"
"""In which of its worlds the journal has an entry of this id."""
COVERAGE = "coverage"
"""The coverage of a world, or of all."""
CLEAR_COVERAGE = "clear coverage"
WARNINGS = "warnings"
"""The warnings of a world, or of all."""
CLEAR_WARNINGS = "clear warnings"
COSTS = "costs"
"""All costs of a world, or of all, by test."""
COPY = "copy"
"""A whole world, to be copied."""
CREDENTIALS = "credentials"
"""The credentials of a world."""
SHADOW = "shadow"
"""How the real service answered what this process sent on; `None` if it sends nothing."""
RELOAD_SCENARIO = "reload scenario"
"""Load a scenario file that another process wrote."""

Question = Callable[[Any], Any]


def _describe_coverage(platform: Platform, coverage: Recorder, world: str | None) -> dict[str, Any]:
    from mock_platform.verification.coverage.document import (
        document,  # most servers are never asked
    )

    return {
        "worlds": coverage.worlds(),
        "document": document(platform.operations, platform.settings, coverage, world),
    }


def list_questions(
    platform: Platform,
    metrics: Metrics,
    coverage: Recorder,
    warnings: WarningRecorder,
    costs: CostRecorder,
    sessions: Sessions,
) -> Mapping[str, Question]:
    """Return the answer to each question, as a function of its argument."""
    return {
        WORLDS: lambda _: list_own_worlds(platform),
        WORLD_NAMES: lambda _: [world["name"] for world in list_own_worlds(platform)],
        ENTRY: lambda key: find_world_of_entry(platform, key),
        COVERAGE: lambda world: _describe_coverage(platform, coverage, world),
        CLEAR_COVERAGE: coverage.clear,
        WARNINGS: lambda world: {
            "worlds": warnings.worlds(),
            "document": warnings.document(world),
        },
        CLEAR_WARNINGS: warnings.clear,
        COSTS: lambda world: {
            "worlds": costs.worlds(),
            "document": costs.document_of_all(world),
        },
        METRICS: lambda _: metrics.as_json(),
        COPY: lambda name: pack_if_known(platform, name),
        CREDENTIALS: lambda name: credentials(platform.worlds.get(name)),
        SHADOW: lambda _: None if platform.shadow is None else platform.shadow(),
        OPEN_SESSION: sessions.open,
        END_SESSION: sessions.close,
        SESSION_SECONDS: sessions.find_seconds,
        RELOAD_SCENARIO: lambda file: list(platform.reload_scenario(Path(file))),
    }


def ask_counts(
    request: ControlRequest, question: str, counted: Iterable[str], *, only_named: bool = False
) -> tuple[str | None, list[Any]]:
    """Return the name of the world in a request, and what the other processes counted of it.

    A removed world may still be `counted`, here or there. With `only_named` the others are asked
    for a world only, not for all together.

    Raises:
        UnknownWorld: The world does not exist and is not counted.
        NoAnswer: A process does not answer.
    """
    name, peers = request.named_world, request.platform.peers
    others = () if only_named and name is None else peers.ask_all(question, name).values()
    known = {*counted, *(world for other in others for world in other["worlds"])}
    return request.find_counted_world(known), [other["document"] for other in others]


def list_own_worlds(platform: Platform) -> list[dict[str, Any]]:
    """Return the worlds that live in this process: name, seed, number of requests, age.

    The age is that in this process: real seconds since the world was made here, or opened.
    """
    now = UPTIME()
    return [
        {
            "name": world.name,
            "seed": world.seed,
            "requests": len(world.journal),
            "age_seconds": round(now - world.opened, 3),
            **({} if world.as_of is None else {"as_of": format_date(world.as_of)}),
        }
        for world in platform.worlds
        if platform.peers.lives_here(world.name)
    ]


def list_all_worlds(platform: Platform) -> list[dict[str, Any]]:
    """Return the worlds of all processes, with the label of the process if there are several.

    Raises:
        NoAnswer: A process does not answer.
    """
    peers = platform.peers
    found = list_own_worlds(platform)
    if peers.count == 1:
        return found
    found = [world | {"process": peers.label} for world in found]
    for label, worlds in peers.ask_all(WORLDS).items():
        found += [world | {"process": label} for world in worlds]
    return sorted(found, key=lambda world: (world["name"] != "default", world["name"]))


def pack_if_known(platform: Platform, name: str) -> dict[str, Any] | None:
    """Return a world as JSON; `None` if it does not exist."""
    try:
        return pack_world(platform.worlds.get(name), platform.base)
    except UnknownWorld:
        return None


def find_world_of_entry(platform: Platform, key: str) -> str | None:
    """Return the world of this process whose journal has an entry."""
    found = (world.name for world in platform.worlds if world.journal.get(key) is not None)
    return next(found, None)
