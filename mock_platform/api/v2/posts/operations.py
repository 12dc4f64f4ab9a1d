"""Posts of the v2 interface: making, deleting and reading them.

Document A names them in its release history; the shapes are public facts (named endpoints,
sections 7.1 and 7.2).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    ENTERPRISE_ONLY,
    OLDER_NAMES,
    Rates,
    declare_named,
    find_id_faults,
    forbid,
    get_app,
    get_user,
    get_user_id,
    limit_users,
    make_id_field,
    require_enterprise_from,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.media.uploads import USABLE_MEDIA
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    PARTIAL_ERRORS,
    ObjectAnswer,
    PostSelectionQuery,
    collect,
    hide_record,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.objects.post_text import (
    ESCAPED_TEXT,
    LONG_TEXT,
    SHORT_LINKS,
    TEXT_WEIGHT,
    find_links,
    make_source,
)
from mock_platform.api.v2.objects.post_view import CARD_URI, show_post
from mock_platform.api.v2.objects.relations import may_see
from mock_platform.api.v2.posts.changes import (
    DELETED_VERSIONS,
    POST_ACTIVITIES,
    create_post,
    delete_post,
)
from mock_platform.api.v2.posts.creation import (
    ANY_PLACE,
    DATED,
    EDITED_POSTS,
    KNOWN_COMMUNITY,
    LINKED_POSTS,
    POST_REFUSALS,
    SUMMONED_REPLIES,
    TEXT_LENGTHS,
    UNREACHED_POSTS,
    find_faults,
    find_linked_post,
    find_place,
    find_post,
    find_previous_version,
    read_known_keys,
    require_access,
    require_card,
    require_community,
    require_length,
    require_new_text,
    require_reply_allowed,
    take_media_of_post,
)
from mock_platform.api.v2.prices import CONTENT_MANAGE, POST_CREATE, POST_READ
from mock_platform.api.v2.usage.counting import COUNTED_ONCE, count_posts
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Choice, CommaList, Flag, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Example, Handler
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

POST_SHAPES = public_fact(
    "posts.shapes",
    "Making, deleting and reading posts have their public shapes; the spec names the keys that "
    "were added. created_at is a whole second, .000Z.",
    "sections 7.1 and 7.2 of the named endpoints",
    gap=True,
)
_REQUIRE_TIER_TO_QUOTE = require_enterprise_from("2026-04-20")
REPLY_SETTINGS = ("following", "mentionedUsers", "subscribers", "verified")
_MADE = ("id", "text", "edit_history_post_ids", "community_id")
_make_id = partial(make_id_field, "an id of ")
MEDIA_DETAILS = expectation(
    "posts.media-details",
    "What a new post says about its media is kept: post.fields=media_metadata shows title and "
    "description of each. embeddable, preview_media_id and call_to_actions change nothing else.",
)
_MEDIA_DETAILS = ("call_to_actions", "description", "embeddable", "preview_media_id", "title")


class NewReply(Schema):
    """The post that a new post replies to."""

    in_reply_to_post_id = _make_id()
    in_reply_to_tweet_id = _make_id()
    exclude_reply_user_ids = ListOf(_make_id())
    auto_populate_reply_metadata = Flag()


class AppStores(Schema):
    """Where an app is installed from."""

    app_store_id = Text()
    ipad_app_store_id = Text()
    play_store_id = Text()


class LinkToFollow(Schema):
    """The address that a call to action leads to."""

    url = Text(required=True)


class CallsToAction(Schema):
    """What viewers of media are asked to do."""

    app_install = Nested(AppStores)
    visit_site = Nested(LinkToFollow)
    watch_now = Nested(LinkToFollow)


class NewMedia(Schema):
    """The media of a new post, the users shown on them, and what is said about them."""

    media_ids = ListOf(_make_id(), least=1, most=4, required=True)
    tagged_user_ids = ListOf(_make_id(), most=10)
    call_to_actions = Nested(CallsToAction)
    description = Text()
    embeddable = Flag()
    preview_media_id = _make_id()
    title = Text()


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


MadePostAnswer = wrap_data(
    "MadePostAnswer",
    "_Made",
    id=Text(required=True),
    text=Text(required=True),
    edit_history_post_ids=ListOf(Text()),
    community_id=Text(),
)
DeletedPostAnswer = wrap_data("DeletedPostAnswer", deleted=Flag(required=True))


class SeveralPostsQuery(PostSelectionQuery):
    """The posts to read, and what to show of them."""

    ids = CommaList(_make_id(), most=100, exact=True, required=True)


class SinglePostAnswer(ObjectAnswer):
    """A post with the selected fields, and what it refers to."""

    data = POST_OBJECT.one()


class PostsAnswer(ObjectAnswer):
    """Posts with the selected fields, what they refer to, and what was not found."""

    data = POST_OBJECT.several()


def make_create(settings: Settings) -> Handler:
    """Return what makes a post, under these settings."""

    def create(call: Call, world: World) -> dict[str, Any]:
        user = get_user(call)
        # The order of the refusals is what clients see if several things are wrong: the version to
        # be edited, the length, the post that is answered, the quoted one, media, card, community,
        # and last whether the same text was posted already. Nothing is stored before that.
        params = read_known_keys(call, world, settings)
        text: str = params.get("text", "")
        previous = find_previous_version(call, world, user, params)
        require_length(call, user, text, is_reply="reply" in params)
        reply_to = _find_named_post(world, params, "reply.in_reply_to_post_id")
        if reply_to is not None:
            require_access(world, user, reply_to)
            require_reply_allowed(call, world, user, reply_to)
        quoted = _find_named_post(world, params, "quote_post_id")
        if quoted is not None:
            if settings.tiers == "on":
                _REQUIRE_TIER_TO_QUOTE(call, world)
            require_access(world, user, quoted, to_share=True)
        else:
            quoted = find_linked_post(call, world, params)
        media = take_media_of_post(world, user, params)
        require_card(world, params)
        require_community(call, world, params)
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
        return {"data": show_post(world, made.record, _MADE, find_links(call))}

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
    media = params.get("media", {})
    found["_tagged_user_ids"] = media.get("tagged_user_ids", [])
    details = {name: media[name] for name in _MEDIA_DETAILS if name in media}
    if details:
        call.assume(MEDIA_DETAILS)
        found["_media_details"] = details
    found["_excluded_reply_user_ids"] = params.get("reply", {}).get("exclude_reply_user_ids", [])
    if "geo" in params:
        call.assume(ANY_PLACE)
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
    post = require_record(call, world, "posts", "post", PARTIAL_ERRORS)
    if post["_user_id"] != get_user_id(call):
        raise forbid("You are not authorized to delete this Post.", POST_REFUSALS)
    delete_post(world, post)
    return {"data": {"deleted": True}}


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the post that the path names."""
    post = require_record(call, world, "posts", "post", PARTIAL_ERRORS)
    answer = start_answer(call, world)
    if not may_see(world, post, answer.viewer_id):
        raise ProblemFailure(hide_record("id", post["id_str"]), PARTIAL_ERRORS)
    answer.add_posts([post])
    _count(call, world, [post["id_str"]])
    return answer.show_one()


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return several posts; those that are not found are named in `errors`."""
    answer = start_answer(call, world)
    collect(call, answer, "post", "ids", partial(world.store.get, "posts"))
    _count(call, world, [post["id"] for post in answer.data])
    return answer.show_all()


def _count(call: Call, world: World, ids: list[str]) -> None:
    call.assume(COUNTED_ONCE)
    count_posts(world, get_app(call), ids)


_declare = partial(
    declare_named, auth=Auth(ANY_USER, scopes=("post.read", "post.write", "users.read"))
)
_declare_read = partial(
    declare_named,
    spec="Versioning: 2026-06-03",
    auth=Auth(ANY_CALLER, scopes=("post.read", "users.read")),
    assumptions=(POST_SHAPES, FIELD_SELECTION, OLDER_NAMES, LONG_TEXT, ESCAPED_TEXT, SHORT_LINKS),
    may_assume=(PARTIAL_ERRORS, COUNTED_ONCE),
)
OPERATIONS = (
    _declare(
        "public_posts.create",
        "POST /2/posts",
        make_create(Settings()),
        "Post as a user",
        configure=make_create,
        spec="Versioning: 2025-10-03",
        params=NewPost,
        rules=find_faults,
        returns=Flat(MadePostAnswer, status=201),
        limit=Rates(user=100, app_daily=10_000),
        errors=("invalid-request", "about:blank"),
        assumptions=(POST_SHAPES, POST_ACTIVITIES, OLDER_NAMES),
        may_assume=(
            TEXT_WEIGHT,
            TEXT_LENGTHS,
            SUMMONED_REPLIES,
            POST_REFUSALS,
            LINKED_POSTS,
            EDITED_POSTS,
            UNREACHED_POSTS,
            ENTERPRISE_ONLY,
            ANY_PLACE,
            KNOWN_COMMUNITY,
            USABLE_MEDIA,
            MEDIA_DETAILS,
        ),
        dated=DATED,
        example=Example(json={"text": "Fresh from the roaster"}),
        price=POST_CREATE,
    ),
    _declare_read(
        "public_posts.list",
        "GET /2/posts",
        get_many,
        "Read several posts",
        params=SeveralPostsQuery,
        returns=PostsAnswer,
        limit=Rates(app=3500, user=5000),
        errors=("invalid-request", "usage-capped"),
        price=POST_READ,
    ),
    _declare_read(
        "public_posts.get",
        "GET /2/posts/:id",
        get,
        "Read a post",
        params=PostSelectionQuery,
        rules=find_id_faults,
        returns=SinglePostAnswer,
        limit=Rates(app=450, user=900),
        errors=("invalid-request", "resource-not-found", "not-authorized-for-resource"),
        statuses=(429,),
        price=POST_READ,
    ),
    _declare(
        "public_posts.delete",
        "DELETE /2/posts/:id",
        delete,
        "Delete a post",
        spec="Versioning: 2026-06-04",
        rules=find_id_faults,
        returns=DeletedPostAnswer,
        limit=limit_users("public_posts.delete", 50),
        errors=("invalid-request", "resource-not-found", "about:blank"),
        assumptions=(POST_SHAPES, DELETED_VERSIONS),
        may_assume=(POST_REFUSALS, PARTIAL_ERRORS),
        price=CONTENT_MANAGE,
    ),
)
"""Reading and writing posts as users do; advertisers post in `post`."""
