"""Records that are made: valid, related, counted, believable, the same from the same seed."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mock_platform.api.served import TABLES
from mock_platform.core import installed
from mock_platform.core.errors import BadRecord
from mock_platform.core.tables import fixtures
from mock_platform.core.tables.making import MAX_COUNT, make_records
from mock_platform.core.tables.table import find_missing_references
from mock_platform.world.clock import parse_instant
from mock_platform.world.ids import find_moment
from mock_platform.world.store.interface import Record
from tests.support import Sandbox

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
USER, ACCOUNT, CAMPAIGN = "2244994945", "18ce54d4x5t", "8wku2"
SETTINGS = {"freeze": NOW}


def make(box: Sandbox, table: str, count: int = 1, seed: int | None = None, **fields: Any) -> Any:
    """Make records, and return them as they are stored."""
    keys = make_records(box.world, box.platform.tables, table, count, fields, seed)
    return [box.world.store.get(table, key) for key in keys]


def refuse(box: Sandbox, table: str, count: int = 2, **fields: Any) -> tuple[str, str]:
    """Return field and text of the only fault; nothing may have changed."""
    before = box.world.store.list_changes()
    with pytest.raises(BadRecord) as raised:
        make(box, table, count, **fields)
    assert before == box.world.store.list_changes()
    (fault,) = raised.value.faults
    return fault.field, fault.text


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_every_table(box: Sandbox, table: str) -> None:
    """Whatever is made is what a checked record is, and refers to what exists."""
    kind, store = box.platform.tables[table], box.world.store

    made = make(box, table, 12, seed=5)

    assert 12 == len({record[kind.key] for record in made})
    for record in made:
        assert (record, []) == kind.load(record)
        assert [] == find_missing_references(
            kind, record, lambda name, key: store.get(name, key) is not None
        )
    box.world.reset()
    box.world.clock.freeze(NOW)
    assert made == make(box, table, 12, seed=5)


def test_seeds(box: Sandbox) -> None:
    """Another seed makes others; without one, each call does; a repeated one makes further ones."""
    made = [make(box, "users", 2, seed) for seed in (1, 2, None, None, 1)]

    assert 10 == len({user["id"] for users in made for user in users})
    assert 10 == len({user["screen_name"] for users in made for user in users})


def test_a_running_clock(box: Sandbox) -> None:
    """With a seed, times count from the full minute, so two runs in a row make the same posts."""
    made = []
    for second in (1, 9):
        box.world.reset()
        box.world.clock.resume()
        box.world.clock.travel(NOW + timedelta(seconds=second))
        made.append(make(box, "posts", 3, seed=5, spread="2d"))

    assert made[0] == made[1]


def test_line_items_come_with_campaigns(box: Sandbox) -> None:
    """They are in one account, shared by campaigns, alike in each, in its currency and time."""
    before = box.world.store.count("campaigns")

    items = make(box, "line_items", 45, spread="30d")

    campaigns = {item["campaign_id"] for item in items}
    assert 3 == len(campaigns) == box.world.store.count("campaigns") - before
    assert {ACCOUNT} == {item["_account_id"] for item in items}
    assert 3 == len(
        {(item["campaign_id"], item["objective"], item["product_type"]) for item in items}
    )
    for item in items:
        campaign = box.world.store.get("campaigns", item["campaign_id"]) or {}
        created, start, end = (item[name] for name in ("created_at", "start_time", "end_time"))
        assert campaign["created_at"] < created < start < end
        assert ACCOUNT == campaign["_account_id"]
        assert 0 == item["daily_budget_amount_local_micro"] % 1_000_000
        assert item["daily_budget_amount_local_micro"] < item["total_budget_amount_local_micro"]
    first, last = (parse_instant(items[at]["created_at"]) for at in (0, -1))
    assert NOW - timedelta(days=30) <= first < NOW - timedelta(days=29) < last <= NOW


def test_line_items_of_a_campaign(box: Sandbox) -> None:
    """A campaign is named by its key, its record, a list, or the fields of a new one."""
    record = box.world.store.get("campaigns", CAMPAIGN)
    sibling = next(e.record for e in box.world.store.page("line_items", {"campaign_id": CAMPAIGN}))

    for given in (CAMPAIGN, record):
        items = make(box, "line_items", 2, campaign=given)
        assert {(CAMPAIGN, ACCOUNT, sibling["objective"])} == {
            (each["campaign_id"], each["_account_id"], each["objective"]) for each in items
        }
    items = make(box, "line_items", 3, account_id=ACCOUNT, campaign={"name": "Spring"})
    (key,) = {item["campaign_id"] for item in items}
    assert "Spring" == (box.world.store.get("campaigns", key) or {})["name"]
    items = make(box, "line_items", 4, campaign_id=[CAMPAIGN, key])
    assert [CAMPAIGN, key] * 2 == [item["campaign_id"] for item in items]


def test_relations_are_pairs_and_counted(box: Sandbox) -> None:
    """An edge exists once and leads to no one's self; both ends count exactly."""
    store = box.world.store
    before = {e.key: e.record["followers_count"] for e in store.page("users")}

    follows = make(box, "follows", 200)
    likes = make(box, "likes", 150, user=USER)

    assert 200 == len({(edge["user_id"], edge["target_user_id"]) for edge in follows})
    assert all(edge["user_id"] != edge["target_user_id"] for edge in follows)
    gained = Counter(edge["target_user_id"] for edge in follows)
    assert before | {key: before.get(key, 0) + more for key, more in gained.items()} == {
        e.key: e.record["followers_count"]
        for e in store.page("users")
        if e.key in before or gained[e.key]
    }
    assert {USER} == {edge["user_id"] for edge in likes}
    assert 150 == len({edge["post_id"] for edge in likes})


