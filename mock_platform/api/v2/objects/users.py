"""Users: who logs in and posts, as they are stored.

A record holds the keys of a user object of the 1.1 interface in wire form, except `id`, which is
text here, and `created_at`, which has the form of the other tables.
"""

from __future__ import annotations

import re
from contextlib import suppress

from mock_platform.api.v2.objects.older_forms import (
    POST_TIME,
    PUBLIC_COUNTS,
    UserProfile,
    parse_post_time,
)
from mock_platform.core.fields import Choice, Flag, Instant, Integer, ListOf, Long, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Shown, Table
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record

SUBSCRIPTION_TYPES = ("None", "Basic", "Premium", "PremiumPlus")
VERIFIED_TYPES = ("blue", "business", "government", "none")


class Affiliation(Schema):
    """The organizations that a user belongs to, and the badge that says so."""

    badge_url = Text()
    description = Text()
    url = Text()
    user_id = ListOf(Text())


class UserRecord(UserProfile):
    """A user who can log in and grant apps access, with what only the v2 interface shows."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
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
    counts = own.pop("public_metrics", None)
    if isinstance(counts, dict):
        own |= {stored: counts[name] for name, stored in PUBLIC_COUNTS.items() if name in counts}
    if "profile_image_url" in own:
        own["profile_image_url_https"] = own["profile_image_url"]
    if "confirmed_email" in own:
        own["_confirmed_email"] = own.pop("confirmed_email")
    own.pop("most_recent_post_id", None)  # follows from the posts
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


USERS = Table(
    "users",
    UserRecord,
    from_public=_to_stored_form,
    shown=Shown(("name", "username"), "user.fields", known_by="username"),
)
