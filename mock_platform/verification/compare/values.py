"""Values for the parameters of requests, taken from the answers that a server gave before.

Two servers have different records, so each has its own: the id of a line item comes from that
server's list of line items, or from any record that names one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from mock_platform.core.errors import did_you_mean
from mock_platform.core.operation import Operation
from mock_platform.verification.compare.answers import ComparedAnswer

_MAX_KEPT = 20
"""Values of one name that are kept for one account."""
_MAX_RECORDS = 100
"""Records of an answer whose values are kept."""
_MAX_NESTING = 4
_MAX_PATHS = 6
"""Accounts, or ids that no list of the operation shows, that are tried until one has records."""
_ACCOUNT = "account_id"
_KEYS = frozenset({"id", "id_str"})
"""Names that do not say of which kind a record is; only its list does."""
_ALSO: Mapping[str, tuple[str, ...]] = {
    "participant_id": ("user_id",),
    "tailored_audience_id": ("custom_audience_id",),
    "username": ("screen_name",),
    "screen_name": ("username",),
    "granted_account_id": ("account_id",),
    "env": ("environment_name",),
    "woeid": ("trend_place_id",),
}
"""The other names under which records have the value of a parameter."""
_QUALIFIED = {
    "conversations/events": "chat_event",
    "compliance/jobs": "compliance_job",
    "direct_messages/events": "dm_event",
    "1.1/statuses": "post",
    "trends/place": "trend_place",
}
"""Lists whose last word alone would name other records: events of messages, jobs of statistics."""
_VERBS = frozenset({"show", "lookup", "list"})
"""Last words of paths of the older interface, which say what is done with the records."""
_NAMES = ("media_key", "key", "product_key", "card_uri", "username", "screen_name")
"""Further fields by which a record itself is found."""
_SINGULARS = (("ies", "y"), ("criteria", "criterion"), ("s", ""))


class Wanted(Struct, frozen=True):
    """A value that each server has its own of; `names` are tried in this order.

    With `word`, only the first word of it is sent.
    """

    names: tuple[str, ...]
    word: bool = False


Value = str | Wanted
PathValues = Mapping[str, str]


class Known:
    """The values of one server by name, those of each account apart."""

    def __init__(
        self, given: Mapping[str, str] | None = None, linked: Sequence[Operation] = ()
    ) -> None:
        """`linked` are operations whose addresses are in answers of others."""
        self._linked = linked
        self._given = dict(given or {})
        self._looked_up: set[str] = set()
        """The names under which a value was looked for among those."""
        self._values: dict[tuple[str | None, str], dict[str, None]] = {}
        """By account and name; those of no account under "", all of them under `None`."""
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._kinds: dict[tuple[str, str], dict[str, None]] = {}
        """The ids of lists, by account and the name that other records have for such an id.

        Values of addresses are by operation and parameter.
        """
        self._listed: set[str] = set(self._given.values())
        self._learned: set[tuple[str, str, int]] = set()
        """The answers whose values are kept, by hash: many probes get the same one."""

    def learn(
        self, operation: Operation, path: str, values: PathValues, answer: ComparedAnswer
    ) -> None:
        """Keep an answer to the plain request: a list for the ids below it, and all values."""
        if answer.is_list:
            # An id is worth more if a list showed it: then its record exists and belongs to the
            # caller. Ids that are only mentioned in other records are kept too, for want of better
            # ones.
            self._lists[path] = answer.records
            kind = (values.get(_ACCOUNT, ""), name_of_list(operation.path))
            kept = self._kinds.setdefault(kind, {})
            for record in answer.records[:_MAX_RECORDS]:
                kept.update(dict.fromkeys(_list_keys(record)))
                self._listed.update(_list_texts(record))
            self._listed.update(kept)
        self.learn_values(operation, values, answer)

    def learn_values(
        self, operation: Operation, values: PathValues, answer: ComparedAnswer
    ) -> None:
        """Keep the values of an answer's records."""
        account = values.get(_ACCOUNT, "")
        named = name_of_list if answer.is_list else name_of_id
        own = named(operation.path)
        same = (own, account, hash(answer.body))
        if same in self._learned:
            return
        self._learned.add(same)
        body = [answer.json] if answer.is_success and isinstance(answer.json, dict) else []
        for record in (answer.records or body)[:_MAX_RECORDS]:
            for key in _list_keys(record):
                self._keep(account, own, key)
            for name, value in _walk(record, 0):
                if name not in _KEYS:
                    self._keep(account, name, value)
                if "://" in value:
                    self._read_link(value)

    def _read_link(self, url: str) -> None:
        """Keep the values in an address that an answer names."""
        parts = urlsplit(url).path.split("/")
        # Some operations are only reached by an address in another answer: the path of that address
        # is laid over the operation's path, and what is at the places of parameters are their
        # values.
        for operation in self._linked:
            names = operation.path.split("/")
            if len(names) != len(parts):
                continue
            pairs = list(zip(names, map(unquote, parts), strict=True))
            if all(name.startswith(":") or name == part for name, part in pairs):
                for name, part in pairs:
                    if name.startswith(":"):
                        kept = self._kinds.setdefault((operation.id, name[1:]), {})
                        kept.setdefault(part)
                        self._listed.add(part)

    def has_listed(self, value: str) -> bool:
        """Return whether a list of the server showed a record with this value, or the user did.

        Any other id is only mentioned somewhere: its record may be gone, or of another account.
        """
        return value in self._listed

    def find(self, wanted: Wanted, values: PathValues) -> str | None:
        """Return a value of the same account, else one of no account; `None` without any."""
        given = self._find_given(wanted.names)
        if given is not None:
            return given
        for name in wanted.names:
            # First what the user gave, whatever its place in the order; then what was learned, the
            # most specific name first.
            kept = self._find_kept(name, values)
            if kept:
                value = kept[0]
                return value.split()[0] if wanted.word and value.split() else value
        return None

    def _find_given(self, names: Sequence[str]) -> str | None:
        self._looked_up.update(names)
        return next((self._given[each] for each in names if each in self._given), None)

    def describe_unused(self) -> Iterator[str]:
        """Yield a line for each value of the user that nothing asked for."""
        for name in self._given:
            if name in self._looked_up:
                continue
            hint = did_you_mean(name, sorted(self._looked_up))
            yield f"no request has a value {name}, which --value gave.{hint}"

    def _find_kept(self, name: str, values: PathValues) -> list[str]:
        """Return the values of a name; a request for one account gets none of another one."""
        account = values.get(_ACCOUNT)
        if account is None:
            return list(self._values.get((None, name)) or ())
        return list(self._values.get((account, name)) or self._values.get(("", name)) or ())

    def fill_path(self, operation: Operation) -> list[dict[str, str]]:
        """Return the values of the path parameters, once for each way to fill them."""
        # Each parameter multiplies the ways: accounts times records of each account. The values of
        # the second parameter depend on the first, as records belong to one account. Few ways are
        # kept, because they are tried one after the other against a real service.
        ways: list[dict[str, str]] = [{}]
        prefix = ""
        for segment in operation.path.strip("/").split("/"):
            if segment.startswith(":"):
                name = segment[1:]
                ways = [
                    {**way, name: value}
                    for way in ways
                    for value in self._list_values(operation, prefix, name, way)
                ]
            prefix += f"/{segment}"
        return ways[:_MAX_PATHS]

    def _list_values(
        self, operation: Operation, prefix: str, name: str, way: PathValues
    ) -> list[str]:
        names = (name_of_id(prefix),) if name == "id" else list_names(name)
        # In the order of how sure it is that a record is there: given by the user, in a list above
        # this path, of the right kind in any list, and last mentioned anywhere.
        given = self._find_given(names)
        if given is not None:
            return [given]
        if operation in self._linked:
            return list(self._kinds.get((operation.id, name), ()))[:_MAX_PATHS]
        listed = [
            str(record.get(name, record.get("id")))
            for record in self._lists.get(fill(prefix, way), ())
            if isinstance(record.get(name, record.get("id")), str | int)
        ]
        account = way.get(_ACCOUNT, "")
        for each in names:
            listed = listed or list(self._kinds.get((account, each)) or ())
        if listed:
            return listed[: _MAX_PATHS if name == _ACCOUNT else 1]
        if name == _ACCOUNT and ("", name) in self._kinds:
            return []  # an account that is only mentioned is not the caller's
        for each in names:
            kept = self._find_kept(each, way)
            if kept:
                return kept[:_MAX_PATHS]
        return []

    def keep(self, name: str, values: Iterable[str]) -> None:
        """Keep values that no answer showed."""
        for value in values:
            self._keep("", name, value)

    def _keep(self, account: str, name: str, value: str) -> None:
        for owner in (account, None):
            kept = self._values.setdefault((owner, name), {})
            if value and len(kept) < _MAX_KEPT:
                kept.setdefault(value)


