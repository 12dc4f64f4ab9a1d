"""Recorded requests on the disk: an archive may hold more of them than fit into memory."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from mock_platform.importing.replaying import RecordedCall

_BUFFER_BYTES = 1024 * 1024


class KeptCalls:
    """Recorded requests in their order, in a temporary file without a name.

    No other program can open the file, and the system removes it, however the process ends.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is where the file lies: the system's own may be in memory."""
        self._file = tempfile.TemporaryFile(  # noqa: SIM115 - `close` closes it
            dir=folder, buffering=_BUFFER_BYTES
        )
        self._ends = array("Q")

    def append(self, call: RecordedCall) -> None:
        """Add a request.

        Raises:
            OSError: The disk is full.
        """
        data = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
        end = self._find_start(len(self._ends))
        self._file.seek(end)
        self._file.write(data)
        self._ends.append(end + len(data))

    def close(self) -> None:
        """Remove the file. Idempotent."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[RecordedCall]:
        return map(self.__getitem__, range(len(self._ends)))

    def __getitem__(self, position: int) -> RecordedCall:
        start = self._find_start(position)
        self._file.seek(start)
        data = self._file.read(self._ends[position] - start)
        return cast("RecordedCall", pickle.loads(data))  # noqa: S301 - only written above

    def _find_start(self, position: int) -> int:
        return self._ends[position - 1] if position else 0
