"""Journal entries: what the journal keeps of a call and its reply."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mock_platform.core.call import Call, Reply
from mock_platform.store.interface import Change
from mock_platform.world.journal import JournalEntry


def make_entry(
    call: Call,
    reply: Reply,
    world: str,
    at: datetime,
    milliseconds: float,
    assumptions: Sequence[str],
    changes: Sequence[Change],
    failed: str | None,
) -> JournalEntry:
    """Returns the entry of an answered call in the world of this name.

    `at` is the start by the world's clock, `milliseconds` the real duration, `failed` the traceback
    of an error in the sandbox. Changes to the sandbox's own tables (`_…`) are left out.

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
        milliseconds=milliseconds,
        operation=call.operation,
        caller=call.caller.as_json(),
        rule=call.rule,
        kept_near_misses=call.near_misses or (),
        kept_changes=tuple([each for each in changes if each.table[0] != "_"]) if changes else (),
        assumptions=assumptions,
        kept_warnings=call.warnings or (),
        coded_warnings=call.coded_warnings or (),
        custom=call.custom,
        diagnosis=call.diagnosis,
        traceback=failed,
        request_headers=tuple(call.headers),
        request_body=call.body,
        response_headers=reply.headers,
        response_body=reply.body,
        reason=reply.reason,
        sent=call.sent,
    )
