"""Opens an archive, also a packed one: `.zhar` of mitmproxy, `.har.gz`, `.zip` of Playwright.

Playwright can keep bodies in files of their own, beside the archive or in the same zip file.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from mock_platform.har.splitting import CHUNK_BYTES, Readable, Unreadable

# Who made the archive chose the names in it, but not what else is in the folder: keys, settings, a
# link to them. Playwright names each body after its hash, so only such files are read; they may
# have been edited since. A zip file contains nothing that its maker did not have.
_ATTACHED = re.compile(r"[0-9a-f]{40}\.[A-Za-z0-9]{1,16}", re.ASCII)
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would wait for ever
    | getattr(os, "O_BINARY", 0)
)
_GZIP, _ZIP, _ZLIB = b"\x1f\x8b", b"PK\x03\x04", b"\x78"


class OpenArchive:
    """The bytes of an archive, and the files that belong to it."""

    def __init__(self, stream: Readable, folder: Path | None, packed: zipfile.ZipFile | None):
        self.stream = stream
        self._folder = folder
        self._packed = packed

    def read_attached(self, name: str, limit: int) -> bytes | None:
        """Returns the bytes of an attached file; `None` if it is missing, too large or not one."""
        try:
            if self._packed is not None:
                with self._packed.open(name) as file:
                    return _read_all(file, limit)
            if self._folder is None or not _ATTACHED.fullmatch(name):
                return None
            with os.fdopen(os.open(self._folder / name, _READ), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                return _read_all(file, limit)
        except (KeyError, OSError, ValueError, zipfile.BadZipFile, zlib.error):
            return None


@contextmanager
def open_archive(path: Path) -> Iterator[OpenArchive]:
    """Open an archive for reading.

    Raises:
        OSError: The file cannot be read.
        Unreadable: It is packed, and damaged or without an archive in it.
    """
    with path.open("rb") as file, ExitStack() as held:
        start = file.read(4)
        file.seek(0)
        if start == _ZIP:
            yield _open_zip(file, held)
        else:
            yield OpenArchive(_unpack(file, start), path.parent, None)


def _open_zip(file: BinaryIO, held: ExitStack) -> OpenArchive:
    try:
        packed = held.enter_context(zipfile.ZipFile(file))
        names = [name for name in packed.namelist() if name.endswith(".har")]
        if len(names) != 1:
            raise Unreadable(f"a zip file with {len(names)} .har files, not one", 1, 0)
        stream = held.enter_context(packed.open(names[0]))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as fault:
        raise Unreadable(f"a zip file that cannot be read: {fault}", 1, 0) from fault
    return OpenArchive(_Damage(stream), None, packed)


def _unpack(file: BinaryIO, start: bytes) -> Readable:
    if start.startswith(_GZIP):
        return _Damage(gzip.GzipFile(fileobj=file, mode="rb"))
    if start.startswith(_ZLIB):
        return _Damage(_Inflated(file))
    return file


def _read_all(file: Readable, limit: int) -> bytes | None:
    data = file.read(limit + 1)
    return None if len(data) > limit else data


class _Damage:
    """Reads a packed stream; a fault of the packing is one of the archive."""

    def __init__(self, file: Readable) -> None:
        self._from = file
        self._count = 0

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        try:
            data = self._from.read(size)
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as fault:
            text = f"the packed file is damaged or cut off: {fault}"
            raise Unreadable(text, 1, self._count) from fault
        self._count += len(data)
        return data


class _Inflated:
    """A zlib stream, unpacked piece by piece."""

    def __init__(self, file: Readable) -> None:
        self._from = file
        self._zlib = zlib.decompressobj()

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        while not self._zlib.eof:
            packed = self._zlib.unconsumed_tail or self._from.read(CHUNK_BYTES)
            if not packed:
                raise EOFError("it ends too early")
            if data := self._zlib.decompress(packed, size):
                return data
        return b""
