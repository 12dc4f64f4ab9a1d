"""Metadata and subtitles of uploaded media (all of v2, section 11).

Both belong to the media, so every post that has them shows the same alt text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    declare_public,
    find_nothing,
    forbid,
    get_user_id,
    make_id_field,
    make_schema,
    refuse_value,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.media.operations import CategoryName
from mock_platform.api.v2.media.uploads import (
    change_media,
    find_by_number,
    find_own_media,
    is_expired,
    keep_media,
)
from mock_platform.api.v2.objects.media_view import may_use
from mock_platform.api.v2.prices import MEDIA_METADATA
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Choice, Flag, Integer, ListOf, Nested, Number, Text
from mock_platform.core.operation import Example, Location
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

METADATA_SHAPES = public_fact(
    "media.metadata",
    "Metadata have the thirteen public keys; alt_text, of at most 1,000 characters, is the media "
    "field alt_text of every post with these media. Subtitles are uploaded first, with the "
    "category subtitles, and belong to a video under a language of two capital letters.",
    "all of v2, section 11",
    gap=True,
)
METADATA_RULES = expectation(
    "media.details",
    "Metadata that come again replace those that they name, and the answer has all of them. Of all "
    "keys only alt_text and preview_image, the preview_image_url of a video, change what others "
    "see. Subtitles of a language replace those that it had; a video has at most five languages.",
)
METADATA_REFUSALS = expectation(
    "media.details-refused",
    "Unknown media answer 404, media of somebody else 403 about:blank, and expired ones 400. So do "
    "subtitles for what is no video of that category, a file that is no subtitles, and a sixth "
    "language; to delete subtitles in a language that a video does not have answers 404.",
)
MOST_LANGUAGES = 5
_PREFIXES = {"PostVideo": "7", "AmplifyVideo": "13"}
"""The kinds of media that have subtitles, by their category."""


def _describe(name: str, **parts: Any) -> Nested:
    """Return the field of an object of the metadata."""
    return Nested(make_schema(f"Media{name}", **parts))


def _list_countries(*, required: bool = True) -> ListOf:
    return ListOf(Text(pattern=r"[A-Za-z]{2}", pattern_text="two letters"), required=required)


_PLACES = ("transform_a", "transform_b", "transform_c", "transform_d", "transform_tx",
           "transform_ty")  # fmt: skip
_Sticker = make_schema(
    "MediaSticker",
    id=Text(),
    aspect_ratio=Number(),
    group_annotation_id=Integer(),
    sticker_set_annotation_id=Integer(),
    **{name: Number() for name in _PLACES},
)


class Metadata(Schema):
    """What a user says about media."""

    allow_download_status = _describe("DownloadStatus", allow_download=Flag())
    alt_text = _describe("AltText", text=Text(max_length=1000, required=True))
    audience_policy = _describe(
        "AudiencePolicy",
        creator_subscriptions=ListOf(Choice(("Any",))),
        platform_subscriptions=ListOf(Choice(("Any",))),
    )
    content_expiration = _describe("Expiration", timestamp_sec=Integer(required=True))
    domain_restrictions = _describe("Domains", whitelist=ListOf(Text(), required=True))
    found_media_origin = _describe("Origin", provider=Text(required=True), id=Text(required=True))
    geo_restrictions = _describe(
        "Countries",
        whitelisted_country_codes=_list_countries(),
        blacklisted_country_codes=_list_countries(),
    )
    management_info = _describe("Management", managed=Flag(required=True))
    preview_image = _describe(
        "Preview",
        media_key=_describe(
            "PreviewKey",
            media=make_id_field("a media id of "),
            media_category=CategoryName(("PostImage",), load_default="PostImage"),
        ),
    )
    sensitive_media_warning = _describe(
        "Warning", adult_content=Flag(), graphic_violence=Flag(), other=Flag()
    )
    shared_info = _describe("Sharing", shared=Flag(required=True))
    sticker_info = _describe("Stickers", stickers=ListOf(Nested(_Sticker), required=True))
    upload_source = _describe("Source", upload_source=Text(required=True))


class NewMetadata(Schema):
    """The media, and what is said about them."""

    id = make_id_field("a media id of ", required=True)
    metadata = Nested(Metadata)


class _Subtitles(Schema):
    id = make_id_field("a media id of ", required=True)
    language_code = Text(pattern=r"[A-Z]{2}", pattern_text="two capital letters", required=True)
    display_name = Text()


class NewSubtitles(Schema):
    """A video, and a file of subtitles for it."""

    id = make_id_field("a media id of ")
    media_category = CategoryName(tuple(_PREFIXES))
    subtitles = Nested(_Subtitles)


class OldSubtitles(Schema):
    """A video, and the language whose subtitles are deleted."""

    id = make_id_field("a media id of ", required=True)
    media_category = CategoryName(tuple(_PREFIXES), required=True)
    language_code = Text(pattern=r"[A-Z]{2}", pattern_text="two capital letters", required=True)


MetadataAnswer = wrap_data(
    "MetadataAnswer",
    "_DescribedMedia",
    id=Text(required=True),
    associated_metadata=Nested(Metadata),
)
SubtitlesAnswer = wrap_data(
    "SubtitlesAnswer",
    "_SubtitledVideo",
    id=Text(required=True),
    media_category=Choice(tuple(_PREFIXES), required=True),
    associated_subtitles=ListOf(Nested(_Subtitles), required=True),
)
NoSubtitlesAnswer = wrap_data("NoSubtitlesAnswer", deleted=Flag(required=True))


def find_metadata_faults(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find restrictions that name allowed and refused countries, or none at all."""
    found = params.get("metadata", {}).get("geo_restrictions")
    if found and bool(found.get("whitelisted_country_codes")) == bool(
        found.get("blacklisted_country_codes")
    ):
        name = "metadata.geo_restrictions"
        yield name, f"{name} must have countries in exactly one of its two lists"


