"""Conversation cards, with a video or an image: list, read, create, update.

Document B has those with a video ("Video conversation cards"). Those with an image are stored as
the legacy cards that they are, so the operations of `cards` find and delete them too. The delete by
card type, which also deletes the ones with a video, is in `operations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.ads.cards.interactive_records import (
    VIDEO_CONVERSATION,
    ConversationChanges,
    ConversationParameters,
    VideoConversationCardRecord,
    find_conversation_faults,
    find_image_misfits,
)
from mock_platform.api.ads.cards.records import IMAGE_CONVERSATION, CardRecord, make_card_uri
from mock_platform.api.ads.conventions import CORE_READS, One, ads, not_found
from mock_platform.api.ads.filters import IdsFilter, PrefixFilter
from mock_platform.api.ads.media.media_library import find_in_library, find_media
from mock_platform.api.ads.resource import TIMESTAMPS, Resource, apply_changes, make_timestamps
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.media.records import (
    build_poster,
    compute_aspect,
    compute_ratio,
    derive_poster_key,
    is_video,
    strip_extension,
)
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.operation import Echo, Example, Operation, Origin
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SERVED_AS_STRINGS = public_fact(
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
CTA_PAIRS = expectation(
    "cards-video-conversation.pairs",
    "A call to action and its post need each other: either without the other answers 400 "
    "INCLUSIVE_PARAMETERS. Title and second_cta may be used together. A hashtag needs no #.",
)
VIDEO_OWNER = expectation(
    "cards-video-conversation.owner", "video_owner_id is the first user of the account."
)
FITTING_MEDIA = expectation(
    "cards-video-conversation.media",
    "Media of the wrong kind answer 400 INVALID_MEDIA: the video must be in the library and 16:9 "
    "unless its aspect is not known, the poster and the unlocked image must be images (or the "
    "poster the video's own first frame), the unlocked video a video.",
)
UPDATE_TAKES_ALL = public_fact(
    "cards-video-conversation.update",
    "The update takes every field of the creation under the same rules, which are checked on the "
    "card as it would become; an empty value unsets an optional field.",
    "section 8, video conversation update",
)
NAME_LENGTH = settled(
    "cards-video-conversation.name-length",
    "The bound of 80 characters for card names holds for video conversation cards too.",
)
IMAGE_CARDS_SERVED = public_fact(
    "cards-image-conversation.all",
    "Image conversation cards leave unset fields out and do not serve the unlocked image; the "
    "sizes of the image are strings in pixels. The echo holds card_type: image_conversation on "
    "GET and DELETE, IMAGE_CONVERSATION on POST and PUT.",
    "adjacent operations, section 8.2",
    gap=True,
)
IMAGE_CARD_RULES = expectation(
    "cards-image-conversation.rules",
    "The rules of video conversation cards hold for pairs of calls to action. The image is in the "
    "library, at least 800 px wide and 1.91:1, the unlocked image 5:2; others answer 400 "
    "INVALID_IMAGE, unless their sizes are not known.",
)
_IMAGE, _VIDEO = "unlocked_image_media_key", "unlocked_video_media_key"
_POSTER = "poster_media_key"
_VIDEO_RATIO = 16 / 9
_UNLOCKED_RATIO = 5 / 2


class _ImageConversations(Resource, frozen=True):
    """Those of the stored cards that are image conversations."""

    def match(self, call: Call) -> dict[str, Any]:
        """Return the fields that the cards of a list must have."""
        return Resource.match(self, call) | {"card_type": IMAGE_CONVERSATION}

    def get_by_id(
        self, call: Call, world: World, *, with_deleted: bool = False, key: str | None = None
    ) -> Record:
        """Return the card in the path, which must be an image conversation.

        Raises:
            AdsFailure: CARD_NOT_FOUND (404): it does not exist, or is a card of another type.
        """
        found = Resource.get_by_id(self, call, world, with_deleted=with_deleted, key=key)
        if found["card_type"] != IMAGE_CONVERSATION:
            raise not_found(self.missing, self.noun, self.id_parameter, found["id"])
        return found


VIDEO_CARDS = Resource(
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
IMAGE_CARDS = _ImageConversations(
    name="cards_image_conversation",
    table="cards",
    path="/12/accounts/:account_id/cards/image_conversation",
    id_parameter="card_id",
    schema=CardRecord,
    noun="image conversation card",
    spec="not shown",
    missing="CARD_NOT_FOUND",
    most_reads=CORE_READS,
)


class VideoConversationUpdate(ConversationChanges):
    """Parameters of the update; an empty value unsets an optional one."""

    poster_media_key = MediaKey(allow_none=True)
    unlocked_image_media_key = MediaKey(allow_none=True)
    unlocked_video_media_key = MediaKey(allow_none=True)


class VideoConversationCreate(ConversationParameters):
    """Parameters of the creation of a video conversation card."""

    poster_media_key = MediaKey()
    unlocked_image_media_key = MediaKey()
    unlocked_video_media_key = MediaKey()


class ImageConversationUpdate(ConversationChanges):
    """Parameters of the update; an empty value unsets an optional one."""

    unlocked_image_media_key = MediaKey(allow_none=True)


class ImageConversationCreate(ConversationParameters):
    """Parameters of the creation of an image conversation card."""

    unlocked_image_media_key = MediaKey()


def create_video_card(call: Call, world: World) -> Record:
    """Create a video conversation card with its media."""
    assert call.account is not None
    found = _find_video_media(call, world)
    shown = _describe_video(found["media_key"], found.get(_POSTER), call.params.get(_POSTER))
    shown["video_owner_id"] = call.account["_users"][0]
    hidden = (_POSTER, _IMAGE, _VIDEO)
    return _store_new(call, world, VIDEO_CARDS, VIDEO_CONVERSATION, shown, hidden)


def create_image_card(call: Call, world: World) -> Record:
    """Create an image conversation card."""
    shown = _describe_image(_find_images(call, world)["media_key"]) | {"_legacy": True}
    return _store_new(call, world, IMAGE_CARDS, IMAGE_CONVERSATION, shown, (_IMAGE,))


def _store_new(
    call: Call,
    world: World,
    cards: Resource,
    card_type: str,
    shown: Record,
    write_only: Iterable[str],
) -> Record:
    """Store a new card: what was sent, but `write_only` out of sight, and what is `shown`."""
    sent, card_id = dict(call.params), world.ids.snowflake()
    hidden = {f"_{name}": sent.pop(name, None) for name in write_only}
    record = {
        "id": card_id,
        **sent,
        **shown,
        "card_uri": make_card_uri(card_id),
        "card_type": card_type,
        **make_timestamps(world),
        **hidden,
        "_account_id": call.path_params["account_id"],
    }
    world.store.put(cards.table, card_id, record)
    return record


def update_video_card(call: Call, world: World) -> Record:
    """Change a video conversation card; only what is sent changes."""
    before, sent = VIDEO_CARDS.get_by_id(call, world), call.params
    found = _find_video_media(call, world)
    if not sent:
        return before
    after = _apply_sent(call, world, before, (_POSTER, _IMAGE, _VIDEO))
    if "media_key" in sent or _POSTER in sent:
        # Media can have left the library since then; the card keeps what it shows of them.
        video = found.get("media_key") or world.store.get("media_library", after["media_key"])
        chosen = after[f"_{_POSTER}"]
        poster = found.get(_POSTER)
        if poster is None and chosen is not None:
            poster = world.store.get("media_library", chosen) or world.store.get("media", chosen)
        if video is not None:
            after |= _describe_video(video, poster, chosen)
    world.store.put(VIDEO_CARDS.table, before["id"], after)
    return after


def update_image_card(call: Call, world: World) -> Record:
    """Change an image conversation card; only what is sent changes."""
    before = IMAGE_CARDS.get_by_id(call, world)
    found = _find_images(call, world)
    if not call.params:
        return before
    after = _apply_sent(call, world, before, (_IMAGE,))
    if "media_key" in found:
        after |= _describe_image(found["media_key"])
    world.store.put(IMAGE_CARDS.table, before["id"], after)
    return after


def _apply_sent(call: Call, world: World, card: Record, write_only: Iterable[str]) -> Record:
    """Return a card with what was sent; an empty value removes what was there.

    Raises:
        AdsFailure: The card would break the rules between its texts.
    """
    sent = dict(call.params)
    hidden = {f"_{name}": sent.pop(name) for name in write_only if name in sent}
    after = apply_changes(world, card, sent) | hidden
    after = {name: value for name, value in after.items() if name[0] == "_" or value is not None}
    broken = [
        AdsError.from_fault(name, fault)
        for name, fault in find_conversation_faults(after, call.params.__contains__)
    ]
    if broken:
        raise AdsFailure(*broken)
    return after


# -- media --------------------------------------------------------------------------------------


def _find_media(
    call: Call,
    world: World,
    names: Iterable[str],
    code: str,
    find_misfits: Callable[[str, Record], Iterable[str]],
) -> dict[str, Record]:
    """Return the media that a request names, by parameter, without a video's own first frame.

    Raises:
        AdsFailure: MEDIA_NOT_FOUND, or `code` with the texts of `find_misfits`.
    """
    found: dict[str, Record] = {}
    errors: list[AdsError] = []
    for name in names:
        key = call.params.get(name)
        if key is None:
            continue
        look_up = find_in_library if name == "media_key" else find_media
        media = look_up(world, call.path_params["account_id"], key)
        if media is not None:
            found[name] = media
        elif name != _POSTER or key != _find_own_poster_key(call, world, found):
            where = "in the library of this account" if name == "media_key" else "of this account"
            text = f"No media {where} has the key {key!r}"
            errors.append(AdsError("MEDIA_NOT_FOUND", text, name))
    if found and code == "INVALID_MEDIA":
        call.assume(FITTING_MEDIA)
    if not errors:
        for name, media in found.items():
            errors += [AdsError(code, text, name) for text in find_misfits(name, media)]
    if errors:
        raise AdsFailure(*errors)
    return found


def _find_video_media(call: Call, world: World) -> dict[str, Record]:
    names = ("media_key", _POSTER, _IMAGE, _VIDEO)
    return _find_media(call, world, names, "INVALID_MEDIA", _find_video_misfits)


def _find_images(call: Call, world: World) -> dict[str, Record]:
    names = ("media_key", _IMAGE)
    return _find_media(call, world, names, "INVALID_IMAGE", _find_picture_misfits)


def _find_own_poster_key(call: Call, world: World, found: Mapping[str, Record]) -> str | None:
    """Return the key of the first frame of the card's video, sent or stored."""
    holder = found.get("media_key")
    if "media_key" not in call.params:
        holder = world.store.get(VIDEO_CARDS.table, call.path_params["card_id"])
    return None if holder is None else derive_poster_key(holder["media_key"])


