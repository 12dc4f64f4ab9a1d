"""Lists of the v2 interface: `max_results`, `pagination_token`, `meta`, and the forms of tokens.

`take_page` is for lists that only go forward, `take_page_both_ways` for those that clients walk
back as well. Tokens have the form that the platform has for each list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.cursors import BadCursor, make_seal
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Integer, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.schema import Schema
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Entry, Order, Position, Record, Term, Within
from mock_platform.world.world import World

TOKEN_PAGES = public_fact(
    "v2.pages",
    "Lists take max_results and pagination_token; meta has result_count, and next_token unless the "
    "page is the last one. An empty list leaves data out.",
    "Common to all of the named endpoints",
)
TOKEN = "pagination_token"
_SHORTEST_TOKEN = 16


def make_token_field(*, longest: int | None = None) -> Text:
    """Return the parameter that names the page to begin with."""
    return Text(min_length=_SHORTEST_TOKEN, max_length=longest)


class PagedQuery(Schema):
    """The page of a list to return; a list that has another `max_results` says so."""

    max_results = Integer(low=1, high=100, load_default=100)
    pagination_token = Text(min_length=1)


class TokenPageQuery(PagedQuery):
    """The same for a list whose tokens have a length that the platform checks."""

    pagination_token = make_token_field()


class PageMeta(Schema):
    """How many records a page has, and the tokens of the next and of the previous one."""

    result_count = Integer(required=True)
    next_token = Text()
    previous_token = Text()


def show_list(data: Sequence[Any], **parts: Any) -> dict[str, Any]:
    """Return the answer of a list with its other parts: without `data` if there is nothing."""
    return {"data": list(data), **parts} if data else parts


class TokenPage(Struct, frozen=True):
    """The records of one page, and the tokens of its neighbours, if there are any."""

    records: list[Record]
    next_token: str | None
    previous_token: str | None = None

    def meta(self, **more: Any) -> dict[str, Any]:
        """Return `meta`: the number of records, the tokens, and what else belongs there."""
        tokens = {"next_token": self.next_token, "previous_token": self.previous_token}
        shown = {name: token for name, token in tokens.items() if token is not None}
        return {"result_count": len(self.records), **more, **shown}


# A token is one large number in the digits of its form: a seal, how many records come before the
# page, the direction, and the place where the page begins.

TOKEN_FORMS = public_fact(
    "v2.token-forms",
    "Lists of relations and timelines have next_token and, from the second page on, "
    "previous_token. Users: 16 characters that end in ZZZ; lists and their members, mutes and "
    "affiliates: up to 19 digits; direct messages: 24 characters that end in ZZZZ; rules and "
    "events of chats: 16 in base 36; posts, searches, counts and all others: 45 in base 36, quotes "
    "12. A token is good for its operation and its parameters alone, and for another number of "
    "results. With --wire recorded pages of direct messages always have both tokens.",
    "all of v2, section 1.4",
)
_SEQ_BITS, _MILLIS_BITS, _SERVED_BITS = 40, 48, 32
_MOST_SERVED = (1 << _SERVED_BITS) - 1
_SHORT_BITS = 100
"""Tokens of up to so many bits have no room for the number of records before the page."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class TokenForm(Struct, frozen=True):
    """How the tokens of a list look: the digits of a number of so many bits, and what follows.

    Example:
        >>> USERS.write(USERS.top | 7), USERS.read(USERS.write(USERS.top | 7)) == USERS.top | 7
        ('2000000000007ZZZ', True)
    """

    base: int
    bits: int
    is_upper: bool = False
    ending: str = ""
    is_timed: bool = False
    """Whether the list is in the order of a moment; else in the order of insertion."""

    @property
    def top(self) -> int:
        """The highest bit. It is set in every token, so all of them have the same length."""
        return 1 << (self.bits - 1)

    def write(self, number: int) -> str:
        """Return a number as a token."""
        digits = []
        while number:
            number, digit = divmod(number, self.base)
            digits.append(_DIGITS[digit])
        text = "".join(reversed(digits))
        return (text.upper() if self.is_upper else text) + self.ending

    def read(self, text: str) -> int:
        """Return the number of a token.

        Raises:
            ValueError: It does not have this form.
        """
        if not text.endswith(self.ending) or not text.isascii() or not text.isalnum():
            raise ValueError(text)
        number = int(text.removesuffix(self.ending), self.base)
        if self.write(number) != text:
            raise ValueError(text)
        return number


