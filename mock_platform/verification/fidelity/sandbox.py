"""Asks the sandbox what a fact asked the real service, in a world that has the fact's records.

The records are those that `import` makes of the real answer. What that answer does not show and a
request needs (who signed, edges between records, a query that a publication left out) is added by
the tables of `instrument.json`, by operation.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS, ORIGINAL_NAMES, TABLES
from mock_platform.core import installed
from mock_platform.core.tables.fixtures import BadFixtures
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.core.pairs import decode_pairs
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.plan import PAGE_NAMES
from mock_platform.verification.fidelity.facts import (
    HERE,
    Fact,
    find_moment,
    is_like,
    read_body,
    read_snowflake,
)
from mock_platform.verification.har import HarExchange
from mock_platform.verification.importing.recorded import Player, RecordedCall
from mock_platform.verification.importing.records import RecordCollection, write_records
from mock_platform.world.clock import parse_instant, wire_millis, wire_seconds

Record = dict[str, Any]
_KNOWN_BY = {t.shown.known_by: t for t in TABLES if t.shown is not None and t.shown.known_by}
_OF_OPERATION = {
    operation: t for t in TABLES if t.shown is not None for operation in t.shown.operations
}
_PARAMETERS = {
    "users": "user.fields", "posts": "post.fields", "media": "media.fields",
    "polls": "poll.fields", "places": "place.fields", "topics": "topic.fields",
}  # fmt: skip


class Instrument(Struct, frozen=True):
    """How facts are asked and compared: tables by patterns of operations and places."""

    live: Mapping[str, list[str]]
    headers: Mapping[str, str]
    requests: Mapping[str, Mapping[str, Any]]
    callers: Mapping[str, str]
    fill: Mapping[str, Any]
    expansions: Mapping[str, Mapping[str, list[str]]]
    complete: Mapping[str, Mapping[str, Any]]
    older: Mapping[str, Mapping[str, Mapping[str, Any]]]
    shared: list[str]
    records: Mapping[str, list[list[Any]]]
    texts: Mapping[str, str]

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


class Sent(Struct):
    """A fact's request as it is sent here, and what became of it."""

    target: str
    answer: ComparedAnswer | None = None
    notes: list[str] = []


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
        """Return a fact whose ids are not those of the sandbox's own users."""
        request, response = fact.exchange.request, fact.exchange.response
        url, sent, body = request.url, request.body, response.body
        for own in self._own:
            other = f"{int(own) + 1}"
            url = url.replace(own, other)
            sent, body = (each.replace(own.encode(), other.encode()) for each in (sent, body))
        if fact.is_edited and isinstance(read := read_body(body), dict | list):
            body = dumps(self._make_consistent(fact, _tell_apart(read)))
        exchange = replace(
            fact.exchange,
            request=replace(request, url=url, body=sent),
            response=replace(response, body=body),
        )
        return replace(fact, exchange=exchange)

    def _make_consistent(self, fact: Fact, body: Any) -> Any:
        """Return an answer without what only its cut lists refer to."""
        texts = self._instrument.texts
        text = next((x for k, x in texts.items() if is_like(fact.operation, k)), "")
        if not isinstance(body, dict) or "data" not in body:
            return body
        for item in _list_items(body["data"]) if text else ():
            item["text"] = text + item.get("text", "")[len(text) :]
        includes = body.get("includes") or {}
        named = dumps([body["data"], includes.get("posts"), includes.get("tweets")]).decode()
        named += fact.exchange.request.url
        for kind, items in includes.items():
            if isinstance(items, list):
                includes[kind] = [x for x in items if _is_named(x, named)]
        if isinstance(body.get("errors"), list):
            of_request = "ids", "id", "username", "usernames"
            body["errors"] = [
                x for x in body["errors"]
                if x.get("parameter") in of_request or f'"{x.get("value")}"' in named
            ]  # fmt: skip
            if not body["errors"]:
                del body["errors"]
        return body

    def ask(self, fact: Fact) -> tuple[Fact, Sent]:
        """Return a fact as it is compared, and the sandbox's answer to its request."""
        prepared = self.prepare(fact)
        return prepared, _Question(self._instrument, prepared, self.find_operation).ask()


    def complete(self, fact: Fact) -> tuple[HarExchange, Operation | None]:
        """Return a fact's exchange with its whole request, and the operation that answers it."""
        question = _Question(self._instrument, self.prepare(fact), self.find_operation)
        return question.complete(), question.operation


