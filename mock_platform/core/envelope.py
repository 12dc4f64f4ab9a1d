"""Envelopes: convert the plain data of a handler into a reply.

Each kind is small: it defines its media type and its schema, and renders one result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlencode

from marshmallow import Schema
from msgspec import Struct

from mock_platform.core.call import Call, LiveBody, Reply
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
"""The media type of the OAuth endpoints (public facts, section 4)."""


class Returns(Protocol):
    """The envelope of an operation's answers."""

    @property
    def status(self) -> int:
        """The status of a success."""

    @property
    def media_type(self) -> str:
        """The media type of a success; empty if it has no body."""

    @property
    def schema(self) -> type[Schema] | None:
        """The schema of the data, if it is described."""

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body, from that of the data."""

    def reply(self, call: Call, result: Any) -> Reply:
        """Return the reply for the result of a handler."""


@runtime_checkable
class Configurable(Protocol):
    """An envelope that depends on the server's settings."""

    def configure(self, settings: Settings) -> Returns:
        """Return the envelope under these settings."""


class Flat(Struct, frozen=True):
    """The handler's data as JSON, without an envelope (document A)."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    recorded_status: int | None = None
    """The status on the recorded wire, if it may be another one there."""
    recorded_in_data: bool = False
    """Whether what is answered is under `data` on the recorded wire."""
    is_verbatim: bool = False
    """Whether the data have the names that the client asks for already."""

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: the data itself."""
        return data

    def reply(self, call: Call, result: Any) -> Reply:
        """Return the reply for a JSON object."""
        if self.recorded_in_data and call.wire == "recorded" and "data" not in result:
            result = {"data": result}
        headers = [("Content-Type", JSON), *self.headers]
        return Reply(self.status, dumps(result), headers, is_verbatim=self.is_verbatim)


class Lines(Struct, frozen=True):
    """A stream: one JSON object on each line, as long as the connection is open."""

    schema: type[Schema]
    """The schema of a line."""
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of a line."""
        return data

    def reply(self, call: Call, result: LiveBody) -> Reply:
        """Return the reply for an open stream."""
        call.stream = result
        return Reply(self.status, headers=[("Content-Type", JSON)], stream=result)


class Pairwise(Struct, frozen=True):
    """`name=value` pairs joined by `&` (document A, "Credential payloads")."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "text/html"

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: a text with these names."""
        names = ", ".join(name for name in self.schema().fields)
        return {"type": "string", "description": f"name=value pairs joined by &: {names}"}

    def reply(self, call: Call, result: Mapping[str, str]) -> Reply:
        """Return the reply for named values."""
        return Reply(self.status, urlencode(result).encode(), [("Content-Type", HTML), *NO_CACHE])


class Bytes(Struct, frozen=True):
    """The content of a file, as it is."""

    status: int = 200
    media_type: str = "application/octet-stream"
    schema: type[Schema] | None = None

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: any bytes."""
        return {"type": "string", "format": "binary"}

    def reply(self, call: Call, result: bytes) -> Reply:
        """Return the reply with this content."""
        return Reply(self.status, result, [("Content-Type", self.media_type)])


class Document(Struct, frozen=True):
    """A handler's own reply, for instance a page with its cookies, or a redirect."""

    html: str = ""
    status: int = 200
    location: str | None = None
    cookies: tuple[str, ...] = ()
    policy: str = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    """The page's Content-Security-Policy; by default the page may load and run nothing."""


class Page(Struct, frozen=True):
    """An HTML page for people."""

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

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: a text."""
        return {"type": "string"}

    def reply(self, call: Call, result: Document) -> Reply:
        """Return the reply for a page or a redirect."""
        # The policy belongs to the page and not to the kind of answer: a page with a form allows
        # that form, and everything else stays forbidden.
        headers = [*self.headers, ("Content-Security-Policy", result.policy)]
        headers += [("Set-Cookie", cookie) for cookie in result.cookies]
        if result.location is not None:
            headers.append(("Location", result.location))
        return Reply(result.status, result.html.encode(), headers)
