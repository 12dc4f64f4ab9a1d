"""What a success looks like on the wire: how a handler's plain data becomes a reply.

Each kind is small: it knows its media type and its schema, and renders one result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlencode

from marshmallow import Schema

from mock_platform.core.call import Call, Reply
from mock_platform.core.jsonio import dumps
from mock_platform.core.pairs import Pairs
from mock_platform.settings import Settings

JsonObject = dict[str, Any]
JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
NO_CACHE: Pairs = [
    ("cache-control", "no-cache, no-store, must-revalidate, pre-check=0, post-check=0"),
    ("pragma", "no-cache"),
    ("expires", "Tue, 31 Mar 1981 05:00:00 GMT"),
]
"""As the OAuth endpoints send it (public facts, section 4)."""


class Returns(Protocol):
    """How an operation answers."""

    @property
    def status(self) -> int:
        """Status of a success."""

    @property
    def media_type(self) -> str:
        """Media type of a success."""

    @property
    def schema(self) -> type[Schema] | None:
        """What the data looks like, if it is described."""

    def described(self, data: JsonObject) -> JsonObject:
        """JSON Schema of the body, around that of the data."""

    def reply(self, call: Call, result: Any) -> Reply:
        """The reply for what the handler gave."""


@runtime_checkable
class Configurable(Protocol):
    """A kind of answer that depends on the server's settings."""

    def configured(self, settings: Settings) -> Returns:
        """The kind of answer under these settings."""


@dataclass(frozen=True, slots=True)
class Flat:
    """The handler's data as JSON, nothing around it (document A)."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    def described(self, data: JsonObject) -> JsonObject:
        """JSON Schema of the body: the data itself."""
        return data

    def reply(self, call: Call, result: Any) -> Reply:
        """The reply for a JSON object."""
        return Reply(self.status, dumps(result), [("Content-Type", JSON), *self.headers])


@dataclass(frozen=True, slots=True)
class Pairwise:
    """`name=value` pairs joined by `&` (document A, "Credential payloads")."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "text/html"

    def described(self, data: JsonObject) -> JsonObject:
        """JSON Schema of the body: a text with these names."""
        names = ", ".join(name for name in self.schema().fields)
        return {"type": "string", "description": f"name=value pairs joined by &: {names}"}

    def reply(self, call: Call, result: Mapping[str, str]) -> Reply:
        """The reply for named values."""
        return Reply(self.status, urlencode(result).encode(), [("Content-Type", HTML), *NO_CACHE])


@dataclass(frozen=True, slots=True)
class Document:
    """A handler's own reply below the envelope: a page with its cookies, or a redirect."""

    html: str = ""
    status: int = 200
    location: str | None = None
    cookies: tuple[str, ...] = ()
    policy: str = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    """The page's Content-Security-Policy; by default it may do nothing at all."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page for people."""

    status: int = 200
    media_type: str = "text/html"
    schema: type[Schema] | None = None
    headers: tuple[tuple[str, str], ...] = (
        ("Content-Type", HTML),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
    )

    def described(self, data: JsonObject) -> JsonObject:
        """JSON Schema of the body: a text."""
        return {"type": "string"}

    def reply(self, call: Call, result: Document) -> Reply:
        """The reply for a page or a redirect."""
        headers = [*self.headers, ("Content-Security-Policy", result.policy)]
        headers += [("Set-Cookie", cookie) for cookie in result.cookies]
        if result.location is not None:
            headers.append(("Location", result.location))
        return Reply(result.status, result.html.encode(), headers)
