"""The operations as rules of a werkzeug map, under their ids.

A static segment wins over a parameter, whatever the method, as in `core.routing`: werkzeug alone
would send `PUT /cards/poll` to the card with the id `poll`. Therefore a parameter refuses the words
that are in its place elsewhere in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from werkzeug.routing import BaseConverter, Map, Rule

from mock_platform.control.late_rule import LateRule
from mock_platform.core.operation import Operation

CONVERTER = "segment"
_VARYING = re.compile(r"<(?:(?P<converter>[^:<>]+):)?[^<>]+>")
_SAMPLE = "~"
"""A segment that is not a word of any path."""


class Segment(BaseConverter):
    """Matches one segment of a path, except for the given words."""

    part_isolating = True

    def __init__(self, url_map: Map, *words: str) -> None:
        super().__init__(url_map)
        if words:
            self.regex = rf"(?!(?:{'|'.join(map(re.escape, words))})\Z)[^/]+"


def rules(operations: Iterable[Operation], prefix: str) -> Iterator[Rule]:
    """Return a rule for each path of each operation; sandbox-only ones are below `prefix`."""
    known = list(operations)
    words = _static_words(known)
    for operation in known:
        for path in (operation.path, *operation.also):
            yield LateRule(
                (prefix if operation.sandbox_only else "") + _rule(path, words),
                endpoint=operation.id,
                methods=[operation.method],
                alias=path != operation.path,
            )


def sample(rule: str) -> str:
    """Return a path that a rule matches, with neutral values for its parameters."""

    def segment(found: re.Match[str]) -> str:
        # One that spans several segments matches deeper paths than any operation has.
        return "/".join([_SAMPLE] * 20) if found["converter"] == "path" else _SAMPLE

    return _VARYING.sub(segment, rule)


def _static_words(operations: Iterable[Operation]) -> Mapping[str, list[str]]:
    """Return, by the beginning of a path with parameters as `:`, the words that may follow."""
    found: dict[str, dict[str, None]] = {}
    for operation in operations:
        for path in (operation.path, *operation.also):
            for beginning, segment in _split_path(path):
                if not segment.startswith(":"):
                    found.setdefault(beginning, {})[segment] = None
    return {beginning: list(words) for beginning, words in found.items()}


def _rule(path: str, words: Mapping[str, list[str]]) -> str:
    """Return a path of the table in werkzeug's notation."""
    segments = []
    for beginning, segment in _split_path(path):
        if segment.startswith(":"):
            refused = ",".join(f'"{word}"' for word in words.get(beginning, ()))
            converter = f"{CONVERTER}({refused}):" if refused else ""
            segments.append(f"<{converter}{segment[1:]}>")
        else:
            segments.append(segment)
    return "/" + "/".join(segments)


def _split_path(path: str) -> Iterator[tuple[str, str]]:
    """Yield each segment of a path with everything before it, where parameters are `:`."""
    beginning = ""
    for segment in path.strip("/").split("/"):
        yield beginning, segment
        beginning += "/:" if segment.startswith(":") else f"/{segment}"
