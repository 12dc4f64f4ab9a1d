"""Opens an archive, packed or not, and finds its entries one after the other in bounded memory.

A parser that reports events would build each huge string before anyone could refuse it, and does
not say where an entry begins. So this module only looks for quotes and brackets; the entries it
cuts out are parsed, and checked, by a JSON library.
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
from typing import BinaryIO, Protocol

from msgspec import Struct

CHUNK_BYTES = 256 * 1024
MAX_ENTRY_BYTES = 64 * 1024 * 1024
"""Bytes of one entry: the memory that reading takes is a small multiple of it."""
MAX_LEVELS = 100
"""Nesting of brackets within one value."""

_SPACE = re.compile(rb"[ \t\r\n]*+")
# Repetitions of a character are possessive, groups are not: Python before 3.11.5 matches those
# wrongly. Each part of a group begins with a byte of its own, so there is nothing to try again.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*"', re.DOTALL)
_PLAIN = rb'[^"{}\[\]]++|"(?:[^"\\]++|\\.)*"'
_FLAT = re.compile(rb"(?:%b|\{(?:%b)*\})*" % (_PLAIN, _PLAIN), re.DOTALL)
"""Everything up to the next bracket, and small objects such as headers at once.

A quote after it begins a string that is not yet complete.
"""
_SCALAR = re.compile(rb"[^\s,\[\]{}\":]++")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class Readable(Protocol):
    """Whatever bytes can be read from, at most so many at a time and none at the end."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""


class Unreadable(Exception):
    """The bytes are no archive; `line` begins at 1, `offset` at 0."""

    def __init__(self, text: str, line: int, offset: int) -> None:
        super().__init__(text)
        self.line = line
        self.offset = offset


class RawEntry(Struct, frozen=True):
    """The JSON text of one entry, and where it begins."""

    text: bytes
    line: int
    offset: int


def split_entries(file: Readable, max_entry_bytes: int = MAX_ENTRY_BYTES) -> Iterator[RawEntry]:
    """Yield the entries of an archive in their order.

    Raises:
        Unreadable: It is not an archive, is cut off, or has an entry that is too large.
    """
    window = _Window(file, max_entry_bytes)
    window.skip_mark()
    found = False
    for name in window.keys("an object with `log`"):
        if name != "log":
            window.take()
            continue
        for inner in window.keys("`log` as an object"):
            if inner != "entries":
                window.take()
                continue
            if found:
                raise window.fault("a second list `log.entries`")
            found = True
            yield from window.items()
    window.expect_end()
    if not found:
        raise window.fault("no list `log.entries`: this is JSON, but no HTTP archive (HAR)")


