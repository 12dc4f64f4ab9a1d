"""What `fit` shows: calls, how to lead the project to the sandbox, and a first test for it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from mock_platform.core.errors import escape
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.verification.fit.calls import ProjectCall
from mock_platform.verification.fit.project import ProjectReading
from mock_platform.verification.fit.verdicts import Status

_ORDER: tuple[Status, ...] = ("served", "assumed", "renamed", "missing", "unknown")
_MEANINGS: dict[Status, str] = {
    "served": "as documented",
    "assumed": "served, on an assumption",
    "renamed": "served under another name; taken with original names",
    "missing": "not served",
    "unknown": "not understood; look at these yourself",
}
_MOST_PLACES = 5
_CREDENTIALS = (
    (r"BEARER", "BEARER_TOKEN"),
    (r"ACCESS.*SECRET|TOKEN_SECRET", "ACCESS_TOKEN_SECRET"),
    (r"ACCESS.*(?:TOKEN|KEY)|OAUTH_TOKEN", "ACCESS_TOKEN"),
    (r"(?:CONSUMER|API|APP).*SECRET", "CONSUMER_SECRET"),
    (r"(?:CONSUMER|API|APP).*KEY", "CONSUMER_KEY"),
)
_OF_PLATFORM = re.compile(r"TWITTER|TWEET|(?:^|_)X_|^(?:CONSUMER|BEARER|ACCESS|API_(?:KEY|SECRET))")
_PYTHON_TEST = """\
# test_with_sandbox.py: pip install pytest 'mock-platform[tls]', then pytest
import os, subprocess, sys

def test_runs_against_the_sandbox(mock_platform):
    app, user = mock_platform.credentials["app"], mock_platform.credentials["user"]
    with mock_platform.intercept():
        keys = {{{keys}}}
        subprocess.run([sys.executable, "{file}"], env={{**os.environ, **keys}}, timeout=60)
    assert mock_platform.journal.find(operation="{operation}")
"""
_PYTHON_VALUES = {
    "BEARER_TOKEN": 'mock_platform.credentials["bearer_token"]',
    "ACCESS_TOKEN_SECRET": 'user["access_token_secret"]',
    "ACCESS_TOKEN": 'user["access_token"]',
    "CONSUMER_SECRET": 'app["consumer_secret"]',
    "CONSUMER_KEY": 'app["consumer_key"]',
}
_NODE_TEST = """\
// with-sandbox.test.mjs: npm install --save-dev mock-platform, then
// mock-platform run --names original --intercept -- node --test with-sandbox.test.mjs
import assert from "node:assert/strict";
import {{ execFileSync }} from "node:child_process";
import {{ test }} from "node:test";
import {{ MockPlatform }} from "mock-platform";