def test_private_lists_are_not_counted(box: Sandbox) -> None:
    """Members of a public list are counted as listed, those of a private one are not."""
    ids = {flag: make(box, "lists", private=flag, name="L")[0]["id"] for flag in (True, False)}
    (user,) = make(box, "users")
    for list_id in ids.values():
        make(box, "list_members", list=list_id, user=user["id"])

    assert 1 == (box.world.store.get("users", user["id"]) or {})["listed_count"]
    assert [1, 1] == [
        (box.world.store.get("lists", key) or {})["member_count"] for key in ids.values()
    ]


def test_posts_tell_their_time(box: Sandbox) -> None:
    """Ids of posts grow with their times, authors are users, and their posts are counted."""
    before = (box.world.store.get("users", USER) or {})["statuses_count"]

    posts = make(box, "posts", 50, user=USER, spread="10d", text="Open!")

    assert posts == sorted(posts, key=lambda post: post["id"])
    assert {("Open!", USER)} == {(post["full_text"], post["_user_id"]) for post in posts}
    assert all(
        abs(find_moment(post["id_str"]) - parse_instant(post["created_at"])) < timedelta(seconds=1)
        for post in posts
    )
    assert before + 50 == (box.world.store.get("users", USER) or {})["statuses_count"]


def test_nothing_to_refer_to(box: Sandbox) -> None:
    """In an empty world everything is made on the way."""
    for name in ("accounts", "campaigns", "funding_instruments", "line_items", "users"):
        for entry in box.world.store.page(name):
            box.world.store.remove(name, entry.key)

    (item,) = make(box, "line_items")

    campaign = box.world.store.get("campaigns", item["campaign_id"]) or {}
    assert box.world.store.get("accounts", item["_account_id"]) is not None
    assert box.world.store.get("funding_instruments", campaign["funding_instrument_id"]) is not None


