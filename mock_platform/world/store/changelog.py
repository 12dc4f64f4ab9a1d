"""The log of a durable store: JSON lines with checksums, for all changes since its last snapshot.

The last member of a line, `"crc"`, is its own checksum. Only the last line can have been cut short,
by a kill or a full disk; it is dropped with a warning. Damage in any other line is refused.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from mock_platform.world.store.errors import StoreDamaged
from mock_platform.world.store.files import open_beside
from mock_platform.world.store.sealing import SEAL, open_line, seal_line

_LOG = logging.getLogger(__name__)


def sync_folder(folder: Path) -> None:
    """Ensure that the names of new or replaced files in a folder survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class ChangeLog:
    """The file, open for appending. It has one owner, and is used under the lock of its archive."""

    def __init__(self, path: Path, *, sync: bool) -> None:
        self.path = path
        self.size = 0
        """Number of bytes of valid lines; anything after them is not part of the log."""
        self._sync = sync
        self._fd = open_beside(path)
        self._ragged = False
        if sync:
            sync_folder(path.parent)

    def replay(self, apply: Callable[[int, dict[str, Any]], None]) -> bool:
        """Call `apply` with each valid line and its number; returns whether the file had any.

        A last line that was cut short is removed from the file, with a warning.

        Raises:
            StoreDamaged: A line before the last does not contain what was written.
        """
        with os.fdopen(os.dup(self._fd), "rb") as file:
            file.seek(0)
            content = file.read()
        lines = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            # The last piece of the split is what follows the last newline: empty if the file ends
            # well, else a line that was being written. It is never applied, even if its checksum is
            # right by chance.
            body = open_line(line) if number < len(lines) else None
            if body is None:
                self._check_cut_short(number, line, last=self.size + len(line) + 1 >= len(content))
                break
            apply(number, orjson.loads(body))
            self.size += len(line) + 1
        if self.size < len(content):
            _LOG.warning(
                "%s: the last line was cut short (%d bytes from byte %d on) and is dropped; it was "
                "being written when the server or the machine stopped",
                self.path, len(content) - self.size, self.size,
            )  # fmt: skip
            os.ftruncate(self._fd, self.size)
        return bool(content)

    def append(self, body: bytes) -> int:
        """Write one JSON object as a line; returns its size in bytes.

        When this returns, the line survives a kill of the process, and with `sync` a loss of power.

        Raises:
            OSError: The line could not be written; the log is unchanged.
        """
        line = seal_line(body)
        # After a failed write there may be half a line at the end. Anything appended to it would be
        # one damaged line in the middle of the log, so it is cut off first; if that fails, so does
        # this write.
        if self._ragged:
            self._trim()
        try:
            written = os.write(self._fd, line)
            while written < len(line):  # a nearly full disk takes what fits, then refuses
                written += os.write(self._fd, line[written:])
            if self._sync:
                getattr(os, "fdatasync", os.fsync)(self._fd)  # macOS has only the slower one
        except BaseException:
            self._ragged = True
            with suppress(OSError):
                self._trim()
            raise
        self.size += len(line)
        return len(line)

    def cut(self) -> None:
        """Delete all lines, because a snapshot contains them now."""
        os.ftruncate(self._fd, 0)
        self.size = 0
        self._ragged = False

    def close(self) -> None:
        """Close the file of the log."""
        os.close(self._fd)

    def _trim(self) -> None:
        os.ftruncate(self._fd, self.size)
        self._ragged = False

    def _check_cut_short(self, number: int, line: bytes, *, last: bool) -> None:
        """Check that a damaged line is the last line of the file."""
        # A lost newline joins two good lines into one bad one. If a line ends well somewhere in the
        # middle, more than the end of the file is damaged, and dropping the rest would lose commits
        # that were acknowledged.
        ends = [seal.end() for seal in SEAL.finditer(line)]
        more_than_one = any(open_line(line[:end]) for end in ends if end < len(line))
        if last and not more_than_one:
            return
        raise StoreDamaged(
            self.path,
            "the checksum of the line is wrong, and more lines follow, so it was not just cut "
            "short",
            "Put back a copy from before the damage; or keep the lines before it with `head -n "
            f"{number - 1}`, which drops this change and all later ones.",
            number,
        )
