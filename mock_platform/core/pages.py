"""Lists of the v2 interface: `max_results`, `pagination_token`, `meta`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.cursors import (
    SHORT_CHARACTERS,
    BadCursor,
    make_cursor,
    make_short_cursor,
    read_cursor,
    read_short_cursor,
)
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Text
from mock_platform.store.interface import Order, Position, Record
from mock_platform.world.world import World

PAGES = public_fact(
    "v2.pages",
    "Lists take max_results and pagination_token; meta has result_count, and next_token unless the "
    "page is the last one. An empty list leaves data out.",
    "Common to all of the named endpoints",
)
TOKEN = "pagination_token"
_SHORTEST_TOKEN = 16


def make_token_field(*, short: bool = False) -> Text:
    """Return the parameter that names the page to begin with; `short` as for `take_page`."""
    return Text(min_length=_SHORTEST_TOKEN, max_length=SHORT_CHARACTERS if short else None)


class TokenPage(Struct, frozen=True):
    """The records of one page, and the token of the next one, if there is one."""

    records: list[Record]
    next_token: str | None

    def meta(self, **more: Any) -> dict[str, Any]:
        """Return `meta`: the number of records, the next token, and what else belongs there."""
        token = {} if self.next_token is None else {"next_token": self.next_token}
        return {"result_count": len(self.records), **more, **token}


def take_page(
    call: Call,
    world: World,
    table: str,
    match: Mapping[str, Any],
    *,
    order: Order | None = None,
    keys: Sequence[str] | None = None,
    where: Callable[[Record], bool] | None = None,
    short: bool = False,
) -> TokenPage:
    """Return the page of matching records that `max_results` and `pagination_token` ask for.

    With `keys`, only those records are in the list; with `where`, those for which it is true.
    `short` tokens have 16 characters, which is enough for lists in insertion order.

    Raises:
        InvalidParameters: The token is not one of this list.
    """
    order = order or Order()
    count: int = call.params["max_results"]
    text = call.params.get(TOKEN)
    try:
        after = None if text is None else _read_token(call, order, text, short=short)
    except BadCursor as fault:
        hint = "It must be a next_token of this list"
        wrong = Fault("pagination_token is not valid", details="invalid token", hint=hint)
        raise InvalidParameters([(TOKEN, wrong)], call.params) from fault
    store, limit = world.store, count + 1
    if keys is None:
        found = store.page(table, match, order=order, after=after, limit=limit, where=where)
    else:
        found = store.pick(table, keys, match, order=order, after=after, limit=limit, where=where)
    page = found[:count]
    token = None
    if len(found) > count:
        last = page[-1]
        token = make_short_cursor(call, last) if short else make_cursor(call, order, last)
    return TokenPage([entry.record for entry in page], token)


def _read_token(call: Call, order: Order, text: str, *, short: bool) -> Position:
    return read_short_cursor(call, text) if short else read_cursor(call, order, text)
