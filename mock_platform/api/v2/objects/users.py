"""Users: who logs in and posts, as they are stored, and as the v2 interface shows them.

A record holds the keys of a user object of the 1.1 interface in wire form, except `id`, which is
text here, and `created_at`, which has the form of the other tables. The v2 object is a view of it
(named endpoints, section 7.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mock_platform.api.v2.conventions import make_id_field
from mock_platform.api.v2.objects.older_forms import (
    POST_TIME,
    PUBLIC_COUNTS,
    UserProfile,
    parse_post_time,
)
from mock_platform.api.v2.objects.post_text import (
    Links,
    find_entities,
    shorten,
    show_address,
    show_entities,
    write_text,
)
from mock_platform.api.v2.objects.post_view import add_texts
from mock_platform.api.v2.objects.relations import (
    FOLLOWS,
    LIKES,
    count_at_least,
    find_connections,
    list_public_memberships,
    takes_messages_of,
)
from mock_platform.api.v2.release_history import is_in_force
from mock_platform.core.fields import Choice, Flag, Instant, Integer, ListOf, Long, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import AS, RECORDED, Shown, Table
from mock_platform.world.clock import parse_instant, wire_millis, wire_seconds
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

NEWEST_FIRST = Order("created_at", descending=True)
SUBSCRIPTION_TYPES = ("None", "Basic", "Premium", "PremiumPlus")
_REFERS = re.compile("[#$@]|://")
VERIFIED_TYPES = ("blue", "business", "government", "none")


class Affiliation(Schema):
    """The organizations that a user belongs to, and the badge that says so."""

    badge_url = Text()
    description = Text()
    url = Text()
    user_id = ListOf(Text())


class UserRecord(UserProfile):
    """A user who can log in and grant apps access, with what only the v2 interface shows."""

    id = make_id_field(required=True)
    subscription_type = Choice(SUBSCRIPTION_TYPES, load_default="None")
    verified_type = Choice(VERIFIED_TYPES)
    affiliation = Nested(Affiliation, load_default=dict)
    is_identity_verified = Flag(load_default=False)
    parody = Flag(load_default=False)
    receives_your_dm = Flag(load_default=True)
    pinned_post_id = Text(load_default=None, allow_none=True)
    media_count = Integer(low=0, load_default=0)
    verified_followers_count = Integer(low=0, load_default=0)
    _password = Text(load_default="password")
    _confirmed_email = Text(load_default=None, allow_none=True)
    _note_writer = Flag(load_default=False)
    _suspended = Flag(load_default=False)
    _deactivated = Flag(load_default=False)
    _subscribes_to = ListOf(Text())
    _geo_scrubbed_up_to = Text(load_default=None, allow_none=True)
    """The last post of which places were removed."""
    created_at = Instant(as_sent=True, load_default="2020-01-01T00:00:00Z")


class UserObject(UserProfile):
    """A user as the 1.1 interface shows one; if trimmed, only with id and id_str."""

    id = Long(required=True)
    id_str = Text(required=True)
    screen_name = Text()
    name = Text()
    created_at = Text()


def _read_v2_object(user: Record) -> Record:
    """Return a user object of the v2 interface with the keys of a record."""
    own = {name: value for name, value in user.items() if value is not None}
    own["screen_name"] = own.pop("username")
    counts = own.get("public_metrics")
    if own.get(AS) != RECORDED:
        own.pop("public_metrics", None)
    if isinstance(counts, dict):
        own |= {stored: counts[name] for name, stored in PUBLIC_COUNTS.items() if name in counts}
    if "profile_image_url" in own:
        own["profile_image_url_https"] = own["profile_image_url"]
    if "confirmed_email" in own:
        own["_confirmed_email"] = own.pop("confirmed_email")
    own.pop("most_recent_post_id", None)  # follows from the posts
    withheld = own.pop("withheld", None)
    if isinstance(withheld, dict):
        own["withheld_in_countries"] = withheld.get("country_codes") or []
    return own


def _to_stored_form(record: Record) -> Record:
    """Convert a user object into a record: id as text, time in the form of the other tables."""
    own = dict(record)
    if "username" in own and "screen_name" not in own:
        own = _read_v2_object(own)
    if isinstance(own.get("id"), int) and not isinstance(own["id"], bool):
        own["id"] = str(own["id"])
    if "id_str" in own and own.setdefault("id", own["id_str"]) == own["id_str"]:
        del own["id_str"]
    created = own.get("created_at")
    if isinstance(created, str) and re.fullmatch(POST_TIME, created):
        with suppress(ValueError):  # a day that does not exist, which the field refuses
            own["created_at"] = wire_seconds(parse_post_time(created))
    badge = own.get("affiliation")
    if isinstance(badge, dict) and isinstance(badge.get("user_id"), str):  # before 2025-02-18
        own["affiliation"] = badge | {"user_id": [badge["user_id"]]}
    return own


def _draw_user(draft: Draft) -> Record:
    is_person = draft.draw_below(4) > 0
    name = draft.person() if is_person else draft.company()
    return {
        "name": name,
        "screen_name": name.replace(" ", "_").lower()[:15],
        "description": draft.sentence(),
        "location": draft.city(),
    }


USERS = Table(
    "users",
    UserRecord,
    draw=_draw_user,
    unique=("screen_name",),
    from_public=_to_stored_form,
    shown=Shown(
        ("name", "username"),
        "user.fields",
        known_by="username",
        kept=("entities", "public_metrics"),
    ),
)


def show_user(world: World, user: Record) -> dict[str, Any]:
    """Return a user as payloads of events hold one, counts in both forms."""
    shown: dict[str, Any] = {
        "id": user["id"],
        "name": user["name"],
        "username": user["screen_name"],
        "created_at": wire_millis(parse_instant(user["created_at"])),
        "description": user["description"],
        "location": user["location"],
        "protected": user["protected"],
        "verified": user["verified"],
        "verified_type": name_verification(user),
        "profile_image_url": user["profile_image_url_https"],
        "profile_banner_url": user["profile_banner_url"],
        "public_metrics": add_texts(_count(world, user)),
    }
    if user["url"] is not None:
        shown["url"] = user["url"]
    return shown


def select_user(
    world: World,
    user: Record,
    fields: Iterable[str],
    *,
    viewer_id: str | None = None,
    links: Links | None = None,
) -> dict[str, Any]:
    """Return these fields of a user as a v2 object, as the user `viewer_id` sees it.

    A field that the record has no value for is left out.
    """
    shown: dict[str, Any] = {}
    chosen = frozenset(fields)
    if "entities" not in user and (links is not None or "entities" in chosen):
        profile = write_profile(world, user, links)
        entities = {name: show_entities(one) for name, one in profile["entities"].items()}
        for mention in (entities["description"] or {}).get("mentions", ()):
            mention.pop("id", None)
        found = {name: one for name, one in entities.items() if one}
        user = user | profile | {"entities": found or None}
    for name, find_value in _choose_values(chosen):
        value = find_value(world, user)
        if value is not None:
            shown[name] = value
    if _OF_VIEWER.isdisjoint(chosen):
        return shown
    if user["id"] != viewer_id:
        shown.pop("confirmed_email", None)
    if "receives_your_dm" in shown and user["id"] != viewer_id:
        shown["receives_your_dm"] = takes_messages_of(world, user, viewer_id)
    if "connection_status" in chosen and viewer_id is not None:
        shown["connection_status"] = find_connections(world, viewer_id, user["id"])
    subscribes = viewer_id is not None and viewer_id in (user.get("_subscribes_to") or ())
    answers = {"subscribes_to_you": subscribes, "subscription": {"subscribes_to_you": subscribes}}
    return shown | {name: answer for name, answer in answers.items() if name in chosen}


@lru_cache(maxsize=256)
def _choose_values(fields: frozenset[str]) -> list[tuple[str, Callable[[World, Record], Any]]]:
    """Return how these fields are found: a page asks for the same ones with each user."""
    return [(name, find_value) for name, find_value in _USER_VALUES.items() if name in fields]


def write_profile(world: World, user: Record, links: Links | None) -> Record:
    """Return description, url and entities (1.1 form) of a user as answers have them."""
    text, address = user.get("description") or "", user.get("url")
    links = None if user.get(AS) == RECORDED else links
    found = find_entities(world, text) if _REFERS.search(text) else {}
    written = write_text(world, text, found, links, escape=False)
    entities: dict[str, Any] = {"description": written.entities}
    if address:
        link = show_address(address) if links is None else shorten(world, address, links)
        address = link["url"]
        entities = {"url": {"urls": [{**link, "indices": [0, len(address)]}]}, **entities}
    return {"description": written.text, "url": address, "entities": entities}


def name_verification(user: Record) -> str:
    """Return the kind of a user's verification; a verified user without one is a business."""
    return user.get("verified_type") or ("business" if user.get("verified") else "none")


