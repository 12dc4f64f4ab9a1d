"""Types of option values; each refuses a wrong value and names what is allowed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any

import click

from mock_platform.world.clock import DURATION_EXAMPLES, parse_duration, parse_instant

_SECONDS = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_LAST_PORT = 65_535
_SIZE = re.compile(r"(\d+)([KMG]?)i?B?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class OptionKind(click.ParamType[Any], ABC):
    """A value with a converter that raises `ValueError`."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Returns the value of a text.

        Raises:
            ValueError: The text has no value; the message says what is allowed.
        """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the value, or raises a usage error that names the option."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as fault:
            self.fail(str(fault), param, ctx)


class InstantKind(OptionKind):
    """A moment in ISO 8601."""

    name = "instant"

    def parse(self, text: str) -> datetime:
        """Returns the moment; without offset, it is UTC."""
        try:
            return parse_instant(text)
        except ValueError as fault:
            raise ValueError(f"{text!r} is {fault}, for instance 2026-03-25T16:00:00Z") from fault


class SecondsKind(OptionKind):
    """A duration: seconds, or a number with a unit; `whole` allows no fractions."""

    name = "duration"

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole

    def parse(self, text: str) -> float | int:
        """Returns the number of seconds."""
        plain = _SECONDS.fullmatch(text) is not None
        try:
            seconds = float(text) if plain else parse_duration(text)
        except ValueError as fault:
            raise ValueError(
                f"{text!r} is not a duration: write seconds (90, 1.5) or a unit "
                f"({DURATION_EXAMPLES})"
            ) from fault
        if self._whole:
            if seconds != int(seconds):
                raise ValueError(f"{text!r} is not a whole number of seconds")
            return int(seconds)
        return seconds


class SizeKind(OptionKind):
    """A number of bytes, at most `most`, with K, M or G for powers of 1024."""

    name = "size"

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def parse(self, text: str) -> int:
        """Returns the number of bytes."""
        found = _SIZE.fullmatch(text)
        if found is None or int(found[1]) == 0:
            raise ValueError(f"{text!r} is not a size: write bytes, or 64K, 16M, 1G")
        size = int(found[1]) * _POWERS[found[2].upper()]
        if self._most is not None and size > self._most:
            raise ValueError(f"{text!r} is more than {self._most // 1024**2}M")
        return size


class StoreKind(OptionKind):
    """The kind of store for the records."""

    name = "store"

    def parse(self, text: str) -> str:
        """Returns the setting, if it names a store."""
        from mock_platform.world.store.backends import BadStore, find_backend

        try:
            find_backend(text)
        except BadStore as fault:
            raise ValueError(str(fault)) from fault
        return text

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Returns a description of the allowed values."""
        from mock_platform.world.store.backends import BACKENDS

        return "|".join(BACKENDS)


def split_address(text: str) -> tuple[str, int]:
    """Returns host and port of `HOST:PORT`; the host of IPv6 is in brackets.

    Raises:
        ValueError: It is something else, or not the address of one machine.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _LAST_PORT:
        raise ValueError(f"{text!r} is not HOST:PORT, for instance 10.0.0.5:8081")
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - it is refused
        raise ValueError(f"{host} is no address that others can reach; name one of this machine")
    return host, int(port)


class AddressKind(OptionKind):
    """The address of a process, for others."""

    name = "address"

    def parse(self, text: str) -> str:
        """Returns the address as it was given."""
        split_address(text)
        return text


ADDRESS = AddressKind()
INSTANT = InstantKind()
SECONDS = SecondsKind()
WHOLE_SECONDS = SecondsKind(whole=True)
SIZE = SizeKind()
BODY_SIZE = SizeKind(32 * 1024**2)
"""Maximum size of a request body that the server can read."""
STORE = StoreKind()
