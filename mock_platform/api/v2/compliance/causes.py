"""What changes of posts, users and likes mean to those who keep copies of them.

Every way to change a record leads here: operations, `POST /_mock/events`, the control plane. The
store calls `_add_events` at the end of each transaction, before it is written, so an event is in
the commit of its cause or nowhere, and none is made when a world is reset or comes back from an
archive. The events are what the streams send and what jobs read; their table is the sandbox's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.streams.open_streams import COMPLIANCE_EVENTS
from mock_platform.core.assumptions import expectation
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Change, Order, Record
from mock_platform.world.world import World

COMPLIANCE_CAUSES = expectation(
    "compliance.causes",
    "Each deleted version of a post and each repost that goes with it is a delete; likes that end "
    "with their post are in its delete alone. Posts of protected users count as others do. Fields "
    "of the records (PATCH /_mock/state/posts and users) make the rest: protected, _suspended, "
    "_deactivated, withheld_in_countries, _geo_scrubbed_up_to and the profile of users; "
    "_withheld_in_countries, _dropped, _notice and _made_unviewable_by of posts.",
)
PROFILE = {
    "name": "name",
    "screen_name": "username",
    "description": "description",
    "location": "location",
    "url": "url",
    "profile_image_url_https": "profile_image_url",
    "profile_banner_url": "profile_banner_url",
}
"""The stored fields of a profile, with the names that `profile_field` has for them."""
_STATES = (
    ("protected", "user_protect", "user_unprotect"),
    ("_suspended", "user_suspend", "user_unsuspend"),
    ("_deactivated", "user_delete", "user_undelete"),
)
_USER_STATES = (
    *(name for name, *_ in _STATES),
    *("withheld_in_countries", "_geo_scrubbed_up_to", *PROFILE),
)
_POST_STATES = ("_withheld_in_countries", "_dropped", "_notice", "_made_unviewable_by")
_LATEST = Order("created_at", descending=True)


class ComplianceEvent(Struct, frozen=True):
    """A line for a stream: its kind, its content, and the record that changed."""

    stream: str
    subject_id: str
    kind: str
    content: Mapping[str, Any]


def record_changes(world: World) -> None:
    """Add an event for each change of a world that the streams have a line for."""
    world.store.consequences.append((_FINDERS, partial(_add_events, world)))


def find_latest(world: World, subject_id: str, kind: str) -> Record | None:
    """Return the latest event of a kind about a post or a user, or `None`."""
    match = {"subject_id": subject_id, "event_type": kind}
    return world.store.first(COMPLIANCE_EVENTS, match, order=_LATEST)


def _add_events(world: World, changes: Sequence[Change]) -> None:
    found = [(change, _FINDERS[change.table]) for change in changes if change.table in _FINDERS]
    now = wire_millis(world.clock.now())
    gone = {change.key for change in changes if change.table == "posts" and change.after is None}
    for change, find_events in found:
        for event in find_events(change, gone):
            if event.kind == "scrub_geo":
                _scrub(world, event)
            _add(world, event, now, (change.before or {}).get("created_at"))


def _add(world: World, event: ComplianceEvent, now: str, since: str | None) -> None:
    # Nothing removes events, so their number about a record makes a key that is free. Drawing an id
    # instead would change the ids of everything that is made after a deletion.
    number = world.store.count(COMPLIANCE_EVENTS, {"subject_id": event.subject_id})
    key = f"{event.stream}-{event.subject_id}-{number}"
    record = {
        "id": key,
        "event_type": event.kind,
        "stream": event.stream,
        "subject_id": event.subject_id,
        "content": {**event.content, "event_at": now},
        "created_at": now,
        "since": None if since is None else wire_millis(parse_instant(since)),
    }
    world.store.put(COMPLIANCE_EVENTS, key, record)


def _find_post_events(change: Change, _gone: set[str]) -> Iterator[ComplianceEvent]:
    before, after = change.before, change.after
    post = after or before or {}
    make = partial(ComplianceEvent, "posts", post["id_str"])
    subject = {"post": {"id": post["id_str"], "author_id": post["_user_id"]}}
    quoted = post.get("_quoted_post_id")
    whole = subject | ({"quote_post_id": quoted} if quoted else {})
    if after is None:
        yield make("delete", content=whole)
    elif before is None:
        versions = after.get("_edit_history") or []
        if len(versions) > 1 and versions[-1] == after["id_str"]:
            ids = {"initial_post_id": versions[0], "edit_post_ids": list(versions)}
            yield make("post_edit", content={"post": {"id": after["id_str"]}, **ids})
    else:
        changed = _find_changed(before, after, _POST_STATES)
        if codes := changed.get("_withheld_in_countries"):
            yield make("withheld", content=whole | {"withheld_in_countries": codes})
        if "_dropped" in changed:
            yield make("drop" if changed["_dropped"] else "undrop", content=whole)
        label = partial(ComplianceEvent, "label", post["id_str"])
        if notice := changed.get("_notice"):
            yield label("public_post_notice", content=subject | notice)
        if application := changed.get("_made_unviewable_by"):
            content = subject | {"application": application}
            yield label("public_post_unviewable", content=content)


def _find_user_events(change: Change, _gone: set[str]) -> Iterator[ComplianceEvent]:
    before, after = change.before, change.after
    make = partial(ComplianceEvent, "users", change.key)
    user = {"user": {"id": change.key}}
    if before is None:
        return
    if after is None:
        if not before.get("_deactivated"):
            yield make("user_delete", content=user)
        return
    changed = _find_changed(before, after, _USER_STATES)
    for name, begun, ended in _STATES:
        if name in changed:
            yield make(begun if changed[name] else ended, content=user)
    if codes := changed.get("withheld_in_countries"):
        yield make("user_withheld", content=user | {"withheld_in_countries": codes})
    if last := changed.get("_geo_scrubbed_up_to"):
        yield make("scrub_geo", content=user | {"up_to_post_id": last})
    for name, shown in PROFILE.items():
        if name in changed:
            value = {"profile_field": shown, "new_value": changed[name] or ""}
            yield make("user_profile_modification", content=user | value)


def _find_like_events(change: Change, gone: set[str]) -> Iterator[ComplianceEvent]:
    like = change.before
    if like is not None and change.after is None and like["post_id"] not in gone:
        content = {"favorite": {"id": like["post_id"], "user_id": like["user_id"]}}
        yield ComplianceEvent("likes", change.key, "delete", content)


def _find_changed(before: Record, after: Record, names: Iterable[str]) -> Record:
    """Return the new values of fields that changed; nothing and an empty value are the same."""
    # Only of the fields that have events: nearly every write changes a count of a user or a post.
    return {
        name: new
        for name in names
        if (new := after.get(name)) != (old := before.get(name)) and (new or old)
    }


def _scrub(world: World, event: ComplianceEvent) -> None:
    """Remove the places of a user's posts, up to the one that is named."""
    last = int(event.content["up_to_post_id"])
    for entry in world.store.page("posts", {"_user_id": event.subject_id}):
        if entry.record["id"] <= last and any(entry.record.get(name) for name in _PLACES):
            world.store.put("posts", entry.key, entry.record | dict.fromkeys(_PLACES))


_PLACES = ("geo", "coordinates", "place")
_FINDERS: Mapping[str, Callable[[Change, set[str]], Iterator[ComplianceEvent]]] = {
    "posts": _find_post_events,
    "users": _find_user_events,
    "likes": _find_like_events,
}