def find_newest_post(world: World, user_id: str) -> Record | None:
    """Return the post that a user made last, or `None`; promoted-only ones do not count."""
    match = {"_user_id": user_id, "nullcast": False}
    return world.store.first("posts", match, order=NEWEST_FIRST)


def _count(world: World, user: Record) -> dict[str, int]:
    known = user.get("public_metrics", PUBLIC_COUNTS)  # of a recorded one what was shown
    counts = {name: user.get(stored) or 0 for name, stored in PUBLIC_COUNTS.items()}
    related = {
        "followers_count": FOLLOWS.count_sources(world, user["id"]),
        "following_count": FOLLOWS.count_targets(world, user["id"]),
        "like_count": LIKES.count_targets(world, user["id"]),
        "listed_count": _count_public_lists(world, user["id"], counts["listed_count"]),
    }
    counts |= {name: count_at_least(counts[name], n) for name, n in related.items()}
    return {name: counts[name] for name in counts if name in known}


def _count_public_lists(world: World, user_id: str, stored: int) -> int:
    """Return how many public lists have a user as a member, if that may be more than stored."""
    # If public and private lists together are not more, nobody has to look at each of them.
    if world.store.count("list_members", {"user_id": user_id}) <= stored:
        return 0
    return len(list_public_memberships(world, user_id))


