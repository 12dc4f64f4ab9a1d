"""The files of a durable store: regular, private to their owner, for one server.

They contain tokens and secrets, so new files are readable by their owner only. There are two locks:
one by name, on a file beside the store, and one on the store's own file, because a hard link is
another name of the same file.

The log has JSON lines with checksums, for all changes since the last snapshot. The last member of a
line, `"crc"`, is its own checksum. Only the last line can have been cut short, by a kill or a full
disk; it is dropped with a warning. Damage in any other line is refused.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreInUse
from mock_platform.world.store.sealing import SEAL, open_line, seal_line

PRIVATE = 0o600
"""Permissions of a file that the store creates."""


def make_sibling_path(path: Path, suffix: str) -> Path:
    """Return the path of a file beside the store's: its name with one more suffix."""
    return path.with_name(f"{path.name}.{suffix}")


def resolve(path: str | Path) -> Path:
    """Return the path of a store's file behind all links: the target is replaced, the links stay.

    Raises:
        StoreError: The links form a circle.
    """
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError) as error:
        raise StoreError(f"{path} cannot be opened: its symbolic links form a circle.") from error


def require_regular_files(path: Path) -> None:
    """Check that a store's existing files are regular files.

    Raises:
        StoreError: One is a folder, a device, a pipe or a socket.
    """
    for each in (path, make_sibling_path(path, "log"), make_sibling_path(path, "lock")):
        try:
            mode = each.lstat().st_mode  # the path of the store is behind all links
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(mode) and each == path:
            raise StoreError(f"{path} is a folder; name a file in it, tinydb:{path / 'state.json'}")
        if not stat.S_ISREG(mode):
            raise _refuse(each, _kind(mode))


def open_beside(path: Path) -> int:
    """Return the descriptor of a log or lock, open for appending; creates it if needed.

    What is written there contains secrets, and a lock is emptied first. Whoever may write into the
    folder could plant a link to another file of ours, or a file of his own to read it later. So
    links are not followed, also hard ones, and the file is ours, or that of the folder's owner, who
    can replace everything in it anyway. What was opened is checked, not what has the name.

    Raises:
        StoreError: The file is not one that a store made.
        OSError: It cannot be opened.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        opened = os.open(path, flags, PRIVATE)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK} and path.is_symlink():
            raise _refuse(path, "a symbolic link") from error
        raise
    # What was opened is looked at, and not the name again: between the two, somebody who may write
    # into the folder could have put another file under the name.
    found = os.fstat(opened)
    what = None
    if not stat.S_ISREG(found.st_mode):
        what = _kind(found.st_mode)
    elif found.st_nlink > 1:
        what = "also known by another name (a hard link)"
    elif found.st_uid not in {os.geteuid(), path.parent.stat().st_uid}:
        what = "a file of another user"
    if what is not None:
        os.close(opened)
        raise _refuse(path, what)
    return opened


def create_private(path: Path) -> BinaryIO:
    """Return a new file, open for writing; it replaces any file of this name."""
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, PRIVATE), "wb")


def is_in_use(path: Path) -> bool:
    """Whether another server has the store's file open."""
    try:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(make_sibling_path(resolve(path), "lock"), flags)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


class StoreLock:
    """Keeps other servers out of a store's files until it is released or the process ends.

    Raises:
        StoreInUse: Another server has the files open, under this name or another one.
        StoreError: The folder does not exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Two locks. The one beside the file keeps out whoever names the same path. The one on the
        # file itself keeps out whoever reaches it by another name, or removed the first lock's
        # file; it has to move along whenever the file is replaced.
        self._by_name = self._hold_name()
        self._by_identity: int | None = None
        try:
            self._by_identity = self._hold_present_file()
        except BaseException:
            os.close(self._by_name)
            raise

    def hold(self, descriptor: int) -> int:
        """Lock a file that will become the store's file; pass the result to `keep` or `drop`."""
        # The new file is locked before it takes the name, so there is no moment in which the file
        # under the name is not locked.
        successor = os.dup(descriptor)
        try:
            fcntl.flock(successor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(successor)
            raise
        return successor

    def keep(self, successor: int) -> None:
        """The file from `hold` has replaced the old one."""
        previous, self._by_identity = self._by_identity, successor
        if previous is not None:
            os.close(previous)

    def drop(self, successor: int) -> None:
        """The file from `hold` did not replace the old one."""
        os.close(successor)

    def release(self) -> None:
        """Release the files for other servers."""
        if self._by_identity is not None:
            os.close(self._by_identity)
            self._by_identity = None
        os.close(self._by_name)

    def _hold_name(self) -> int:
        path = make_sibling_path(self._path, "lock")
        try:
            lock = open_beside(path)
        except FileNotFoundError as error:
            raise StoreError(
                f"{self._path.parent} does not exist: create the folder first"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            # The lock's file has the number of the process that holds it, only to name it here;
            # what counts is the lock, which ends with the process however it ends.
            holder = os.read(lock, 20).decode("ascii", "replace").strip() or "unknown"
            os.close(lock)
            raise StoreInUse(
                f"{self._path} is in use by process {holder}: stop that server, or name another "
                "file"
            ) from error
        os.ftruncate(lock, 0)
        os.write(lock, b"%d\n" % os.getpid())
        return lock

    def _hold_present_file(self) -> int | None:
        try:
            present = self._open_present_file()
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(present, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(present)
            raise StoreInUse(
                f"{self._path} is in use by another server, which knows the file by another name "
                "(a hard link) or whose lock file was removed: stop that server, or name another "
                "file"
            ) from error
        return present

    def _open_present_file(self) -> int:
        # A network file system locks only files that are open for writing.
        with suppress(PermissionError):
            return os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        return os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)


def _refuse(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path} is {what}, where a store needs a regular file of its own; it is not changed. "
        "Remove it if you do not need it, or name a store that does not exist yet, or one that "
        "mock_platform wrote."
    )


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for check, name in kinds if check(mode)), "a device")


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
        """Call `apply` with each valid line and its number; return whether the file had any.

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
        """Write one JSON object as a line; return its size in bytes.

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
