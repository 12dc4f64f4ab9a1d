"""`docs/javascript.md`: what the npm package declares, read from its types."""

from __future__ import annotations

import re

from docs.generators.rooms import ROOT

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
names of settings and tables are in `contract.d.ts`; [tables](tables.md) has the fields.
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
