"""The name of a post (document B, "Posting on behalf of an advertiser")."""

from __future__ import annotations

from marshmallow import Schema

from mock_platform.core.ads import One, ads, not_found
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Text
from mock_platform.core.operation import Echo, Operation
from mock_platform.records.posts import MAX_NAME_CHARACTERS, NamedPost, make_post_object
from mock_platform.store.interface import Record
from mock_platform.world.world import World

SHAPE = public_fact(
    "posts.named-object",
    "The update of a name answers with the extended form beside the text that the spec names: "
    "full_text, display_text_range and post_id; post_id is echoed as a number. An empty name "
    "removes the name.",
    "section 3, long ids in echo; section 7, post create",
)


class NameUpdate(Schema):
    """Parameters of the update of a name."""

    name = Text(required=True, max_length=MAX_NAME_CHARACTERS, allow_none=True)


def update_name(call: Call, world: World) -> Record:
    """Set or remove the name of a post of the account."""
    post_id = call.path_params["post_id"]
    post = world.store.get("posts", post_id)
    if post is None or post["_account_id"] != call.path_params["account_id"]:
        raise not_found("POST_NOT_FOUND", "post", "post_id", post_id)
    named = post | {"name": call.params["name"]}
    world.store.put("posts", post_id, named)
    return make_post_object(world, named) | {"text": post["full_text"]}


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "posts.update_name",
        "PUT",
        "/12/accounts/:account_id/posts/:post_id/name",
        update_name,
        summary="Set or remove the name of a post",
        spec="Posting on behalf of an advertiser",
        returns=One(NamedPost),
        params=NameUpdate,
        echo=Echo(numbers=("post_id",)),
        assumptions=(SHAPE,),
        errors=("POST_NOT_FOUND",),
        statuses=(404,),
    ),
)
