"""Posts of the v2 interface: making, deleting and reading them.

Document A names them in its release history; the shapes are public facts (named endpoints,
sections 7.1 and 7.2).
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from mock_platform.api.v2.conventions import (
    OLDER_NAMES,
    WINDOW_SECONDS,
    declare_named,
    find_nothing,
)
from mock_platform.api.v2.media.uploads import USABLE
from mock_platform.api.v2.objects.answers import (
    PARTIAL,
    SELECTION,
    PostSelectionQuery,
    collect_posts,
    hide_post,
    may_see,
    read_selection,
    start_answer,
)
from mock_platform.api.v2.objects.post_texts import CARD_URI, ID, WEIGHT, make_source
from mock_platform.api.v2.objects.post_view import LONG_TEXT, show_post
from mock_platform.api.v2.posts.changes import ACTIVITIES, DELETION, create_post, delete_post
from mock_platform.api.v2.posts.creation import (
    LENGTHS,
    PLACES,
    REFUSALS,
    SUMMONED,
    find_faults,
    find_id_faults,
    find_place,
    find_post,
    find_previous_version,
    read_known_keys,
    refuse,
    require_card,
    require_length,
    require_new_text,
    require_reply_allowed,
    take_media_of_post,
)
from mock_platform.api.v2.usage.counting import COUNTED, count_posts
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Integer,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import Handler, Limit, Location
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SHAPES = public_fact(
    "posts.shapes",
    "Making, deleting and reading posts have their public shapes; the spec names the keys that "
    "were added.",
    "sections 7.1 and 7.2 of the named endpoints",
    gap=True,
)
READ_LIMITS = expectation(
    "posts.read-limits",
    "Reading posts is limited to 450 requests of an app in 15 minutes, reading users to 300.",
)
REPLY_SETTINGS = ("following", "mentionedUsers", "subscribers", "verified")
_MADE = ("id", "text", "edit_history_post_ids")


def _make_id(**options: Any) -> Text:
    return Text(pattern=ID.pattern, pattern_text="an id of 1 to 19 digits", **options)


class NewReply(Schema):
    """The post that a new post replies to."""

    in_reply_to_post_id = _make_id()
    in_reply_to_tweet_id = _make_id()
    exclude_reply_user_ids = ListOf(_make_id())
    auto_populate_reply_metadata = Flag()


class NewMedia(Schema):
    """The media of a new post, and the users shown on them."""

    media_ids = ListOf(_make_id(), least=1, most=4, required=True)
    tagged_user_ids = ListOf(_make_id(), most=10)


class NewPoll(Schema):
    """The poll of a new post."""

    options = ListOf(Text(min_length=1, max_length=25), least=2, most=4, required=True)
    duration_minutes = Integer(low=5, high=10080, required=True)
    reply_settings = Choice(REPLY_SETTINGS)


class EditOptions(Schema):
    """The version that a new post replaces."""

    previous_post_id = _make_id(required=True)


class NewGeo(Schema):
    """The place of a new post."""

    place_id = Text(min_length=1, required=True)


class NewPost(Schema):
    """What a user posts."""

    text = Text(min_length=1)
    reply = Nested(NewReply)
    quote_post_id = _make_id()
    quote_tweet_id = _make_id()
    media = Nested(NewMedia)
    poll = Nested(NewPoll)
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>")
    edit_options = Nested(EditOptions)
    community_id = _make_id()
    share_with_followers = Flag()
    paid_partnership = Flag()
    made_with_ai = Flag()
    nullcast = Flag()
    for_super_followers_only = Flag()
    reply_settings = Choice(REPLY_SETTINGS)
    geo = Nested(NewGeo)
    direct_message_deep_link = Text()


class _Made(Schema):
    id = Text(required=True)
    text = Text(required=True)
    edit_history_post_ids = ListOf(Text(), required=True)


class MadePostAnswer(Schema):
    """The answer of a creation."""

    data = Nested(_Made, required=True)


class _DeletedPost(Schema):
    deleted = Flag(required=True)


class DeletedPostAnswer(Schema):
    """The answer of a deletion."""

    data = Nested(_DeletedPost, required=True)


class SeveralPostsQuery(PostSelectionQuery):
    """The posts to read, and what to show of them."""

    ids = CommaList(_make_id(), most=100, exact=True, required=True)


class SinglePostAnswer(Schema):
    """A post with the selected fields, and what it refers to."""

    data = fields.Dict(required=True)
    includes = fields.Dict()
    errors = ListOf(fields.Dict())


class PostsAnswer(Schema):
    """Posts with the selected fields, what they refer to, and what was not found."""

    data = ListOf(fields.Dict())
    includes = fields.Dict()
    errors = ListOf(fields.Dict())


def make_create(settings: Settings) -> Handler:
    """Return what makes a post, under these settings."""

    def create(call: Call, world: World) -> dict[str, Any]:
        user = call.caller.user
        assert user is not None
        # The order of the refusals is what clients see if several things are wrong: the version to
        # be edited, the length, the post that is answered, the quoted one, media, card, and last
        # whether the same text was posted already. Nothing is stored before the last of them.
        params = read_known_keys(call, world, settings)
        text: str = params.get("text", "")
        previous = find_previous_version(world, user, params)
        require_length(call, user, text)
        reply_to = _find_named_post(world, params, "reply.in_reply_to_post_id")
        if reply_to is not None:
            require_reply_allowed(call, world, user, reply_to)
        quoted = _find_named_post(world, params, "quote_post_id")
        media = take_media_of_post(world, user, params)
        require_card(world, params)
        if not media and "poll" not in params:
            require_new_text(world, user, text, reply_to)
        made = create_post(
            world,
            user,
            text,
            reply_to=reply_to,
            quoted=quoted,
            previous=previous,
            fields={
                "source": make_source(call.caller.app),
                "_media_keys": media,
                **_read_fields(call, world, params),
            },
        )
        return {"data": show_post(world, made.record, _MADE)}

    return create


def _find_named_post(world: World, params: dict[str, Any], name: str) -> Record | None:
    """Return the post that a parameter names, if it is there."""
    head, _, inner = name.rpartition(".")
    post_id = (params.get(head, {}) if head else params).get(inner)
    return None if post_id is None else find_post(world, params, name, post_id)


def _read_fields(call: Call, world: World, params: dict[str, Any]) -> Record:
    """Return the fields of the record that the keys of the body say."""
    flags = ("share_with_followers", "paid_partnership", "made_with_ai", "for_super_followers_only")
    found: Record = {f"_{name}": params[name] for name in flags if name in params}
    for name in ("community_id", "direct_message_deep_link", "reply_settings"):
        if name in params:
            found[f"_{name}"] = params[name]
    if "card_uri" in params:
        found["card_uri"] = params["card_uri"]
    if params.get("nullcast"):
        found |= {"nullcast": True, "scopes": {"followers": False}}
    found["_tagged_user_ids"] = params.get("media", {}).get("tagged_user_ids", [])
    found["_excluded_reply_user_ids"] = params.get("reply", {}).get("exclude_reply_user_ids", [])
    if "geo" in params:
        call.assume(PLACES)
        found["place"] = find_place(world, params["geo"]["place_id"])
    if "poll" in params:
        poll = params["poll"]
        found["_poll"] = {
            "id": world.ids.snowflake(),
            "options": [
                {"position": number, "label": label, "votes": 0}
                for number, label in enumerate(poll["options"], 1)
            ],
            "duration_minutes": poll["duration_minutes"],
        }
        if "reply_settings" in poll:
            found["_reply_settings"] = poll["reply_settings"]
    return found


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a post of the caller, with all its versions."""
    user = call.caller.user
    assert user is not None
    post = _find_by_path(call, world)
    if post["_user_id"] != user["id"]:
        raise refuse("You are not authorized to delete this Post.")
    delete_post(world, post)
    return {"data": {"deleted": True}}


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the post that the path names."""
    post = _find_by_path(call, world)
    answer = start_answer(call, world, read_selection(call.params))
    if not may_see(world, post, answer.viewer_id):
        raise ProblemFailure(hide_post("id", post["id_str"]), PARTIAL)
    answer.add_posts([post])
    _count(call, world, [post["id_str"]])
    return {"data": answer.data[0], **answer.parts()}


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return several posts; those that are not found are named in `errors`."""
    answer = start_answer(call, world, read_selection(call.params))
    collect_posts(call, world, call.params["ids"], answer)
    _count(call, world, [post["id"] for post in answer.data])
    return {**({"data": answer.data} if answer.data else {}), **answer.parts()}


