"""Video conversation cards: list, read, create, update (document B, "Video conversation cards").

The module is named after the path below the account, `cards/video_conversation`. The delete by card
type, which also deletes these cards, is in `cards`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mock_platform.api.ads.cards.interactive_records import (
    VIDEO_CONVERSATION,
    ConversationChanges,
    ConversationParameters,
    VideoConversationCardRecord,
    find_conversation_faults,
)
from mock_platform.api.ads.cards.records import make_card_uri
from mock_platform.api.ads.conventions import CORE_READS, One, ads
from mock_platform.api.ads.filters import IdsFilter, PrefixFilter
from mock_platform.api.ads.media.account_media import find_in_library, find_media
from mock_platform.api.ads.resource import TIMESTAMPS, Resource, apply_changes, make_timestamps
from mock_platform.api.v2.media.records import (
    MediaKey,
    build_poster,
    compute_aspect,
    compute_ratio,
    derive_poster_key,
    is_video,
    strip_extension,
)
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.operation import Echo, Operation
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STRINGS = public_fact(
    "cards-video-conversation.strings",
    "Video conversation cards leave unset fields out and do not serve unlocked media. Their sizes "
    "are strings, the numbers of the video's aspect ratio (16 and 9 if neither that nor its size "
    "is known), and media_url is the video's .vmap.",
    "section 7, video conversation",
)
ECHO_TYPE = public_fact(
    "cards-video-conversation.echo",
    "The echo of video conversation cards holds card_type: video_conversation on GET and DELETE, "
    "VIDEO_CONVERSATION on POST and PUT.",
    "section 3, echo quirks",
)
PAIRS = expectation(
    "cards-video-conversation.pairs",
    "A call to action and its post need each other: either without the other answers 400 "
    "INCLUSIVE_PARAMETERS. Title and second_cta may be used together. A hashtag needs no #.",
)
OWNER = expectation(
    "cards-video-conversation.owner", "video_owner_id is the first user of the account."
)
FITTING = expectation(
    "cards-video-conversation.media",
    "Media of the wrong kind answer 400 INVALID_MEDIA: the video must be in the library and 16:9 "
    "unless its aspect is not known, the poster and the unlocked image must be images (or the "
    "poster the video's own first frame), the unlocked video a video.",
)
UPDATE = public_fact(
    "cards-video-conversation.update",
    "The update takes every field of the creation under the same rules, which are checked on the "
    "card as it would become; an empty value unsets an optional field.",
    "section 8, video conversation update",
)
NAME_LENGTH = settled(
    "cards-video-conversation.name-length",
    "The bound of 80 characters for card names holds for video conversation cards too.",
)

CONVERSATION_CARDS = Resource(
    name="cards_video_conversation",
    table="video_conversation_cards",
    path="/12/accounts/:account_id/cards/video_conversation",
    id_parameter="card_id",
    schema=VideoConversationCardRecord,
    noun="video conversation card",
    spec="Video conversation cards",
    missing="CARD_NOT_FOUND",
    most_reads=CORE_READS,
)
_WRITE_ONLY = ("poster_media_key", "unlocked_image_media_key", "unlocked_video_media_key")
_VIDEO_RATIO = 16 / 9


class ConversationUpdate(ConversationChanges):
    """Parameters of the update; an empty value unsets an optional one."""

    poster_media_key = MediaKey(allow_none=True)
    unlocked_image_media_key = MediaKey(allow_none=True)
    unlocked_video_media_key = MediaKey(allow_none=True)


class ConversationCreate(ConversationParameters):
    """Parameters of the creation of a video conversation card."""

    poster_media_key = MediaKey()
    unlocked_image_media_key = MediaKey()
    unlocked_video_media_key = MediaKey()


def create(call: Call, world: World) -> Record:
    """Create a video conversation card with its media."""
    assert call.account is not None
    sent = call.params
    video, poster = _find_media(call, world)
    assert video is not None
    card_id = world.ids.snowflake()
    record = {
        "id": card_id,
        **{name: value for name, value in sent.items() if name not in _WRITE_ONLY},
        **_describe_media(video, poster, sent.get("poster_media_key")),
        "video_owner_id": call.account["_users"][0],
        "card_uri": make_card_uri(card_id),
        "card_type": VIDEO_CONVERSATION,
        **make_timestamps(world),
        **{f"_{name}": sent.get(name) for name in _WRITE_ONLY},
        "_account_id": call.account["id"],
    }
    world.store.put("video_conversation_cards", card_id, record)
    return record


def update(call: Call, world: World) -> Record:
    """Change a video conversation card; only what is sent changes."""
    before, sent = CONVERSATION_CARDS.get_by_id(call, world), call.params
    video, poster = _find_media(call, world)
    if not sent:
        return before
    after = apply_changes(world, before, {n: v for n, v in sent.items() if n not in _WRITE_ONLY})
    after |= {f"_{name}": sent[name] for name in _WRITE_ONLY if name in sent}
    after = {name: value for name, value in after.items() if name[0] == "_" or value is not None}
    broken = [
        AdsError.from_fault(name, fault)
        for name, fault in find_conversation_faults(after, sent.__contains__)
    ]
    if broken:
        raise AdsFailure(*broken)
    if "media_key" in sent or "poster_media_key" in sent:
        # Media can have left the library since then; the card keeps what it shows of them.
        video = video or world.store.get("media_library", after["media_key"])
        poster = poster or _find_stored_poster(world, after)
        if video is not None:
            after |= _describe_media(video, poster, after["_poster_media_key"])
    world.store.put("video_conversation_cards", before["id"], after)
    return after


def _find_media(call: Call, world: World) -> tuple[Record | None, Record | None]:
    """Return the video and the poster that a request names.

    Raises:
        AdsFailure: MEDIA_NOT_FOUND or INVALID_MEDIA; some of the media are unknown or do not fit.
    """
    found: dict[str, Record] = {}
    errors: list[AdsError] = []
    for name in ("media_key", *_WRITE_ONLY):
        key = call.params.get(name)
        if key is None:
            continue
        look_up = find_in_library if name == "media_key" else find_media
        media = look_up(world, call.path_params["account_id"], key)
        if (
            media is None
            and name == "poster_media_key"
            and key == _find_own_poster_key(call, world, found)
        ):
            continue
        if media is None:
            where = "in the library of this account" if name == "media_key" else "of this account"
            text = f"No media {where} has the key {key!r}"
            errors.append(AdsError("MEDIA_NOT_FOUND", text, name))
        else:
            found[name] = media
    if found:
        call.assume(FITTING)
    if not errors:
        errors = [AdsError("INVALID_MEDIA", text, name) for name, text in _find_misfits(found)]
    if errors:
        raise AdsFailure(*errors)
    return found.get("media_key"), found.get("poster_media_key")


def _find_own_poster_key(call: Call, world: World, found: Mapping[str, Record]) -> str | None:
    """Return the key of the first frame of the card's video, sent or stored."""
    holder = found.get("media_key")
    if "media_key" not in call.params:
        holder = world.store.get("video_conversation_cards", call.path_params["card_id"])
    return None if holder is None else derive_poster_key(holder["media_key"])


