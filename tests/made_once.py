"""What tests of one process make once, though each platform would make it for itself.

A description of all operations takes a second, and so does reading and checking all packaged
scenarios; reading the packaged fixtures takes half the time of making a platform. Nothing changes
any of them, so a test cannot notice; what a test is about, it makes with its own files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoints, PackageMetadata, PackagePath, distributions
from pathlib import Path
from typing import Any

from mock_platform.api.served import OPERATIONS
from mock_platform.core import installed
from mock_platform.core.description import openapi
from mock_platform.core.documents.source import Source
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.platform import load_base
from mock_platform.scenario import document
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import Scenario
from mock_platform.settings import Settings
from mock_platform.world.store.memory import Base

DESCRIBING = (
    "mock_platform.control.description",
    "mock_platform.platform",
    "mock_platform.verification.compare.plan",
    "mock_platform.verification.contract.document",
)
"""The modules that describe operations."""
LOADING = (
    "mock_platform.platform",
    "mock_platform.serving.restoring",
    "mock_platform.verification.importing.folder",
)
"""The modules that load fixtures."""
_describe, _read_source, _load = openapi.describe, document.read_source, document.load
_catalog = cache(lambda: Catalog.collect(OPERATIONS))
_PACKAGED = installed.folder("scenarios")
_MAX_DESCRIBED = 16
"""The latest so many descriptions are kept: one has some megabytes."""
_NOT_DESCRIBED: dict[str, Any] = {
    "seed": 0, "freeze": None, "auth": "strict", "names": None, "wire": None, "as_of": None,
}  # fmt: skip
"""What no description depends on: names, wire and date are put into a copy of it."""
_described: dict[object, bytes] = {}


def describe_once(operations: Iterable[Operation], settings: Settings, **more: Any) -> Any:
    """The description of these operations, as a copy of its own."""
    listed = tuple(operations)
    settings = replace(settings, **_NOT_DESCRIBED)
    if more.get("extend") is None:  # records are examples of the control plane's routes alone
        settings = replace(settings, fixtures=(), default_fixtures=True)
    key = (
        listed,
        settings,
        more["title"],
        more.get("sandbox"),
        more.get("extend") is None,
    )
    found = _described.pop(key, None) or dumps(_describe(listed, settings, **more))
    _described[key] = found
    if len(_described) > _MAX_DESCRIBED:
        del _described[next(iter(_described))]
    return loads(found, max_nesting=256)


@cache
def _read_packaged(file: Path) -> Source:
    return _read_source(file)


def read_packaged_once(file: Path) -> Source:
    """A file as data with places; one of the package is read once."""
    return _read_packaged(file) if _PACKAGED in file.parents else _read_source(file)


@cache
def _load_packaged(file: Path) -> Scenario:
    return _load(file, _catalog())


def load_scenario_once(file: Path, catalog: Catalog) -> Scenario:
    """A scenario; one of the package is checked once against all operations of the package."""
    usual = _catalog()
    if (
        _PACKAGED in file.parents
        and catalog.ids == usual.ids
        and all(catalog[each].operation is usual[each].operation for each in usual.ids)
    ):
        return _load_packaged(file)
    return _load(file, catalog)


@dataclass(frozen=True)
class _Plugins:
    """A distribution that has plugins of pytest, with what pytest asks of it."""

    metadata: PackageMetadata
    version: str
    entry_points: EntryPoints
    files: list[PackagePath] | None


@cache
def list_plugins_once() -> list[_Plugins]:
    """The installed plugins of pytest: each run in a process would search all distributions."""
    return [
        _Plugins(found.metadata, found.version, found.entry_points, found.files)
        for found in distributions()
        if found.entry_points.select(group="pytest11")
    ]


@cache
def packaged_fixtures(settings: Settings) -> Base:
    """The packaged fixtures, read once for each test process: nothing changes a base."""
    return load_base(settings)


def load_once(settings: Settings) -> Base:
    """The fixtures for these settings, which takes no time where they are the packaged ones."""
    packaged = settings.default_fixtures and not settings.fixtures
    if not packaged:
        return load_base(settings)
    return packaged_fixtures(Settings(freeze=settings.freeze, dataset=settings.dataset))
