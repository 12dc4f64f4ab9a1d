"""Document A's release history as data, and the names of event types that follow from it.

Each date is compared with a world's clock, so that a test can stand before or after a change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from mock_platform.core.assumptions import public_fact, settled

PUBLIC_NAMES = public_fact(
    "events.names-beyond-spec",
    "Event types that the spec does not list, such as like.create and oauth.revoke, are taken as "
    "the public documentation names them; the spec's name wins where both have one.",
    "section 6, event names beyond the spec",
)
EFFECTIVE = settled(
    "events.names-effective",
    "A row of the release history without a time of day takes effect at 00:00 UTC of its date. "
    "Dotted names hold from 2026-03-18; those whose row is older and prints no other name hold "
    "from that row on. Former names stay usable, with a warning, from then on.",
    "A, Events; Versioning",
)

_ALWAYS = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Release:
    """One row of the table: when it was announced, and when it takes effect."""

    id: str
    date: str
    change: str
    effective: datetime

    def in_force(self, moment: datetime) -> bool:
        """Whether the change has taken effect at a moment of a world's clock."""
        return moment >= self.effective


def _row(id_: str, date: str, change: str, effective: str | None = None) -> Release:
    return Release(id_, date, change, datetime.fromisoformat(effective or f"{date}T00:00:00+00:00"))


RELEASES = (
    _row("articles", "2026-06-11", "Article draft and publish endpoints added"),
    _row(
        "post-events",
        "2026-06-04",
        "post.create and post.delete events added to the Activity interface",
    ),
    _row(
        "paid-partnership",
        "2026-06-03",
        "paid_partnership boolean added to posts: settable on create, readable through the post "
        "fields parameter",
    ),
    _row(
        "search-index",
        "2026-05-04",
        "Search endpoints (recent and all search, recent and all counts) moved to a new index; "
        "operators min_likes:, min_replies:, min_reposts: added; reposts no longer returned by "
        "keyword search",
    ),
    _row(
        "replay-path-retired",
        "2026-03-20",
        "Deprecation announced of POST "
        "/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all, effective 2026-03-25 "
        "12:00 ET; replaced by POST /2/webhooks/replay",
        "2026-03-25T16:00:00+00:00",  # Eastern Time is four hours behind UTC on that day
    ),
    _row(
        "event-names",
        "2026-03-18",
        "Direction filter added to Activity subscriptions; event type naming moved to "
        "dot-separated lowercase",
    ),
    _row(
        "direct-message-events",
        "2026-03-11",
        "Legacy direct-message events added to the Activity interface",
    ),
    _row(
        "programmatic-replies",
        "2026-02-23",
        "Programmatic replies through post creation allowed only when the original author summoned "
        "the replier (mention or quote); self-serve tiers only",
    ),
    _row("space-events", "2026-01-28", "spaces.start and spaces.end events"),
    _row("account-activity-oauth2", "2026-01-15", "OAuth 2.0 support in Account Activity v2"),
    _row("news", "2025-11-19", "News endpoints: GET /2/news/search and GET /2/news/{id}"),
    _row(
        "post-editing",
        "2025-10-03",
        "Post editing via edit_options containing previous_post_id",
    ),
    _row(
        "connections",
        "2025-09-19",
        "Connections endpoints: GET /2/connections, DELETE /2/connections/all, DELETE "
        "/2/connections/{endpoint_id}, DELETE /2/connections",
    ),
    _row("evaluate-note", "2025-09-17", "POST /2/evaluate_note added"),
    _row(
        "filtered-stream-webhooks",
        "2025-09-09",
        "Filtered stream webhooks, rules via /2/posts/search/stream/rules",
    ),
    _row(
        "share-with-followers",
        "2025-07-28",
        "share_with_followers boolean on post creation, used with community_id",
    ),
    _row(
        "community-notes",
        "2025-07-08",
        "Community notes endpoints: GET /2/notes/search/posts_eligible_for_notes, GET "
        "/2/notes/search/notes_written, POST /2/notes",
    ),
    _row("account-activity", "2025-05-20", "Account Activity v2 webhook endpoints launched"),
    _row("affiliation-array", "2025-02-18", "affiliation.user_id returns an array"),
)
"""The release history, newest first."""

_BY_ID = {release.id: release for release in RELEASES}


def release(id_: str) -> Release:
    """The row of this id.

    Raises:
        KeyError: There is none.
    """
    return _BY_ID[id_]


