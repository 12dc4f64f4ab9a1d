"""The types that the keys of an engine have, to name one that another program wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_TYPES = {
    "world": "hash",
    "points": "hash",
    "log": "stream",
    "worlds": "set",
    "credential": "set",
    "credentials": "set",
    "processes": "set",
    "unfinished": "set",
    "nonces": "zset",
}
"""By the first word of a key after its prefix; all others are strings."""


def find_type(key: str) -> str:
    """Returns the type that a key has, named without the prefix of all keys."""
    return _TYPES.get(key.partition(":")[0], "string")


def find_keys(commands: Sequence[Sequence[str | bytes | int]]) -> Iterator[str]:
    """Returns the keys that commands name."""
    for command in commands:
        name, *rest = command
        if name in {"EVAL", "EVALSHA"}:
            yield from map(str, rest[2 : 2 + int(rest[1])])
        elif name == "MGET":
            yield from map(str, rest)
        else:
            yield from map(str, rest[:1])
