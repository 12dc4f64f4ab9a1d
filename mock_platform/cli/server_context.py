"""What surrounds a server while it serves: options, store, errors, files under `--watch`."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from mock_platform.cli import logs
from mock_platform.cli.command import BadInput
from mock_platform.core.errors import BadFixtures, BadParameters, BadScenario, CannotPerform
from mock_platform.core.installed import require_extra
from mock_platform.core.platform_hosts import Interception
from mock_platform.platform import Platform, load_base
from mock_platform.scenario.outline import SUFFIXES
from mock_platform.serving.restoring import Opened, open_platform
from mock_platform.settings import Settings
from mock_platform.world.store.errors import StoreUnwritable

if TYPE_CHECKING:
    from watchfiles import Change

    from mock_platform.verification.compare.shadow import ShadowSettings


class ServeOptions(Struct, frozen=True):
    """The arguments of `serve`."""

    settings: Settings
    tls: bool = False
    tls_folder: Path | None = None
    log_format: logs.LogFormat = "text"
    log_level: logs.LogLevel = "info"
    watch: bool = False
    stop_with_stdin: bool = False
    workers: int = 1
    intercept: Interception | None = None
    """What a proxy for the platform's real hosts does; `None` without one."""
    shadow: ShadowSettings | None = None
    """To which service requests are sent as well; `None` for none."""
    opener: Callable[[Settings], Opened] = open_platform
    """Opens the platform that is served."""


# `serve --watch`: loads fixture folders and scenario files again when they change. A change is
# checked first. If the fixtures are valid, the default world is reset and starts with them, and
# so does every new world; other existing worlds keep their fixtures. If they are not valid, the
# server continues with the last valid ones and reports the faults. A valid scenario starts
# again in every world where it is active, with the same parameters. Of an invalid scenario the
# last valid version stays.

_LOG = logging.getLogger(__name__)
_START_SECONDS = 5.0
"""Seconds for which a start waits until the system watches all files."""


class Watcher(Protocol):
    """Yields what changed, and now and then an empty set if nothing did, until the event is set."""

    def __call__(
        self, folders: Sequence[Path], stop: threading.Event
    ) -> Iterable[Collection[object]]:
        """Wait for changes; after the first set no change is missed."""


class Watch:
    """Threads that load a platform's fixtures and scenarios again when their files change."""

    def __init__(self, platform: Platform, watcher: Watcher | None = None) -> None:
        """Prepare the threads; `watcher` replaces the one that asks the operating system.

        Raises:
            MissingExtra: The package was installed without the extra `watch`.
        """
        if watcher is None:
            require_extra("--watch", "watch", "watchfiles")
        self._platform = platform
        self._scenarios = ScenarioFiles(platform)
        self._stop = threading.Event()
        self._threads: list[tuple[threading.Thread, threading.Event]] = []
        if platform.settings.fixtures:
            self._add_watch(
                "Fixture folders", platform.settings.fixtures, watcher or _watch_trees,
                lambda: reload(platform),
            )  # fmt: skip
        start_up = platform.start_up
        if start_up.folders:
            self._add_watch(
                "Scenario folders", start_up.folders, watcher or _watch_scenarios,
                self._scenarios.reload,
            )  # fmt: skip
        # An editor replaces the old file by a new one: only a watch on the folder notices that.
        parents = dict.fromkeys(file.parent for file in start_up.files)
        single = tuple(at for at in parents if not {at, *at.parents} & {*start_up.folders})
        if single:
            self._add_watch(
                "Scenario files", single, watcher or _watch_folders, self._scenarios.reload
            )

    def start(self) -> None:
        """Start to watch; no change is missed after this method has returned."""
        for thread, _ in self._threads:
            thread.start()
        for _, watching in self._threads:
            watching.wait(_START_SECONDS)

    def stop(self) -> None:
        """Stop watching all files."""
        self._stop.set()
        for thread, _ in self._threads:
            thread.join()

    def _add_watch(
        self, what: str, folders: Sequence[Path], watcher: Watcher, act: Callable[[], object]
    ) -> None:
        watching = threading.Event()

        def run() -> None:
            try:
                for changes in watcher(folders, self._stop):
                    watching.set()
                    if changes and not self._stop.is_set():
                        act()
            except (OSError, RuntimeError) as fault:  # the system's watches may be used up
                watching.set()
                _LOG.error("%s can no longer be watched: %s", what, fault)

        name = f"mock-platform-watch-{len(self._threads) + 1}"
        self._threads.append((threading.Thread(target=run, name=name, daemon=True), watching))


