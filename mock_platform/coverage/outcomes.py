"""The outcome of an answer: its status, and the code by which its body names a failure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

BATCH = "operation_errors"
"""Replaces the codes of a batch's items, which would be as many as its items."""
_CODE = b'"code":'
_USUAL = b'{"errors":[{"code":'
_QUOTE = ord('"')
_MAX_PARSED_BYTES = 64 * 1024
_MAX_PLAIN_TEXT_BYTES = 80


class Outcome(NamedTuple):
    """A status and a code: a problem type's slug, a numeric or named code, a plain text, or "".

    The code of a success is "".
    """

    status: int
    code: str


def find_codes(status: int, body: bytes) -> Iterable[str]:
    """Return the codes that the body of an answer names, each once; `("",)` without any."""
    if status < 400 or not body:
        return ("",)
    code = _read_single_code(body)
    if code is not None:
        return (code,)
    if not body.startswith(b"{") or len(body) > _MAX_PARSED_BYTES:
        return (_read_plain_text(body),)
    try:
        # Our own answers are read here on every failure: their depth need not be measured.
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ("",)
    return _read_named_codes(value) or ("",)


def _read_single_code(body: bytes) -> str | None:
    """Return the code of the usual errors array with one element, without parsing the body.

    Parsing would cost more than all other counting together.
    """
    if not body.startswith(_USUAL) or body.count(_CODE) != 1:
        return None
    begin = len(_USUAL)
    named = body[begin] == _QUOTE
    end = body.find(b'"', begin + 1) if named else body.find(b",", begin)
    code = body[begin + named : end]
    return code.decode() if end > 0 and code.replace(b"_", b"").isalnum() else None


def _read_named_codes(value: dict[str, Any]) -> Iterable[str]:
    kind = value.get("type")
    if isinstance(kind, str):
        return (kind.rpartition("/problems/")[2],)
    if BATCH in value:
        return (BATCH,)
    errors = value.get("errors")
    if not isinstance(errors, list):
        return (str(value["code"]),) if "code" in value else ()
    found = [str(error["code"]) for error in errors if isinstance(error, dict) and "code" in error]
    return found if len(found) < 2 else dict.fromkeys(found)


def _read_plain_text(body: bytes) -> str:
    """Return a short plain text as its own code; pages and long texts have none."""
    if len(body) > _MAX_PLAIN_TEXT_BYTES or body.lstrip().startswith(b"<"):
        return BATCH if body.startswith(b'{"operation_errors"') else ""
    return body.decode("utf-8", "replace")
