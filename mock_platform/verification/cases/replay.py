"""Repeats a case in a world of its own, and says where its answers differ from the recorded ones.

Each request comes at its recorded moment, after the same changes, with credentials of that world.
Nothing is sent to anyone: what deliveries and challenges did is in the case.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote, unquote_plus, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.served import TABLES
from mock_platform.core.address import split_surface, split_world
from mock_platform.core.agents import is_message
from mock_platform.core.auth import oauth1
from mock_platform.core.call import Call, Challenge
from mock_platform.core.errors import (
    BadCase,
    BadParameters,
    BadScenario,
    CannotPerform,
    UnknownScenario,
    escape,
    shorten,
)
from mock_platform.core.failures.errors import TooLarge
from mock_platform.core.journal_entries import end_unsent
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.delivery.deliverer import Deliverer
from mock_platform.platform import Platform
from mock_platform.scenario.active import ACTIVE, DEFINED, START_UP
from mock_platform.scenario.director import find_engine
from mock_platform.verification.cases.document import CASE, CaseStep, JsonObject, SavedCase
from mock_platform.verification.har.exchange import HarExchange, HarRequest, HarResponse
from mock_platform.world.clock import machine_now, machine_seconds, parse_instant
from mock_platform.world.journal import JournalEntry
from mock_platform.world.names import DEFAULT
from mock_platform.world.world import World

_PIECE = re.compile(r"(\[redacted(?:-[0-9]{1,9})?\])", re.ASCII)
_SIGNATURE = re.compile(r'oauth_signature="?(\[redacted-[0-9]+\])', re.ASCII)
_TIMESTAMP = re.compile(r'(oauth_timestamp="?)([0-9]{1,12})', re.ASCII)
_NONCE = re.compile(r'(oauth_nonce="?)([^"&,\s]+)', re.ASCII)
_WELL_SIGNED = frozenset({None, "timestamp", "nonce"})
"""The mistakes in requests whose signature was right, or never looked at."""
_OF_ONE_ANSWER = frozenset({
    "connection", "content-encoding", "content-length", "date", "keep-alive", "server",
    "set-cookie", "transfer-encoding", "x-response-time", "x-transaction-id",
})  # fmt: skip
"""Headers that are another one each time, or of the connection; so are the markers (`X-Mock-…`)."""
_MADE = re.compile(r"\S*/[0-9]+\.json:", re.ASCII)
"""The file in which a scenario of a case was for a moment."""
_PAIRS = (("consumer_key", "consumer_secret"), ("former_key", "former_secret"))
_FORM = "application/x-www-form-urlencoded"
_SESSION = "mock_platform_session_"
_MAX_SHOWN = 120
_TOO_LARGE = 413


class CaseDifference(Struct, frozen=True):
    """How an answer differs from the recorded one."""

    request: int
    """The number of the request in the case, from 1."""
    method: str
    path: str
    where: str
    """`status`, `header NAME`, or a place in the body such as `body data[0].id`."""
    recorded: str
    got: str

    def __str__(self) -> str:
        return escape(
            f"request {self.request}, {self.method} {self.path}: {self.where} was "
            f"{self.recorded}, is {self.got}"
        )


class Replay(Struct, frozen=True):
    """A case after all of its requests were repeated."""

    case: SavedCase
    platform: Platform
    differences: list[CaseDifference]
    notes: list[str]
    """What was not compared, and why."""
    entries: list[JournalEntry]

    @property
    def world(self) -> World:
        """The world at its end."""
        return self.platform.worlds.default


def replay(case: SavedCase) -> Replay:
    """Return a case with all of its requests repeated; close its platform at the end.

    Raises:
        BadCase: A part of it cannot be used.
    """
    replayer = None
    try:
        replayer = _Replayer(case)
        return replayer.run()
    except (BadScenario, BadParameters, UnknownScenario, CannotPerform) as fault:
        _close(replayer)
        text = _MADE.sub("", str(fault))
        raise BadCase(f"{case.path}: {CASE}: rules: {text}") from fault
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as fault:
        _close(replayer)
        if isinstance(fault, BadCase):
            raise
        text = f"a record or a step has another form ({fault!r:.200})"
        raise BadCase(f"{case.path}: {text}.") from fault


def _close(replayer: _Replayer | None) -> None:
    if replayer is not None:
        replayer.platform.close()


class _SilentDeliverer(Deliverer):
    """Sends nothing; challenges end as they did."""

    faults: Mapping[str, Iterator[str | None]] = {}

    def attach(self, world: World) -> None:
        """Do nothing: what deliveries did is in the case."""

    def challenge(self, world: World, challenge: Challenge) -> None:
        """Set the fault that was recorded."""
        challenge.fault = next(self.faults.get(challenge.url, iter(())), "it was not recorded")


class _Replayer:
    """Repeats the requests of one case."""

    def __init__(self, case: SavedCase) -> None:
        self._case = case
        self._hidden = case.hidden
        self._differences: list[CaseDifference] = []
        self._notes: list[str] = []
        self._entries: list[JournalEntry] = []
        self._steps = list(case.document.steps)
        self.platform = _open_start(case)
        self._world = self.platform.worlds.default
        deliverer = self.platform.deliverer
        assert isinstance(deliverer, _SilentDeliverer)
        deliverer.faults = _list_challenges(self._hidden.show(case.document.deliveries))

    def run(self) -> Replay:
        """Repeat all requests, with what changed the world between them."""
        document = self._case.document
        for number, exchange in enumerate(self._case.read_exchanges(), 1):
            if document.why_not is not None:
                break
            turn, mock = exchange.own.get("_turn"), exchange.own.get("_mock")
            if type(turn) is not int or not isinstance(mock, dict):
                raise BadCase(f"{exchange.place}: _turn and _mock are missing: not of a case.")
            self._take_steps(turn - 1)
            self._repeat(number, exchange, mock)
        self._take_steps(None)
        if document.why_not is not None:
            self._activate_rules()
        now = parse_instant(document.clock.now)
        self._world.clock.put(
            (timedelta(), now) if document.clock.frozen else (now - machine_now(), None)
        )
        return Replay(self._case, self.platform, self._differences, self._notes, self._entries)

    def _take_steps(self, last: int | None) -> None:
        """Change what was changed beside requests until after the request of a number."""
        while self._steps and (last is None or self._steps[0].turn <= last):
            self._take_step(self._steps.pop(0))

    def _take_step(self, step: CaseStep) -> None:
        world, store = self._world, self._world.store
        with store.skip_consequences(), world.work():
            for table, key, record in self._hidden.show(step.changes):
                if record is None:
                    store.remove(table, key)
                else:
                    store.put(table, key, record)
            world.transitions.paces = {**world.transitions.paces, **step.paces}
            world.ids.drawn = step.drawn
            if step.scenarios is not None:
                find_engine(world).repeat_switches(self._hidden.show(step.scenarios))

    def _activate_rules(self) -> None:
        rules = [each for each in self._case.document.rules if each.active]
        defined = {each.name: {"name": each.name, "document": each.document} for each in rules}
        active = {
            each.name: msgspec.structs.asdict(each) | {"order": order}
            for order, each in enumerate(rules)
        }
        start: JsonObject = {each.name: {} for each in self._case.document.rules}
        tables = {DEFINED: defined, ACTIVE: active, START_UP: start}
        with self._world.work():
            find_engine(self._world).resume(self._hidden.show(tables))

    # -- a request -----------------------------------------------------------------------------

    def _repeat(self, number: int, exchange: HarExchange, mock: Mapping[str, Any]) -> None:
        at = exchange.own.get("_at")
        try:
            moment = parse_instant(at if isinstance(at, str) else "")
        except ValueError as fault:
            raise BadCase(f"{exchange.place}: _at: {fault}.") from fault
        self._world.clock.put((timedelta(), moment))
        call = self._make_call(exchange, mock)
        tool, is_of_agent = mock.get("tool"), is_message(mock.get("custom"))
        if isinstance(tool, str) or is_of_agent:
            self.platform.repeat_of_agent(call, tool)
        # A body that was too large is not in the journal: it was refused unread.
        is_too_large = exchange.response.status == _TOO_LARGE and not call.body
        refused = TooLarge(self.platform.settings.max_body) if is_too_large else None
        reply = self.platform.handle(call, refused)
        if reply.stream is not None:
            reply.stream.close()
        end_unsent(reply)
        entry = reply.entry
        assert entry is not None, "the world exists"
        entry.id = str(mock.get("id") or entry.id)
        self._entries.append(entry)
        path = urlsplit(call.url).path
        if mock.get("custom") and not entry.custom:
            self._notes.append(f"request {number}: {mock['custom']} was a route of the program")
            return
        if is_of_agent:  # what an agent sends beside calls changes nothing
            return
        for note in exchange.notes:
            self._notes.append(f"request {number}: {note}")
        for where, recorded, got in self._compare(exchange.response, entry):
            self._differences.append(
                CaseDifference(number, call.method, path, where, recorded, got)
            )

    def _make_call(self, exchange: HarExchange, mock: Mapping[str, Any]) -> Call:
        sent, show = exchange.request, self._hidden.show
        kind = (sent.header("content-type") or "").partition(";")[0].strip().lower()
        url, body = show(sent.url, _encode), sent.body
        if b"[redacted-" in body:
            text = show(body.decode("latin-1"), _encode if kind == _FORM else str)
            body = text.encode("latin-1", "replace")
        headers = []
        for name, value in sent.headers:
            folded, text = name.lower(), value
            if folded == "cookie":
                text = value.replace(_SESSION + self._case.document.world, _SESSION + DEFAULT)
            elif folded == "authorization" and isinstance(exchange.own.get("_basic"), str):
                text = self._authorize(exchange.own["_basic"], mock)
            if folded != "x-mock-world":
                headers.append((name, show(text)))
        message = self._sign(_Message(sent.method, url, headers, body, kind == _FORM), sent, mock)
        parts = urlsplit(message.url)
        prefix, path = split_world(parts.path or "/")
        surface, _, path = split_surface(path, parts.netloc)
        origin = f"{parts.scheme}://{parts.netloc}"
        return Call(
            method=message.method,
            url=message.url,
            path=path,
            base_url=origin if prefix is None else f"{origin}/~{prefix}",
            headers=message.headers,
            body=message.body,
            query_string=parts.query,
            surface=surface,
        )

    def _authorize(self, name: str, mock: Mapping[str, Any]) -> str:
        """Return the header of Basic authentication for a key, with the secret if it was right."""
        key, secret = unquote(name), "wrong"
        is_right = (mock.get("caller") or {}).get("scheme") == "basic"
        for entry in self._world.store.page("apps") if is_right else ():
            for has, of in (*_PAIRS, ("client_id", "client_secret")):
                if entry.record.get(has) == key:
                    secret = entry.record.get(of) or ""
        pair = f"{name}:{_encode(secret)}".encode("utf-8", "replace")
        return f"Basic {base64.b64encode(pair).decode()}"

    def _sign(self, message: _Message, sent: HarRequest, mock: Mapping[str, Any]) -> _Message:
        """Return a message with its signature of OAuth 1.0a made again, if that was right."""
        places = sent.header("authorization") or "", sent.url, sent.body.decode("latin-1")
        found = next(filter(None, map(_SIGNATURE.search, places)), None)
        if found is None:
            return message
        old, mistake = self._hidden.find(found[1]), (mock.get("diagnosis") or {}).get("mistake")
        if mistake != "timestamp":
            message = message.change(_renew)
        if mistake not in _WELL_SIGNED:
            return message
        form = message.body.decode("utf-8", "replace") if message.is_form else None
        request = oauth1.SignedRequest(message.method, message.url, message.authorization, form)
        try:
            credentials = oauth1.parse(request)
        except oauth1.MalformedAuthorization:
            return message
        if credentials is None:
            return message
        normalized = oauth1.normalize(credentials.parameters)
        base = oauth1.base_string(message.method, credentials.address, normalized)
        made = oauth1.sign(base, *self._find_secrets(credentials)).decode()
        return message.change(lambda text: text.replace(old, _encode(made)))

    def _find_secrets(self, credentials: oauth1.Credentials) -> tuple[str, str]:
        """Return the secrets of the app and of the token that a request names."""
        store, consumer_secret, token_secret = self._world.store, "", ""
        for entry in store.page("apps"):
            for has, of in _PAIRS:
                if entry.record.get(has) == credentials.consumer_key:
                    consumer_secret = entry.record.get(of) or ""
        for entry in store.page("tokens") if credentials.token else ():
            if credentials.token in {entry.key, entry.record.get("former_id")}:
                token_secret = entry.record.get("secret") or ""
        return consumer_secret, token_secret

    # -- its answer ----------------------------------------------------------------------------

    def _compare(
        self, recorded: HarResponse, entry: JournalEntry
    ) -> Iterator[tuple[str, str, str]]:
        if recorded.status != entry.status:
            yield "status", str(recorded.status), str(entry.status)
            return
        got = {name.lower(): value for name, value in entry.response_headers}
        had = {name.lower(): value for name, value in recorded.headers}
        for name in dict.fromkeys([*had, *got]):
            if name in _OF_ONE_ANSWER or name.startswith("x-mock-"):
                continue
            one, other = had.get(name), got.get(name)
            if one is None or other is None or not self._matches(one, other, unquote):
                yield f"header {name}", _show_text(one), _show_text(other)
        kind = recorded.media_type
        decode = unquote_plus if kind in {_FORM, "text/html"} else _decode_json
        before = recorded.body.decode("utf-8", "surrogateescape")
        after = entry.response_body.decode("utf-8", "surrogateescape")
        if recorded.is_whole and not self._matches(before, after, decode):
            yield find_difference(self._hidden.show(before), after)

    def _matches(self, recorded: str, got: str, decode: Any) -> bool:
        """Return whether a text is the recorded one; learn what is behind its placeholders."""
        if recorded == got:
            return True
        pieces = _PIECE.split(recorded)
        if len(pieces) == 1 or not got.startswith(pieces[0]):
            return False
        at, learned = len(pieces[0]), {}
        for placeholder, literal in zip(pieces[1::2], pieces[2::2], strict=True):
            end = got.find(literal, at) if literal else len(got)
            if end < 0:
                return False
            learned[placeholder] = decode(got[at:end])
            at = end + len(literal)
        if at != len(got):
            return False
        for placeholder, value in learned.items():
            if "-" in placeholder and not self._hidden.knows(placeholder):
                self._hidden.learn(placeholder, value)
        return True


def _open_start(case: SavedCase) -> Platform:
    """Return a platform whose default world is at the start of a case, and which sends nothing."""
    base = case.make_base({table.name: table for table in TABLES})
    with case.open_settings() as settings:
        platform = Platform(settings, base=base, deliverer=_SilentDeliverer)
    platform.worlds.default.begin_at(case.make_start(base))
    return platform


def _list_challenges(deliveries: list[dict[str, Any]]) -> Mapping[str, Iterator[str | None]]:
    """Return by address how each challenge ended, in their order: why it failed, or `None`."""
    found: dict[str, list[str | None]] = {}
    for each in deliveries:
        url = str(each.get("url") or "")
        if "crc_token=" in url:
            found.setdefault(re.sub(r"[?&]crc_token=.*", "", url), []).append(each.get("error"))
    return {url: iter(faults) for url, faults in found.items()}


def _renew(text: str) -> str:
    """Return a text with this moment as the timestamp of its signature, and a nonce for it."""
    stamp = _TIMESTAMP.search(text)
    if stamp is None:
        return text
    text = _NONCE.sub(lambda found: f"{found[1]}{found[2]}{stamp[2]}"[:240], text)
    return _TIMESTAMP.sub(lambda found: f"{found[1]}{int(machine_seconds())}", text)


class _Message(Struct, frozen=True):
    """What is sent, before it is a call."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes
    is_form: bool

    @property
    def authorization(self) -> str | None:
        """The header `Authorization`, if it is one of OAuth."""
        found = (v for name, v in self.headers if name.lower() == "authorization")
        value = next(found, "")
        return value if value[:6].lower() == "oauth " else None

    def change(self, make: Callable[[str], str]) -> _Message:
        """Return it with other parameters of OAuth, in the query, the header and the form."""
        path, mark, query = self.url.partition("?")
        return replace(
            self,
            url=path + mark + make(query),
            headers=[
                (name, make(value) if name.lower() == "authorization" else value)
                for name, value in self.headers
            ],
            body=make(self.body.decode("latin-1")).encode("latin-1") if self.is_form else self.body,
        )


