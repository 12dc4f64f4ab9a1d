"""Media of accounts: the library, and account media (document B, "Media library").

What is uploaded becomes known to all creatives by adding it to the library.
Records of `media` are what was uploaded, through `/2/media/upload` or by fixtures. Adding moves
them into the library.
"""

from __future__ import annotations

from mock_platform.api.ads.conventions import One, ads, fail
from mock_platform.api.ads.filters import EqualFilter, IdsFilter, OneOfFilter, WordsFilter
from mock_platform.api.ads.resource import Resource, apply_changes, draw_unused_id, make_timestamps
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.media.records import (
    DETAILS,
    MEDIA_TYPES,
    TRANSCODE_COMPLETED,
    TRANSCODE_FAILED,
    TRANSCODE_PENDING,
    VIDEO_ONLY,
    MediaLibraryRecord,
    build_poster,
    derive_poster_key,
    has_duration,
    is_video,
)
from mock_platform.api.v2.media.uploads import explain_unusable, is_expired, is_of_account
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INVALID, not_allowed
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Example, NotServed, Operation
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

TERM_SEARCH = expectation(
    "media-library.term-search",
    "q finds a record if each of its words is, in any case, a whole word of name, title, file_name "
    "or description; words are runs of letters and digits, and a q without any finds nothing.",
)
UPLOADED_MEDIA = settled(
    "media-library.uploaded",
    "What the table media holds counts as uploaded; an unknown key answers 404 MEDIA_NOT_FOUND, "
    "one uploaded without a media category 400 INVALID_MEDIA. Adding a key twice answers 400 "
    "INVALID_PARAMETER, also after its deletion, unless it was uploaded again.",
)
VIDEO_FIELDS = settled(
    "media-library.video-fields",
    "Title, description and poster as parameters on an image or GIF are refused. Images lack the "
    "video fields; GIFs have duration and poster, and title and description if their record does.",
)
FIRST_FRAME = public_fact(
    "media-library.first-frame",
    "A video or GIF for which no poster was chosen shows its first frame, under the key 3_ and the "
    "number of its own media_key; that key sent as poster_media_key chooses it again. A chosen "
    "poster must be an image.",
    "section 7, media library",
)
CREATED_AT_UPLOAD = public_fact(
    "media-library.created-at-upload",
    "created_at of a library object is the upload's, updated_at the moment it was added.",
    "section 7, media library",
)
TRANSCODING_STATES = settled(
    "media-library.transcoding",
    "A video's media_status is TRANSCODE_PENDING until its transition of kind media ends in "
    "TRANSCODE_COMPLETED or TRANSCODE_FAILED; by default it ends at once, so that the only "
    "value of the spec's samples is served.",
)
PREROLL_VIDEO_ID = expectation(
    "media-library.preroll-video-id",
    "The PREROLL account media of an AMPLIFY_VIDEO has the media key as its video_id and stays "
    "when the library object is deleted.",
)

KINDS = (
    TransitionKind(
        "media",
        table="media_library",
        field="media_status",
        first=TRANSCODE_PENDING,
        ends=(TRANSCODE_COMPLETED, TRANSCODE_FAILED),
        pace=Pace("immediate"),
    ),
)

CREATIVE_TYPES = (
    "BANNER",
    "BANNER_TABLET",
    "INTERSTITIAL",
    "INTERSTITIAL_LANDSCAPE",
    "INTERSTITIAL_LANDSCAPE_TABLET",
    "INTERSTITIAL_TABLET",
    "MEDIUM_RECTANGLE",
    "PREROLL",
    "VAST_PREROLL",
)


class AccountMediaRecord(Stamped):
    """An asset of an account: an image by address, or a video by id."""

    id = Text(required=True)
    video_id = Text(load_default=None, allow_none=True)
    media_url = Text(load_default=None, allow_none=True)
    creative_type = Choice(CREATIVE_TYPES, required=True)
    _account_id = Text(required=True)


ACCOUNT_MEDIA = Resource(
    name="account_media",
    path="/12/accounts/:account_id/account_media",
    schema=AccountMediaRecord,
    noun="account media",
    spec="Account media",
    missing="ACCOUNT_MEDIA_NOT_FOUND",
)
MEDIA_LIBRARY = Resource(
    name="media_library",
    path="/12/accounts/:account_id/media_library",
    id_parameter="media_key",
    schema=MediaLibraryRecord,
    noun="media library object",
    spec="Media library",
    key="media_key",
    missing="MEDIA_NOT_FOUND",
)


TABLES = (
    Table("account_media", AccountMediaRecord, references=(Reference("_account_id", "accounts"),)),
)


class MediaLibraryUpdate(Schema):
    """Parameters of the update; an empty value unsets a field."""

    description = Text(max_length=200, allow_none=True)
    file_name = Text(max_length=255, allow_none=True)
    name = Text(max_length=100, allow_none=True)
    poster_media_key = MediaKey(allow_none=True)
    title = Text(max_length=70, allow_none=True)


