"""What the refusals of the older interface have in common."""

from __future__ import annotations

from typing import Any


def numbers(code: int, message: str | None = None) -> dict[str, Any]:
    """The body of a refusal with a number, and if it is given with its text."""
    return {"errors": [{"code": code} | ({"message": message} if message else {})]}


def not_authorized(path: str) -> dict[str, Any]:
    """The body of the refusal of what hangs on a hidden user."""
    return {"request": path, "error": "Not authorized."}


def invalid(name: str) -> dict[str, Any]:
    """The body of the refusal of a parameter that is not missing but invalid."""
    return numbers(44, f"{name} parameter is invalid.")