def _encode(text: str) -> str:
    return quote(text, safe="~")


def _decode_json(text: str) -> str:
    try:
        return str(loads(f'"{text}"'.encode()))
    except BadJson:
        return text


def find_difference(recorded: str, got: str) -> tuple[str, str, str]:
    """Return the first place where two bodies differ, and what is there in each."""
    try:
        one, other = loads(recorded.encode()), loads(got.encode())
    except (BadJson, UnicodeEncodeError):
        return "body", _show_text(recorded), _show_text(got)
    where, before, after = _descend(one, other, "")
    return f"body {where}".strip(), _show(before), _show(after)


_MISSING: Any = object()


def _descend(one: Any, other: Any, where: str) -> tuple[str, Any, Any]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key not in one or key not in other or one[key] != other[key]:
                inner = f"{where}.{key}" if where else key
                return _descend(one.get(key, _MISSING), other.get(key, _MISSING), inner)
    if isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            a = one[index] if index < len(one) else _MISSING
            b = other[index] if index < len(other) else _MISSING
            if a != b:
                return _descend(a, b, f"{where}[{index}]")
    return where, one, other


def _show(value: Any) -> str:
    return "missing" if value is _MISSING else shorten(dumps(value).decode(), _MAX_SHOWN)


def _show_text(text: str | None) -> str:
    return "missing" if text is None else shorten(text, _MAX_SHOWN)
