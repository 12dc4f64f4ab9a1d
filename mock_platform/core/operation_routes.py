"""The routes of a server: which operation answers a request, on each surface and with each name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from mock_platform.core.call import Call
from mock_platform.core.operation import Dialect, Operation
from mock_platform.core.pipeline import Compiled
from mock_platform.core.routing import Found, Router, fix_parameters
from mock_platform.settings import NamesMode


class OperationRoutes:
    """Finds the operation for a call, or for a method and a path."""

    def __init__(
        self,
        compiled: Sequence[Compiled],
        not_served: Iterable[str],
        list_original_paths: Callable[[str, Dialect], Iterable[str]],
    ) -> None:
        """The paths in `not_served` are excluded, even where one fits a parameter of another."""
        self._list_original_paths = list_original_paths
        self._compiled = compiled
        self._not_served = tuple(not_served)
        self._neutral = self._make_routers(original=False)
        self._challenging = _list_challenging(each.operation for each in compiled)
        """Where paths of operations begin that may wait for a challenge, by method."""

    def find(self, call: Call) -> Found[Compiled]:
        """Return the operation of a call with its path parameters, or the allowed methods."""
        routers = self._neutral if call.names == "neutral" else self._original
        return routers[call.surface].find(call.method, call.path)

    def find_operation(
        self, method: str, path: str, surface: str = "plain", names: NamesMode = "neutral"
    ) -> Operation | None:
        """Return the operation for this method and path; with original names, either is taken."""
        routers = self._neutral if names == "neutral" else self._original
        found = routers[surface].find(method, path)
        return None if found.target is None else found.target.operation

    def list_methods(self, path: str, surface: str = "plain") -> tuple[str, ...]:
        """Return the methods of the operations with this path; empty if no operation has it."""
        return self._neutral[surface].find("", path).allowed

    def may_block(self, method: str, path: str) -> bool:
        """Whether a request may wait for an address that it wants challenged."""
        if not path.startswith(self._challenging.get(method, ())):
            return False
        operation = self.find_operation(method, path)
        return operation is not None and operation.challenge is not None

    @cached_property
    def _original(self) -> dict[str, Router[Compiled]]:
        """The routers of calls with original names, which take either name."""
        return self._make_routers(original=True)

    def _make_routers(self, *, original: bool) -> dict[str, Router[Compiled]]:
        """Return a router for each surface."""
        # The advertising interface has two addresses: operations that create money for tests, for
        # instance, exist on the sandbox address alone. Each address has a router of its own, so
        # that a call on the wrong one gets the same answer as any unknown path.
        plain = [each for each in self._compiled if not each.operation.sandbox_only]
        sandbox = [each for each in self._compiled if each.operation.dialect == "ads"]
        return {
            "plain": self._make_router(plain, original=original),
            "sandbox": self._make_router(sandbox, original=original),
        }

    def _make_router(self, compiled: Sequence[Compiled], *, original: bool) -> Router[Compiled]:
        router: Router[Compiled] = Router()
        for each in compiled:
            operation = each.operation
            for path in (operation.path, *operation.also):
                fixed = fix_parameters(operation.path, path)
                router.add(operation.method, path, each, fixed)
        # A server that speaks original names takes the neutral ones as well. The original paths are
        # added last and lead to the same compiled operation, so there is one pipeline and two
        # spellings.
        for each in compiled if original else ():
            operation = each.operation
            for path in self._list_original_paths(operation.path, operation.dialect):
                router.add(operation.method, path, each)
        for path in self._not_served:
            router.reserve(path)
        return router


def _list_challenging(operations: Iterable[Operation]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for operation in operations:
        if operation.challenge is not None:
            paths = (operation.path, *operation.also)
            starts = tuple(path.partition(":")[0] for path in paths)
            found[operation.method] = (*found.get(operation.method, ()), *starts)
    return found
