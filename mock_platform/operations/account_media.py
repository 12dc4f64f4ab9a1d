"""Account media: list, read, delete (document B, "Account media")."""

from __future__ import annotations

from mock_platform.core.fields import Choice, Text
from mock_platform.core.filters import IdsFilter, OneOfFilter
from mock_platform.core.resource import Resource
from mock_platform.core.schema import Stamped
from mock_platform.records.table import Reference, Table

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
