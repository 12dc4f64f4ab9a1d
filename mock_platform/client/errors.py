"""The exceptions of the Python interface; those of the rooms below are raised as well."""

from __future__ import annotations


class MissingCredentials(LookupError):
    """The world has no credentials of the kind that a session needs."""


class NotInProcess(RuntimeError):
    """The caller asked for something that only a sandbox in this process has."""


class Refused(ValueError):
    """The control plane of a server elsewhere refused a request; the message is the server's."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(RuntimeError):
    """No server answers at this address."""
