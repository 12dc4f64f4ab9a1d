"""Poll cards: list, read, create, delete permanently (document B, "Poll cards").

The module is named after the path below the account, `cards/poll`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from marshmallow import ValidationError, validates_schema
from msgspec.structs import replace

from mock_platform.api.ads.cards.interactive_records import (
    MAX_CHOICE_CHARACTERS,
    MAX_NAME_CHARACTERS,
    ORDINALS,
    PollCardRecord,
    PollCardStub,
    find_image_misfits,
)
from mock_platform.api.ads.cards.records import make_card_uri
from mock_platform.api.ads.conventions import CORE_READS, One, ads, fail, require_feature
from mock_platform.api.ads.filters import IdsFilter, PrefixFilter
from mock_platform.api.ads.media.media_library import find_in_library
from mock_platform.api.ads.resource import TIMESTAMPS, Resource, make_timestamps
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.media.records import (
    compute_aspect,
    is_video,
    strip_extension,
)
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INCLUSIVE, Fault
from mock_platform.core.fields import Integer, Text
from mock_platform.core.operation import Echo, Example, Operation
from mock_platform.core.schema import Schema
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SERVED_AS_STRINGS = public_fact(
    "cards-poll.strings",
    "Poll cards serve numbers as strings and leave unset fields out.",
    "section 7, poll cards",
)
DELETE_STUB = public_fact(
    "cards-poll.delete-stub",
    "The delete answers with id, name, start_time, card_type, created_at, updated_at and deleted "
    "(true).",
    "section 7, poll cards",
)
VIDEO_FIELDS = public_fact(
    "cards-poll.video-fields",
    "Widths and heights of a poll's video and its poster are the numbers of the video's aspect "
    "ratio, 16 and 9 if neither that nor its size is known; video_url is its .vmap, video_hls_url "
    "its .m3u8.",
    "section 7, poll cards",
)
ECHO_TYPE = public_fact(
    "cards-poll.echo", 'The echo of poll cards holds card_type "poll".', "section 3, echo quirks"
)
IMAGE_POLL = public_fact(
    "cards-poll.image-fields",
    "A poll with an image or GIF has the type IMAGE_POLLS and serves image, image_display_width "
    "and image_display_height; the spec shows the fields of video polls only.",
    "section 7, poll cards",
)
IMAGE_SIZES = expectation(
    "cards-poll.image-size",
    "The aspect 1.91:1 is kept if width by height, rounded to two places, is 1.91; an image "
    "of unknown size is accepted. Others answer 400 INVALID_IMAGE.",
)
NAME_LENGTH = settled(
    "cards-poll.name-length", "The bound of 80 characters for card names holds for poll cards too."
)

POLL_CARDS = Resource(
    name="cards_poll",
    table="poll_cards",
    path="/12/accounts/:account_id/cards/poll",
    id_parameter="card_id",
    schema=PollCardRecord,
    noun="poll card",
    spec="Poll cards",
    missing="CARD_NOT_FOUND",
    soft=False,
    most_reads=CORE_READS,
)

_CHOICES = tuple(f"{ordinal}_choice" for ordinal in ORDINALS)


class PollCardCreate(Schema):
    """Parameters of the creation of a poll card."""

    duration_in_minutes = Integer(low=5, high=10080, required=True)
    first_choice = Text(required=True, min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    second_choice = Text(required=True, min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    third_choice = Text(min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    fourth_choice = Text(min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    name = Text(required=True, min_length=1, max_length=MAX_NAME_CHARACTERS)
    media_key = MediaKey()

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_choices(self, data: Record, original: Any, **_: Any) -> None:
        """Require for each choice all those before it."""
        faults: dict[str, list[Fault]] = {}
        for place, name in enumerate(_CHOICES[2:], 2):
            if name not in original:
                continue
            lacking = [earlier for earlier in _CHOICES[:place] if earlier not in original]
            if lacking:
                faults[name] = [Fault(f"{name} needs {' and '.join(lacking)}", INCLUSIVE)]
        if faults:
            raise ValidationError(faults)


def create(call: Call, world: World) -> Record:
    """Create a poll card; its poll starts now."""
    sent = call.params
    media = _find_media(call, world)
    now = world.clock.now()
    card_id, stamps = world.ids.snowflake(), make_timestamps(world, now)
    record = {
        "id": card_id,
        "name": sent["name"],
        **{name: sent[name] for name in _CHOICES if name in sent},
        "duration_in_minutes": str(sent["duration_in_minutes"]),
        "start_time": stamps["created_at"],
        "end_time": wire_seconds(now + timedelta(minutes=sent["duration_in_minutes"])),
        "card_uri": make_card_uri(card_id),
        **_describe_media(call, media),
        **stamps,
        "_media_key": None if media is None else media["media_key"],
        "_account_id": call.path_params["account_id"],
    }
    world.store.put("poll_cards", card_id, record)
    return record


def _find_media(call: Call, world: World) -> Record | None:
    """Return the video or image in the library for a Media Forward Poll.

    Raises:
        AdsFailure: The media is unknown or does not fit, or the account lacks the feature.
    """
    key = call.params.get("media_key")
    if key is None:
        return None
    require_feature(call, "PROMOTED_MEDIA_POLLS")
    media = find_in_library(world, call.path_params["account_id"], key)
    if media is None:
        text = f"No media in the library of this account has the key {key!r}"
        raise fail("MEDIA_NOT_FOUND", text, "media_key")
    if not is_video(media):
        misfits = find_image_misfits(media, "a poll")
        errors = [AdsError("INVALID_IMAGE", text, "media_key") for text in misfits]
        if errors:
            raise AdsFailure(*errors)
    return media


def _describe_media(call: Call, media: Record | None) -> Record:
    """Return a poll card's fields about its media: addresses, and numbers as strings."""
    if media is None:
        return {"card_type": "TEXT_POLLS"}
    if not is_video(media):
        call.assume(IMAGE_POLL, IMAGE_SIZES)
        shown = {
            "card_type": "IMAGE_POLLS",
            "image": media["media_url"],
            "image_display_width": media["_width"],
            "image_display_height": media["_height"],
        }
    else:
        call.assume(VIDEO_FIELDS)
        duration, (width, height) = media.get("duration"), compute_aspect(media)
        shown = {
            "card_type": "VIDEO_POLLS",
            "video_url": f"{strip_extension(media['media_url'])}.vmap",
            "video_hls_url": f"{strip_extension(media['media_url'])}.m3u8",
            "video_width": width,
            "video_height": height,
            "video_poster_url": media.get("poster_media_url"),
            "video_poster_width": width,
            "video_poster_height": height,
            "content_duration_seconds": None if duration is None else duration // 1000,
        }
    return {name: str(value) for name, value in shown.items() if value is not None}


