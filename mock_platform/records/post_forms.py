"""Reads posts as either interface serves them, and returns them as they are stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mock_platform.rules.user_objects import POST_TIME, parse_post_time
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis

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
_COUNTS = {
    "repost_count": "repost_count",
    "like_count": "favorite_count",
    "reply_count": "_reply_count",
    "quote_count": "_quote_count",
    "bookmark_count": "_bookmark_count",
    "impression_count": "_impression_count",
}
_REFERENCES = {"quoted": "_quoted_post_id", "reposted": "_reposted_post_id"}
_TAGS = {"hashtags": "hashtags", "cashtags": "symbols"}


def to_stored_form(record: Record) -> Record:
    """Return a post as stored; one that is stored already is returned unchanged.

    Keys that neither interface has stay as they are.
    """
    own = dict(record)
    if "author_id" in own:
        own = _read_v2_object(own)
    author = own.get("user")
    key = author.get("id_str") if isinstance(author, dict) else None
    if isinstance(key, str) and own.setdefault("_user_id", key) == key:
        del own["user"]
    if "text" in own and own.setdefault("full_text", own["text"]) == own["text"]:
        del own["text"]
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
    note = own.pop("note_post", None)
    if isinstance(note, Mapping) and isinstance(note.get("text"), str):
        own["full_text"] = note["text"]
        own.pop("text", None)
    _read_references(own)
    counts = own.pop("public_metrics", None)
    if isinstance(counts, Mapping):
        own |= {stored: counts[name] for name, stored in _COUNTS.items() if name in counts}
    if isinstance(own.get("entities"), dict):
        own["entities"] = _read_entities(own["entities"])
    keys = (own.pop("attachments", None) or {}).get("media_keys")
    if keys is not None:
        own["_media_keys"] = keys
    place = own.get("geo")
    if isinstance(place, dict) and "place_id" in place:
        own["geo"] = None
        own["place"] = {"id": place["place_id"]}
    own.pop("edit_controls", None)  # follows from the history and the time
    return own


def _read_references(own: Record) -> None:
    user = own.get("in_reply_to_user_id")
    if isinstance(user, str) and user.isascii() and user.isdigit():
        own |= {"in_reply_to_user_id": int(user), "in_reply_to_user_id_str": user}
    references = own.pop("referenced_posts", None)
    for reference in references if isinstance(references, list) else ():
        kind, target = reference.get("type"), str(reference.get("id"))
        if kind in _REFERENCES:
            own[_REFERENCES[kind]] = target
        elif kind == "replied_to" and target.isascii() and target.isdigit():
            own |= {"in_reply_to_status_id": int(target), "in_reply_to_status_id_str": target}


def _read_entities(entities: dict[str, Any]) -> dict[str, Any]:
    """Return entities in the 1.1 form, with `indices` in place of `start` and `end`."""
    if entities.keys() & {"symbols", "user_mentions"}:
        return entities
    found: dict[str, Any] = {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []}
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
    return {"indices": [entity.get("start", 0), entity.get("end", 0)]}
