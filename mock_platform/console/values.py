"""Values of forms in the types that the views of the control plane take."""

from __future__ import annotations

import math


def to_number(text: str) -> int | float | str:
    """Returns a number that a text holds, else the text, which a schema refuses with its reason."""
    try:
        return int(text) if text.strip().lstrip("+-").isdecimal() else _to_float(text)
    except ValueError:
        return text


def _to_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
