"""Poll cards and video conversation cards (document B, "Poll card", "Video conversation card").

Both serve numbers as strings and leave unset fields out, as the public samples do. A new card's
address follows from its id; a record may have any, as the legacy ids of the public samples do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Unpack

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.cards.records import WebAddress, draw_card
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.media.records import compute_ratio
from mock_platform.api.v2.objects.post_view import CARD_URI
from mock_platform.core.faults import INCLUSIVE, Fault, invalid, missing
from mock_platform.core.fields import Choice, FieldOptions, Instant, Text
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record

POLL_TYPES = ("IMAGE_POLLS", "TEXT_POLLS", "VIDEO_POLLS")
VIDEO_CONVERSATION = "VIDEO_CONVERSATION"
ORDINALS = ("first", "second", "third", "fourth")
MAX_NAME_CHARACTERS = 80
MAX_CHOICE_CHARACTERS = 25
MAX_CTA_CHARACTERS = 20
MAX_SHORT_TEXT_CHARACTERS = 23
"""Longest name, poll choice, call to action, and title or thank-you text, in characters."""


class Digits(Text):
    """A number as these cards serve it: as a string."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(pattern=r"[0-9]{1,9}", pattern_text="digits", **options)


class Aspect(Text):
    """One number of an aspect ratio, as a string: a video's width or height on a card."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        super().__init__(
            pattern=r"[0-9]{1,9}(?:\.[0-9]{1,9})?", pattern_text="a number in digits", **options
        )


class CallToAction(Text):
    """A hashtag of at most 20 characters, the `#` not counted and not demanded."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of such a hashtag."""
        return {"pattern": rf"^#?\w{{1,{MAX_CTA_CHARACTERS}}}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        tag = text.removeprefix("#")
        sound = all(c.isalnum() or c == "_" for c in tag)
        if not sound or not 1 <= len(tag) <= MAX_CTA_CHARACTERS:
            raise invalid(
                f"a hashtag of 1 to {MAX_CTA_CHARACTERS} letters, digits and underscores "
                "behind the #",
                text,
                "invalid hashtag",
            )
        return text


class PollCardRecord(Stamped):
    """A poll card. A poll with a video or an image also has its addresses and sizes."""

    id = Text(required=True)
    name = Text(required=True, min_length=1, max_length=MAX_NAME_CHARACTERS)
    first_choice = Text(required=True, min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    second_choice = Text(required=True, min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    third_choice = Text(min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    fourth_choice = Text(min_length=1, max_length=MAX_CHOICE_CHARACTERS)
    duration_in_minutes = Digits(required=True)
    start_time = Instant(as_sent=True, required=True)
    end_time = Instant(as_sent=True, required=True)
    card_uri = Text(required=True, pattern=CARD_URI, pattern_text="card://<card_id>")
    card_type = Choice(POLL_TYPES, required=True)
    video_url = Text()
    video_hls_url = Text()
    video_width = Aspect()
    video_height = Aspect()
    video_poster_url = Text()
    video_poster_width = Aspect()
    video_poster_height = Aspect()
    content_duration_seconds = Digits()
    image = Text()
    image_display_width = Digits()
    image_display_height = Digits()
    _media_key = MediaKey(load_default=None, allow_none=True)
    _account_id = Text(required=True)


class PollCardStub(Stamped):
    """A deleted poll card, in the form in which the delete returns it."""

    id = Text(required=True)
    name = Text(required=True)
    start_time = Instant(as_sent=True, required=True)
    card_type = Choice(POLL_TYPES, required=True)


class ConversationContent(Schema):
    """The fields of a conversation card that an advertiser sets, at creation or later."""

    name = Text(required=True, min_length=1, max_length=MAX_NAME_CHARACTERS)
    title = Text(min_length=1, max_length=MAX_SHORT_TEXT_CHARACTERS)
    first_cta = CallToAction(required=True)
    first_cta_post = Text(required=True, min_length=1)
    second_cta = CallToAction()
    second_cta_post = Text(min_length=1)
    third_cta = CallToAction()
    third_cta_post = Text(min_length=1)
    fourth_cta = CallToAction()
    fourth_cta_post = Text(min_length=1)
    thank_you_text = Text(required=True, min_length=1, max_length=MAX_SHORT_TEXT_CHARACTERS)
    thank_you_url = WebAddress()
    media_key = MediaKey(required=True)


class ConversationParameters(ConversationContent):
    """Parameters of the creation that both kinds of conversation cards share."""

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_pairs(self, data: Record, original: Any, **_: Any) -> None:
        """Require a title or a second call to action, and a post for each call to action."""
        faults: dict[str, list[Fault]] = {}
        for name, fault in find_conversation_faults(original, lambda _: True):
            faults.setdefault(name, []).append(fault)
        if faults:
            raise ValidationError(faults)


class ConversationChanges(Schema):
    """Parameters of the update that both kinds share; an empty value unsets an optional one."""

    name = Text(min_length=1, max_length=MAX_NAME_CHARACTERS)
    title = Text(min_length=1, max_length=MAX_SHORT_TEXT_CHARACTERS, allow_none=True)
    first_cta = CallToAction()
    first_cta_post = Text(min_length=1)
    second_cta = CallToAction(allow_none=True)
    second_cta_post = Text(min_length=1, allow_none=True)
    third_cta = CallToAction(allow_none=True)
    third_cta_post = Text(min_length=1, allow_none=True)
    fourth_cta = CallToAction(allow_none=True)
    fourth_cta_post = Text(min_length=1, allow_none=True)
    thank_you_text = Text(min_length=1, max_length=MAX_SHORT_TEXT_CHARACTERS)
    thank_you_url = WebAddress(allow_none=True)
    media_key = MediaKey()


class VideoConversationCardRecord(ConversationContent, Stamped):
    """A video conversation card: a video with one to four calls to action."""

    id = Text(required=True)
    media_url = Text(required=True)
    poster_media_url = Text()
    video_owner_id = Text(required=True)
    video_width = Aspect()
    video_height = Aspect()
    card_uri = Text(required=True, pattern=CARD_URI, pattern_text="card://<card_id>")
    card_type = Choice((VIDEO_CONVERSATION,), load_default=VIDEO_CONVERSATION)
    _poster_media_key = MediaKey(load_default=None, allow_none=True)
    _unlocked_image_media_key = MediaKey(load_default=None, allow_none=True)
    _unlocked_video_media_key = MediaKey(load_default=None, allow_none=True)
    _account_id = Text(required=True)


def find_conversation_faults(
    card: Mapping[str, Any], takes_part: Callable[[str], bool]
) -> Iterator[tuple[str, Fault]]:
    """Yield (parameter, fault) for each rule that a card breaks and the request touches."""
    title, second = "title", "second_cta"
    if title not in card and second not in card and (takes_part(title) or takes_part(second)):
        yield title, missing(title, f"if {second} is absent")
        yield second, missing(second, f"if {title} is absent")
    for ordinal in ORDINALS[1:]:
        cta, post = f"{ordinal}_cta", f"{ordinal}_cta_post"
        if (cta in card) == (post in card) or not (takes_part(cta) or takes_part(post)):
            continue
        text = f"{post} is required if {cta} is set" if cta in card else f"{post} needs {cta}"
        yield post, Fault(text, INCLUSIVE)


def find_image_misfits(image: Record, what: str) -> list[str]:
    """Return why an image is not one for a poll or a conversation, which `what` names."""
    misfits = []
    if image["_width"] is not None and image["_width"] < 800:
        misfits.append(f"the image of {what} must be at least 800 px wide, not {image['_width']}")
    ratio = compute_ratio(image)
    if ratio is not None and round(ratio, 2) != 1.91:
        misfits.append(f"the image of {what} must have the aspect 1.91:1, not {ratio:.2f}:1")
    return misfits


def _check_poll(record: Record) -> Iterator[tuple[str, str]]:
    if record["deleted"]:
        yield "deleted", "a deleted poll card does not exist any more; leave the record out"
    if "fourth_choice" in record and "third_choice" not in record:
        yield "fourth_choice", "fourth_choice needs third_choice"


def _check_conversation(record: Record) -> Iterator[tuple[str, str]]:
    if "title" not in record and "second_cta" not in record:
        yield "title", "a video conversation card needs a title or a second_cta"
    for ordinal in ORDINALS[1:]:
        cta, post = f"{ordinal}_cta", f"{ordinal}_cta_post"
        if (cta in record) != (post in record):
            yield post, f"{cta} and {post} need each other"


_ACCOUNT = Reference("_account_id", "accounts")
_LIBRARY = "media_library"

POLL_CARDS = Table(
    "poll_cards",
    PollCardRecord,
    references=(_ACCOUNT, Reference("_media_key", _LIBRARY)),
    check=_check_poll,
    draw=draw_card,
)
VIDEO_CONVERSATION_CARDS = Table(
    "video_conversation_cards",
    VideoConversationCardRecord,
    references=(_ACCOUNT, Reference("media_key", _LIBRARY)),
    check=_check_conversation,
    draw=draw_card,
)
TABLES = (POLL_CARDS, VIDEO_CONVERSATION_CARDS)
