"""A server elsewhere and its worlds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self

from mock_platform.client.arguments import check_names, format_moment, is_error
from mock_platform.client.remote.control import Control, connect, read_authority
from mock_platform.client.remote.world import RemoteWorld
from mock_platform.core.errors import NotInProcess
from mock_platform.settings import NamesMode
from mock_platform.world.clock import Instant
from mock_platform.world.ids import check_seed
from mock_platform.world.names import DEFAULT, UnknownWorld, check_name, is_name


class RemotePlatform(RemoteWorld):
    """A server elsewhere, and the interface of its default world; see `MockPlatform.connect`.

    `stop` closes the connections; the server and its worlds keep running.
    """

    def __init__(self, url: str, *, token: str | None = None, ca: Path | None = None) -> None:
        """Connect to the server at `url`, with its control token and its certificate authority.

        Without `token` and `ca`, those of the environment are used.

        Raises:
            ValueError: `url` is not an address.
            Unreachable: No server answers at the address, or its certificate is not trusted.
            Refused: The server refuses, or is not a mock_platform.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(
                f"{url!r} is not an address such as http://127.0.0.1:8080, the url of a READY line."
            )
        http = connect(token, ca)
        try:
            listed = Control(f"{url.rstrip('/')}/_mock", http).ask("GET", "/worlds")["worlds"]
        except BaseException:
            http.close()
            raise
        super().__init__(next(world for world in listed if world["name"] == DEFAULT), http)

    @property
    def ca(self) -> Path | None:
        """With https: the file of the certificate authority from the environment."""
        file = read_authority()
        is_own = isinstance(file, str) and self.base_url.startswith("https:")
        return Path(str(file)) if is_own else None

    def world(
        self,
        name: str,
        *,
        source: str | None = None,
        seed: int | None = None,
        freeze: Instant | None = None,
        own_credentials: bool = False,
        warnings: Literal["ignore", "error"] | None = None,
        names: NamesMode | None = None,
    ) -> RemoteWorld:
        """Returns another world; makes a missing one, from fixtures or as a copy of `source`.

        With `freeze` its clock is stopped at that moment, at the start and after each reset.
        With `own_credentials` its apps and tokens have keys that choose the world by themselves,
        without a prefix or a header. With `warnings="error"` it refuses requests of which something
        would be ignored. `names="original"` lets its clients use the platform's original names.
        """
        is_error(warnings)
        wanted = {
            "from": source,
            "seed": check_seed(seed),
            "freeze": None if freeze is None else format_moment(freeze),
            "own_credentials": own_credentials or None,
            "warnings": warnings,
            "names": check_names(names),
        }
        body = {key: value for key, value in wanted.items() if value is not None}
        made = self._control.ask("PUT", f"/worlds/{check_name(name)}", body)
        return RemoteWorld(made, self._http)

    def drop_world(self, name: str) -> None:
        """Remove a world with all its contents."""
        if not is_name(name):
            raise UnknownWorld(name)
        self._control.ask("DELETE", f"/worlds/{name}")

    @property
    def worlds(self) -> list[str]:
        """Returns the names of all worlds."""
        return [world["name"] for world in self._control.ask("GET", "/worlds")["worlds"]]

    def on_stray(self, listener: Callable[[str, str, str], None]) -> None:
        """Always raises `NotInProcess`: a server elsewhere does not report such requests."""
        raise NotInProcess("Only a sandbox in this process reports requests to removed worlds.")

    def raise_errors(self) -> None:
        """Always raises `NotInProcess`: the server raised the errors in its own process."""
        raise NotInProcess(
            "Errors in a server elsewhere are not raised in this process. The "
            "journal has their tracebacks: platform.journal.find(status=500)."
        )

    def stop(self) -> None:
        """Close all connections; the server keeps running. Idempotent."""
        self.close_sessions()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
