"""Snapshots: named states of a world, which it keeps until its next reset; and its case, a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.fields import Instant, Integer, Text
from mock_platform.core.schema import Schema
from mock_platform.core.snapshots import Snapshots
from mock_platform.world.names import NAME_PATTERN

if TYPE_CHECKING:
    from flask import Response


class SnapshotAnswer(Schema):
    """A snapshot: its name, when it was taken, and how many records differ from the fixtures."""

    name = Text(required=True)
    at = Instant(required=True)
    changed_records = Integer(required=True)


def list_snapshots(request: ControlRequest) -> dict[str, Any]:
    """Return the names of the world's snapshots, oldest first."""
    return {"snapshots": Snapshots(request.world).list()}


def put_snapshot(request: ControlRequest) -> dict[str, Any]:
    """Save the current state under a name; an existing snapshot of that name is replaced."""
    return Snapshots(request.world).save(request.args["name"])


def restore_snapshot(request: ControlRequest) -> None:
    """Return the world to a snapshot; the journal is emptied, the snapshots stay."""
    Snapshots(request.world).restore(request.args["name"])


def delete_snapshot(request: ControlRequest) -> None:
    """Delete a snapshot of this world."""
    Snapshots(request.world).delete(request.args["name"])


def get_case(request: ControlRequest) -> Response:
    """Return the world with all its requests as one file, without secrets."""
    from flask import Response

    from mock_platform.verification.cases.writing import write_case

    world = request.world
    data = write_case(request.platform, world)
    name = {"Content-Disposition": f'attachment; filename="{world.name}.zip"'}
    return Response(data, content_type="application/zip", headers=name)


ROUTES = (
    Route("GET", "/case", get_case, media_type="application/zip"),
    Route("GET", "/snapshots", list_snapshots),
    Route(
        "PUT", "/snapshots/<name>", put_snapshot, returns=SnapshotAnswer, name_pattern=NAME_PATTERN
    ),
    Route("POST", "/snapshots/<name>/restore", restore_snapshot, status=204),
    Route("DELETE", "/snapshots/<name>", delete_snapshot, status=204),
)
