"""The shipped fixtures fit together: dates, amounts, names and references agree across tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

import pytest

from mock_platform.api.served import TABLES
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World
from tests.support import sandbox

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HISTORY_TABLES = {
    "CAMPAIGN": "campaigns", "LINE_ITEM": "line_items", "PROMOTED_POST": "promoted_posts",
    "TARGETING_CRITERIA": "targeting_criteria",
}  # fmt: skip
CAMPAIGN_SNAPSHOT = {
    "name", "start_time", "end_time", "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro", "entity_status", "standard_delivery", "frequency_cap",
    "duration_in_days", "purchase_order_number", "created_at", "updated_at", "deleted",
}  # fmt: skip
"""What document B names of a campaign's snapshot."""


@pytest.fixture(scope="module")
def world() -> World:
    """The world that the shipped fixtures make."""
    return sandbox(freeze=NOW).platform.worlds.default


def records(world: World, table: str) -> list[Record]:
    """All records of a table."""
    return [entry.record for entry in world.store.page(table)]


def one(world: World, table: str, key: str) -> Record:
    """A record that must be there."""
    found = world.store.get(table, key)
    assert found is not None, f"no {key} in {table}"
    return found


def moment(text: str) -> datetime:
    """A moment in any of the forms that records use."""
    if re.match(r"[A-Z]", text):
        return datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y")
    return parse_instant(text)


def served(record: Record) -> Record:
    """What a snapshot holds of a record: no id, nothing of the mock's own."""
    return {k: v for k, v in record.items() if k[0] != "_" and k != "id"}


def described(table: str, record: Record) -> str:
    """Which record an assertion is about."""
    return f"{table} {record.get('id_str') or record.get('id') or record.get('_id')}"


def test_nothing_changes_before_it_is_made_or_after_now(world: World) -> None:
    """created_at, updated_at and now come in this order."""
    seen = 0
    for table in TABLES:
        for record in records(world, table.name):
            if record.get("created_at") is not None:
                made = moment(record["created_at"])
                last = moment(record.get("updated_at") or record["created_at"])
                assert made <= last <= NOW, described(table.name, record)
                seen += 1
    assert seen


def test_nothing_is_older_than_what_it_refers_to(world: World) -> None:
    """What a record refers to was there when the record was made, and when it was made only."""
    seen = 0
    for table in TABLES:
        for record in records(world, table.name):
            for reference in table.references if record.get("created_at") else ():
                for key in reference.find_targets(record):
                    for name in reference.tables:
                        parent = world.store.get(name, key) or {}
                        if parent.get("created_at") is not None:
                            older, newer = parent["created_at"], record["created_at"]
                            assert moment(older) <= moment(newer), (
                                f"{described(table.name, record)}: {reference.field}"
                            )
                            seen += 1
    assert seen


@pytest.mark.parametrize(("table", "field", "parents"), [
    ("campaigns", "funding_instrument_id", "funding_instruments"),
    ("line_items", "campaign_id", "campaigns"),
    ("promoted_posts", "line_item_id", "line_items"),
    ("promoted_posts", "post_id", "posts"),
    ("targeting_criteria", "line_item_id", "line_items"),
    ("line_item_curated_categories", "line_item_id", "line_items"),
])  # fmt: skip
def test_what_hangs_together_is_of_one_account(
    world: World, table: str, field: str, parents: str
) -> None:
    """A record and what it refers to belong to the same account."""
    for record in records(world, table):
        parent = one(world, parents, record[field])
        assert parent["_account_id"] == record["_account_id"], described(table, record)


def test_line_items_run_within_their_campaign(world: World) -> None:
    """Made before they start, started and ended while the campaign runs."""
    for line_item in records(world, "line_items"):
        campaign = one(world, "campaigns", line_item["campaign_id"])
        what = described("line_items", line_item)
        for record in (campaign, line_item):
            assert record["created_at"] <= record["start_time"] < (record["end_time"] or "9"), what
        assert campaign["start_time"] <= line_item["start_time"], what
        if campaign["end_time"] is not None:
            assert line_item["start_time"] < campaign["end_time"], what
            assert (line_item["end_time"] or "") <= campaign["end_time"], what


