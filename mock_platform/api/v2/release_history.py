"""Document A's release history as data, and the names of event types that follow from it.

Each date is compared with a world's clock, or the date as of which it answers, so that a test can
run before or after a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.errors import did_you_mean
from mock_platform.core.operation import Dated
from mock_platform.world.world import World

PUBLIC_NAMES = public_fact(
    "events.names-beyond-spec",
    "Event types that the spec does not list, such as like.create and oauth.revoke, are taken as "
    "the public documentation names them; the spec's name wins where both have one.",
    "section 6, event names beyond the spec",
)
NAMES_EFFECTIVE = settled(
    "events.names-effective",
    "A row of the release history without a time of day takes effect at 00:00 UTC of its date. "
    "Dotted names hold from 2026-03-18; those whose row is older and prints no other name hold "
    "from that row on. Former names stay usable, with a warning, from then on.",
    "A, Events; Versioning",
)

_ALWAYS = datetime.min.replace(tzinfo=UTC)


class Release(Struct, frozen=True):
    """One row of the table: when it was announced, and when it takes effect."""

    id: str
    date: str
    change: str
    effective: datetime

    def get_announcement(self) -> datetime:
        """Return the beginning of the day on which it was announced."""
        return datetime.fromisoformat(f"{self.date}T00:00:00+00:00")

    def make_change(self, rule: str, place: str = "", old: str = "", new: str = "") -> Dated:
        """Return what it changes of an operation, by a rule for the comparison of contracts."""
        return Dated(self.effective, rule, place, old, new)

    def is_in_force(self, moment: datetime) -> bool:
        """Return whether the change has taken effect at a moment."""
        return moment >= self.effective


def _make_release(id_: str, date: str, change: str, effective: str | None = None) -> Release:
    return Release(id_, date, change, datetime.fromisoformat(effective or f"{date}T00:00:00+00:00"))


RELEASES = (
    _make_release("articles", "2026-06-11", "Article draft and publish endpoints added"),
    _make_release(
        "post-events",
        "2026-06-04",
        "post.create and post.delete events added to the Activity interface",
    ),
    _make_release(
        "paid-partnership",
        "2026-06-03",
        "paid_partnership boolean added to posts: settable on create, readable through the post "
        "fields parameter",
    ),
    _make_release(
        "search-index",
        "2026-05-04",
        "Search endpoints (recent and all search, recent and all counts) moved to a new index; "
        "operators min_likes:, min_replies:, min_reposts: added; reposts no longer returned by "
        "keyword search",
    ),
    _make_release(
        "replay-path-retired",
        "2026-03-20",
        "Deprecation announced of POST "
        "/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all, effective 2026-03-25 "
        "12:00 ET; replaced by POST /2/webhooks/replay",
        "2026-03-25T16:00:00+00:00",  # Eastern Time is four hours behind UTC on that day
    ),
    _make_release(
        "event-names",
        "2026-03-18",
        "Direction filter added to Activity subscriptions; event type naming moved to "
        "dot-separated lowercase",
    ),
    _make_release(
        "direct-message-events",
        "2026-03-11",
        "Legacy direct-message events added to the Activity interface",
    ),
    _make_release(
        "programmatic-replies",
        "2026-02-23",
        "Programmatic replies through post creation allowed only when the original author summoned "
        "the replier (mention or quote); self-serve tiers only",
    ),
    _make_release("space-events", "2026-01-28", "spaces.start and spaces.end events"),
    _make_release(
        "account-activity-oauth2", "2026-01-15", "OAuth 2.0 support in Account Activity v2"
    ),
    _make_release("news", "2025-11-19", "News endpoints: GET /2/news/search and GET /2/news/{id}"),
    _make_release(
        "post-editing",
        "2025-10-03",
        "Post editing via edit_options containing previous_post_id",
    ),
    _make_release(
        "connections",
        "2025-09-19",
        "Connections endpoints: GET /2/connections, DELETE /2/connections/all, DELETE "
        "/2/connections/{endpoint_id}, DELETE /2/connections",
    ),
    _make_release("evaluate-note", "2025-09-17", "POST /2/evaluate_note added"),
    _make_release(
        "filtered-stream-webhooks",
        "2025-09-09",
        "Filtered stream webhooks, rules via /2/posts/search/stream/rules",
    ),
    _make_release(
        "share-with-followers",
        "2025-07-28",
        "share_with_followers boolean on post creation, used with community_id",
    ),
    _make_release(
        "community-notes",
        "2025-07-08",
        "Community notes endpoints: GET /2/notes/search/posts_eligible_for_notes, GET "
        "/2/notes/search/notes_written, POST /2/notes",
    ),
    _make_release(
        "account-activity", "2025-05-20", "Account Activity v2 webhook endpoints launched"
    ),
    _make_release("affiliation-array", "2025-02-18", "affiliation.user_id returns an array"),
)
"""The release history, newest first."""

_BY_ID = {release.id: release for release in RELEASES}


def find_release(id_: str) -> Release:
    """Return the row with this id.

    Raises:
        KeyError: No row has this id.
    """
    return _BY_ID[id_]


def is_in_force(row: str, world: World) -> bool:
    """Return whether a row of the release history has taken effect in a world."""
    return world.has_all_releases or find_release(row).is_in_force(world.contract_now())


class EventName(Struct, frozen=True):
    """A name of an event type, and the moment from which it is valid."""

    name: str
    meaning: str
    since: datetime
    deprecated_since: datetime | None = None
    successor: str | None = None
    documented: bool = True
    """Whether document A lists it; the others are public facts."""

    def is_deprecated(self, moment: datetime) -> bool:
        """Return whether a newer name has replaced this one at that moment."""
        return self.deprecated_since is not None and moment >= self.deprecated_since


_DOTTED = find_release("event-names").effective
_POSTS = find_release("post-events").effective
_SPACES = find_release("space-events").effective
_MESSAGES = find_release("direct-message-events").effective


def _make_public_name(name: str, meaning: str) -> EventName:
    return EventName(name, meaning, _DOTTED, documented=False)


def _make_former_name(name: str, successor: str) -> EventName:
    meaning = f"former name of {successor}"
    return EventName(name, meaning, _ALWAYS, _DOTTED, successor)


DIRECTED_SINCE = _DOTTED
"""The moment from which subscriptions to direct-message and chat events may have a direction."""

EVENT_NAMES = (
    EventName("profile.update.bio", "bio changed", _DOTTED),
    EventName("profile.update.verified", "verification status changed", _DOTTED),
    EventName("profile.update.affiliate", "affiliate badge changed", _DOTTED),
    EventName("profile.update.screenname", "handle changed", _DOTTED),
    EventName("post.create", "a user creates a post", _POSTS),
    EventName("post.delete", "a user deletes a post", _POSTS),
    EventName("spaces.start", "a Space starts", _SPACES),
    EventName("spaces.end", "a Space ends", _SPACES),
    EventName("dm.received", "legacy direct-message event", _MESSAGES),
    EventName("dm.sent", "legacy direct-message event", _MESSAGES),
    EventName("dm.read", "legacy direct-message event", _MESSAGES),
    EventName("dm.indicate_typing", "legacy direct-message event", _MESSAGES),
    _make_former_name("ProfileBioUpdate", "profile.update.bio"),
    _make_former_name("ProfilePictureUpdate", "profile.update.profile_picture"),
    _make_former_name("ProfileBannerUpdate", "profile.update.banner_picture"),
    _make_former_name("ProfileGeoUpdate", "profile.update.geo"),
    _make_former_name("ProfileUrlUpdate", "profile.update.url"),
    _make_public_name("profile.update.profile_picture", "profile picture changed"),
    _make_public_name("profile.update.banner_picture", "banner picture changed"),
    _make_public_name(
        "profile.update.handle", "handle changed; the spec has profile.update.screenname"
    ),
    _make_public_name("profile.update.geo", "location changed"),
    _make_public_name("profile.update.url", "website changed"),
    _make_public_name("profile.update.verified_badge", "verified badge changed; spec: .verified"),
    _make_public_name(
        "profile.update.affiliate_badge", "affiliate badge changed; spec: .affiliate"
    ),
    _make_public_name("post.mention.create", "a post mentions the user"),
    _make_public_name("post.reply.create", "a post replies to the user"),
    _make_public_name("post.quote.create", "a post quotes the user"),
    _make_public_name("post.repost.create", "the user's post is reposted"),
    _make_public_name("like.create", "a user likes a post"),
    _make_public_name("oauth.revoke", "a user takes an app's access back"),
    _make_public_name("news.new", "a news story appears"),
    _make_public_name("broadcast.start", "a user's broadcast begins"),
    _make_public_name("broadcast.end", "a user's broadcast ends"),
    _make_public_name("broadcast.chat", "somebody writes in the chat of the user's broadcast"),
)
"""Every known name of an event type."""

ALIASES = {
    "profile.update.verified_badge": "profile.update.verified",
    "profile.update.affiliate_badge": "profile.update.affiliate",
    "profile.update.handle": "profile.update.screenname",
    "chat.conversation.join": "chat.conversation_join",
}

_FAMILIES = re.compile(r"(follow|mute|block|chat|broadcast)\.[a-z]+(?:[._][a-z]+)*", re.ASCII)
"""Families of event types whose members the public facts do not name."""

_BY_NAME = {entry.name: entry for entry in EVENT_NAMES}


def find_event_name(text: str) -> EventName | None:
    """Return the event type with that name, in force or not; `None` if it is unknown."""
    found = _BY_NAME.get(text)
    if found is None and _FAMILIES.fullmatch(text):
        return _make_public_name(text, f"an event of the family {text.partition('.')[0]}.*")
    return found


def canonicalize_name(event_type: str) -> str:
    """Return the name in force of an event type that has several."""
    known = find_event_name(event_type)
    name = event_type if known is None else known.successor or known.name
    return ALIASES.get(name, name)


def describe_event_names() -> dict[str, Any]:
    """Return the JSON Schema of the name of an event type."""
    known = {"enum": sorted(_BY_NAME)}
    return {"anyOf": [known, {"pattern": f"^(?:{_FAMILIES.pattern})$"}]}


def date_names(rule: str, place: str) -> tuple[Dated, ...]:
    """Return when an operation knows which of the spec's event types, by a rule of contracts."""
    names: dict[datetime, list[str]] = {}
    for entry in EVENT_NAMES:
        if entry.documented and entry.successor is None:
            names.setdefault(entry.since, []).append(entry.name)
    return tuple(Dated(at, rule, place, new=", ".join(found)) for at, found in names.items())


