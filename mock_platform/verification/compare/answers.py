"""The answer of a server, with its body read at most once."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from mock_platform.core.call import ABSENT
from mock_platform.core.jsonio import BadJson, canonical, loads

_MAX_NESTING_LEVELS = 256
_MAX_DESCRIBED_CODES = 3
_GZIP = b"\x1f\x8b"
_MAX_FILE_BYTES = 32 * 1024 * 1024
_MARKER = "x-mock-"
_SHARED_BODIES = 8
"""Bodies whose values are kept: a server that differs in nothing answers what the sandbox does."""
_KEYS = ("id", "id_str", "media_key", "key", "product_key")

JsonObject = dict[str, Any]


class _Body:
    """What a body holds; equal bodies share it, so it is never changed."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    @cached_property
    def json(self) -> Any:
        try:
            return loads(_unpack(self._body), max_nesting=_MAX_NESTING_LEVELS)
        except (BadJson, zlib.error):
            return ABSENT

    @cached_property
    def records(self) -> list[JsonObject]:
        data = self.json.get("data") if isinstance(self.json, dict) else None
        if isinstance(data, dict):
            return [data]
        return [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []

    @cached_property
    def keys(self) -> list[str]:
        return [key_of(record) for record in self.records]


def _unpack(body: bytes) -> bytes:
    """Return what is in a gzip file, up to a limit; other bodies as they are."""
    if not body.startswith(_GZIP):
        return body
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, _MAX_FILE_BYTES)


_share = lru_cache(_SHARED_BODIES)(_Body)


class ComparedAnswer:
    """Status, headers and body of one answer."""

    def __init__(
        self, status: int, headers: Iterable[tuple[str, str]] = (), body: bytes = b""
    ) -> None:
        self.status = status
        self.body = body
        pairs = [(name.lower(), value) for name, value in headers]
        self.headers: Mapping[str, str] = {
            name: value for name, value in pairs if not name.startswith(_MARKER)
        }
        """By name in lower case, without the markers of a sandbox."""
        self.markers: Mapping[str, str] = {
            name: value for name, value in pairs if name.startswith(_MARKER)
        }

    @cached_property
    def _read(self) -> _Body:
        return _share(self.body)

    @property
    def json(self) -> Any:
        """The body as JSON; `ABSENT` if it is something else."""
        return self._read.json

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters; may be empty."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The charset that the media type names, in lower case; empty without one."""
        rest = self.headers.get("content-type", "").lower().partition("charset=")[2]
        return rest.partition(";")[0].strip(' "')

    @property
    def is_success(self) -> bool:
        """Whether the status says so."""
        return 200 <= self.status < 300

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The ids of the assumptions that a sandbox's answer depends on."""
        named = self.markers.get("x-mock-assumptions", "")
        return tuple(named.split(",")) if named else ()

    @property
    def records(self) -> list[JsonObject]:
        """The records under `data`: of a list all, else the one."""
        return self._read.records

    @property
    def keys(self) -> list[str]:
        """What distinguishes each of the records."""
        return self._read.keys

    @property
    def is_list(self) -> bool:
        """Whether the answer is a list of records, or an empty one of the v2 interface."""
        if not isinstance(self.json, dict):
            return False
        data = self.json.get("data", ABSENT)
        return isinstance(data, list) or (data is ABSENT and "result_count" in self.meta)

    @property
    def meta(self) -> JsonObject:
        """The `meta` of a list of the v2 interface."""
        found = self.json.get("meta") if isinstance(self.json, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def next_page(self) -> Any:
        """What names the next page: a cursor or token; `None` on the last page."""
        if not isinstance(self.json, dict):
            return None
        return (
            self.json["next_cursor"] if "next_cursor" in self.json else self.meta.get("next_token")
        )

    def describe_status(self) -> str:
        """Describe the status, with its redirect target or the codes in the body."""
        location = self.headers.get("location")
        if 300 <= self.status < 400 and location:
            return f"{self.status} to {location[:200]} (not followed)"
        return f"{self.status} {', '.join(find_codes(self.json))}".strip()


def find_codes(body: Any) -> Sequence[str]:
    """Return the codes or the problem type of a failure."""
    if not isinstance(body, dict):
        return ()
    errors = body.get("errors")
    codes = [
        str(each["code"])
        for each in (errors if isinstance(errors, list) else ())
        if isinstance(each, dict) and "code" in each
    ]
    if not codes and isinstance(body.get("type"), str):
        return (body["type"].rpartition("/")[2],)
    return list(dict.fromkeys(codes))[:_MAX_DESCRIBED_CODES]


def list_parameters(answer: ComparedAnswer) -> list[str]:
    """Return the parameters that a refusal is about, or the kind of record that it misses."""
    body = answer.json if isinstance(answer.json, dict) else {}
    errors = body.get("errors")
    places = [body, *(each for each in (errors if isinstance(errors, list) else ())
                      if isinstance(each, dict))]  # fmt: skip
    names = ("parameter", "resource_type")
    return [str(each[name]) for each in places for name in names if name in each]


def key_of(record: Mapping[str, Any]) -> str:
    """Return what distinguishes a record from the others of its list."""
    for name in _KEYS:
        if name in record and isinstance(record[name], (str, int)):
            return str(record[name])
    return canonical(record).decode()