test("it runs against the sandbox", async () => {{
  const platform = await MockPlatform.connect();
  const {{ env }} = process;
  const keys = {{ {keys} }};
  execFileSync("node", ["{file}"], {{ env: {{ ...env, ...keys }}, timeout: 60_000 }});
  assert.ok(await platform.journal.count({{ operation: "{operation}" }}));
}});
"""


def as_json(reading: ProjectReading) -> dict[str, Any]:
    """Return what was found as a JSON object."""
    counts = Counter(each.verdict.status for each in reading.found)
    return {
        "calls": [_show(each) for each in reading.found],
        "summary": {
            **{status: counts[status] for status in _ORDER},
            "files": reading.files,
            "faults": [
                {"file": each.file, "line": each.line, "text": each.text} for each in reading.faults
            ],
            "elsewhere": [{"file": file, "line": line} for file, line in reading.elsewhere],
            "ways": list_ways(reading),
            "first_test": write_test(reading),
        },
    }


def write_text(reading: ProjectReading) -> str:
    """Return what was found for people: the calls by file, then what to do."""
    lines: list[str] = []
    for each in reading.found:
        shown = _show(each)
        name = f"  {shown['operation']}" if "operation" in shown else ""
        lines.append(
            f"{shown['file']}:{shown['line']}: {shown['method'] or '?'} {shown['path']}: "
            f"{shown['status']}{name}"
        )
        if shown["note"]:
            lines.append(f"    {shown['note']}")
    lines += [f"{each.file}:{each.line}: not read: {each.text}" for each in reading.faults]
    counts = Counter(each.verdict.status for each in reading.found)
    lines += ["", f"Calls of the platform: {len(reading.found)}. Files: {reading.files}."]
    lines += [f"  {counts[each]:>4} {each}: {_MEANINGS[each]}" for each in _ORDER if counts[each]]
    if reading.elsewhere:
        places = ", ".join(f"{file}:{line}" for file, line in reading.elsewhere[:_MOST_PLACES])
        more = ", …" if len(reading.elsewhere) > _MOST_PLACES else ""
        lines.append(
            f"  {len(reading.elsewhere):>4} calls of HTTP whose address is not written down, in "
            f"files that do not name the platform: {places}{more}"
        )
    ways = list_ways(reading)
    if ways:
        lines += ["", "To lead it to the sandbox:", *(f"  {way}" for way in ways)]
    test = write_test(reading)
    lines += ["", "A first test:", "", *test.split("\n")] if test else []
    return "\n".join(map(escape, lines))


def _show(found: ProjectCall) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "file": found.file,
        "line": found.line,
        "method": found.method,
        "path": verdict.path,
        **({"operation": verdict.operation} if verdict.operation else {}),
        "status": verdict.status,
        "note": verdict.note,
    }


def list_ways(reading: ProjectReading) -> list[str]:
    """Return how the project can be led to a sandbox, the best way first."""
    if not reading.found:
        return []
    ways = []
    keys = " ".join(f"{own}=$MOCK_PLATFORM_{name}" for own, name in _match_keys(reading))
    command = f"sh -c '{keys} CMD'" if keys else "CMD"
    ways.append(
        f"proxy: mock-platform run --names original --intercept -- {command} answers for "
        f"{PLATFORM_HOSTS[1]} and the other hosts, without a change (extra tls)"
    )
    bases = dict.fromkeys(name for each in reading.found for name in each.variables)
    ways += [f"address: {name}=$MOCK_PLATFORM_URL, as the code reads it" for name in bases]
    if {"tweepy", "xdk"} & set(reading.libraries):
        ways.append(
            'transport: client.session.mount("https://api.twitter.com", '
            "WsgiAdapter(platform.wsgi)) answers in the process (from mock_platform import "
            "WsgiAdapter)"
        )
    elif "python" in reading.libraries:
        ways.append("pytest: with mock_platform.intercept(): … in a test")
    ways.append("host: mock-platform hosts prints lines for a hosts file, if nothing else works")
    return ways


def _match_keys(reading: ProjectReading) -> list[tuple[str, str]]:
    """Return the variables of the project that hold keys, with the sandbox's names of these."""
    return [
        (variable, next(name for pattern, name in _CREDENTIALS if re.search(pattern, variable)))
        for variable in reading.variables
        if _OF_PLATFORM.search(variable)
        and any(re.search(pattern, variable) for pattern, _ in _CREDENTIALS)
    ]


def write_test(reading: ProjectReading) -> str:
    """Return a test that runs the first file whose call is served; empty if no call is."""
    for each in reading.found:
        name, operation = each.file, each.verdict.operation
        if not operation or '"' in name or "\\" in name or name.endswith(".har"):
            continue
        if name.endswith(".py"):
            keys = ", ".join(f'"{own}": {_PYTHON_VALUES[k]}' for own, k in _match_keys(reading))
            return _PYTHON_TEST.format(file=name, operation=operation, keys=keys)
        keys = ", ".join(f"{own}: env.MOCK_PLATFORM_{k}" for own, k in _match_keys(reading))
        return _NODE_TEST.format(file=name, operation=operation, keys=keys)
    return ""
