"""Posts made on behalf of advertisers (document B, "Posting on behalf of an advertiser").

A post object has the shape of the 1.1 interface (public facts, section 7): `id` is a number, times
have the form `Sat Jun 24 05:08:30 +0000 2017`. It is stored in extended form, its author by id.
"""

from __future__ import annotations

from collections.abc import Iterator

from marshmallow import Schema

from mock_platform.core.fields import Choice, Flag, Integer, Json, ListOf, Long, Nested, Text
from mock_platform.records.cards import CARD_URI
from mock_platform.records.media import MediaKey
from mock_platform.records.table import Reference, Table
from mock_platform.records.users import UserObject
from mock_platform.rules.user_objects import POST_TIME, format_post_time, make_user_object
from mock_platform.store.interface import Record
from mock_platform.world.world import World

CONVERSATION_SETTINGS = ("EVERYONE", "FOLLOWING", "MENTIONED_USERS")
VIDEO_CTAS = ("VISIT_SITE", "WATCH_NOW")
MAX_NAME_CHARACTERS = 80
PUBLISHED = "PUBLISHED"


class Scopes(Schema):
    """Whom a post reaches: a promoted-only post is not shown to followers."""

    followers = Flag(required=True)


class _PostFields(Schema):
    """Fields of every form of a post object."""

    id = Long(required=True)
    id_str = Text(required=True)
    name = Text(max_length=MAX_NAME_CHARACTERS, load_default=None, allow_none=True)
    created_at = Text(
        required=True,
        pattern=POST_TIME,
        pattern_text="a time such as Sat Jun 24 05:08:30 +0000 2017",
    )
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


class PostRecord(_PostFields):
    """A post as stored. `_account_id` is the account through which it was made."""

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
    _account_id = Text(required=True)


class CreatedPost(_PostFields):
    """A post as its creation returns it: `text`, or in extended mode `full_text` with its range."""

    text = Text()
    full_text = Text()
    display_text_range = ListOf(Integer())
    user = Nested(UserObject, required=True)


class NamedPost(_PostFields):
    """A post as the update of its name returns it."""

    text = Text(required=True)
    full_text = Text(required=True)
    display_text_range = ListOf(Integer(), required=True)
    user = Nested(UserObject, required=True)
    nullcast = Flag(required=True)
    conversation_settings = Choice(CONVERSATION_SETTINGS, required=True)
    post_type = Choice((PUBLISHED,), required=True)
    post_id = Text(required=True)
    scheduled_at = Text(required=True, allow_none=True)
    scheduled_status = Text(required=True, allow_none=True)


def make_author(world: World, user_id: str, *, trim: bool = False) -> Record:
    """Return a post's author: a user object, or only the id if `trim` or the user is gone."""
    user = None if trim else world.store.get("users", user_id)
    return {"id": int(user_id), "id_str": user_id} if user is None else make_user_object(user)


def _check(record: Record) -> Iterator[tuple[str, str]]:
    for name in ("id_str", "post_id"):
        if record[name] != str(record["id"]):
            yield name, f"{name} must be id as text, {record['id']}"


def _to_stored_form(record: Record) -> Record:
    """Convert a post as served into a record: in extended form, its author by id."""
    own = dict(record)
    author = own.get("user")
    key = author.get("id_str") if isinstance(author, dict) else None
    if isinstance(key, str) and own.setdefault("_user_id", key) == key:
        del own["user"]
    if "text" in own and own.setdefault("full_text", own["text"]) == own["text"]:
        del own["text"]
    if isinstance(own.get("id_str"), str):
        own.setdefault("post_id", own["id_str"])
    return own


POSTS = Table(
    "posts",
    PostRecord,
    key="id_str",
    references=(Reference("_account_id", "accounts"), Reference("_user_id", "users")),
    check=_check,
    created=format_post_time,
    from_public=_to_stored_form,
)
TABLES = (POSTS,)
