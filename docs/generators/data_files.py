"""The generated data of the package: codes of countries, and what commands print at once.

pycountry and iso4217 would be more than half of what a user installs, for two lists that hardly
change. With `constants.json`, `mock-platform operations`, `where` and `credentials` build no
sandbox.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pycountry
from iso4217 import Currency

import mock_platform
from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform

_ROOT = Path(mock_platform.__file__).parents[1]


def write_codes() -> str:
    """Returns the text of `mock_platform/core/codes.json`: one list for each kind of code."""
    lists = {
        "countries": sorted(country.alpha_2 for country in pycountry.countries),
        "currencies": sorted(currency.code for currency in Currency),
    }
    rows = [f'  "{name}": {json.dumps(codes)}' for name, codes in lists.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def write_constants() -> str:
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
