"""Values of forms in the types that the views of the control plane take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mock_platform.control.refusal import refuse_values
from mock_platform.core.jsonio import BadJson, loads

_NO_INTEGER = 2**63


def to_number(text: str) -> int | float | str:
    """Returns a number that a text holds, else the text, which a schema refuses with its reason."""
    try:
        if text.strip().lstrip("+-").isdecimal() and abs(number := int(text)) < _NO_INTEGER:
            return number
        return _to_float(text)  # as JSON reads a number that is too large for an integer
    except ValueError:
        return text


def _to_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def read_json(values: Mapping[str, str], name: str, failed: str) -> dict[str, Any]:
    """Returns the JSON of a field under its name; nothing if the field is empty.

    Raises:
        ControlRefusal: 422, beside the field; `failed` says what was not done.
    """
    text = values.get(name, "").strip()
    if not text:
        return {}
    try:
        return {name: loads(text.encode())}
    except BadJson as fault:
        raise refuse_values(422, [(name, str(fault))], failed) from fault
