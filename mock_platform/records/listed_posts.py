"""The posts of an account of every type, as its list and its previews show them."""

from __future__ import annotations

from collections.abc import Iterable

from mock_platform.records.planned_posts import show_plan
from mock_platform.records.posts import DRAFT, PUBLISHED, SCHEDULED, make_post_object
from mock_platform.rules.promotable_users import find_promotable_type
from mock_platform.store.interface import Record
from mock_platform.world.world import World

PLAN_TABLES = {DRAFT: "draft_posts", SCHEDULED: "scheduled_posts"}


def find_listed(world: World, account_id: str, kind: str, keys: Iterable[str]) -> list[Record]:
    """Return those posts of a type that an account may see, in the form of the 1.1 interface."""
    found = []
    for key in keys:
        record = world.store.get(PLAN_TABLES.get(kind, "posts"), key)
        if record is None or not _is_seen(world, account_id, kind, record):
            continue
        found.append(show_listed(world, kind, record))
    return found


def show_listed(world: World, kind: str, record: Record, *, trim: bool = False) -> Record:
    """Return a stored post, draft or scheduled post in the form of the 1.1 interface."""
    show = make_post_object if kind == PUBLISHED else show_plan
    return show(world, record, trim=trim)


def _is_seen(world: World, account_id: str, kind: str, record: Record) -> bool:
    if record["_account_id"] == account_id:
        return record.get("scheduled_status", SCHEDULED) == SCHEDULED or kind == PUBLISHED
    if kind != PUBLISHED:
        return False
    return find_promotable_type(world, account_id, record["_user_id"]) is not None
