"""Open streams: list them, end one, silence one."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.streams.open_streams import (
    ALL,
    DISCONNECT_TYPE,
    FAULTS,
    LONGEST_STALL_SECONDS,
    disconnect_streams,
    list_streams,
    stall_streams,
)
from mock_platform.control.clock import Duration
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.errors import UnknownStream, did_you_mean
from mock_platform.core.failures.problems import DISCONNECT_TYPES
from mock_platform.core.fields import Choice, Flag, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.validators import Between


class _OpenStream(Schema):
    id = Text(required=True)
    endpoint = Text(required=True)
    app_id = Text(required=True)
    since = Text(required=True, metadata={"description": "by the world's clock"})
    lines = Integer(required=True, metadata={"description": "lines sent so far"})
    last_keepalive = Text(required=True, allow_none=True)
    lag = Integer(required=True, metadata={"description": "activities that wait for the client"})


class StreamsAnswer(Schema):
    """The open streams, oldest first."""

    streams = ListOf(Nested(_OpenStream), required=True)


class DisconnectBody(Schema):
    """The problem of the last line, whether there is one, and a network fault if wanted."""

    disconnect_type = Choice(DISCONNECT_TYPES, load_default=DISCONNECT_TYPE)
    line = Flag(
        load_default=True,
        metadata={"description": "whether the last line with the problem is sent"},
    )
    fault = Choice(
        FAULTS, metadata={"description": "a network fault in place of the end of the answer"}
    )


class StallBody(Schema):
    """How long streams send nothing, not even keep-alives."""

    seconds = Duration(required=True, validate=[Between(0, LONGEST_STALL_SECONDS)])


class ChosenStreams(Schema):
    """The ids of the streams that this concerned."""

    streams = ListOf(Text(), required=True)


def list_open(request: ControlRequest) -> dict[str, Any]:
    """Every open stream of the world."""
    return {"streams": list_streams(request.world)}


def disconnect(request: ControlRequest) -> dict[str, Any]:
    """End one stream, or with `all` every one."""
    try:
        return {"streams": disconnect_streams(request.world, request.args["key"], **request.body)}
    except UnknownStream as fault:
        raise _refuse_unknown(request, fault) from fault


def stall(request: ControlRequest) -> dict[str, Any]:
    """Silence one stream, or with `all` every one, for some real seconds."""
    key, seconds = request.args["key"], request.body["seconds"]
    try:
        return {"streams": stall_streams(request.world, key, seconds)}
    except UnknownStream as fault:
        raise _refuse_unknown(request, fault) from fault


def _refuse_unknown(request: ControlRequest, fault: UnknownStream) -> ControlRefusal:
    known = [stream["id"] for stream in list_streams(request.world)]
    hint = did_you_mean(request.args["key"], [*known, ALL])
    return ControlRefusal(404, f"{fault}{hint}")


ROUTES = (
    Route("GET", "/streams", list_open, returns=StreamsAnswer),
    Route(
        "POST", "/streams/<key>/disconnect", disconnect, body=DisconnectBody, returns=ChosenStreams
    ),
    Route("POST", "/streams/<key>/stall", stall, body=StallBody, returns=ChosenStreams),
)
