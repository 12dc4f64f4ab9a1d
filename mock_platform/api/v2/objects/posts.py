"""Posts of both interfaces as they are stored, and the forms in which they are read.

A post is stored in the extended form of the 1.1 interface (public facts, section 7), its author by
id and its time in the form of the other tables. What only the v2 interface knows is in the keys
that begin with an underscore. Both objects are views of the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mock_platform.api.v2.conventions import MediaKey, make_id_field
from mock_platform.api.v2.objects.older_forms import (
    POST_TIME,
    format_post_time,
    make_author,
    make_count,
    order_keys,
    parse_post_time,
    read_counts,
)
from mock_platform.api.v2.objects.post_text import Links, write_post
from mock_platform.api.v2.objects.post_view import CARD_URI, COUNTS, KEPT_AS_RECORDED
from mock_platform.api.v2.objects.users import UserObject
from mock_platform.core.fields import (
    Choice,
    CountryCode,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Long,
    Nested,
    Text,
)
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import AS, RECORDED, Reference, Shown, Table
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.ids import find_moment
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

# Reads posts as either interface serves them, and returns them as they are stored.

_RENAMED = {
    "author_id": "_user_id",
    "conversation_id": "_conversation_id",
    "edit_history_post_ids": "_edit_history",
    "reply_settings": "_reply_settings",
    "paid_partnership": "_paid_partnership",
    "possibly_sensitive": "_possibly_sensitive",
    "community_id": "_community_id",
    "context_annotations": "_context_annotations",
}
"""Keys of the v2 object whose values are stored as they are."""
_ATTACHED = {"media_keys": "_media_keys", "media_source_post_id": "_media_source_post_ids"}
_REFERENCES = {"quoted": "_quoted_post_id", "reposted": "_reposted_post_id"}
_TAGS = {"hashtags": "hashtags", "cashtags": "symbols"}


def to_stored_form(record: Record) -> Record:
    """Return a post as stored; one that is stored already is returned unchanged.

    Keys that neither interface has stay as they are.
    """
    # One function for all forms, because fixtures and recordings mix them: a v2 object, a 1.1
    # object, or the stored form. Each step looks for the key that only one form has, and does
    # nothing without it, so a stored post passes unchanged.
    own = dict(record)
    if "author_id" in own:
        own = _read_v2_object(own)
    author = own.get("user")
    key = author.get("id_str") if isinstance(author, dict) else None
    if isinstance(key, str) and own.setdefault("_user_id", key) == key:
        del own["user"]
    if "text" in own and own.setdefault("full_text", own["text"]) == own["text"]:
        del own["text"]
    if "possibly_sensitive" in own:
        own["_possibly_sensitive"] = own.pop("possibly_sensitive")
    if isinstance(own.get("id_str"), str):
        own.setdefault("post_id", own["id_str"])
    created = own.get("created_at")
    if isinstance(created, str) and re.fullmatch(POST_TIME, created):
        with suppress(ValueError):  # a day that does not exist, which the field refuses
            own["created_at"] = wire_millis(parse_post_time(created))
    return own


def _read_v2_object(post: Record) -> Record:
    """Return a v2 object with the keys of a record; what follows from other keys is left out."""
    own = {_RENAMED.get(name, name): value for name, value in post.items()}
    number = own.get("id")
    if isinstance(number, str) and number.isascii() and number.isdigit():
        own |= {"id": int(number), "id_str": number}
    own.setdefault("nullcast", False)
    own.setdefault("scopes", {"followers": not own["nullcast"]})
    # A long post has its beginning in `text` and the whole in `note_post`; only the whole is kept,
    # since the short form follows from it.
    note = own.get("note_post")
    recorded = own.get(AS) == RECORDED
    if isinstance(note, Mapping) and isinstance(note.get("text"), str):
        own["full_text"] = note["text"]
    if not recorded:  # these follow from the rest, but one that was recorded is shown as it was
        for name in ("note_post", "edit_controls", *(("text",) if "full_text" in own else ())):
            own.pop(name, None)
    _read_references(own)
    own |= read_counts(own, COUNTS, recorded=recorded)
    if isinstance(own.get("entities"), dict):
        own["entities"] = read_entities(own["entities"])
    attached = (own.get("attachments") if recorded else own.pop("attachments", None)) or {}
    for name, stored in _ATTACHED.items():
        if name in attached:
            own[stored] = attached[name]
    geo = own.get("geo")
    if isinstance(geo, dict):
        own["geo"] = None if geo else {}
        own["coordinates"] = geo.get("coordinates")
        if "place_id" in geo:
            own.setdefault("place", {"id": geo["place_id"]})
    withheld = None if recorded else own.pop("withheld", None)
    if isinstance(withheld, dict):
        own["_withheld_in_countries"] = withheld.get("country_codes") or []
    return own


def _read_references(own: Record) -> None:
    user = own.get("in_reply_to_user_id")
    if isinstance(user, str) and user.isascii() and user.isdigit():
        own |= {"in_reply_to_user_id": int(user), "in_reply_to_user_id_str": user}
    references = own.get("referenced_posts")
    if own.get(AS) != RECORDED:  # of a recorded post their order is kept
        own.pop("referenced_posts", None)
    for reference in references if isinstance(references, list) else ():
        kind, target = reference.get("type"), str(reference.get("id"))
        if kind in _REFERENCES:
            own[_REFERENCES[kind]] = target
        elif kind == "replied_to" and target.isascii() and target.isdigit():
            own |= {"in_reply_to_status_id": int(target), "in_reply_to_status_id_str": target}


def read_entities(entities: dict[str, Any]) -> dict[str, Any]:
    """Return entities in the 1.1 form, with `indices` in place of `start` and `end`."""
    if entities.keys() & {"symbols", "user_mentions"}:
        return entities
    found: dict[str, Any] = {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []}
    if entities.get("annotations"):
        found["annotations"] = entities["annotations"]
    for name, stored in _TAGS.items():
        found[stored] = [
            {"text": one.get("tag"), **_read_place(one)} for one in entities.get(name) or ()
        ]
    for one in entities.get("mentions") or ():
        user = str(one.get("id") or "")
        known = {"id": int(user), "id_str": user} if user.isdigit() else {}
        found["user_mentions"].append(
            {"screen_name": one.get("username"), **known, **_read_place(one)}
        )
    for one in entities.get("urls") or ():
        kept = {name: value for name, value in one.items() if name not in {"start", "end"}}
        found["urls"].append({**kept, **_read_place(one)})
    return found


def _read_place(entity: Mapping[str, Any]) -> dict[str, Any]:
    return {"indices": entity.get("indices") or [entity.get("start", 0), entity.get("end", 0)]}


CONVERSATION_SETTINGS = ("EVERYONE", "FOLLOWING", "MENTIONED_USERS")
REPLY_SETTINGS = ("everyone", "following", "mentionedUsers", "subscribers", "verified")
VIDEO_CTAS = ("VISIT_SITE", "WATCH_NOW")
MAX_NAME_CHARACTERS = 80
DRAFT, PUBLISHED, SCHEDULED = POST_TYPES = ("DRAFT", "PUBLISHED", "SCHEDULED")


class Scopes(Schema):
    """Whom a post reaches: a promoted-only post is not shown to followers."""

    followers = Flag(required=True)


class PollOption(Schema):
    """One answer of a poll, and how many users chose it."""

    position = Integer(low=1, high=4, required=True)
    label = Text(min_length=1, max_length=25, required=True)
    votes = Integer(low=0, load_default=0)


class Poll(Schema):
    """The poll of a post; it ends `duration_minutes` after the post was made."""

    id = make_id_field(required=True)
    options = ListOf(Nested(PollOption), least=2, most=4, required=True)
    duration_minutes = Integer(low=5, high=10080, required=True)


class _PostFields(Schema):
    """Fields of every form of a post object."""

    id = Long(required=True)
    id_str = Text(required=True)
    name = Text(max_length=MAX_NAME_CHARACTERS, load_default=None, allow_none=True)
    truncated = Flag(load_default=False)
    entities = Json(load_default=dict)
    extended_entities = Json()
    source = Text(load_default="")
    in_reply_to_status_id = Long(load_default=None, allow_none=True)
    in_reply_to_status_id_str = Text(load_default=None, allow_none=True)
    in_reply_to_user_id = Long(load_default=None, allow_none=True)
    in_reply_to_user_id_str = Text(load_default=None, allow_none=True)
    in_reply_to_screen_name = Text(load_default=None, allow_none=True)
    geo = Json(load_default=None, allow_none=True)
    coordinates = Json(load_default=None, allow_none=True)
    place = Json(load_default=None, allow_none=True)
    contributors = ListOf(Long(), load_default=None, allow_none=True)
    repost_count = Integer(low=0, load_default=0)
    favorite_count = Integer(low=0, load_default=0)
    favorited = Flag(load_default=False)
    reposted = Flag(load_default=False)
    lang = Text(load_default="en")
    scopes = Nested(Scopes, load_default=lambda: {"followers": False})
    card_uri = Text(pattern=CARD_URI, pattern_text="card://<card_id>")


class PostNotice(Schema):
    """What a notice below a post says, and who has put it there (`application`)."""

    event_type = Text(required=True, min_length=1)
    application = Text(required=True, min_length=1)
    details = Text()
    label_title = Text()
    extended_details_url = Text()


class PostRecord(_PostFields):
    """A post as stored. `_account_id` is the advertising account through which it was made."""

    created_at = Instant(millis=True, required=True)
    full_text = Text(required=True)
    display_text_range = ListOf(Integer(low=0), least=2, most=2)
    nullcast = Flag(load_default=True)
    conversation_settings = Choice(CONVERSATION_SETTINGS, load_default="EVERYONE")
    post_type = Choice((PUBLISHED,), load_default=PUBLISHED)
    post_id = Text(required=True)
    scheduled_at = Text(load_default=None, allow_none=True)
    scheduled_status = Text(load_default=None, allow_none=True)
    _user_id = Text(required=True)
    _media_keys = ListOf(MediaKey(), load_default=list)
    _media_source_post_ids = ListOf(Text(), load_default=list)
    """The posts that showed its media first."""
    _account_id = Text(load_default=None, allow_none=True)
    _conversation_id = Text(load_default=None, allow_none=True)
    """The id of the first post of the conversation; null if that is the post itself."""
    _edit_history = ListOf(Text(), most=6, load_default=list)
    """The ids of all versions, oldest first, in each version; empty if there is only one."""
    _quoted_post_id = Text(load_default=None, allow_none=True)
    _reposted_post_id = Text(load_default=None, allow_none=True)
    _reposted_at = Instant(millis=True, load_default=None, allow_none=True)
    """When another user reposted it last; null if nobody did."""
    _hidden = Flag(load_default=False)
    """Whether the author of the conversation has hidden this reply."""
    _reply_settings = Choice(REPLY_SETTINGS)
    _reply_count = make_count()
    _quote_count = make_count()
    _bookmark_count = make_count()
    _impression_count = make_count()
    _poll = Nested(Poll, load_default=None, allow_none=True)
    _community_id = Text(load_default=None, allow_none=True)
    _share_with_followers = Flag(load_default=False)
    _paid_partnership = Flag(load_default=False)
    _made_with_ai = Flag(load_default=False)
    _for_super_followers_only = Flag(load_default=False)
    _possibly_sensitive = Flag(load_default=False)
    _context_annotations = ListOf(Json(), load_default=list)
    _tagged_user_ids = ListOf(Text(), load_default=list)
    _media_details = Json(load_default=None, allow_none=True)
    _excluded_reply_user_ids = ListOf(Text(), load_default=list)
    _direct_message_deep_link = Text(load_default=None, allow_none=True)
    _article_id = Text(load_default=None, allow_none=True)
    _withheld_in_countries = ListOf(CountryCode(), load_default=list)
    _dropped = Flag(load_default=False)
    """Whether it was taken out of sight, by no wish of its author."""
    _notice = Nested(PostNotice, load_default=None, allow_none=True)
    _made_unviewable_by = Text(load_default=None, allow_none=True)


class _Shown(_PostFields):
    created_at = Text(
        required=True,
        pattern=POST_TIME,
        pattern_text="a time such as Sat Jun 24 05:08:30 +0000 2017",
    )


class CreatedPost(_Shown):
    """A post as its creation returns it: `text`, or in extended mode `full_text` with its range."""

    text = Text()
    full_text = Text()
    display_text_range = ListOf(Integer())
    user = Nested(UserObject, required=True)


class _ExtendedPost(_Shown):
    full_text = Text(required=True)
    display_text_range = ListOf(Integer(), required=True)
    user = Nested(UserObject, required=True)
    nullcast = Flag(required=True)
    conversation_settings = Choice(CONVERSATION_SETTINGS, required=True)
    post_id = Text(required=True)
    scheduled_at = Text(required=True, allow_none=True)
    scheduled_status = Text(required=True, allow_none=True)


class NamedPost(_ExtendedPost):
    """A post as the update of its name returns it."""

    text = Text(required=True)
    post_type = Choice((PUBLISHED,), required=True)


class ListedPost(_ExtendedPost):
    """A post, a draft or a scheduled post as the list of an account's posts returns it."""

    post_type = Choice(POST_TYPES, required=True)


