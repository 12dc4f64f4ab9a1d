"""Servers with original names: asked with them, and read as if their answers had neutral ones.

Everything is compared under neutral names. A difference has the original ones beside, because these
are what the other server's documentation and logs have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.core.call import ABSENT, FORM
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.core.original_names.exchange import HEADER
from mock_platform.core.original_names.translation import Spelling
from mock_platform.core.pairs import decode_pairs
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.client import ProbeRequest
from mock_platform.verification.compare.compare import Difference
from mock_platform.verification.har.names import shows_original_names

_MARK = " (its neutral name)"


def shows_names(answer: ComparedAnswer) -> NamesMode:
    """Return the names of an answer: those that a sandbox says, else those of its body."""
    named = answer.markers.get(HEADER.lower())
    original = shows_original_names(answer.body) if named is None else named == "original"
    return "original" if original else "neutral"


class OriginalNames:
    """Writes requests and reads answers with original names, by the declarations of operations."""

    def __init__(self) -> None:
        self._neutral: dict[str, Spelling] = {}

    def write_request(self, operation: Operation, request: ProbeRequest) -> ProbeRequest:
        """Return a request for an operation with original names in its path and query.

        Both servers get it so, because some operations take both names of a parameter.
        """
        return replace(
            request,
            names="original",
            path=ORIGINAL_NAMES.write_path(request.path, operation.path, operation.also),
            query=tuple(ORIGINAL_NAMES.spellings[operation.dialect].write_pairs(request.query)),
        )

    def write_sent(
        self, operation: Operation, path: str, query: str, media_type: str, body: bytes
    ) -> tuple[str, bytes]:
        """Return the target and body of a client's request with original names.

        What has no other name stays byte for byte as it was sent.
        """
        spelling = ORIGINAL_NAMES.spellings[operation.dialect]
        target = ORIGINAL_NAMES.write_path(path, operation.path, operation.also)
        if query:
            target += f"?{_write_form(spelling, query)}"
        if media_type == FORM:
            body = _write_form(spelling, body.decode("utf-8", "replace")).encode()
        elif body and media_type.endswith("json"):
            with suppress(BadJson):
                found = loads(body)
                written = spelling.write(found)
                body = body if written == found else dumps(written)
        return target, body

    def read_answer(self, operation: Operation, answer: ComparedAnswer) -> ComparedAnswer:
        """Return an answer with neutral names; what is not JSON stays as it is."""
        if answer.json is ABSENT:
            return answer
        neutral = self._neutral.get(operation.id)
        if neutral is None:
            neutral = self._neutral[operation.id] = ORIGINAL_NAMES.make_neutral_spelling(
                operation, _MARK
            )
        return _replace_body(answer, neutral.write(answer.json))

    def write_answer(self, operation: Operation, answer: ComparedAnswer) -> ComparedAnswer:
        """Return an answer of a sandbox with neutral names as it would be with original ones."""
        if answer.json is ABSENT:
            return answer
        return _replace_body(answer, ORIGINAL_NAMES.spellings[operation.dialect].write(answer.json))

    def add_names(
        self, operation: Operation, differences: Iterable[Difference]
    ) -> list[Difference]:
        """Return differences with the original names beside, where these are others."""
        spelling = ORIGINAL_NAMES.spellings[operation.dialect]
        return [replace(each, original=_write(spelling, each)) for each in differences]


def _write_form(spelling: Spelling, text: str) -> str:
    sent = decode_pairs(text)
    written = spelling.write_pairs(sent)
    return text if written == sent else urlencode(written, quote_via=quote, safe="")


def _replace_body(answer: ComparedAnswer, body: Any) -> ComparedAnswer:
    headers = [*answer.headers.items(), *answer.markers.items()]
    return ComparedAnswer(answer.status, headers, dumps(body))


def _write(spelling: Spelling, each: Difference) -> Mapping[str, str]:
    where = each.where.replace(_MARK, "")
    found = {
        "where": spelling.write_place(where) if _MARK not in each.where else where,
        "expected": _write_text(spelling, where, each.expected),
        "got": _write_text(spelling, where, each.got),
    }
    own = {"where": each.where, "expected": each.expected, "got": each.got}
    return {name: text for name, text in found.items() if text != own[name]}


def _write_text(spelling: Spelling, where: str, text: str) -> str:
    if _MARK in text:
        return text.replace(_MARK, "")
    if where == "status":  # a status with its codes: 400 INVALID_POST
        status, _, codes = text.partition(" ")
        return f"{status} {spelling.write_value('code', codes)}".strip()
    return spelling.write_value(where, text)
