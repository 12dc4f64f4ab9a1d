"""Snapshots: named states of a world, which it keeps until its next reset; and its case, a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.errors import did_you_mean
from mock_platform.core.fields import Instant, Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Response

MAX_SNAPSHOTS = 100
"""Maximum number of snapshots in one world."""

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Pattern of a snapshot's name."""
_NAME = re.compile(NAME_PATTERN, re.ASCII)


class SnapshotAnswer(Schema):
    """A snapshot: its name, when it was taken, and how many records differ from the fixtures."""

    name = Text(required=True)
    at = Instant(required=True)
    changed_records = Integer(required=True)


def list_snapshots(request: ControlRequest) -> dict[str, Any]:
    """Return the names of the world's snapshots, oldest first."""
    return {"snapshots": list(request.world.snapshots)}


def put_snapshot(request: ControlRequest) -> dict[str, Any]:
    """Save the current state under a name; an existing snapshot of that name is replaced."""
    world, name = request.world, request.args["name"]
    if _NAME.fullmatch(name) is None:
        raise ControlRefusal(
            400,
            f"{name!r} is not a name for a snapshot: 1 to 64 letters, digits, dots, "
            "underscores and hyphens; the first must be a letter or digit.",
        )
    with world.hold():
        if name not in world.snapshots and len(world.snapshots) >= MAX_SNAPSHOTS:
            raise ControlRefusal(
                409,
                f"This world already has {MAX_SNAPSHOTS} snapshots. Delete one with "
                "DELETE /_mock/snapshots/NAME.",
            )
        saved = world.take_snapshot(name)
        now = wire_millis(world.clock.now())
    return {"name": name, "at": now, "changed_records": saved.records.size}


def restore_snapshot(request: ControlRequest) -> None:
    """Return the world to a snapshot; the journal is emptied, the snapshots stay."""
    world = request.world
    with world.hold():
        world.load(world.snapshots[_require_snapshot(world, request.args["name"])])


def delete_snapshot(request: ControlRequest) -> None:
    """Delete a snapshot of this world."""
    world = request.world
    with world.hold():
        world.drop_snapshot(_require_snapshot(world, request.args["name"]))


def get_case(request: ControlRequest) -> Response:
    """Return the world with all its requests as one file, without secrets."""
    from flask import Response

    from mock_platform.verification.cases.writing import write_case

    world = request.world
    data = write_case(request.platform, world)
    name = {"Content-Disposition": f'attachment; filename="{world.name}.zip"'}
    return Response(data, content_type="application/zip", headers=name)


def _require_snapshot(world: World, name: str) -> str:
    if name not in world.snapshots:
        raise ControlRefusal(
            404,
            f"World {world.name!r} has no snapshot "
            f"{name!r}.{did_you_mean(name, world.snapshots)} PUT "
            f"/_mock/snapshots/{name} saves one.",
        )
    return name


ROUTES = (
    Route("GET", "/case", get_case, media_type="application/zip"),
    Route("GET", "/snapshots", list_snapshots),
    Route(
        "PUT", "/snapshots/<name>", put_snapshot, returns=SnapshotAnswer, name_pattern=NAME_PATTERN
    ),
    Route("POST", "/snapshots/<name>/restore", restore_snapshot, status=204),
    Route("DELETE", "/snapshots/<name>", delete_snapshot, status=204),
)
