"""The headers of a request in the form of a call: the same pairs as from a WSGI environ."""

from __future__ import annotations

from mock_platform.core.pairs import Pairs
from mock_platform.edge.request import Request

_MAX_SHARED = 1000
"""Maximum number of headers that requests share."""
_MAX_SHARED_LENGTH = 128
"""Characters of a header that is shared: long ones are cookies and signatures, new each time."""
_MAX_NAMES = 1000
"""Maximum number of names whose spelling is cached; clients may send any number of others."""


class HeaderNames:
    """Reads headers, and caches how the names that clients send are spelled in a call."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}
        self._shared: dict[tuple[str, str], tuple[str, str]] = {}

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
        return self._share(found), host

    def find(self, request: Request, name: str) -> str | None:
        """Returns one header as `read` returns it; `name` is spelled as there."""
        known, found = self._known, None
        for sent, value in request.headers:
            if (known.get(sent) or self._spell(sent)) == name:
                text = value.decode("latin-1")
                found = text if found is None else f"{found}, {text}"
        return found

    def _share(self, found: dict[str, str]) -> Pairs:
        """Returns headers as pairs; requests with equal ones share them, also in the journal.

        A client sends nearly the same headers with each request, and what the journal shares is
        not made, kept and freed for each.
        """
        shared = self._shared
        if len(shared) > _MAX_SHARED:  # nonces and the like: begin again with what comes now
            shared.clear()
        return [
            shared.setdefault(pair, pair) if len(pair[1]) <= _MAX_SHARED_LENGTH else pair
            for pair in found.items()
        ]

    def _spell(self, name: bytes) -> str:
        spelled = name.decode("latin-1").upper().replace("_", "-").title()
        if len(self._known) < _MAX_NAMES:
            self._known[name] = spelled
        return spelled
