"""A server elsewhere and its worlds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from mock_platform.client.errors import NotInProcess
from mock_platform.client.moments import wire
from mock_platform.client.remote.control import Control, connect, trusted
from mock_platform.client.remote.world import RemoteWorld
from mock_platform.world.clock import Instant
from mock_platform.world.names import DEFAULT, UnknownWorld, check_name, is_name
from mock_platform.world.worlds import check_seed


class RemotePlatform(RemoteWorld):
    """A server elsewhere; by itself the face of its default world. `MockPlatform.connect` has it.

    Stopping it closes connections; the server and its worlds go on.
    """

    def __init__(self, url: str) -> None:
        """Connect to the server at `url`.

        Raises:
            ValueError: It is no address.
            Unreachable: Nobody answers there, or the server is not trusted.
            Refused: The server refuses, or is no mock_platform.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(
                f"{url!r} is no address such as http://127.0.0.1:8080, the url of a READY line."
            )
        http = connect()
        try:
            listed = Control(f"{url.rstrip('/')}/_mock", http).ask("GET", "/worlds")["worlds"]
        except BaseException:
            http.close()
            raise
        super().__init__(next(world for world in listed if world["name"] == DEFAULT), http)

    @property
    def ca(self) -> Path | None:
        """Over https: the file of the authority that the environment names."""
        file = trusted()
        is_own = isinstance(file, str) and self.base_url.startswith("https:")
        return Path(str(file)) if is_own else None

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
    ) -> RemoteWorld:
        """Another world, made if there is none of that name: afresh, or as a copy of `source`.

        With `freeze` its clock stands still there, from the beginning and after each reset.
        """
        at = None if freeze is None else wire(freeze)
        wanted = {"from": source, "seed": check_seed(seed), "freeze": at}
        body = {key: value for key, value in wanted.items() if value is not None}
        made = self._control.ask("PUT", f"/worlds/{check_name(name)}", body)
        return RemoteWorld(made, self._http)

    def drop_world(self, name: str) -> None:
        """Remove a world with all that is in it."""
        if not is_name(name):
            raise UnknownWorld(name)
        self._control.ask("DELETE", f"/worlds/{name}")

    @property
    def worlds(self) -> list[str]:
        """The names of all worlds."""
        return [world["name"] for world in self._control.ask("GET", "/worlds")["worlds"]]

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        """Strays are not reported over an address: raises `NotInProcess`."""
        raise NotInProcess(
            "Only a sandbox in this process reports requests to worlds that are gone."
        )

    def raise_errors(self) -> None:
        """What failed was raised elsewhere: raises `NotInProcess`."""
        raise NotInProcess(
            "What fails in a server elsewhere is not raised in this process. Entries of the "
            "journal with a traceback have it: platform.journal.find(status=500)."
        )

    def stop(self) -> None:
        """Close all connections; the server goes on. Idempotent."""
        self.close_sessions()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
