"""Names of worlds, and the exceptions about them."""

from __future__ import annotations

import re

DEFAULT = "default"
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Pattern of the name of a world, and of a snapshot."""
_NAME = re.compile(NAME_PATTERN, re.ASCII)
_FORM = "1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit"


def is_name(text: str) -> bool:
    """Whether a world, or a snapshot of one, can have this name."""
    return _NAME.fullmatch(text) is not None


def check_name(text: str) -> str:
    """Return the name, if a world can have it.

    Raises:
        BadWorldName: No world can have it.
    """
    if not is_name(text):
        raise BadWorldName(text)
    return text


class UnknownWorld(LookupError):
    """No world has this name, or no longer."""

    def __init__(self, name: str) -> None:
        if not is_name(name):
            how = f"No world can have this name: {_FORM}. Choose another name"
        else:
            how = f"Create it with PUT /_mock/worlds/{name} (an empty body is enough)"
        super().__init__(
            f"There is no world {name!r}. {how}, or leave the world out to use 'default'."
        )
        self.name = name


class BadWorldName(ValueError):
    """A world cannot have this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is not a name for a world: {_FORM}.")


class TooManyWorlds(RuntimeError):
    """The server already has the maximum number of worlds."""

    @classmethod
    def at_limit(cls, limit: int) -> TooManyWorlds:
        """Return the exception of a server that may have `limit` worlds."""
        return cls(
            f"This server has {limit} worlds already. Drop some with DELETE /_mock/worlds/NAME."
        )
