"""What scenarios need to know of the operations: ids, addresses and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

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

    def find(self, method: str, path: str) -> Served | None:
        """Return the operation that answers this method and path, as a client calls them."""
        return self._router.find(method, path).target

    @cached_property
    def _router(self) -> Router[Served]:
        return Router(
            (each.method, path, each) for each in self._by_id.values() for path in each.paths
        )
