"""`--ids map`: fresh ids for the records of a recording, wherever the recording names them.

The exchanges are rewritten before anything is made of them, so records, references, scenarios,
events and the recorded requests have the same new ids. Ids of what everybody shares (categories,
targeting options, the published apps and users of the sandbox) stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from msgspec.structs import replace

from mock_platform.core.call import FORM
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.pairs import decode_pairs
from mock_platform.core.tables.table import Table
from mock_platform.verification.har import HarExchange
from mock_platform.verification.importing.recorded import MAX_NESTING
from mock_platform.world.ids import Ids

_MEDIA_KEY = re.compile(r"([0-9]+)_[0-9]+", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_ID = re.compile(r"[0-9a-z]{1,32}", re.ASCII)
_WORD = re.compile(r"[0-9A-Za-z_]+(?:-[0-9A-Za-z_]+)*", re.ASCII)
_CONVERSATION = re.compile(r"[0-9]{8,19}-[0-9]{8,19}", re.ASCII)
"""The id of a conversation of two: those of its users."""
_OWNERS = frozenset({"accounts", "users"})
_ENDS = ("_id", "_ids", "_id_str", "_key", "_keys", "_uri")
_SURE_CHARACTERS = 5
"""A word of so many that is equal to an id is one, wherever it is; shorter ones may be others."""
_SURE_DIGITS = 8
"""The same for words of digits, which may be amounts."""
_LEAST_LENGTH = 5
_SEED = 0

FreshIds = dict[str, str]
"""The new id for each old one."""


def list_owned(tables: Mapping[str, Table]) -> frozenset[str]:
    """Return the tables whose records belong to an account or a user."""
    owned = set(_OWNERS)
    while more := {
        name
        for name, table in tables.items()
        if name not in owned and any(not owned.isdisjoint(r.tables) for r in table.references)
    }:
        owned |= more
    return frozenset(owned)


def make_fresh(known: Iterable[tuple[str, str]], examples: Mapping[str, str]) -> FreshIds:
    """Return a new id for each id of a table that has the form of one.

    The new ones have the same order. `examples` has an id of the sandbox's own records by table.
    """
    forms: dict[tuple[str, int], set[str]] = {}
    for table, key in known:
        form = _find_form(key, examples.get(table, ""))
        if form is not None and not any(key in found for found in forms.values()):
            forms.setdefault(form, set()).add(key)
    ids = Ids(_SEED, "import")
    fresh: FreshIds = {}
    for (kind, size), keys in sorted(forms.items()):
        new = sorted((_draw(ids, kind, size) for _ in keys), key=_rank)
        fresh |= dict(zip(sorted(keys, key=_rank), new, strict=True))
    return fresh


class IdTranslation:
    """Rewrites exchanges, so that old ids become new ones."""

    def __init__(self, fresh: FreshIds) -> None:
        self.fresh = fresh
        self._sure = {old: new for old, new in fresh.items() if _is_sure(old)}

    def rewrite(self, exchange: HarExchange, places: Iterable[int] = ()) -> HarExchange:
        """Return an exchange with new ids; `places` are the path's segments that name records."""
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
        """Return an address with new ids in its path and query."""
        parts = urlsplit(url)
        wanted = set(places)
        segments = [
            self._rewrite_segment(segment, sure=position not in wanted)
            for position, segment in enumerate(parts.path.split("/"))
        ]
        query = self._rewrite_pairs(parts.query)
        return parts._replace(path="/".join(segments), query=query).geturl()

    def rewrite_body(self, body: bytes) -> bytes:
        """Return a body with new ids: JSON by its keys, other text where an id is a word."""
        if not body:
            return body
        try:
            value = loads(body, max_nesting=MAX_NESTING)
        except BadJson:
            try:
                text = body.decode()
            except UnicodeDecodeError:
                return body
            return _replace_words(text, self._sure).encode()
        new = self.rewrite_value(value)
        return body if new == value else dumps(new)

    def rewrite_value(self, value: Any, name: str = "") -> Any:
        """Return a JSON value at a key of this name with new ids."""
        if isinstance(value, dict):
            return {
                self._sure.get(key, key): self.rewrite_value(item, key)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.rewrite_value(item, name) for item in value]
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            new = (self.fresh if _names_id(name) else self._sure).get(str(value), "")
            return int(new) if new.isdecimal() else value
        return self._rewrite_text(value, name) if isinstance(value, str) else value

    def _rewrite_text(self, text: str, name: str) -> str:
        return _replace_words(text, self.fresh if _names_id(name) else self._sure)

    def _rewrite_segment(self, segment: str, *, sure: bool) -> str:
        text = unquote(segment)
        new = self._rewrite_text(text, "" if sure else "id")
        return segment if new == text else quote(new, safe="")

    def _rewrite_form(self, body: bytes) -> bytes:
        try:
            return self._rewrite_pairs(body.decode()).encode()
        except UnicodeDecodeError:
            return body

    def _rewrite_pairs(self, text: str) -> str:
        pairs = decode_pairs(text)
        new = [(name, self._rewrite_text(value, name)) for name, value in pairs]
        return text if new == pairs else urlencode(new, quote_via=quote, safe="")


def _names_id(name: str) -> bool:
    """Whether a key or parameter of this name has an id, or several."""
    return name in {"id", "ids", "id_str"} or name.endswith(_ENDS)


def _is_sure(text: str) -> bool:
    return len(text) >= (_SURE_DIGITS if text.isdecimal() else _SURE_CHARACTERS)


def _replace_words(text: str, fresh: Mapping[str, str]) -> str:
    def replace_word(found: re.Match[str]) -> str:
        word = found.group()
        if word in fresh or not _CONVERSATION.fullmatch(word):
            return fresh.get(word, word)
        return "-".join(fresh.get(user_id, user_id) for user_id in word.split("-"))

    return _WORD.sub(replace_word, text)


def _find_form(key: str, example: str) -> tuple[str, int] | None:
    """Return kind and length of the new id for an old one; `None` if it has no form of an id."""
    if found := _MEDIA_KEY.fullmatch(key):
        return "media", int(found.group(1))
    if _UUID.fullmatch(key):
        return "uuid", 0
    if not _ID.fullmatch(key):
        return None
    if (example or key).isdecimal():
        return "snowflake", 0
    return "base36", max(len(example or key), _LEAST_LENGTH)


def _draw(ids: Ids, form: str, size: int) -> str:
    if form == "media":
        return ids.media_key(size)
    if form == "uuid":
        return ids.uuid()
    return ids.snowflake() if form == "snowflake" else ids.base36(size)


def _rank(key: str) -> tuple[int, str]:
    """Return what ids are sorted by: numbers by their value."""
    return (len(key) if key.isdecimal() else 0), key
