"""What rules act on: operations, and paths that no operation serves.

`on: "GET /2/shops/:id"` is a path with a method, and a rule acts on it alone. `on: "/2/shops"` is a
collection: a rule acts on the path (GET, POST) and on the records below it (GET, PUT, PATCH,
DELETE, with the parameter `:id`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from mock_platform.core.call import Call
from mock_platform.core.documents.forms import FaultReport, JsonSchema, describe_allowed
from mock_platform.core.documents.source import Path, quote
from mock_platform.core.errors import did_you_mean
from mock_platform.core.operation import Dialect, Operation, dialect_of
from mock_platform.core.routing import Router

SANDBOX = "/sandbox"


class Served(Struct, frozen=True):
    """One operation: where it is served."""

    id: str
    method: str
    path: str
    also: tuple[str, ...] = ()
    sandbox_only: bool = False
    operation: Operation | None = None
    """The declaration; `None` if the server is elsewhere, so that only its list is known."""

    @property
    def dialect(self) -> Dialect:
        """The family of its path."""
        return dialect_of(self.path)

    @property
    def paths(self) -> tuple[str, ...]:
        """Its paths as a client calls them, that of the sandbox included."""
        if self.sandbox_only:
            return (SANDBOX + self.path,)
        plain = (self.path, *self.also)
        return (*plain, *(SANDBOX + path for path in plain)) if self.dialect == "ads" else plain


class Catalog:
    """The operations of a server, by id and by address."""

    def __init__(self, served: Iterable[Served]) -> None:
        self._by_id = {each.id: each for each in served}
        self.ids = tuple(self._by_id)
        """Ids of all operations."""

    @classmethod
    def collect(cls, operations: Iterable[Operation]) -> Catalog:
        """Return the catalog of declared operations."""
        return cls(
            Served(op.id, op.method, op.path, op.also, op.sandbox_only, op) for op in operations
        )

    @classmethod
    def read(cls, listed: Sequence[dict[str, Any]]) -> Catalog:
        """Return the catalog of a server elsewhere, from its `GET /_mock/operations`."""
        return cls(
            Served(op["id"], op["method"], op["path"], (), op["sandbox_only"]) for op in listed
        )

    def __getitem__(self, id_: str) -> Served:
        return self._by_id[id_]

    def __contains__(self, id_: str) -> bool:
        return id_ in self._by_id

    def find(self, method: str, path: str) -> Served | None:
        """Return the operation that answers this method and path, as a client calls them."""
        return self._router.find(method, path).target

    @cached_property
    def _router(self) -> Router[Served]:
        return Router(
            (each.method, path, each) for each in self._by_id.values() for path in each.paths
        )


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ITEM = "id"
"""The parameter of a collection's records."""
_OF_COLLECTION = (("GET", ""), ("POST", ""))
_OF_ITEM = tuple((method, f"/:{ITEM}") for method in ("GET", "PUT", "PATCH", "DELETE"))
_SEGMENT = r"(?::[a-z_]{1,40}|[A-Za-z0-9._~!$&'()+,;=@%-]{1,200})"
PATTERN = rf"(?:(?:{'|'.join(METHODS)}) )?(?:/{_SEGMENT}){{1,20}}"
_WHOLE = re.compile(PATTERN, re.ASCII)
_EXAMPLE = '"GET /2/shops/:id" or "/2/shops"'


