"""What is said of an answer: its entry in the journal, and the marker headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from mock_platform.core.call import Call, FaultKind, Reply
from mock_platform.core.pairs import Pairs, share_pair
from mock_platform.settings import DOCUMENTED
from mock_platform.world.clock import format_date
from mock_platform.world.endings import COMPLETE, AnswerEnding, How
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Change


def make_entry(
    call: Call,
    reply: Reply,
    world: str,
    at: datetime,
    milliseconds: float,
    assumptions: Sequence[str],
    changes: Sequence[Change],
    failed: str | None,
    why: str | None,
    turn: int,
) -> JournalEntry:
    """Return the entry of an answered call in the world of this name.

    `at` is the start by the world's clock, `milliseconds` the real duration, `failed` the traceback
    of an error in the sandbox, `why` the reason for the answer, `turn` its number. Changes to the
    sandbox's own tables (`_…`) are left out.

    A journal keeps thousands of entries, and the garbage collector looks at every list that they
    refer to. So there are tuples here, except for the headers of the answer: the edge adds to them.
    """
    return JournalEntry(
        id=call.request_id,
        at=at,
        world=world,
        method=call.method,
        url=call.url,
        status=reply.status,
        handler_milliseconds=milliseconds,
        operation=call.operation,
        caller=call.caller.as_json(),
        rule=call.rule,
        kept_near_misses=call.near_misses or (),
        kept_changes=tuple([each for each in changes if each.table[0] != "_"]) if changes else (),
        assumptions=assumptions,
        kept_warnings=call.warnings or (),
        coded_warnings=call.coded_warnings or (),
        custom=call.custom,
        tool=None if call.tool is None else call.tool.name,
        diagnosis=call.diagnosis,
        traceback=failed,
        request_headers=tuple(call.headers),
        request_body=call.body,
        response_headers=reply.headers,
        response_body=reply.body,
        reason=reply.reason,
        sent=call.sent,
        ending=None if reply.sending is not None or reply.is_open_ended else COMPLETE,
        why=why,
        turn=turn,
    )


_ENDINGS: Mapping[FaultKind, How] = {
    "reset": "reset",
    "empty": "empty",
    "truncate": "truncated",
    "garbage": "garbage",
    "timeout": "stalled",
}


def end_unsent(reply: Reply) -> None:
    """Complete the entry of an answer that goes to no client: a fault is noted, no delay waited."""
    if reply.entry is not None:
        fault = None if reply.sending is None else reply.sending.fault
        reply.entry.ending = COMPLETE if fault is None else AnswerEnding(_ENDINGS[fault])


# The marker headers: what made the sandbox answer as it did (`--no-markers` leaves them out).

_MAX_SHARED = 1000
"""Maximum number of lists of assumptions that answers share, as they share headers."""


@lru_cache(_MAX_SHARED)
def sort_assumptions(ids: tuple[str, ...]) -> Sequence[str]:
    """Return the ids in order; answers with the same ones share the list."""
    return sorted(ids)


def make_markers(call: Call, assumptions: Sequence[str], why: str | None = None) -> Pairs:
    """Return the marker headers of the answer to a call; `assumptions` are sorted ids."""
    headers = [("X-Mock-Request-Id", call.request_id)]
    if call.operation is not None:
        headers.append(share_pair("X-Mock-Operation", call.operation))
    elif call.custom is not None:
        headers.append(("X-Mock-Custom", call.custom))
    if call.names != "neutral":
        headers.append(("X-Mock-Names", call.names))
    if call.chosen is not DOCUMENTED:
        headers.append(share_pair("X-Mock-Wire", call.chosen.name))
    if call.as_of is not None:
        headers.append(("X-Mock-As-Of", format_date(call.as_of)))
    if call.rule is not None:
        headers.append(("X-Mock-Rule", f"{call.rule['scenario']}/{call.rule['rule']}"))
    if why is not None:
        headers.append(("X-Mock-Why", why))
    if call.coded_warnings:
        codes = sorted({code for code, _ in call.coded_warnings})
        headers.append(("X-Mock-Warnings", ",".join(codes)))
    if assumptions:
        headers.append(share_pair("X-Mock-Assumptions", ",".join(assumptions)))
    return headers
