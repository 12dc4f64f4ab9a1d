"""A case has the whole world and no secret, and is small."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform import MockPlatform
from mock_platform.core.call import Call
from mock_platform.core.errors import CaseTooLarge
from mock_platform.core.tables.state import State
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.cases import document, writing
from mock_platform.verification.cases.document import read_case
from mock_platform.verification.cases.writing import write_case
from mock_platform.version import __version__
from tests.generated import examples
from tests.support import BEARER, HARBOR, USER_TOKEN
from tests.verification.har.test_writer import show, spelled_secrets


def read_members(data: bytes, folder: Path) -> dict[str, Any]:
    """The members of a case as JSON."""
    file = folder / "case.zip"
    file.write_bytes(data)
    with zipfile.ZipFile(file) as packed:
        return {name: json.loads(packed.read(name)) for name in packed.namelist()}


def test_members(tmp_path: Path) -> None:
    """Three, with format, versions, seed, clock, settings and rules; the state is the start."""
    with MockPlatform.start(seed=7, freeze="2026-03-01T12:00:00Z", strict=True) as platform:
        start = platform.state.dump()
        platform.activate("usage-capped", period="Daily")
        platform.session(auth="oauth1").post("/2/posts", json={"text": "Hi"})
        platform.clock.advance(hours=1)
        file = platform.save_case(tmp_path / "deep" / "case.zip")
    found = read_members(file.read_bytes(), tmp_path)
    case, (rule,) = found["case.json"], found["case.json"]["rules"]
    users = found["state.json"]["tables"]["users"]

    assert ["case.json", "state.json", "journal.har"] == list(found)
    assert (1, __version__, 7) == (case["format"], case["versions"]["mock_platform"], case["seed"])
    assert "2026-03-01T13:00:00+00:00" == case["clock"]["now"]
    assert case["clock"]["frozen"]
    assert {"seed": 7, "strict": True, "freeze": "2026-03-01T12:00:00+00:00"} == case["settings"]
    assert ("usage-capped", {"period": "Daily"}) == (rule["name"], rule["parameters"])
    assert [user["id"] for user in start["tables"]["users"]] == [user["id"] for user in users]
    assert start["tables"]["posts"] == found["state.json"]["tables"]["posts"]
    assert 1 == len(found["journal.har"]["log"]["entries"])
    assert 0o600 == file.stat().st_mode & 0o777


def test_the_same_world_makes_the_same_bytes(tmp_path: Path) -> None:
    """But for the moment of saving; and cases are small: half of them below 200 kB."""
    sizes, states = [], []
    with MockPlatform.start(freeze="2026-03-01T12:00:00Z") as platform:
        session = platform.session(auth="oauth1")
        for count in (1, 10, 40):
            for number in range(count):
                session.post("/2/posts", json={"text": f"Post {number}"})
                session.get("/2/users/me")
            for _ in range(2):
                file = platform.save_case(tmp_path / "case.zip")
                states.append(read_members(file.read_bytes(), tmp_path))
            sizes.append(file.stat().st_size)

    for one, other in zip(states[::2], states[1::2], strict=True):
        assert one["state.json"] == other["state.json"]
        assert one["journal.har"] == other["journal.har"]
    assert median(sizes) < 200_000


def test_no_credential_of_the_world_is_in_it(tmp_path: Path) -> None:
    """Neither published ones nor those that it issued, in records, requests or answers."""
    with MockPlatform.start() as platform:
        app, user = platform.credentials["app"], platform.credentials["user"]
        session = platform.session(auth="oauth2")
        session.post("/2/posts", json={"text": f"My token is {BEARER}, or {USER_TOKEN[:-4]}"})
        platform.state["users"].patch(user["id"], {"description": f"secret {HARBOR.token_secret}"})
        file = platform.save_case(tmp_path / "case.zip")
    shown = json.dumps(read_members(file.read_bytes(), tmp_path))

    for secret in (
        app["consumer_secret"], app["client_secret"], user["password"], user["access_token"],
        user["access_token_secret"], user["oauth2_access_token"], BEARER,
    ):  # fmt: skip
        assert secret not in shown
    assert app["consumer_key"] in shown


@pytest.fixture(scope="module")
def bare() -> Platform:
    """A platform with nearly no records, whose cases are written fast."""
    return Platform(Settings(default_fixtures=False))


@examples(250)
@given(spelled_secrets(), st.sampled_from(["journal", "record", "step", "delivery"]))
def test_a_secret_in_any_spelling_is_in_no_case(
    bare: Platform, tmp_path: Path, secret: tuple[str, dict[str, Any]], where: str
) -> None:
    """Once it has the name of a secret anywhere, it is hidden in every place."""
    value, parts = secret
    world = bare.worlds.default
    world.reset()
    headers = [("Host", "localhost"), *parts.get("request_headers", [])]
    url = parts.get("url", "http://localhost/2/users/me").replace("http://h/", "http://localhost/")
    path, _, query = url.removeprefix("http://localhost").partition("?")
    body = parts.get("request_body", b"")
    bare.handle(Call("POST", url, path, "http://localhost", headers, body, query))
    if where == "record":
        record = {"id": "1", "text": f"I said {value} aloud", "_more": {"password": value}}
        State(world, bare.tables)["notes"].put(record, unchecked=True)
        world.clear_journal()
    elif where == "step":
        record = {"id": "1", "secret": value, "other": f"a={value}"}
        State(world, bare.tables)["tokens"].put(record, unchecked=True)
    elif where == "delivery":
        world.deliveries.append({"url": "http://c/", "body": {"client_secret": value}})

    found = read_members(write_case(bare, world), tmp_path)
    entries = found["journal.har"]["log"]["entries"]
    shown = "\n".join([*(show(entry) for entry in entries), json.dumps(found, ensure_ascii=False)])

    assert value not in shown
    assert "[redacted" in shown


def test_a_case_that_is_too_large_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal says how large it would be, and what to do."""
    monkeypatch.setattr(writing, "MAX_BYTES", 1000)
    platform = Platform(Settings(default_fixtures=False))
    for number in range(3):
        call = Call("GET", f"http://localhost/{number}", f"/{number}", "http://localhost", [])
        platform.handle(call)

    with pytest.raises(CaseTooLarge, match="Reset the world, or empty its journal"):
        write_case(platform, platform.worlds.default)


def test_what_belongs_to_the_machine_is_left_out(tmp_path: Path) -> None:
    """Paths, addresses, sizes and the control token; all other settings are those of a case."""
    settings_of_machine = Settings(
        fixtures=(), control_token="t0p-secret-token", journal_bytes=9_000_000, port=1234,
        public_hosts=("box",), card_envelope="array",
    )  # fmt: skip
    platform = Platform(settings_of_machine)
    file = tmp_path / "case.zip"
    file.write_bytes(write_case(platform, platform.worlds.default))

    assert {"card_envelope": "array"} == read_case(file).document.settings
    assert document.SERVER_SETTINGS.isdisjoint(document.CASE_SETTINGS)
