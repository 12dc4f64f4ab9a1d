"""What the Python face raises beside the exceptions of the rooms below it."""

from __future__ import annotations


class MissingCredentials(LookupError):
    """The world holds no credentials of the kind that a session was asked to use."""


class NotInProcess(RuntimeError):
    """Something was asked for that only a sandbox in this process has."""


class Refused(ValueError):
    """The control plane of a server elsewhere refused something; the message is what it said."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(RuntimeError):
    """Nobody answers where the server is said to be."""
