"""The reason phrases of HTTP statuses."""

from __future__ import annotations

from http import HTTPStatus

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def phrase(status: int) -> str:
    """Returns the standard reason phrase of a status; empty if it has none."""
    return _PHRASES.get(status, "")
