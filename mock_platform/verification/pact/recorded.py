"""What a Pact file is made from: requests with their answers, and deliveries to webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from mock_platform.core.operation import Operation
from mock_platform.settings import NamesMode

_CALLBACK = re.compile(r'\boauth_callback="([^"]*)"', re.ASCII)
FORM = "application/x-www-form-urlencoded"
NAMES = "x-mock-names"
"""The header that chooses names for a request, and says which names an answer has."""
Headers = Sequence[tuple[str, str]]


class SentCredentials(Struct, frozen=True):
    """With what a request was signed: no secrets, only whose they were."""

    scheme: str
    """`oauth1`, `oauth1-app` (without a token), `oauth2`, `bearer`, `basic` or `oauth2-client`."""
    app: str | None = None
    user: str | None = None
    callback: str | None = None
    """The address in the header, which POST oauth/request_token needs."""


class PactExchange(Struct, frozen=True):
    """A request and its answer; `path` is below the base address, without a world's prefix."""

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes
    status: int
    answer_headers: Headers
    answer_body: bytes
    operation: Operation
    credentials: SentCredentials | None = None
    states: Sequence[Mapping[str, Any]] = ()
    """The provider states before it, without that of its signature."""

    @property
    def media_type(self) -> str:
        """The media type of the body that was sent."""
        return find_header(self.headers, "content-type").partition(";")[0].strip().lower()

    @property
    def form(self) -> list[tuple[str, str]]:
        """The pairs of a form body; empty for other bodies."""
        if self.media_type != FORM:
            return []
        return parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True)

    @property
    def is_made_to_fail(self) -> bool:
        """Whether a scenario or a header made the answer, and would do so again."""
        asked = any(name.lower() in {"prefer", "x-mock-scenario"} for name, _ in self.headers)
        return asked or any(state["params"].get("scenarios") for state in self.states)

    @property
    def names(self) -> NamesMode:
        """The names that the client was answered with."""
        asked = find_header(self.headers, NAMES) or find_header(self.answer_headers, NAMES)
        return "original" if asked.lower() == "original" else "neutral"

    @property
    def label(self) -> str:
        """Method and path, for people."""
        return f"{self.method} {self.path}"


class PactDelivery(Struct, frozen=True):
    """A body that a webhook received, and the event of the world's log that it delivered."""

    event_id: str
    event_type: str
    body: Any
    states: Sequence[Mapping[str, Any]] = ()
    names: NamesMode = "neutral"
    """The names that the body is written with; those in the event are translated to them."""


class LeftOut(NamedTuple):
    """A request that is not in the file, and why."""

    request: str
    reason: str


def find_callback(authorization: str) -> str | None:
    """Returns `oauth_callback` of a header of OAuth 1.0a; `None` if it has none."""
    found = _CALLBACK.search(authorization)
    return None if found is None else unquote(found[1])


def find_header(headers: Headers, name: str) -> str:
    """Returns the first value of a header; empty if it was not sent."""
    return next((value for key, value in headers if key.lower() == name), "")
