"""Everything that is served, in one table: the list of subjects, and what each of them declares.

A subject is a folder; its `__init__` has `OPERATIONS`, and may have `TABLES`, `KINDS` (slow changes
of state), `NOT_SERVED`, `EXAMPLE_PATHS`, `ORIGINAL_NAMES`, `PRODUCT_NAMES` (of events) and
`SPEC_SENTENCES`, `PUBLISHED_IDS`, `AGENT_TOOLS`. Nothing else has a list of operations, tables or
subjects, and nothing registers itself as a side effect of an import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module

from msgspec.structs import replace

from mock_platform.api import ads, v2
from mock_platform.api.ads.conventions import ACCOUNT_SCOPE, READ_ONLY, USER_RIGHTS
from mock_platform.api.ads.lists import SORT_BY
from mock_platform.api.v2 import prices
from mock_platform.api.v2.release_history import NAMES_EFFECTIVE, PUBLIC_NAMES
from mock_platform.core import assumptions
from mock_platform.core.operation import Dialect, NotServed, Operation, Origin, table
from mock_platform.core.original_names.exchange import Translator
from mock_platform.core.original_names.translation import Pairs
from mock_platform.core.tables.table import Table
from mock_platform.world.transitions import TransitionKind

SUBJECTS = (
    "oauth",
    "v2.objects",
    "v2.webhooks",
    "v2.activity",
    "v2.streams",
    "v2.filtered_stream",
    "v2.messages",
    "v2.news",
    "v2.usage",
    "v2.media",
    "v2.notes",
    "v2.posts",
    "v2.users",
    "v2.user_relations",
    "v2.analytics",
    "v2.broadcasts",
    "v2.reposts",
    "v2.timelines",
    "v2.likes",
    "v2.bookmarks",
    "v2.spaces",
    "v2.chat",
    "v2.lists",
    "v2.communities",
    "v2.trends",
    "v2.volume_streams",
    "v2.compliance",
    "v2.search",
    "ads.accounts",
    "ads.audiences",
    "ads.campaigns",
    "ads.line_items",
    "ads.measurement",
    "ads.targeting",
    "ads.analytics",
    "ads.catalogs",
    "ads.media",
    "ads.cards",
    "ads.advertiser_posts",
    "older",
    "v2.description",
)
"""The folders below `mock_platform.api`, one for each subject."""

_FOLDERS = tuple(import_module(f"mock_platform.api.{name}") for name in SUBJECTS)


def _join_names(dialect: str) -> Pairs:
    """Return the original names of a dialect: those of its subjects, and what they share."""
    found = Pairs()
    for name in (dialect, *SUBJECTS):
        if name.partition(".")[0] == dialect:
            folder = import_module(f"mock_platform.api.{name}")
            found = found.join(getattr(folder, "ORIGINAL_NAMES", Pairs()))
    return found


_DIALECTS: tuple[Dialect, ...] = ("ads", "v2", "oauth")
_NAMES = {dialect: _join_names(dialect) for dialect in _DIALECTS}


_PART = re.compile(r"[^/.]+")
"""A segment of a path, without an ending such as .json."""


def _add_older_paths(operation: Operation, segments: Mapping[str, str]) -> Operation:
    """Return an operation with its paths in the original words as well, if it has such words."""
    if not segments:
        return operation
    paths = (operation.path, *operation.also)
    older = [_PART.sub(lambda found: segments.get(found[0], found[0]), path) for path in paths]
    also = [path for path in dict.fromkeys([*older, *operation.also]) if path != operation.path]
    return replace(operation, also=tuple(also))


_SEGMENTS = {"v2": _NAMES["v2"].segments, "older": _join_names("older").segments}
"""The words in paths of the interfaces whose original paths are always served."""
OPERATIONS: tuple[Operation, ...] = table(
    [
        _add_older_paths(operation, _SEGMENTS.get(name.partition(".")[0], {}))
        for name, folder in zip(SUBJECTS, _FOLDERS, strict=True)
        for operation in getattr(folder, "OPERATIONS", ())
    ]
)
"""All operations that are served."""
OPERATION_IDS: tuple[str, ...] = tuple(operation.id for operation in OPERATIONS)
"""The ids of all operations."""

TABLES: tuple[Table, ...] = tuple(
    entry for folder in _FOLDERS for entry in getattr(folder, "TABLES", ())
)
"""All tables of records."""

ASSUMPTIONS = (
    ACCOUNT_SCOPE,
    READ_ONLY,
    SORT_BY,
    USER_RIGHTS,
    PUBLIC_NAMES,
    NAMES_EFFECTIVE,
    *prices.ASSUMPTIONS,
)
"""Assumptions that answers of many operations may name, and that none declares."""

NOT_SERVED: tuple[NotServed, ...] = tuple(
    path for folder in _FOLDERS for path in getattr(folder, "NOT_SERVED", ())
)
"""Paths that are not served, and that would otherwise match the path of a record."""

EXAMPLE_PATHS: Mapping[str, Mapping[str, str]] = {
    operation.id: getattr(folder, "EXAMPLE_PATHS", {})
    for folder in _FOLDERS
    for operation in getattr(folder, "OPERATIONS", ())
}
"""What the paths of example requests have for their parameters in each subject, by operation."""


_NOT_SHOWN = {
    assumption.id.partition(".")[0]: v2.OTHER_SHAPES
    for operation in OPERATIONS
    if operation.dialect == "v2" and operation.origin is Origin.PUBLIC_FACT
    for assumption in operation.all_assumptions
}
SPEC_SENTENCES: Mapping[str, str] = {
    id_: sentence
    for sentences in (
        _NOT_SHOWN,
        assumptions.SPEC_SENTENCES,
        *(getattr(folder, "SPEC_SENTENCES", {}) for folder in (ads, v2, *_FOLDERS)),
    )
    for id_, sentence in sentences.items()
}
"""What the specification says, by the id of an assumption, or by the part before the dot.

A folder of v2 says nothing where the specification says as little: its operations are public facts.
"""

PUBLISHED_IDS: Mapping[str, str] = {
    id_: published
    for folder in _FOLDERS
    for id_, published in getattr(folder, "PUBLISHED_IDS", {}).items()
}
"""The ids of operations in the public description of v2, by ours: names of methods in clients."""

AGENT_TOOLS: Mapping[str, str] = {
    id_: name for folder in _FOLDERS for id_, name in getattr(folder, "AGENT_TOOLS", {}).items()
}
"""The tools of the advertising server for agents, by the ids of the operations behind them."""

ORIGINAL_NAMES = Translator(
    _NAMES,
    {
        product: pairs
        for folder in _FOLDERS
        for product, pairs in getattr(folder, "PRODUCT_NAMES", {}).items()
    },
)
"""The original names of all operations, and of the products that deliver events."""

KINDS: tuple[TransitionKind, ...] = tuple(
    kind for folder in _FOLDERS for kind in getattr(folder, "KINDS", ())
)
"""All kinds of slow state changes."""
