"""The marker headers: what made the sandbox answer as it did (`--no-markers` leaves them out)."""

from __future__ import annotations

from collections.abc import Sequence

from mock_platform.core.call import Call
from mock_platform.core.pairs import Pairs


def make_markers(call: Call, assumptions: Sequence[str]) -> Pairs:
    """Returns the marker headers of the answer to a call; `assumptions` are sorted ids."""
    headers = [("X-Mock-Request-Id", call.request_id)]
    if call.operation is not None:
        headers.append(("X-Mock-Operation", call.operation))
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
        headers.append(("X-Mock-Assumptions", ",".join(assumptions)))
    return headers
