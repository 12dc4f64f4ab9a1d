"""Wrong ways to sign a request, II: other parameters, other encodings, another order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote

from mock_platform.core import jsonio
from mock_platform.core.auth.oauth1 import escape, quote_text
from mock_platform.core.auth.oauth1_guesses import Case, Guess, oauth_only
from mock_platform.core.pairs import Pairs, decode_pairs

_MAX_BODY_CHARACTERS = 8_000
_PERCENT = re.compile(r"%[0-9A-F]{2}")


class _Written(NamedTuple):
    """A parameter for sorting, and as it is in the base string."""

    name: str
    value: str
    text: str
    called: str
    """The name as it was sent."""

    @property
    def place(self) -> tuple[str, str]:
        """Return the key by which parameters are sorted."""
        return self.name, self.value


def _write(name: str, value: str, called: str = "") -> _Written:
    return _Written(name, value, escape(f"{name}={value}"), called)


def _rewrite(item: _Written, name: str, value: str) -> _Written:
    """Return the parameter with this name and value; the same object if nothing changes."""
    return item if item.place == (name, value) else _write(name, value, item.called)


def _join(written: Iterable[_Written]) -> str:
    return "%26".join([item.text for item in written])


def _right(pairs: Pairs) -> list[_Written]:
    """Return the pairs, correctly encoded, in the given order."""
    return [_write(escape(name), escape(value), name) for name, value in pairs]


# -- which parameters ----------------------------------------------------------------------------


def guess_missing_places(case: Case) -> Iterator[Guess]:
    """Query, form body or both left out."""
    query, form, header = case.credentials.query, case.credentials.form, case.credentials.header
    bare_query, bare_form = oauth_only(query), oauth_only(form)
    for mistake, pairs in (
        ("query-missing", case.read(bare_query, form, header)),
        ("body-missing", case.read(query, bare_form, header)),
        ("query-and-body-missing", case.read(bare_query, bare_form, header)),
    ):
        if len(pairs) < len(case.pairs):
            yield case.guess_pairs(mistake, pairs)


def guess_missing(case: Case) -> Iterator[Guess]:
    """Each parameter left out alone, and all without a value."""
    written = sorted(_right(case.pairs))
    # The pairs are encoded and sorted once; leaving one out keeps the order, so each guess only
    # joins texts that are there. With fifty parameters that is the difference between a blink and a
    # second.
    for place, item in enumerate(written):
        rest = written[:place] + written[place + 1 :]
        yield case.guess("parameter-missing", quote_text(item.called), parameters=_join(rest))
    yield case.guess_pairs("empty-values-missing", [pair for pair in case.pairs if pair[1]])


def repetitions(case: Case) -> Iterator[Guess]:
    """Repeated parameters counted once, others counted twice."""
    once = dict.fromkeys(case.pairs)
    last = dict(case.pairs)
    first = dict(reversed(case.pairs))
    for pairs in (once, last.items(), first.items()):
        yield case.guess_pairs("repeated-counted-once", list(pairs))
    query, form = case.credentials.query, case.credentials.form
    yield case.guess_pairs("counted-twice", [*case.pairs, *query], "the query")
    yield case.guess_pairs("counted-twice", [*case.pairs, *form], "the body")
    written = sorted(_right(case.pairs))
    for place, item in enumerate(written):
        what = f"the parameter {quote_text(item.called)}"
        twice = [*written[:place], item, *written[place:]]
        yield case.guess("counted-twice", what, parameters=_join(twice))


def extras(case: Case) -> Iterator[Guess]:
    """Signed text that is not a parameter of the request."""
    realm, body = case.credentials.realm, case.request.body
    if realm is not None:
        yield case.guess_pairs("realm-signed", [*case.pairs, ("realm", realm)])
    names = {name for name, _ in case.pairs}
    for name, value in (
        ("oauth_token", ""),
        ("oauth_version", "1.0"),
        ("oauth_signature", ""),
        ("oauth_callback", ""),
        ("oauth_callback", "oob"),
        ("oauth_verifier", ""),
    ):
        if name not in names:
            pairs = [*case.pairs, (name, value)]
            yield case.guess_pairs("parameter-extra", pairs, f"{name}={value}")
    if body and len(body) <= _MAX_BODY_CHARACTERS:
        yield from _guess_signed_bodies(case, body)
    # A "+" means a space in a query or form. A client that meant a plus sign signed "%2B", so the
    # query is read again as if each "+" had been encoded.
    literal = [
        pair
        for text in (case.request.query, case.request.form or "")
        for pair in decode_pairs(text.replace("+", "%2B"))
        if pair[0] != "oauth_signature"
    ]
    yield case.guess_pairs("plus-not-encoded", case.read(literal, case.credentials.header))


def _guess_signed_bodies(case: Case, body: str) -> Iterator[Guess]:
    """Return a body that no signature covers, signed as parameters as some clients do."""
    body = body.encode("utf-8", "replace").decode()
    try:
        value = jsonio.loads(body.encode())
    except jsonio.BadJson:
        yield case.guess_pairs("form-type-missing", [*case.pairs, *decode_pairs(body)])
        return
    members = value.items() if isinstance(value, dict) else ()
    fields = [(k, v if isinstance(v, str) else jsonio.dumps(v).decode()) for k, v in members]
    for pairs in (fields, [(body, "")], [("", body)], [("body", body)]):
        yield case.guess_pairs("json-body-signed", [*case.pairs, *pairs])


# -- how they are written ------------------------------------------------------------------------

_Encoder = Callable[[str], str]


def _escape_twice(text: str) -> str:
    return escape(escape(text))


def _leave_unescaped(text: str) -> str:
    return text


def _plus_for_space(text: str) -> str:
    return quote_plus(text, safe="~")


def _as_form(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def _as_uri_component(text: str) -> str:
    return quote(text, safe="~!*'()")


def _as_uri(text: str) -> str:
    return quote(text, safe="~!*'();/?:@&=+$,#")


def _slash_kept(text: str) -> str:
    return quote(text, safe="~/")


def _tilde_encoded(text: str) -> str:
    return escape(text).replace("~", "%7E")


def _lower_hex(text: str) -> str:
    return _PERCENT.sub(lambda found: found[0].lower(), text)


def _escape_with_lower_hex(text: str) -> str:
    return _lower_hex(escape(text))


def _unescape_first(text: str) -> str:
    return escape(unquote(text))


_ENCODERS: tuple[tuple[str, _Encoder], ...] = (
    ("double-encoded", _escape_twice),
    ("not-encoded", _leave_unescaped),
    ("space-as-plus", _plus_for_space),
    ("space-as-plus", _as_form),
    ("reserved-characters", _as_uri_component),
    ("reserved-characters", _as_uri),
    ("reserved-characters", _slash_kept),
    ("reserved-characters", _tilde_encoded),
    ("lowercase-hex", _escape_with_lower_hex),
    ("decoded-twice", _unescape_first),
)


def encodings(case: Case) -> Iterator[Guess]:
    """Names and values, a single value, or the whole, encoded in another way."""
    right = _right(case.pairs)
    for mistake, encode in _ENCODERS:
        everything = [
            _rewrite(item, encode(name), encode(value))
            for item, (name, value) in zip(right, case.pairs, strict=True)
        ]
        values = [
            _rewrite(item, item.name, wrong.value)
            for item, wrong in zip(right, everything, strict=True)
        ]
        others = [
            item if item.name.startswith("oauth_") else wrong
            for item, wrong in zip(right, everything, strict=True)
        ]
        for written in (everything, values, others):
            if written != right:
                joined = _join(sorted(written, key=lambda item: item.place))
                yield case.guess(mistake, "the parameters", parameters=joined)
    yield from _one_value_twice(case)
    yield from _guess_whole(case)


def _one_value_twice(case: Case) -> Iterator[Guess]:
    """One value encoded before it was passed to a library that encodes again."""
    right = _right(case.pairs)
    for place, item in enumerate(right):
        if "%" in item.value:
            wrong = _write(item.name, escape(item.value))
            written = sorted([*right[:place], wrong, *right[place + 1 :]])
            what = f"the value of {quote_text(item.called)}"
            yield case.guess("double-encoded", what, parameters=_join(written))


def _guess_whole(case: Case) -> Iterator[Guess]:
    """Return address and joined parameters encoded twice, not at all, or with %2f for %2F."""
    plain = case.credentials.address
    for mistake, address, parameters in (
        ("double-encoded", escape(case.address), escape(case.parameters)),
        ("not-encoded", plain, case.normalized),
    ):
        yield case.guess(mistake, "the joined parameters", parameters=parameters)
        yield case.guess(mistake, "the address", address=address)
        what = "the address and the joined parameters"
        yield case.guess(mistake, what, address=address, parameters=parameters)
    for normalized in (case.normalized, _lower_hex(case.normalized)):
        parameters = _escape_with_lower_hex(normalized)
        yield case.guess("lowercase-hex", address=_lower_hex(case.address), parameters=parameters)


# -- their order ---------------------------------------------------------------------------------


def orders(case: Case) -> Iterator[Guess]:
    """Sorted by other rules, or not sorted."""
    places = [case.credentials.query, case.credentials.form, case.credentials.header]
    items = dict(zip(case.pairs, _right(case.pairs), strict=True))
    right = sorted(items[pair] for pair in case.pairs)
    sent = _order_places(case, places, items)

    def guess(mistake: str, written: Iterable[_Written], what: str = "") -> Guess:
        return case.guess(mistake, what, parameters=_join(written))

    for written in (*sent, right[::-1]):
        yield guess("values-not-sorted", sorted(written, key=lambda item: item.name))
    yield guess("sorted-before-encoding", [items[pair] for pair in sorted(case.pairs)])
    yield guess(
        "sorted-ignoring-case",
        sorted(right, key=lambda item: (item.name.lower(), item.value.lower())),
    )
    for written in (right, *sent):
        yield guess("sorted-ignoring-case", sorted(written, key=lambda item: item.name.lower()))
    yield guess("sorted-as-joined", sorted(right, key=lambda item: f"{item.name}={item.value}"))
    oauth = [item for item in right if item.name.startswith("oauth_")]
    others = [item for item in right if not item.name.startswith("oauth_")]
    for written in (oauth + others, others + oauth):
        yield guess("not-sorted", written, "with the OAuth parameters sorted apart")
    places[2] = tuple(sorted(places[2]))
    for written in (*sent, *_order_places(case, places, items)):
        yield guess("not-sorted", written, "in another order than the sorted one")


def _order_places(
    case: Case,
    places: Iterable[tuple[tuple[str, str], ...]],
    items: Mapping[tuple[str, str], _Written],
) -> list[list[_Written]]:
    """Return the parameters place by place, for every order of the places that have any."""
    return [
        [items[pair] for pair in case.read(*order)] for order in permutations(filter(None, places))
    ]
