from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from werkzeug import Request, Response

from mock_platform.cli.main import group
from mock_platform.cli.printing import credentials_text
from mock_platform.serving.http.binding import bind
from tests.support import ACCOUNT, sandbox
from tests.verification.compare.servers import Differing, differing, on

Run = Callable[..., Result]
pytestmark = pytest.mark.live
SMALL = ("--only", "users.me")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `mock-platform diff` in this process."""
    for name in ("CONSUMER_KEY", "ACCESS_TOKEN", "BEARER_TOKEN"):
        monkeypatch.delenv(f"MOCK_PLATFORM_{name}", raising=False)

    def run(*args: object, typed: str | None = None, **env: str) -> Result:
        words = ["diff", *(str(arg) for arg in args)]
        return CliRunner().invoke(group, words, typed, env=env, prog_name="mock-platform")

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of the well-known credentials."""
    path = tmp_path / "credentials"
    path.write_text(credentials_text("env", ()))
    return path


@pytest.fixture(scope="module")
def running() -> Iterator[Differing]:
    """A second sandbox."""
    with differing() as found:
        yield found


@pytest.fixture
def server(running: Differing) -> Differing:
    """A second sandbox that differs in nothing."""
    running.start_over()
    return running


def test_no_drift(run: Run, file: Path, server: Differing) -> None:
    """A server that answers as declared ends with status 0; only the wanted reads were sent."""
    file.write_text(credentials_text("json", ()))

    result = run("--base-url", server.url, "--credentials-file", file, "--yes", *SMALL)

    assert result.exit_code == 0, result.output
    assert re.search(
        rf"(?m)^{server.url}: 1 operations checked with \d+ requests, 0 differ in 0 findings, 0 ",
        result.output,
    )
    assert {"GET", "PATCH"} == {method for method, _ in server.asked}
    assert {"/2/users/me"} == {path for _, path in server.asked}


@pytest.mark.parametrize("form", ["env", "json"])
def test_a_file_that_windows_wrote(run: Run, file: Path, server: Differing, form: str) -> None:
    """A byte order mark takes nothing from the credentials: OAuth 1.0a begins them."""
    text = credentials_text(form, ()).replace("\n", "\r\n")
    file.write_bytes(f"\ufeff{text}".encode())

    result = run("--base-url", server.url, "--credentials-file", file, "--yes", *SMALL)

    assert result.exit_code == 0, result.output
    assert "/2/users/me" in {path for _, path in server.asked}


def test_credentials_of_the_environment(run: Run, server: Differing) -> None:
    """Without a file the environment's credentials are used."""
    lines = credentials_text("env", ()).splitlines()
    variables = dict(line.partition("=")[::2] for line in lines)

    result = run("--base-url", server.url, "--yes", *SMALL, **variables)

    assert result.exit_code == 0, result.output


def test_bearer_token_alone(run: Run, tmp_path: Path, server: Differing) -> None:
    """A bearer token is enough where the server takes it."""
    (line,) = [x for x in credentials_text("env", ()).splitlines() if "BEARER" in x]
    path = tmp_path / "credentials"
    path.write_text(f"# mine\n\nexport {line}\n")

    words = ("--only", "users.me,placements.*", "--skip", "refusals")
    result = run("--base-url", server.url, "--credentials-file", path, "--yes", *words)

    assert result.exit_code == 0, result.output
    assert "users.me (needs credentials for OAuth 1.0a User Context or " in result.output


@pytest.mark.parametrize(
    ("typed", "status", "sent"), [("y\n", 0, True), ("n\n", 2, False), ("", 2, False)]
)
def test_consent(
    run: Run, file: Path, server: Differing, typed: str, status: int, sent: bool
) -> None:
    """Nothing is sent before somebody agrees."""
    result = run("--base-url", server.url, "--credentials-file", file, *SMALL, typed=typed)

    assert status == result.exit_code
    assert (
        "Send requests that only read, and PATCH to ids that do not exist, signed with your "
        "credentials, to 127.0.0.1" in result.stderr
    )
    assert sent == bool(server.asked)
    assert sent != ("Nothing was sent. Use --yes" in result.stderr)