def find_subtitle_faults(
    _params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is missing; the public description requires nothing."""
    for name in ("id", "media_category", "subtitles"):
        if name not in call.sent:
            yield name, f"{name} is required"


def set_metadata(call: Call, world: World) -> dict[str, Any]:
    """Store metadata of the caller's media, and return all that these have now."""
    id_, sent = call.params["id"], call.params.get("metadata", {})
    media = _require_own(call, world, id_)
    changes: Record = {"_metadata": {**(media.get("_metadata") or {}), **sent}}
    if "preview_image" in sent:
        changes["_preview_url"] = _find_preview(call, world, sent["preview_image"])
    change_media(world, media, **changes)
    return {"data": {"id": id_, "associated_metadata": changes["_metadata"]}}


def _find_preview(call: Call, world: World, preview: Record) -> str:
    """Return the address of the image that shall stand for a video.

    Raises:
        ProblemFailure: It is no image of the caller (400).
    """
    id_ = preview.get("media_key", {}).get("media", "")
    image = find_own_media(world, get_user_id(call), id_)
    if image is None or image["media_type"] != "IMAGE":
        name = "metadata.preview_image.media_key.media"
        text = f"The media [{id_}] are no image of the authenticating user"
        raise refuse_value(text, METADATA_REFUSALS, name=name, value=id_)
    keep_media(world, image)
    address: str = image["media_url"]
    return address


def add_subtitles(call: Call, world: World) -> dict[str, Any]:
    """Give a video of the caller subtitles in a language."""
    sent, category = call.params["subtitles"], call.params["media_category"]
    video = _require_video(call, world)
    file = _require_own(call, world, sent["id"], "subtitles.id")
    if file["media_type"] != "SUBTITLES":
        text = f"The media [{sent['id']}] are no file of subtitles"
        raise refuse_value(text, METADATA_REFUSALS, name="subtitles.id", value=sent["id"])
    language = sent["language_code"]
    all_ = [one for one in video.get("_subtitles") or () if one["language_code"] != language]
    if len(all_) >= MOST_LANGUAGES:
        text = f"A video has subtitles in at most {MOST_LANGUAGES} languages"
        raise refuse_value(text, METADATA_REFUSALS, name="subtitles.language_code", value=language)
    keep_media(world, file)
    change_media(world, video, _subtitles=[*all_, sent])
    shown = {"id": call.params["id"], "media_category": category}
    return {"data": {**shown, "associated_subtitles": [*all_, sent]}}


def delete_subtitles(call: Call, world: World) -> dict[str, Any]:
    """Take the subtitles in a language from a video of the caller."""
    video, language = _require_video(call, world), call.params["language_code"]
    found = video.get("_subtitles") or []
    left = [one for one in found if one["language_code"] != language]
    if len(left) == len(found):
        missing = find_nothing("media", "language_code", language, repeated=True)
        raise ProblemFailure(missing, METADATA_REFUSALS)
    change_media(world, video, _subtitles=left)
    return {"data": {"deleted": True}}


def _require_video(call: Call, world: World) -> Record:
    """Return the video of the caller to which the body refers.

    Raises:
        ProblemFailure: It is unknown, somebody else's, or of another category (404, 403, 400).
    """
    id_, category = call.params["id"], call.params["media_category"]
    video = _require_own(call, world, id_)
    if video["media_key"] != f"{_PREFIXES[category]}_{id_}":
        text = f"The media [{id_}] are no video of the category {category}"
        raise refuse_value(text, METADATA_REFUSALS, name="media_category", value=category)
    return video


def _require_own(call: Call, world: World, media_id: str, parameter: str = "id") -> Record:
    """Return media that the caller uploaded or may use.

    Raises:
        ProblemFailure: They are unknown (404), somebody else's (403) or expired (400).
    """
    media = find_by_number(world, media_id)
    if media is None:
        missing = find_nothing("media", parameter, media_id, repeated=True)
        raise ProblemFailure(missing, METADATA_REFUSALS)
    if not may_use(world, get_user_id(call), media):
        raise forbid(f"You are not authorized to change the media [{media_id}].", METADATA_REFUSALS)
    if is_expired(world, media):
        text = f"The media [{media_id}] have expired"
        raise refuse_value(text, METADATA_REFUSALS, name=parameter, value=media_id)
    return media


_declare = partial(
    declare_public,
    auth=Auth(ANY_USER, scopes=("media.write",)),
    since=start_on("2025-03-06"),
    errors=("invalid-request", "resource-not-found", "about:blank"),
    assumptions=(METADATA_SHAPES, METADATA_RULES),
    may_assume=(METADATA_REFUSALS,),
    price=MEDIA_METADATA,
)
_IMAGE, _VIDEO, _FILE = "1712850617439560002", "1712850617439560005", "1712850617439560008"
OPERATIONS = (
    _declare(
        "media_metadata.create",
        "POST /2/media/metadata",
        set_metadata,
        "Say something about uploaded media",
        params=NewMetadata,
        rules=find_metadata_faults,
        returns=MetadataAnswer,
        limit=Rates(app_daily=50_000, user=500),
        example=Example(
            json={"id": _IMAGE, "metadata": {"alt_text": {"text": "A blue mug in the snow"}}}
        ),
    ),
    _declare(
        "media_subtitles.create",
        "POST /2/media/subtitles",
        add_subtitles,
        "Give a video subtitles",
        params=NewSubtitles,
        rules=find_subtitle_faults,
        returns=SubtitlesAnswer,
        limit=Rates(app_daily=10_000, user=100),
        example=Example(
            json={
                "id": _VIDEO,
                "media_category": "PostVideo",
                "subtitles": {"id": _FILE, "language_code": "EN", "display_name": "English"},
            }
        ),
    ),
    _declare(
        "media_subtitles.delete",
        "DELETE /2/media/subtitles",
        delete_subtitles,
        "Take subtitles from a video",
        params=OldSubtitles,
        location=Location.JSON,
        returns=NoSubtitlesAnswer,
        limit=Rates(app_daily=10_000, user=100),
        example=Example(
            json={
                "id": "1712850617439560007",
                "media_category": "PostVideo",
                "language_code": "DE",
            }
        ),
    ),
)
