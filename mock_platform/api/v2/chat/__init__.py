"""Encrypted chat: public keys, conversations of two and groups, messages, and media."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.chat import groups, inbox, media, operations, public_keys, records

OPERATIONS = (
    *inbox.OPERATIONS,
    *operations.OPERATIONS,
    *groups.OPERATIONS,
    *media.OPERATIONS,
    *public_keys.OPERATIONS,
)
TABLES = (*records.TABLES,)
SPEC_SENTENCES = {"chat": OTHER_SHAPES, "public-keys": OTHER_SHAPES}
