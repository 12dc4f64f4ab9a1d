from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from mock_platform.control.console.entry import write_snippets
from tests.control.support import call
from tests.shells import open_shell, read_words
from tests.support import BEARER, HARBOR, Keys, Sandbox, sandbox

LIST = "/12/accounts/18ce54d4x5t/account_media?count=2"
REQUESTS: tuple[tuple[str, str, Keys | str | None, dict[str, Any]], ...] = (
    ("GET", LIST, HARBOR, {}),
    ("POST", "/2/webhooks/replay", BEARER, {"json": {"webhook_id": 'it\'s "x" $y \\'}}),
    ("GET", "/2/users/me?a='b'", None, {"headers": {"X-One": "it's"}}),
    ("POST", "/12/accounts/18ce54d4x5t/campaigns", HARBOR, {"form": {"name": "a b"}}),
    ("POST", "/2/tweets", BEARER, {"data": b"not json", "headers": {"Content-Type": "text/x"}}),
)


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose first request is `r1`."""
    return sandbox()


def texts(box: Sandbox) -> list[dict[str, str]]:
    """The snippets of every request of the journal."""
    return [
        {snippet.id: snippet.text for snippet in write_snippets(entry.as_json())}
        for entry in box.world.journal
    ]


@pytest.fixture
def written(box: Sandbox) -> list[dict[str, str]]:
    """The snippets of some requests."""
    for method, path, keys, more in REQUESTS:
        box.call(method, path, keys=keys, **more)
    return texts(box)


def test_python_is_python(written: list[dict[str, str]]) -> None:
    """Whatever was sent, the snippets can be compiled, and have no credentials."""
    for snippets in written:
        for kind in ("python", "pytest"):
            compile(snippets[kind], kind, "exec")
        assert "[redacted]" not in "".join(snippets.values())
        assert snippets["node"].count("await fetch(") == 1


def test_the_shell_gets_what_was_sent(written: list[dict[str, str]]) -> None:
    """Quotes and dollars reach curl as they were sent; only the token is the shell's."""
    with open_shell() as shell:
        words, piped = shell.paste(written[1]["curl"], MOCK_PLATFORM_BEARER_TOKEN="token")

    method, url, headers, body = read_words(words, piped)
    assert ("POST", "http://localhost/2/webhooks/replay") == (method, url)
    assert "Authorization: Bearer token" in headers
    assert body is not None
    assert {"webhook_id": 'it\'s "x" $y \\'} == json.loads(body)


@pytest.mark.parametrize(
    "data",
    [
        "@/etc/hostname",
        "a';touch${IFS}made;echo '",
        "\x1b[201~\ntouch made\n",
        '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n@made\r\n--b--\r\n',
    ],
    ids=["file", "quote", "terminal", "multipart"],
)
def test_no_copied_request_sends_or_runs_something_else(box: Sandbox, data: str) -> None:
    """A body is sent as text, whatever it begins with, and an address with brackets once."""
    path = "/2/tweets?id=[1-50]&b={c,d}"
    kind = "multipart/form-data; boundary=b" if data.startswith("--b") else "text/plain"
    box.call("POST", path, keys=None, data=data.encode(), headers={"Content-Type": kind})

    with open_shell() as shell:
        words, piped = shell.paste(texts(box)[0]["curl"])

    method, url, _, body = read_words(words, piped)
    assert ("POST", data) == (method, body)
    assert unquote(url) == f"http://localhost{path}"


def test_the_tests_pass(written: list[dict[str, str]], tmp_path: Path) -> None:
    """As a pytest test, each request is answered as it was."""
    for number, snippets in enumerate(written):
        (tmp_path / f"test_{number}.py").write_text(snippets["pytest"])

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert f"{len(REQUESTS)} passed" in ran.stdout, ran.stdout


def test_shown_on_the_page(box: Sandbox) -> None:
    """The page has all three, and says where credentials come from."""
    box.call("GET", LIST)

    text = call(box, "GET", "/console/requests/r1").text

    assert all(f'id="copy-{each}"' in text for each in ("curl", "python", "pytest"))
    assert "signed with OAuth 1.0a" in text
