"""Addresses of web pages, wherever the interface takes one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from mock_platform.core.faults import invalid
from mock_platform.core.fields import Text


class WebAddress(Text):
    """An absolute http or https address."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of such an address."""
        host, rest = r"[^\s/?#:@\[\]]+", r"(?::[0-9]{1,5})?(?:[/?#]\S*)?"
        return {"pattern": rf"^[Hh][Tt][Tt][Pp][Ss]?://{host}{rest}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            parts = urlsplit(text)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in {"http", "https"} or not parts.hostname or " " in text:
            raise invalid("an http or https address", text, "invalid address")
        return text