class CustomRoute(Struct, frozen=True):
    """A method and a path that a rule acts on."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def match(self, call: Call) -> Mapping[str, str] | None:
        """Return the path parameters of a call to this route, else `None`."""
        if call.method != self.method and (call.method, self.method) != ("HEAD", "GET"):
            return None
        wanted, got = self.path.split("/"), find_path(call).split("/")
        if len(wanted) != len(got):
            return None
        found: dict[str, str] = {}
        for name, segment in zip(wanted, got, strict=True):
            value = unquote(segment)
            if name.startswith(":"):
                if not value:
                    return None
                found[name[1:]] = value
            elif unquote(name) != value:
                return None
        return found


def find_path(call: Call) -> str:
    """Return the path of a call as routes have it."""
    return SANDBOX + call.path if call.surface == "sandbox" else call.path


def is_path(on: Any) -> bool:
    """Return whether a value of `on` is a path, not the id of an operation."""
    return isinstance(on, str) and "/" in on


def list_paths(on: Any) -> list[str]:
    """Return the paths in the value of `on`."""
    return [each for each in (on if isinstance(on, list) else [on]) if is_path(each)]


def is_collection(on: Any) -> bool:
    """Return whether `on` is a path without a method."""
    return isinstance(on, str) and on.startswith("/")


def list_routes(on: str) -> tuple[CustomRoute, ...]:
    """Return the routes of a checked path: one, or the six of a collection."""
    if not is_collection(on):
        method, _, path = on.partition(" ")
        return (CustomRoute(method, path),)
    return tuple(CustomRoute(method, on + tail) for method, tail in (*_OF_COLLECTION, *_OF_ITEM))


def find_route(
    routes: Sequence[CustomRoute], call: Call
) -> tuple[CustomRoute, Mapping[str, str]] | None:
    """Return the first route that a call is to, with its path parameters."""
    for route in routes:
        found = route.match(call)
        if found is not None:
            return route, found
    return None


class OnForm(Struct, frozen=True):
    """The id of an operation, one of a few other words, or a path that no operation serves."""

    operations: tuple[str, ...]
    words: tuple[str, ...] = ()

    def schema(self) -> JsonSchema:
        """Return the ids, the other words, or the pattern of a path."""
        named: JsonSchema = {"enum": list(self.operations)}
        if self.words:
            named = {"if": {"enum": list(self.words)}, "else": named}
        path = {"pattern": f"^{PATTERN}$"}
        return {"if": {"type": "string", "pattern": "/"}, "then": path, "else": named}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is neither a word nor a path."""
        allowed = (*self.operations, *self.words)
        if isinstance(value, str) and "/" in value:
            _check_path(value, at, report)
        elif not isinstance(value, str) or value not in allowed:
            report(at, f"{quote(value)} is not allowed.{self._describe_allowed(str(value))} For a "
                   f"path that no operation serves write {_EXAMPLE}.")  # fmt: skip

    def _describe_allowed(self, value: str) -> str:
        """Return what may be meant, and what else is near."""
        from mock_platform.api.guesses import suggest_operations  # most documents have no fault

        near = suggest_operations(value, self.operations)
        if did_you_mean(value, self.words) or not near:
            return describe_allowed((*self.operations, *self.words), value)
        allowed = f"{', '.join(near)}, … ({len(self.operations)} in all)"
        return f" Did you mean {near[0]!r}? Allowed: {allowed}."


def _check_path(value: str, at: Path, report: FaultReport) -> None:
    method, space, path = value.rpartition(" ")
    if space and method not in METHODS:
        hint = did_you_mean(method.upper(), METHODS)
        report(at, f"{quote(method)} is not a method.{hint} Allowed: {', '.join(METHODS)}.")
    elif "?" in path:
        report(at, "a path has no query; leave it out, and use `when: {query: {…}}`")
    elif not path.startswith("/"):
        report(at, f"expected a path that begins with a slash, such as {_EXAMPLE}; "
               f"got {quote(value)}")  # fmt: skip
    elif _WHOLE.fullmatch(value) is None:
        report(at, f"expected a path such as {_EXAMPLE}, with parameters in lower case and without "
               f"a slash at its end; got {quote(value)}")  # fmt: skip


def check_routes(on: Any, at: Path, catalog: Catalog, report: FaultReport) -> None:
    """Report paths that cannot be a user's: those of operations and of the control plane."""
    for index, text in enumerate(on if isinstance(on, list) else [on]):
        if is_path(text) and _WHOLE.fullmatch(text):
            fault = _find_fault(text, catalog)
            if fault:
                report((*at, index) if isinstance(on, list) else at, fault)


def _find_fault(text: str, catalog: Catalog) -> str:
    path = text.partition(" ")[2] or text
    if path == "/_mock" or path.startswith(("/_mock/", "/~", "/%7E", "/%7e")):
        return "the sandbox's own paths (/_mock, /~WORLD) cannot be replaced"
    names = re.findall(r":([a-z_]+)", path)
    if len(set(names)) < len(names):
        return "two parameters of the path have one name"
    if is_collection(text) and ITEM in names:
        return f":{ITEM} is the parameter of the collection's records; use another name"
    for route in list_routes(text):
        served = catalog.find(route.method, route.path)
        if served is not None:
            return (
                f"{route} is served: {served.id} answers {served.method} {served.path}. Write "
                f"`on: {served.id}`, with `when: {{path: {{…}}}}` for some of its requests and "
                "`stage: before_auth` for those that it would refuse"
            )
    return ""
