"""Users: the stored record and the user object that the 1.1 interface shows."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.objects.older_forms import UserProfile, make_user_object
from mock_platform.api.v2.objects.users import USERS, UserObject
from mock_platform.world.store.interface import Record

BARE = {"id": "5", "screen_name": "ada", "name": "Ada"}


def stored(**fields: object) -> Record:
    """A user as a fixture would store it."""
    record, faults = USERS.load({**BARE, **fields})
    assert [] == faults
    return record


def test_a_bare_user_has_every_key() -> None:
    """Three fields make a user; the user object has 41 keys, each of its kind."""
    shown = make_user_object(stored())
    by_type: dict[str, int] = {}
    for value in shown.values():
        name = type(value).__name__
        by_type[name] = by_type.get(name, 0) + 1

    assert {"int": 6, "str": 17, "bool": 10, "NoneType": 7, "list": 1} == by_type
    assert shown.keys() == UserObject().load_fields.keys()
    assert "Wed Jan 01 00:00:00 +0000 2020" == shown["created_at"]


def test_what_is_stored_is_shown() -> None:
    """Every field of the 1.1 interface but id and time of creation is shown as it is stored."""
    record = stored(
        lang="en", utc_offset=3600, profile_text_color="abCD09", url="https://a.example"
    )
    shown = make_user_object(record)

    names = UserProfile().load_fields.keys()
    assert {name: record[name] for name in names} == {name: shown[name] for name in names}


def test_a_user_object_can_be_stored_again() -> None:
    """What was shown is accepted as a record, with the id as text and the time as other tables."""
    shown = make_user_object(stored(followers_count=3))
    again = {name: value for name, value in shown.items() if name != "id_str"}
    record, faults = USERS.load(again | {"id": "5", "created_at": "2020-01-01T00:00:00Z"})
    assert ([], shown) == (faults, make_user_object(record))


def test_an_unchecked_user_shows_what_it_has() -> None:
    """A record that was stored unchecked, or by an older version, fails no answer."""
    assert {"id": 5, "id_str": "5", "name": "Ada", "screen_name": "ada"} == make_user_object(BARE)


@pytest.mark.parametrize(
    ("field", "value"),
    [("profile_link_color", "#1DA1F2"), ("profile_link_color", "1DA1F"), ("followers_count", -1)],
)
def test_what_no_user_has(field: str, value: object) -> None:
    """Colors are six hex digits, counts are not negative."""
    assert [field] == [name for name, _ in USERS.load({**BARE, field: value})[1]]