def test_usage(run: Run, file: Path, tmp_path: Path) -> None:
    """Whatever keeps the server from being asked ends with status 2 and says what to do."""
    broken = tmp_path / "broken.json"
    broken.write_text('{"app": 1}')
    cases: list[tuple[list[object], str]] = [
        (["--base-url", "http://127.0.0.1"], "the environment contains no credentials"),
        (["--base-url", "http://api.example.com", "--credentials-file", file], "https only"),
        (["--base-url", "http://127.0.0.1", "--credentials-file", broken], "--format json"),
        (["--base-url", "http://127.0.0.1", "--credentials-file", tmp_path], "cannot be read"),
        (["--base-url", "http://127.0.0.1", "--only", "line_item.*"], "mean 'line_items.*'?"),
        (["--base-url", "http://127.0.0.1", "--skip", "line_item.list"], "mean 'line_items.list'?"),
        (["--base-url", "http://127.0.0.1", "--skip", "refusal"], "mean 'refusals'?"),
        (["--base-url", "http://127.0.0.1", "--accept", "all"], "add --accepted FILE"),
        (["--base-url", "http://127.0.0.1", "--reason", "x"], "belong to --accept"),
        (
            [
                "--base-url",
                "http://127.0.0.1",
                "--accept",
                "all",
                "--accepted",
                "a.json",
                "--reason",
                "x",
            ],
            "end in .yaml",
        ),
        (["--base-url", "http://127.0.0.1", "--report", "x.pdf"], "must end in .html"),
        (["--base-url", "http://127.0.0.1", "--value", "x"], "must be NAME=VALUE"),
        (
            ["--base-url", "http://127.0.0.1", "--accepted", "no.yaml"],
            "no.yaml:1:1: cannot be read",
        ),
        (["--har", broken, "--ca", broken], "--credentials-file and --ca belong to --base-url"),
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


def test_nothing_could_be_compared(run: Run, file: Path, server: Differing) -> None:
    """A server whose rate limit is used up from the beginning passes no check."""

    def refuse(asked: Request, response: Response) -> None:
        response.status_code = 429

    server.patches.append(refuse)

    result = run(
        "--base-url", server.url, "--credentials-file", file, "--yes", "--only", "cards.get"
    )

    assert 2 == result.exit_code
    assert "could be compared: cards.get: the server's rate limit is used up (429)" in (
        " ".join(result.stderr.split())
    )


def test_redirects_are_not_followed(run: Run, file: Path, server: Differing) -> None:
    """A redirect to another host is reported and not followed."""
    with differing() as other:

        def redirect(asked: Request, response: Response) -> None:
            response.status_code = 302
            response.headers["Location"] = f"{other.url}{asked.path}"

        server.patches.append(redirect)
        words = ("--credentials-file", file, "--yes", "--only", "placements.*", "--format", "json")
        result = run("--base-url", server.url, *words)

    assert 1 == result.exit_code
    assert [] == other.asked
    found = [each["got"] for each in json.loads(result.stdout)["findings"]]
    assert f"302 to {other.url}/12/line_items/placements (not followed)" in found


def test_accepting(run: Run, file: Path, tmp_path: Path, server: Differing) -> None:
    """A difference is accepted into a file, and reported as accepted as long as it is found."""
    accepted = tmp_path / "accepted.yaml"
    server.patches.append(on("/placements", lambda body: body.update(more=1)))
    words = ["--base-url", server.url, "--credentials-file", file, "--yes"]
    words += ["--only", "placements.*", "--accepted", accepted]
    first = run(*words[:-2])
    accept = run(*words, "--accept", "all", "--reason", "They said so.")
    again = run(*words)
    server.patches.clear()
    gone = run(*words)

    assert [1, 0, 0, 0] == [x.exit_code for x in (first, accept, again, gone)], accept.output
    assert "accepted  extra more (They said so.; since 2" in again.stdout
    assert "accepted " not in gone.stdout


def test_reports(run: Run, file: Path, tmp_path: Path, server: Differing) -> None:
    """The report is written in each form, with everything of the other server escaped."""
    server.patches.append(on("/placements", lambda body: body.update({"<script>\x1b": 1})))
    page, junit = tmp_path / "sub" / "report.html", tmp_path / "report.xml"
    words = ["--base-url", server.url, "--credentials-file", file, "--yes"]
    words += ["--only", "placements.*", "--skip", "refusals", "--skip", "methods"]
    html = run(*words, "--report", page)
    xml = run(*words, "--format", "junit", "--report", junit)

    assert (1, 1) == (html.exit_code, xml.exit_code)
    text = page.read_text("utf-8")
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "\x1b" not in text + html.stdout + junit.read_text("utf-8")
    suite = ET.parse(junit).getroot()
    assert "1" == suite.get("failures")
    assert xml.stdout.strip() == junit.read_text("utf-8").strip()


def test_archive(run: Run, tmp_path: Path) -> None:
    """What was recorded is compared with the contract; the sandbox itself does not differ."""
    box = sandbox()
    for path in ("/12/accounts", f"/12/accounts/{ACCOUNT}/line_items", "/12/accounts/zz/cards"):
        box.call("GET", path)
    box.call("GET", "/nothing/here")
    archive = tmp_path / "traffic.har"
    archive.write_bytes(box.client.get("/_mock/requests.har").data)
    same = run("--har", archive)
    text = archive.read_text()
    archive.write_text(
        text.replace('\\"entity_status\\":\\"ACTIVE', '\\"entity_status\\":\\"RUNNING')
    )
    other = run("--har", archive)
    archive.write_text(text[: len(text) // 2])
    damaged = run("--har", archive)

    assert (0, 1, 2) == (same.exit_code, other.exit_code, damaged.exit_code), same.output
    assert "1 requests belong to no operation: GET localhost/nothing/here" in same.stdout
    assert "3 operations checked with 3 requests, 0 differ" in same.stdout
    assert "enum data[].entity_status: got RUNNING, which is not declared" in other.stdout
    assert f"{archive}:" in damaged.stderr
