"""Prism: answers made from a description; it keeps nothing, so each test finds it as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests
from programs import Programs
from story import CARDS, RENAMED, WISHED


@pytest.fixture(scope="session")
def origin(node_modules: Path, programs: Programs, pytestconfig: pytest.Config) -> str:
    """Where the server listens."""
    program = node_modules / ".bin" / "prism"
    document = pytestconfig.getoption("--openapi")
    command = [str(program), "mock", document, "--host", "127.0.0.1", "--port", "0"]
    return programs.start(command, "Prism is listening on")


def test_card(origin: str, number: int) -> None:
    """The five requests; what comes back has the right form and is always the same."""
    cards = origin + CARDS
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer t0k3n"

        created = session.post(cards, json=WISHED)
        assert created.status_code == 200
        card = created.json()["data"]
        assert isinstance(card["components"], list)

        read = session.get(f"{cards}/{card['id']}")
        assert read.status_code == 200
        assert read.json()["data"] == card

        listed = session.get(cards, params={"card_ids": card["id"]})
        assert listed.status_code == 200
        assert [each["id"] for each in listed.json()["data"]] == [card["id"]]

        renamed = session.put(f"{cards}/{card['id']}", json=RENAMED)
        assert renamed.status_code == 200
        assert renamed.json()["data"]["name"] == card["name"]

        deleted = session.delete(f"{cards}/{card['id']}")
        assert deleted.status_code == 200
        assert deleted.json()["data"]["deleted"] is False