def test_campaigns_run_while_they_are_funded(world: World) -> None:
    """The funding instrument is valid for as long as the campaign runs."""
    for campaign in records(world, "campaigns"):
        funding = one(world, "funding_instruments", campaign["funding_instrument_id"])
        what = described("campaigns", campaign)
        assert (funding["start_time"] or "") <= campaign["start_time"], what
        if funding["end_time"] is not None:
            assert (campaign["end_time"] or "9") <= funding["end_time"], what


def test_budgets_fit_and_share_a_currency(world: World) -> None:
    """Daily within total, line items within their campaign, all in the currency of the funding."""
    daily, total = "daily_budget_amount_local_micro", "total_budget_amount_local_micro"
    for campaign in records(world, "campaigns"):
        funding = one(world, "funding_instruments", campaign["funding_instrument_id"])
        line_items = [
            entry.record
            for entry in world.store.page("line_items", {"campaign_id": campaign["id"]})
        ]
        for record in (campaign, *line_items):
            what = f"{campaign['id']}: {record['id']}"
            assert funding["currency"] == record["currency"], what
            if record[daily] is not None and record[total] is not None:
                assert record[daily] <= record[total], what
            if campaign[total] is not None and record[total] is not None:
                assert record[total] <= campaign[total], what
        if funding["funded_amount_local_micro"] is not None and campaign[total] is not None:
            assert campaign[total] <= funding["funded_amount_local_micro"]
        if campaign["budget_optimization"] == "CAMPAIGN":
            assert all(line_item[daily] is None for line_item in line_items)


def test_line_items_name_apps_and_categories_that_exist(world: World) -> None:
    """App identifiers are those of the account's apps of that system."""
    systems = {"ios_app_store_identifier": "iOS", "android_app_store_identifier": "Android"}
    seen = 0
    for line_item in records(world, "line_items"):
        for field, system in systems.items():
            if line_item[field] is not None:
                match = {
                    "_account_id": line_item["_account_id"],
                    "app_store_identifier": line_item[field], "os_type": system, "deleted": False,
                }  # fmt: skip
                assert world.store.page("account_apps", match), line_item["id"]
                seen += 1
    assert seen


def entity_histories(world: World) -> Iterator[tuple[Record, list[Record]]]:
    """Each entity with a history, and its entries in the order of the file."""

    def entity(entry: Record) -> tuple[str, str]:
        return entry["entity"], entry["entity_id"]

    for (kind, key), entries in groupby(
        sorted(records(world, "account_history"), key=entity), entity
    ):
        yield one(world, HISTORY_TABLES[kind], key), list(entries)


def test_a_history_begins_with_the_creation(world: World) -> None:
    """The first entry is the CREATE, when the entity was made, with the values of that time."""
    kinds = set()
    for record, (first, *others) in entity_histories(world):
        data = first["entity_data"]
        assert ("CREATE", {}) == (first["change_type"], first["changes"])
        assert (record["created_at"],) * 3 == (
            first["change_time"], data["created_at"], data["updated_at"],
        )  # fmt: skip
        assert not [entry for entry in others if entry["change_type"] == "CREATE"]
        kinds.add(first["entity"])
    assert {"CAMPAIGN", "LINE_ITEM", "PROMOTED_POST"} <= kinds


def test_a_history_leads_to_what_holds_now(world: World) -> None:
    """Each entry makes the next snapshot of the one before; the last one is the stored record."""
    for record, entries in entity_histories(world):
        for before, after in pairwise(entries):
            changes = after["changes"]
            assert before["change_time"] < after["change_time"]
            assert changes
            assert {n: c["before"] for n, c in changes.items()} == {
                n: before["entity_data"][n] for n in changes
            }
            made = {n: c["after"] for n, c in changes.items()}
            stamp = {"updated_at": after["change_time"]}
            assert before["entity_data"] | made | stamp == after["entity_data"]
        last = entries[-1]
        now = served(record)
        if last["entity"] == "CAMPAIGN":
            now = {name: now[name] for name in CAMPAIGN_SNAPSHOT}
        assert now == last["entity_data"], last["_id"]


def test_who_changed_something_was_a_user_of_the_account(world: World) -> None:
    """Entries are of the entity's account, and of a user who may work on it."""
    for record, entries in entity_histories(world):
        for entry in entries:
            account = one(world, "accounts", entry["_account_id"])
            assert record["_account_id"] == account["id"]
            assert entry["change_by"]["user_id"] in account["_users"]


