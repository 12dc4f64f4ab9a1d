"""Open streams: their clients, how far behind they are, ended or silenced from here."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response
from msgspec.structs import replace

from mock_platform.api.v2.streams.open_streams import ALL, DISCONNECT_TYPE, FAULTS
from mock_platform.control.console.answers import ConsolePage, go, render
from mock_platform.control.console.forms import FormState, answer_form, to_number
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.streams import DisconnectBody, StallBody, disconnect, list_open, stall
from mock_platform.core.failures.problems import DISCONNECT_TYPES

PATH = "/console/streams"
_NO_FAULT = ("", "none: the answer ends as it should")


def show_streams(request: ControlRequest, form: FormState | None = None) -> Response:
    """Every open stream, and the forms that end or silence them."""
    streams = list_open(request)["streams"]
    return render(
        request,
        "streams.html",
        block="content",
        form=form,
        streams=streams,
        choices=[(ALL, "all"), *((each["id"], each["id"]) for each in streams)],
        types=DISCONNECT_TYPES,
        usual=DISCONNECT_TYPE,
        faults=[_NO_FAULT, *FAULTS],
    )


def list_streams_live(request: ControlRequest) -> Response:
    """Return the table of the open streams alone, which the page asks for again and again."""
    return render(request, "streams_table.html", streams=list_open(request)["streams"])


def end_streams(request: ControlRequest) -> Response:
    """End one stream or all of them."""

    def end(values: Mapping[str, str]) -> Response:
        body: dict[str, object] = {"line": values.get("line", "") == "yes"}
        for name in ("disconnect_type", "fault"):
            if values.get(name):
                body[name] = values[name]
        disconnect(_aim(request, values, load_body(DisconnectBody(), body)))
        return go(request, PATH, f"Ended: {_name(values)}.")

    return answer_form(request, end, show_streams)


def silence_streams(request: ControlRequest) -> Response:
    """Let one stream or all of them send nothing for some seconds."""

    def silence(values: Mapping[str, str]) -> Response:
        seconds = to_number(values.get("seconds", "").strip())  # with a unit it is a text
        stall(_aim(request, values, load_body(StallBody(), {"seconds": seconds})))
        return go(request, PATH, f"Silent, {values['seconds']} (real time): {_name(values)}.")

    return answer_form(request, silence, show_streams)


# -- within ------------------------------------------------------------------------------------


def _aim(request: ControlRequest, values: Mapping[str, str], body: object) -> ControlRequest:
    return replace(request, args={"key": values.get("stream") or ALL}, body=body)


def _name(values: Mapping[str, str]) -> str:
    chosen = values.get("stream") or ALL
    return "all streams" if chosen == ALL else f"stream {chosen}"


PAGE = ConsolePage(
    "Streams",
    PATH,
    (
        Route("GET", PATH, show_streams, media_type=HTML),
        Route("GET", f"{PATH}/table", list_streams_live, media_type=HTML),
        Route("POST", f"{PATH}/disconnect", end_streams, media_type=HTML, form=True),
        Route("POST", f"{PATH}/stall", silence_streams, media_type=HTML, form=True),
    ),
)
