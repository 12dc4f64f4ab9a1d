"""Every row of document B has a test that names it, and what the rows say of operations holds."""

from __future__ import annotations

from collections import Counter

from mock_platform.api.served import OPERATIONS as SERVED
from mock_platform.core.operation import Operation, Origin
from tests.spec.table import endpoint, faults, sections

DOCUMENTED: dict[str, Operation] = {op.id: op for op in SERVED if op.origin is Origin.DOCUMENT_B}
BASES = {
    "Product catalogs (early access only)": "/12",
    "Tailored audience permissions (version 5)": (
        "/5/accounts/:account_id/tailored_audiences/:tailored_audience_id/permissions"
    ),
}
"""What the document says above a table and leaves out of its rows."""


ENDPOINTS = [each for each in sections("B") if any(row.operation for row in each.rows)]
"""The headings of operations."""


def test_every_rule_has_tests() -> None:
    """Each row has tests that name it, or a reason why there can be none; limits on both sides."""
    assert [] == faults("B")


def test_every_operation_has_its_row() -> None:
    """The 64 documented operations are in the table once each, and no other one is."""
    named = [each.operation for section in sections("B") for each in section.rows if each.operation]

    assert {} == {op: n for op, n in Counter(named).items() if n > 1}
    assert set(DOCUMENTED) == set(named)
    assert 64 == len(named)


def test_each_heading_has_its_number_of_operations() -> None:
    """Product catalogs have 10, keyword insights 1, and so on: 64 together."""
    counted = [sum(each.operation is not None for each in section.rows) for section in ENDPOINTS]

    assert [10, 1, 3, 3, 2, 3, 5, 5, 4, 4, 2, 15, 2, 5] == counted


def test_rows_have_the_method_and_path_of_their_operations() -> None:
    """Where a row writes a whole path, the operation is served at just that one."""
    written = 0
    for section in ENDPOINTS:
        for each in section.rows:
            if each.operation is None:
                continue
            operation = DOCUMENTED[each.operation]
            assert each.says.startswith(f"{operation.method}"), each.says
            found = endpoint(each.says)
            if found is None:
                continue  # "the same path", or the end of a path that was written before
            written += 1
            path = found[1] if found[1].startswith("/12/") else BASES[section.title] + found[1]
            assert (operation.method, operation.path) == (found[0], path)
    assert 52 == written


def test_operations_name_their_heading() -> None:
    """What an operation says about its place in the document is a heading of the table."""
    headings = [section.title for section in ENDPOINTS]
    for section in ENDPOINTS:
        for each in section.rows:
            if each.operation is not None:
                spec = DOCUMENTED[each.operation].spec.removeprefix("B, ").partition(":")[0]
                assert any(heading.startswith(spec) for heading in headings), spec
                assert section.title.startswith(spec), (section.title, spec)