def _show_affiliation(world: World, user: Record) -> dict[str, Any]:
    """Show a badge; `user_id` is a list since the release that says so, one id before."""
    badge = user.get("affiliation") or {}
    ids = badge.get("user_id")
    if not ids or is_in_force("affiliation-array", world):
        return badge
    return badge | {"user_id": ids[0]}


def _show_newest_post_id(world: World, user: Record) -> str | None:
    post = find_newest_post(world, user["id"])
    return None if post is None else post["id_str"]


def _show_withholding(_world: World, user: Record) -> dict[str, Any] | None:
    countries = user.get("withheld_in_countries")
    return {"country_codes": countries, "scope": "user"} if countries else None


def _read(stored: str) -> Callable[[World, Record], Any]:
    return lambda _world, user: user.get(stored)


_OF_VIEWER = frozenset(
    {
        *("confirmed_email", "receives_your_dm", "connection_status"),
        *("subscribes_to_you", "subscription"),
    }
)
"""Fields that depend on who looks."""
_USER_VALUES: Mapping[str, Callable[[World, Record], Any]] = {
    "id": _read("id"),
    "name": _read("name"),
    "username": _read("screen_name"),
    "created_at": lambda _world, user: wire_millis(parse_instant(user["created_at"])),
    "description": _read("description"),
    "location": lambda _world, user: user.get("location") or None,
    "url": _read("url"),
    "entities": _read("entities"),
    "protected": _read("protected"),
    "verified": _read("verified"),
    "verified_type": lambda _world, user: name_verification(user),
    "profile_image_url": _read("profile_image_url_https"),
    "profile_banner_url": _read("profile_banner_url"),
    "public_metrics": _count,
    "affiliation": _show_affiliation,
    "pinned_post_id": _read("pinned_post_id"),
    "most_recent_post_id": _show_newest_post_id,
    "subscription_type": _read("subscription_type"),
    "is_identity_verified": _read("is_identity_verified"),
    "parody": _read("parody"),
    "receives_your_dm": _read("receives_your_dm"),
    "verified_followers_count": _read("verified_followers_count"),
    "confirmed_email": _read("_confirmed_email"),
    "withheld": _show_withholding,
}
"""How the value of each field of a user is found, in the order of the object."""
