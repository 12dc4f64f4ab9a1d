"""One direct message: its deletion, and the files that came with it (all of v2, section 17)."""

from __future__ import annotations

import re
from posixpath import basename
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    check_path,
    declare_public,
    find_nothing,
    forbid,
    get_user_id,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.media.uploads import read_content
from mock_platform.api.v2.messages.conversations import (
    MESSAGE,
    NOT_A_RESOURCE_TYPE,
    READ_PERMISSION,
    TABLE,
    require_event,
    require_read_permission,
    require_write_permission,
)
from mock_platform.api.v2.objects.media_view import find_any_media
from mock_platform.api.v2.prices import INTERACTION_DELETE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Bytes
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Example
from mock_platform.world.world import World

DELETION_SHAPES = public_fact(
    "direct-messages.deletion",
    "Users delete messages that they sent.",
    "all of v2, section 17",
    gap=True,
)
DELETION_RULES = expectation(
    "direct-messages.deletion-rules",
    "A deleted message is gone for all participants. A message of somebody else, a join or a leave "
    "answers 403 about:blank.",
)
DOWNLOAD_RULES = expectation(
    "direct-messages.downloads",
    "Whoever takes part in a conversation downloads what came with its messages: the number of a "
    "media key, and the last segment of the address of these media. Files of the categories "
    "dm_image, dm_gif and dm_video of up to 5 MiB are answered as they were uploaded; of all "
    "other media a file is made up.",
    gap=True,
)
_RESOURCE = re.compile(r"[A-Za-z0-9_.-]{1,50}", re.ASCII)

DeletionAnswer = wrap_data("DirectMessageDeletionAnswer", deleted=Flag(required=True))


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a message that the caller sent."""
    event = require_event(call, world)
    if event["sender_id"] != get_user_id(call) or event["event_type"] != MESSAGE:
        raise forbid("You are not allowed to delete this direct message.", DELETION_RULES)
    world.store.remove(TABLE, event["id"])
    return {"data": {"deleted": True}}


def download(call: Call, world: World) -> bytes:
    """Return the content of media that came with a message."""
    event = require_event(call, world, "dm_id")
    number, name = call.path_params["media_id"], call.path_params["resource_id"]
    keys = [key for key in event["_media_keys"] if key.partition("_")[2] == number]
    media = find_any_media(world, keys[0]) if keys else None
    if media is None:
        raise ProblemFailure(find_nothing("media", "media_id", number, repeated=True))
    if basename(media["media_url"]) != name:
        raise ProblemFailure(find_nothing("media", "resource_id", name, repeated=True))
    return read_content(world, media)


OPERATIONS = (
    declare_public(
        "dm_events.delete",
        "DELETE /2/dm_events/:event_id",
        delete,
        "Delete a direct message",
        gates=(require_write_permission,),
        rules=check_path("event_id"),
        returns=DeletionAnswer,
        auth=Auth(ANY_USER, scopes=("dm.read", "dm.write")),
        limit=Rates(app_daily=4000, user=300, user_daily=1500),
        errors=("invalid-request", "93", "about:blank", "resource-not-found"),
        assumptions=(DELETION_SHAPES, DELETION_RULES),
        may_assume=(NOT_A_RESOURCE_TYPE,),
        example=Example(path={"event_id": "1990181773551677440"}),
        price=INTERACTION_DELETE,
    ),
    declare_public(
        "dm_conversations.download",
        "GET /2/dm_conversations/media/:dm_id/:media_id/:resource_id",
        download,
        "Download a file that came with a direct message",
        gates=(require_read_permission,),
        rules=check_path("dm_id", "media_id", resource_id=_RESOURCE),
        returns=Bytes(),
        auth=Auth(("oauth2",), scopes=("dm.read",)),
        since=start_on("2026-03-26"),
        errors=("invalid-request", "93", "resource-not-found"),
        assumptions=(DOWNLOAD_RULES, READ_PERMISSION),
        may_assume=(NOT_A_RESOURCE_TYPE,),
        example=Example(
            path={
                "dm_id": "1990226318405828608",
                "media_id": "1712850617439560021",
                "resource_id": "gravel-bike.jpg",
            }
        ),
    ),
)
