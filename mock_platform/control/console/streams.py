"""Streams: the rules of the filtered stream, and the open streams, ended or silenced from here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.v2.streams.open_streams import ALL, DISCONNECT_TYPE, FAULTS
from mock_platform.control.console.answers import (
    ConsolePage,
    FormState,
    answer_form,
    go,
    read_json,
    render,
    to_number,
)
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.rules import Explanation, explain_rule
from mock_platform.control.streams import DisconnectBody, StallBody, disconnect, list_open, stall
from mock_platform.core.failures.problems import DISCONNECT_TYPES
from mock_platform.world.store.interface import Order

# The rules: which exist, and why one matches a post or does not.

RULES_PATH = "/console/rules"
MAX_SHOWN = 200
"""Rules and posts that the page lists."""
_NEWEST_POSTS = Order("created_at", descending=True)
_PRODUCTS = [("stream", "the filtered stream"), ("search", "searches and counts")]


class ExplainedPart(Struct, frozen=True):
    """One part of an explained rule, as a line of the page."""

    text: str
    kind: str
    matches: bool
    depth: int
    failed: bool
    """Whether it is one of the parts that keep the rule from matching."""


def show_rules(
    request: ControlRequest, form: FormState | None = None, found: Mapping[str, Any] | None = None
) -> Response:
    """Return the rules of the stream, and a form that tries one against a post."""
    world = request.world
    with world.work():
        rules = [entry.record for entry in world.store.page("stream_rules", limit=MAX_SHOWN)]
        total = world.store.count("stream_rules")
        posts = world.store.page("posts", order=_NEWEST_POSTS, limit=MAX_SHOWN)
    return render(
        request,
        "rules.html",
        block="content",
        form=form,
        rules=rules,
        total=total,
        posts=[(entry.key, str(entry.record.get("text", ""))[:80]) for entry in posts],
        products=_PRODUCTS,
        found=found,
        clauses=[] if found is None else list(list_parts(found)),
    )


def try_rule(request: ControlRequest) -> Response:
    """Explain part by part why a rule matches a post, or does not."""

    def explain(values: Mapping[str, str]) -> Response:
        body: dict[str, Any] = {"rule": values.get("rule", "")}
        if values.get("product"):
            body["product"] = values["product"]
        if post_id := values.get("post_id", "").strip():
            body["post_id"] = post_id
        body |= read_json(values, "post", "The rule was not tried")
        found = explain_rule(replace(request, body=load_body(Explanation(), body)))
        return show_rules(request, FormState(values), found)

    return answer_form(request, explain, show_rules)


def list_parts(found: Mapping[str, Any]) -> Iterator[ExplainedPart]:
    """Return the parts of an explained rule from the whole to the smallest ones."""
    failed = {(each["text"], each["position"]) for each in found["failed"]}
    waiting = [(found["tree"], 0)]
    while waiting:
        part, depth = waiting.pop()
        is_failed = (part["text"], part.get("position")) in failed
        yield ExplainedPart(part["text"], part["kind"], part["matches"], depth, is_failed)
        waiting += [(term, depth + 1) for term in reversed(part.get("terms", ()))]


RULES = ConsolePage(
    "Stream rules",
    RULES_PATH,
    (
        Route("GET", RULES_PATH, show_rules, media_type=HTML),
        Route("POST", RULES_PATH, try_rule, media_type=HTML, form=True),
    ),
    section="Data",
)


# The open streams: their clients, and how far behind they are.

STREAMS_PATH = "/console/streams"
_NONE_OPEN = "No stream is open, so nothing happened."
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
        ended = disconnect(_aim(request, values, load_body(DisconnectBody(), body)))["streams"]
        said = f"Ended: {_name(values)}." if ended else _NONE_OPEN
        return go(request, STREAMS_PATH, said)

    return answer_form(request, end, show_streams)


def silence_streams(request: ControlRequest) -> Response:
    """Let one stream or all of them send nothing for some seconds."""

    def silence(values: Mapping[str, str]) -> Response:
        seconds = to_number(values.get("seconds", "").strip())  # with a unit it is a text
        silent = stall(_aim(request, values, load_body(StallBody(), {"seconds": seconds})))
        said = f"Silent, {values['seconds']} (real time): {_name(values)}."
        return go(request, STREAMS_PATH, said if silent["streams"] else _NONE_OPEN)

    return answer_form(request, silence, show_streams)


def _aim(request: ControlRequest, values: Mapping[str, str], body: object) -> ControlRequest:
    return replace(request, args={"key": values.get("stream") or ALL}, body=body)


def _name(values: Mapping[str, str]) -> str:
    chosen = values.get("stream") or ALL
    return "all streams" if chosen == ALL else f"stream {chosen}"


STREAMS = ConsolePage(
    "Streams",
    STREAMS_PATH,
    (
        Route("GET", STREAMS_PATH, show_streams, media_type=HTML),
        Route("GET", f"{STREAMS_PATH}/table", list_streams_live, media_type=HTML),
        Route("POST", f"{STREAMS_PATH}/disconnect", end_streams, media_type=HTML, form=True),
        Route("POST", f"{STREAMS_PATH}/stall", silence_streams, media_type=HTML, form=True),
    ),
    section="Watch",
)
