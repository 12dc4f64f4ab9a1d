"""The objects that answers under `/2` show: the keys of each, and what is below them.

A client asks for these keys by name in `post.fields` and its kin. The description has a type for
each.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from marshmallow import EXCLUDE
from marshmallow.fields import Field
from msgspec import Struct

from mock_platform.core.fields import (
    Anything,
    Choice,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Nested,
    Number,
    Text,
)
from mock_platform.core.schema import Schema

_FIELDS: Mapping[type, type[Field[Any]]] = {
    str: Text,
    int: Integer,
    float: Number,
    bool: Flag,
    datetime: Instant,
    dict: Json,
    object: Anything,
}


class ObjectType(Struct, frozen=True, dict=True):
    """One kind of object. Its schema is made when something is described by it, not before.

    The value of a key is a type; a tuple of texts, one of which it is; a list with the type of its
    items; a dict with the keys of the object there; or another `ObjectType`.

    Example:
        >>> shop = ObjectType("Shop", {"id": str, "open": {"days": [str]}}, always=("id",))
        >>> shop.one().schema.fields["open"].schema
        <ShopOpen(many=False)>
        >>> shop.schema.__name__, shop.schema().fields["id"].required
        ('Shop', True)
    """

    name: str
    keys: Mapping[str, Any]
    always: tuple[str, ...] = ()
    """The keys that each of these objects has, whatever a client asks for."""
    beside: Mapping[str, Any] = {}
    """Keys that no client asks for by name."""

    @cached_property
    def schema(self) -> type[Schema]:
        """The schema of these objects; other keys may be beside these."""
        fields = {
            key: _make_field(self.name + key.title().replace("_", ""), value, key in self.always)
            for key, value in {**self.keys, **self.beside}.items()
        }
        more: dict[str, Any] = {"Meta": _Open}
        return type(self.name, (Schema,), fields | more)

    def one(self, **options: Any) -> Nested:
        """Return the field of such an object."""
        return Nested(lambda: self.schema, **options)

    def several(self, **options: Any) -> ListOf:
        """Return the field of an array of such objects."""
        return ListOf(self.one(), **options)


class _Open:
    unknown = EXCLUDE


def _make_field(name: str, kind: Any, required: bool) -> Field[Any]:  # noqa: FBT001 - one of a pair
    if isinstance(kind, list):
        return ListOf(_make_field(name, kind[0], False), required=required)  # noqa: FBT003
    if isinstance(kind, tuple):
        return Choice(kind, required=required)
    if isinstance(kind, ObjectType):
        return kind.one(required=required)
    if isinstance(kind, dict):
        return ObjectType(name, kind).one(required=required)
    return _FIELDS[kind](required=required)


_SPAN = {"start": int, "end": int}
_TAG = {**_SPAN, "tag": str}
_LINK = {
    **_SPAN,
    "url": str,
    "expanded_url": str,
    "display_url": str,
    "title": str,
    "description": str,
    "unwound_url": str,
    "status": int,
    "media_key": str,
    "images": [{"url": str, "width": int, "height": int}],
}
LINK = ObjectType("UrlEntity", _LINK)
ENTITIES = ObjectType(
    "FullTextEntities",
    {
        "annotations": [{**_SPAN, "normalized_text": str, "probability": float, "type": str}],
        "cashtags": [ObjectType("CashtagEntity", _TAG)],
        "hashtags": [ObjectType("HashtagEntity", _TAG)],
        "mentions": [ObjectType("MentionEntity", {**_SPAN, "username": str, "id": str})],
        "urls": [LINK],
    },
)
_CONTEXT = ObjectType("ContextOfPost", {"id": str, "name": str, "description": str})
_COUNTS = dict.fromkeys(("impression_count", "like_count", "reply_count", "repost_count"), int)
_CLICKS = {"url_link_clicks": int, "user_profile_clicks": int}
_PLAYBACKS = {f"playback_{share}_count": int for share in (0, 25, 50, 75, 100)}

POST_OBJECT = ObjectType(
    "Post",
    {
        "article": dict,
        "article_title": object,
        "attachments": {"media_keys": [str], "media_source_post_id": [str], "poll_ids": [str]},
        "author_id": str,
        "card_uri": str,
        "community_id": str,
        "context_annotations": [{"domain": _CONTEXT, "entity": _CONTEXT}],
        "conversation_id": str,
        "created_at": datetime,
        "display_text_range": [int],
        "edit_controls": {
            "edits_remaining": int,
            "is_edit_eligible": bool,
            "editable_until": datetime,
        },
        "edit_history_post_ids": [str],
        "entities": ENTITIES,
        "geo": {"place_id": str, "coordinates": {"type": str, "coordinates": [float]}},
        "id": str,
        "in_reply_to_user_id": str,
        "lang": str,
        "matched_media_notes": [{"match_status": str, "note_id": str}],
        "media_metadata": [{"media_key": str, "title": str, "description": str, "alt_text": str}],
        "non_public_metrics": {"impression_count": int, "engagements": int, **_CLICKS},
        "note_request_suggestions": [{"source_link": str, "suggestion": str, "suggestion_id": str}],
        "note_post": {"text": str, "entities": ENTITIES},
        "organic_metrics": {**_COUNTS, **_CLICKS},
        "paid_partnership": bool,
        "possibly_sensitive": bool,
        "promoted_metrics": {**_COUNTS, **_CLICKS},
        "public_metrics": {**_COUNTS, "quote_count": int, "bookmark_count": int},
        "referenced_posts": [{"type": ("reposted", "quoted", "replied_to"), "id": str}],
        "reply_settings": str,
        "scopes": {"followers": bool},
        "source": str,
        "suggested_source_links": [LINK],
        "suggested_source_links_with_counts": [{"count": int, "url": LINK}],
        "text": str,
        "withheld": {"copyright": bool, "country_codes": [str], "scope": ("post", "user")},
    },
    always=("id", "text"),
    beside={"username": str},
)
USER_OBJECT = ObjectType(
    "User",
    {
        "affiliation": {"badge_url": str, "description": str, "url": str, "user_id": [str]},
        "confirmed_email": str,
        "connection_status": [str],
        "created_at": datetime,
        "description": str,
        "entities": {"url": {"urls": [LINK]}, "description": ENTITIES},
        "id": str,
        "is_identity_verified": bool,
        "location": str,
        "most_recent_post_id": str,
        "name": str,
        "parody": bool,
        "pinned_post_id": str,
        "profile_banner_url": str,
        "profile_image_url": str,
        "protected": bool,
        "public_metrics": {
            "followers_count": int,
            "following_count": int,
            "post_count": int,
            "listed_count": int,
            "like_count": int,
            "media_count": int,
        },
        "receives_your_dm": bool,
        "subscribes_to_you": bool,
        "subscription": {"subscribes_to_you": bool},
        "subscription_type": ("Basic", "Premium", "PremiumPlus", "None"),
        "url": str,
        "username": str,
        "verified": bool,
        "verified_followers_count": int,
        "verified_type": ("blue", "government", "business", "none"),
        "withheld": {"country_codes": [str], "scope": ("user",)},
    },
    always=("id", "name", "username"),
)
MEDIA_OBJECT = ObjectType(
    "Media",
    {
        "alt_text": str,
        "duration_ms": int,
        "height": int,
        "media_key": str,
        "non_public_metrics": _PLAYBACKS,
        "organic_metrics": {**_PLAYBACKS, "view_count": int},
        "preview_image_url": str,
        "promoted_metrics": {**_PLAYBACKS, "view_count": int},
        "public_metrics": {"view_count": int},
        "type": str,
        "url": str,
        "variants": [{"bit_rate": int, "content_type": str, "url": str}],
        "width": int,
    },
    always=("media_key", "type"),
)
POLL_OBJECT = ObjectType(
    "Poll",
    {
        "duration_minutes": int,
        "end_datetime": datetime,
        "id": str,
        "options": [{"position": int, "label": str, "votes": int}],
        "voting_status": ("open", "closed"),
    },
    always=("id", "options"),
)
PLACE_OBJECT = ObjectType(
    "Place",
    {
        "contained_within": [str],
        "country": str,
        "country_code": str,
        "full_name": str,
        "geo": {
            "type": str,
            "bbox": [float],
            "geometry": {"type": str, "coordinates": [float]},
            "properties": dict,
        },
        "id": str,
        "name": str,
        "place_type": str,
    },
    always=("id", "full_name"),
)
TOPIC_OBJECT = ObjectType("Topic", {"description": str, "id": str, "name": str}, ("id", "name"))
SPACE_OBJECT = ObjectType(
    "Space",
    {
        "created_at": datetime,
        "creator_id": str,
        "ended_at": datetime,
        "host_ids": [str],
        "id": str,
        "invited_user_ids": [str],
        "is_ticketed": bool,
        "lang": str,
        "participant_count": int,
        "scheduled_start": datetime,
        "speaker_ids": [str],
        "started_at": datetime,
        "state": ("live", "scheduled", "ended"),
        "subscriber_count": int,
        "title": str,
        "topic_ids": [str],
        "updated_at": datetime,
    },
    always=("id", "state"),
    beside={"topics": [TOPIC_OBJECT]},
)
LIST_OBJECT = ObjectType(
    "List",
    {
        "created_at": datetime,
        "description": str,
        "follower_count": int,
        "id": str,
        "member_count": int,
        "name": str,
        "owner_id": str,
        "private": bool,
    },
    always=("id", "name"),
)
DM_EVENT_OBJECT = ObjectType(
    "DmEvent",
    {
        "attachments": {"card_ids": [str], "media_keys": [str]},
        "created_at": datetime,
        "dm_conversation_id": str,
        "entities": ENTITIES,
        "event_type": str,
        "id": str,
        "participant_ids": [str],
        "referenced_posts": [{"id": str}],
        "sender_id": str,
        "text": str,
    },
    always=("id", "event_type"),
)
INCLUDES = ObjectType(
    "Includes",
    {
        "media": [MEDIA_OBJECT],
        "places": [PLACE_OBJECT],
        "polls": [POLL_OBJECT],
        "posts": [POST_OBJECT],
        "topics": [TOPIC_OBJECT],
        "users": [USER_OBJECT],
    },
)
PARTIAL_ERROR = ObjectType(
    "PartialError",
    {
        "title": str,
        "type": str,
        "detail": str,
        "value": str,
        "parameter": str,
        "resource_id": str,
        "resource_type": str,
        "section": str,
        "field": str,
    },
    always=("title", "type"),
)
"""What an answer says of an object that it could not show."""
