"""The datasets that are added to the default fixtures."""

from __future__ import annotations

from datetime import UTC, datetime

from mock_platform.api.datasets import make_dataset
from mock_platform.api.served import TABLES
from mock_platform.core.tables.table import find_missing_references
from mock_platform.platform import load_base
from mock_platform.settings import Settings

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TABLES_BY_NAME = {table.name: table for table in TABLES}


def test_records_have_no_faults() -> None:
    """A start does not check a dataset; if it did, it would find nothing and change nothing."""
    for table_name, records in make_dataset("social", NOW).items():
        table = TABLES_BY_NAME[table_name]
        for record in records:
            checked, faults = table.load(record)

            assert [] == faults
            assert list(checked.items()) == list(table.fill(record).items())


def test_references_lead_to_records() -> None:
    """What a record of a dataset refers to is in the dataset or in the default fixtures."""
    rows = load_base(Settings(freeze=NOW, dataset="social")).rows
    missing = [
        fault
        for table_name in make_dataset("social", NOW)
        for row in rows[table_name].values()
        for fault in find_missing_references(
            TABLES_BY_NAME[table_name], row.record, lambda table, key: key in rows.get(table, {})
        )
    ]

    assert [] == missing
