"""Recorded requests and deliveries: kept on the disk, sent to a sandbox, answers compared."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct, field
from oauthlib.oauth1 import Client

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.api.v2.activity.account_activity_delivery import is_account_activity
from mock_platform.core.address import split_surface, split_world
from mock_platform.core.call import FORM, Call, Reply
from mock_platform.core.errors import escape
from mock_platform.core.jsonio import BadJson, canonical, loads
from mock_platform.platform import Platform
from mock_platform.settings import NamesMode
from mock_platform.verification.har.exchange import HarExchange
from mock_platform.verification.pact.recorded import find_callback
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record

MAX_NESTING = 100
"""Levels of a recorded JSON body that are read."""
_PLACEHOLDER = "[redacted"
_DROPPED = frozenset({"authorization", "host", "x-mock-world", "x-mock-scenario", "content-length"})


class CallLabel(Struct, frozen=True):
    """Which request of an archive is meant; no two requests have the same."""

    entry: int
    line: int
    method: str
    path: str

    def __str__(self) -> str:
        return escape(f"entry {self.entry} (line {self.line}), {self.method} {self.path}")


class RecordedCall(Struct):
    """An exchange of the platform's interface, and what the sandbox read of its request."""

    exchange: HarExchange
    path: str
    surface: str
    operation: str | None = None
    path_params: Mapping[str, str] = field(default_factory=dict)
    query: list[tuple[str, str]] = field(default_factory=list)
    form: list[tuple[str, str]] = field(default_factory=list)
    json: Any = None

    @property
    def label(self) -> CallLabel:
        """Where the archive has it, for notes."""
        place = self.exchange.place
        return CallLabel(place.entry, place.line, self.exchange.request.method, self.path)

    @property
    def is_success(self) -> bool:
        """Whether the service did what was asked."""
        return 200 <= self.exchange.response.status < 300

    @property
    def answer(self) -> Any:
        """The recorded body as JSON; `None` if it is not JSON."""
        return read_json(self.exchange.response.body)

    def find_ids(self, templates: Iterable[str]) -> list[int]:
        """Return which segments of the address's path are parameters, by the operation's paths."""
        whole = urlsplit(self.exchange.request.url).path.split("/")
        own = self.path.split("/")
        before = len(whole) - len(own)  # of a world or the sandbox address
        for template in templates:
            parts = template.split("/")
            if len(parts) == len(own):
                return [before + at for at, part in enumerate(parts) if part.startswith(":")]
        return []

    @property
    def has_secrets(self) -> bool:
        """Whether the recorded answer holds placeholders in place of secrets."""
        return _PLACEHOLDER.encode() in self.exchange.response.body


def make_recorded(exchange: HarExchange) -> RecordedCall:
    """Return an exchange with its path within the interface."""
    parts = urlsplit(exchange.request.url)
    _, path = split_world(parts.path or "/")
    surface, _, path = split_surface(path, parts.netloc)
    return RecordedCall(exchange, path, surface)