def list_names(name: str) -> tuple[str, ...]:
    """Return the names under which records have the value of a parameter."""
    return (name, *_ALSO.get(name, ()))


def name_of_id(path: str) -> str:
    """Return how other records name the id of a record at this path: `line_item_id`."""
    words = [part for part in path.strip("/").split("/") if not part.startswith(":")]
    if words[-1:] and words[-1] in _VERBS:
        words.pop()
    own = _QUALIFIED.get("/".join(words[-2:])) or singular(words[-1] if words else "")
    return f"{own}_id"


def name_of_parameter(operation: Operation, name: str) -> str:
    """Return how records name the value of a path parameter: `user_id` for `/2/users/:id`."""
    return name_of_id(operation.path.partition("/:id")[0]) if name == "id" else name


def name_of_list(path: str) -> str:
    """Return how other records name the ids in the list at this path: `line_item_id`.

    The jobs of an account are below `/12/stats/jobs/accounts/:account_id`: what the list is below
    of says nothing about its records.
    """
    parts = path.strip("/").split("/")
    while len(parts) > 2 and parts[-1].startswith(":"):
        parts = parts[:-2]
    return name_of_id("/".join(parts))


def singular(word: str) -> str:
    """Return a word of an address in the singular."""
    for end, new in _SINGULARS:
        if word.endswith(end) and word != "news":
            return word.removesuffix(end) + new
    return word


