"""Archives of the sandbox's own traffic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mock_platform.control.har import archive
from mock_platform.control.known_credentials import credentials
from mock_platform.control.sample_values import MINUTE
from mock_platform.control.samples import sample
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.operations import OPERATIONS
from mock_platform.settings import Settings
from tests.support import Sandbox
from tests.test_kept_worlds import NOON


def list_operations() -> Iterator[Operation]:
    """The operations that have samples: reads first, and last those that end credentials.

    Streams, which do not end, are left out.
    """
    found = credentials(Sandbox(Settings(freeze=NOON)).platform)
    order = ("GET", "POST", "PUT", "DELETE")
    for operation in sorted(
        OPERATIONS, key=lambda each: (each.dialect == "oauth", order.index(each.method))
    ):
        if operation.id.endswith("stream.open"):
            continue
        try:
            sample(operation, found)
        except LookupError:
            continue
        yield operation


def send_sample(box: Sandbox, operation: Operation) -> None:
    """Send the sample of an operation."""
    asked = sample(operation, credentials(box.platform))
    body = None if asked.body is None else asked.body.replace(MINUTE, "202603011159")
    box.client.open(asked.path, method=asked.method, headers=asked.headers, data=body)


def write_journal(box: Sandbox, file: Path) -> Path:
    """The journal of a sandbox as an archive."""
    file.write_bytes(dumps(archive(list(box.world.journal), 0)))
    return file
