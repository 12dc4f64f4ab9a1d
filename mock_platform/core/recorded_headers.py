"""The headers of the recorded wire: those that recorded answers of the service have, and gzip."""

from __future__ import annotations

import zlib
from functools import lru_cache

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.openapi import V2_VERSION
from mock_platform.core.envelope import JSON, NO_CACHE
from mock_platform.core.failures.problems import MEDIA_TYPE
from mock_platform.core.operation import Dialect, dialect_of
from mock_platform.core.pairs import Pairs
from mock_platform.core.wire import RECORDED_WIRE
from mock_platform.world.world import World

RECORDED_HEADERS = public_fact(
    "wire.headers",
    "On the recorded wire the names of headers are in small letters, and answers have those of "
    "recorded ones: caching, security, x-access-level (read for an app; for a user what the token "
    "allows), x-response-time, x-transaction-id, and under /2 api-version. A 401 has no "
    "x-access-level. Who accepts gzip gets it, except for streams.",
    "wire, section 4",
)
_SECURITY: Pairs = [
    ("strict-transport-security", "max-age=631138519"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-xss-protection", "0"),
]
_OF_V2: Pairs = [
    ("cache-control", "no-cache, no-store, max-age=0"),
    *_SECURITY,
    ("api-version", V2_VERSION),
]
_OF_OTHERS: Pairs = [NO_CACHE[0], *_SECURITY]
_ATTACHMENT = ("content-disposition", "attachment; filename=json.json")
_BODILESS = frozenset({204, 304})
_LEVEL, _FORM, _MEMORY = 1, 16 + 12, 5
"""The fastest level, since a sandbox has no slow lines; gzip with 4 KB to look back; a small table.

To clear the usual table of 256 KB takes longer than to compress most bodies.
"""


def dress_recorded(call: Call, reply: Reply, world: World, milliseconds: float) -> None:
    """Give a reply the headers of recorded answers, beside those that it has.

    Answers of the advertising interface get none: no recorded ones are known.
    """
    call.assume(RECORDED_WIRE)
    dialect = dialect_of(call.path)
    headers = [pair if pair[0].islower() else _spell(*pair, dialect) for pair in reply.headers]
    reply.headers = headers
    if dialect == "ads" or call.operation is None:
        return
    call.assume(RECORDED_HEADERS)
    there = dict(headers)
    more = _OF_V2 if dialect == "v2" else _OF_OTHERS
    headers += [pair for pair in more if pair[0] not in there]
    if "json" in there.get("content-type", ""):
        headers.append(_ATTACHMENT)
    level = None if reply.status == 401 or call.path.startswith("/oauth") else _find_access(call)
    if level is not None:
        headers.append(_share("x-access-level", level))
    # Like the ids of the world: the same for the same requests since its start.
    number = world.journal.dropped + len(world.journal)
    headers += [
        _share("x-response-time", str(round(milliseconds))),
        ("x-transaction-id", world.ids.noise(f"transaction/{number}")[:8].hex()),
    ]


@lru_cache(1000)
def _share(name: str, value: str) -> tuple[str, str]:
    """Return a pair that answers share: the journal keeps them for thousands of answers."""
    return name, value


@lru_cache(1000)
def _spell(name: str, value: str, dialect: Dialect) -> tuple[str, str]:
    """Return a header in small letters, with the media type that is recorded."""
    if name.lower() == "content-type":
        if dialect == "v2" and value == MEDIA_TYPE:
            value = JSON
        elif dialect == "oauth":
            value = value.replace("; ", ";")
    return name.lower(), value


def compress(call: Call, reply: Reply) -> None:
    """Compress the body for a client that asks for it; the journal keeps it as it was."""
    if reply.is_open_ended or reply.status in _BODILESS or reply.header("content-length"):
        return
    kind = reply.header("content-type") or ""
    if reply.body and ("json" in kind or kind.startswith("text/")):
        asked = call.header("accept-encoding")
        if asked and _takes_gzip(asked) and reply.header("content-encoding") is None:
            packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _FORM, _MEMORY)
            reply.body = packer.compress(reply.body) + packer.flush()
            reply.headers.append(("content-encoding", "gzip"))
    reply.headers.append(("content-length", str(len(reply.body))))


@lru_cache(100)
def _takes_gzip(accepted: str) -> bool:
    for each in accepted.lower().replace(" ", "").split(","):
        name, _, quality = each.partition(";q=")
        if name == "gzip":
            return not quality or quality.strip("0.") != ""
    return False


def _find_access(call: Call) -> str | None:
    """Return what the caller may do; `None` if it is unknown who calls."""
    caller = call.caller
    if caller.app is None:
        return None
    permissions, token = caller.app["_permissions"], caller.token or {}
    if caller.scheme == "oauth2":
        scopes = token.get("scopes", ())
        writes = any(scope.endswith(".write") for scope in scopes)
        messages = "dm.write" in scopes
    else:
        writes = caller.scheme != "bearer" and token.get("access", "write") == "write"
        messages = "direct_messages" in permissions
    if not writes:
        return "read"
    return "read-write-directmessages" if messages else "read-write"
