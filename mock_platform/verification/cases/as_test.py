"""Writes the whole session of a case as one test, for pytest or for node, which has the case in it.

So it passes wherever the package is installed, without another file.
"""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Sequence
from typing import Literal

from mock_platform.core.warning_counts import strip_origin
from mock_platform.verification.cases.document import SavedCase

Request = tuple[str, str, str, int]
"""Method, path with query, body, and status."""
_MAX_BODY = 400
_WIDTH = 96


def write_test(case: SavedCase, kind: Literal["pytest", "node"]) -> str:
    """Return a test that repeats all requests of a case, and checks their answers.

    Raises:
        BadCase: The journal in the file is damaged or hostile.
        OSError: The file cannot be read.
    """
    requests = [
        (
            each.request.method,
            strip_origin(each.request.url),
            _show_body(each.request.body),
            each.response.status,
        )
        for each in case.read_exchanges()
    ]
    packed = base64.b64encode(case.path.read_bytes()).decode()
    lines = textwrap.wrap(packed, _WIDTH)
    write = _write_pytest if kind == "pytest" else _write_node
    return write(_describe(case), requests, lines)


def _show_body(body: bytes) -> str:
    """Return a body as text, if it is a short one."""
    if len(body) <= _MAX_BODY:
        try:
            return body.decode()
        except UnicodeDecodeError:
            pass
    return f"({len(body):,} bytes)"


def _describe(case: SavedCase) -> str:
    document = case.document
    return (
        f"The session of world {document.world}: {document.requests:,} requests, saved "
        f"{document.saved_at} by mock_platform {document.versions.mock_platform:.40}."
    )


def _quote(value: object) -> str:
    """Return a value as a literal of Python and of JavaScript, in ASCII."""
    return json.dumps(value)


def _write_pytest(title: str, requests: Sequence[Request], packed: Sequence[str]) -> str:
    listed = "\n".join(f"    ({', '.join(map(_quote, each))})," for each in requests)
    return f'''"""{_make_comment(title)}"""

import base64
from pathlib import Path

from mock_platform import MockPlatform

REQUESTS = [
{listed}
]
"""Method, path, body, and status of the answer; the case at the end has all the rest."""


def test_session(tmp_path: Path) -> None:
    """Each request of the session gets the recorded answer."""
    file = tmp_path / "case.zip"
    file.write_bytes(base64.b64decode(CASE))

    with MockPlatform.open_case(file) as platform:
        got = [entry.status for entry in platform.journal]
        differences = [str(each) for each in platform.differences]

    assert got == [status for *_, status in REQUESTS]
    assert differences == []


CASE = """
{chr(10).join(packed)}
"""
'''


def _write_node(title: str, requests: Sequence[Request], packed: Sequence[str]) -> str:
    listed = "\n".join(f"  [{', '.join(map(_quote, each))}]," for each in requests)
    return f"""// {_make_comment(title)}
// It runs as a module of either kind: .mjs, .cjs, .js.

/** Method, path, body, and status of the answer; the case at the end has all the rest. */
const REQUESTS = [
{listed}
];

import("node:test").then(({{ test }}) =>
  test("each request of the session gets the recorded answer", async () => {{
    const {{ execFile }} = await import("node:child_process");
    const {{ mkdtemp, rm, writeFile }} = await import("node:fs/promises");
    const {{ tmpdir }} = await import("node:os");
    const path = await import("node:path");
    const {{ promisify }} = await import("node:util");
    const {{ default: assert }} = await import("node:assert/strict");

    const [program, ...words] = (process.env.MOCK_PLATFORM_COMMAND ?? "mock-platform").split(" ");
    const folder = await mkdtemp(path.join(tmpdir(), "case-"));
    try {{
      const file = path.join(folder, "case.zip");
      await writeFile(file, Buffer.from(CASE, "base64"));
      const {{ stdout }} = await promisify(execFile)(program, [...words, "open", file, "--replay"]);
      const count = REQUESTS.length.toLocaleString("en");
      assert.match(stdout, new RegExp(`^${{count}} requests? `, "m"));
    }} finally {{
      await rm(folder, {{ recursive: true }});
    }}
  }}),
);

const CASE = `
{chr(10).join(packed)}
`;
"""


def _make_comment(text: str) -> str:
    plain = text.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'")
    return " ".join(plain.split())
