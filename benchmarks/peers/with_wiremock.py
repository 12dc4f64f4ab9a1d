"""WireMock: one server of the run, emptied and given its stubs before each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from programs import Programs
from story import ANSWERS, five_requests

MAPPINGS = [
    {
        "request": {"method": method, "urlPath": path}
        | ({} if body is None else {"bodyPatterns": [{"equalToJson": body}]}),
        "response": {"status": 200, "jsonBody": answer},
    }
    for method, path, body, answer in ANSWERS
]


@pytest.fixture(scope="session")
def origin(node_modules: Path, programs: Programs) -> str:
    """Where the server listens."""
    [jar] = (node_modules / "wiremock" / "build").glob("*.jar")
    command = ["java", "-jar", str(jar), "--port", "0", "--bind-address", "127.0.0.1"]
    port = programs.start(command, "\nport:")
    return f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def admin() -> Iterator[requests.Session]:
    """A connection that stays open."""
    with requests.Session() as session:
        yield session


def test_card(origin: str, admin: requests.Session, number: int) -> None:
    """A card's life."""
    admin.post(f"{origin}/__admin/reset").raise_for_status()
    stubs = {"mappings": MAPPINGS}
    admin.post(f"{origin}/__admin/mappings/import", json=stubs).raise_for_status()
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer t0k3n"
        five_requests(session, origin)
