"""What a process asks the others: about the worlds that live there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class NoAnswer(Exception):
    """Another process did not answer a question. The text says which, and what to do."""


class Peers(Protocol):
    """The other processes of a server. Questions and answers are JSON; asking waits."""

    @property
    def label(self) -> str:
        """What people call this process; empty if there is only one."""

    @property
    def count(self) -> int:
        """How many processes there are, this one included."""

    def lives_here(self, world: str) -> bool:
        """Whether this process answers for a world of this name."""

    def ask_all(self, question: str, argument: Any = None) -> Mapping[str, Any]:
        """Return the answers of all other processes by their labels.

        Raises:
            NoAnswer: One of them does not answer.
        """

    def ask_owner(self, world: str, question: str, argument: Any = None) -> Any:
        """Return the answer of the process in which a world lives.

        Raises:
            NoAnswer: It does not answer, or refuses.
        """

    def find_trouble(self) -> str | None:
        """Return why the processes together cannot serve at present; `None` if they can."""


class Alone:
    """The peers of a server that is one process."""

    label = ""
    count = 1

    def lives_here(self, world: str) -> bool:
        """Return `True`: there is no other process."""
        return True

    def ask_all(self, question: str, argument: Any = None) -> Mapping[str, Any]:
        """Return no answers: there is no process to ask."""
        return {}

    def ask_owner(self, world: str, question: str, argument: Any = None) -> Any:
        """Raise `NoAnswer`: there is no process to ask."""
        raise NoAnswer("There is no other process.")

    def find_trouble(self) -> str | None:
        """Return `None`: there is no process that could be missing."""
        return None