def _find_misfits(found: Mapping[str, Record]) -> Iterator[tuple[str, str]]:
    for name, media in found.items():
        key, kind, ratio = (
            media["media_key"],
            media["media_type"],
            compute_ratio(media) or _VIDEO_RATIO,
        )
        if name in {"media_key", "unlocked_video_media_key"}:
            if not is_video(media):
                yield name, f"{name} must be a video, {key} is of the type {kind}"
            elif name == "media_key" and abs(ratio - _VIDEO_RATIO) > 0.005:
                shown = media.get("aspect_ratio") or f"{ratio:.2f}:1"
                yield name, f"{name} must have the aspect 16:9, {key} has {shown}"
        elif kind != "IMAGE":
            yield name, f"{name} must be an image, {key} is of the type {kind}"


def _find_stored_poster(world: World, card: Record) -> Record | None:
    key = card["_poster_media_key"]
    if key is None:
        return None
    return world.store.get("media_library", key) or world.store.get("media", key)


def _describe_media(video: Record, poster: Record | None, chosen: str | None) -> Record:
    """Return a card's fields about its media: addresses, and sizes as strings.

    `chosen` is the key of the card's poster, whose image may not exist any more.
    """
    own = chosen == derive_poster_key(video["media_key"])
    if own or poster is not None or not video.get("poster_media_url"):
        address = build_poster(video, poster)["poster_media_url"]
    else:
        address = video["poster_media_url"]
    width, height = compute_aspect(video)
    return {
        "media_url": f"{strip_extension(video['media_url'])}.vmap",
        "poster_media_url": address,
        "video_width": width,
        "video_height": height,
    }


_COMMON = (STRINGS, ECHO_TYPE)
_READ = Echo(constants={"card_type": "video_conversation"})
_WRITTEN = Echo(constants={"card_type": VIDEO_CONVERSATION})
_ERRORS = ("MEDIA_NOT_FOUND", "INVALID_MEDIA")

_EXAMPLE = Example(path={"card_id": "1712880000001000003"})
OPERATIONS: tuple[Operation, ...] = (
    CONVERSATION_CARDS.list(
        (IdsFilter("card_ids"), PrefixFilter(longest=80)),
        sort=(*TIMESTAMPS, "name"),
        echo=_READ,
        assumptions=_COMMON,
    ),
    CONVERSATION_CARDS.get(echo=_READ, assumptions=_COMMON, example=_EXAMPLE),
    ads(
        "cards_video_conversation.create",
        "POST",
        CONVERSATION_CARDS.path,
        create,
        summary="Create a video conversation card",
        spec=CONVERSATION_CARDS.spec,
        returns=One(VideoConversationCardRecord),
        params=ConversationCreate,
        echo=_WRITTEN,
        assumptions=(*_COMMON, OWNER, PAIRS, NAME_LENGTH),
        may_assume=(FITTING,),
        errors=_ERRORS,
        statuses=(404,),
        example=Example(
            query={
                "name": "Espresso or filter",
                "title": "Espresso or filter?",
                "first_cta": "#TeamEspresso",
                "first_cta_post": "Espresso, always.",
                "thank_you_text": "Thanks for choosing",
                "media_key": "7_1712850617439550009",
            }
        ),
    ),
    ads(
        "cards_video_conversation.update",
        "PUT",
        f"{CONVERSATION_CARDS.path}/:card_id",
        update,
        summary="Change a video conversation card",
        spec=CONVERSATION_CARDS.spec,
        returns=One(VideoConversationCardRecord),
        params=ConversationUpdate,
        echo=_WRITTEN,
        assumptions=(*_COMMON, PAIRS, UPDATE, NAME_LENGTH),
        may_assume=(FITTING,),
        errors=("CARD_NOT_FOUND", *_ERRORS),
        statuses=(404,),
        example=_EXAMPLE,
    ),
)
