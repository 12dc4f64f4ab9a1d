"""The headers of the recorded wire: those that recorded answers of the service have, and gzip."""

from __future__ import annotations

import zlib
from functools import lru_cache

from msgspec import Struct

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.openapi import V2_VERSION
from mock_platform.core.envelope import JSON, NO_CACHE
from mock_platform.core.failures.problems import MEDIA_TYPE
from mock_platform.core.operation import Dialect, dialect_of
from mock_platform.core.pairs import Headers, Pairs, SharedHeaders
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
_GZIP = ("content-encoding", "gzip")
_ATTACHMENT = ("content-disposition", "attachment; filename=json.json")
_BODILESS = frozenset({204, 304})
_MAX_TIMES = 100
_TIMES: Pairs = [("x-response-time", str(took)) for took in range(_MAX_TIMES)]
"""Nearly all answers take one of these numbers of milliseconds, so they share their header."""
_LEVEL, _FORM, _MEMORY = 1, 16 + 12, 5
"""The fastest level, since a sandbox has no slow lines; gzip with 4 KB to look back; a small table.

To clear the usual table of 256 KB takes longer than to compress most bodies.
"""


def dress_recorded(call: Call, reply: Reply, world: World, turn: int, milliseconds: float) -> bool:
    """Give a reply the headers of recorded answers, beside those that it and its call have.

    `turn` is the number of the request. Answers of the advertising interface get nothing but the
    form of their names, and what their bodies need: no recorded ones are known.

    Returns:
        Whether the body is to be compressed, once the journal has it as it is.
    """
    dialect: Dialect = "v2" if call.path[:3] == "/2/" else dialect_of(call.path)
    is_known = dialect != "ads" and call.operation is not None
    call.assumptions[RECORDED_WIRE.id] = RECORDED_WIRE
    level = None
    if is_known:
        call.assumptions[RECORDED_HEADERS.id] = RECORDED_HEADERS
        level = _find_access(call, reply)
    dressed = _dress(tuple(reply.headers), dialect, level, call.chosen.problems)
    packs = _frame(call, reply, dressed)
    headers = reply.headers
    if call.extra_headers:
        headers += [
            pair if pair[0].islower() else (pair[0].lower(), pair[1]) for pair in call.extra_headers
        ]
    if is_known:
        took = int(milliseconds)
        number = turn - world.history.start_turn  # the same for the same requests after a reset
        headers += (
            _TIMES[took] if took < _MAX_TIMES else ("x-response-time", str(took)),
            ("x-transaction-id", world.ids.stamp(number)),
        )
    return packs


class _Dressed(Struct, frozen=True):
    """What answers share: their constant headers, and what these say of their bodies."""

    own: Pairs
    """Headers of the answer itself."""
    shared: SharedHeaders
    has_length: bool
    is_text: bool
    """Whether gzip makes the body smaller."""


@lru_cache(1000)
def _dress(
    own: tuple[tuple[str, str], ...], dialect: Dialect, level: str | None, problems: str
) -> _Dressed:
    """Return the constant part of an answer with these headers: the journal keeps it once.

    `level` is the access level of the caller, empty without one; `None`: no answer of an operation
    that was recorded.
    """
    named = [(name.lower(), value) for name, value in own]
    headers = [(name, _spell(name, value, dialect, problems)) for name, value in named]
    shared = [pair for pair in headers if pair[0] == "content-type"]
    others = [pair for pair in headers if pair[0] != "content-type"]
    there = dict(headers)
    kind = there.get("content-type", "")
    if level is not None:
        more = _OF_V2 if dialect == "v2" else _OF_OTHERS
        shared += [pair for pair in more if pair[0] not in there]
        if "json" in kind:
            shared.append(_ATTACHMENT)
        if level:
            shared.append(("x-access-level", level))
    is_text = "json" in kind or kind.startswith("text/")
    is_plain = "content-encoding" not in there
    length = "content-length" in there
    return _Dressed(others, SharedHeaders(shared), length, is_text and is_plain)


def _spell(name: str, value: str, dialect: Dialect, problems: str) -> str:
    """Return the value of a header; of a media type the form that is recorded."""
    if name == "content-type" and dialect == "v2" and value == MEDIA_TYPE and problems == "json":
        return JSON
    return value.replace("; ", ";") if name == "content-type" and dialect == "oauth" else value


def _frame(call: Call, reply: Reply, dressed: _Dressed) -> bool:
    """Give a reply its constant headers, and what its body needs: its length, gzip if wanted.

    Returns:
        Whether the body is to be compressed.
    """
    reply.headers = headers = Headers(dressed.shared.pairs)
    headers.shared = dressed.shared
    if dressed.own:
        headers += dressed.own
    if dressed.has_length or reply.is_open_ended or reply.status in _BODILESS:
        return False
    headers.append(("content-length", str(len(reply.body))))
    if not dressed.is_text or not reply.body:
        return False
    asked = call.first_headers.get("accept-encoding")
    if asked is None or not _takes_gzip(asked):
        return False
    headers.append(_GZIP)
    return True


def frame_recorded(call: Call, reply: Reply) -> bool:
    """Give an answer that became another one for an agent what its body needs.

    Returns:
        Whether the body is to be compressed.
    """
    dressed = _dress(tuple(reply.headers), "v2", None, call.chosen.problems)
    return _frame(call, reply, dressed)


def compress(reply: Reply) -> None:
    """Compress the body of a reply that is to have its length and gzip among its headers."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _FORM, _MEMORY)
    reply.body = packer.compress(reply.body) + packer.flush()
    place = reply.headers.index(_GZIP) - 1
    reply.headers[place] = "content-length", str(len(reply.body))


@lru_cache(100)
def _takes_gzip(accepted: str) -> bool:
    for each in accepted.lower().replace(" ", "").split(","):
        name, _, quality = each.partition(";q=")
        if name == "gzip":
            return not quality or quality.strip("0.") != ""
    return False


def _find_access(call: Call, reply: Reply) -> str:
    """Return what the caller may do; nothing where answers do not say it."""
    caller = call.caller
    if caller.app is None or reply.status == 401 or call.path[:6] == "/oauth":
        return ""
    if caller.scheme == "bearer":
        return "read"
    permissions, token = caller.app["_permissions"], caller.token or {}
    if caller.scheme == "oauth2":
        scopes = token.get("scopes", ())
        writes = any(scope.endswith(".write") for scope in scopes)
        messages = "dm.write" in scopes
    else:
        writes = token.get("access", "write") == "write"
        messages = "direct_messages" in permissions
    if not writes:
        return "read"
    return "read-write-directmessages" if messages else "read-write"
