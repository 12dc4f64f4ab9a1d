"""Which form of the wire a request meets: its names, and as documented or as recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from urllib.parse import urlsplit

from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.oauth1 import quote_text
from mock_platform.core.call import Call
from mock_platform.core.errors import find_nearest
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.core.wire_choice import WIRES, read_wire
from mock_platform.settings import DOCUMENTED, NAMES, NamesMode, WireChoice
from mock_platform.world.clock import parse_instant

RECORDED_WIRE = public_fact(
    "wire.recorded",
    "With --wire recorded, a world with that wire, or the header X-Mock-Wire: recorded, answers "
    "are as recorded answers of the real service are where these differ from the specification. "
    "What was seen in more than one form is chosen behind a comma: recorded,missing=200. Requests "
    "for the platform's own hosts get this, and original names, unless the server or the world "
    "says otherwise.",
    "wire, sections 2 to 4",
)
NAMES_HEADER = "X-Mock-Names"
WIRE_HEADER = "X-Mock-Wire"
AS_OF_HEADER = "X-Mock-As-Of"
UNKNOWN_NAMES = "unknown-names"
UNKNOWN_WIRE = "unknown-wire"
UNKNOWN_AS_OF = "unknown-as-of"
UNKNOWN_HEADER = "unknown-header"
OUR_HEADERS = {
    name.lower(): name
    for name in (
        NAMES_HEADER, WIRE_HEADER, AS_OF_HEADER, "X-Mock-Scenario", "X-Mock-World",
        "X-Mock-Control-Token",
    )
}  # fmt: skip
"""The headers of requests that are read, by their names in lower case."""


def find_unread_headers(names: Iterable[str]) -> Iterator[str]:
    """Return of each header that begins like ours and is not read what may be meant."""
    for name in names:
        lower = name.lower()
        if lower.startswith("x-mock-") and lower not in OUR_HEADERS:
            near = find_nearest(lower, OUR_HEADERS)
            meant = "" if near is None else f" (did you mean {OUR_HEADERS[near]}?)"
            yield f"no header {quote_text(name)} is read{meant}"


def choose_form(
    call: Call, names: NamesMode | None, wire: str | None
) -> tuple[NamesMode, WireChoice]:
    """Return names and wire of a call: of its headers, its world or its host, in this order.

    A date of the contract in its headers replaces that of the call. A header that begins like ours
    and is not read is warned of.
    """
    own_names, own_wire = _find_form_of_host(call.base_url)
    sent = call.first_headers
    if "x-mock-" in " ".join(sent):  # one look at all of them: most requests have none of ours
        for unread in find_unread_headers(sent):
            call.warn(f"{unread}; it was ignored", UNKNOWN_HEADER)
        if "x-mock-as-of" in sent:
            call.as_of = _read_date(call) or call.as_of
        if "x-mock-names" in sent:
            names = _read_names(call) or names
        if "x-mock-wire" in sent:
            wire = _read_wire(call) or wire
    return names or own_names, own_wire if wire is None else read_wire(wire)


@lru_cache(maxsize=256)
def _find_form_of_host(base_url: str) -> tuple[NamesMode, WireChoice]:
    """Return names and wire of an address: the platform's own hosts, for which a proxy answers."""
    if urlsplit(base_url).hostname in PLATFORM_HOSTS:
        return "original", WIRES["recorded"]
    return "neutral", DOCUMENTED


def _read_date(call: Call) -> datetime | None:
    """Return the date that a header asks for; another value is ignored with a warning."""
    asked = call.header(AS_OF_HEADER) or ""
    try:
        return parse_instant(asked)
    except ValueError:
        text = f"{AS_OF_HEADER} is a date such as 2026-03-01; {asked!r} was ignored"
        call.warn(text, UNKNOWN_AS_OF)
        return None


def _read_names(call: Call) -> NamesMode | None:
    """Return the names that a header asks for; another value is ignored with a warning."""
    asked = call.header(NAMES_HEADER)
    for mode in NAMES:
        if asked == mode:
            return mode
    known = ", ".join(NAMES)
    call.warn(f"{NAMES_HEADER} is one of {known}; {asked!r} was ignored", UNKNOWN_NAMES)
    return None


def _read_wire(call: Call) -> str | None:
    """Return the wire that a header asks for; another value is ignored with a warning."""
    asked = call.header(WIRE_HEADER) or ""
    try:
        return read_wire(asked).name
    except ValueError as fault:
        call.warn(f"{WIRE_HEADER} was ignored: {fault}", UNKNOWN_WIRE)
        return None