def _find_video_misfits(name: str, media: Record) -> Iterator[str]:
    if name in {_POSTER, _IMAGE}:
        yield from _expect_image(name, media)
    elif not is_video(media):
        yield f"{name} must be a video, {media['media_key']} is of the type {media['media_type']}"
    else:
        ratio = compute_ratio(media) or _VIDEO_RATIO
        if name == "media_key" and abs(ratio - _VIDEO_RATIO) > 0.005:
            shown = media.get("aspect_ratio") or f"{ratio:.2f}:1"
            yield f"{name} must have the aspect 16:9, {media['media_key']} has {shown}"


def _find_picture_misfits(name: str, media: Record) -> Iterator[str]:
    if media["media_type"] != "IMAGE":
        yield from _expect_image(name, media)
    elif name == "media_key":
        yield from find_image_misfits(media, "a conversation")
    else:
        ratio = compute_ratio(media)
        if ratio is not None and round(ratio, 2) != _UNLOCKED_RATIO:
            yield f"the unlocked image must have the aspect 5:2, not {ratio:.2f}:1"


def _expect_image(name: str, media: Record) -> Iterator[str]:
    kind = media["media_type"]
    if kind != "IMAGE":
        yield f"{name} must be an image, {media['media_key']} is of the type {kind}"


