from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mock_platform.cli.main import group
from mock_platform.cli.printing import credentials_text
from mock_platform.server.binding import bind
from tests.drift.servers import Differing, differing

Run = Callable[..., Result]
pytestmark = pytest.mark.live


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `mock-platform diff` in this process."""
    for name in ("CONSUMER_KEY", "ACCESS_TOKEN", "BEARER_TOKEN"):
        monkeypatch.delenv(f"MOCK_PLATFORM_{name}", raising=False)

    def run(*args: object, typed: str | None = None, **env: str) -> Result:
        words = ["diff", *(str(arg) for arg in args)]
        return CliRunner().invoke(group, words, typed, env=env, prog_name="mock-platform")

    return run


@pytest.fixture(params=["env", "json"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of the well-known credentials, in each form."""
    path = tmp_path / "credentials"
    path.write_text(credentials_text(request.param, ()))
    return path


@pytest.fixture
def same() -> Iterator[tuple[str, Differing]]:
    """A second sandbox that differs in nothing."""
    with differing() as found:
        yield found


def test_no_drift(run: Run, file: Path, same: tuple[str, Differing]) -> None:
    """A server that answers as declared ends with status 0; only reads were sent."""
    url, server = same

    result = run("--base-url", url, "--credentials-file", file, "--yes")

    assert result.exit_code == 0, result.output
    assert re.search(
        rf"^{url}: \d\d operations checked, 0 differ, \d+ not checked\.$",
        result.output,
        re.MULTILINE,
    )
    assert {"GET"} == {method for method, _ in server.asked}


def test_credentials_of_the_environment(run: Run, same: tuple[str, Differing]) -> None:
    """Without a file the environment's credentials are used."""
    lines = credentials_text("env", ()).splitlines()
    variables = dict(line.partition("=")[::2] for line in lines)

    result = run("--base-url", same[0], "--yes", **variables)

    assert result.exit_code == 0, result.output


def test_bearer_token_alone(run: Run, tmp_path: Path, same: tuple[str, Differing]) -> None:
    """A bearer token is enough where the server takes it."""
    (line,) = [x for x in credentials_text("env", ()).splitlines() if "BEARER" in x]
    path = tmp_path / "credentials"
    path.write_text(f"# mine\n\nexport {line}\n")

    result = run("--base-url", same[0], "--credentials-file", path, "--yes")

    assert result.exit_code == 0, result.output
    assert "users.me (needs credentials for OAuth 1.0a User Context or " in result.output


@pytest.mark.parametrize(
    ("typed", "status", "sent"), [("y\n", 0, True), ("n\n", 2, False), ("", 2, False)]
)
def test_consent(
    run: Run,
    file: Path,
    same: tuple[str, Differing],
    typed: str,
    status: int,
    sent: bool,
) -> None:
    """Nothing is sent before somebody agrees."""
    url, server = same

    result = run("--base-url", url, "--credentials-file", file, typed=typed)

    assert status == result.exit_code
    assert "Send GET requests signed with your credentials to 127.0.0.1" in result.stderr
    assert sent == bool(server.asked)
    assert sent != ("Nothing was sent. Use --yes" in result.stderr)


def test_usage(run: Run, file: Path, tmp_path: Path) -> None:
    """Whatever keeps the server from being asked ends with status 2 and says what to do."""
    broken = tmp_path / "broken.json"
    broken.write_text('{"app": 1}')
    cases: list[tuple[list[object], str]] = [
        ([], "--base-url"),
        (["--base-url", "http://127.0.0.1"], "the environment contains no credentials"),
        (["--base-url", "http://api.example.com", "--credentials-file", file], "https only"),
        (["--base-url", "http://127.0.0.1", "--credentials-file", broken], "--format json"),
        (["--base-url", "http://127.0.0.1", "--credentials-file", tmp_path], "cannot be read"),
    ]
    for words, text in cases:
        result = run(*words, "--yes")

        assert 2 == result.exit_code, words
        assert text in " ".join(result.stderr.split()), words


def test_unreachable(run: Run, file: Path) -> None:
    """A server that does not answer is no drift."""
    listener, bound = bind("127.0.0.1", 0, "http")
    listener.close()

    result = run("--base-url", bound.url, "--credentials-file", file, "--yes")

    assert 2 == result.exit_code
    assert "cannot be reached" in result.stderr


def test_redirects_are_not_followed(run: Run, file: Path) -> None:
    """A redirect to another host is reported and not followed."""
    with differing() as (elsewhere, other):
        to = {"placements": [("Location", f"{elsewhere}/12/line_items/placements")]}
        with differing(statuses={"placements": "302 Found"}, more=to) as (url, _):
            result = run("--base-url", url, "--credentials-file", file, "--yes", "--format", "json")

    assert 1 == result.exit_code
    assert [] == other.asked
    rows = {row["operation"]: row for row in json.loads(result.stdout)["operations"]}
    (difference,) = rows["placements.list"]["differences"]
    assert f"302 to {elsewhere}/12/line_items/placements (not followed)" == difference["got"]
