"""Account media: list, read, delete (document B, "Account media")."""

from __future__ import annotations

from mock_platform.core.resource import Ids, OneOf, Resource
from mock_platform.records.creatives import CREATIVE_TYPES, AccountMediaRecord

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

OPERATIONS = (
    ACCOUNT_MEDIA.list(
        (Ids("account_media_ids"), OneOf("creative_types", "creative_type", CREATIVE_TYPES))
    ),
    ACCOUNT_MEDIA.get(),
    ACCOUNT_MEDIA.delete(),
)
