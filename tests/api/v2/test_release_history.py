from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_platform.api.v2.release_history import (
    EVENT_NAMES,
    RELEASES,
    EventName,
    explain_not_in_force,
    explain_unknown_name,
    find_event_name,
    find_name_warnings,
    find_release,
    list_names_in_force,
)

NAMING = datetime(2026, 3, 18, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)


def at(text: str) -> datetime:
    """A moment."""
    return datetime.fromisoformat(text)


def names(moment: datetime) -> set[str]:
    """The documented names in force at a moment."""
    return {entry.name for entry in list_names_in_force(moment) if entry.documented}


def find(name: str) -> EventName:
    """An event type that is known."""
    found = find_event_name(name)
    assert found is not None
    return found


def test_every_row_of_the_table_is_there_newest_first() -> None:
    """The release history has the spec's nineteen rows, in its order, under different ids."""
    dates = [row.date for row in RELEASES]
    assert 19 == len({row.id for row in RELEASES})
    assert sorted(dates, reverse=True) == dates
    assert ("2026-06-11", "2025-02-18") == (dates[0], dates[-1])


@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation")
def test_the_replay_path_ends_at_noon_eastern_time() -> None:
    """12:00 ET of 2026-03-25 is 16:00 UTC, five days after the announcement."""
    retirement = find_release("replay-path-retired")
    assert "2026-03-20" == retirement.date
    assert not retirement.is_in_force(at("2026-03-25T15:59:59.999999+00:00"))
    assert retirement.is_in_force(at("2026-03-25T16:00:00+00:00"))


@pytest.mark.spec("A, Events", "dot-separated lowercase")
@pytest.mark.spec("A, Release history", "2026-03-18: Direction")
def test_dotted_names_hold_from_the_naming_change_on() -> None:
    """Before 2026-03-18 a changed bio has its former name alone; from then on, both."""
    before, after = names(NAMING - INSTANT), names(NAMING)
    assert {"ProfileBioUpdate"} == before & {"ProfileBioUpdate", "profile.update.bio"}
    assert {"ProfileBioUpdate", "profile.update.bio"} <= after


@pytest.mark.spec("A, Events", "profile.update.bio", "profile.update.verified")
@pytest.mark.spec("A, Events", "profile.update.affiliate", "profile.update.screenname")
@pytest.mark.spec("A, Events", "post.create: a", "post.delete: a", "spaces.start: a")
@pytest.mark.spec("A, Events", "spaces.end: a Space", "The former PascalCase")
def test_the_spec_names_twelve_event_types_and_five_former_names() -> None:
    """Today every event type of the spec is in force."""
    documented = [entry for entry in EVENT_NAMES if entry.documented]
    assert 12 == len([entry for entry in documented if entry.successor is None])
    assert 5 == len([entry for entry in documented if entry.successor is not None])
    assert {entry.name for entry in documented} == names(at("2026-11-20T00:00:00+00:00"))


@pytest.mark.spec("A, Events", "dot-separated lowercase")
@pytest.mark.spec("A, Release history", "2026-06-04: post.create", case="post.create")
@pytest.mark.spec("A, Release history", "2026-03-11: Legacy", case="dm.received")
@pytest.mark.spec("A, Release history", "2026-01-28: spaces.start", case="spaces.start")
@pytest.mark.parametrize(
    ("name", "since"),
    [("post.create", "2026-06-04"), ("post.delete", "2026-06-04"), ("spaces.start", "2026-01-28"),
     ("dm.received", "2026-03-11"), ("profile.update.verified", "2026-03-18")],
)  # fmt: skip
def test_an_event_type_holds_from_its_row_on(name: str, since: str) -> None:
    """An event type is not in force an instant before its row of the history, and is from then."""
    start = at(f"{since}T00:00:00+00:00")
    assert name not in names(start - INSTANT)
    assert name in names(start)
    assert explain_not_in_force(find(name), start) is None


def test_a_name_that_comes_too_early_says_what_it_is_called_until_then() -> None:
    """The refusal names the date, the moment, and the former name."""
    assert (
        "'profile.update.bio' is in force from 2026-03-18T00:00Z on, not yet at "
        "2026-03-17T23:59Z; until then it is called 'ProfileBioUpdate'"
    ) == explain_not_in_force(find("profile.update.bio"), NAMING - timedelta(minutes=1))


@pytest.mark.spec("A, Events", "The former PascalCase")
def test_former_names_are_warned_of_once_they_are_deprecated() -> None:
    """A former name passes in silence before the change and with its successor after it."""
    entry = find("ProfileGeoUpdate")
    text = "event type 'ProfileGeoUpdate' is deprecated since 2026-03-18: use 'profile.update.geo'"
    assert [] == list(find_name_warnings(entry, NAMING - INSTANT))
    assert [text] == list(find_name_warnings(entry, NAMING))


@pytest.mark.parametrize("name", ["like.create", "oauth.revoke", "follow.follow", "chat.received"])
def test_public_names_are_known_and_warned_of(name: str) -> None:
    """What the public facts name beyond the spec is accepted, with a note."""
    text = f"event type {name!r} is a public name that the spec does not list"
    assert [text] == list(find_name_warnings(find(name), NAMING))


@pytest.mark.parametrize("name", ["post.created", "follow.", "follow", "FOLLOW.x", "", "x.y"])
def test_other_names_are_unknown(name: str) -> None:
    """A name outside the table and its families is no event type."""
    assert find_event_name(name) is None


def test_a_near_miss_is_pointed_out() -> None:
    """The complaint about an unknown name offers the nearest one."""
    text = "no event type is called 'post.creat'. Did you mean 'post.create'? The spec's: "
    assert explain_unknown_name("post.creat").startswith(text)
