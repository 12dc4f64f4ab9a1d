"""A thin client for poll cards, such as someone might have written; it knows nothing of the mock.

Connections break. Reading again is harmless, but to create a card again after its answer was lost
makes two of it: `PollClient` looks before it repeats, `HastyPollClient` does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests


class PollError(Exception):
    """The platform refused; `code` is its word for why."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


class PollClient:
    """Creates and lists the poll cards of one account."""

    attempts = 3

    def __init__(self, session: requests.Session, base_url: str, account: str) -> None:
        """`session` signs; `base_url` is that of the advertising interface."""
        self._session = session
        self._url = f"{base_url}/12/accounts/{account}/cards/poll"

    def create(self, name: str, choices: tuple[str, str], minutes: int = 1440) -> str:
        """Create a card and return its id."""
        parameters = {
            "name": name,
            "first_choice": choices[0],
            "second_choice": choices[1],
            "duration_in_minutes": minutes,
        }
        for left in reversed(range(self.attempts)):
            try:
                return self._data("POST", parameters)["id"]  # type: ignore[no-any-return]
            except requests.ConnectionError:
                found = self._after_lost_answer(name)
                if found is not None:
                    return found
                if not left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def list(self) -> list[dict[str, Any]]:
        """All cards, page after page."""
        cards: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = self._answer("GET", {"count": 2, **({"cursor": cursor} if cursor else {})})
            cards += page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return cards

    def _after_lost_answer(self, name: str) -> str | None:
        """The card that was created although no answer reported it."""
        return next((card["id"] for card in self.list() if card["name"] == name), None)

    def _data(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = self._answer(method, parameters)["data"]
        return data

    def _answer(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._session.request(method, self._url, params=dict(parameters), timeout=5)
        document: dict[str, Any] = answer.json()
        if not answer.ok:
            first = document["errors"][0]
            raise PollError(answer.status_code, first["code"], first["message"])
        return document


class HastyPollClient(PollClient):
    """The same with the usual bug: whatever fails is sent again."""

    def _after_lost_answer(self, name: str) -> str | None:
        return None
