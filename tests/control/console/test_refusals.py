"""What the forms of the console refuse: the page says what is wrong, and nothing changes."""

from __future__ import annotations

import pytest

from tests.control.console.support import refused, submit
from tests.control.support import call, look
from tests.support import Sandbox, sandbox

USER = "2244994945"
ROWS: list[tuple[str, dict[str, str], int, str]] = [
    ("clock/advance", {"seconds": "soon"}, 422, 'got "soon" for seconds'),
    ("clock/advance", {"seconds": "inf"}, 422, 'got "inf"'),
    ("clock/advance", {"seconds": "1e300"}, 422, "outside the years"),
    ("clock/advance", {}, 422, "needs 'seconds'"),
    ("clock/travel", {"to_travel": "tomorrow"}, 422, 'got "tomorrow"'),
    ("clock/travel", {"to_travel": ""}, 422, "such as 2026-12-24T18:00:00Z"),
    ("clock/freeze", {"to": "24.12.2026"}, 422, 'got "24.12.2026"'),
    ("webhooks/events", {"event_type": "profile.update.boi", "user_id": USER}, 422, "Did you mean"),
    ("webhooks/events", {"event_type": "post.create", "user_id": "1"}, 422, "user_id"),
    ("webhooks/events", {"event_type": "post.create", "user_id": USER, "payload": "{"}, 422,
     "not valid JSON"),
    ("webhooks/events", {"event_type": "post.create", "user_id": USER, "created_at": "soon"}, 422,
     "created_at"),
    ("streams/stall", {"stream": "all", "seconds": "soon"}, 422, 'got "soon"'),
    ("streams/stall", {"stream": "s1", "seconds": "1"}, 404, "s1"),
    ("streams/disconnect", {"stream": "all", "disconnect_type": "Force"}, 422, "ForceDisconnect"),
    ("streams/disconnect", {"stream": "all", "fault": "fire"}, 422, "truncate"),
    ("rules", {"rule": "coffee ("}, 422, "exactly one of post and post_id"),
    ("rules", {"rule": "coffee (", "post_id": "1"}, 422, "at position 9"),
    ("rules", {"rule": "coffee", "post": "{"}, 422, "not valid JSON"),
    ("rules", {"rule": "coffee", "post_id": "1"}, 404, "No post has the id '1'"),
    ("rules", {"rule": "", "post_id": "1"}, 422, "rule"),
    ("transitions/stats_job/pace", {"progression": "soon"}, 422, "soon"),
    ("transitions/stats_job/pace", {"progression": "time", "seconds": "x"}, 422,
     'got "x" for seconds'),
    ("transitions/stats_job/pace", {"progression": "polls", "polls": "0"}, 422, "polls"),
    ("transitions/audience/move", {"key": "", "to": "PROCESSED"}, 422, "write the key"),
    ("transitions/audience/move", {"key": "nothing", "to": "PROCESSED"}, 404,
     "no record 'nothing'"),
    ("transitions/audience/move", {"key": "x", "to": "DONE"}, 422,
     "its states: PROCESSING, PROCESSED"),
    ("records/users", {"count": "0"}, 422, "a whole number from 1 to 100,000, got 0"),
    ("records/users", {"count": "x"}, 422, "got 'x'"),
    ("records/users", {"fields": "{"}, 422, "JSON"),
    ("records/users", {"fields": '{"nme": 1}'}, 422, "Did you mean 'name'?"),
    ("records/users", {"seed": "x"}, 422, "for seed"),
    ("worlds", {"name": "default"}, 409, "there is a world 'default' already"),
    ("worlds", {"name": ""}, 422, "1 to 64 letters"),
    ("worlds", {"name": "a/b"}, 422, "1 to 64 letters"),
    ("worlds", {"name": "a", "seed": "x"}, 422, 'got "x" for seed'),
    ("worlds", {"name": "a", "freeze": "x"}, 422, 'got "x" for freeze'),
    ("worlds", {"name": "a", "from": "nowhere"}, 422, "no world 'nowhere'"),
    ("worlds", {"name": "a", "names": "both"}, 422, '"both"'),
    ("worlds/default/copy", {"name": "default"}, 409, "there is a world 'default' already"),
]  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> tuple[Sandbox, list[object]]:
    """A sandbox whose clock is frozen, and what it looks like."""
    box = sandbox()
    call(box, "PUT", "/clock", json={"action": "freeze"})
    return box, look(box)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_refused_form_is_shown_again_with_the_reason(
    prepared: tuple[Sandbox, list[object]], row: tuple[str, dict[str, str], int, str]
) -> None:
    """The page has the reason and the status of the control plane; nothing changes."""
    (box, before), (path, form, status, told) = prepared, row

    assert told in refused(submit(box, f"/console/{path}", **form), status)
    assert before == look(box)
