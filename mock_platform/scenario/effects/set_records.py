"""`set: {TABLE/ID: {…}}` — records change with the request, and stay changed if it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mock_platform.api.served import TABLES
from mock_platform.core.documents.forms import (
    AnyForm,
    EntriesForm,
    FaultReport,
    TypedForm,
    make_keyed,
)
from mock_platform.core.documents.source import Path
from mock_platform.core.errors import BadRecord
from mock_platform.core.failures.errors import InternalError
from mock_platform.core.tables.state import State
from mock_platform.scenario.effects.effect import EffectKind, Staging

_TABLES = {table.name: table for table in TABLES}
_NAMES = "|".join(_TABLES)


class SetEffect(Struct, frozen=True):
    """Merges into records, creates missing ones, removes those set to null."""

    records: Mapping[str, Mapping[str, Any] | None]

    def change(self, staging: Staging) -> None:
        """Change the records.

        Raises:
            InternalError: The result would not be a valid record of its table.
        """
        state = State(staging.world, staging.tables)
        for address, merge in self.records.items():
            name, _, key = address.partition("/")
            table = state[name]
            try:
                if merge is None:
                    if key in table:
                        table.delete(key)
                elif key in table:
                    table.patch(key, dict(merge))
                else:
                    table.put(dict(merge), key=key)
            except BadRecord as error:
                scenario, rule = staging.rule
                text = f"Scenario {scenario}, rule {rule}, sets {address}: {error}"
                raise InternalError(text) from error


def _cross_check(value: Mapping[str, Any], at: Path, report: FaultReport) -> None:
    """Report fields that records of a table do not have, and values that they cannot have."""
    records = value["set"]
    for address, merge in records.items() if isinstance(records, dict) else ():
        table = _TABLES[address.partition("/")[0]]
        if not isinstance(merge, dict):  # null, or a parameter
            continue
        own = {k: v for k, v in merge.items() if not _contains_placeholder(v)}
        for field, text in table.find_part_faults(own):
            report((*at, address, field.partition("[")[0].partition(".")[0]), text)


def _contains_placeholder(value: Any) -> bool:
    """Return whether a value contains a parameter or an escaped text, which is replaced later."""
    if isinstance(value, list):
        return any(_contains_placeholder(item) for item in value)
    return isinstance(value, str) and value.startswith("$")


KIND = EffectKind(
    "set",
    lambda value: SetEffect(value["set"]),
    cross_check=_cross_check,
    form=make_keyed(
        "set",
        EntriesForm(
            TypedForm(
                object=EntriesForm(AnyForm(), least=0),
                null=True,
                what="an object to merge, or null to remove the record",
            ),
            pattern=rf"(?:{_NAMES})/[^\n]{{1,300}}",
            meaning="TABLE/ID with the name of a table",
            names=tuple(_TABLES),
        ),
        "JSON merge patches of records, by TABLE/ID.",
    ),
)
