"""Asks the sandbox what a fact asked the real service, in a world that has the fact's records.

The records are those that `import` makes of the real answer, and those that the instrument adds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import ORIGINAL_NAMES, TABLES
from mock_platform.api.v2.objects.figures import PRIVATE_METRICS
from mock_platform.core.call import LiveBody
from mock_platform.core.errors import BadFixtures
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.core.pairs import decode_pairs
from mock_platform.core.tables.table import Table
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.fidelity.facts import Fact, find_moment, is_like, read_body
from mock_platform.verification.fidelity.instrument import (
    FactValues,
    Instrument,
    Record,
    choose,
    dig,
    list_items,
)
from mock_platform.verification.fidelity.publication import LeftOutRequest, prepare
from mock_platform.verification.har.exchange import HarExchange
from mock_platform.verification.importing.recorded import Player, RecordedCall
from mock_platform.verification.importing.records import RecordCollection, write_records

_OF_POSTS = ("author_id", "created_at")
"""What a post needs to be found, and `import` makes up of its id."""
_OF_CREATORS = ("invited_user_ids", "subscriber_count")
_LAST_OF_OLDER = 2023
_MISSING = "Not Found Error"
_HIDEABLE = ("users", "posts")
_FIRST_HIDDEN = 900_000_000_001
_HIDDEN_POST = {"text": "Some text.", "created_at": "$time"}
_UNAUTHORIZED, _EXHAUSTED = 401, 429
_MOST_REPEATS = 5_000
"""Requests that exhaust a limit."""
FindOperation = Callable[[Fact], Operation | None]
_KNOWN_BY = {t.shown.known_by: t for t in TABLES if t.shown is not None and t.shown.known_by}
_OF_OPERATION = {
    operation: t for t in TABLES if t.shown is not None for operation in t.shown.operations
}
_PARAMETERS = {
    "users": "user.fields", "posts": "post.fields", "media": "media.fields",
    "polls": "poll.fields", "places": "place.fields", "topics": "topic.fields",
}  # fmt: skip


class Sent(Struct):
    """A fact's request as it is sent here, and what became of it."""

    target: str
    answer: ComparedAnswer | None = None
    notes: list[str] = field(default_factory=list)
    """What could not be loaded, and why."""


class FactSandbox:
    """Answers the requests of facts, each from a platform of its own."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument = instrument
        self._where = Platform(Settings(default_fixtures=False, releases="all"))
        self._own = {each["id"] for each in RecordCollection().records["users"].values()}

    def find_operation(self, fact: Fact) -> Operation | None:
        """Return the operation that answers a fact here."""
        request = fact.exchange.request
        return self._where.where(request.method, request.path, "plain", fact.names)

    def prepare(self, fact: Fact) -> Fact:
        """Return a fact as it is asked, and as the answer is compared with it."""
        prepared = prepare(fact, self._own)
        operation = self.find_operation(prepared)
        if prepared.is_edited or operation is None:
            return prepared
        return replace(prepared, operation=f"{operation.method} {operation.path}")

    def ask(self, fact: Fact) -> tuple[Fact, Sent]:
        """Return a fact as it is compared, and the sandbox's answer to its request.

        A fact of another form than the instrument knows has no answer, and a note that says why.
        """
        prepared = fact
        try:
            prepared = self.prepare(fact)
            return prepared, _Question(self._instrument, prepared, self.find_operation).ask()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
            return prepared, Sent(fact.operation, notes=[f"not of a form that is known: {fault!r}"])

    def complete(self, fact: Fact) -> tuple[HarExchange, Operation | None]:
        """Return a fact's exchange with its whole request, and the operation that answers it."""
        question = _Question(self._instrument, self.prepare(fact), self.find_operation)
        return question.complete(), question.operation


