"""What the sandbox has for a request: the table of operations is asked, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from mock_platform.api.served import NOT_SERVED, ORIGINAL_NAMES
from mock_platform.core.address import is_control, split_surface, split_world
from mock_platform.core.operation import Operation
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.core.routing import Nearest, Router
from mock_platform.platform import Platform

Status = Literal["served", "assumed", "renamed", "missing", "unknown"]
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//([^/?#]*)([^?#]*)", re.IGNORECASE)
_HOST = re.compile(r"((?:[a-z-]+\.)?(?:x|twitter)\.com)([/?#][^?#]*|)", re.IGNORECASE)
_BELOW_NAME = re.compile(r"\{[^{}]*\}(/[^?#]*)")
_HOLE = re.compile(r"\{[^{}]*\}")
_NAMED_PART = re.compile(r"/:(\w+)")
_VERSIONED = re.compile(r"/(?:2|1\.1|1[0-9]|oauth2?|i/oauth2?)/")
_VERSION = re.compile(r"/(?:2|1\.1|1[0-9])/")
_MANY_PARTS = re.compile(
    r"\{(?:…|\w*?(?:endpoint|path|ur[il]|route|resource|action|suffix)\w*?(?<!id))\}", re.IGNORECASE
)
_GLUED = re.compile(r"[^/{}]\{((?!\w*(?:query|param|qs|search|fields))[^{}]*)\}", re.IGNORECASE)
"""What is added to a word of the path, but for a query."""
_SITE = ("x.com", "twitter.com", "www.x.com", "www.twitter.com", "mobile.twitter.com")
_ON_SITE = re.compile(r"/(?:i/)?oauth2?/|/i/api/")
_LOCAL = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::.*)?", re.IGNORECASE)
_STAND_IN = "0"
_NO_ADDRESS, _NO_HOST = "its address is not written down", "the host is not written down"


class CallVerdict(Struct, frozen=True):
    """What the sandbox has for one request."""

    status: Status
    path: str
    note: str
    operation: str = ""
    has_host: bool = True
    """Whether the address names the platform; without it, the path alone was looked at."""


class Judge:
    """Says of requests whether and how the sandbox answers them.

    Example:
        >>> from mock_platform.platform import Platform
        >>> from mock_platform.settings import Settings
        >>> judge = Judge(Platform(Settings(default_fixtures=False)))
        >>> verdict = judge.judge("GET", "https://api.x.com/2/tweets/{id}")
        >>> verdict.status, verdict.operation
        ('renamed', 'public_posts.get')
        >>> judge.judge("GET", "https://example.com/2/tweets/1") is None
        True
    """

    def __init__(self, platform: Platform) -> None:
        self._where = platform.where
        self._nearest = Nearest(platform.operations)
        self._reserved = Router(
            (method, entry.path, entry) for entry in NOT_SERVED for method in entry.methods
        )
        self._spellings = [
            (operation, spelling.strip("/").split("/"))
            for operation in platform.operations
            for spelling in _list_spellings(operation)
        ]

    def judge(self, method: str, url: str) -> CallVerdict | None:
        """Return the verdict on a request, `None` if it is not for the platform.

        `{name}` in the address is in the place of what is not known; `method` may be empty.
        """
        host, path = _split(url)
        path = _NAMED_PART.sub(r"/{\1}", path)
        if host is None:
            # A path without any host may be that of the project's own server.
            is_own = url.startswith("/") and "{" not in url
            return None if is_own else CallVerdict("unknown", path, _NO_ADDRESS, has_host=False)
        _, path = split_world(path)
        surface, _, path = split_surface(path, host)
        if not host:
            return self._judge_without_host(method, path, surface)
        if not host.endswith((".x.com", ".twitter.com")) and host not in _SITE:
            is_own = _LOCAL.fullmatch(host) is not None and not is_control(path)
            found = self._judge_path(method, path, surface) if is_own else None
            return found if found is not None and found.operation else None
        if host in _SITE and not _ON_SITE.match(path):
            return CallVerdict("missing", path, "a page of the site, not of its interface")
        if host not in PLATFORM_HOSTS and host not in _SITE and not _find_hole(path):
            return CallVerdict("missing", path, f"nothing is served under the host {host}")
        return self._judge_path(method, path, surface)

    def _judge_without_host(self, method: str, path: str, surface: str) -> CallVerdict:
        found = self._judge_path(method, path, surface)
        if not found.operation or not _VERSION.match(path):
            return CallVerdict("unknown", path, _NO_HOST, has_host=False)
        notes = "; ".join(filter(None, [found.note, _NO_HOST]))
        return CallVerdict(found.status, path, notes, found.operation, has_host=False)

    def _judge_path(self, method: str, path: str, surface: str) -> CallVerdict:
        if not method:
            served = [each for each in _METHODS if self._find(each, path, surface) is not None]
            known = f"; here the path answers {', '.join(served)}" if served else ""
            return CallVerdict("unknown", path, f"its method is not written down{known}")
        operation = self._find(method, path, surface)
        if hole := _find_hole(path):
            return CallVerdict("unknown", path, f"{hole} may be any part of the path")
        if operation is not None:
            return self._describe(operation, path)
        if _HOLE.search(path) and self._may_fit(method, path):
            name = _HOLE.findall(path)[-1]
            return CallVerdict("unknown", path, f"which operation it is depends on {name}")
        entry = self._reserved.find(method, _HOLE.sub(_STAND_IN, path)).target
        others = [each for each in _METHODS if self._find(each, path, surface) is not None]
        if entry is not None:
            note = entry.why
        elif others:
            note = f"the path answers {', '.join(others)} only"
        else:
            near = self._nearest.to(method, _HOLE.sub(_STAND_IN, path))
            shown = ", ".join(f"{each.method} {each.path}" for each in near)
            note = f"not served; nearest: {shown}" if near else "not served"
        return CallVerdict("missing", path, note)

    def _find(self, method: str, path: str, surface: str) -> Operation | None:
        segments = path.split("/")
        # A query that is added as a whole: `/2/tweets/search/recent{query}`.
        if _HOLE.search(segments[-1]) and not _HOLE.fullmatch(segments[-1]):
            segments[-1] = _HOLE.sub("", segments[-1])
        plain = "/".join(_STAND_IN if _HOLE.search(each) else each for each in segments)
        return self._where(method, plain, surface, "original")

    def _may_fit(self, method: str, path: str) -> bool:
        """Whether some value of what is not known would make it the path of an operation."""
        given = path.strip("/").split("/")
        return any(
            operation.method == method
            and len(known) == len(given)
            and all(
                name[:1] == ":" or re.fullmatch(_pattern(part), name)
                for part, name in zip(given, known, strict=True)
            )
            for operation, known in self._spellings
        )

    def _describe(self, operation: Operation, path: str) -> CallVerdict:
        gaps = [each.id for each in operation.all_assumptions if each.gap]
        assumed = f"on the assumption {', '.join(gaps)}" if gaps else ""
        own = set(operation.path.split("/"))
        words = {each.removesuffix(".json") for each in path.split("/") if not _HOLE.search(each)}
        fixed = {each for _, spelling in self._spellings_of(operation) for each in spelling}
        if (words - own) & {each.removesuffix(".json") for each in fixed}:
            own_name = f"{operation.method} {operation.path}"
            note = f"here it is {own_name}; with original names both are taken"
            return CallVerdict(
                "renamed", path, "; ".join(filter(None, [note, assumed])), operation.id
            )
        return CallVerdict("assumed" if gaps else "served", path, assumed, operation.id)

    def _spellings_of(self, operation: Operation) -> Iterable[tuple[Operation, list[str]]]:
        return [each for each in self._spellings if each[0] is operation]


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def _find_hole(path: str) -> str:
    """Return what may stand for several parts of a path, or for words of it."""
    holes = _HOLE.findall(path) + [f"{{{name}}}" for name in _GLUED.findall(path)]
    glued = {f"{{{name}}}" for name in _GLUED.findall(path)}
    return next((hole for hole in holes if hole in glued or _MANY_PARTS.fullmatch(hole)), "")


def _list_spellings(operation: Operation) -> list[str]:
    more = ORIGINAL_NAMES.list_paths(operation.path, operation.dialect)
    return [operation.path, *operation.also, *more]


def _pattern(part: str) -> str:
    return ".*".join(map(re.escape, _HOLE.split(part)))


def _split(url: str) -> tuple[str | None, str]:
    """Return host and path of an address: no host if only its path is known, `None` if nothing."""
    if found := _ADDRESS.match(url):
        host, path = found[1].lower(), found[2]
        return ("", path or "/") if "{" in host else (host, path or "/")
    if found := _HOST.fullmatch(url.partition("?")[0].partition("#")[0]):
        return found[1].lower(), found[2] or "/"
    path = url.partition("?")[0].partition("#")[0]
    if below := _BELOW_NAME.fullmatch(path):
        path = below[1]
    if path.startswith("/") and _VERSIONED.match(path):
        return "", path
    return None, path
