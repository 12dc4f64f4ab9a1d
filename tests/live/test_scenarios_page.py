"""Every curl line of `docs/scenarios.md`, as copied, against one server."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.conftest import Tool
from tests.live.pages import Page, run_bash
from tests.live_servers import LiveServer

pytestmark = pytest.mark.live

PAGE = Page("docs/scenarios.md")
_, *SECTIONS = re.split(r"^### ", PAGE.text, flags=re.MULTILINE)
ADDRESS = "http://127.0.0.1:8080"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANSWERS = re.compile(
    r"nswers `(\d+)`, `([^`]+)`(?:, (?:code|problem) `([^`]+)`(?: in `errors`)?)?\.$", re.MULTILINE
)
_BROKEN = {"The connection is reset before any answer.": 56}
"""With what status curl ends when the connection breaks so."""
_OF_LINES = "It acts on lines of streams"
_ENDS_OF_STREAMS = (0, 18, 28, 56)
"""With what status curl ends when a stream ends, is cut, is silent, or is reset."""


@pytest.fixture(scope="module")
def variables() -> str:
    """The variables of the shell that the page sets at its beginning."""
    names = ("MOCK_PLATFORM_BEARER_TOKEN", "MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN", "minute")
    shown = " ".join(f'"${name}"' for name in names)
    done = run_bash(f"{PAGE.blocks('bash')[0]}\nprintf '%s\\n' {shown}")
    assert (0, "") == (done.returncode, done.stderr)
    values = done.stdout.splitlines()
    return "".join(f"{n}={shlex.quote(v)}\n" for n, v in zip(names, values, strict=True))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.partition("\n")[0])
def test_the_command_shows_what_is_said(
    section: str, variables: str, live_server: LiveServer, tool: Tool
) -> None:
    """The last answer has the status, the media type and the code that the page shows."""
    tool("curl")
    (command,) = _BLOCK.findall(section)

    command = command.replace(ADDRESS, live_server.world().base_url)
    command = command.replace("--max-time 5", "--max-time 2")  # what a silent stream waits for
    if _OF_LINES in section:
        command += "kill $! || true\n"  # the stream that it opened, which would go on for seconds
    done = run_bash(variables + command)

    if "the stream ends, breaks or goes silent" in section:
        assert done.returncode in _ENDS_OF_STREAMS
        assert done.stdout.startswith("HTTP/1.1 200 ")
        return
    if _OF_LINES in section:
        assert done.returncode == 0
        assert "HTTP/1.1 201 " in done.stdout
        return
    told = _ANSWERS.search(section)
    if told is None:
        expected = next(code for text, code in _BROKEN.items() if text in section)
        assert (expected, "") == (done.returncode, done.stdout)
        return
    assert (0, "") == (done.returncode, done.stderr)
    status, kind, code = told.groups()
    last = "HTTP/1.1 " + done.stdout.rpartition("HTTP/1.1 ")[2]
    head, _, body = last.partition("\n\n")
    assert f"HTTP/1.1 {status} " == last[:13]
    assert re.search(rf"^content-type: {re.escape(kind)}", head, re.MULTILINE | re.IGNORECASE)
    assert code is None or code in body
