"""Worlds: make, list, drop, reset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.questions import COPY, CREDENTIALS, WORLD_NAMES, list_all_worlds
from mock_platform.control.refusals import ControlRefusal, refuse_values
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.auth.lookup import replace_credentials
from mock_platform.core.cluster_peers import NoAnswer
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, Flag, Instant, Integer, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.core.wire_choice import WIRES, read_wire
from mock_platform.platform import Platform
from mock_platform.settings import NAMES
from mock_platform.world.clock import parse_instant
from mock_platform.world.names import (
    DEFAULT,
    NAME_PATTERN,
    BadWorldName,
    TooManyWorlds,
    UnknownWorld,
)
from mock_platform.world.store.errors import WorldElsewhere
from mock_platform.world.worlds import WorldCopy, list_ignored, unpack_world


class WireText(Text):
    """A wire, as the options of a server write it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        try:
            return read_wire(super()._deserialize(value, attr, data, **kwargs)).name
        except ValueError as fault:
            if isinstance(fault, ValidationError):
                raise
            raise ValidationError([Fault(str(fault))]) from fault


class WorldBody(Schema):
    """The properties of a new world."""

    source = Text(
        data_key="from",
        metadata={
            "description": "the world to copy",
            "pattern": f"^{NAME_PATTERN}$",  # another one is refused as unknown
        },
    )
    seed = Integer(metadata={"description": "seed for ids and tokens"})
    freeze = Instant(
        as_sent=True,
        metadata={"description": "the moment at which its clock is stopped, also after each reset"},
    )
    names = Choice(NAMES, metadata={"description": "the names that its clients use and get"})
    wire = WireText(
        metadata={
            "description": "answers as documented, or as recorded where these differ: "
            f"{', '.join(WIRES)}, and behind it what is in doubt, as in recorded,missing=200",
            "examples": [*WIRES],
        }
    )
    as_of = Instant(
        as_sent=True,
        metadata={"description": "the date of the contract, whatever the clock says"},
    )
    own_credentials = Flag(
        load_default=False,
        metadata={
            "description": "new keys and tokens for all apps, which choose the world by themselves"
        },
    )
    warnings = Choice(
        ("ignore", "error"),
        metadata={
            "description": "whether a request of which something would be ignored is answered, or "
            "refused with 400; as the server does unless given"
        },
    )


class WorldAnswer(Schema):
    """A world: its addresses and its credentials."""

    name = Text(required=True)
    base_url = Text(required=True)
    ads_base_url = Text(required=True)
    ads_sandbox_base_url = Text(required=True)
    control = Text(required=True)
    credentials = fields.Dict(required=True)
    warnings = ListOf(
        Text(),
        metadata={"description": "what was asked of a world that exists, and is otherwise"},
    )


def list_worlds(request: ControlRequest) -> dict[str, Any]:
    """Every world with its addresses."""
    found = {
        world["name"]: {"name": world["name"], **addresses(request.origin, world["name"]), **world}
        for world in list_all_worlds(request.platform)
    }
    damaged = request.platform.worlds.list_damaged()
    for name, owner in request.platform.worlds.list_owners().items():
        own: dict[str, Any] = {"name": name, **addresses(request.origin, name)}
        more: dict[str, Any] = {"owner": owner, "resting": owner is None}
        if owner is None and name in damaged:
            more["damaged"] = damaged[name]
        found[name] = found.get(name, own) | more
    return {"worlds": list(found.values())}


def put_world(request: ControlRequest) -> dict[str, Any]:
    """Make a world; an existing one does not change, and `warnings` say where it is otherwise."""
    body, name = request.body, request.args["name"]
    freeze, as_of, warnings = (body.get(name) for name in ("freeze", "as_of", "warnings"))
    _check_number(request.platform, name)
    own: dict[str, Any] = {
        "seed": body.get("seed"),
        "freeze": None if freeze is None else parse_instant(freeze),
        "refuse_warnings": None if warnings is None else warnings == "error",
        "names": body.get("names"),
        "wire": body.get("wire"),
        "as_of": None if as_of is None else parse_instant(as_of),
    }
    try:
        world = request.platform.worlds.create(
            name,
            source=_find_source(request.platform, body.get("source")),
            change=replace_credentials if body["own_credentials"] else None,
            **own,
        )
    except UnknownWorld as fault:
        raise ControlRefusal(422, f"from: {fault}") from fault
    except WorldElsewhere as fault:
        if fault.world != name:
            raise
        return _describe_elsewhere(request, fault)
    except BadWorldName:
        raise
    except ValueError as fault:
        raise refuse_values(
            422, [("freeze", f"freeze: {fault}")], "The world was not made"
        ) from fault
    made = describe_world(world.name, credentials(world), request.origin)
    ignored = list_ignored(world, **own)
    return {**made, "warnings": ignored} if ignored else made


def _describe_elsewhere(request: ControlRequest, fault: WorldElsewhere) -> dict[str, Any]:
    """Return a world that another process made at the same moment.

    Raises:
        WorldElsewhere: That process does not answer.
    """
    name = fault.world
    try:
        known = request.platform.peers.ask_owner(name, CREDENTIALS, name)
    except NoAnswer:
        raise fault from None
    return describe_world(name, known, request.origin)


def _check_number(platform: Platform, name: str) -> None:
    """Check that all processes together have space for a world.

    Raises:
        TooManyWorlds: They have as many worlds as the server may have.
    """
    limit, peers = platform.settings.max_worlds, platform.peers
    known = {world.name for world in platform.worlds if peers.lives_here(world.name)}
    if platform.worlds.shared or peers.count == 1 or name in known:
        return
    others = sum(len(worlds) for worlds in peers.ask_all(WORLD_NAMES).values())
    if len(known) + others >= limit:
        raise TooManyWorlds.at_limit(limit)


def _find_source(platform: Platform, source: str | None) -> str | WorldCopy | None:
    """Return the world to copy, from the process in which it lives.

    Raises:
        UnknownWorld: It does not exist there.
    """
    if source is None or platform.peers.lives_here(source):
        return source
    packed = platform.peers.ask_owner(source, COPY, source)
    if packed is None:
        raise UnknownWorld(source)
    return unpack_world(packed, platform.base)


def delete_world(request: ControlRequest) -> None:
    """Drop a world with all its contents."""
    try:
        request.platform.worlds.drop(request.args["name"])
    except ValueError as fault:
        text = f"The world {DEFAULT!r} always exists; POST /_mock/reset returns it to its start."
        raise ControlRefusal(409, text) from fault


def reset(request: ControlRequest) -> None:
    """Return the world to its start: records, scenarios, clock, ids; an empty journal."""
    request.world.reset()


def addresses(origin: str, name: str) -> dict[str, str]:
    """Return the base addresses of a world on the server at `origin`."""
    base_url = origin if name == DEFAULT else f"{origin}/~{name}"
    return {
        "base_url": base_url,
        "ads_base_url": base_url,
        "ads_sandbox_base_url": f"{base_url}/sandbox",
        "control": f"{base_url}/_mock",
    }


def describe_world(name: str, known: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Return a world with its credentials as `PUT /_mock/worlds/NAME` answers."""
    return {"name": name, **addresses(origin, name), "credentials": known}


ROUTES = (
    Route("POST", "/reset", reset, status=204),
    Route("GET", "/worlds", list_worlds),
    Route(
        "PUT",
        "/worlds/<name>",
        put_world,
        body=WorldBody,
        returns=WorldAnswer,
        name_pattern=NAME_PATTERN,
    ),
    Route("DELETE", "/worlds/<name>", delete_world, status=204),
)
