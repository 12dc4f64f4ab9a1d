"""Posting on behalf of an advertiser: who may post, with what, and the post itself (document B).

Creating a post at once, drafting it and scheduling it share these rules. A scheduled post is
checked when it is scheduled, and again when it is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.accounts.users_and_apps import find_full_user
from mock_platform.api.ads.cards.records import CARD_TABLES
from mock_platform.api.ads.conventions import One, ads, fail
from mock_platform.api.ads.media.media_library import find_media
from mock_platform.api.ads.resource import apply_changes
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.objects.post_text import Links, find_entities, find_links, make_source
from mock_platform.api.v2.objects.post_view import CARD_URI
from mock_platform.api.v2.objects.posts import (
    CONVERSATION_SETTINGS,
    MAX_NAME_CHARACTERS,
    VIDEO_CTAS,
    CreatedPost,
    make_post_object,
)
from mock_platform.api.v2.posts.changes import MadePost, create_post
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INCLUSIVE, INVALID, Fault, missing
from mock_platform.core.fields import Choice, CommaList, Flag, Long, Text
from mock_platform.core.operation import Echo, Example, Operation
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

POST_SHAPE = public_fact(
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
VIDEO_CTA = expectation(
    "post.video-cta",
    "video_cta and video_cta_value need each other. What is said about a video is shown with it in "
    "extended_entities, and has no effect without one.",
)
REPEATED_TEXT = expectation(
    "post.repeated-text",
    "The same text may be posted again, and its length is not bounded; a scenario can answer "
    "DUPLICATE_POST.",
)

GRANT_NEEDED = settled(
    "post.grant",
    "An unknown user answers 403 USER_NOT_FOUND, one who gave the caller no grant for the account "
    "403 ACTION_NOT_ALLOWED; posting as oneself needs no grant.",
)
TEXT_REQUIRED = public_fact(
    "post.text-required",
    "Without media, an absent text answers MISSING_PARAMETER, a blank one POST_CANNOT_BE_BLANK.",
    "section 1, usage rules",
)
MEDIA_MIX = expectation(
    "post.media-mix",
    "Media beyond 4 images, 1 GIF or 1 video, or of several kinds, answer 400 INVALID_PARAMETER; "
    "unknown media 404 MEDIA_NOT_FOUND, unknown cards 404 CARD_NOT_FOUND.",
)
AUTHOR_DEFAULT = expectation(
    "post.author-default",
    "With --wire recorded, as_user_id may be missing, as in a published example of the platform's "
    "own client: then it is the FULL promotable user, and the journal warns.",
)
_MOST = {"IMAGE": 4, "GIF": 1, "VIDEO": 1}
_ENTITY_TYPES = {"IMAGE": "photo", "GIF": "animated_gif", "VIDEO": "video"}
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


def default_author(call: Call, world: World) -> None:
    """Add, as a gate on the recorded wire, the FULL promotable user where no author was sent."""
    if call.wire != "recorded" or "as_user_id" in dict([*call.query, *call.form]):
        return
    author = find_full_user(world, call.path_params["account_id"])
    if author is not None:
        call.query.append(("as_user_id", author))
        call.assume(AUTHOR_DEFAULT)
        call.warn(f"as_user_id is missing and taken as {author}; the specification requires it")


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
    return _show_created(world, made.record, mode, trim=sent["trim_user"], links=find_links(call))


def _read_mode(call: Call) -> str:
    """Return `compat` or `extended`, sent under either name of the parameter."""
    older: str | None = call.params.get("tweet_mode")
    mode: str | None = call.params.get("post_mode")
    if older is not None:
        call.assume(TWEET_MODE)
        if mode is not None and mode != older:
            call.warn("tweet_mode contradicts post_mode, which counts", NO_EFFECT)
    return mode or older or "compat"


def _check_video(call: Call, media: Sequence[Record]) -> None:
    """Warn of words about a video that the post does not have."""
    names = [name for name in call.params if name.startswith("video_")]
    if not names:
        return
    call.assume(VIDEO_CTA)
    if all(one["media_type"] != "VIDEO" for one in media):
        text = f"{', '.join(names)} say something about a video, and the post has none"
        call.warn(text, NO_EFFECT)


def _show_created(
    world: World, record: Record, mode: str, *, trim: bool, links: Links | None
) -> Record:
    hidden = {"nullcast", "conversation_settings", "post_type", "post_id", "scheduled_at"}
    hidden |= {"scheduled_status", "full_text", "display_text_range"}
    whole = make_post_object(world, record, trim=trim, links=links)
    shown = {name: value for name, value in whole.items() if name not in hidden}
    shown |= {"contributors": None}
    if mode == "compat":
        return shown | {"text": whole["full_text"]}
    names = ("full_text", "display_text_range")
    return shown | {name: whole[name] for name in names}


# -- what drafts and scheduled posts share -------------------------------------------------------


def find_text_faults(sent: Mapping[str, Any]) -> Iterator[tuple[str, Fault]]:
    """Yield what is wrong with the text of a post that has no media."""
    if sent.get("media_keys", []) != []:  # an empty list is that of a stored post
        return
    if "text" not in sent:
        yield "text", missing("text", "if there are no media_keys")
    elif not sent["text"].strip():
        text = "text may not be blank if there are no media_keys"
        yield "text", Fault(text, "POST_CANNOT_BE_BLANK")


def require_author(call: Call, world: World, user_id: str, parameter: str = "as_user_id") -> str:
    """Return the id of the advertiser, who must have allowed the caller to post.

    Raises:
        AdsFailure: USER_NOT_FOUND or ACTION_NOT_ALLOWED (403).
    """
    assert call.account is not None
    assert call.caller.user is not None
    caller = call.caller.user["id"]
    if world.store.get("users", user_id) is None:
        raise fail("USER_NOT_FOUND", f"No user has the id {user_id}", parameter)
    if not may_post(call.account, caller, user_id):
        text = (
            f"User {user_id} has not granted user {caller} access to post through account "
            f"{call.account['id']}"
        )
        raise fail("ACTION_NOT_ALLOWED", text, parameter)
    return user_id


def may_post(account: Record, caller: str, user_id: str) -> bool:
    """Return whether a user may post for another one through an account."""
    grant = {"advertiser_user_id": user_id, "caller_user_id": caller}
    return user_id == caller or grant in account["_post_grants"]


def require_media(call: Call, world: World) -> list[Record]:
    """Return the media that a request names.

    Raises:
        AdsFailure: MEDIA_NOT_FOUND (404).
    """
    found: list[Record] = []
    errors: list[AdsError] = []
    for key in call.params.get("media_keys") or ():
        media = find_media(world, call.path_params["account_id"], key)
        if media is None:
            text = f"No media of this account has the key {key!r}"
            errors.append(AdsError("MEDIA_NOT_FOUND", text, "media_keys"))
        else:
            found.append(media)
    if errors:
        call.assume(MEDIA_MIX)
        raise AdsFailure(*errors)
    return found


def require_card(call: Call, world: World) -> None:
    """Require that the card of a post is one of the account's, of any kind.

    Raises:
        AdsFailure: CARD_NOT_FOUND (404).
    """
    uri = call.params.get("card_uri")
    if uri is not None and not has_card(world, call.path_params["account_id"], uri):
        call.assume(MEDIA_MIX)
        raise fail("CARD_NOT_FOUND", f"No card of this account is {uri!r}", "card_uri")


def has_card(world: World, account_id: str, uri: str) -> bool:
    """Return whether a card of an account has this address."""
    match = {"_account_id": account_id, "card_uri": uri, "deleted": False}
    return any(world.store.page(table, match, limit=1) for table in CARD_TABLES)


def require_fit(call: Call, media: Sequence[Record], *, own: bool, nullcast: bool) -> None:
    """Require media of one kind, not too many, and the caller as author of a public post.

    Raises:
        AdsFailure: INVALID_PARAMETER (400).
    """
    errors: list[AdsError] = []
    kinds = Counter(one["media_type"] for one in media)
    if len(kinds) > 1 or any(number > _MOST[kind] for kind, number in kinds.items()):
        got = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        text = f"media_keys takes up to 4 images, or 1 GIF, or 1 video; got {got}"
        errors.append(AdsError(INVALID, text, "media_keys"))
        call.assume(MEDIA_MIX)
    if not nullcast and not own:
        text = "nullcast may be false only if as_user_id is the authenticated user"
        errors.append(AdsError(INVALID, text, "nullcast"))
    if errors:
        raise AdsFailure(*errors)


def describe_advertiser_post(
    world: World,
    account_id: str,
    caller: str,
    author_id: str,
    text: str,
    media: Sequence[Record],
    *,
    said: Mapping[str, Any],
    fields: Mapping[str, Any],
) -> Record:
    """Return what the record of a post on behalf of an advertiser has beside its text.

    `said` are the parameters about a video, `fields` further fields of the record, of which
    `nullcast` is one.
    """
    record: Record = {
        "contributors": None if author_id == caller else [int(caller)],
        "scopes": {"followers": not fields["nullcast"]},
        "_media_keys": [one["media_key"] for one in media],
        "_account_id": account_id,
        **fields,
    }
    if media:
        shown = [_make_media_entity(one, len(text), said) for one in media]
        record["entities"] = find_entities(world, text) | {"media": shown[:1]}
        record["extended_entities"] = {"media": shown}
    return record


def make_advertiser_post(
    world: World,
    author: Record,
    text: str,
    media: Sequence[Record],
    described: Mapping[str, Any],
    *,
    created_at: str | None = None,
) -> MadePost:
    """Store a post as `describe_advertiser_post` returned it; its media are posted then."""
    for one in media:
        if one.get("posted") is False:  # only media of the library say so
            after = apply_changes(world, one, {"posted": True})
            world.store.put("media_library", one["media_key"], after)
    return create_post(world, author, text, created_at=created_at, fields=described)


def _make_media_entity(media: Record, end: int, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return media as a post shows them; a video with its title, text and call to action."""
    number = media["media_key"].partition("_")[2]
    shown: dict[str, Any] = {
        "id": int(number),
        "id_str": number,
        "media_key": media["media_key"],
        "media_url": media["media_url"],
        "media_url_https": media["media_url"],
        "type": _ENTITY_TYPES[media["media_type"]],
        "indices": [end, end],
    }
    if media["media_type"] == "VIDEO":
        info = {name: said[f"video_{name}"] for name in ("title", "description")
                if f"video_{name}" in said}  # fmt: skip
        if "video_cta" in said:
            action = {said["video_cta"].lower(): {"url": said["video_cta_value"]}}
            info["call_to_actions"] = action
        if info:
            shown["additional_media_info"] = info
    return shown


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
        assumptions=(POST_SHAPE, GRANT_NEEDED, REPEATED_TEXT),
        gates=(default_author,),
        may_assume=(TEXT_REQUIRED, TWEET_MODE, MEDIA_MIX, VIDEO_CTA, AUTHOR_DEFAULT),
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
