"""What changes lists: their members, followers and pins, and the counts that hang on them.

No activity is sent for lists. Facts: all of v2, section 8.
"""

from __future__ import annotations

from mock_platform.api.v2.lists.records import LIST_FOLLOWERS, LIST_MEMBERS, LIST_PINS
from mock_platform.api.v2.objects.relations import add_to_count
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


def unfollow_list(world: World, user_id: str, list_id: str) -> None:
    """End the follow of a list, and the pin that depends on it."""
    if LIST_FOLLOWERS.remove(world, user_id, list_id):
        LIST_PINS.remove(world, user_id, list_id)


def update_list(world: World, list_: Record, **changed: str | bool) -> None:
    """Change a list; one that turns private or public is no longer, or again, counted."""
    private = changed.get("private", list_["private"])
    if private != list_["private"]:
        for user_id in LIST_MEMBERS.list_targets(world, list_["id"]):
            add_to_count(world, "users", user_id, "listed_count", -1 if private else 1)
        if private:
            _end_follows(world, list_)
    world.store.put("lists", list_["id"], (world.store.get("lists", list_["id"]) or {}) | changed)


def _end_follows(world: World, list_: Record) -> None:
    """End the follows of a list, and the pins of all but its owner."""
    LIST_FOLLOWERS.remove_all(world, target=list_["id"])
    for user_id in LIST_PINS.list_sources(world, list_["id"]):
        if user_id != list_["owner_id"]:
            LIST_PINS.remove(world, user_id, list_["id"])


def delete_list(world: World, list_: Record) -> None:
    """Delete a list with its members, followers and pins."""
    LIST_MEMBERS.remove_all(world, source=list_["id"])
    for relation in (LIST_FOLLOWERS, LIST_PINS):
        relation.remove_all(world, target=list_["id"])
    world.store.remove("lists", list_["id"])
