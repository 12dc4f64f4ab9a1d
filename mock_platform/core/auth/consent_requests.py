"""How a test asks for a user's answer: with a request token, or with the address of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CannotApprove(ValueError):
    """A request that no user can allow or deny; the text says why."""


def is_address(asked: str) -> bool:
    """Return whether this is the address of a page, not a request token."""
    return "?" in asked or "://" in asked


def choose_answer(asked: str, found: Mapping[str, Any], *, deny: bool) -> str:
    """Return what a test wants of an approval: the verifier of a token, else the redirect."""
    wanted = "redirect" if deny or is_address(asked) else "verifier"
    return str(found[wanted] or "")