def test_users_of_the_mocks_own_lists_exist(world: World) -> None:
    """Users and grants of accounts name users that are there."""
    for account in records(world, "accounts"):
        for user in account["_users"]:
            assert account["created_at"] >= one(world, "users", user)["created_at"]
        for grant in account["_post_grants"]:
            assert one(world, "users", grant["advertiser_user_id"])
            assert grant["caller_user_id"] in account["_users"]


def test_posts_show_what_they_were_made_of(world: World) -> None:
    """Media, cards, spans and authors of a post are those that exist."""
    for post in records(world, "posts"):
        if post["_account_id"] is None:  # made by its author, not for an advertiser
            continue
        what, text = described("posts", post), post["full_text"]
        account = one(world, "accounts", post["_account_id"])
        made = moment(post["created_at"])
        assert wire_millis(made) == post["created_at"], what
        assert [0, len(text)] == post["display_text_range"], what
        assert post["nullcast"] is not post["scopes"]["followers"], what
        media = [one(world, "media_library", key) for key in post["_media_keys"]]
        shown = post.get("extended_entities", {}).get("media", [])
        assert [(m["media_key"], m["media_url"]) for m in media] == (
            [(m["media_key"], m["media_url"]) for m in shown]
        ), what
        assert shown[:1] == post["entities"].get("media", []), what
        for one_media in media:
            assert moment(one_media["created_at"]) <= made, what
            assert account["id"] == one_media["_account_id"], what
            assert one_media["posted"], what
        for tag in post["entities"]["hashtags"]:
            start, end = tag["indices"]
            assert f"#{tag['text']}" == text[start:end], what
        for url in post["entities"]["urls"]:
            start, end = url["indices"]
            assert url["url"] == text[start:end], what
        author = post["_user_id"]
        if author not in account["_users"]:
            granted = {
                g["advertiser_user_id"]: g["caller_user_id"] for g in account["_post_grants"]
            }
            assert [int(granted[author])] == post["contributors"], what
        if "card_uri" in post:
            cards = [
                entry.record
                for table in ("cards", "poll_cards", "video_conversation_cards")
                for entry in world.store.page(table, {"card_uri": post["card_uri"]})
            ]
            assert [account["id"]] == [card["_account_id"] for card in cards], what
            assert moment(cards[0]["created_at"]) <= made, what


def test_media_that_is_posted_was_posted(world: World) -> None:
    """A library object says posted exactly if a post of the account shows it."""
    used = {key for post in records(world, "posts") for key in post["_media_keys"]}
    said = {m["media_key"] for m in records(world, "media_library") if m["posted"]}
    library = {media["media_key"] for media in records(world, "media_library")}

    assert used & library <= said


def test_targeted_audiences_are_those_of_the_account(world: World) -> None:
    """A criterion that aims at an audience has the common name, and the account owns it."""
    seen = 0
    for criterion in records(world, "targeting_criteria"):
        if criterion["targeting_type"] != "CUSTOM_AUDIENCE":
            continue
        audience = one(world, "custom_audiences", criterion["targeting_value"])
        assert criterion["name"] == "Custom audience targeting"
        assert audience["created_at"] <= criterion["created_at"]
        assert audience["owner_account_id"] == criterion["_account_id"]
        seen += 1
    assert seen


def test_each_account_has_one_full_promotable_user(world: World) -> None:
    """Exactly one, who is a user of the account; others are for reposts only."""
    for account in records(world, "accounts"):
        own = [r for r in records(world, "promotable_users") if r["_account_id"] == account["id"]]
        full = [r["user_id"] for r in own if r["promotable_user_type"] == "FULL"]
        assert len(full) == 1, account["id"]
        assert full[0] in account["_users"]
        assert len({r["user_id"] for r in own}) == len(own)