class _Window:
    """The part of a file that is in memory, and a position in it."""

    def __init__(self, file: Readable, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._data = b""
        self._at = 0
        self._keep: int | None = None  # where the value begins that is wanted as a whole
        self._dropped = 0
        self._line, self._counted = 1, 0

    def skip_mark(self) -> None:
        """Pass a byte order mark.

        Raises:
            Unreadable: The file is empty, or encoded as anything but UTF-8.
        """
        self._fill()
        if not self._data:
            raise self.fault("the file is empty")
        if self._data[:2] in _MARKS:
            raise self.fault("the file is encoded as UTF-16; an archive is UTF-8")
        if self._data.startswith(b"\xef\xbb\xbf"):
            self._at = 3

    def keys(self, wanted: str) -> Iterator[str]:
        """Yield the names of an object, each time before its value, which the caller passes."""
        if self._next() != b"{":
            raise self.fault(f"expected {wanted}")
        self._at += 1
        if self._next() == b"}":
            self._at += 1
            return
        while True:
            if self._next() != b'"':
                raise self.fault("expected a name in quotes")
            name = self.take()
            if self._next() != b":":
                raise self.fault("expected a colon after a name")
            self._at += 1
            yield name[1:-1].decode("utf-8", "replace")
            if not self._has_more(b"}"):
                return

    def items(self) -> Iterator[RawEntry]:
        """Yield the items of a list."""
        if self._next() != b"[":
            raise self.fault("expected `log.entries` as a list")
        self._at += 1
        if self._next() == b"]":
            self._at += 1
            return
        while True:
            self._next()
            line, offset = self._count_lines(), self._dropped + self._at
            yield RawEntry(self.take(), line, offset)
            if not self._has_more(b"]"):
                return

    def take(self) -> bytes:
        """Return the value at the position, as it is written, and passes it."""
        first = self._next()
        self._keep = self._at
        if first == b'"':
            self._pass(_STRING, "a string")
        elif first in {b"{", b"["}:
            self._pass_brackets()
        else:
            self._pass_scalar()
        text = self._data[self._keep : self._at]
        self._keep = None
        return text

    def expect_end(self) -> None:
        """Check that nothing comes after the value.

        Raises:
            Unreadable: Something does.
        """
        self._skip_space()
        if self._at < len(self._data):
            raise self.fault("expected the end of the file")

    def fault(self, text: str) -> Unreadable:
        """Return a fault at the position."""
        return Unreadable(text, self._count_lines(), self._dropped + self._at)

    # -- details ------------------------------------------------------------------------------

    def _pass_brackets(self) -> None:
        depth = 0
        while True:
            # Only brackets are counted; everything between them, texts included, is passed by one
            # pattern at the speed of the regular expressions. Whether it is JSON is found out
            # later, when the entry is parsed.
            bracket = self._data[self._at : self._at + 1]
            depth += 1 if bracket in {b"{", b"["} else -1
            self._at += 1
            if depth == 0:
                return
            if depth > MAX_LEVELS:
                raise self.fault(f"nested more than {MAX_LEVELS} levels deep")
            self._pass_flat()

    def _pass_flat(self) -> None:
        """Pass everything before the next bracket."""
        while True:
            match = _FLAT.match(self._data, self._at)
            assert match is not None
            self._at = match.end()
            if self._data[self._at : self._at + 1] not in {b"", b'"'}:
                return
            self._need_more("the file ends in the middle of a value: it is cut off")

    def _pass(self, pattern: re.Pattern[bytes], what: str) -> None:
        while (match := pattern.match(self._data, self._at)) is None:
            self._need_more(f"the file ends in the middle of {what}: it is cut off")
        self._at = match.end()

    def _pass_scalar(self) -> None:
        while True:
            match = _SCALAR.match(self._data, self._at)
            if match is None:
                raise self.fault("expected a value: this is not JSON")
            if match.end() < len(self._data) or not self._fill():
                break
        self._at = match.end()

    def _has_more(self, end: bytes) -> bool:
        found = self._next()
        if found not in {b",", end}:
            raise self.fault(f"expected a comma or {end.decode()}")
        self._at += 1
        return found == b","

    def _next(self) -> bytes:
        """Return the next byte that is not white space, and moves to it."""
        self._skip_space()
        if self._at == len(self._data):
            raise self.fault("the file ends too early: it is cut off")
        return self._data[self._at : self._at + 1]

    def _skip_space(self) -> None:
        while True:
            match = _SPACE.match(self._data, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._data) or not self._fill():
                return

    def _need_more(self, text: str) -> None:
        if not self._fill():
            raise self.fault(text)

    def _fill(self) -> bool:
        """Read more and drops what was passed; return whether there was more."""
        # While an entry is being passed, its beginning has to stay in memory, because it is cut out
        # as a whole at the end. Outside of an entry everything up to the position is dropped.
        begin = self._at if self._keep is None else self._keep
        kept = len(self._data) - begin
        if kept > self._max_bytes:
            raise self.fault(
                f"a value of more than {self._max_bytes // 1024**2} MB, which is the most of one "
                "entry"
            )
        # A value that is read on from its beginning doubles, so that reading takes linear time.
        most = self._max_bytes + CHUNK_BYTES - kept
        more = self._file.read(min(max(CHUNK_BYTES, kept), most))
        if not more:
            return False
        self._count_lines(begin)
        self._data = self._data[begin:] + more
        self._dropped += begin
        self._at -= begin
        self._counted -= begin
        if self._keep is not None:
            self._keep = 0
        return True

    def _count_lines(self, end: int | None = None) -> int:
        """Return the line of the position, or of another one that no earlier call has passed."""
        end = self._at if end is None else end
        if end > self._counted:
            self._line += self._data.count(b"\n", self._counted, end)
            self._counted = end
        return self._line


# Opens an archive, also a packed one: `.zhar` of mitmproxy, `.har.gz`, `.zip` of Playwright.
# Playwright can keep bodies in files of their own, beside the archive or in the same zip file.

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
        """Return the bytes of an attached file; `None` if it is missing, too large or not one."""
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
