"""One request: what was sent and answered, why, and what to do with it."""

from __future__ import annotations

from typing import Any

from flask import Response

from mock_platform.console.answers import render
from mock_platform.console.reasons import explain_entry
from mock_platform.console.snippets import write_snippets
from mock_platform.control.journal import find_entry
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.failures.statuses import phrase
from mock_platform.core.jsonio import BadJson, loads, pretty

_EXPLAINED = ("explanation", "mistake", "nearest")
"""Parts of a diagnosis that the page words itself."""


def show_entry(request: ControlRequest) -> Response:
    """One request in full."""
    found = find_entry(request.platform, request.world, request.args["key"])
    shown = found.as_json()
    texts = {each.id: each.text for each in request.platform.assumptions().values()}
    diagnosis = found.diagnosis or {}
    return render(
        request,
        "entry.html",
        block="content",
        entry=shown,
        phrase=found.reason or phrase(found.status),
        address=shown["url"].removeprefix(request.base_url),
        reason=explain_entry(found),
        caller=_describe_caller(found.caller),
        explanation=diagnosis.get("explanation", ""),
        mistake=diagnosis.get("mistake", ""),
        nearest=[each for each in diagnosis.get("nearest", ()) if isinstance(each, dict)],
        details=[
            (name.replace("_", " "), _show(value))
            for name, value in diagnosis.items()
            if name not in _EXPLAINED and value not in (None, "", [], {})
        ],
        rule=found.rule,
        rule_details=[
            (name.replace("_", " "), _show(value))
            for name, value in (found.rule or {}).items()
            if name not in {"scenario", "rule"} and value not in (None, "", [], {})
        ],
        assumptions=[(name, texts.get(name, "")) for name in found.assumptions],
        messages=[
            ("Request", shown["request"]["headers"], _format_body(shown["request"]["body"])),
            ("Answer", shown["response"]["headers"], _format_body(shown["response"]["body"])),
        ],
        snippets=write_snippets(shown),
        savable=200 <= found.status <= 599,
    )


def _describe_caller(caller: dict[str, Any] | None) -> str:
    """Returns who called, in words."""
    if not caller:
        return "unknown: the request was refused before its credentials were read"
    parts = [str(caller.get("how") or caller.get("scheme") or "")]
    parts += [f"{name} {caller[name]}" for name in ("app", "user") if caller.get(name)]
    return ", ".join(part for part in parts if part)


def _show(value: Any) -> str:
    """Returns a value as it is read: texts and numbers plain, anything else as indented JSON."""
    if isinstance(value, bool | dict | list):
        return pretty(value)
    return str(value)


def _format_body(body: dict[str, Any]) -> str:
    """Returns a body in readable form: JSON indented, anything else unchanged."""
    text: str = body["text"]
    try:
        return pretty(loads(text.encode())) if text else ""
    except BadJson:
        return text


ROUTES = (Route("GET", "/console/requests/<key>", show_entry, media_type=HTML),)