class MediaLibraryAdd(Schema):
    """Parameters of adding media to the library."""

    media_key = MediaKey(required=True)
    description = Text(max_length=200)
    file_name = Text(max_length=255)
    name = Text(max_length=100)
    poster_media_key = MediaKey()
    title = Text(max_length=70)


def create(call: Call, world: World) -> Record:
    """Add uploaded media to the library; an AMPLIFY_VIDEO becomes account media as well."""
    sent = dict(call.params)
    key, account_id = sent.pop("media_key"), call.path_params["account_id"]
    uploaded = _find_uploaded(world, account_id, key)
    poster = _find_poster(call, world, uploaded, sent)
    errors = _check_video_only(call, uploaded, sent)
    if uploaded["media_category"] is None:
        text = f"{key} was uploaded without a media category; upload it again with one"
        errors.append(AdsError("INVALID_MEDIA", text, "media_key"))
    errors += _check_is_image(poster)
    if errors:
        raise AdsFailure(*errors)
    video = is_video(uploaded)
    record = {
        "media_key": key,
        "name": sent.get("name"),
        "file_name": sent.get("file_name"),
        "media_url": uploaded["media_url"],
        "media_category": uploaded["media_category"],
        "media_status": TRANSCODE_PENDING if video else TRANSCODE_COMPLETED,
        "media_type": uploaded["media_type"],
        "posted": False,
        "aspect_ratio": uploaded["aspect_ratio"],
    }
    if video:
        call.assume(TRANSCODING_STATES)
        record |= {"description": sent.get("description"), "title": sent.get("title")}
    if has_duration(uploaded):
        call.assume(FIRST_FRAME)
        record |= {"duration": uploaded["duration"], **build_poster(uploaded, poster)}
    record |= make_timestamps(world) | {
        name: uploaded[name] for name in ("created_at", "_width", "_height")
    }
    record |= {name: uploaded[name] for name in DETAILS if name in uploaded}
    record["_account_id"] = account_id
    world.store.remove("media", key)
    world.store.put("media_library", key, record)
    if video:
        world.transitions.begin("media", key)
        if record["media_category"] == "AMPLIFY_VIDEO":
            call.assume(PREROLL_VIDEO_ID)
            _become_preroll(world, account_id, key)
    return world.store.get("media_library", key) or record


def update(call: Call, world: World) -> Record:
    """Change names, texts or poster of an object of the library."""
    record = settle_transcoding(call, world, MEDIA_LIBRARY.get_by_id(call, world))
    sent = dict(call.params)
    poster = _find_poster(call, world, record, sent)
    errors = [*_check_video_only(call, record, sent), *_check_is_image(poster)]
    if errors:
        raise AdsFailure(*errors)
    if not sent:
        return record
    if "poster_media_key" in sent:
        call.assume(FIRST_FRAME)
        sent |= build_poster(record, poster)
    after = apply_changes(world, record, sent)
    world.store.put("media_library", record["media_key"], after)
    return after


def settle_transcoding(call: Call, world: World, record: Record) -> Record:
    """Return the record after its transcoding ended, if that was due."""
    if record["media_status"] != TRANSCODE_PENDING:
        return record
    call.assume(TRANSCODING_STATES)
    world.transitions.evaluate("media", record["media_key"], poll=True)
    return world.store.get("media_library", record["media_key"]) or record


def find_media(world: World, account_id: str, key: str) -> Record | None:
    """Return media of an account, in its library or only uploaded; `None` if unknown or deleted."""
    found = find_in_library(world, account_id, key)
    if found is None:
        found = world.store.get("media", key)
    if found is None or is_expired(world, found) or explain_unusable(world, found) is not None:
        return None
    return found if is_of_account(world, found, account_id) else None


def find_in_library(world: World, account_id: str, key: str) -> Record | None:
    """Return media in an account's library; `None` if unknown or deleted."""
    found = world.store.get("media_library", key)
    if found is None or found["_account_id"] != account_id or found["deleted"]:
        return None
    return found


def _find_uploaded(world: World, account_id: str, key: str) -> Record:
    """Return the media that was uploaded under a key and is not in the library yet.

    Raises:
        AdsFailure: MEDIA_NOT_FOUND, or INVALID_PARAMETER if it was added before.
    """
    found = world.store.get("media", key)
    if found is not None and is_of_account(world, found, account_id):
        reason = explain_unusable(world, found)
        if reason is not None:
            raise fail("INVALID_MEDIA", f"{key} cannot be used: {reason}", "media_key")
        if not is_expired(world, found):
            return found
    known = world.store.get("media_library", key)
    if known is not None and known["_account_id"] == account_id:
        text = f"{key} was already added to the media library"
        text += ", and deleted; upload it again" if known["deleted"] else "; change it with PUT"
        raise fail(INVALID, text, "media_key")
    raise fail("MEDIA_NOT_FOUND", f"No uploaded media has the key {key!r}", "media_key")