class ScenarioFiles:
    """A platform's scenario files, with the content that was last read of each."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._lock = threading.Lock()
        self._last = {file: self._read(file) for file in platform.start_up.files}

    def reload(self) -> None:
        """Load the files whose content changed, and new files in the folders."""
        start_up = self._platform.start_up
        with self._lock:
            # Among the files of the start are those that the console saved since.
            known = [*self._last, *start_up.files, *start_up.find_new_files()]
            for file in dict.fromkeys(known):
                self._reload(file, self._read(file))

    def _reload(self, file: Path, content: list[bytes | None]) -> None:
        if content != self._last.get(file):
            self._last[file] = content
            try:
                kept = self._platform.reload_scenario(file)
            except (BadScenario, BadParameters, CannotPerform) as fault:
                _LOG.error("A scenario changed and has faults; its last valid version stays.\n%s",
                           fault)  # fmt: skip
                return
            for text in kept:
                _LOG.error("%s loaded again. %s", file, text)
            if not kept:
                _LOG.info("%s loaded again.", file)
            self._last[file] = self._read(file)  # it may name other files now

    def _read(self, file: Path) -> list[bytes | None]:
        """Return the content of a file, and of those with the records of its collections."""
        name = self._platform.start_up.files.get(file)
        scenario = None if name is None else self._platform.library.find(name)
        named = () if scenario is None else scenario.files
        return [_read_content(each) for each in (file, *named)]


def _read_content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def reload(platform: Platform) -> bool:
    """Load a platform's fixtures again; return whether they were valid."""
    folders = ", ".join(str(folder) for folder in platform.settings.fixtures)
    try:
        base = load_base(platform.settings)
    except BadFixtures as fault:
        _LOG.error("Fixtures changed and have faults; the last valid ones stay.\n%s", fault)
        return False
    except OSError as fault:
        _LOG.error("Fixtures cannot be read (%s); the last valid ones stay.", fault)
        return False
    try:
        platform.reload(base)
    except StoreUnwritable as fault:
        _LOG.error("Fixtures changed, but the last valid ones stay: %s", fault)
        return False
    _LOG.info("Fixtures of %s loaded again; the default world was reset.", folders)
    return True


def _watch_trees(folders: Sequence[Path], stop: threading.Event) -> Iterable[Collection[object]]:
    from watchfiles import DefaultFilter  # 27 ms that other servers do not pay

    sane = DefaultFilter()

    def is_wanted(change: Change, path: str) -> bool:  # scenarios are no fixtures
        return sane(change, path) and not path.endswith((".yaml", ".yml"))

    return _changes(folders, stop, is_wanted, deep=True)


def _watch_scenarios(
    folders: Sequence[Path], stop: threading.Event
) -> Iterable[Collection[object]]:
    from watchfiles import DefaultFilter

    sane = DefaultFilter()

    def is_wanted(change: Change, path: str) -> bool:
        return sane(change, path) and path.endswith(SUFFIXES)

    return _changes(folders, stop, is_wanted, deep=True)


def _watch_folders(folders: Sequence[Path], stop: threading.Event) -> Iterable[Collection[object]]:
    from watchfiles import DefaultFilter

    return _changes(folders, stop, DefaultFilter(), deep=False)


def _changes(
    folders: Sequence[Path],
    stop: threading.Event,
    is_wanted: Callable[[Change, str], bool],
    *,
    deep: bool,
) -> Iterable[Collection[object]]:
    from watchfiles import watch

    return watch(
        *folders, watch_filter=is_wanted, recursive=deep,
        stop_event=stop, debounce=200, rust_timeout=100, yield_on_timeout=True,
    )  # fmt: skip


@contextlib.contextmanager
def close_after(opened: Opened) -> Iterator[None]:
    """Write the store at the end.

    Raises:
        BadInput: It could not be written.
    """
    try:
        yield
    finally:
        opened.platform.deliverer.close()
        try:
            opened.close()
        except OSError as fault:
            raise BadInput(
                f"{opened.archive.place} could not be written at the end ({fault}); it contains "
                "what was written before. Free some space; with --durability log each "
                "change is written at once."
            ) from fault


@contextlib.contextmanager
def watch_files(opened: Opened, *, active: bool) -> Iterator[None]:
    """Load files again when they change, if that is `active`."""
    if not active:
        yield
        return
    watch = Watch(opened.platform)
    watch.start()
    try:
        yield
    finally:
        watch.stop()


def report_error(fault: BaseException) -> None:
    """Log an error of the sandbox itself."""
    _LOG.error("The sandbox itself failed: %s", fault, exc_info=fault)


@contextlib.contextmanager
def send_to_shadow(
    platform: Platform, shadow: ShadowSettings | None, *, aloud: bool = True
) -> Iterator[None]:
    """Send requests to another service as well, as long as the block runs; `aloud`: say so."""
    if shadow is None:
        yield
        return
    from mock_platform.cli.comparing import make_shadow

    traffic = make_shadow(platform, shadow)
    traffic.start()
    what = "Reads and writes" if shadow.writes else "Reads"
    if aloud:
        _LOG.info("%s are sent to %s as well: GET /_mock/shadow", what, shadow.upstream)
    try:
        yield
    finally:
        traffic.stop()