class Player:
    """Sends requests to a platform, with the published credentials of its world."""

    def __init__(
        self, platform: Platform, credentials: Mapping[str, Any], names: NamesMode
    ) -> None:
        self.platform = platform
        self._names = names
        self._app: Mapping[str, Any] = credentials["app"] or {}
        self._user: Mapping[str, Any] = credentials["user"] or {}
        self._bearer = credentials["bearer_token"]

    def send(self, recorded: RecordedCall) -> Reply:
        """Send a recorded request; return the answer, and keep what the platform read of it."""
        sent = recorded.exchange.request
        parts = urlsplit(sent.url)
        prefix = "/sandbox" if recorded.surface == "sandbox" else ""
        base = f"{parts.scheme}://{parts.netloc}{prefix}"
        query = f"?{parts.query}" if parts.query else ""
        headers = [pair for pair in sent.headers if pair[0].lower() not in _DROPPED]
        call = Call(
            sent.method,
            base + recorded.path + query,
            recorded.path,
            base,
            headers,
            body=sent.body,
            query_string=parts.query,
            surface=cast("Any", recorded.surface),
            names=self._names,
        )
        operation = self.platform.where(sent.method, recorded.path, recorded.surface, self._names)
        schemes: tuple[str, ...] = () if operation is None else operation.auth.schemes
        if (authorization := self._authorize(recorded, call, schemes)) is not None:
            call.headers = [*headers, ("Authorization", authorization)]
        reply = self.platform.handle(call)
        if recorded.operation is None:
            recorded.operation = call.operation
            recorded.path_params = dict(call.path_params)
            recorded.query = list(call.query)
            if call.media_type.endswith("json"):
                recorded.json = read_json(call.neutral_body or call.body)
            elif "form-urlencoded" in call.media_type:
                recorded.form = list(call.form)
        return reply

    def _authorize(
        self, recorded: RecordedCall, call: Call, schemes: tuple[str, ...]
    ) -> str | None:
        """Return credentials of the kind that the recorded request had, or that it needs."""
        shown = recorded.exchange.request.header("authorization") or ""
        scheme = shown.partition(" ")[0].lower()
        if not scheme and not (schemes and recorded.is_success):
            return None
        if scheme == "basic":
            from base64 import b64encode

            pair = f"{self._app.get('consumer_key')}:{self._app.get('consumer_secret')}"
            return "Basic " + b64encode(pair.encode()).decode()
        if scheme == "bearer" or (not scheme and "oauth1" not in schemes):
            take_user = self._user.get("oauth2_access_token")
            return f"Bearer {self._bearer if not schemes or 'bearer' in schemes else take_user}"
        return self._sign(recorded, call)

    def _sign(self, recorded: RecordedCall, call: Call) -> str:
        shown = recorded.exchange.request.header("authorization") or ""
        has_token = not shown or "oauth_token=" in shown or "oauth_consumer_key=" not in shown
        client = Client(
            self._app.get("consumer_key", ""),
            self._app.get("consumer_secret"),
            self._user.get("access_token") if has_token else None,
            self._user.get("access_token_secret") if has_token else None,
            callback_uri=find_callback(shown),
        )
        # Not read from the call, which would keep its headers as they are without the signature.
        kind_sent = recorded.exchange.request.header("content-type") or ""
        is_form = kind_sent.partition(";")[0].strip().lower() == FORM
        body = call.body.decode("utf-8", "replace") if is_form else None
        kind = {"Content-Type": FORM} if is_form else {}
        try:
            _, headers, _ = client.sign(call.url, cast("Any", call.method), body, kind)
        except ValueError:  # a query or form that no client can sign
            return "OAuth"
        return str(headers["Authorization"])


def read_json(data: bytes | None) -> Any:
    """Return a body as JSON; `None` if it is not JSON."""
    try:
        return loads(data or b"", max_nesting=MAX_NESTING)
    except BadJson:
        return None


def is_same(recorded: RecordedCall, reply: Reply) -> bool:
    """Whether an answer is the recorded one: status, kind and body, but for secrets."""
    response = recorded.exchange.response
    if reply.status != response.status:
        return False
    expected, found = recorded.answer, read_json(reply.body)
    if expected is None:
        return response.body == reply.body
    if recorded.has_secrets:
        return _is_alike(expected, found)
    return found is not None and canonical(expected) == canonical(found)


def _is_alike(expected: Any, found: Any) -> bool:
    """Whether values are equal, or texts where the recorded one holds a placeholder."""
    if isinstance(expected, str) and _PLACEHOLDER in expected:
        return isinstance(found, str)
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and expected.keys() == found.keys()
            and all(_is_alike(value, found[key]) for key, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(expected) == len(found)
            and all(map(_is_alike, expected, found))
        )
    return type(expected) is type(found) and bool(expected == found)


# Recorded requests on the disk: an archive may hold more of them than fit into memory.

_BUFFER_BYTES = 1024 * 1024