class _Question:
    """One fact: its request, the records that it needs, and the one who asks."""

    def __init__(self, instrument: Instrument, fact: Fact, find: Any) -> None:
        self._fact = fact
        self._instrument = instrument
        self._body = fact.body
        self._moment = find_moment(fact)
        self._more = self._find_more(instrument.requests)
        self._exchange = fact.exchange
        self.operation: Operation | None = None
        self._path: list[str] = []
        self._rank = 0
        self._collection = RecordCollection()
        self._app = next(iter(self._collection.records["apps"]))
        self._caller = next(iter(self._collection.records["users"]))
        self._exchange = self._complete_request()
        self.operation = find(replace(fact, exchange=self._exchange))
        self._path = self._read_path()
        named = self._find_named(instrument.callers)
        found = self._resolve(named) if named else None
        self._caller = str(found) if found else self._caller

    def _find_more(self, table: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        return next((x for k, x in table.items() if is_like(self._fact.operation, k)), {})

    def _find_named(self, table: Mapping[str, str]) -> str | None:
        return next((x for k, x in table.items() if is_like(self._fact.operation, k)), None)

    # -- the request -----------------------------------------------------------------------------

    def _complete_request(self) -> HarExchange:
        """Return the exchange with the path, query and body that its publication left out."""
        sent = self._fact.exchange.request
        more = self._more
        path = "/".join(
            quote(self._find_parameter(part[1:]), safe="") if part.startswith(":") else part
            for part in more.get("path", sent.path).split("/")
        )
        echoed = self._read_echo(sent.path)
        query = dict(decode_pairs(sent.query)) or {**more.get("query", {})}
        if sent.method == "GET" and not sent.query:
            query |= echoed
        if self._fact.is_edited and self._fact.exchange.response.status < 300:
            query |= more.get("edited", {})  # texts were replaced, and lists cut
            if not query.keys().isdisjoint(PAGE_NAMES):  # a cursor of another server
                query = {name: x for name, x in query.items() if name not in PAGE_NAMES}
                query |= more.get("paged", {})
        query = {name: self._fill_query(name, value) for name, value in query.items()}
        query = {name: value for name, value in query.items() if value}
        body, headers = sent.body, sent.headers
        if not body and "json" in more:
            body = dumps(self._resolve(more["json"]))
            headers = (*headers, ("Content-Type", "application/json"))
        form = self._resolve(more["form"]) if "form" in more else echoed
        if not body and sent.method != "GET" and form:
            body = urlencode(form).encode()
            headers = (*headers, ("Content-Type", "application/x-www-form-urlencoded"))
        base = sent.url.partition(sent.path)[0] or HERE
        url = base + path + ("?" + urlencode(query, quote_via=quote, safe="") if query else "")
        request = replace(
            sent, method=more.get("method", sent.method), url=url, body=body, headers=headers
        )
        return replace(self._fact.exchange, request=request)

    def _read_echo(self, path: str) -> dict[str, str]:
        """Return the parameters that an answer of the advertising interface repeats."""
        request = _dig(self._body, ["request"])
        params = request.get("params") if isinstance(request, dict) else None
        if not isinstance(params, dict):
            return {}
        texts = {n: ",".join(map(str, x)) if isinstance(x, list) else x for n, x in params.items()}
        return {
            name: str(x).lower() if isinstance(x, bool) else str(x)
            for name, x in texts.items()
            if x not in (None, "") and f":{name}" not in path.split("/")
        }

    def _find_parameter(self, name: str) -> str:
        """Return what a publication left out of a path: the answer shows it, or nothing does."""
        body = self._body if isinstance(self._body, dict) else {}
        params = (body.get("request") or {}).get("params") or {}
        data = body.get("data")
        first = data[0] if isinstance(data, list) and data else data
        first = first if isinstance(first, dict) else {}
        errors = body.get("errors")
        wrong = errors[0] if isinstance(errors, list) and errors else {}
        other = next((x for n, x in params.items() if n.endswith("_id") and n != "account_id"), None)
        places = (
            params.get(name), first.get(name), other if name.endswith("_id") else None,
            first.get("id"), wrong.get("value"),
        )  # fmt: skip
        return next((str(each) for each in places if isinstance(each, str | int)), "1")

    def _fill_query(self, name: str, value: Any) -> str:
        if value == "$ids":
            return ",".join(self._list_asked("id"))
        if value == "$usernames":
            return ",".join(self._list_asked("username"))
        found = self._resolve(value)
        return ",".join(map(str, found)) if isinstance(found, list) else str(found or "")

    def _list_asked(self, key: str) -> Iterator[str]:
        body = self._body if isinstance(self._body, dict) else {}
        data = body.get("data") or []
        yield from (str(x[key]) for x in data if isinstance(x, dict) and key in x)
        yield from (str(x["value"]) for x in body.get("errors") or [] if "value" in x)

    def _add_fields(self) -> HarExchange:
        """Return the exchange with a query for exactly what the answer shows."""
        sent = self._exchange.request
        names = {name for name, _ in decode_pairs(sent.query)}
        operation, body = self.operation, self._body
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
        shown = _list_items(body.get("data"))
        table = self._find_table(shown)
        if table is not None and table.shown is not None:
            wanted[table.shown.parameter] = _list_keys(shown)
        includes = body.get("includes") or {}
        for kind, items in includes.items():
            wanted.setdefault(_PARAMETERS.get(kind, ""), []).extend(_list_keys(items))
            ways = self._find_more(self._instrument.expansions)
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
            recorded.path_params = dict(zip(operation.path_names, self._path, strict=False))
            if "account_id" in recorded.path_params:
                self._collection.add_account(recorded.path_params["account_id"])
            self._collection.add_answer(recorded, operation, fact.names)
        for name in self._instrument.shared:
            for key, record in self._collection.read_defaults(name).items():
                self._collection.records.setdefault(name, {}).setdefault(key, record)
        self._add_records()
        self._add_tokens()
        found = self._collection.finish()
        missing = {x.get("value") for x in _list_items(_dig(self._body, ["errors"]))}
        if "users" in found:  # those that the answer names as missing were made up
            found["users"] = [x for x in found["users"] if str(x["id"]) not in missing]
        return found

    def _complete_records(self, operation: Operation) -> Any:
        """Return the answer in which records have the keys that `import` needs."""
        body = loads(dumps(self._body))
        if self._fact.names == "original":
            body = ORIGINAL_NAMES.make_neutral_spelling(operation).write(body)
        if not isinstance(body, dict) or operation.dialect not in {"v2", "ads"}:
            return body
        shown = _list_items(body.get("data"))
        more = self._find_more(self._instrument.complete)
        older = self._find_more(self._instrument.older)
        for self._rank, item in enumerate(shown):
            for name, values in older.items():
                item[name] = values.get(str(item.get(name)), item.get(name))
            for name, value in more.items():
                if item.get(name) is None:
                    item[name] = self._resolve(value, item)
        groups = [(self._find_table(shown), shown)] if operation.dialect == "v2" else []
        for kind, items in (body.get("includes") or {}).items():
            table = next((t for t in _KNOWN_BY.values() if t.name == kind), None)
            groups.append((table, _list_items(items)))
        for kind, items in groups:
            for self._rank, item in enumerate(items if kind is not None else ()):
                if kind.name == "posts":
                    item.setdefault("edit_history_post_ids", [item.get("id")])
                for name in kind.shown.needed:
                    if item.get(name) is None and name in self._instrument.fill:
                        item[name] = self._resolve(self._instrument.fill[name], item)
        if self._fact.names == "original":
            body = ORIGINAL_NAMES.spellings[operation.dialect].write(body)
        return body

    def _add_records(self) -> None:
        tables = {t.name: t for t in TABLES}
        for pattern, rows in self._instrument.records.items():
            if not is_like(self._fact.operation, pattern):
                continue
            for name, template in rows:
                items = self._list_each(template)
                for self._rank, item in reversed(list(enumerate(items))):  # the newest comes last
                    record = self._resolve(template, item)
                    record = {k: v for k, v in record.items() if v is not None and k != "$each"}
                    table = tables[name]
                    key = table.key_of(table.from_public(dict(record)))
                    if key is not None:
                        self._collection.records.setdefault(name, {})[key] = record

    def _list_each(self, template: Any) -> list[Record]:
        """Return the items of the answer for each of which a record is made: one if no other."""
        template = template["$merge"][1] if "$merge" in template else template
        if "$each" in template:
            found = self._resolve(template["$each"])
            return _list_items(found)
        return [{}]

    def _add_tokens(self) -> None:
        tokens = self._collection.records["tokens"]
        for kind in ("access", "oauth2"):
            model = next(each for each in tokens.values() if each["kind"] == kind)
            key = f"{self._caller}-{kind}-of-a-fact-{'x' * 24}"
            own = {name: x for name, x in model.items() if name != "former_id"}
            tokens[key] = {**own, "id": key, "user_id": self._caller, "app_id": self._app}

    def _resolve(self, value: Any, item: Mapping[str, Any] | None = None) -> Any:
        """Return a template with the values of the fact in place of names with a dollar sign."""
        if isinstance(value, dict):
            if set(value) == {"$map"}:
                return value["$map"][1].get(str(self._resolve(value["$map"][0], item)))
            if set(value) == {"$first"}:
                found = (self._resolve(each, item) for each in value["$first"])
                return next((each for each in found if each is not None), None)
            if set(value) == {"$merge"}:
                base = self._resolve(value["$merge"][0], item)
                return {**(base or {}), **self._resolve(value["$merge"][1], item)}
            return {name: self._resolve(each, item) for name, each in value.items()}
        if isinstance(value, list):
            return [self._resolve(each, item) for each in value]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name, *keys = value[1:].split(".")
        if name.isdecimal():
            place = int(name) - 1
            return self._path[place] if place < len(self._path) else None
        sources: dict[str, Any] = {
            "item": item or {},
            "body": self._body,
            "sent": read_body(self._exchange.request.body),
            "query": dict(decode_pairs(self._exchange.request.query)),
        }
        if name in sources:
            return _dig(sources[name], keys)
        if name == "model":  # a record of the default fixtures, for what no answer shows
            return next(iter(self._collection.read_defaults(keys[0]).values()))
        return self._resolve_word(name, item or {})

    def _resolve_word(self, name: str, item: Mapping[str, Any]) -> Any:
        if name == "caller":
            return self._caller
        if name == "app":
            return self._app
        if name == "asked":
            sent = dict(decode_pairs(self._exchange.request.query))
            return next((x.split(",")[0] for n, x in sent.items() if n.endswith("ids")), None)
        if name == "everything":  # a rule that matches the posts of the answer
            data = _dig(self._body, ["data"]) or _dig(self._body, ["0", "data"]) or {}
            return f"from:{data.get('author_id') or self._caller}"
        if name == "month":
            start = parse_instant(str(_dig(self._body, ["data", "0", "start"])))
            return wire_millis(start + timedelta(days=31))
        if name == "key":
            return str(item.get("id"))
        if name == "both":
            return str(item.get("dm_conversation_id") or self._path[0]).split("-")
        if name == "pair":
            return "-".join(sorted((self._path[0], self._caller), key=int))
        if name == "time":
            made = read_snowflake(str(item.get("id", ""))) if "post_id" not in item else None
            before = self._moment - timedelta(seconds=self._rank)  # lists begin with the newest
            return wire_millis(min(made or before, before))
        if name == "seconds":
            return wire_millis(self._moment - timedelta(seconds=self._rank))
        if name == "second":
            return wire_seconds(self._moment)
        if name == "other":  # of a conversation of two, the one who is not named in the path
            both = str(_dig(self._body, ["data", "dm_conversation_id"]) or "").split("-")
            return next((each for each in both if each not in self._path), None)
        if name == "from":  # a query that finds the posts of the answer, whose texts were replaced
            data = _list_items(_dig(self._body, ["data"]))
            authors = dict.fromkeys(str(x.get("author_id") or self._caller) for x in data)
            return " OR ".join(f"from:{author}" for author in authors) or "coffee"
        raise KeyError(f"${name} is no word of the instrument")

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
            more: dict[str, Any] = {}
            if "wire" in Settings.__dataclass_fields__:
                more["wire"] = "recorded"
            settings = Settings(
                default_fixtures=False, fixtures=(Path(name),), limits="public", releases="all",
                freeze=self._moment, names=self._fact.names, markers=False, journal_entries=1,
                **more,
            )  # fmt: skip
            try:
                platform = Platform(settings)
            except BadFixtures as fault:
                sent.notes.append(str(fault))
                return sent
        try:
            platform.disable_connections()
            sent.answer = self._send(platform)
        finally:
            platform.close()
        return sent

    def _send(self, platform: Platform) -> ComparedAnswer | None:
        held: dict[str, Any] = dict(credentials(platform.worlds.default))
        tokens = {
            kind: f"{self._caller}-{kind}-of-a-fact-{'x' * 24}" for kind in ("access", "oauth2")
        }
        secret = self._collection.records["tokens"][tokens["access"]]["secret"]
        held["user"] = {
            **(held["user"] or {}),
            "access_token": tokens["access"],
            "access_token_secret": secret,
            "oauth2_access_token": tokens["oauth2"],
        }
        if self._exchange.request.path.startswith("/2/oauth2/"):
            app = held["app"]
            held["app"] = {
                **app, "consumer_key": app["client_id"], "consumer_secret": app["client_secret"],
            }  # fmt: skip
        schemes = () if self.operation is None else self.operation.auth.schemes
        shown = self._more.get("scheme")
        by_user = self._fact.by_user or self._more.get("by_user", False)
        scheme = "Bearer"
        if by_user and "oauth2" in schemes:
            held["bearer_token"] = tokens["oauth2"]
        elif shown is not None or "basic" in schemes:
            scheme = shown or "Basic"
        elif "oauth1" in schemes and (by_user or "bearer" not in schemes):
            if "oauth2" not in schemes:
                scheme = "OAuth"
        headers = [x for x in self._exchange.request.headers if x[0].lower() != "authorization"]
        if self._fact.exchange.request.header("authorization") is not None:
            headers.append(("Authorization", f"{scheme} of-the-fact"))
        request = replace(self._exchange.request, headers=tuple(headers))
        recorded = RecordedCall(
            replace(self._exchange, request=request), request.path, "plain"
        )
        player = Player(platform, held, self._fact.names)
        for _ in range(int(self._more.get("repeat", 1))):
            reply = player.send(recorded)
        if (stream := reply.stream) is not None:
            lines = b"".join(iter(lambda: stream.read() or b"", b"")).splitlines()
            stream.close()
            items = [line for line in lines if line.startswith(b"{")]
            many = isinstance(self._body, list)
            body = b"[" + b",".join(items) + b"]" if many else b"".join(items[:1])
            return ComparedAnswer(reply.status, reply.headers, body)
        return ComparedAnswer(reply.status, reply.headers, reply.body)


def _tell_apart(value: Any) -> Any:
    """Return an answer in which users whose names were replaced by one have different ones."""
    if isinstance(value, list):
        return [_tell_apart(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _tell_apart(each) for name, each in value.items()}
    for name in ("username", "screen_name"):
        if made.get(name) == "some_user" and "id" in made:
            made[name] = f"user_{made['id']}"[:15]
    return made


def _is_named(record: Any, text: str) -> bool:
    """Whether a text of JSON refers to an included record."""
    keys = [record.get(name) for name in ("id", "media_key")] if isinstance(record, dict) else []
    return any(f'"{key}"' in text for key in keys if key is not None)


def _list_items(value: Any) -> list[Record]:
    items = value if isinstance(value, list) else [value]
    return [each for each in items if isinstance(each, dict)]


def _list_keys(items: Any) -> list[str]:
    return list(dict.fromkeys(name for each in _list_items(items) for name in each))


def _list_allowed(field: Any) -> frozenset[str]:
    """Return the names that a parameter takes."""
    inner = getattr(field, "inner", None)
    values = getattr(inner, "values", None) or getattr(inner, "allowed", None) or ()
    return frozenset(values)


def _dig(value: Any, names: list[str]) -> Any:
    for name in names:
        if isinstance(value, list) and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
