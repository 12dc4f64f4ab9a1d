"""Blocks of direct messages: a user takes none of another one (all of v2, section 17)."""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    declare_public,
    find_id_faults,
    get_user_id,
    refuse_value,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.messages.conversations import TAKES_NO_MESSAGES, require_write_permission
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS
from mock_platform.api.v2.objects.relations import DM_BLOCKS
from mock_platform.api.v2.prices import PRIVACY_UPDATE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Example
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

BLOCK_SHAPES = public_fact(
    "direct-messages.blocks",
    "A block of direct messages refuses those of one user; follows, likes and lists stay as they "
    "are, and no list shows it. The id in the path is that of the other user.",
    "all of v2, section 17",
    gap=True,
)
BLOCK_RULES = expectation(
    "direct-messages.block-refusals",
    "To block or unblock twice changes nothing. An unknown user answers 404, oneself 400.",
)
BlockAnswer = wrap_data("DirectMessageBlockAnswer", blocked=Flag(required=True))


def block(call: Call, world: World) -> dict[str, Any]:
    """Take no messages of a user any more."""
    DM_BLOCKS.add(world, get_user_id(call), _require_other(call, world)["id"])
    return {"data": {"blocked": True}}


def unblock(call: Call, world: World) -> dict[str, Any]:
    """Take messages of a user again."""
    DM_BLOCKS.remove(world, get_user_id(call), _require_other(call, world)["id"])
    return {"data": {"blocked": False}}


def _require_other(call: Call, world: World) -> Record:
    """Return the user in the path, who is not the caller.

    Raises:
        ProblemFailure: There is no such user (404), or it is the caller (400).
    """
    user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
    if user["id"] == get_user_id(call):
        text = "You cannot block your own direct messages"
        raise refuse_value(text, BLOCK_RULES, name="id", value=user["id"])
    return user


_declare_block = partial(
    declare_public,
    gates=(require_write_permission,),
    rules=find_id_faults,
    returns=BlockAnswer,
    auth=Auth(ANY_USER, scopes=("dm.write", "post.read", "users.read")),
    limit=Rates(app=25, user=10, app_daily=1000, user_daily=400),
    errors=("invalid-request", "93", "resource-not-found"),
    assumptions=(BLOCK_SHAPES, TAKES_NO_MESSAGES),
    may_assume=(BLOCK_RULES, PARTIAL_ERRORS),
    example=Example(path={"id": "3805104374"}),
    price=PRIVACY_UPDATE,
)
OPERATIONS = (
    _declare_block(
        "dm_blocks.create",
        "POST /2/users/:id/dm/block",
        block,
        "Block the direct messages of a user",
    ),
    _declare_block(
        "dm_blocks.delete",
        "POST /2/users/:id/dm/unblock",
        unblock,
        "Take direct messages of a user again",
    ),
)
