"""What `mock-platform operations`, `where` and `credentials` print without building a sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mock_platform
from mock_platform.api.oauth.known_credentials import credentials
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform

_ROOT = Path(mock_platform.__file__).parents[1]


def write_page() -> str:
    """Returns the text of `mock_platform/cli/constants.json`: one operation in each line."""
    platform = Platform()
    known = dumps(credentials(platform.worlds.default)).decode()
    rows = ",\n".join(dumps(_describe(entry)).decode() for entry in platform.operations)
    return f'{{"credentials": {known},\n"operations": [\n{rows}\n]}}\n'


def _describe(operation: Operation) -> dict[str, Any]:
    name, line = operation.where()
    file = Path(name)
    lines = [text.strip() for text in file.read_text("utf-8").splitlines()]
    code = lines[line - 1]
    return {
        "listed": operation.as_json() | {"code": file.relative_to(_ROOT).as_posix()},
        "also": operation.also,
        "dialect": operation.dialect,
        "code_line": code,
        "code_count": lines[: line - 1].count(code),
    }
