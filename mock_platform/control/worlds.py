"""Worlds: made, listed, dropped, and set back to how they started."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from mock_platform.control.known_credentials import credentials
from mock_platform.control.refusal import Refusal, faulty
from mock_platform.control.route import ControlRequest
from mock_platform.core.fields import Instant, Integer, Text
from mock_platform.platform import Platform
from mock_platform.world.clock import parse_instant
from mock_platform.world.names import DEFAULT, NAME_PATTERN, BadWorldName, UnknownWorld
from mock_platform.world.world import World


class WorldBody(Schema):
    """How to make a world."""

    source = Text(
        data_key="from",
        metadata={
            "description": "the world to make it a copy of",
            "pattern": f"^{NAME_PATTERN}$",  # another one is refused as unknown
        },
    )
    seed = Integer(metadata={"description": "from which its ids and tokens are drawn"})
    freeze = Instant(
        as_sent=True,
        metadata={"description": "where its clock stands still, again after each reset"},
    )


class WorldAnswer(Schema):
    """A world: where it answers, and with what credentials."""

    name = Text(required=True)
    base_url = Text(required=True)
    ads_base_url = Text(required=True)
    ads_sandbox_base_url = Text(required=True)
    control = Text(required=True)
    credentials = fields.Dict(required=True)


def list_worlds(request: ControlRequest) -> dict[str, Any]:
    """Every world with its addresses."""
    return {
        "worlds": [
            {
                "name": world.name,
                **addresses(request.origin, world.name),
                "seed": world.seed,
                "requests": len(world.journal),
            }
            for world in request.platform.worlds
        ]
    }


def put_world(request: ControlRequest) -> dict[str, Any]:
    """Make a world; one that is there already stays as it is."""
    body = request.body
    freeze = body.get("freeze")
    try:
        world = request.platform.worlds.create(
            request.args["name"],
            source=body.get("source"),
            seed=body.get("seed"),
            freeze=None if freeze is None else parse_instant(freeze),
        )
    except UnknownWorld as fault:
        raise Refusal(422, f"from: {fault}") from fault
    except BadWorldName:
        raise
    except ValueError as fault:
        raise faulty(422, [("freeze", f"freeze: {fault}")], "The world was not made") from fault
    return describe_world(request.platform, world, request.origin)


def delete_world(request: ControlRequest) -> None:
    """Drop a world with all that is in it."""
    try:
        request.platform.worlds.drop(request.args["name"])
    except ValueError as fault:
        text = f"The world {DEFAULT!r} always exists; POST /_mock/reset empties it."
        raise Refusal(409, text) from fault


def reset(request: ControlRequest) -> None:
    """Set the world back to how it started: records, scenarios, clock, ids; an empty journal."""
    request.world.reset()


def addresses(origin: str, name: str) -> dict[str, str]:
    """The base addresses of a world on the server at `origin`."""
    base_url = origin if name == DEFAULT else f"{origin}/~{name}"
    return {
        "base_url": base_url,
        "ads_base_url": base_url,
        "ads_sandbox_base_url": f"{base_url}/sandbox",
        "control": f"{base_url}/_mock",
    }


def describe_world(platform: Platform, world: World, origin: str) -> dict[str, Any]:
    """A world as `PUT /_mock/worlds/NAME` answers with it."""
    return {
        "name": world.name,
        **addresses(origin, world.name),
        "credentials": credentials(platform, world),
    }
