"""Statuses in the words of their standard."""

from __future__ import annotations

from http import HTTPStatus

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def phrase(status: int) -> str:
    """The standard reason phrase of a status; empty for one that has none."""
    return _PHRASES.get(status, "")
