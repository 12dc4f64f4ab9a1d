"""Account media: listed, read, deleted, and found by those who want to show them."""

from __future__ import annotations

from mock_platform.api.ads.filters import IdsFilter, OneOfFilter
from mock_platform.api.ads.resource import Resource
from mock_platform.api.v2.media.uploads import explain_unusable, is_expired, is_of_account
from mock_platform.core.fields import Choice, Text
from mock_platform.core.schema import Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

CREATIVE_TYPES = (
    "BANNER",
    "BANNER_TABLET",
    "INTERSTITIAL",
    "INTERSTITIAL_LANDSCAPE",
    "INTERSTITIAL_LANDSCAPE_TABLET",
    "INTERSTITIAL_TABLET",
    "MEDIUM_RECTANGLE",
    "PREROLL",
    "VAST_PREROLL",
)


class AccountMediaRecord(Stamped):
    """An asset of an account: an image by address, or a video by id."""

    id = Text(required=True)
    video_id = Text(load_default=None, allow_none=True)
    media_url = Text(load_default=None, allow_none=True)
    creative_type = Choice(CREATIVE_TYPES, required=True)
    _account_id = Text(required=True)


ACCOUNT_MEDIA = Resource(
    name="account_media",
    table="account_media",
    path="/12/accounts/:account_id/account_media",
    id_parameter="account_media_id",
    schema=AccountMediaRecord,
    noun="account media",
    spec="Account media",
    missing="ACCOUNT_MEDIA_NOT_FOUND",
)

TABLES = (
    Table("account_media", AccountMediaRecord, references=(Reference("_account_id", "accounts"),)),
)
OPERATIONS = (
    ACCOUNT_MEDIA.list(
        (
            IdsFilter("account_media_ids"),
            OneOfFilter("creative_types", "creative_type", CREATIVE_TYPES),
        )
    ),
    ACCOUNT_MEDIA.get(),
    ACCOUNT_MEDIA.delete(),
)


# Finds the media of an advertising account: those of its library, and those only uploaded.


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
