"""The errors of a store's files; every module of the store may import this one."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Self


class StoreError(Exception):
    """A durable store cannot be opened or used; the text says what to do."""


class StoreDamaged(StoreError):
    """A file of the store does not contain what was written to it. Nothing was changed."""

    def __init__(self, path: Path | str, fault: str, remedy: str, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {fault}. Nothing was changed. {remedy}")
        self.path = path
        self.line = line


class StoreForeign(StoreError):
    """The file is from another program; it is not changed."""


class StoreOutdated(StoreError):
    """What is kept is in the form of another version of mock_platform. Nothing was changed."""


class StoreInUse(StoreError):
    """Another server has the files open."""


class StoreUnwritable(StoreError, OSError):
    """A change could not be written, so it was not made; the text says what to do."""

    def __new__(cls, *args: object) -> Self:
        """With the text alone: that is how a client makes it, which `OSError` does not allow."""
        return super().__new__(cls, *(args if len(args) == 1 else ()))

    def __init__(self, path: Path, fault: OSError) -> None:
        reason = fault.strerror or str(fault)
        full = fault.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        remedy = "Make room there" if full else "Make it writable"
        text = (
            f"{path} could not be written ({reason}), so nothing was changed. {remedy} and try "
            "again; what was acknowledged before is kept."
        )
        super().__init__(text)
        self.args = (text,)
        self.errno = fault.errno
        self.path = path


class StoreUnreachable(StoreUnwritable):
    """The engine that keeps the worlds cannot be reached, or refuses; nothing was changed."""

    def __init__(self, place: str, reason: str) -> None:
        text = (
            f"{place} cannot be used ({reason}), so nothing was changed. It is tried again as soon "
            "as it can be reached; what was acknowledged before is kept."
        )
        super(OSError, self).__init__(text)
        self.args = (text,)
        self.errno = None
        self.path = Path(place)


class StoreUnanswered(StoreUnreachable):
    """The engine was sent a command and did not answer, so it may have done what that says."""


class WorldElsewhere(StoreError):
    """Another process has the world; `address` says how it is reached."""

    def __init__(self, world: str, address: str) -> None:
        super().__init__(
            f"The world {world!r} is open in another process ({address or 'without address'}). "
            "Send the request there, or again in some seconds. Servers on several machines hand "
            "requests over by themselves if each is started with --advertise HOST:PORT."
        )
        self.world = world
        self.address = address


class WorldLost(StoreError, LookupError):
    """A change named a token that is not the world's current one; nothing was changed."""

    def __init__(self, world: str, place: str) -> None:
        super().__init__(f"world {world!r} is not kept in {place}, or no longer")
        self.world = world
