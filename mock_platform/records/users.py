"""Users: who logs in and posts, as they are stored.

A record holds the keys of a user object of the 1.1 interface in wire form, except `id`, which is
text here, and `created_at`, which has the form of the other tables.
"""

from __future__ import annotations

import re
from contextlib import suppress

from mock_platform.core.fields import Instant, Long, Text
from mock_platform.records.table import Table
from mock_platform.rules.user_objects import POST_TIME, UserProfile, parse_post_time
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_seconds


class UserRecord(UserProfile):
    """A user who can log in and grant apps access."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    _password = Text(load_default="password")
    created_at = Instant(as_sent=True, load_default="2020-01-01T00:00:00Z")


class UserObject(UserProfile):
    """A user as the 1.1 interface shows one; if trimmed, only with id and id_str."""

    id = Long(required=True)
    id_str = Text(required=True)
    screen_name = Text()
    name = Text()
    created_at = Text()


def _to_stored_form(record: Record) -> Record:
    """Convert a user object into a record: id as text, time in the form of the other tables."""
    own = dict(record)
    if isinstance(own.get("id"), int) and not isinstance(own["id"], bool):
        own["id"] = str(own["id"])
    if "id_str" in own and own.setdefault("id", own["id_str"]) == own["id_str"]:
        del own["id_str"]
    created = own.get("created_at")
    if isinstance(created, str) and re.fullmatch(POST_TIME, created):
        with suppress(ValueError):  # a day that does not exist, which the field refuses
            own["created_at"] = wire_seconds(parse_post_time(created))
    return own


USERS = Table("users", UserRecord, from_public=_to_stored_form)
