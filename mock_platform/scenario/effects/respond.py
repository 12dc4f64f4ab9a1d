"""`respond: {status, headers, json | text}` — an answer that the author wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.call import Call, Reply
from mock_platform.core.documents.forms import (
    AnyForm,
    EntriesForm,
    WholeForm,
    WordForm,
    make_keyed,
    make_object,
)
from mock_platform.core.failures.rendering import JSON
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.effects.effect import EffectKind, Staging


def _write_in_any_case(name: str) -> str:
    """Return a pattern for a name in any case; JSON Schema has no flag for that."""
    return "".join(f"[{each.upper()}{each}]" if each.isalpha() else each for each in name)


_FRAMING = ("content-length", "transfer-encoding", "connection")
_OURS = f"(?!(?:{'|'.join(map(_write_in_any_case, _FRAMING))})$)"
_TOKEN = r"[A-Za-z0-9!#%&'*+.^_`|~-]{1,100}"


_BODILESS = (204, 304)
"""Statuses of answers that no client reads a body of."""


class RespondEffect(Struct, frozen=True):
    """Answers with fixed status, headers and body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Return the answer; the handler does not run."""
        return self.foresee(staging.call)

    def foresee(self, call: Call) -> Reply:
        """Return the answer, which is the same for every call."""
        return Reply(self.status, self.body, list(self.headers), is_verbatim=True)


def _make(value: Mapping[str, Any]) -> RespondEffect:
    given = value["respond"]
    headers = list(given.get("headers", {}).items())
    body, kind = b"", None
    if "json" in given:
        body, kind = dumps(given["json"]), JSON
    elif "text" in given:
        body, kind = given["text"].encode(), "text/plain; charset=utf-8"
    if kind is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", kind))
    status = given.get("status", 200)
    return RespondEffect(status, tuple(headers), b"" if status in _BODILESS else body)


_HEADERS = EntriesForm(
    WordForm(pattern=r"[\x20-\x7e]*", meaning="printable ASCII"),
    pattern=_OURS + _TOKEN,
    meaning="a header's name (its length and connection are the server's)",
    least=0,
)
KIND = EffectKind(
    "respond",
    _make,
    form=make_keyed(
        "respond",
        make_object(
            {
                "status": (WholeForm(200, 599), "The status of the answer.", "200"),
                "headers": (_HEADERS, "Its headers, by name.", "the type of the body"),
                "json": (AnyForm(), "Its body, as JSON.", "an empty body"),
                "text": (WordForm(most=1_000_000), "Its body, as text.", "an empty body"),
            },
            least=1,
            excluding=("json", "text"),
        ),
        "An answer of your own instead of the handler's.",
    ),
    answers=True,
)
