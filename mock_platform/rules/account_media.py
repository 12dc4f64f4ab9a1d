"""Finds the media of an advertising account: those of its library, and those only uploaded."""

from __future__ import annotations

from mock_platform.rules.media_uploads import explain_unusable, is_expired, is_of_account
from mock_platform.store.interface import Record
from mock_platform.world.world import World


def find_media(world: World, account_id: str, key: str) -> Record | None:
    """Return media of an account, in its library or only uploaded; `None` if unknown or deleted."""
    found = find_in_library(world, account_id, key)
    if found is None:
        found = world.store.get("media", key)
    if found is None or is_expired(world, found) or explain_unusable(world, found) is not None:
        return None
    return found if is_of_account(world, found, account_id) else None


def find_in_library(world: World, account_id: str, key: str) -> Record | None:
    """Return media in an account's library; `None` if unknown or deleted."""
    found = world.store.get("media_library", key)
    if found is None or found["_account_id"] != account_id or found["deleted"]:
        return None
    return found