def _describe_video(video: Record, poster: Record | None, chosen: str | None) -> Record:
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


def _describe_image(image: Record) -> Record:
    """Return a card's fields about its image: its address, and its sizes as strings."""
    sizes = {"image_display_width": image["_width"], "image_display_height": image["_height"]}
    known = {name: str(value) for name, value in sizes.items() if value is not None}
    return {"media_url": image["media_url"], **known}


_READ_ASSUMES = (SERVED_AS_STRINGS, ECHO_TYPE)
_VIDEO_READ = Echo(constants={"card_type": "video_conversation"})
_IMAGE_READ = Echo(constants={"card_type": "image_conversation"})
_FILTERS = (IdsFilter("card_ids"), PrefixFilter(longest=80))
_SORT = (*TIMESTAMPS, "name")
_VIDEO_EXAMPLE = Example(path={"card_id": "1712880000001000003"})
_IMAGE_EXAMPLE = Example(path={"card_id": "57i77"})
_declare_video = partial(
    ads,
    spec=VIDEO_CARDS.spec,
    returns=One(VideoConversationCardRecord),
    echo=Echo(constants={"card_type": VIDEO_CONVERSATION}),
    may_assume=(FITTING_MEDIA,),
    statuses=(404,),
)
_declare_image = partial(
    ads,
    spec=IMAGE_CARDS.spec,
    returns=One(CardRecord),
    echo=Echo(constants={"card_type": IMAGE_CONVERSATION}),
    origin=Origin.ADJACENT,
    assumptions=(IMAGE_CARDS_SERVED, IMAGE_CARD_RULES),
    statuses=(404,),
)

