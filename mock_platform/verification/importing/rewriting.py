"""Writes the exchanges of a recording again with other values, before anything is made of them.

So records, references, scenarios, events and the recorded requests all have the same new values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Protocol
from urllib.parse import quote, unquote, urlencode, urlsplit

from msgspec.structs import replace

from mock_platform.core.call import FORM
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.pairs import decode_pairs
from mock_platform.verification.har.exchange import HarExchange
from mock_platform.verification.importing.recorded import MAX_NESTING


class Rewriting(Protocol):
    """Rewrites the addresses and bodies of exchanges; a subclass says what becomes of values."""

    @abstractmethod
    def rewrite_value(self, value: Any, name: str = "") -> Any:
        """Return what becomes of a JSON value at a key of this name."""

    @abstractmethod
    def rewrite_plain(self, text: str) -> str:
        """Return what becomes of a body that is text and not JSON."""

    @abstractmethod
    def rewrite_segment(self, text: str, before: str, *, is_parameter: bool) -> str:
        """Return what becomes of a segment of a path, after another segment."""

    @abstractmethod
    def rewrite_pair(self, name: str, value: str) -> str:
        """Return what becomes of the value of a parameter, in a query or a form."""

    def rewrite(self, exchange: HarExchange, places: Iterable[int] = ()) -> HarExchange:
        """Return an exchange with new values; `places` are segments of the path that are ids."""
        request, response = exchange.request, exchange.response
        headers = tuple(
            (name, self.rewrite_url(value) if name.lower() == "location" else value)
            for name, value in response.headers
        )
        kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
        return replace(
            exchange,
            request=replace(
                request,
                url=self.rewrite_url(request.url, places),
                body=self._rewrite_form(request.body)
                if kind == FORM
                else self.rewrite_body(request.body),
            ),
            response=replace(response, headers=headers, body=self.rewrite_body(response.body)),
        )

    def rewrite_url(self, url: str, places: Iterable[int] = ()) -> str:
        """Return an address with new values in its path and query."""
        parts = urlsplit(url)
        wanted, segments, before = set(places), list[str](), ""
        for position, segment in enumerate(parts.path.split("/")):
            text = unquote(segment)
            new = self.rewrite_segment(text, before, is_parameter=position in wanted)
            segments.append(segment if new == text else quote(new, safe=""))
            before = text
        query = self._rewrite_pairs(parts.query)
        return parts._replace(path="/".join(segments), query=query).geturl()

    def rewrite_body(self, body: bytes) -> bytes:
        """Return a body with new values: JSON by its keys, other text as a whole."""
        if not body:
            return body
        try:
            value = loads(body, max_nesting=MAX_NESTING)
        except BadJson:
            try:
                text = body.decode()
            except UnicodeDecodeError:
                return body
            return self.rewrite_plain(text).encode()
        new = self.rewrite_value(value)
        return body if new == value else dumps(new)

    def _rewrite_form(self, body: bytes) -> bytes:
        try:
            return self._rewrite_pairs(body.decode()).encode()
        except UnicodeDecodeError:
            return body

    def _rewrite_pairs(self, text: str) -> str:
        pairs = decode_pairs(text)
        new = [(name, self.rewrite_pair(name, value)) for name, value in pairs]
        return text if new == pairs else urlencode(new, quote_via=quote, safe="")
