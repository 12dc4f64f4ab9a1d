"""Which form of the wire a request meets: its names, and as documented or as recorded."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.settings import NAMES, WIRES, NamesMode, WireMode
from mock_platform.world.clock import parse_instant

RECORDED_WIRE = public_fact(
    "wire.recorded",
    "With --wire recorded, a world with that wire, or the header X-Mock-Wire: recorded, answers "
    "are as recorded answers of the real service are where these differ from the specification. "
    "Requests for the platform's own hosts get this, and original names, unless the server or the "
    "world says otherwise.",
    "wire, sections 2 to 4",
)
NAMES_HEADER = "X-Mock-Names"
WIRE_HEADER = "X-Mock-Wire"
AS_OF_HEADER = "X-Mock-As-Of"
UNKNOWN_NAMES = "unknown-names"
UNKNOWN_WIRE = "unknown-wire"
UNKNOWN_AS_OF = "unknown-as-of"
_Mode = TypeVar("_Mode", bound=str)


def choose_form(
    call: Call, names: NamesMode | None, wire: WireMode | None
) -> tuple[NamesMode, WireMode]:
    """Return names and wire of a call: of its headers, its world or its host, in this order.

    A date of the contract in its headers replaces that of the call.
    """
    own_names, own_wire = _find_form_of_host(call.base_url)
    sent = call.first_headers
    if "x-mock-as-of" in sent:
        call.as_of = _read_date(call) or call.as_of
    if "x-mock-names" in sent:
        names = _read(call, NAMES_HEADER, NAMES, UNKNOWN_NAMES) or names
    if "x-mock-wire" in sent:
        wire = _read(call, WIRE_HEADER, WIRES, UNKNOWN_WIRE) or wire
    return names or own_names, wire or own_wire


@lru_cache(maxsize=256)
def _find_form_of_host(base_url: str) -> tuple[NamesMode, WireMode]:
    """Return names and wire of an address: the platform's own hosts, for which a proxy answers."""
    if urlsplit(base_url).hostname in PLATFORM_HOSTS:
        return "original", "recorded"
    return "neutral", "spec"


def _read_date(call: Call) -> datetime | None:
    """Return the date that a header asks for; another value is ignored with a warning."""
    asked = call.header(AS_OF_HEADER) or ""
    try:
        return parse_instant(asked)
    except ValueError:
        text = f"{AS_OF_HEADER} is a date such as 2026-03-01; {asked!r} was ignored"
        call.warn(text, UNKNOWN_AS_OF)
        return None


def _read(call: Call, header: str, known: tuple[_Mode, ...], code: str) -> _Mode | None:
    """Return what a header asks for; another value is ignored with a warning."""
    asked = call.header(header)
    for mode in known:
        if asked == mode:
            return mode
    call.warn(f"{header} is one of {', '.join(known)}; {asked!r} was ignored", code)
    return None
