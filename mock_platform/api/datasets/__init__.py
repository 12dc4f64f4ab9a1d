"""Larger worlds to begin with: many users, posts and relations, so that every list has pages.

The default fixtures are a small business. `social` adds its followers, their posts, lists and
messages; `large` adds so many of each that depths and ceilings are reached. Names and texts are
made up by number, not by chance, so a dataset is the same every time. Moments end at the start of
the server, and ids grow with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from mock_platform.api.datasets.conversations import make_conversations
from mock_platform.api.datasets.groups import Groups
from mock_platform.api.datasets.network import SIZES, Network
from mock_platform.world.store.interface import Record


def make_dataset(name: str, now: datetime) -> Mapping[str, Sequence[Record]]:
    """Return the records that a dataset adds to the default fixtures, by table, oldest first.

    Records are in stored form, without the fields that have their default; none is later than
    `now`.
    """
    # Moments that count from the start of each world would put every record into every world. With
    # fixed ones all worlds of a server share the records and their indexes.
    network = Network(SIZES[name], now)
    groups = Groups(network)
    return {
        **network.make(groups.list_public_members()),
        **groups.make(),
        **make_conversations(network),
    }