OPERATIONS: tuple[Operation, ...] = (
    IMAGE_CARDS.list(
        _FILTERS,
        sort=_SORT,
        echo=_IMAGE_READ,
        origin=Origin.ADJACENT,
        assumptions=(IMAGE_CARDS_SERVED,),
    ),
    IMAGE_CARDS.get(
        echo=_IMAGE_READ,
        origin=Origin.ADJACENT,
        assumptions=(IMAGE_CARDS_SERVED,),
        example=_IMAGE_EXAMPLE,
    ),
    _declare_image(
        "cards_image_conversation.create",
        "POST",
        IMAGE_CARDS.path,
        create_image_card,
        summary="Create an image conversation card",
        params=ImageConversationCreate,
        errors=("MEDIA_NOT_FOUND", "INVALID_IMAGE"),
        example=Example(
            query={
                "name": "Espresso or filter",
                "title": "Espresso or filter?",
                "first_cta": "#TeamEspresso",
                "first_cta_post": "Espresso, always.",
                "thank_you_text": "Thanks for choosing",
                "media_key": "3_1712850617439550001",
            }
        ),
    ),
    _declare_image(
        "cards_image_conversation.update",
        "PUT",
        f"{IMAGE_CARDS.path}/:card_id",
        update_image_card,
        summary="Change an image conversation card",
        params=ImageConversationUpdate,
        errors=("CARD_NOT_FOUND", "MEDIA_NOT_FOUND", "INVALID_IMAGE"),
        example=_IMAGE_EXAMPLE,
    ),
    VIDEO_CARDS.list(_FILTERS, sort=_SORT, echo=_VIDEO_READ, assumptions=_READ_ASSUMES),
    VIDEO_CARDS.get(echo=_VIDEO_READ, assumptions=_READ_ASSUMES, example=_VIDEO_EXAMPLE),
    _declare_video(
        "cards_video_conversation.create",
        "POST",
        VIDEO_CARDS.path,
        create_video_card,
        summary="Create a video conversation card",
        params=VideoConversationCreate,
        assumptions=(*_READ_ASSUMES, VIDEO_OWNER, CTA_PAIRS, NAME_LENGTH),
        errors=("MEDIA_NOT_FOUND", "INVALID_MEDIA"),
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
    _declare_video(
        "cards_video_conversation.update",
        "PUT",
        f"{VIDEO_CARDS.path}/:card_id",
        update_video_card,
        summary="Change a video conversation card",
        params=VideoConversationUpdate,
        assumptions=(*_READ_ASSUMES, CTA_PAIRS, UPDATE_TAKES_ALL, NAME_LENGTH),
        errors=("CARD_NOT_FOUND", "MEDIA_NOT_FOUND", "INVALID_MEDIA"),
        example=_VIDEO_EXAMPLE,
    ),
)
