"""Previews of posts: how posts, drafts and scheduled posts look, as frames to show in a page."""

from __future__ import annotations

from html import escape

from mock_platform.core.ads import Data, ads
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.records.listed_posts import find_listed
from mock_platform.records.planned_posts import LongId
from mock_platform.records.posts import POST_TYPES
from mock_platform.rules.planned_posts import KIND_NAME
from mock_platform.world.world import World

ALL = public_fact(
    "post-previews.all",
    "Previews are rows of post_id and an iframe, without next_cursor; ids of posts of another type "
    "or of others are left out.",
    "adjacent operations, section 8.4",
    gap=True,
)
FRAME = expectation(
    "post-previews.frame",
    "The frame holds the name and the text of the post, and loads nothing.",
)


class PreviewsQuery(Schema):
    """Parameters of the previews."""

    post_ids = CommaList(LongId(), required=True, most=200)
    post_type = Choice(POST_TYPES, required=True)


class PostPreview(Schema):
    """A preview of one post."""

    post_id = Text(required=True)
    preview = Text(required=True)


def list_(call: Call, world: World) -> list[dict[str, str]]:
    """Return a frame for each of the posts that the account may see."""
    world.transitions.settle_all(KIND_NAME)
    keys = list(dict.fromkeys(call.params["post_ids"]))
    found = find_listed(world, call.path_params["account_id"], call.params["post_type"], keys)
    return [{"post_id": post["id_str"], "preview": _make_frame(post)} for post in found]


def _make_frame(post: dict[str, object]) -> str:
    author = post["user"]
    assert isinstance(author, dict)
    name = escape(str(author.get("name", author["id_str"])))
    page = f"<p><b>{name}</b></p><p>{escape(str(post['full_text']))}</p>"
    return f'<iframe class="post-preview" sandbox="" srcdoc="{escape(page)}"></iframe>'


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "post_previews.list",
        "GET",
        "/12/accounts/:account_id/post_previews",
        list_,
        summary="Preview posts",
        spec="Endpoints not shown",
        returns=Data(PostPreview, many=True),
        params=PreviewsQuery,
        origin=Origin.ADJACENT,
        assumptions=(ALL, FRAME),
    ),
)
