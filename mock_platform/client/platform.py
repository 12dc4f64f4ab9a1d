"""The way in from Python: a sandbox in this process, or one that runs elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mock_platform.client.interface import PlatformFace

if TYPE_CHECKING:
    from pathlib import Path

    from mock_platform.client.local_platform import LocalPlatform
    from mock_platform.client.remote.world import RemotePlatform
    from mock_platform.settings import Settings


class MockPlatform(PlatformFace):
    """A running sandbox, and the interface of its default world. Stop it, or use a `with`.

    Example:
        >>> from mock_platform import MockPlatform
        >>> with MockPlatform.start(freeze="2026-11-20T10:00:00Z") as platform:
        ...     answer = platform.session(auth="bearer").get("/12/accounts")
        ...     print(answer.status_code, answer.json()["data"][0]["name"])
        ...     print(platform.clock.now().isoformat())
        200 Harbor Roasters
        2026-11-20T10:00:00+00:00
    """

    # Both methods load what they need. Whoever imports this class to connect, or only for a type,
    # does not load all operations, which takes longer than Flask and requests together.

    @staticmethod
    def start(
        settings: Settings | None = None, *, port: int = 0, tls: bool = False, **overrides: Any
    ) -> MockPlatform:
        """Start a server in a thread; it listens before this method returns.

        `overrides` are fields of `Settings`, or of its `delivery` as `delivery_timeout=1`. Folders
        may be text, `freeze` and `as_of` may be ISO 8601. `port` 0 chooses a free port, whatever
        `settings` says.

        Raises:
            TypeError: A setting of this name does not exist, or its value has another type.
            ValueError: A setting has a value that it cannot have.
            BadFixtures: The fixtures have faults.
            StoreError: The store's files are in use, damaged or not from mock_platform.
            CannotBind: The server cannot listen on the address.
        """
        from mock_platform.serving.process import load_operations

        with load_operations(keep=False):
            from mock_platform.client.local_platform import LocalPlatform

        MockPlatform.register(LocalPlatform)
        opened = LocalPlatform.open(settings, port=port, tls=tls, **overrides)
        return cast("MockPlatform", opened)

    @staticmethod
    def open_case(path: Path | str, *, port: int = 0) -> LocalPlatform:
        """Start a server with the world that `save_case` wrote, and return its interface.

        All of its requests are repeated first, from its start; `differences` says where answers
        differ from the recorded ones. `reset` returns to the start.

        Raises:
            BadCase: It is no case, is damaged or hostile, or is of a later version.
            OSError: The file cannot be read.
            CannotBind: The server cannot listen on the port.

        Example:
            >>> import tempfile
            >>> from pathlib import Path
            >>> from mock_platform import MockPlatform
            >>> file = Path(tempfile.mkdtemp()) / "case.zip"
            >>> with MockPlatform.start() as platform:
            ...     answer = platform.session(auth="oauth1").post("/2/posts", json={"text": "Hi"})
            ...     _ = platform.save_case(file)
            >>> with MockPlatform.open_case(file) as again:
            ...     again.journal.find()[0].response_body == answer.content, again.differences
            (True, [])
        """
        from mock_platform.serving.process import load_operations

        with load_operations(keep=False):
            from mock_platform.client.local_platform import LocalPlatform

        MockPlatform.register(LocalPlatform)
        return LocalPlatform.open_case(path, port=port)

    @staticmethod
    def connect(url: str) -> RemotePlatform:
        """Return the same interface for a server elsewhere; `url` is the one of its READY line.

        With the address of a world, which has `/~NAME` at its end, it is that world in place of the
        default one.

        The control token comes from `MOCK_PLATFORM_CONTROL_TOKEN`, the certificate authority to
        trust from `REQUESTS_CA_BUNDLE`.

        Raises:
            ValueError: `url` is not an address.
            UnknownWorld: It names a world that does not exist.
            Unreachable: No server answers at the address, or its certificate is not trusted.
            Refused: The server refuses, or is not a mock_platform.
        """
        from mock_platform.client.remote.world import RemotePlatform

        return RemotePlatform(url)
