"""The headers of a request in the form of a call: the same pairs as from a WSGI environ."""

from __future__ import annotations

from mock_platform.core.pairs import Pairs
from mock_platform.edge.request import Request

_MAX_NAMES = 1000
"""Maximum number of names whose spelling is cached; clients may send any number of others."""


class HeaderNames:
    """Reads headers, and caches how the names that clients send are spelled in a call."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def read(self, request: Request) -> tuple[Pairs, str]:
        """Returns the headers (those of the body last, repeated ones joined), and the host."""
        known = self._known
        found: dict[str, str] = {}
        for name, value in request.headers:
            spelled = known.get(name) or self._spell(name)
            text = value.decode("latin-1")
            if spelled in found:
                separator = "; " if spelled == "Cookie" else ", "
                text = f"{found[spelled]}{separator}{text}"
            found[spelled] = text
        if request.authority:
            found["Host"] = request.authority
        host = found.get("Host", "")
        body = request.body
        if body or "Content-Length" in found or "Content-Type" in found:
            kind = found.pop("Content-Type", "")
            length = found.pop("Content-Length", "")
            if kind:
                found["Content-Type"] = kind
            if body:  # also of a chunked body, whose length is known by now
                length = str(len(body))
            if length:
                found["Content-Length"] = length
        return list(found.items()), host

    def find(self, request: Request, name: str) -> str | None:
        """Returns one header as `read` returns it; `name` is spelled as there."""
        known, found = self._known, None
        for sent, value in request.headers:
            if (known.get(sent) or self._spell(sent)) == name:
                text = value.decode("latin-1")
                found = text if found is None else f"{found}, {text}"
        return found

    def _spell(self, name: bytes) -> str:
        spelled = name.decode("latin-1").upper().replace("_", "-").title()
        if len(self._known) < _MAX_NAMES:
            self._known[name] = spelled
        return spelled