def test_parts_of_line_items_fit_their_line_items(world: World) -> None:
    """Product, account, user, media and time agree with the line item and what is named."""
    full = {
        r["_account_id"]: r["user_id"]
        for r in records(world, "promotable_users")
        if r["promotable_user_type"] == "FULL"
    }
    products = {
        "promoted_posts": {"PROMOTED_POSTS", "PROMOTED_ACCOUNT"},
        "promoted_accounts": {"PROMOTED_ACCOUNT"},
        "media_creatives": {"MEDIA"},
    }
    every = {"PROMOTED_POSTS", "PROMOTED_ACCOUNT", "MEDIA"}
    for table in (*products, "targeting_criteria", "tracking_tags", "preroll_call_to_actions"):
        assert records(world, table)
        for record in records(world, table):
            line_item = one(world, "line_items", record["line_item_id"])
            about = described(table, record)
            assert line_item["product_type"] in products.get(table, every), about
            assert line_item["_account_id"] == record["_account_id"], about
            assert line_item["created_at"] <= record["created_at"], about
            if table == "promoted_accounts":
                assert record["user_id"] == full[record["_account_id"]], about
            if table == "promoted_posts":
                post = one(world, "posts", record["post_id"])
                assert post["_account_id"] == record["_account_id"], about
            if table == "media_creatives":
                media = one(world, "account_media", record["account_media_id"])
                assert media["creative_type"] == record["creative_type"], about
            if table == "preroll_call_to_actions":
                assert line_item["objective"] == "PREROLL_VIEWS", about


def test_criteria_are_named_as_in_the_lookups(world: World) -> None:
    """A location or another listed value has the name that its lookup shows."""
    names = {
        (r["targeting_type"], r["targeting_value"]): r["name"]
        for r in records(world, "targeting_options")
        if "targeting_value" in r
    }
    listed = [
        (names[key], record["name"])
        for record in records(world, "targeting_criteria")
        if (key := (record["targeting_type"], record["targeting_value"])) in names
    ]

    assert listed
    assert all(name == own for name, own in listed)


def test_audiences_are_shared_with_whom_they_may_be(world: World) -> None:
    """Within a business, or by an owner with the feature; never with the owner itself."""
    for permission in records(world, "audience_permissions"):
        if permission["deleted"]:
            continue
        audience = one(world, "custom_audiences", permission["_audience_id"])
        owner = one(world, "accounts", audience["owner_account_id"])
        other = one(world, "accounts", permission["granted_account_id"])
        assert owner["id"] != other["id"]
        assert other["created_at"] <= permission["created_at"], permission["id"]
        assert (
            owner["business_id"] == other["business_id"]
            or "SHARE_AUDIENCE_OUTSIDE_BUSINESS" in owner["_features"]
        ), permission["id"]


def test_audiences_hold_their_users(world: World) -> None:
    """Sizes, reasons and stored users agree; uploads came after the audience was made."""
    held: dict[str, list[Record]] = {}
    for user in records(world, "audience_users"):
        held.setdefault(user["_audience_id"], []).append(user)
        assert user["effective_at"] < user["expires_at"]
    sized: list[tuple[Record, Any]] = [
        *((a, a["audience_size"]) for a in records(world, "custom_audiences")),
        *((a, a["_size"]) for a in records(world, "do_not_reach_lists")),
    ]
    for audience, size in sized:
        users = held.pop(audience["id"], [])
        assert len(users) <= (size or 0), audience["id"]
        assert all(audience["created_at"] <= user["effective_at"] for user in users)
        reasons = audience["reasons_not_targetable"]
        assert audience["targetable"] is (not reasons), audience["id"]
        if size is not None and "PROCESSING" not in reasons:
            assert (size < 100) is ("TOO_SMALL" in reasons), audience["id"]
    assert {} == held


def test_do_not_reach_lists_show_their_size_from_100_users_on(world: World) -> None:
    """A young list is PROCESSING and TOO_SMALL, a small one TOO_SMALL, both without a size."""
    found = {
        tuple(record["reasons_not_targetable"]): record["list_size"]
        for record in records(world, "do_not_reach_lists")
    }

    assert {("TOO_SMALL",): None, ("PROCESSING", "TOO_SMALL"): None, (): 412} == found


def test_manual_sets_hold_products_of_their_catalog(world: World) -> None:
    """Product sets name merchant ids that their catalog has."""
    for product_set in records(world, "product_sets"):
        match = {"_catalog_id": product_set["_catalog_id"]}
        there = {entry.record["id"] for entry in world.store.page("products", match)}
        assert set(product_set["product_ids"]) <= there


def test_prerolls_are_videos_of_the_account(world: World) -> None:
    """A PREROLL account media shows an amplify video of the account's library."""
    for media in records(world, "account_media"):
        assert (media["video_id"] is None) is (media["media_url"] is not None), media["id"]
        if media["creative_type"] == "PREROLL":
            video = one(world, "media_library", media["video_id"])
            assert (media["_account_id"], "AMPLIFY_VIDEO") == (
                video["_account_id"],
                video["media_category"],
            )