def test_a_change_meanwhile(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another request changes while records are made is seen: a handle is taken by one."""
    (first,) = make(box, "users", seed=5)
    box.world.reset()
    box.world.clock.freeze(NOW)
    clock, taken = box.world.clock, first | {"id": "1"}

    def now() -> datetime:
        box.world.store.put("users", "1", taken)
        return NOW

    monkeypatch.setattr(clock, "now", now)

    (made,) = make(box, "users", seed=5)

    assert (first["name"], first["id"]) == (made["name"], made["id"])
    assert f"{first['screen_name'][:14]}2" == made["screen_name"]


@pytest.mark.parametrize(("table", "fields", "field", "text"), [
    ("line_items", {"campain": "x"}, "campain", "Did you mean 'campaign'?"),
    ("line_items", {"campaign": "8wku3"}, "campaign", "Did you mean '8wku2'?"),
    ("line_items", {"campaign": []}, "campaign", "an empty list"),
    ("line_items", {"campaign": 1.5}, "campaign", "Give a key, a list of keys"),
    ("line_items", {"campaign": {"nme": "x"}}, "campaign.nme", "Did you mean 'name'?"),
    ("line_items", {"campaign": {"name": 5}}, "campaign.name", "Expected String, got 5"),
    ("line_items", {"campaign": None}, "campaign", "Expected String"),
    ("line_items", {"campaign": "8wku2", "campaign_id": "x"}, "campaign_id", "the same field"),
    ("line_items", {"campaign": "8wku2", "account": "18ce55fw2ag"}, "campaign", "go together"),
    ("line_items", {"objective": "FUN"}, "objective", "Expected a value in APP_ENGAGEMENTS"),
    ("line_items", {"spread": "soon"}, "spread", "30d, 12h, 1h30m or a number of seconds"),
    ("line_items", {"spread": -1}, "spread", "got -1"),
    ("line_items", {"spread": "7301d"}, "spread", "up to 20 years"),
    ("line_items", {"spread": "1d", "created_at": "now-1d"}, "spread", "exclude each other"),
    ("products", {"spread": "1d"}, "spread", "products has no times"),
    ("users", {"screen_name": "shop"}, "screen_name", "is taken"),
    ("users", {"id": "77"}, "id", "users has a record '77' already"),
    ("likes", {"user": USER, "post": "1712850617439551489"}, "post", "0 more are possible"),
    ("posts", {"_edit_history": ["1"]}, "_edit_history", "the post's own id"),
    ("spaces", {"host_ids": ["1"]}, "host_ids", "which is not in users"),
    ("bidding_rules", {"minimum_denomination": 0}, "minimum_denomination", "at least 1"),
])  # fmt: skip
def test_refusals(box: Sandbox, table: str, fields: Record, field: str, text: str) -> None:
    """The refusal names the field as it was given, and says what can be; nothing is made."""
    make(box, "likes", user=USER, post="1712850617439551489") if table == "likes" and (
        box.world.store.get("likes", f"{USER}:1712850617439551489") is None
    ) else None

    found, told = refuse(box, table, **fields)

    assert field == found
    assert text in told


def test_bounds(box: Sandbox) -> None:
    """The largest spread and what a number of keys allows are made; one more is refused."""
    assert 1 == len(make(box, "users", spread="7300d"))
    assert "count" == refuse(box, "users", MAX_COUNT + 1)[0]
    assert "count" == refuse(box, "bidding_rules", 1000)[0]


def test_moments_count_from_now(box: Sandbox) -> None:
    """A moment may be given as a distance from now, which then is that of the whole record."""
    (item,) = make(box, "line_items", created_at="now-2d")

    assert "2026-11-18T10:00:00Z" == item["created_at"] < item["start_time"] < "2026-11-22"


def test_fixtures(tmp_path: Path) -> None:
    """An object with `_make` becomes many records, whatever the order of the files."""
    for name, records in {
        "likes": [{"_make": 40, "user": "1"}],
        "users": [{"id": "1", "screen_name": "ada", "name": "Ada"}, {"_make": 3, "seed": 9}],
        "posts": [{"_make": 40, "spread": "5d"}],
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(records))

    base = fixtures.load([tmp_path], TABLES, NOW)

    assert {"likes": 40, "users": 4, "posts": 40} == {
        name: len(rows) for name, rows in base.rows.items() if rows
    }
    assert 40 == base.rows["users"]["1"].record["favourites_count"]
    again = fixtures.load([tmp_path], TABLES, NOW)
    assert repr(base.rows) == repr(again.rows)


def test_faults_of_fixtures_have_their_places(tmp_path: Path) -> None:
    """Faults of `_make` have file, line and column."""
    lines = [
        {"_make": 0},
        {"_make": 2, "campain": "x"},
        {"_make": 2, "seed": "x"},
        {"_make": 2, "campaign": {"nme": "x"}},
    ]
    text = ",\n".join(json.dumps(line) for line in lines)
    (tmp_path / "line_items.json").write_text(f"[\n{text}\n]")

    found = fixtures.check([installed.folder("fixtures"), tmp_path], TABLES)

    assert [(2, 2, "_make"), (3, 14, "campain"), (4, 14, "seed"), (5, 27, "campaign.nme")] == [
        (each.line, each.column, each.text.partition("field ")[2].partition(":")[0])
        for each in found
    ]
