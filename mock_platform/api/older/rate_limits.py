"""How many requests the caller has left, as the older interface says it."""

from __future__ import annotations

from mock_platform.api.older import (
    friendships,
    lists,
    media,
    messages,
    places,
    posts,
    profiles,
    saved_searches,
    users,
    welcome_messages,
)
from mock_platform.api.older.conventions import add_fields, declare
from mock_platform.api.v2.conventions import WINDOW_SECONDS, make_schema
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import CommaList, Json, Text
from mock_platform.core.limits import list_windows
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

RATE_LIMIT_STATUS = public_fact(
    "older.rate-limit-status",
    "application/rate_limit_status has the window of 15 minutes of each read that is served here, "
    "by its family: the one of the user, or of the app for a bearer token. A limit that is not in "
    "force (--limits) has a full window. resources names families; unknown ones are left out. The "
    "request counts among 180 in 15 minutes, and the answer was made after that.",
    "developer pages of version 1.1, application/rate_limit_status",
)
_BY_ID = {"/statuses/show", "/users/show"}
"""Paths that are listed with the parameter that they once ended in."""

RateLimitStatus = make_schema(
    "OlderRateLimitStatus", rate_limit_context=Json(required=True), resources=Json(required=True)
)


def show(call: Call, world: World) -> Record:
    """Return the windows of the caller, by family and path."""
    found: dict[str, Record] = {}
    for operation in (*_READS, *OPERATIONS):
        path = operation.path.removeprefix("/1.1")
        for window in list_windows(operation, call, world, WINDOW_SECONDS):
            shown = {name: getattr(window, name) for name in ("limit", "remaining", "reset")}
            found.setdefault(path.split("/")[1], {})[path + "/:id" * (path in _BY_ID)] = shown
    wanted = call.params.get("resources") or list(found)
    unknown = [name for name in wanted if name not in found]
    if unknown:
        known = ", ".join(sorted(found))
        call.warn(f"no resources: {', '.join(unknown)}; there are {known}", NO_EFFECT)
    is_app = call.caller.scheme == "bearer"
    token = (call.caller.token or {}).get("id")
    context = {"application": "dummykey"} if is_app else {"access_token": token}
    resources = {name: found[name] for name in dict.fromkeys(wanted) if name in found}
    return {"rate_limit_context": context, "resources": resources}


LIMITED = (
    media,
    posts,
    users,
    friendships,
    profiles,
    lists,
    messages,
    welcome_messages,
    places,
    saved_searches,
)
"""The subjects whose limits are shown."""
_READS = [each for subject in LIMITED for each in subject.OPERATIONS if each.method == "GET"]
OPERATIONS = (
    declare("GET application/rate_limit_status", show, "Read how many requests are left",
            RateLimitStatus, add_fields(resources=CommaList(Text(), most=100)),
            rates=(180, 180), facts=(RATE_LIMIT_STATUS,)),
)  # fmt: skip
