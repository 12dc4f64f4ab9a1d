"""The parts of the JavaScript package that follow from Python, and the page of its types."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import click

from docs.generators.rooms import ROOT
from mock_platform.api.served import TABLES
from mock_platform.cli.options import (
    SETTINGS,
    InstantKind,
    SecondsKind,
    Setting,
    SizeKind,
    WireKind,
)
from mock_platform.version import __version__

_PACKAGE = Path(__file__).parents[2] / "clients" / "javascript" / "package.json"
_HEAD = "// Made by `make docs` from the settings and tables in Python; do not edit.\n"
_WIDTH = 100


def write_package() -> str:
    """Returns `package.json` with the version of the server."""
    text = _PACKAGE.read_text("utf-8")
    return re.sub(r'(?<="version": ")[^"]*', __version__, text, count=1)


def write_types() -> str:
    """Returns `types/contract.d.ts`."""
    settings = "\n".join(_declare(each) for each in SETTINGS)
    return (
        f'{_HEAD}\nimport type {{ Instant, Wire }} from "./index.js";\n\n'
        "/** The settings of a sandbox, by their names in Python; see docs/command-line.md. */\n"
        f"export interface Settings {{\n{settings}\n}}\n"
    )


def write_values() -> str:
    """Returns `lib/contract.js`."""
    options = "\n".join(f'  {name_in_javascript(each)}: "{_option(each)}",' for each in SETTINGS)
    keys = "\n".join(f'  {table.name}: "{table.key}",' for table in TABLES)
    return (
        f'"use strict";\n\n{_HEAD}\n'
        "/** The options of `serve`, by the names of their settings.\n"
        f" * @type {{Record<string, string>}} */\nconst OPTIONS = {{\n{options}\n}};\n\n"
        "/** The field with the key of a record, by table.\n"
        f" * @type {{Record<string, string>}} */\nconst KEYS = {{\n{keys}\n}};\n\n"
        "module.exports = { KEYS, OPTIONS };\n"
    )


def name_in_javascript(setting: Setting) -> str:
    """Returns the name of a setting as `MockPlatform.start` has it, in camel case."""
    group, _, field = setting.target.rpartition(".")
    first, *others = f"{group}_{field}".removeprefix("connection_").strip("_").split("_")
    return first + "".join(word.title() for word in others)


def _option(setting: Setting) -> str:
    return setting.name.removeprefix("no-") if setting.is_inverted else setting.name


def _declare(setting: Setting) -> str:
    text = setting.help.replace(" Repeatable.", "")
    if setting.is_inverted:
        text = f"With false: {text[0].lower()}{text[1:]}"
    lines = [f"  /** {text} */"]
    if len(lines[0]) > _WIDTH:
        wrapped = textwrap.wrap(text, _WIDTH, initial_indent="   * ", subsequent_indent="   * ")
        lines = ["  /**", *wrapped, "   */"]
    return "\n".join([*lines, f"  {name_in_javascript(setting)}?: {_find_type(setting)};"])


def _find_type(setting: Setting) -> str:
    """Returns the type of a setting's values in TypeScript."""
    single = "boolean" if setting.flag else _find_type_of_kind(setting.kind)
    return f"readonly {single}[]" if setting.many else single


def _find_type_of_kind(kind: Any) -> str:
    match kind:
        case click.Choice():
            return " | ".join(f'"{choice}"' for choice in kind.choices)
        case SecondsKind() | SizeKind():
            return "number | string"
        case InstantKind():
            return "Instant"
        case WireKind():
            return "Wire"
        case click.IntRange() | type() if kind is not str:
            return "number"
        case _:
            return "string"


# `docs/javascript.md`: what the npm package declares, read from its types.

_TYPES = ROOT / "clients" / "javascript" / "types" / "index.d.ts"
_DECLARED = re.compile(
    r"^(?:/\*\*(?P<told>(?:(?!\*/).)*?)\*/\n)?"
    r"(?P<code>(?:export )?(?:declare )?(?:interface|class|type|function|const) "
    r"(?P<name>\w+)\b.*?)(?=^(?:/\*\*|export |interface |declare |///)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_INTRODUCTION = """\
# JavaScript and TypeScript

Made by `make docs` from the types of the npm package; do not edit.

`MockPlatform.start()` and `MockPlatform.connect()` return a [`MockPlatform`](#mockplatform), which
is also the [`World`](#world) `default`. Lessons are in [for JavaScript](for-javascript.md). The
settings are in `contract.d.ts`, the names of scenarios, tables, operations, event types and error
codes in `names.d.ts`: see [red in the editor](types-and-async.md).
"""


def write_page() -> str:
    """Returns the page.

    Raises:
        ValueError: The types have a form that this module does not read.
    """
    text = _TYPES.read_text("utf-8")
    found = list(_DECLARED.finditer(text))
    if not {"World", "MockPlatform"} <= {each["name"] for each in found}:
        raise ValueError(f"{_TYPES} has no World or no MockPlatform that {__name__} can find")
    lines = [_INTRODUCTION.rstrip()]
    before = ""
    for each in found:
        told = " ".join(re.sub(r"^\s*\*", "", each["told"] or "", flags=re.MULTILINE).split())
        # An interface and a class of one name are one type.
        lines += [""] if each["name"] == before else ["", f"## `{each['name']}`", ""]
        before = each["name"]
        if told:
            lines += [told.replace("{", "\\{"), ""]
        lines += ["```ts", each["code"].strip(), "```"]
    return "\n".join(lines) + "\n"