def _find_by_path(call: Call, world: World) -> Record:
    post_id = call.path_params["id"]
    post = world.store.get("posts", post_id)
    if post is None:
        value = find_nothing("post", "id", post_id, repeated=True)
        raise ProblemFailure(value, PARTIAL)
    return post


def _count(call: Call, world: World, ids: list[str]) -> None:
    assert call.caller.app is not None
    call.assume(COUNTED)
    count_posts(world, call.caller.app, ids)


_SPEC = "Versioning: 2025-10-03"
_WRITE = Auth(("oauth1", "oauth2"), scopes=("post.read", "post.write", "users.read"))
_READ = Auth(("bearer", "oauth1", "oauth2"), scopes=("post.read", "users.read"))
_DAY = 86_400
_READ_LIMIT = 450
OPERATIONS = (
    declare_named(
        "public_posts.create",
        "POST",
        "/2/posts",
        make_create(Settings()),
        configure=make_create,
        summary="Post as a user",
        spec=_SPEC,
        params=NewPost,
        location=Location.JSON,
        rules=find_faults,
        also=("/2/tweets",),
        since=None,
        returns=Flat(MadePostAnswer, status=201),
        auth=_WRITE,
        limit=(
            Limit("public_posts.create", 100, WINDOW_SECONDS, per="user", source="public"),
            Limit("public_posts.create.daily", 10_000, _DAY, per="app", source="public"),
        ),
        errors=("invalid-request", "about:blank"),
        statuses=(400, 403),
        assumptions=(SHAPES, ACTIVITIES, OLDER_NAMES),
        may_assume=(WEIGHT, LENGTHS, SUMMONED, REFUSALS, PLACES, USABLE),
        example=Example(json={"text": "Fresh from the roaster"}),
    ),
    declare_named(
        "public_posts.list",
        "GET",
        "/2/posts",
        get_many,
        summary="Read several posts",
        spec="Versioning: 2026-06-03",
        params=SeveralPostsQuery,
        also=("/2/tweets",),
        since=None,
        returns=Flat(PostsAnswer),
        auth=_READ,
        limit=_READ_LIMIT,
        errors=("invalid-request", "usage-capped"),
        statuses=(400, 429),
        assumptions=(SHAPES, SELECTION, OLDER_NAMES, LONG_TEXT, READ_LIMITS),
        may_assume=(PARTIAL, COUNTED),
    ),
    declare_named(
        "public_posts.get",
        "GET",
        "/2/posts/:id",
        get,
        summary="Read a post",
        spec="Versioning: 2026-06-03",
        params=PostSelectionQuery,
        rules=find_id_faults,
        also=("/2/tweets/:id",),
        since=None,
        returns=Flat(SinglePostAnswer),
        auth=_READ,
        limit=_READ_LIMIT,
        errors=("invalid-request", "resource-not-found", "not-authorized-for-resource"),
        statuses=(400, 403, 404, 429),
        assumptions=(SHAPES, SELECTION, OLDER_NAMES, LONG_TEXT, READ_LIMITS),
        may_assume=(PARTIAL, COUNTED),
    ),
    declare_named(
        "public_posts.delete",
        "DELETE",
        "/2/posts/:id",
        delete,
        summary="Delete a post",
        spec="Versioning: 2026-06-04",
        rules=find_id_faults,
        also=("/2/tweets/:id",),
        since=None,
        returns=Flat(DeletedPostAnswer),
        auth=_WRITE,
        limit=(Limit("public_posts.delete", 50, WINDOW_SECONDS, per="user", source="public"),),
        errors=("invalid-request", "resource-not-found", "about:blank"),
        statuses=(400, 403, 404),
        assumptions=(SHAPES, DELETION),
        may_assume=(REFUSALS, PARTIAL),
    ),
)
"""Reading and writing posts as users do; advertisers post in `post`."""
