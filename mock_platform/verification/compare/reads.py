"""Which operations are compared: those that only read, and whose answer ends and is data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mock_platform.api.served import ORIGINAL_NAMES, SPEC_SENTENCES
from mock_platform.core.description.openapi import Description, describe
from mock_platform.core.envelope import Lines
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.verification.compare.results import SkippedOperation
from mock_platform.version import __version__

FILE = "application/gzip"
"""The media type of files whose addresses are in other answers."""
_COMPARED = frozenset({"application/json", FILE})


def list_reads(operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that only read and whose answers end, lists before their records."""
    reads = [
        operation
        for operation in operations
        if operation.method == "GET"
        and not operation.sandbox_only
        and _explain_unasked(operation) is None
    ]
    return sorted(reads, key=lambda operation: len(operation.path_names))


def list_unasked(operations: Sequence[Operation]) -> Iterator[SkippedOperation]:
    """Yield the operations that read and are not compared, each with the reason."""
    for operation in operations:
        why = _explain_unasked(operation)
        if operation.method == "GET" and not operation.sandbox_only and why is not None:
            yield SkippedOperation(operation.id, why)


def _explain_unasked(operation: Operation) -> str | None:
    """Return why the answer of an operation cannot be compared; `None` if it can."""
    if isinstance(operation.returns, Lines):
        return "its answer is a stream, which does not end"
    if operation.returns.media_type not in _COMPARED:
        return f"its answer is {operation.returns.media_type}, a page for people"
    return None


def describe_reads(platform: Platform) -> Description:
    """Return the OpenAPI document of the operations that are compared.

    That of all operations takes five times as long to make.
    """

    def make() -> dict[str, Any]:
        reads = list_reads(platform.operations)
        text = "The operations that read."
        return describe(
            reads,
            platform.settings,
            title="mock_platform",
            version=__version__,
            text=text,
            original_names=ORIGINAL_NAMES,
            spec_sentences=SPEC_SENTENCES,
        )

    return Description(make)
