from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS
from mock_platform.cli import printing as constants
from mock_platform.cli.printing import (
    credentials_text,
    operations_text,
    read_operations,
    where_text,
)
from mock_platform.control import about
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform

HEAVY = ("mock_platform.platform", "mock_platform.api.served", "flask", "marshmallow", "requests")
_PRINT_MODULES = "import sys; {work}; print(*sorted(sys.modules), file=sys.stderr)"
_RUN = "from mock_platform.cli.main import group; group({args!r}, standalone_mode=False)"


def _find_modules(work: str) -> set[str]:
    """The modules that a fresh Python has loaded after some work."""
    code = _PRINT_MODULES.format(work=work)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("work", "needed"),
    [
        *(
            (_RUN.format(args=words.split("|")), "mock_platform.cli.main")
            for words in (
                "credentials|--format|shell", "operations", "where|GET /12/accounts",
                "operations|--help",
            )
        ),
        ("from mock_platform import MockPlatform", "mock_platform.client.platform"),
    ],
)  # fmt: skip
def test_what_is_plain_builds_nothing(work: str, needed: str) -> None:
    """Printing constants and importing `MockPlatform` load no operations, framework or client."""
    loaded = _find_modules(work)

    assert needed in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_operations_are_those_of_a_sandbox() -> None:
    """What is printed is what a server answers, line numbers included."""
    assert about.operations(Platform()) == json.loads(operations_text("json"))


def test_credentials_are_those_of_a_sandbox(tmp_path: Path) -> None:
    """Those of the default fixtures, and with folders those of a sandbox with them."""
    expected = credentials(Platform().worlds.default)

    assert expected == json.loads(credentials_text("json", []))
    assert expected == json.loads(credentials_text("json", [tmp_path]))


@pytest.fixture(scope="module")
def read_once() -> Iterator[None]:
    """The operations are read, and their routes made, once for all calls."""
    read = cache(constants.read_operations)
    routes = {sandbox: constants._route(read(), sandbox=sandbox) for sandbox in (False, True)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "read_operations", read)
        patch.setattr(constants, "_route", lambda _, *, sandbox: routes[sandbox])
        yield


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_is_found(operation: Operation) -> None:
    """By its method and path; the output has its id and the line of its code."""
    shown = f"/sandbox{operation.path}" if operation.sandbox_only else operation.path

    text = where_text(operation.method, shown.replace("/:", "/1"), "text")

    file, line = operation.where()
    assert f"operation  {operation.id}\n" in text
    assert f"{Path(file).name}:{line}\n" in text


def test_a_changed_file_still_has_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout where the line was changed, the first line of the file is named."""
    known = next(entry for entry in read_operations() if entry.id == "accounts.list")
    monkeypatch.setattr(constants.KnownOperation, "code_line", "no such line")

    assert 1 == known.find_line()
