"""Parts of OpenAPI documents: to validate a whole one takes many seconds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mock_platform.core.jsonio import dumps

_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


def keep_paths(document: dict[str, Any], wanted: Callable[[str], bool]) -> dict[str, Any]:
    """A document with the paths that are wanted, and the schemas to which these lead."""
    paths = {path: item for path, item in document["paths"].items() if wanted(path)}
    known, used = document["components"]["schemas"], set[str]()
    waiting: list[Any] = [paths]
    while waiting:
        found = set(_REFERENCE.findall(dumps(waiting.pop()).decode())) - used
        used |= found
        waiting += [known[name] for name in found]
    components = document["components"] | {"schemas": {name: known[name] for name in sorted(used)}}
    return document | {"paths": paths, "components": components}