@dataclass(frozen=True, slots=True)
class EventName:
    """A name of an event type, and from when on it holds."""

    name: str
    meaning: str
    since: datetime
    deprecated_since: datetime | None = None
    successor: str | None = None
    documented: bool = True
    """Whether document A lists it; the others are public facts."""

    def deprecated(self, moment: datetime) -> bool:
        """Whether the name is a former one at that moment."""
        return self.deprecated_since is not None and moment >= self.deprecated_since


_DOTTED = release("event-names").effective
_POSTS = release("post-events").effective
_SPACES = release("space-events").effective
_MESSAGES = release("direct-message-events").effective


def _public(name: str, meaning: str) -> EventName:
    return EventName(name, meaning, _DOTTED, documented=False)


def _former(name: str, successor: str) -> EventName:
    meaning = f"former name of {successor}"
    return EventName(name, meaning, _ALWAYS, _DOTTED, successor)


DIRECTED_SINCE = _DOTTED
"""Subscriptions to direct-message and chat events may have a direction since then."""

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
    _former("ProfileBioUpdate", "profile.update.bio"),
    _former("ProfilePictureUpdate", "profile.update.profile_picture"),
    _former("ProfileBannerUpdate", "profile.update.banner_picture"),
    _former("ProfileGeoUpdate", "profile.update.geo"),
    _former("ProfileUrlUpdate", "profile.update.url"),
    _public("profile.update.profile_picture", "profile picture changed"),
    _public("profile.update.banner_picture", "banner picture changed"),
    _public("profile.update.handle", "handle changed; the spec has profile.update.screenname"),
    _public("profile.update.geo", "location changed"),
    _public("profile.update.url", "website changed"),
    _public("profile.update.verified_badge", "verified badge changed; spec: .verified"),
    _public("profile.update.affiliate_badge", "affiliate badge changed; spec: .affiliate"),
    _public("post.mention.create", "a post mentions the user"),
    _public("post.reply.create", "a post replies to the user"),
    _public("post.quote.create", "a post quotes the user"),
    _public("post.repost.create", "the user's post is reposted"),
    _public("like.create", "a user likes a post"),
    _public("oauth.revoke", "a user takes an app's access back"),
    _public("news.new", "a news story appears"),
)
"""Every known name of an event type."""

_FAMILIES = re.compile(r"(follow|mute|block|chat|broadcast)\.[a-z]+(?:[._][a-z]+)*", re.ASCII)
"""Families of which the public facts name no members."""

_BY_NAME = {entry.name: entry for entry in EVENT_NAMES}


def event_name(text: str) -> EventName | None:
    """The event type of that name, whether in force or not; `None` if none is known."""
    found = _BY_NAME.get(text)
    if found is None and _FAMILIES.fullmatch(text):
        return _public(text, f"an event of the family {text.partition('.')[0]}.*")
    return found


def event_name_form() -> dict[str, Any]:
    """What a description says of the name of an event type."""
    known = {"enum": sorted(_BY_NAME)}
    return {"anyOf": [known, {"pattern": f"^(?:{_FAMILIES.pattern})$"}]}


def names_in_force(moment: datetime) -> tuple[EventName, ...]:
    """The names that an event may bear at a moment, deprecated ones included."""
    return tuple(entry for entry in EVENT_NAMES if moment >= entry.since)


def unknown_name(text: str) -> str:
    """What to say of a name that is no event type."""
    near = get_close_matches(text, list(_BY_NAME), 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    known = ", ".join(entry.name for entry in EVENT_NAMES if entry.documented)
    return f"no event type is called {text!r}.{hint} The spec's: {known}"


def not_in_force(entry: EventName, moment: datetime) -> str | None:
    """Why a name cannot be used at a moment; `None` if it can."""
    if moment >= entry.since:
        return None
    former = next((e.name for e in EVENT_NAMES if e.successor == entry.name), None)
    before = f"; until then it is called {former!r}" if former else ""
    return (
        f"{entry.name!r} is in force from {entry.since:%Y-%m-%dT%H:%M}Z on, and the event happens "
        f"at {moment:%Y-%m-%dT%H:%M}Z{before}. Give a later created_at, or move the clock"
    )


def warnings_for(entry: EventName, moment: datetime) -> Iterator[str]:
    """What a user of a name should know at that moment."""
    if entry.deprecated(moment):
        since = f"{entry.deprecated_since:%Y-%m-%d}"
        yield f"event type {entry.name!r} is deprecated since {since}: use {entry.successor!r}"
    if not entry.documented:
        yield f"event type {entry.name!r} is a public name that the spec does not list"
