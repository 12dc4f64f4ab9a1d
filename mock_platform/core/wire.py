"""Which form of the wire a request meets: its names, and as documented or as recorded."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar
from urllib.parse import urlsplit

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.settings import NAMES, WIRES, NamesMode, WireMode

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
UNKNOWN_NAMES = "unknown-names"
UNKNOWN_WIRE = "unknown-wire"
_Mode = TypeVar("_Mode", bound=str)


def choose_names(call: Call, names: NamesMode | None) -> NamesMode:
    """Return the names of a call: those of its header, its world or its host, in this order."""
    asked = _find_asked(call, NAMES_HEADER, NAMES, UNKNOWN_NAMES)
    return asked or names or ("original" if is_for_platform(call.base_url) else "neutral")


def choose_wire(call: Call, wire: WireMode | None) -> WireMode:
    """Return the wire of a call: that of its header, its world or its host, in this order."""
    asked = _find_asked(call, WIRE_HEADER, WIRES, UNKNOWN_WIRE)
    return asked or wire or ("recorded" if is_for_platform(call.base_url) else "spec")


@lru_cache(maxsize=256)
def is_for_platform(base_url: str) -> bool:
    """Whether an address is one of the platform's own hosts, which the proxy answers for."""
    return urlsplit(base_url).hostname in PLATFORM_HOSTS


def _find_asked(call: Call, header: str, known: tuple[_Mode, ...], code: str) -> _Mode | None:
    """Return what a header asks for; another value is ignored with a warning."""
    asked = call.header(header)
    if asked is None:
        return None
    for mode in known:
        if asked == mode:
            return mode
    call.warn(f"{header} is one of {', '.join(known)}; {asked!r} was ignored", code)
    return None
