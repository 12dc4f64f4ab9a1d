"""Answers for requests that no operation answers: the reason, and what may have been meant.

This module costs nothing before the first such request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from mock_platform.core.call import Call, Reply, Surface
from mock_platform.core.failures.errors import (
    Failure,
    MethodNotAllowed,
    RouteNotFound,
    SeeOther,
)
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import NotServed, Operation
from mock_platform.core.routing import Nearest, Router
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreDamaged, StoreForeign, StoreOutdated

SANDBOX = "/sandbox"
_NOTHING_HERE = "This sandbox does not serve this route."
_CONTROL = "_mock"
_CONTROL_PAGES: Mapping[str, str] = {
    "console": "",
    "docs": "docs/",
    "health": "health",
    "metrics": "metrics",
    "openapi.json": "openapi.json",
    "swagger": "docs/",
}
"""Paths that people try when they look for the control plane, each with the path that it has."""


class Unanswered:
    """Explains requests that no operation answers."""

    def __init__(self, operations: Sequence[Operation], not_served: Iterable[NotServed]) -> None:
        self._nearest = Nearest(operations)
        self._not_served = Router((method, e.path, e) for e in not_served for method in e.methods)
        self._routers: dict[Surface, Router[Operation]] = {
            "plain": _router(op for op in operations if not op.sandbox_only),
            "sandbox": _router(op for op in operations if op.dialect == "ads"),
        }

    def failure(self, call: Call, allowed: Sequence[str]) -> Failure:
        """Return and record why a call is refused; its path accepts only these methods."""
        if _is_home(call) and _is_browser(call):
            return SeeOther(f"{call.base_url}/{_CONTROL}/")
        # From what is known for certain to what is only near: a path that is left out on purpose, a
        # path with other methods, a mistake that has a name (a prefix, a slash, small letters), and
        # the nearest paths.
        left_out = self._not_served.find(call.method, call.path).target
        if left_out is not None:
            call.assume(left_out.assumption)
            return self._unknown(call, left_out.why, text=_NOTHING_HERE)
        if allowed:
            note = ""
            if call.surface == "plain" and self._has_operation("sandbox", call.method, call.path):
                note = "This operation exists on the sandbox address only."
            return MethodNotAllowed(_add_head(allowed), note)
        return self._unknown(call, self._explain(call))

    def nearest(self, method: str, path: str) -> Sequence[Operation]:
        """Return the operations that such a request may have meant, the nearest first."""
        return self._nearest.to(method, path)

    def _unknown(self, call: Call, why: str, text: str | None = None) -> RouteNotFound:
        sandbox = call.surface == "sandbox"
        near = [
            op
            for op in self._nearest.to(call.method, call.path)
            if not sandbox or op.dialect == "ads"
        ]
        shown = [SANDBOX + op.path if sandbox or op.sandbox_only else op.path for op in near]
        call.diagnosis = {
            "mistake": "unknown-path" if text is None else "path-not-served",
            "explanation": why or f"No operation has the path {call.path}.",
            "nearest": [
                {"operation": op.id, "method": op.method, "path": path}
                for op, path in zip(near, shown, strict=True)
            ],
        }
        listed = "; ".join(f"{op.method} {path}" for op, path in zip(near, shown, strict=True))
        hint = " ".join([*([why] if why else []), *([f"Nearest: {listed}."] if near else [])])
        hint = hint or f"What is served: GET {call.base_url}/{_CONTROL}/docs/."
        return RouteNotFound(hint) if text is None else RouteNotFound(hint, text)

    def _explain(self, call: Call) -> str:
        """Return the mistake in a path, if it is one that can be named; else an empty text."""
        if call.path == "/":
            return (
                f"No operation has this address. Console: {call.base_url}/{_CONTROL}/; what is "
                f"served: {call.base_url}/{_CONTROL}/docs/."
            )
        control = _find_control_path(call.path)
        if control is not None:
            return f"The control plane answers at {call.base_url}{control}."
        if call.surface == "sandbox" and self._has_operation("plain", call.method, call.path):
            return (
                "The sandbox address has the advertising interface only; leave /sandbox out of "
                "the path."
            )
        for path, why in _correct_spelling(call.path):
            found = self._has_operation(call.surface, call.method, path)
            if found is not None:
                return f"{why} to reach {found.method} {found.path}."
        return ""

    def _has_operation(self, surface: Surface, method: str, path: str) -> Operation | None:
        return self._routers[surface].find(method, path).target


def _is_home(call: Call) -> bool:
    return call.path == "/" and call.surface == "plain" and call.method in {"GET", "HEAD"}


def _is_browser(call: Call) -> bool:
    """Whether the client shows pages: browsers ask for HTML by name, other clients do not."""
    return "text/html" in (call.header("accept") or "").lower()


def _find_control_path(path: str) -> str | None:
    """Return the path of the control plane that a path may have meant, if any."""
    page = _CONTROL_PAGES.get(path.strip("/").lower())
    if page is not None:
        return f"/{_CONTROL}/{page}"
    head, slash, rest = path.lstrip("/")[:2000].partition("/")
    if get_close_matches(head.lower(), [_CONTROL], 1, 0.7):
        return f"/{_CONTROL}{slash}{rest}"
    return None


def _correct_spelling(path: str) -> Iterator[tuple[str, str]]:
    """Other spellings of a path, each with the way to correct it."""
    path = path[:2000]
    single = re.sub(r"/{2,}", "/", path)
    if single != path:
        yield single, "Write each slash of the path once"
    bare = single.rstrip("/")
    if bare != single:
        yield bare, "Leave out the slash at the end of the path"
    if bare.endswith(".json"):
        yield bare[:-5], "Leave out .json at the end of the path"
    if bare != bare.lower():
        yield bare.lower(), "Write the path in small letters (ids as they are)"


def _add_head(allowed: Sequence[str]) -> list[str]:
    """Return the methods that are answered: HEAD if GET is."""
    return sorted({*allowed, *(["HEAD"] if "GET" in allowed else [])})


def _router(operations: Iterable[Operation]) -> Router[Operation]:
    return Router((op.method, path, op) for op in operations for path in (op.path, *op.also))


def reply_to_closed_world(fault: Exception) -> Reply:
    """Return the answer to a request whose world cannot be opened or changed; the text says why.

    A damaged world is as damaged at the next attempt, and somebody has to do something about one of
    another version; everything else may end by itself.
    """
    damaged = isinstance(fault, StoreDamaged)
    status, title = (500, "World damaged") if damaged else (503, "World not open")
    body = {"type": "about:blank", "title": title, "status": status, "detail": str(fault)}
    headers = [("Content-Type", "application/problem+json")]
    if not isinstance(fault, StoreDamaged | StoreForeign | StoreOutdated):
        headers.append(("Retry-After", "1"))
    return Reply(status, dumps(body), headers)


def reply_to_unknown_world(fault: UnknownWorld) -> Reply:
    """Return the answer to a request whose world does not exist."""
    body = {"type": "about:blank", "title": "Unknown world", "status": 404, "detail": str(fault)}
    return Reply(404, dumps(body), [("Content-Type", "application/problem+json")])
