"""The marker headers: what made the sandbox answer as it did (`--no-markers` leaves them out)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mock_platform.core.call import Call
from mock_platform.core.pairs import Pairs

_MAX_SHARED = 1000
"""Maximum number of headers, and of lists of assumptions, that answers share.

The journal keeps them for thousands of answers, and the garbage collector looks at each one.
"""


@lru_cache(_MAX_SHARED)
def sort_assumptions(ids: tuple[str, ...]) -> Sequence[str]:
    """Returns the ids in order; answers with the same ones share the list."""
    return sorted(ids)


@lru_cache(_MAX_SHARED)
def _share_header(name: str, value: str) -> tuple[str, str]:
    return name, value


def make_markers(call: Call, assumptions: Sequence[str]) -> Pairs:
    """Returns the marker headers of the answer to a call; `assumptions` are sorted ids."""
    headers = [("X-Mock-Request-Id", call.request_id)]
    if call.operation is not None:
        headers.append(_share_header("X-Mock-Operation", call.operation))
    elif call.custom is not None:
        headers.append(("X-Mock-Custom", call.custom))
    if call.names != "neutral":
        headers.append(("X-Mock-Names", call.names))
    if call.rule is not None:
        headers.append(("X-Mock-Rule", f"{call.rule['scenario']}/{call.rule['rule']}"))
    if call.coded_warnings:
        codes = sorted({code for code, _ in call.coded_warnings})
        headers.append(("X-Mock-Warnings", ",".join(codes)))
    if assumptions:
        headers.append(_share_header("X-Mock-Assumptions", ",".join(assumptions)))
    return headers
