"""Validating OpenAPI documents, and parts of them: a whole one takes seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import openapi_spec_validator
import pytest
from openapi_schema_validator import OAS31Validator

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


_check_schema = OAS31Validator.check_schema
_sound: set[bytes] = set()
"""Schemas that were checked: most are the same in all documents, and many in one."""


def _check_once(schema: Any, **more: Any) -> None:
    text = dumps(schema)
    if text not in _sound:
        _check_schema(schema, **more)
        _sound.add(text)


def validate(document: Mapping[str, Any]) -> None:
    """Validate a document, its equal schemas once.

    Raises:
        OpenAPIValidationError: It does not follow OpenAPI.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OAS31Validator, "check_schema", _check_once)
        openapi_spec_validator.validate({**document})
