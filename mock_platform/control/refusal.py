"""Refusals of the control plane: a problem object whose `detail` says what to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from mock_platform.core.faults import Fault
from mock_platform.core.hints import did_you_mean

MEDIA_TYPE = "application/problem+json"


class ControlRefusal(Exception):
    """Ends a control request; `extra` adds fields to the problem object."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.extra = extra

    def as_json(self) -> dict[str, Any]:
        """Returns the problem object."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.extra,
        }


def refuse_values(status: int, faults: Iterable[tuple[str, str]], what: str) -> ControlRefusal:
    """A refusal of values, with all faults: 422 for a body, 400 for the query."""
    listed = [
        {"field": field, "message": text.explanation if isinstance(text, Fault) else text}
        for field, text in faults
    ]
    told = "; ".join(fault["message"] for fault in listed)
    return ControlRefusal(status, f"{what}: {told}", faults=listed)


def explain_unknown_names(
    faults: Iterable[tuple[str, Fault]], known: Mapping[str, Any]
) -> Iterable[tuple[str, str]]:
    """Returns the faults, with helpful texts for unknown names."""
    for field, text in faults:
        if str(text) == "Unknown field.":
            allowed = ", ".join(known) or "none"
            hint = did_you_mean(field, known)
            yield field, f"{field!r} is unknown here; known: {allowed}.{hint}"
        else:
            yield field, text
