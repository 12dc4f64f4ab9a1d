"""How the control plane says no: a problem object whose `detail` tells what to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any

from mock_platform.core.fields import Fault

MEDIA_TYPE = "application/problem+json"


class Refusal(Exception):
    """Ends a control request; `extra` stands beside the problem's own fields."""

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
        """The problem object."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.extra,
        }


class BadQuery(ValueError):
    """A query that cannot be used; `faults` are (parameter, what is wrong with it)."""

    def __init__(self, faults: Iterable[tuple[str, str]]) -> None:
        self.faults = [(name, str(text)) for name, text in faults]
        super().__init__(f"The query cannot be used: {'; '.join(text for _, text in self.faults)}")


def faulty(status: int, faults: Iterable[tuple[str, str]], what: str) -> Refusal:
    """A refusal of values, all faults at once: 422 for a body, 400 for the query."""
    listed = [
        {"field": field, "message": text.explained if isinstance(text, Fault) else text}
        for field, text in faults
    ]
    told = "; ".join(fault["message"] for fault in listed)
    return Refusal(status, f"{what}: {told}", faults=listed)


def did_you_mean(value: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or nothing where no known value is near."""
    near = get_close_matches(value, list(known), 1)
    return f" Did you mean {near[0]!r}?" if near else ""


def unknown_names(
    faults: Iterable[tuple[str, Fault]], known: Mapping[str, Any]
) -> Iterable[tuple[str, str]]:
    """The faults, with those of unknown names put into words that help."""
    for field, text in faults:
        if str(text) == "Unknown field.":
            allowed = ", ".join(known) or "none"
            hint = did_you_mean(field, known)
            yield field, f"{field!r} is unknown here; known: {allowed}.{hint}"
        else:
            yield field, text
