"""The exceptions about records and tables. Commands import this module, so it is quick to load."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from mock_platform.core.hints import did_you_mean


class RecordFault(Struct, frozen=True):
    """One thing that is wrong with a record: table, key or index, field, text."""

    table: str
    record: str | int
    field: str
    text: str

    def __str__(self) -> str:
        where = f"{self.table}[{self.record}]" if self.record != "" else self.table
        return f"{where}{f', field {self.field}' if self.field else ''}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        """Return the fault as a JSON object."""
        return {
            "table": self.table,
            "record": self.record,
            "field": self.field,
            "message": self.text,
        }


class BadRecord(ValueError):
    """Records that cannot be stored; `faults` holds everything that is wrong with them."""

    def __init__(self, faults: list[RecordFault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class UnknownTable(KeyError):
    """A table was asked for that does not exist."""

    def __init__(self, name: str, tables: Iterable[str]) -> None:
        names = list(tables)
        hint = did_you_mean(name, names)
        super().__init__(f"There is no table {name!r}.{hint} Tables: {', '.join(names)}.")
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError shows its text as Python would write it


class UnknownRecord(LookupError):
    """A record was asked for whose key its table does not hold."""

    def __init__(self, table: str, key: str, keys: list[str]) -> None:
        super().__init__(f"{table} holds no record {key!r}.{did_you_mean(key, keys)}")
        self.table = table
        self.key = key
