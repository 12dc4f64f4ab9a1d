from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.core.errors import BadRecord, UnknownRecord, UnknownTable
from mock_platform.core.tables.checking import merge_patch
from mock_platform.core.tables.state import State
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.world import World
from tests.support import make_platform

ACCOUNT = {
    "id": "acc1",
    "name": "Side Street Books",
    "business_name": "Side Street Books",
    "business_id": "b1",
    "timezone": "Europe/Berlin",
    "timezone_switch_at": None,
    "approval_status": "ACCEPTED",
    "industry_type": "RETAIL",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "deleted": False,
    "_users": ["2244994945"],
}


@pytest.fixture
def platform() -> Platform:
    """A platform on the shipped fixtures, its clock standing still."""
    return make_platform(Settings(freeze=datetime(2026, 3, 1, tzinfo=UTC), dataset="small"))


@pytest.fixture
def state(platform: Platform) -> State:
    """The state of its default world."""
    return State(platform.worlds.default, platform.tables)


def faults(raised: pytest.ExceptionInfo[BadRecord]) -> list[tuple[str, str | int, str]]:
    """Where the faults are, without their texts."""
    return [(fault.table, fault.record, fault.field) for fault in raised.value.faults]


def test_a_table_lists_its_records_in_order(state: State) -> None:
    """`all`, iteration and length agree, and the fixtures have their order."""
    users = state["users"].all()

    assert [user["id"] for user in users] == ["2244994945", "3805104374", "2790441185"]
    assert users == list(state["users"])
    assert len(state["users"]) == 3
    assert "2244994945" in state["users"]


def test_an_unknown_table_names_the_nearest(state: State) -> None:
    """A misspelt table is reported with the nearest name and all names."""
    with pytest.raises(UnknownTable, match=r"no table 'acounts'\. Did you mean 'accounts'\?"):
        state["acounts"]

    assert "acounts" not in state
    assert set(state) >= {"apps", "users", "tokens"}


def test_put_creates_with_defaults(state: State) -> None:
    """A new record gets what it leaves out, and is served like any other."""
    stored = state["accounts"].put(ACCOUNT)

    assert stored["_features"] == []
    assert stored == state["accounts"].get("acc1")


def test_put_takes_the_key_from_beside_the_record(state: State) -> None:
    """The key may be passed outside the record; inside it must then be the same."""
    body = {key: value for key, value in ACCOUNT.items() if key != "id"}

    assert state["accounts"].put(body, key="acc2")["id"] == "acc2"
    with pytest.raises(BadRecord, match="must stay 'acc2', got 'acc1'"):
        state["accounts"].put(ACCOUNT, key="acc2")


def test_put_fills_in_when_a_record_came_and_changed(platform: Platform, state: State) -> None:
    """Left out, both are the world's now; a record that is replaced stays as old as it is."""
    bare = {name: value for name, value in ACCOUNT.items() if not name.endswith("d_at")}

    made = state["accounts"].put(bare)
    platform.worlds.default.clock.advance(3600)
    replaced = state["accounts"].put(bare | {"name": "Main Street Books"})
    given = state["accounts"].put(ACCOUNT)

    times = [(record["created_at"], record["updated_at"]) for record in (made, replaced, given)]
    assert [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    ] == times


def test_put_fills_in_times_in_each_table_s_form(state: State) -> None:
    """Milliseconds where the table has them, and nothing where it has its own default."""
    event = state["events"].all()[0]
    post = state["posts"].all()[0]
    user = state["users"].put({"id": "7", "screen_name": "seven", "name": "Seven"})

    del event["created_at"], post["created_at"]
    number = 1700000000000000009
    events = state["events"].put(event | {"id": "e9"})
    posts = state["posts"].put(post | {"id": number, "id_str": str(number), "post_id": str(number)})

    assert "2026-03-01T00:00:00.000Z" == events["created_at"]
    assert "2026-03-01T00:00:00.000Z" == posts["created_at"]
    assert "2020-01-01T00:00:00Z" == user["created_at"]


@pytest.mark.parametrize("value", [None, "yesterday", 7])
def test_put_checks_times_that_are_given(state: State, value: Any) -> None:
    """Only what is left out is filled in; `unchecked` fills in nothing."""
    with pytest.raises(BadRecord) as raised:
        state["accounts"].put(ACCOUNT | {"created_at": value})
    bare = state["accounts"].put({"id": "acc1"}, unchecked=True)

    assert [("accounts", "acc1", "created_at")] == faults(raised)
    assert {"id": "acc1"} == bare


def test_put_tells_every_fault_and_stores_nothing(state: State) -> None:
    """All faults of a record come at once; the table stays as it was."""
    with pytest.raises(BadRecord) as raised:
        state["users"].put({"id": "abc", "screen_name": "no spaces", "nmae": "x"})

    assert {("users", "abc", name) for name in ("id", "screen_name", "name", "nmae")} == set(
        faults(raised)
    )
    assert "Did you mean 'name'?" in str(raised.value)
    assert state["users"].get("abc") is None


def test_put_checks_references(state: State) -> None:
    """A record may refer to what is there, and to nothing else."""
    with pytest.raises(BadRecord) as raised:
        state["accounts"].put(ACCOUNT | {"_users": ["404"]})

    assert [("accounts", "acc1", "_users")] == faults(raised)


