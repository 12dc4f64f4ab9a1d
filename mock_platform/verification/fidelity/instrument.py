"""The instrument: tables that say how facts are asked and compared, and their templates.

What a publication left out (who signed, edges between records, a query) is written as a template:
`$body.data.id` is a value of the real answer, `$1` the first parameter of the path, `$item.id` a
value of the record at hand, and `$caller` the user who signs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from mock_platform.core import installed
from mock_platform.core.jsonio import loads
from mock_platform.verification.fidelity.facts import is_like, read_snowflake
from mock_platform.world.clock import parse_instant, wire_millis, wire_seconds

Record = dict[str, Any]


class Instrument(Struct, frozen=True):
    """Tables by patterns of operations; `fidelity/README.md` says what each of them is for."""

    headers: Mapping[str, str]
    live: Mapping[str, list[str]]
    requests: Mapping[str, Mapping[str, Any]]
    callers: Mapping[str, str]
    expansions: Mapping[str, Mapping[str, list[str]]]
    fill: Mapping[str, Any]
    complete: Mapping[str, Mapping[str, Any]]
    older: Mapping[str, Mapping[str, Mapping[str, Any]]]
    shared: list[str]
    records: Mapping[str, list[list[Any]]]

    @classmethod
    def read(cls) -> Instrument:
        """Return the one of the project."""
        found = loads((installed.folder("fidelity") / "instrument.json").read_bytes())
        return cls(**{name: found[name] for name in cls.__struct_fields__})

    def list_live(self, operation: str) -> list[str]:
        """Return the places of an operation's answer of which only the form is compared."""
        return [
            place
            for pattern, places in self.live.items()
            if is_like(operation, pattern)
            for place in places
        ]


def choose(table: Mapping[str, Any], operation: str, default: Any = None) -> Any:
    """Return what a table has for the first pattern that an operation is like."""
    return next((x for pattern, x in table.items() if is_like(operation, pattern)), default)


class FactValues:
    """The values of one fact, for templates."""

    def __init__(self, body: Any, moment: datetime, caller: str, app: str) -> None:
        self.body = body
        self.moment = moment
        self.caller = caller
        self.app = app
        self.sent: Any = None
        """The JSON body of the request."""
        self.query: Mapping[str, str] = {}
        self.path: Sequence[str] = ()
        """The parameters of the path."""
        self.rank = 0
        """The place of the record at hand in its list, which begins with the newest."""
        self.read_model: Callable[[str], Record] = lambda _: {}

    def fill(self, template: Any, item: Mapping[str, Any] | None = None) -> Any:
        """Return a template with the values in place of names with a dollar sign."""
        if isinstance(template, dict):
            return self._fill_object(template, item or {})
        if isinstance(template, list):
            return [self.fill(each, item) for each in template]
        if isinstance(template, str) and template.startswith("$"):
            return self._find(*template[1:].split("."), item=item or {})
        return template

    def list_each(self, template: Mapping[str, Any]) -> list[Record]:
        """Return the items that a template is filled with: an empty one if it names none."""
        inner = template["$merge"][1] if "$merge" in template else template
        return list_items(self.fill(inner["$each"])) if "$each" in inner else [{}]

    def _fill_object(self, template: Mapping[str, Any], item: Mapping[str, Any]) -> Any:
        if "$map" in template:
            value, names = template["$map"]
            return names.get(str(self.fill(value, item)))
        if "$first" in template:
            found = (self.fill(each, item) for each in template["$first"])
            return next((each for each in found if each is not None), None)
        if "$merge" in template:
            base, more = (self.fill(each, item) for each in template["$merge"])
            return {**(base or {}), **more}
        return {name: self.fill(each, item) for name, each in template.items() if name != "$each"}

    def _find(self, name: str, *keys: str, item: Mapping[str, Any]) -> Any:
        if name.isdecimal():
            return dig(list(self.path), [str(int(name) - 1)])
        if name == "model":  # a record of the default fixtures, for what no answer shows
            return self.read_model(keys[0])
        values = {"item": item, "body": self.body, "sent": self.sent, "query": self.query}
        return dig(values[name], keys) if name in values else _WORDS[name](self, item)

    def find_time(self, item: Mapping[str, Any]) -> str:
        """Return when a record was made: the moment in its id, or before that of the fact."""
        made = read_snowflake(str(item.get("id", ""))) if "post_id" not in item else None
        before = self.moment - timedelta(seconds=self.rank)
        return wire_millis(min(made or before, before))

    def find_rule(self) -> str:
        """Return a rule that matches the post of a line."""
        data = dig(self.body, ["data"]) or dig(self.body, ["0", "data"]) or {}
        return f"from:{data.get('author_id') or self.caller}"

    def find_query(self) -> str:
        """Return a query that finds the posts of the answer, whose texts were replaced."""
        data = list_items(dig(self.body, ["data"]))
        authors = dict.fromkeys(str(each.get("author_id") or self.caller) for each in data)
        return " OR ".join(f"from:{author}" for author in authors) or "coffee"

    def find_other(self) -> str | None:
        """Return the user of a conversation of two whom the path does not name."""
        both = str(dig(self.body, ["data", "dm_conversation_id"]) or "").split("-")
        return next((each for each in both if each not in self.path), None)

    def list_asked(self, key: str) -> str:
        """Return the values of a key that the answer shows, or names as missing."""
        data = list_items(dig(self.body, ["data"]))
        errors = list_items(dig(self.body, ["errors"]))
        found = [*(x.get(key) for x in data), *(x.get("value") for x in errors)]
        return ",".join(str(each) for each in found if each is not None)


_WORDS: Mapping[str, Callable[[FactValues, Mapping[str, Any]], Any]] = {
    "alone": lambda fact, _: "-".join(sorted(("1", fact.caller), key=int)),
    "app": lambda fact, _: fact.app,
    "asked": lambda fact, _: next(
        (x.split(",")[0] for name, x in fact.query.items() if name.endswith("ids")), None
    ),
    "both": lambda fact, item: str(item.get("dm_conversation_id") or fact.path[0]).split("-"),
    "caller": lambda fact, _: fact.caller,
    "from": lambda fact, _: fact.find_query(),
    "ids": lambda fact, _: fact.list_asked("id"),
    "key": lambda _, item: str(item.get("id")),
    "month": lambda fact, _: wire_millis(
        parse_instant(str(dig(fact.body, ["data", "0", "start"]))) + timedelta(days=31)
    ),
    "other": lambda fact, _: fact.find_other(),
    "pair": lambda fact, _: "-".join(sorted((fact.path[0], fact.caller), key=int)),
    "rule": lambda fact, _: fact.find_rule(),
    "second": lambda fact, _: wire_seconds(fact.moment),
    "seconds": lambda fact, _: wire_millis(fact.moment - timedelta(seconds=fact.rank)),
    "time": lambda fact, item: fact.find_time(item),
    "usernames": lambda fact, _: fact.list_asked("username"),
}
"""The words of templates that are no value of the fact itself."""


def list_items(value: Any) -> list[Record]:
    """Return the objects of a list, or the one object."""
    items = value if isinstance(value, list) else [value]
    return [each for each in items if isinstance(each, dict)]


def dig(value: Any, names: Sequence[str]) -> Any:
    """Return a value within another one, by names and places; `None` if it is not there."""
    for name in names:
        if isinstance(value, list) and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
