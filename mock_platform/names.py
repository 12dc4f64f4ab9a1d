"""The names that exist, for annotations: scenarios, tables, operations, event types, error codes.

Type checkers and editors read `names.pyi`, which is generated. A program that asks for one of the
names while it runs gets the same literal, read from that file.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, NewType

OwnName = NewType("OwnName", str)


@cache
def __getattr__(name: str) -> Any:
    """Return the literal of this name."""
    declared = rf"^{re.escape(name)}: TypeAlias = Literal\[(.*?)\]$"
    text = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    found = re.search(declared, text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Literal[tuple(json.loads(f"[{found[1]}]"))]
