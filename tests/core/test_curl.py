from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.curl import Variable, split_at, write_curl
from tests.generated import examples
from tests.shells import SHELLS, Shell, open_shell, read_words

_HOSTILE = (
    "x';touch${IFS}made;echo '", "$(touch made)", "`touch made`", '";touch made;"', "\\';touch",
    "@made", "[1-50]", "{a,b}", "~", "!!", "a\nb", "\x1b[201~\ntouch made\n", "\x03", "\r", "\t",
    "\x9b2J", "\u202e", "é", "%d%s", "\\n", "-X", "#", "*", "|touch made", "&& touch made", "\0",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(_HOSTILE) | st.text(max_size=3), max_size=4).map("".join)
LINES = TEXTS.map(lambda text: text.replace("\0", ""))
"""A word of a command cannot have a NUL."""


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest) -> Iterator[Shell]:
    """One of the shells into which people paste."""
    with open_shell(request.param) as shell:
        yield shell


@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "DELETE", "P'`$x"]),
    path=LINES,
    value=LINES.map(lambda text: f"v{text}v"),
    body=st.none() | TEXTS,
)
@examples(30, deadline=None)
def test_a_pasted_command_sends_what_was_meant_and_runs_nothing_else(
    shell: Shell, method: str, path: str, value: str, body: str | None
) -> None:
    """Each shell passes on what is in the address, the headers and the body, unchanged."""
    url, header = f"http://127.0.0.1:8080/{path}", f"X-One: {value}"

    words, piped = shell.paste(write_curl(method, url, [header], body))

    assert read_words(words, piped) == (method, url, [header], body)


@given(before=LINES, after=LINES, value=LINES)
@examples(20, deadline=None)
def test_variables_are_the_only_thing_that_the_shell_replaces(
    shell: Shell, before: str, after: str, value: str
) -> None:
    """The text around a variable is no command, and neither is its value."""
    header = f"A: {before}<value>{after}"
    parts = split_at(header, {"TOKEN": "<value>"})

    words, _ = shell.paste(write_curl("GET", "http://a/", [parts]), TOKEN=value)

    assert f"A: {before}{value}{after}" in words


def test_usual_commands_are_easy_to_read() -> None:
    """Nothing is there that a usual request does not need."""
    bearer = ("Authorization: Bearer ", Variable("TOKEN"))

    command = write_curl("POST", "http://a/b", [bearer, "Content-Type: a/b"], '{"a": 1}')

    assert command.splitlines() == [
        "curl -sS -X POST \\",
        '     -H "Authorization: Bearer $TOKEN" \\',
        "     -H 'Content-Type: a/b' \\",
        "     --data-raw '{\"a\": 1}' \\",
        "     http://a/b",
    ]


@pytest.mark.parametrize(("method", "url", "headers", "body", "word"), [
    ("GET", "http://a/?id=[1-50]", [], None, "--globoff"),
    ("GET", "http://a/../b", [], None, "--path-as-is"),
    ("HEAD", "http://a/", [], None, "--head"),
    ("GET", "http://a/", ["X-Empty: "], None, "X-Empty;"),
    ("POST", "http://a/", [], "@/etc/passwd", "--data-raw"),
    ("POST", "http://a/", [], "a", "Content-Type:"),
])  # fmt: skip
def test_curl_adds_nothing_of_its_own(
    shell: Shell, method: str, url: str, headers: list[str], body: str | None, word: str
) -> None:
    """What curl would take for something else, or leave out, is said in the way that it takes."""
    words, _ = shell.paste(write_curl(method, url, headers, body))

    assert word in words