def test_unchecked_stores_as_given(state: State) -> None:
    """Odd states can be made on purpose; only the key must be there."""
    odd = {"id": "odd", "name": 7, "_users": ["404"]}

    assert odd == state["accounts"].put(odd, unchecked=True)
    with pytest.raises(BadRecord, match="is the key"):
        state["accounts"].put({"name": "no id"}, unchecked=True)


def test_a_record_must_be_json(state: State) -> None:
    """What could never be served is refused with its reason."""
    with pytest.raises(BadRecord, match="not JSON"):
        state["accounts"].put(ACCOUNT | {"created_at": object()})
    with pytest.raises(BadRecord, match="a JSON object"):
        state["accounts"].put(["acc1"])  # type: ignore[arg-type]


def test_records_come_and_go_as_copies(state: State) -> None:
    """Changing what was put in, or what came out, changes nothing in the world."""
    given: dict[str, Any] = {**ACCOUNT, "_users": ["2244994945"]}
    stored = state["accounts"].put(given)
    given["_users"].append("404")
    stored["_users"].append("405")
    state["accounts"].all()[-1]["_users"].append("406")

    record = state["accounts"].get("acc1")

    assert record is not None
    assert record["_users"] == ["2244994945"]


def test_patch_merges(state: State) -> None:
    """Passed fields replace, null removes, the others stay."""
    state["accounts"].put(ACCOUNT)

    patched = state["accounts"].patch("acc1", {"name": "Books", "industry_type": None})

    assert patched["name"] == "Books"
    assert patched["business_name"] == "Side Street Books"
    assert patched["industry_type"] is None or "industry_type" not in patched


def test_patch_is_validated_as_a_whole(state: State) -> None:
    """What would come out of a patch is checked; a refused one changes nothing."""
    with pytest.raises(BadRecord) as raised:
        state["users"].patch("2244994945", {"screen_name": "no spaces"})
    with pytest.raises(BadRecord, match="is the key and must stay"):
        state["users"].patch("2244994945", {"id": "1"})

    assert [("users", "2244994945", "screen_name")] == faults(raised)
    assert (state["users"].get("2244994945") or {})["screen_name"] == "harbor_roasters"


def test_delete_takes_out_for_good(state: State) -> None:
    """A deleted record is gone; deleting or patching it again names the nearest one."""
    state["accounts"].delete("18ce551k9m7")

    assert "18ce551k9m7" not in state["accounts"]
    with pytest.raises(UnknownRecord, match="accounts holds no record '18ce54d4x5'"):
        state["accounts"].delete("18ce54d4x5")
    with pytest.raises(UnknownRecord, match="Did you mean '18ce54d4x5t'"):
        state["accounts"].patch("18ce54d4x5", {"name": "x"})


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": "foo"}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        (["a", "b"], {"a": "x"}, {"a": "x"}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({"a": "foo"}, None, None),
    ],
)
def test_merge_patch_follows_its_standard(target: Any, patch: Any, merged: Any) -> None:
    """The examples of RFC 7396."""
    assert merged == merge_patch(target, patch)


def test_a_dump_loads_into_another_world(platform: Platform, state: State) -> None:
    """A world can be carried elsewhere whole: records in order, ids drawn, clock."""
    world = platform.worlds.default
    state["accounts"].put(ACCOUNT)
    state["users"].delete("3805104374")
    world.ids.base36()
    world.clock.advance(3600)
    dumped = state.dump()
    other = platform.worlds.create("other")

    State(other, platform.tables).load(dumped, unchecked=True)

    assert dumped | {"world": "other"} == State(other, platform.tables).dump()
    assert world.ids.drawn == other.ids.drawn
    assert world.clock.now() == other.clock.now()


def test_loading_replaces_everything(platform: Platform, state: State) -> None:
    """A table that a document leaves out becomes empty; clock and ids stay if they are missing."""
    world: World = platform.worlds.default
    world.ids.base36()
    users = state["users"].all()

    state.load({"tables": {"users": users}})

    assert users == state["users"].all()
    assert len(state["accounts"]) == 0
    assert world.ids.drawn == 1


def test_loading_tells_every_fault(state: State) -> None:
    """Unknown tables, bad records, twins and loose references come at once; nothing changes."""
    before = state.dump()
    with pytest.raises(BadRecord) as raised:
        state.load(
            {
                "ids": -1,
                "clock": {"frozen_at": "2026-01-01T00:00:00"},
                "paces": {"replay_job": {"speed": 1}},
                "tables": {
                    "acounts": [],
                    "apps": {},
                    "users": [{"id": "x"}],
                    "accounts": [ACCOUNT, ACCOUNT],
                },
            }
        )

    assert {
        ("state", "", "ids"),
        ("state", "", "clock"),
        ("state", "", "paces.replay_job.speed"),
        ("acounts", "", ""),
        ("apps", "", ""),
        ("users", 0, "id"),
        ("users", 0, "screen_name"),
        ("users", 0, "name"),
        ("accounts", 1, "id"),
    } == set(faults(raised))
    assert before == state.dump()


def test_loading_checks_references_within_the_document(state: State) -> None:
    """Records refer to records of the same document, not to those that it replaces."""
    with pytest.raises(BadRecord) as raised:
        state.load({"tables": {"accounts": [ACCOUNT]}})

    assert [("accounts", "acc1", "_users")] == faults(raised)


@pytest.mark.parametrize("document", [None, [], {}, {"tables": []}, "tables"])
def test_a_document_of_another_form_is_refused(state: State, document: Any) -> None:
    """A document of another form is refused with the form of a state."""
    with pytest.raises(BadRecord, match=r'a state is \{"tables"'):
        state.load(document)
