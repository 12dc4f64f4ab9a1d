"""`docs/python.md`: the Python interface, read from its source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from mock_platform import settings
from mock_platform.client import interface, platform, world_parts
from mock_platform.client.testing import case, webhook_receiver
from mock_platform.scenario import failures
from mock_platform.serving import app
from mock_platform.serving.in_process import session

_INTRODUCTION = """\
# Python

Made by `make docs` from the source; do not edit.

```python
from mock_platform import MockPlatform

with MockPlatform.start() as platform:
    assert platform.session("bearer").get("/12/accounts").status_code == 200
```

`MockPlatform.start()` and `MockPlatform.connect()` return a [`PlatformFace`](#platformface), which
is also the world `default`; `platform.world(name)` returns a [`WorldFace`](#worldface). A world
has a [clock](#clockface), a [journal](#journalface) and [records](#stateface). The
pytest fixtures and markers are in [for test authors](for-test-authors.md); what suites with
[unittest](#platformmixin) and [receivers of webhooks](#webhookreceiver) use is imported from
`mock_platform.testing`. [The command line](command-line.md#serve) explains each setting.
"""
_SHOWN = (
    (platform, "MockPlatform"),
    (interface, "PlatformFace"),
    (interface, "WorldFace"),
    (world_parts, "ClockFace"),
    (world_parts, "JournalFace"),
    (world_parts, "EntryFace"),
    (world_parts, "ChangeFace"),
    (world_parts, "StateFace"),
    (world_parts, "TableFace"),
    (world_parts, "StreamsFace"),
    (world_parts, "SnapshotsFace"),
    (world_parts, "TransitionsFace"),
    (settings, "Settings"),
    (settings, "DeliverySettings"),
    (session, "WsgiAdapter"),
    (app, "create_app"),
    (failures, "failures"),
    (case, "PlatformMixin"),
    (webhook_receiver, "WebhookReceiver"),
    (webhook_receiver, "ReceivedDelivery"),
)
"""Modules with what is stable in them, in the order of the page."""
_LISTS = ("Args:", "Returns:", "Yields:", "Raises:")
"""Headings in a docstring; a list follows."""
_EXAMPLE = "\n\nExample:\n"
"""What begins the last section of a docstring."""


def write_page() -> str:
    """Returns the page."""
    lines = [_INTRODUCTION.rstrip()]
    for module, name in _SHOWN:
        tree = ast.parse(inspect.getsource(module))
        found = next(node for node in tree.body if getattr(node, "name", None) == name)
        assert isinstance(found, ast.ClassDef | ast.FunctionDef)
        lines += ["", f"## `{name}`"]
        if isinstance(found, ast.FunctionDef):
            lines += ["", f"`{_sign(found)}`"]
        lines += ["", _tell(found)]
        if isinstance(found, ast.ClassDef):
            lines += _members(found)
    return "\n".join(lines) + "\n"


def _members(owner: ast.ClassDef) -> Iterator[str]:
    """Returns the lines about all public methods, properties and fields of a class."""
    for node, after in zip(owner.body, [*owner.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            if "overload" in map(ast.unparse, node.decorator_list):
                continue  # the function below it has all parameters
            yield from ("", f"### `{owner.name}.{node.name}`", "", f"`{_sign(node)}`")
            yield from ("", _tell(node))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.target.id.startswith("_"):
                continue
            default = "" if node.value is None else f" = {ast.unparse(node.value)}"
            yield f"\n- `{node.target.id}: {ast.unparse(node.annotation)}{default}`"
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = " ".join(inspect.cleandoc(str(after.value.value)).split())
                yield f"  {text}"


def _sign(function: ast.FunctionDef) -> str:
    """Returns name, parameters and result; a property has no parameters."""
    returns = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    if any(
        isinstance(each, ast.Name) and each.id == "property" for each in function.decorator_list
    ):
        return f"{function.name}: {returns.removeprefix(' -> ')}"
    named = ast.unparse(function.args)
    for first in ("self, /, ", "self, ", "cls, ", "self", "cls"):
        if named.startswith(first):
            named = named.removeprefix(first)
            break
    return f"{function.name}({named}){returns}"


def _tell(node: ast.ClassDef | ast.FunctionDef) -> str:
    """Returns a docstring; lists of exceptions and parameters, and the example, are set as such."""
    told, _, example = inspect.cleandoc(ast.get_docstring(node) or "").partition(_EXAMPLE)
    lines: list[str] = []
    listed = False
    for line in told.splitlines():
        if line in _LISTS:
            listed = True
            lines += [line, ""]
        elif not listed:
            lines.append(line)
        elif line.startswith("     "):
            lines[-1] += f" {line.strip()}"
        elif line:
            lines.append(f"- {line.strip()}")
    if example:
        shown = inspect.cleandoc(f"\n{example}").splitlines()
        lines += ["", "Example:", "", "```pycon", *shown, "```"]
    return "\n".join(lines)