def _find_poster(call: Call, world: World, media: Record, sent: Record) -> Record | None:
    """Return the media that is to be the poster; `None` for the video's own first frame.

    Raises:
        AdsFailure: MEDIA_NOT_FOUND; the account does not have it.
    """
    key = sent.get("poster_media_key")
    if key is None:
        return None
    found = find_media(world, call.path_params["account_id"], key)
    if found is None and key == derive_poster_key(media["media_key"]):
        return None
    if found is None:
        text = f"No media of this account has the key {key!r}"
        raise fail("MEDIA_NOT_FOUND", text, "poster_media_key")
    return found


def _check_is_image(poster: Record | None) -> list[AdsError]:
    if poster is None or poster["media_type"] == "IMAGE":
        return []
    kind, key = poster["media_type"], poster["media_key"]
    text = f"poster_media_key must be an image, {key} is of the type {kind}"
    return [AdsError("INVALID_MEDIA", text, "poster_media_key")]


def _check_video_only(call: Call, media: Record, sent: Record) -> list[AdsError]:
    if is_video(media):
        return []
    call.assume(VIDEO_FIELDS)
    why = f"It applies only to videos, and this one is of the type {media['media_type']}"
    return [
        AdsError.from_fault(name, not_allowed(name, why)) for name in VIDEO_ONLY if name in sent
    ]


def _become_preroll(world: World, account_id: str, key: str) -> None:
    asset = {
        "id": draw_unused_id(world, "account_media", 5),
        "video_id": key,
        "media_url": None,
        "creative_type": "PREROLL",
        **make_timestamps(world),
        "_account_id": account_id,
    }
    world.store.put("account_media", asset["id"], asset)


_SHOWN = (TRANSCODING_STATES, FIRST_FRAME)

PROMOTED_VIDEOS = public_fact(
    "media-library.promoted-videos",
    "The promoted video operations that the spec names are not served, because videos are media of "
    "the library since version 12 and nothing public is left of them.",
    "adjacent operations, section 8.7",
)
_VIDEOS = (
    "Videos of advertisers are in the media library: /12/accounts/:account_id/media_library lists, "
    "adds, changes and deletes them, and a post shows one by its media_keys."
)
_ANY = ("GET", "POST", "PUT", "DELETE")
NOT_SERVED = tuple(
    NotServed(_ANY, f"/12/accounts/:account_id/{name}{rest}", _VIDEOS, PROMOTED_VIDEOS)
    for name in ("videos", "promoted_videos")
    for rest in ("", "/:video_id")
)

OPERATIONS: tuple[Operation, ...] = (
    ACCOUNT_MEDIA.list(
        (
            IdsFilter("account_media_ids"),
            OneOfFilter("creative_types", "creative_type", CREATIVE_TYPES),
        )
    ),
    ACCOUNT_MEDIA.get(),
    ACCOUNT_MEDIA.delete(),
    MEDIA_LIBRARY.list(
        [
            EqualFilter("media_type", "media_type", MEDIA_TYPES),
            WordsFilter(
                "q", ("name", "title", "file_name", "description"), longest=255, rule=TERM_SEARCH
            ),
        ],
        count=20,
        most=50,
        show=settle_transcoding,
        may_assume=(TERM_SEARCH, *_SHOWN),
        summary="List or search the media library",
    ),
    MEDIA_LIBRARY.get(with_deleted=False, show=settle_transcoding, may_assume=_SHOWN),
    ads(
        "media_library.create",
        "POST",
        MEDIA_LIBRARY.path,
        create,
        summary="Add uploaded media to the library",
        spec=MEDIA_LIBRARY.spec,
        returns=One(MediaLibraryRecord),
        params=MediaLibraryAdd,
        assumptions=(UPLOADED_MEDIA, CREATED_AT_UPLOAD),
        may_assume=(VIDEO_FIELDS, PREROLL_VIDEO_ID, *_SHOWN),
        errors=("MEDIA_NOT_FOUND", "INVALID_MEDIA"),
        statuses=(404,),
        example=Example(query={"media_key": "3_1712850617439560002"}),
    ),
    ads(
        "media_library.update",
        "PUT",
        f"{MEDIA_LIBRARY.path}/:media_key",
        update,
        summary="Change names, texts or poster of media in the library",
        spec=MEDIA_LIBRARY.spec,
        returns=One(MediaLibraryRecord),
        params=MediaLibraryUpdate,
        may_assume=(VIDEO_FIELDS, *_SHOWN),
        errors=("MEDIA_NOT_FOUND", "INVALID_MEDIA"),
        statuses=(404,),
    ),
    MEDIA_LIBRARY.delete(),
)