def list_names_in_force(moment: datetime) -> tuple[EventName, ...]:
    """Return the names that an event may have at a moment, deprecated ones included."""
    return tuple(entry for entry in EVENT_NAMES if moment >= entry.since)


def explain_unknown_name(text: str) -> str:
    """Return the error text for a name that is not an event type."""
    hint = did_you_mean(text, _BY_NAME)
    known = ", ".join(entry.name for entry in EVENT_NAMES if entry.documented)
    return f"no event type is called {text!r}.{hint} The spec's: {known}"


def find_name_at(event_type: str, moment: datetime) -> str | None:
    """Return the name that a type of event has at a moment; `None` before it has one."""
    entry = find_event_name(event_type)
    if entry is None or moment >= entry.since:
        return event_type
    return next((e.name for e in EVENT_NAMES if e.successor == entry.name), None)


def explain_not_in_force(entry: EventName, moment: datetime) -> str | None:
    """Return why a name cannot be used at a moment; `None` if it can."""
    if moment >= entry.since:
        return None
    former = find_name_at(entry.name, moment)
    before = f"; until then it is called {former!r}" if former else ""
    return (
        f"{entry.name!r} is in force from {entry.since:%Y-%m-%dT%H:%M}Z on, not yet at "
        f"{moment:%Y-%m-%dT%H:%M}Z{before}"
    )


def find_name_warnings(entry: EventName, moment: datetime) -> Iterator[str]:
    """Yield the warnings for the use of a name at that moment."""
    if entry.is_deprecated(moment):
        since = f"{entry.deprecated_since:%Y-%m-%d}"
        yield f"event type {entry.name!r} is deprecated since {since}: use {entry.successor!r}"
    if not entry.documented:
        yield f"event type {entry.name!r} is a public name that the spec does not list"
