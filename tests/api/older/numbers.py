"""What the refusals of the older interface have in common."""

from __future__ import annotations

from typing import Any


def numbers(code: int) -> dict[str, Any]:
    """The body of a refusal with a number."""
    return {"errors": [{"code": code}]}
