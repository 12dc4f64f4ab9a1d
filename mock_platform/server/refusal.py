"""A refusal: why a request is not read further, and the answer for its client."""

from __future__ import annotations

from msgspec import Struct, field

_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Content Too Large",
    414: "URI Too Long",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}


class Refusal(Struct, frozen=True):
    """Why a request is not read further; the connection ends after it."""

    status: int
    text: str
    headers: tuple[tuple[str, str], ...] = field(default=())

    def wire(self, date_line: str) -> bytes:
        """Returns the answer in bytes."""
        body = f"{self.text}\n".encode()
        head = [
            f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n",
            "Content-Type: text/plain; charset=utf-8\r\n",
            f"Content-Length: {len(body)}\r\n",
            *(f"{name}: {value}\r\n" for name, value in self.headers),
            date_line,
            "Connection: close\r\n\r\n",
        ]
        return "".join(head).encode("latin-1") + body


def refuse_overload(text: str) -> Refusal:
    """Returns a refusal for lack of space; the client may try again later."""
    return Refusal(503, text, (("Retry-After", "1"),))