MESSAGES = TokenForm(32, 100, is_upper=True, ending="ZZZZ", is_timed=True)
USERS = TokenForm(32, 62, is_upper=True, ending="ZZZ")
NUMBERS = TokenForm(10, 62)
POSTS = TokenForm(36, 232)
TIMED_POSTS = TokenForm(36, 232, is_timed=True)
QUOTES = TokenForm(36, 62)
RULES = TokenForm(36, 82)


class PagePlace(Struct, frozen=True):
    """Where a page begins: behind a position, or before it when `back`."""

    position: Position
    served: int = 0
    """How many records of the list come before it; of a list by relevance, the rating there."""
    back: bool = False


def _write_place(form: TokenForm, place: PagePlace, scope: bytes) -> str:
    key, seq = place.position
    number = seq | place.back << _SEQ_BITS
    used = _SEQ_BITS + 1
    if form.is_timed:
        if len(key) > 1:  # not of a record without the moment, which is at the time zero
            moment = parse_instant(key[1]) - _EPOCH
            number |= max(moment // timedelta(milliseconds=1), 0) << used
        used += _MILLIS_BITS
    if form.bits > _SHORT_BITS:
        number |= place.served << used
        used += _SERVED_BITS
    # What is left of the bits is the seal: 20 of them in the short forms, which is enough to tell
    # a mistake from a token. A token hides nothing, so nobody gains by making one up.
    seal = make_seal(scope, str(number)) & ((1 << (form.bits - 1 - used)) - 1)
    return form.write(form.top | seal << used | number)


def _read_place(form: TokenForm, text: str, scope: bytes) -> PagePlace:
    """Return the place that a token holds.

    Raises:
        BadCursor: It is no token of this list.
    """
    try:
        number = form.read(text)
        seq = number & ((1 << _SEQ_BITS) - 1)
        back = bool(number >> _SEQ_BITS & 1)
        rest, served = number >> (_SEQ_BITS + 1), 0
        key: tuple[Any, ...] = ()
        if form.is_timed:
            millis = rest & ((1 << _MILLIS_BITS) - 1)
            key = (2, wire_millis(_EPOCH + timedelta(milliseconds=millis))) if millis else (0,)
            rest >>= _MILLIS_BITS
        if form.bits > _SHORT_BITS:
            served = rest & ((1 << _SERVED_BITS) - 1)
        place = PagePlace((key, seq), served, back)
        if _write_place(form, place, scope) != text:
            raise BadCursor(text)
    except (ValueError, OverflowError) as fault:
        raise BadCursor(text) from fault
    return place


_FREE = frozenset({"max_results", "pagination_token", "next_token", "expansions"})
"""Parameters that may change between the pages of a list, as may those of fields."""


def take_page(
    call: Call,
    world: World,
    table: str,
    match: Mapping[str, Any],
    *,
    order: Order | None = None,
    keys: Sequence[str] | None = None,
    where: Callable[[Record], bool] | None = None,
    form: TokenForm | None = None,
) -> TokenPage:
    """Return the page of matching records that `max_results` and `pagination_token` ask for.

    With `keys`, only those records are in the list; with `where`, those for which it is true.
    By default the tokens are those of posts. They are good for the same `match` alone, which has
    the caller in it where each caller has a list.

    Raises:
        InvalidParameters: The token is not one of this list.
    """
    order = order or Order()
    form = form or (POSTS if order.field is None else TIMED_POSTS)
    count: int = call.params["max_results"]
    sealed = _make_scope(call, sorted(match.items()))
    place = _read_place_of(call, form, TOKEN, sealed)
    after = None if place is None else place.position
    store, limit = world.store, count + 1
    if keys is None:
        found = store.page(table, match, order=order, after=after, limit=limit, where=where)
    else:
        found = store.pick(table, keys, match, order=order, after=after, limit=limit, where=where)
    page = found[:count]
    more = len(found) > count
    token = _write_place(form, PagePlace(page[-1].position), sealed) if more else None
    return TokenPage([entry.record for entry in page], token)


def make_token(call: Call, form: TokenForm, position: Position, rating: int = 0) -> str:
    """Return the token of the page that begins behind a position."""
    return _write_place(form, PagePlace(position, min(rating, _MOST_SERVED)), _make_scope(call, ""))


def read_token(call: Call, form: TokenForm, name: str = TOKEN) -> PagePlace | None:
    """Return the place of the page that a token asks for; `None` without one.

    Raises:
        InvalidParameters: It is not a token of this list.
    """
    return _read_place_of(call, form, name, _make_scope(call, ""))


def take_page_both_ways(
    call: Call,
    world: World,
    table: str,
    match: Mapping[str, Any],
    *,
    form: TokenForm,
    order: Order | None = None,
    where: Callable[[Record], bool] | None = None,
    within: Within | None = None,
    term: Term | None = None,
    most: int | None = None,
    depth: int | None = None,
    begin: Position | None = None,
    end: Position | None = None,
    token: str = TOKEN,
    scope: str = "",
    endless: bool = False,
) -> TokenPage:
    """Return the page that `max_results` and the token ask for, newest record first.

    Pages are full: `where` decides before a page is filled. `most` is how many records the list
    shows at all, which only long tokens can count; `depth` is how many a page looks at. The list
    is what lies between the positions `begin` and `end`. `scope` is whatever it depends on beside
    path and parameters, such as the caller. Pages of an `endless` one always have both tokens.

    Raises:
        InvalidParameters: The token is not one of this list.
    """
    # `created_at` for forms with a moment: the last of the positions that have the same one is
    # found by its sequence number.
    order = order or Order("created_at" if form.is_timed else None, descending=True)
    count: int = call.params["max_results"]
    sealed = _make_scope(call, scope)
    place = _read_place_of(call, form, token, sealed)
    back = place is not None and place.back
    if most is not None and not back:
        count = min(count, most - (0 if place is None else place.served))
    if count <= 0:
        return TokenPage([], None)
    # A page that goes back is read in the other direction from the same position, and turned round.
    walk = Order(order.field, not order.descending, order.fold) if back else order
    found = world.store.page(
        table,
        match,
        order=walk,
        after=begin if place is None else place.position,
        limit=count + 1,
        where=where,
        within=within,
        term=term,
        depth=depth,
        until=begin if back else end,
    )
    page, more = found[:count], len(found) > count
    if back:
        page.reverse()
    if not page:
        return TokenPage([], None)
    served = 0 if place is None else place.served
    start = max(0, served - len(page)) if back else served
    shown = start + len(page)
    has_next = endless or ((back or more) and (most is None or shown < most))
    has_previous = endless or (more if back else place is not None)

    def write(entry: Entry, served: int, *, back: bool) -> str:
        return _write_place(form, PagePlace(entry.position, served, back), sealed)

    return TokenPage(
        [entry.record for entry in page],
        write(page[-1], shown, back=False) if has_next else None,
        write(page[0], start, back=True) if has_previous else None,
    )


def take_slice(
    call: Call, records: Sequence[Record], *, form: TokenForm, token: str = TOKEN
) -> TokenPage:
    """Return the page of a list that each request makes again, such as one by relevance.

    Its tokens hold how many records come before the page.

    Raises:
        InvalidParameters: The token is not one of this list.
    """
    sealed = _make_scope(call, "")
    place = _read_place_of(call, form, token, sealed)
    start, count = 0 if place is None else place.served, call.params["max_results"]
    end = start + count

    def write(served: int) -> str:
        return _write_place(form, PagePlace(((), 0), served), sealed)

    return TokenPage(
        list(records[start:end]),
        write(end) if end < min(len(records), 1 << _SERVED_BITS) else None,
        write(max(0, start - count)) if start else None,
    )


def _make_scope(call: Call, scope: object) -> bytes:
    asked = {
        name: value
        for name, value in call.params.items()
        if name not in _FREE and not name.endswith("_fields")
    }
    return dumps([call.operation, scope, sorted(call.path_params.items()), sorted(asked.items())])


def _read_place_of(call: Call, form: TokenForm, name: str, scope: bytes) -> PagePlace | None:
    text = call.params.get(name)
    if text is None:
        return None
    try:
        return _read_place(form, text, scope)
    except BadCursor as fault:
        said = f"The `{name}` query parameter value [{text}] is not valid"
        raise InvalidParameters([(name, Fault(said))], call.params) from fault
