"""Events of direct messages: those of all conversations of a user, and a single one."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.conventions import PAGES, declare_named
from mock_platform.api.v2.messages.conversations import (
    CONVERSATIONS,
    NOT_A_RESOURCE_TYPE,
    PERMISSION,
    READ_LIMIT,
    READ_SCOPES,
    SHAPES,
    TABLE,
    get_user,
    refuse_unknown,
    require_read_permission,
)
from mock_platform.api.v2.messages.views import (
    DirectMessageAnswer,
    DirectMessagePage,
    DirectMessageQuery,
    DirectMessageSelectionQuery,
    show_one,
    show_page,
)
from mock_platform.api.v2.objects.answers import PARTIAL, SELECTION
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.world.world import World

_SPEC = "Authentication: direct messages"
_AUTH = Auth(("oauth1", "oauth2"), scopes=READ_SCOPES)


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the events of all conversations of the caller's user."""
    return show_page(call, world, None)


def get(call: Call, world: World) -> dict[str, Any]:
    """Show an event of a conversation of the caller's user."""
    event_id = call.path_params["event_id"]
    event = world.store.get(TABLE, event_id)
    if event is None or get_user(call)["id"] not in event["_participants"]:
        raise refuse_unknown("event", "event_id", event_id)
    return show_one(call, world, event)


OPERATIONS = (
    declare_named(
        "dm_events.list",
        "GET",
        "/2/dm_events",
        list_,
        summary="List the direct messages of a user",
        spec=_SPEC,
        params=DirectMessageQuery,
        gates=(require_read_permission,),
        since=None,
        returns=Flat(DirectMessagePage),
        auth=_AUTH,
        limit=READ_LIMIT,
        errors=("invalid-request", "93"),
        statuses=(400, 403),
        assumptions=(SHAPES, PERMISSION, CONVERSATIONS, PAGES, SELECTION),
        may_assume=(PARTIAL,),
    ),
    declare_named(
        "dm_events.get",
        "GET",
        "/2/dm_events/:event_id",
        get,
        summary="Show an event of a conversation",
        spec=_SPEC,
        params=DirectMessageSelectionQuery,
        gates=(require_read_permission,),
        since=None,
        returns=Flat(DirectMessageAnswer),
        auth=_AUTH,
        limit=READ_LIMIT,
        errors=("invalid-request", "93", "resource-not-found"),
        statuses=(400, 403, 404),
        assumptions=(SHAPES, PERMISSION, CONVERSATIONS, SELECTION),
        may_assume=(PARTIAL, NOT_A_RESOURCE_TYPE),
    ),
)
