"""Posting on behalf of an advertiser (document B, "Posting on behalf of an advertiser")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.advertiser_posts.composer import (
    GRANT,
    MEDIA_MIX,
    TEXT,
    describe_advertiser_post,
    find_text_faults,
    make_advertiser_post,
    require_author,
    require_card,
    require_fit,
    require_media,
)
from mock_platform.api.ads.conventions import One, ads
from mock_platform.api.v2.media.records import MediaKey
from mock_platform.api.v2.objects.post_texts import CARD_URI, make_source
from mock_platform.api.v2.objects.posts import (
    CONVERSATION_SETTINGS,
    MAX_NAME_CHARACTERS,
    VIDEO_CTAS,
    CreatedPost,
    make_post_object,
)
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.faults import INCLUSIVE, Fault
from mock_platform.core.fields import Choice, CommaList, Flag, Long, Text
from mock_platform.core.operation import Echo, Operation
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SHAPE = public_fact(
    "post.object",
    "A post object has the shape of the 1.1 interface: 24 keys, id is a number, id_str a text, "
    "text in compat mode, full_text with display_text_range in extended mode; card_uri and "
    "extended_entities only where the post has one. The author is the whole user object of "
    "41 keys, or with trim_user id and id_str.",
    "section 7, post create",
)
TWEET_MODE = settled(
    "post.tweet-mode", "tweet_mode is taken as post_mode, which is what the echo calls it."
)
CTA = expectation(
    "post.video-cta",
    "video_cta and video_cta_value need each other. What is said about a video is shown with it in "
    "extended_entities, and has no effect without one.",
)
REPEATED = expectation(
    "post.repeated-text",
    "The same text may be posted again, and its length is not bounded; a scenario can answer "
    "DUPLICATE_POST.",
)

MODES = ("compat", "extended")


class PostCreate(Schema):
    """Parameters of the creation of a post."""

    as_user_id = Long(required=True)
    text = Text()
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>")
    conversation_settings = Choice(CONVERSATION_SETTINGS, load_default="EVERYONE")
    media_keys = CommaList(MediaKey(), most=4)
    name = Text(max_length=MAX_NAME_CHARACTERS)
    nullcast = Flag(load_default=True)
    trim_user = Flag(load_default=False)
    post_mode = Choice(MODES)
    tweet_mode = Choice(MODES)
    video_cta = Choice(VIDEO_CTAS)
    video_cta_value = Text(min_length=1)
    video_description = Text(max_length=200)
    video_title = Text(max_length=70)

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_needs(self, data: Record, original: Any, **_: Any) -> None:
        """Require text or media, and a value for a call to action."""
        faults: dict[str, list[Fault]] = {}
        for name, fault in find_text_faults(original):
            faults.setdefault(name, []).append(fault)
        cta, value = "video_cta", "video_cta_value"
        if (cta in original) != (value in original):
            text = f"{cta} and {value} need each other"
            faults[cta if value in original else value] = [Fault(text, INCLUSIVE)]
        if faults:
            raise ValidationError(faults)


def create(call: Call, world: World) -> Record:
    """Post for an advertiser; the answer shows the post as a 1.1 object."""
    assert call.account is not None
    assert call.caller.user is not None
    sent, caller = call.params, call.caller.user["id"]
    mode = _read_mode(call)
    user_id = require_author(call, world, str(sent["as_user_id"]))
    media = require_media(call, world)
    require_card(call, world)
    require_fit(call, media, own=user_id == caller, nullcast=sent["nullcast"])
    _check_video(call, media)
    author = world.store.get("users", user_id)
    assert author is not None
    fields: Record = {
        "name": sent.get("name"),
        "source": make_source(call.caller.app),
        "nullcast": sent["nullcast"],
        "conversation_settings": sent["conversation_settings"],
    }
    if "card_uri" in sent:
        fields["card_uri"] = sent["card_uri"]
    text, account_id = sent.get("text", ""), call.account["id"]
    described = describe_advertiser_post(
        world, account_id, caller, user_id, text, media, said=sent, fields=fields
    )
    made = make_advertiser_post(world, author, text, media, described)
    return _show_created(world, made.record, mode, trim=sent["trim_user"])


def _read_mode(call: Call) -> str:
    """Return `compat` or `extended`, sent under either name of the parameter."""
    older: str | None = call.params.get("tweet_mode")
    if older is not None:
        call.assume(TWEET_MODE)
    mode: str = call.params.get("post_mode") or older or "compat"
    return mode


def _check_video(call: Call, media: Sequence[Record]) -> None:
    """Warn of words about a video that the post does not have."""
    names = [name for name in call.params if name.startswith("video_")]
    if not names:
        return
    call.assume(CTA)
    if all(one["media_type"] != "VIDEO" for one in media):
        text = f"{', '.join(names)} say something about a video, and the post has none"
        call.warn(text, NO_EFFECT)


def _show_created(world: World, record: Record, mode: str, *, trim: bool) -> Record:
    hidden = {"nullcast", "conversation_settings", "post_type", "post_id", "scheduled_at"}
    hidden |= {"scheduled_status", "full_text", "display_text_range"}
    whole = make_post_object(world, record, trim=trim)
    shown = {name: value for name, value in whole.items() if name not in hidden}
    shown |= {"contributors": None}
    if mode == "compat":
        return shown | {"text": record["full_text"]}
    names = ("full_text", "display_text_range")
    return shown | {name: record[name] for name in names}


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "post.create",
        "POST",
        "/12/accounts/:account_id/post",
        create,
        summary="Post on behalf of an advertiser",
        spec="Posting on behalf of an advertiser",
        returns=One(CreatedPost),
        params=PostCreate,
        echo=Echo(names={"tweet_mode": "post_mode"}),
        assumptions=(SHAPE, GRANT, REPEATED),
        may_assume=(TEXT, TWEET_MODE, MEDIA_MIX, CTA),
        errors=(
            "USER_NOT_FOUND",
            "ACTION_NOT_ALLOWED",
            "MEDIA_NOT_FOUND",
            "CARD_NOT_FOUND",
            "POST_CANNOT_BE_BLANK",
        ),
        statuses=(403, 404),
        example=Example(query={"as_user_id": "2244994945", "text": "Fresh from the roaster"}),
    ),
)
