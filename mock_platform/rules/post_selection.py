"""Which fields and related objects of posts and users a client asks for.

Several families take these query parameters: posts, users, searches, streams, notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from msgspec import Struct

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault, unlisted
from mock_platform.core.fields import Choice, CommaList, FieldOptions
from mock_platform.core.schema import Schema
from mock_platform.rules.release_history import find_release, is_in_force
from mock_platform.settings import Settings
from mock_platform.world.world import World

SELECTION = public_fact(
    "v2.fields",
    "post.fields, user.fields, media.fields, poll.fields, place.fields and expansions have the "
    "public values. Without them posts have id, text and edit_history_post_ids, users id, name "
    "and username. An expansion also selects the field that it follows. Other values answer "
    "400; so does paid_partnership before 2026-06-03, when no post shows it either.",
    "section 7.2 of the named endpoints, defaults without fields",
)

POST_FIELDS = (
    "article", "attachments", "author_id", "card_uri", "community_id", "context_annotations",
    "conversation_id", "created_at", "display_text_range", "edit_controls",
    "edit_history_post_ids", "entities", "geo", "id", "in_reply_to_user_id", "lang",
    "matched_media_notes", "media_metadata", "non_public_metrics", "note_request_suggestions",
    "note_post", "organic_metrics", "paid_partnership", "possibly_sensitive", "promoted_metrics",
    "public_metrics", "referenced_posts", "reply_settings", "scopes", "source",
    "suggested_source_links", "suggested_source_links_with_counts", "text", "withheld",
)  # fmt: skip
USER_FIELDS = (
    "affiliation", "confirmed_email", "connection_status", "created_at", "description", "entities",
    "id", "is_identity_verified", "location", "most_recent_post_id", "name", "parody",
    "pinned_post_id", "profile_banner_url", "profile_image_url", "protected", "public_metrics",
    "receives_your_dm", "subscription", "subscription_type", "url", "username", "verified",
    "verified_followers_count", "verified_type", "withheld",
)  # fmt: skip
MEDIA_FIELDS = (
    "alt_text", "duration_ms", "height", "media_key", "non_public_metrics", "organic_metrics",
    "preview_image_url", "promoted_metrics", "public_metrics", "type", "url", "variants", "width",
)  # fmt: skip
POLL_FIELDS = ("duration_minutes", "end_datetime", "id", "options", "voting_status")
PLACE_FIELDS = (
    "contained_within", "country", "country_code", "full_name", "geo", "id", "name", "place_type",
)  # fmt: skip
EXPANSIONS = (
    "article.cover_media", "article.media_entities", "attachments.media_keys",
    "attachments.media_source_post", "attachments.poll_ids", "author_id", "edit_history_post_ids",
    "entities.mentions.username", "entities.note.mentions.username", "geo.place_id",
    "in_reply_to_user_id", "referenced_posts.id", "referenced_posts.id.attachments.media_keys",
    "referenced_posts.id.author_id",
)  # fmt: skip
USER_EXPANSIONS = ("affiliation.user_id", "most_recent_post_id", "pinned_post_id")
_FOLLOWED_BY_USERS = {name.partition(".")[0] for name in USER_EXPANSIONS}
_DEFAULTS: Mapping[str, frozenset[str]] = {
    "post": frozenset({"id", "text", "edit_history_post_ids"}),
    "user": frozenset({"id", "name", "username"}),
    "media": frozenset({"media_key", "type"}),
    "poll": frozenset({"id", "options"}),
    "place": frozenset({"id", "full_name"}),
}
_DATED = {"paid_partnership": "paid-partnership"}
"""Fields of posts that the release history dates, each with its row."""
_OLDER = {
    "edit_history_tweet_ids": "edit_history_post_ids",
    "note_tweet": "note_post",
    "referenced_tweets": "referenced_posts",
    "most_recent_tweet_id": "most_recent_post_id",
    "pinned_tweet_id": "pinned_post_id",
    "attachments.media_source_tweet": "attachments.media_source_post",
    "referenced_tweets.id": "referenced_posts.id",
    "referenced_tweets.id.attachments.media_keys": "referenced_posts.id.attachments.media_keys",
    "referenced_tweets.id.author_id": "referenced_posts.id.author_id",
}


class NameOfField(Choice):
    """The name of a field or an expansion; older names are read as those that replaced them."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        return _OLDER.get(text, text)


def make_names_field(values: Sequence[str], **options: Unpack[FieldOptions]) -> CommaList:
    """Return the parameter that lists some of these names."""
    return CommaList(NameOfField(values), **options)


def find_early_fields(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find fields of posts that the release history adds later, which are unknown until then."""
    for parameter, name in (("post_fields", "post.fields"), ("older_post_fields", "tweet.fields")):
        for value in params.get(parameter) or ():
            row = _DATED.get(value)
            if row is None or is_in_force(row, world):
                continue
            known = [one for one in POST_FIELDS if one != value]
            since = f"The release history adds it on {find_release(row).date}"
            hint = f"{since}, after the world's clock; --releases all knows it always"
            fault = unlisted(known, value).naming(name)
            yield name, Fault(fault, hint=hint)


class _CommonFields(Schema):
    """The lists that all selections have."""

    find_faults = staticmethod(find_early_fields)

    post_fields = make_names_field(POST_FIELDS, data_key="post.fields")
    older_post_fields = make_names_field(POST_FIELDS, data_key="tweet.fields")
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")


class PostSelectionQuery(_CommonFields):
    """What a client wants to see of posts, and of what they refer to."""

    media_fields = make_names_field(MEDIA_FIELDS, data_key="media.fields")
    poll_fields = make_names_field(POLL_FIELDS, data_key="poll.fields")
    place_fields = make_names_field(PLACE_FIELDS, data_key="place.fields")
    expansions = make_names_field(EXPANSIONS)


class UserSelectionQuery(_CommonFields):
    """What a client wants to see of users, and of the posts that they refer to."""

    expansions = make_names_field(USER_EXPANSIONS)


class Selection(Struct, frozen=True):
    """The fields to show of each kind of object, and the expansions."""

    post: frozenset[str]
    user: frozenset[str]
    media: frozenset[str]
    poll: frozenset[str]
    place: frozenset[str]
    expansions: frozenset[str]


def read_selection(params: Mapping[str, Any]) -> Selection:
    """Return what the checked parameters of a selection ask for.

    `params` has the names of the schemas above: `post_fields`, `expansions` and so on.
    """
    expansions = frozenset(params.get("expansions") or ())
    posts = [*(params.get("post_fields") or ()), *(params.get("older_post_fields") or ())]
    followed = {name.partition(".")[0] for name in expansions}
    asked = {
        "post": {*posts, *(followed & set(POST_FIELDS))},
        "user": {*(params.get("user_fields") or ()), *(followed & _FOLLOWED_BY_USERS)},
        **{kind: set(params.get(f"{kind}_fields") or ()) for kind in ("media", "poll", "place")},
    }
    found = {kind: default | asked[kind] for kind, default in _DEFAULTS.items()}
    return Selection(**found, expansions=expansions)


EVERYTHING = Selection(
    frozenset(POST_FIELDS),
    frozenset(USER_FIELDS),
    frozenset(MEDIA_FIELDS),
    frozenset(POLL_FIELDS),
    frozenset(PLACE_FIELDS),
    frozenset(EXPANSIONS),
)
"""All fields and all expansions of posts."""