def fill(path: str, values: PathValues) -> str:
    """Return a path with its parameters filled in."""
    return "/".join(
        quote(values[part[1:]], safe="") if part.startswith(":") else part
        for part in path.split("/")
    )


def fill_query(
    query: Sequence[tuple[str, Value]], known: Known, values: PathValues
) -> list[tuple[str, str]] | str:
    """Return the parameters of a query with this server's values, or the name of one without."""
    found = []
    for name, value in query:
        filled = known.find(value, values) if isinstance(value, Wanted) else value
        if filled is None:
            return name
        found.append((name, filled))
    return found


def _list_keys(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the id of a record, if it has one."""
    key = record.get("id_str", record.get("id"))
    if isinstance(key, str | int) and not isinstance(key, bool):
        yield str(key)


def _list_texts(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a record itself is called: its keys and names, not the ids of other records."""
    for name in (*_KEYS, *_NAMES):
        if isinstance(record.get(name), str):
            yield record[name]


def _walk(value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Return names and values of the texts and numbers in a record, also those of lists."""
    if depth > _MAX_NESTING or not isinstance(value, dict):
        return
    for name, item in value.items():
        if isinstance(item, str | int) and not isinstance(item, bool):
            yield name, str(item)
        elif isinstance(item, dict):
            yield from _walk(item, depth + 1)
        elif isinstance(item, list):
            yield from _walk_items(name, item[:_MAX_KEPT], depth)


def _walk_items(name: str, items: Iterable[Any], depth: int) -> Iterator[tuple[str, str]]:
    for each in items:
        if isinstance(each, str):
            yield singular(name), each
        else:
            yield from _walk(each, depth + 1)
