"""Replies that the author of a conversation hides.

All of v2, section 9: no field shows the state, so it is seen in `/_mock/state` alone.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    check_path,
    declare_public,
    forbid,
    get_user_id,
    refuse_value,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS
from mock_platform.api.v2.objects.post_view import find_conversation, list_versions
from mock_platform.api.v2.prices import CONTENT_MANAGE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.world import World

HIDDEN_SHAPES = public_fact(
    "posts.hidden",
    "The author of a conversation hides direct and indirect replies in it. A hidden reply is still "
    "found by id, in searches and in its author's posts, and nobody is told.",
    "all of v2, section 9",
    gap=True,
)
HIDDEN_REFUSALS = expectation(
    "posts.not-hidden",
    "A reply in a conversation of somebody else answers 403, a post that is no reply 400.",
)


class HiddenReply(Schema):
    """Whether a reply is to be hidden."""

    hidden = Flag(required=True)


HiddenAnswer = wrap_data("HiddenAnswer", hidden=Flag(required=True))


def hide(call: Call, world: World) -> dict[str, Any]:
    """Hide a reply in a conversation of the caller, or show it again.

    Raises:
        ProblemFailure: The post is no reply (400), or the conversation is another user's (403).
    """
    post = require_record(call, world, "posts", "post", PARTIAL_ERRORS, parameter="post_id")
    first = world.store.get("posts", find_conversation(post))
    if not post.get("in_reply_to_status_id_str"):
        raise refuse_value("Only replies can be hidden.", HIDDEN_REFUSALS)
    if first is None or first["_user_id"] != get_user_id(call):
        raise forbid("You are not permitted to perform this action.", HIDDEN_REFUSALS)
    hidden = call.params["hidden"]
    for version in list_versions(post):
        stored = world.store.get("posts", version) or post
        if bool(stored.get("_hidden")) != hidden:
            world.store.put("posts", version, stored | {"_hidden": hidden})
    return {"data": {"hidden": hidden}}


OPERATIONS = (
    declare_public(
        "public_posts.hide",
        "PUT /2/posts/:post_id/hidden",
        hide,
        "Hide a reply",
        auth=Auth(ANY_USER, scopes=("post.moderate.write", "post.read", "users.read")),
        params=HiddenReply,
        rules=check_path("post_id"),
        returns=HiddenAnswer,
        limit=Rates(user=50),
        errors=("invalid-request", "resource-not-found", "about:blank"),
        assumptions=(HIDDEN_SHAPES,),
        may_assume=(HIDDEN_REFUSALS, PARTIAL_ERRORS),
        example=Example(path={"post_id": "1789900000000000002"}, json={"hidden": True}),
        price=CONTENT_MANAGE,
    ),
)
