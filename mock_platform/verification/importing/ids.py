"""`--ids map`: fresh ids for the records of a recording, wherever the recording names them.

Ids of what everybody shares (categories, targeting options, the published apps and users of the
sandbox) stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mock_platform.core.tables.table import Table
from mock_platform.verification.importing.rewriting import Rewriting
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


class IdTranslation(Rewriting):
    """Rewrites exchanges, so that old ids become new ones."""

    def __init__(self, fresh: FreshIds) -> None:
        self.fresh = fresh
        self._sure = {old: new for old, new in fresh.items() if _is_sure(old)}

    def rewrite_plain(self, text: str) -> str:
        """Return a text with new ids where a word is surely an old one."""
        return _replace_words(text, self._sure)

    def rewrite_segment(self, text: str, before: str, *, is_parameter: bool) -> str:
        """Return a segment of a path with a new id."""
        return self.rewrite_pair("id" if is_parameter else "", text)

    def rewrite_pair(self, name: str, value: str) -> str:
        """Return a text at a key of this name with new ids."""
        return _replace_words(value, self.fresh if _names_id(name) else self._sure)

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
        return self.rewrite_pair(name, value) if isinstance(value, str) else value


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