class _Question:
    """One fact: its request, the records that it needs, and the one who asks."""

    def __init__(self, instrument: Instrument, fact: Fact, find: FindOperation) -> None:
        self._fact = fact
        self._instrument = instrument
        self._more: Mapping[str, Any] = choose(instrument.requests, fact.operation, {})
        self._collection = RecordCollection()
        users, apps = (self._collection.records[name] for name in ("users", "apps"))
        values = FactValues(fact.body, find_moment(fact), next(iter(users)), next(iter(apps)))
        values.read_model = lambda name: next(iter(self._collection.read_defaults(name).values()))
        values.query = dict(decode_pairs(fact.exchange.request.query))
        values.sent = read_body(fact.exchange.request.body)
        self._values = values
        self._exchange = LeftOutRequest(fact, self._more, values).complete()
        self.operation = find(replace(fact, exchange=self._exchange))
        values.query = dict(decode_pairs(self._exchange.request.query))
        values.sent = read_body(self._exchange.request.body)
        values.path = self._read_path()
        caller = values.fill(choose(instrument.callers, fact.operation))
        if caller is None and self._is_private:  # metrics that the author alone sees
            first = list_items(dig(values.body, ["data"]))[0]
            caller = first.get("author_id") or first.get("creator_id")
        values.caller = str(caller or values.caller)

    # -- the request -----------------------------------------------------------------------------

    def _add_fields(self) -> HarExchange:
        """Return the exchange with a query for exactly what the answer shows."""
        sent = self._exchange.request
        names = {name for name, _ in decode_pairs(sent.query)}
        operation, body = self.operation, self._values.body
        if (
            operation is None
            or operation.dialect != "v2"
            or operation.method != "GET"
            or operation.params is None
            or not isinstance(body, dict)
            or any(name.endswith(".fields") or name == "expansions" for name in names)
        ):
            return self._exchange
        fields = operation.params().fields
        allowed = {each.data_key or name: each for name, each in fields.items()}
        wanted: dict[str, list[str]] = {}
        shown = list_items(body.get("data"))
        table = self._find_table(shown)
        if table is not None and table.shown is not None:
            wanted[table.shown.parameter] = _list_keys(shown)
        includes = body.get("includes") or {}
        ways = {} if table is None else self._instrument.expansions.get(table.name, {})
        for kind, items in includes.items():
            wanted.setdefault(_PARAMETERS.get(kind, ""), []).extend(_list_keys(items))
            wanted.setdefault("expansions", []).extend(ways.get(kind, ()))
        query = decode_pairs(sent.query)
        for name, values in wanted.items():
            known = _list_allowed(allowed.get(name))
            kept = [each for each in dict.fromkeys(values) if each in known]
            if kept:
                query.append((name, ",".join(kept)))
        path = sent.url.partition("?")[0]
        url = f"{path}?{urlencode(query, quote_via=quote, safe='')}" if query else path
        return replace(self._exchange, request=replace(sent, url=url))

    def _find_table(self, shown: list[Record]) -> Any:
        assert self.operation is not None
        table = _OF_OPERATION.get(self.operation.id)
        if table is None:
            for item in shown:
                table = table or next((t for k, t in _KNOWN_BY.items() if k in item), None)
        if table is None and any("text" in item for item in shown):
            return _KNOWN_BY["edit_history_post_ids"]
        return table

    # -- the records -----------------------------------------------------------------------------

    def _read_path(self) -> list[str]:
        own = self._exchange.request.path.split("/")
        named = self._fact.operation.partition(" ")[2].split("/")
        if len(named) == len(own):
            return [o for part, o in zip(named, own, strict=True) if part.startswith(":")]
        operation = self.operation
        for template in () if operation is None else (operation.path, *operation.also):
            parts = template.split("/")
            if len(parts) == len(own):
                return [o for part, o in zip(parts, own, strict=True) if part.startswith(":")]
        return []

    def _collect(self) -> Mapping[str, list[Record]]:
        """Return the records of the fact's world, by table."""
        fact, operation = self._fact, self.operation
        if operation is not None and 200 <= fact.exchange.response.status < 300:
            shown = self._complete_records(operation)
            exchange = replace(
                self._exchange, response=replace(fact.exchange.response, body=dumps(shown))
            )
            recorded = RecordedCall(exchange, exchange.request.path, "plain")
            recorded.path_params = dict(zip(operation.path_names, self._values.path, strict=False))
            if "account_id" in recorded.path_params:
                self._collection.add_account(recorded.path_params["account_id"])
            self._collection.add_answer(recorded, operation, fact.names)
        for name in self._instrument.shared:
            for key, record in self._collection.read_defaults(name).items():
                self._collection.records.setdefault(name, {}).setdefault(key, record)
        self._add_records()
        self._add_hidden()
        self._add_tokens()
        found = self._collection.finish()
        missing = {x.get("value") for x in self._errors if x.get("title") == _MISSING}
        if "users" in found:  # those that the answer names as missing were made up
            found["users"] = [x for x in found["users"] if str(x["id"]) not in missing]
        return found

    def _complete_records(self, operation: Operation) -> Any:
        """Return the answer in which records have the keys that `import` needs."""
        fact, body = self._fact, loads(dumps(self._values.body))
        if fact.names == "original":
            body = ORIGINAL_NAMES.make_neutral_spelling(operation).write(body)
        if not isinstance(body, dict) or operation.dialect not in {"v2", "ads"}:
            return body
        shown = list_items(body.get("data"))
        older = choose(self._instrument.older, fact.operation, {})
        for item in shown:
            for name, values in older.items():
                item[name] = values.get(str(item.get(name)), item.get(name))
        self._fill_missing(shown, choose(self._instrument.complete, fact.operation, {}))
        groups = [(self._find_table(shown), shown)] if operation.dialect == "v2" else []
        for kind, items in (body.get("includes") or {}).items():
            table = next((t for t in TABLES if t.name.endswith(kind) and t.shown is not None), None)
            groups.append((table, list_items(items)))
        for table, items in groups:
            self._fill_needed(table, items)
        if fact.names == "original":
            body = ORIGINAL_NAMES.find_spelling(operation.id, operation.dialect).write(body)
        return body

    def _fill_needed(self, table: Table | None, items: list[Record]) -> None:
        if table is None or table.shown is None:
            return
        if table.name == "posts":
            for item in items:
                item.setdefault("edit_history_post_ids", [item.get("id")])
        fill = self._instrument.fill
        if table.name == "media":  # the metrics of media are shown to their owner alone
            for item in items:
                item["_user_id"] = self._values.caller
        if table.name == "direct_messages":  # the members of groups were not published
            members = [self._values.caller, *(x["sender_id"] for x in items if "sender_id" in x)]
            for item in items:
                item["_participants"] = list(dict.fromkeys(members))
        needed = (*table.shown.needed, *(_OF_POSTS if table.name == "posts" else ()))
        self._fill_missing(items, {n: fill[n] for n in needed if n in fill})

    def _fill_missing(self, items: list[Record], templates: Mapping[str, Any]) -> None:
        for self._values.rank, item in enumerate(items):
            for name, template in templates.items():
                if item.get(name) is None:
                    item[name] = self._values.fill(template, item)

    def _add_records(self) -> None:
        """Add what the answer does not show, and a request needs."""
        rows = [
            row
            for pattern, rows in self._instrument.records.items()
            if is_like(self._fact.operation, pattern)
            for row in rows
        ]
        shown = set(self._collection.list_shown_places())
        for name, template in rows:
            table, items = self._collection.tables[name], self._values.list_each(template)
            ranked = list(enumerate(items))
            if self.operation is None or self.operation.dialect != "ads":
                ranked.reverse()  # the newest last
            for self._values.rank, item in ranked:
                filled = self._values.fill(template, item)
                known = frozenset(table.fields)  # what it does not know is kept as recorded
                is_recorded = "_as" in filled
                record = {
                    n: each
                    for n, each in filled.items()
                    if each is not None or (is_recorded and n not in known)
                }
                key = table.key_of(table.from_public(dict(record)))
                if key is not None and (is_recorded or (name, key) not in shown):
                    self._collection.records.setdefault(name, {})[key] = record

    @property
    def _errors(self) -> list[Record]:
        return list_items(dig(self._values.body, ["errors"]))

    def _add_hidden(self) -> None:
        """Add the suspended and protected users, and the posts, that the answer may not show."""
        users, posts = (self._collection.records.setdefault(name, {}) for name in _HIDEABLE)
        for number, error in enumerate(self._errors):
            value, of_post = str(error.get("value")), error.get("resource_type") == "post"
            key = value if value.isdecimal() and not of_post else str(_FIRST_HIDDEN + number)
            name = f"hidden_{key}"[:15] if key == value or of_post else value
            user = {"id": key, "screen_name": name, "name": "Some Name"}
            if error.get("title") == "Forbidden":
                users[key] = {**user, "_suspended": True}
            elif error.get("title") == "Authorization Error":
                users[key] = {**user, "protected": True}
                if of_post:
                    post = self._values.fill(_HIDDEN_POST)
                    posts[value] = {**post, "id": value, "author_id": key}

    def _add_tokens(self) -> None:
        tokens = self._collection.records["tokens"]
        for kind in ("access", "oauth2"):
            model = next(each for each in tokens.values() if each["kind"] == kind)
            own = {name: x for name, x in model.items() if name != "former_id"}
            key = self._name_token(kind)
            tokens[key] = {**own, "id": key, "user_id": self._values.caller}
            if kind == "oauth2":
                tokens[key]["scopes"] = [x for x in own["scopes"] if self._is_granted(x)]
            elif self._level == "read":
                tokens[key]["access"] = "read"

    @property
    def _wire(self) -> str:
        return "recorded" if self._values.moment.year > _LAST_OF_OLDER else "recorded-2023"

    @property
    def _level(self) -> str | None:
        """What the real answer says that its caller was allowed to do."""
        return self._fact.exchange.response.header("x-access-level")

    def _is_granted(self, scope: str) -> bool:
        """Whether a token of the level that the real answer shows has a scope."""
        if self._level == "read":
            return not scope.endswith(".write")
        return self._level != "read-write" or scope != "dm.write"

    def _name_token(self, kind: str) -> str:
        return f"{self._values.caller}-{kind}-token-of-a-fact-{'x' * 24}"

    # -- asking ----------------------------------------------------------------------------------

    def complete(self) -> HarExchange:
        """Return the exchange with a query for what the answer shows."""
        self._exchange = self._add_fields()
        return self._exchange

    def ask(self) -> Sent:
        """Send the request, and return the answer."""
        self.complete()
        request = self._exchange.request
        parts = urlsplit(request.url)
        sent = Sent(f"{request.method} {parts.path}{'?' if parts.query else ''}{parts.query}")
        with tempfile.TemporaryDirectory() as name:
            for table, records in self._collect().items():
                write_records(Path(name) / f"{table}.json", records)
            sent.notes = [text for _, text in self._collection.notes]
            settings = Settings(
                default_fixtures=False, fixtures=(Path(name),), limits="public", releases="all",
                freeze=self._values.moment, names=self._fact.names, wire=self._wire,
                markers=False, journal_entries=1,
            )  # fmt: skip
            try:
                platform = Platform(settings)
            except BadFixtures as fault:
                sent.notes.append(str(fault).replace(f"{name}/", ""))
                return sent
        try:
            platform.disable_connections()
            sent.answer = self._send(platform)
        finally:
            platform.close()
        return sent

    def _send(self, platform: Platform) -> ComparedAnswer:
        request, held = self._exchange.request, self._make_credentials(platform)
        headers = [each for each in request.headers if each[0].lower() != "authorization"]
        if request.header("authorization") is not None:
            headers.append(("Authorization", f"{self._choose_scheme()} of-the-fact"))
        sent = replace(self._exchange, request=replace(request, headers=tuple(headers)))
        player = Player(platform, held, self._fact.names)
        reply = player.send(RecordedCall(sent, request.path, "plain"))
        if self._fact.exchange.response.status == _EXHAUSTED != reply.status:
            left = int(reply.header("x-rate-limit-remaining") or 0)
            for _ in range(min(left, _MOST_REPEATS) + 1):
                reply = player.send(RecordedCall(sent, request.path, "plain"))
        if reply.stream is None:
            return ComparedAnswer(reply.status, reply.headers, reply.body)
        lines = b"".join(iter(partial(_read, reply.stream), b"")).splitlines()
        reply.stream.close()
        items = [line for line in lines if line.startswith(b"{")]
        is_list = isinstance(self._values.body, list)
        body = b"[" + b",".join(items) + b"]" if is_list else b"".join(items[:1])
        return ComparedAnswer(reply.status, reply.headers, body)

    def _make_credentials(self, platform: Platform) -> Mapping[str, Any]:
        """Return those of the app and of the one who asks; a user's token if a user did."""
        held: dict[str, Any] = dict(credentials(platform.worlds.default))
        access, oauth2 = (self._name_token(kind) for kind in ("access", "oauth2"))
        if self._fact.exchange.response.status == _UNAUTHORIZED and self._is_v2:
            return {**held, "user": {"access_token": "no"}, "bearer_token": "no"}
        held["user"] = {
            "access_token": access,
            "access_token_secret": self._collection.records["tokens"][access]["secret"],
            "oauth2_access_token": oauth2,
        }
        if self._is_by_user and "oauth2" in self._schemes:
            held["bearer_token"] = oauth2
        elif self._is_v2 and self._is_unsupported and not self._fact.by_user:
            held["user"]["oauth2_access_token"] = held["bearer_token"]
        app = held["app"]
        if self._exchange.request.path.startswith("/2/oauth2/"):
            client = {"consumer_key": app["client_id"], "consumer_secret": app["client_secret"]}
            held["app"] = {**app, **client}
        return held

    @property
    def _is_by_user(self) -> bool:
        if self._is_unsupported:
            return self._fact.by_user
        if self._is_private:
            return True
        if self._more.get("by_user") and self._fact.exchange.response.status < 400:
            return True
        if self._level == "read" and "bearer" in self._schemes:  # as tokens were replaced
            return False
        is_named = self._fact.operation.startswith("ERROR") and "by_user" in self._more
        return self._fact.by_user or is_named

    @property
    def _is_unsupported(self) -> bool:
        return str(dig(self._values.body, ["type"])).endswith("unsupported-authentication")

    @property
    def _is_private(self) -> bool:
        shown = (key for each in list_items(dig(self._values.body, ["data"])) for key in each)
        return any(key in (*PRIVATE_METRICS, *_OF_CREATORS) for key in shown)

    @property
    def _is_v2(self) -> bool:
        return self.operation is not None and self.operation.dialect == "v2"

    @property
    def _schemes(self) -> tuple[str, ...]:
        return () if self.operation is None else self.operation.auth.schemes

    def _choose_scheme(self) -> str:
        if "scheme" in self._more:
            return str(self._more["scheme"])
        if "basic" in self._schemes:
            return "Basic"
        alone = "oauth1" in self._schemes and "oauth2" not in self._schemes
        return (
            "OAuth" if alone and (self._is_by_user or "bearer" not in self._schemes) else "Bearer"
        )


def _read(stream: LiveBody) -> bytes:
    return stream.read() or b""


def _list_keys(items: Any) -> list[str]:
    return list(dict.fromkeys(name for each in list_items(items) for name in each))


def _list_allowed(field: Any) -> frozenset[str]:
    """Return the names that a parameter takes."""
    inner = getattr(field, "inner", None)
    values = getattr(inner, "values", None) or getattr(inner, "allowed", None) or ()
    return frozenset(values)
