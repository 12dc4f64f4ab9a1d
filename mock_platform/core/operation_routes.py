"""The routes of a server: which operation answers a request, on each surface and with each name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache

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


STREAM_CONNECTION = "streaming-connection"
"""The failure of operations that open a stream."""


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
        self._streams = frozenset(
            (each.method, path)
            for each in operations
            if STREAM_CONNECTION in each.errors
            for path in (each.path, *each.also)
        )

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

    def opens_stream(self, method: str, path: str) -> bool:
        """Whether a request asks for a stream, of which an app may have only so many."""
        return (method, path) in self._streams

    @cached_property
    def _neutral(self) -> dict[str, Router[int]]:
        """The routers of calls with neutral names."""
        return _make_routers(self._operations, self._not_served, None)

    @cached_property
    def _original(self) -> dict[str, Router[int]]:
        """The routers of calls with original names, which take either name."""
        return _make_routers(self._operations, self._not_served, self._list_original_paths)


@lru_cache(16)
def _make_routers(
    operations: Sequence[Operation],
    not_served: tuple[str, ...],
    list_more: Callable[[str, Dialect], Iterable[str]] | None,
) -> dict[str, Router[int]]:
    """Return a router for each surface, made once for all servers of a process.

    It finds the number of an operation, which is its place among all.
    """
    # The advertising interface has two addresses: operations that create money for tests, for
    # instance, exist on the sandbox address alone. Each address has a router of its own, so that a
    # call on the wrong one gets the same answer as any unknown path.
    numbered = list(enumerate(operations))
    plain = [(number, each) for number, each in numbered if not each.sandbox_only]
    sandbox = [(number, each) for number, each in numbered if each.dialect == "ads"]
    return {
        "plain": _make_router(plain, not_served, list_more),
        "sandbox": _make_router(sandbox, not_served, list_more),
    }


def _make_router(
    numbered: Sequence[tuple[int, Operation]],
    not_served: Iterable[str],
    list_more: Callable[[str, Dialect], Iterable[str]] | None,
) -> Router[int]:
    router: Router[int] = Router()
    for number, operation in numbered:
        for path in (operation.path, *operation.also):
            router.add(operation.method, path, number, fix_parameters(operation.path, path))
    # A server that speaks original names takes the neutral ones as well. The original paths are
    # added last and lead to the same operation, so there is one pipeline and two spellings.
    if list_more is not None:
        for number, operation in numbered:
            for path in list_more(operation.path, operation.dialect):
                router.add(operation.method, path, number)
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
