"""The costs of a server: those of its worlds now, and of all that were reset or dropped.

The ledger of a world has what each of its requests and deliveries would have cost. It takes entries
from the journal when somebody asks, and before the journal forgets them, so that requests wait for
nothing. What it keeps of each is its part of a sum, and the ids that an app has paid for on a day.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, field

from mock_platform.api.v2.posts.creation import mentions_user
from mock_platform.api.v2.prices import POST_CREATE, POST_READ, USER_READ
from mock_platform.api.v2.release_history import canonicalize_name
from mock_platform.core.operation import Operation, Price
from mock_platform.core.world_counts import WorldCounts
from mock_platform.platform import Platform
from mock_platform.verification.costs.document import (
    By,
    CostsDocument,
    Sum,
    make_document,
    write_usd,
)
from mock_platform.verification.costs.prices import PriceList, PricesOfDay, read_prices
from mock_platform.world.attached import RETURNED, Notice
from mock_platform.world.clock import parse_instant
from mock_platform.world.journal import JournalEntry
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

OWNED = "Owned Reads"
_WITH_ADDRESS, _SUMMONED = "Post: Create (with URL)", "Post: Create (summoned)"
_ADDRESS = re.compile(r"https?://[^\s<>\"]", re.IGNORECASE)
_BARE_HOST = re.compile(
    r"(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|dev|app|ai|edu|gov|info|biz|example)\b",
    re.IGNORECASE | re.ASCII,
)
"""A host without a scheme, with one of the usual endings."""
_NO_APP = "no app"
_MAX_DAYS = 7
"""Days of which the ids are kept: clocks of worlds go back."""


class Key(NamedTuple):
    """What sums are kept apart for: an operation or event, an app, a day (UTC)."""

    operation: str
    app: str
    day: date


class _Thing(Struct):
    id: str | int | None = None


class _Included(Struct):
    users: list[_Thing] = []
    posts: list[_Thing] = []
    tweets: list[_Thing] = []


class _Answer(Struct):
    """What is charged of an answer: the ids of its resources. All else is skipped unread."""

    data: _Thing | list[_Thing] | None = None
    includes: _Included = field(default_factory=_Included)


_read_answer = msgspec.json.Decoder(_Answer).decode
_Resource = tuple[str, str]
"""The kind of a resource and its id."""


class CostLedger:
    """The costs of one world since its start or its last reset. Safe for concurrent use."""

    def __init__(
        self, world: World, operations: Mapping[str, Operation], prices: PriceList
    ) -> None:
        self._world = world
        self._operations = operations
        self._prices = prices
        self._lock = threading.Lock()
        self._sums: dict[Key, Sum] = {}
        self._paid: dict[date, set[tuple[str, str, str]]] = {}
        """App, kind and id of what was charged on each day."""
        world.journal.settle = world.deliveries.settle = self.settle

    def settle(self) -> None:
        """Count what is not counted yet."""
        with self._lock:
            for entry in self._world.journal.take_new():
                self._charge(entry)
            self._charge_deliveries()

    def read(self) -> dict[Key, Sum]:
        """Return the sums, with what was called until now."""
        self.settle()
        with self._lock:
            return dict(self._sums)

    def clear(self) -> dict[Key, Sum]:
        """Forget everything, and return the sums as they were."""
        self.settle()
        with self._lock:
            sums, self._sums = self._sums, {}
            self._paid.clear()
        return sums

    def close(self) -> dict[Key, Sum]:
        """Let go of the world, which was dropped; return the sums."""
        sums = self.clear()
        self._world.journal.settle = self._world.deliveries.settle = None
        return sums

    # -- requests --------------------------------------------------------------------------------

    def _charge(self, entry: JournalEntry) -> None:
        operation = self._operations.get(entry.operation or "")
        if operation is None:
            return
        day = entry.at.date()
        app = (entry.caller or {}).get("app") or _NO_APP
        total = self._find_sum(operation.id, app, day)
        total.calls += 1
        before, unpriced = (total.usd, total.resources), total.unpriced
        why = self._explain(operation.price, entry, app, self._prices.find(day), total)
        total.unpriced = min(total.unpriced, unpriced + 1)
        usd, resources = total.usd - before[0], total.resources - before[1]
        entry.cost = {"usd": write_usd(usd), "resources": resources, "why": why}

    def _explain(
        self, price: Price | None, entry: JournalEntry, app: str, prices: PricesOfDay, total: Sum
    ) -> str:
        """Add what an answer costs to a sum, and say why it costs that."""
        if entry.status >= 400:
            return "refused requests cost nothing"
        if price is None:
            total.unpriced += 1
            return "the public price list does not name the operation"
        if not price.of:
            return self._add(total, self._find_class(price, entry, prices), prices, 1)
        return self._explain_read(price, entry, app, prices, total)

    def _explain_read(
        self, price: Price, entry: JournalEntry, app: str, prices: PricesOfDay, total: Sum
    ) -> str:
        if not entry.response_body:
            return "an answer without a body is free; lines of a stream are charged one by one"
        try:
            answer = _read_answer(entry.response_body)
        except msgspec.DecodeError:
            return "the answer has no resources"
        of_data = [answer.data] if isinstance(answer.data, _Thing) else answer.data or []
        found = [(price.of, str(each.id)) for each in of_data if each.id is not None]
        if not found:
            return "an answer without data costs nothing"
        day = entry.at.date()
        name = OWNED if price.may_be_owned and self._is_own(entry, app) else price.name
        said = [self._add_new(total, name, prices, app, day, found)]
        if not self._prices.includes_are_free:
            posts = [*answer.includes.posts, *answer.includes.tweets]
            for more, things in ((POST_READ, posts), (USER_READ, answer.includes.users)):
                named = [(more.of, str(each.id)) for each in things if each.id is not None]
                if named:
                    said.append(self._add_new(total, more.name, prices, app, day, named))
        return "; ".join(said)

    def _add_new(
        self,
        total: Sum,
        name: str,
        prices: PricesOfDay,
        app: str,
        day: date,
        found: Iterable[_Resource],
    ) -> str:
        """Add those resources that the app has not paid for on this day."""
        if name not in prices.classes:
            return self._add(total, name, prices, 0)
        # A resource is charged once a day (of UTC) for an app, however often and by whatever
        # operation it is read. So what counts is the set of what was paid for, not the requests;
        # `paid |= new` changes the set that `_find_paid` keeps.
        paid = self._find_paid(day)
        keys = {(app, *resource) for resource in found}
        new = keys - paid
        paid |= new
        if not new:
            return f"{len(keys)} x {name}: charged on this day before"
        total.resources += len(new)
        earlier = len(keys) - len(new)
        note = f", {earlier} more charged on this day before" if earlier else ""
        return self._add(total, name, prices, len(new)) + note

    def _add(self, total: Sum, name: str, prices: PricesOfDay, number: int) -> str:
        """Add the price of a class so many times, and say so."""
        price = prices.classes.get(name)
        if price is None:
            total.unpriced += 1
            return f"the price list of this day has no price for {name}"
        total.usd += number * price
        return f"{number} x {name} at {write_usd(price)}"

    def _is_own(self, entry: JournalEntry, app: str) -> bool:
        """Whether the owner of an app reads what is under the own id."""
        caller = entry.caller or {}
        user = caller.get("user")
        if user is None or caller["scheme"] == "bearer":
            return False
        record = self._world.store.get("apps", app)
        path = urlsplit(entry.url).path
        return (
            record is not None
            and record.get("_owner_user_id") == user
            and (f"/users/{user}/" in path)
        )

    def _find_class(self, price: Price, entry: JournalEntry, prices: PricesOfDay) -> str:
        """Return the class of a request: that of its operation, or a special one for posts."""
        if price is not POST_CREATE:
            return price.name
        created = (each for each in entry.kept_changes if each.before is None)
        made = next((each.after for each in created if each.table == "posts"), None)
        if made is None:
            return price.name
        special = ""
        if self._has_address(made):
            special = _WITH_ADDRESS
        elif self._is_summoned(made):
            special = _SUMMONED
        return special if special in prices.classes else price.name

    def _has_address(self, post: Record) -> bool:
        text = post.get("full_text") or ""
        if post.get("_quoted_post_id") or _ADDRESS.search(text):
            return True
        return not self._prices.bare_hosts_are_text and _BARE_HOST.search(text) is not None

    def _is_summoned(self, post: Record) -> bool:
        store, answered = self._world.store, post.get("in_reply_to_status_id_str")
        record = None if not answered else store.get("posts", answered)
        return record is not None and mentions_user(self._world, record, post["_user_id"])

    # -- deliveries ------------------------------------------------------------------------------

    def _charge_deliveries(self) -> None:
        for entry in self._world.deliveries.take_new():
            if entry["error"] is None and entry["event_id"]:
                self._charge_delivery(entry)

    def _charge_delivery(self, entry: Mapping[str, Any]) -> None:
        store, day = self._world.store, parse_instant(entry["at"]).date()
        # A delivery names its event by id alone: those of webhooks are logged in `events`, those
        # of streams in `activities`. A stream's record says which product it is, and so the price.
        event = store.get("events", entry["event_id"]) or store.get("activities", entry["event_id"])
        if entry["kind"] == "stream":
            stream = store.get("connections", entry["stream_id"]) or {}
            app, product = stream.get("_app_id", _NO_APP), stream.get("endpoint_name", "")
            operation = self._operations.get(f"{product}.open")
            price = None if operation is None else operation.price
        else:
            app = (store.get("webhooks", entry["webhook_id"]) or {}).get("_app_id", _NO_APP)
            product = "" if event is None else event.get("_product") or "activity"
            price = POST_READ if product == "filtered_stream" else None
        prices = self._prices.find(day)
        if price is not None:
            name = f"{product}.open" if entry["kind"] == "stream" else "filtered_stream.deliver"
            total = self._find_sum(name, app, day)
            total.calls += entry["kind"] == "webhook"
            ids = _list_ids(entry["body"], price)
            self._add_new(total, price.name, prices, app, day, ids)
        elif event is not None and product in {"activity", "activity_stream"}:
            self._charge_event(event, app, day, prices)

    def _charge_event(self, event: Record, app: str, day: date, prices: PricesOfDay) -> None:
        """Add the price of an event, unless the app has paid for it on this day."""
        # The same activity may go to several webhooks and streams of an app, each time as a record
        # of its own; what they share is the uuid that receivers see.
        key = app, "event", event.get("_event_uuid") or event.get("event_uuid") or event["id"]
        paid = self._find_paid(day)
        if key in paid:
            return
        paid.add(key)
        name = canonicalize_name(event["event_type"])
        total, price = self._find_sum(f"event {name}", app, day), prices.find_event(name)
        total.calls += 1
        if price is None:
            total.unpriced += 1
        else:
            total.resources += 1
            total.usd += price

    # -- details ---------------------------------------------------------------------------------

    def _find_sum(self, operation: str, app: str, day: date) -> Sum:
        return self._sums.setdefault(Key(operation, app, day), Sum())

    def _find_paid(self, day: date) -> set[tuple[str, str, str]]:
        paid = self._paid.get(day)
        if paid is None:
            while len(self._paid) >= _MAX_DAYS:
                del self._paid[next(iter(self._paid))]
            paid = self._paid[day] = set()
        return paid


def _list_ids(body: Any, price: Price) -> Iterator[_Resource]:
    """Yield the post or the like in a line of a stream."""
    data = body.get("data") if isinstance(body, dict) else None
    if isinstance(data, dict) and "id" in data:
        yield price.of, str(data["id"])


_Sums = Mapping[Key, Sum]


class CostRecorder:
    """The costs of one server. Safe for concurrent use.

    A test has a world of its own, so what tests cost is asked for by world.
    """

    def __init__(self, platform: Platform) -> None:
        """Count the requests of all worlds from now on.

        Raises:
            BadPrices: The file of prices in the settings has faults.
        """
        self._platform = platform
        self._prices = read_prices(platform.settings.prices)
        self._earlier: WorldCounts[dict[Key, Sum]] = WorldCounts(dict, _add)
        """The costs that worlds had when they were reset or dropped."""
        self._tests: dict[str, str] = {}
        """The tests that have worlds, by the names of these, where somebody said it."""
        platform.on_world(self._watch)
        platform.worlds.dropped_listeners.append(self._close)

    def name_test(self, world: str, test: str) -> None:
        """Let what a world costs be that of a test, whose id is shown instead of the world."""
        self._tests[world] = test

    def document(self, world: World, by: By = "operation") -> CostsDocument:
        """Return the costs of a world since its start or its last reset."""
        sums = world.find_attachment(CostLedger).read()
        rows = [(self._choose_key(key, world.name, by), sum_) for key, sum_ in sums.items()]
        return self._describe(rows, world.clock.now())

    def document_of_all(self, world: str | None = None, by: By = "test") -> CostsDocument:
        """Return all costs of a world of this name, or of all worlds, whatever became of them."""
        parts = list(self._earlier.read_each(dict).items())
        parts += [
            (each.name, each.find_attachment(CostLedger).read()) for each in self._platform.worlds
        ]
        rows = [
            (self._choose_key(key, name, by), sum_)
            for name, sums in parts
            if world is None or name == world
            for key, sum_ in sums.items()
        ]
        return self._describe(rows, self._platform.worlds.default.clock.now())

    def worlds(self) -> list[str]:
        """Return the names of the worlds that had costs before they were reset or dropped."""
        return self._earlier.list_worlds()

    @cached_property
    def _operations(self) -> Mapping[str, Any]:
        return {each.id: each for each in self._platform.operations if each.dialect == "v2"}

    def _describe(self, rows: Iterable[tuple[str, Sum]], now: datetime) -> CostsDocument:
        items: dict[str, Sum] = {}
        whole = Sum()
        for key, part in rows:
            items.setdefault(key, Sum()).add(part)
            whole.add(part)
        since = self._prices.find(now.date()).since
        return make_document(whole, items, since)

    def _choose_key(self, key: Key, world: str, by: By) -> str:
        if by == "test":
            return self._tests.get(world, world)
        return str(getattr(key, by))

    def _watch(self, world: World) -> None:
        world.attach(CostLedger(world, self._operations, self._prices))
        world.on_notice(self._hear)

    def _hear(self, world: World, notice: Notice) -> None:
        if notice.topic == RETURNED:
            self._keep(world.name, world.find_attachment(CostLedger).clear())

    def _close(self, world: World) -> None:
        self._keep(world.name, world.find_attachment(CostLedger).close())

    def _keep(self, name: str, sums: _Sums) -> None:
        if sums:
            with self._earlier.lock:
                _add(self._earlier.find(name), sums)


def _add(sums: dict[Key, Sum], more: _Sums) -> None:
    for key, part in more.items():
        sums.setdefault(key, Sum()).add(part)
