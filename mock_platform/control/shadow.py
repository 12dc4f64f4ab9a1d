"""The report of `serve --shadow`: how the real service answers the same requests differently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import fields

from mock_platform.control.questions import SHADOW
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.fields import Choice, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema

COUNTS = ("sent", "compared", "dropped", "failed", "not_sent", "waiting", "findings_dropped")
_VERDICTS = ("confirmed", "in doubt", "refuted")
"""What answers say about an assumption; a later word outweighs those before it."""
_MAX_OCCURRENCES = 200


class ShadowVerdict(Schema):
    """What a difference says about an assumption."""

    id = Text(required=True)
    verdict = Choice(_VERDICTS, required=True)


class ShadowOccurrence(Schema):
    """One answer in which a difference was seen."""

    operation = Text(required=True)
    probe = Text(required=True, metadata={"description": "id of the request in the journal"})
    request = Text(required=True, metadata={"description": "method and address at the service"})
    where = Text(required=True)
    example = Text(metadata={"description": "what the service answered at this place"})


class ShadowFinding(Schema):
    """A difference, everywhere it was seen."""

    id = Text(required=True, metadata={"description": "the same as long as the difference is"})
    kind = Text(required=True)
    where = Text(required=True, metadata={"description": "the place in the answer"})
    expected = Text(required=True, metadata={"description": "how the sandbox answers"})
    got = Text(required=True, metadata={"description": "how the service answers"})
    count = Integer(required=True)
    operations = ListOf(Text(), required=True)
    places = ListOf(Text(), required=True)
    assumptions = ListOf(Nested(ShadowVerdict), required=True)
    accepted = Text(required=True, allow_none=True, metadata={"description": "always null here"})
    occurrences = ListOf(
        Nested(ShadowOccurrence), required=True, metadata={"description": "the first ones"}
    )


class ShadowAnswer(Schema):
    """How the real service answers differently, of all processes of the server together."""

    upstream = Text(required=True, metadata={"description": "base address of the service"})
    writes = fields.Boolean(required=True, metadata={"description": "whether writes are sent"})
    sent = Integer(required=True)
    compared = Integer(required=True)
    dropped = Integer(required=True, metadata={"description": "for which there was no room"})
    failed = Integer(required=True, metadata={"description": "that could not be compared"})
    not_sent = Integer(required=True, metadata={"description": "writes and answers of scenarios"})
    waiting = Integer(required=True, metadata={"description": "that are sent next"})
    last_fault = Text(required=True, allow_none=True)
    findings = ListOf(
        Nested(ShadowFinding),
        required=True,
        metadata={"description": "those in most operations first"},
    )
    findings_dropped = Integer(
        required=True, metadata={"description": "differences for which there was no room"}
    )
    assumptions = fields.Dict(
        keys=Text(),
        values=Choice(_VERDICTS),
        required=True,
        metadata={"description": "what the answers say about each assumption, by id"},
    )


def get_shadow(request: ControlRequest) -> dict[str, Any]:
    """Return the differences so far, and what was sent, dropped and failed.

    Raises:
        ControlRefusal: Requests are not sent to another service.
    """
    report = request.platform.shadow
    if report is None:
        raise ControlRefusal(
            404, "Requests are not sent to another service. Start the server with --shadow URL."
        )
    others = request.platform.peers.ask_all(SHADOW).values()
    return merge_shadows([report(), *(each for each in others if each is not None)])


def merge_shadows(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the reports of the processes of one server as one; there has to be one at least."""
    first, *others = reports
    merged = dict(first)
    found: dict[str, dict[str, Any]] = {each["id"]: each for each in first["findings"]}
    for other in others:
        merged |= {name: merged[name] + other[name] for name in COUNTS}
        merged["last_fault"] = merged["last_fault"] or other["last_fault"]
        merged["assumptions"] = _join_verdicts(merged["assumptions"], other["assumptions"])
        for each in other["findings"]:
            known = found.get(each["id"])
            found[each["id"]] = each if known is None else _join_findings(known, each)
    ordered = sorted(found.values(), key=lambda each: (-len(each["operations"]), each["where"]))
    return merged | {"findings": ordered}


def _join_findings(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    verdicts = _join_verdicts(
        *({each["id"]: each["verdict"] for each in side["assumptions"]} for side in (one, other))
    )
    return {
        **one,
        "count": one["count"] + other["count"],
        "operations": list(dict.fromkeys([*one["operations"], *other["operations"]])),
        "places": list(dict.fromkeys([*one["places"], *other["places"]])),
        "assumptions": [{"id": key, "verdict": each} for key, each in verdicts.items()],
        "occurrences": [*one["occurrences"], *other["occurrences"]][:_MAX_OCCURRENCES],
    }


def _join_verdicts(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    return {
        key: max((side[key] for side in (one, other) if key in side), key=_VERDICTS.index)
        for key in sorted({**one, **other})
    }


ROUTES = (Route("GET", "/shadow", get_shadow, returns=ShadowAnswer),)