def _make_stub(call: Call, world: World, card: Record) -> Record:
    """Return a deleted card in the form in which the delete answers with it."""
    return {name: card[name] for name in PollCardStub().fields}


_ECHO = Echo(constants={"card_type": "poll"})

OPERATIONS: tuple[Operation, ...] = (
    POLL_CARDS.list(
        (IdsFilter("card_ids"), PrefixFilter(longest=80)),
        sort=(*TIMESTAMPS, "name"),
        echo=_ECHO,
        assumptions=(SERVED_AS_STRINGS, ECHO_TYPE),
    ),
    POLL_CARDS.get(echo=_ECHO, assumptions=(SERVED_AS_STRINGS, ECHO_TYPE)),
    ads(
        "cards_poll.create",
        "POST",
        POLL_CARDS.path,
        create,
        summary="Create a poll card",
        spec=POLL_CARDS.spec,
        returns=One(PollCardRecord),
        params=PollCardCreate,
        echo=_ECHO,
        assumptions=(SERVED_AS_STRINGS, ECHO_TYPE, NAME_LENGTH),
        may_assume=(IMAGE_POLL, VIDEO_FIELDS, IMAGE_SIZES),
        errors=("FEATURE_NOT_AVAILABLE", "MEDIA_NOT_FOUND", "INVALID_IMAGE"),
        statuses=(404,),
        example=Example(
            query={
                "name": "Roast",
                "first_choice": "Light",
                "second_choice": "Dark",
                "duration_in_minutes": "60",
            },
            conditions={"media_key": "3_1712850617439550001"},
        ),
    ),
    replace(POLL_CARDS, schema=PollCardStub).delete(
        echo=_ECHO,
        show=_make_stub,
        assumptions=(DELETE_STUB, ECHO_TYPE),
        summary="Delete a poll card permanently",
    ),
)