_KEYS = tuple(PostRecord().fields)
_FREE = ("entities", "extended_entities", "geo", "coordinates", "place")
"""Keys whose values have no declared form."""


def make_post_object(
    world: World, post: Record, *, trim: bool = False, links: Links | None = None
) -> Record:
    """Return a stored post in the extended form of the 1.1 interface, with its author."""
    written = remove_internal_keys(write_post(world, post, links, whole=True))
    shown = {name: written.pop(name) for name in _KEYS if name in written} | written
    shown |= {name: order_keys(shown[name]) for name in _FREE if shown.get(name)}
    shown["created_at"] = format_post_time(parse_instant(post["created_at"]))
    if not shown.get("in_reply_to_screen_name") and shown.get("in_reply_to_user_id_str"):
        # Records of v2 have the id alone, and may be loaded before the user.
        user = world.store.get("users", shown["in_reply_to_user_id_str"])
        shown["in_reply_to_screen_name"] = None if user is None else user["screen_name"]
    return shown | {"user": make_author(world, post["_user_id"], trim=trim)}


def _complete(record: Record) -> Record:
    """Fill in what follows from the text."""
    return {"display_text_range": [0, len(record["full_text"])]} | record


def _check(record: Record) -> Iterator[tuple[str, str]]:
    for name in ("id_str", "post_id"):
        if record[name] != str(record["id"]):
            yield name, f"{name} must be id as text, {record['id']}"
    if record["_edit_history"] and record["id_str"] not in record["_edit_history"]:
        yield "_edit_history", f"_edit_history must contain the post's own id, {record['id_str']}"


def _draw_post(draft: Draft) -> Record:
    number = draft.record.get("id_str") or draft.id(dated=True)
    return {
        "id": int(number) if number.isdecimal() else number,
        "id_str": number,
        "post_id": number,
        "full_text": draft.sentence(),
        "nullcast": False,
        "scopes": {"followers": True},
    }


_UNKNOWN_AUTHOR = "1"


def _complete_shown(post: Record) -> Record:
    """Return a post of a recorded answer with its author and time; its id has the time in it."""
    moment = wire_millis(find_moment(post["id"]).replace(microsecond=0))
    return {"author_id": _UNKNOWN_AUTHOR, "created_at": moment, **post}


POSTS = Table(
    "posts",
    PostRecord,
    key="id_str",
    references=(
        Reference("_account_id", "accounts"),
        Reference("_user_id", "users", count="statuses_count"),
    ),
    complete=_complete,
    check=_check,
    draw=_draw_post,
    from_public=to_stored_form,
    shown=Shown(
        ("text",), "post.fields", known_by="text", kept=KEPT_AS_RECORDED, complete=_complete_shown
    ),
)
TABLES = (POSTS,)