class KeptCalls:
    """Recorded requests in their order, in a temporary file without a name.

    No other program can open the file, and the system removes it, however the process ends.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is where the file lies: the system's own may be in memory."""
        self._file = tempfile.TemporaryFile(  # noqa: SIM115 - `close` closes it
            dir=folder, buffering=_BUFFER_BYTES
        )
        self._ends = array("Q")

    def append(self, call: RecordedCall) -> None:
        """Add a request.

        Raises:
            OSError: The disk is full.
        """
        data = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
        end = self._find_start(len(self._ends))
        self._file.seek(end)
        self._file.write(data)
        self._ends.append(end + len(data))

    def close(self) -> None:
        """Remove the file. Idempotent."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[RecordedCall]:
        return map(self.__getitem__, range(len(self._ends)))

    def __getitem__(self, position: int) -> RecordedCall:
        start = self._find_start(position)
        self._file.seek(start)
        data = self._file.read(self._ends[position] - start)
        return cast("RecordedCall", pickle.loads(data))  # noqa: S301 - only written above

    def _find_start(self, position: int) -> int:
        return self._ends[position - 1] if position else 0


_TYPES = {
    "post_create_events": "post.create",
    "post_delete_events": "post.delete",
    "favorite_events": "like.create",
    "follow_events": "follow",
    "block_events": "block",
    "mute_events": "mute",
    "direct_message_events": "dm.received",
    "direct_message_mark_read_events": "dm.read",
    "direct_message_indicate_typing_events": "dm.indicate_typing",
}
"""The type of the events of each list; of a family, the events name their kind."""


def is_delivery(exchange: HarExchange) -> bool:
    """Whether a request is the delivery of an event to a receiver."""
    if exchange.request.method != "POST":
        return False
    body = read_json(exchange.request.body)
    if not isinstance(body, dict):
        return False
    if "replay_job_status" in body or is_account_activity(body):
        return True
    data = body.get("data")
    return isinstance(data, dict) and {"event_type", "payload"} <= data.keys()


def read_neutral_event(body: Mapping[str, Any]) -> Any:
    """Return the body of a delivery with neutral names, whichever it has."""
    product = "account_activity" if is_account_activity(body) else None
    return ORIGINAL_NAMES.read_event(body, product)


def read_event(exchange: HarExchange, webhook_id: str, number: int) -> Record | str:
    """Return the event of a delivery with neutral names, or why it has none.

    An event without an id gets one, from the `number` of the exchange.
    """
    sent: dict[str, Any] = read_json(exchange.request.body)
    if "replay_job_status" in sent:
        return "the end of a replay job is no event; replay jobs of the folder announce their own"
    body = read_neutral_event(sent)
    event: Record = {
        "id": f"{1_990_000_000_000_000_000 + number}",
        "webhook_id": webhook_id,
        "created_at": wire_millis(exchange.started or datetime(2026, 1, 1, tzinfo=UTC)),
        "_as": "recorded",
    }
    if is_account_activity(body):
        payload = {name: value for name, value in body.items() if name != "for_user_id"}
        found = _find_account_event(payload, body.get("for_user_id"))
        if found is None:
            return "its body has no list of events that is known"
        event_type, user_id = found
        event |= {"event_type": event_type, "payload": payload, "_product": "account_activity"}
        return event | ({} if user_id is None else {"_user_id": user_id})
    data = body["data"]
    wanted = data.get("filter") if isinstance(data.get("filter"), dict) else {}
    event |= {"event_type": data["event_type"], "payload": data["payload"], "_filter": wanted}
    if isinstance(data.get("event_uuid"), str):
        event["_event_uuid"] = data["event_uuid"]
    if isinstance(data.get("tag"), str):
        event["_tag"] = data["tag"]
    if isinstance(data.get("includes"), dict):
        event["_includes"] = data["includes"]
    return event


def _find_account_event(payload: Record, user_id: Any) -> tuple[str, str | None] | None:
    """Return type and user of what account activity delivered; `None` if it is not known."""
    user = user_id if isinstance(user_id, str) else None
    revoked = payload.get("user_event")
    if isinstance(revoked, dict) and isinstance(revoked.get("revoke"), dict):
        source = revoked["revoke"].get("source")
        of = source.get("user_id") if isinstance(source, dict) else None
        return "oauth.revoke", of if isinstance(of, str) else None
    for key, event_type in _TYPES.items():
        listed = payload.get(key)
        if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
            continue
        return _name_event(key, event_type, payload, user), user
    return None


def _name_event(key: str, event_type: str, payload: Record, user: str | None) -> str:
    """Return the type of the first event of a list, where the list may have several."""
    first = payload[key][0]
    if key == "post_create_events" and "user_has_blocked" in payload:
        return "post.mention.create"
    if key == "direct_message_events":
        message = first.get("message_create")
        sender = message.get("sender_id") if isinstance(message, dict) else None
        return "dm.sent" if sender == user else "dm.received"
    return event_type if "." in event_type else f"{event_type}.{first.get('type', event_type)}"
