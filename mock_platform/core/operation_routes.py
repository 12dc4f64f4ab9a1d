"""The routes of a server: which operation answers a request, on each surface and with each name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from mock_platform.core.address import AGENT_PATHS
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.operation import Dialect, Operation
from mock_platform.core.pipeline import Compiled
from mock_platform.core.routing import Found, Router, fix_parameters
from mock_platform.core.unread import TRAILING_SLASH
from mock_platform.settings import NamesMode

TRAILING_SLASH_TAKEN = expectation(
    "paths.trailing-slash",
    "A slash at the end of a path is ignored with a warning in the journal.",
)


class _Route(NamedTuple):
    """Where an operation is found; `number` is its place among all operations."""

    number: int
    method: str
    path: str
    also: tuple[str, ...]
    dialect: Dialect


class OperationRoutes:
    """Finds the operation for a call, or for a method and a path."""

    def __init__(
        self,
        operations: Sequence[Operation],
        compile_one: Callable[[Operation], Compiled],
        not_served: Iterable[str],
        list_original_paths: Callable[[str, Dialect], Iterable[str]],
    ) -> None:
        """The paths in `not_served` are excluded, even where one fits a parameter of another.

        An operation is compiled for its first call: most programs and tests call a few of hundreds.
        """
        self._list_original_paths = list_original_paths
        self._operations = operations
        self._compile_one = compile_one
        self._compiled: dict[int, Compiled] = {}
        self._not_served = tuple(not_served)
        self._challenging = _list_challenging(operations)
        """Where paths of operations begin that may wait for a challenge, by method."""

    def find(self, call: Call) -> Found[Compiled]:
        """Return the operation of a call with its path parameters, or the allowed methods."""
        routers = self._neutral if call.names == "neutral" else self._original
        router = routers[call.surface]
        found = router.find(call.method, call.path)
        if found.target is None and call.path.endswith("/"):
            found = _find_without_slash(router, call.method, call.path)
            if found.target is not None:
                call.assume(TRAILING_SLASH_TAKEN)
                call.warn("the slash at the end of the path was ignored", TRAILING_SLASH)
        number = found.target
        if number is None:
            return Found(None, {}, found.allowed)
        compiled = self._compiled.get(number)
        if compiled is None:
            compiled = self._compiled[number] = self._compile_one(self._operations[number])
        if call.tool is not None and call.tool.compiled is not None:
            compiled = call.tool.compiled
        return Found(compiled, found.params)

    def find_operation(
        self, method: str, path: str, surface: str = "plain", names: NamesMode = "neutral"
    ) -> Operation | None:
        """Return the operation for this method and path; with original names, either is taken."""
        routers = self._neutral if names == "neutral" else self._original
        found = routers[surface].find(method, path)
        if found.target is None and path.endswith("/"):
            found = _find_without_slash(routers[surface], method, path)
        return None if found.target is None else self._operations[found.target]

    def list_methods(self, path: str, surface: str = "plain") -> tuple[str, ...]:
        """Return the methods of the operations with this path; empty if no operation has it."""
        return self._neutral[surface].find("", path).allowed

    def may_block(self, method: str, path: str) -> bool:
        """Whether a request may wait for an address that it wants challenged, or is of an agent.

        The first call of a tool waits for the description of all.
        """
        if not path.startswith(self._challenging.get(method, ())):
            return False
        operation = self.find_operation(method, path)
        return path in AGENT_PATHS or (operation is not None and operation.challenge is not None)

    @cached_property
    def _neutral(self) -> dict[str, Router[int]]:
        """The routers of calls with neutral names."""
        return self._make_routers(None)

    @cached_property
    def _original(self) -> dict[str, Router[int]]:
        """The routers of calls with original names, which take either name."""
        return self._make_routers(self._list_original_paths)

    def _make_routers(
        self, list_more: Callable[[str, Dialect], Iterable[str]] | None
    ) -> dict[str, Router[int]]:
        """Return a router for each surface."""
        # The advertising interface has two addresses: operations that create money for tests, for
        # instance, exist on the sandbox address alone. Each address has a router of its own, so
        # that a call on the wrong one gets the same answer as any unknown path.
        routes = [
            (
                operation.sandbox_only,
                _Route(number, operation.method, operation.path, operation.also, operation.dialect),
            )
            for number, operation in enumerate(self._operations)
        ]
        plain = tuple(route for sandbox_only, route in routes if not sandbox_only)
        sandbox = tuple(route for _, route in routes if route.dialect == "ads")
        return {
            "plain": _make_router(plain, self._not_served, list_more),
            "sandbox": _make_router(sandbox, self._not_served, list_more),
        }


@lru_cache(16)
def _make_router(
    routes: tuple[_Route, ...],
    not_served: tuple[str, ...],
    list_more: Callable[[str, Dialect], Iterable[str]] | None,
) -> Router[int]:
    """Return the router for these routes, made once for all servers of a process."""
    router: Router[int] = Router()
    for number, method, path, also, _ in routes:
        for each in (path, *also):
            router.add(method, each, number, fix_parameters(path, each))
    # A server that speaks original names takes the neutral ones as well. The original paths are
    # added last and lead to the same operation, so there is one pipeline and two spellings.
    if list_more is not None:
        for number, method, path, _, dialect in routes:
            for each in list_more(path, dialect):
                router.add(method, each, number)
    for path in not_served:
        router.reserve(path)
    return router


def _find_without_slash(router: Router[int], method: str, path: str) -> Found[int]:
    """Return the match of a path without the slash at its end; of two slashes one is left."""
    return router.find(method, path[:-1])


def _list_challenging(operations: Iterable[Operation]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {"POST": AGENT_PATHS}
    for operation in operations:
        if operation.challenge is not None:
            paths = (operation.path, *operation.also)
            starts = tuple(path.partition(":")[0] for path in paths)
            found[operation.method] = (*found.get(operation.method, ()), *starts)
    return found
