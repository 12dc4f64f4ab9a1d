"""The pytest plugin: fixtures, markers and options. Installed with the package, loaded by pytest.

It imports nearly nothing of the package until a fixture is used. So suites that do not use it
lose no time, and coverage tools, which start after plugins, measure all that is imported later.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import datetime
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    import requests

    from mock_platform.client.interface import PlatformFace, WorldFace
    from mock_platform.client.testing.run_outcome import RunOutcome
    from mock_platform.client.testing.servers import LocalServers
    from mock_platform.client.testing.webhook_receiver import WebhookReceiver
    from mock_platform.verification.coverage.gate import Gate

_MARKERS = {
    "mock_scenario": "mock_scenario(name, **parameters): activate a scenario in the test's "
    "world, by "
    "its name or its file; can be used several times.",
    "mock_fixtures": "mock_fixtures(path): add a folder of fixtures to those of the server; "
    "relative "
    "to the test's file.",
    "mock_clock": "mock_clock(instant): stop the clock of the test's world at this moment, ISO "
    "8601.",
    "mock_strict": "mock_strict: refuse what the specification does not show.",
    "mock_names": "mock_names(names): let the test's clients use and get 'original' or 'neutral' "
    "names.",
    "mock_wire": "mock_wire(wire): let answers be as on this wire, such as 'recorded'.",
    "mock_as_of": "mock_as_of(date): let the contract of the test's world be that of this date, "
    "ISO 8601.",
    "mock_warnings": "mock_warnings(warnings): with 'error', refuse requests of which something is "
    "ignored; with 'ignore', answer them.",
}
_MUTATION_SUFFIXES = (".html", ".json", ".txt", ".xml")
"""The ends of the names of `--mock-mutate-report`; `reports.SUFFIXES` has their formats."""
_SUFFIXES = (*_MUTATION_SUFFIXES, ".baseline")
"""The ends of the names of coverage files; `coverage.SUFFIXES` has their formats."""
_MUTATION_OPTIONS = ("--mock-mutate-budget", "--mock-mutate-report", "--mock-mutate-seed")
_FIXTURE = "mock_platform"
_GROUP = "mock_platform"
_SETTINGS = "mock-platform.toml"
_OURS = "mock_platform."
_OUTPUT = "mock_platform"
_verdict_key = pytest.StashKey[Any]()  # a Verdict, which is not imported here
_shown_key = pytest.StashKey[set[tuple[str, str]]]()
_outcome_key = pytest.StashKey["RunOutcome"]()
_gate_key = pytest.StashKey["Gate"]()
_COVERAGE_OPTIONS = (
    "--mock-coverage",
    "--mock-coverage-fail-under",
    "--mock-coverage-only",
    "--mock-coverage-baseline",
)


# -- options and markers -------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command line options."""
    group = parser.getgroup(_GROUP, "mock_platform: the sandbox of the platform's API")
    group.addoption(
        "--mock-platform-url",
        metavar="URL",
        type=_address,
        help="Use the running server at this address instead of starting one; each worker "
        "has its own world there.",
    )
    group.addoption(
        "--mock-coverage",
        action="append",
        nargs="?",
        const="",
        type=_coverage_file,
        metavar="FILE",
        help="Show how much of the contract the tests exercised, and write it to a file: "
        ".html, .json, .txt, .xml for JUnit, or .baseline for --mock-coverage-baseline. May be "
        "repeated.",
    )
    group.addoption(
        "--mock-coverage-fail-under",
        type=_percent,
        metavar="N",
        help="Fail the run if the tests exercised less than N percent of the contract.",
    )
    group.addoption(
        "--mock-coverage-only",
        metavar="PATTERNS",
        help="Count only the operations whose ids match one of these patterns, such as "
        "'line_items.*,oauth*'.",
    )
    group.addoption(
        "--mock-coverage-baseline",
        metavar="FILE",
        help="Fail the run if an outcome that this file names, and an earlier run covered, is "
        "lost. --mock-coverage=FILE.baseline writes such a file.",
    )
    group.addoption(
        "--mock-warnings",
        choices=["ignore", "error"],
        help="Answer a request of which something is ignored, such as an unknown parameter, "
        "or refuse it with 400. Without it, ignore, or as the server at "
        "--mock-platform-url does.",
    )
    group.addoption(
        "--mock-names",
        choices=["neutral", "original"],
        help="Names that clients use and get: neutral, or the original ones of the platform. "
        "Without it, neutral, or as the server at --mock-platform-url does.",
    )
    group.addoption(
        "--mock-wire",
        metavar="WIRE",
        type=_wire,
        help="Answers as documented (spec), or as the real service was recorded where that differs "
        "(recorded, recorded-2023), and behind it what is in doubt: recorded,missing=200. "
        "Without it, spec, or as the server at --mock-platform-url does.",
    )
    group.addoption(
        "--mock-as-of",
        metavar="DATE",
        type=_date,
        help="Answer with the endpoints, fields, names of events and refusals that the release "
        "history had at this date. Without it, those of the clock, or as the server at "
        "--mock-platform-url does.",
    )
    group.addoption(
        "--mock-block-network",
        action="store_true",
        help="Refuse connections and look-ups beyond this machine in the whole run, and name the "
        "address and the test.",
    )
    group.addoption(
        "--mock-allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="With --mock-block-network, allow this host as well. May be repeated.",
    )
    group.addoption(
        "--mock-mutate",
        action="store_true",
        help="After the run, run each green test again with each documented failure of the "
        "operations that it called, and list the tests that stay green.",
    )
    group.addoption(
        "--mock-mutate-budget",
        type=_seconds,
        metavar="DURATION",
        help="With --mock-mutate, stop after this time, such as 60s; the tests of files that "
        "changed last come first.",
    )
    group.addoption(
        "--mock-mutate-report",
        type=_mutation_file,
        metavar="FILE",
        help="With --mock-mutate, write the result to a file: .txt, .json, .html, or .xml for "
        "JUnit.",
    )
    group.addoption(
        "--mock-mutate-seed",
        type=int,
        default=0,
        metavar="N",
        help="With --mock-mutate, draw the order of the failures with this seed.",
    )
    group.addoption(
        "--mock-journal-on-failure",
        action="store_true",
        help="Show the whole journal of a failing test with headers and bodies, instead "
        "of a summary. Credentials are always redacted.",
    )
    group.addoption(
        "--mock-cases",
        metavar="DIR",
        help="Write the world of each failing test with its requests to a file in this folder, "
        "without secrets; `mock-platform open FILE` serves the same world.",
    )


def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Put the options of `mock-platform.toml` before those of the command line.

    Raises:
        pytest.UsageError: The file cannot be used, or names an option that does not exist.
    """
    folder = early_config.invocation_params.dir
    if not any((each / _SETTINGS).is_file() for each in (folder, *folder.parents)):
        return
    from mock_platform.core.settings_file import read_arguments

    group = parser.getgroup(_GROUP)
    known = [name.removeprefix("--") for option in group.options for name in option.names()]
    try:
        args[:0] = read_arguments(folder, "pytest", known)
    except ValueError as fault:
        raise pytest.UsageError(str(fault)) from fault


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of the plugin, and read its options."""
    config.add_cleanup(find_plainly())
    for text in _MARKERS.values():
        config.addinivalue_line("markers", text)
    if _wants_coverage(config) and not hasattr(config, "workerinput"):
        config.stash[_gate_key] = _read_gate(config)
    cases = config.getoption("--mock-cases")
    if cases is not None and not _is_folder(cases_folder := config.invocation_params.dir / cases):
        raise pytest.UsageError(f"--mock-cases: {cases_folder} is a file, not a folder.")
    if config.getoption("--mock-block-network"):
        from mock_platform.client.testing.network import NetworkPlugin

        own = config.getoption("--mock-platform-url")
        hosts = [*config.getoption("--mock-allow-host"), *([urlsplit(own).hostname] if own else [])]
        config.pluginmanager.register(NetworkPlugin(hosts), "mock_platform_network")
    _prepare_mutation(config)


def _prepare_mutation(config: pytest.Config) -> None:
    """Watch the tests, if they are to be run again with failures.

    Raises:
        pytest.UsageError: Options do not go together.
    """
    if not config.getoption("--mock-mutate"):
        for name in _MUTATION_OPTIONS:
            if config.getoption(name):
                raise pytest.UsageError(f"{name} needs --mock-mutate, which runs the tests again.")
        return
    if config.getoption("--mock-platform-url") is not None:
        raise pytest.UsageError(
            "--mock-mutate needs the sandbox in the process of the tests; leave out "
            "--mock-platform-url."
        )
    file = config.invocation_params.dir / (config.getoption("--mock-mutate-report") or "x")
    if file.is_dir() or not _is_folder(file.parent):
        raise pytest.UsageError(f"--mock-mutate-report: {file} is no file that can be written.")
    from mock_platform.client.testing.mutation import MutationPlugin

    budget, seed = config.getoption("--mock-mutate-budget"), config.getoption("--mock-mutate-seed")
    plugin = MutationPlugin(config, _get_outcome(config), budget, seed)
    config.pluginmanager.register(plugin, "mock_platform_mutation")


class PlainFinder:
    """Finds the modules of this package before pytest does.

    pytest rewrites the assertions of all modules of a package that has a plugin, here hundreds. The
    first run took seconds longer for that; where no bytecode can be stored, as in many containers,
    each run did.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of this package is; `None` for any other module."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_OURS) else None


def find_plainly() -> Callable[[], None]:
    """Keep pytest from rewriting the modules of this package; return what ends that."""
    finder = PlainFinder()
    sys.meta_path.insert(0, finder)

    def end() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)

    return end


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the fixture to tests that have one of the markers."""
    names = getattr(item, "fixturenames", None)
    if not isinstance(names, list) or _FIXTURE in names:
        return
    if any(marker.name in _MARKERS for marker in item.iter_markers()):
        names.append(_FIXTURE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test that has a misspelt marker of the plugin, unless the suite declares it."""
    names = {each.name for each in item.iter_markers()} - _MARKERS.keys()
    unknown = sorted(name for name in names if name.startswith("mock_"))
    if not unknown:
        return
    from mock_platform.client.testing.servers import find_meant

    declared = {re.split(r"[:(]", line)[0].strip() for line in item.config.getini("markers")}
    for name in unknown:
        meant = None if name in declared else find_meant(name, _MARKERS)
        if meant is not None:
            text = f"there is no marker {name!r}. Did you mean {meant!r}? If it is your own"
            _fail_with([f"mock_platform: {text}, name it in the setting 'markers' of pytest."])


def _make_servers(config: pytest.Config) -> Any:
    url, warnings = config.getoption("--mock-platform-url"), config.getoption("--mock-warnings")
    more = [config.getoption(f"--mock-{name}") for name in ("names", "wire", "as-of")]
    if url is None:
        from mock_platform.client.testing.servers import LocalServers

        return LocalServers(warnings or "ignore", *more)
    from mock_platform.client.testing.servers import SharedServer, name_worker
    from mock_platform.core.errors import Refused, Unreachable

    world = name_worker(getattr(config, "workerinput", {}))
    try:
        return SharedServer(url, world, warnings, *more)
    except (Refused, Unreachable) as fault:
        problem = str(fault)
    return pytest.fail(f"mock_platform: --mock-platform-url: {problem}", pytrace=False)


def _wants_coverage(config: pytest.Config) -> bool:
    return any(config.getoption(name) is not None for name in _COVERAGE_OPTIONS)


def _read_gate(config: pytest.Config) -> Gate:
    """Return what the run must cover.

    Raises:
        pytest.UsageError: A pattern matches no operation, or the baseline cannot be used.
    """
    from mock_platform.api.operation_patterns import BadPatterns
    from mock_platform.api.served import OPERATION_IDS
    from mock_platform.verification.coverage.gate import BadBaseline, read_gate

    _, least, only, baseline = map(config.getoption, _COVERAGE_OPTIONS)
    try:
        return read_gate(OPERATION_IDS, least, only, baseline, config.invocation_params.dir)
    except BadPatterns as fault:
        raise pytest.UsageError(f"--mock-coverage-only: {fault}") from fault
    except BadBaseline as fault:
        raise pytest.UsageError(f"--mock-coverage-baseline: {fault}") from fault


def _address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address such as http://127.0.0.1:8080, the url of a READY line."
        )
    server, tilde, _ = text.partition("/~")
    if tilde:
        raise argparse.ArgumentTypeError(
            f"{text!r} is the address of a world, but each worker makes its own; write {server}"
        )
    return text


def _date(text: str) -> datetime:
    from mock_platform.world.clock import parse_instant

    try:
        return parse_instant(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-03-01.") from None


def _wire(text: str) -> str:
    from mock_platform.core.wire_choice import read_wire

    try:
        return read_wire(text).name
    except ValueError as fault:
        raise argparse.ArgumentTypeError(f"{fault}") from None


def _coverage_file(text: str) -> str:
    if text and Path(text).suffix not in _SUFFIXES:
        raise argparse.ArgumentTypeError(
            f"{text!r} has no known format: the name of the file must end in "
            f"{', '.join(_SUFFIXES)}. Without a file, write the option last, or "
            "'--mock-coverage='."
        )
    return text


def _mutation_file(text: str) -> str:
    if Path(text).suffix not in _MUTATION_SUFFIXES:
        raise argparse.ArgumentTypeError(
            f"{text!r} has no known format: the name of the file must end in "
            f"{', '.join(_MUTATION_SUFFIXES)}."
        )
    return text


def _seconds(text: str) -> float:
    from mock_platform.world.clock import read_seconds

    try:
        seconds = float(text) if text.replace(".", "", 1).isdecimal() else read_seconds(text)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(f"{fault}, such as 60s or 5m") from fault
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write a duration such as 60s or 5m")
    return seconds


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder, or can become one."""
    return next(each for each in (path, *path.parents) if each.exists()).is_dir()


def _percent(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a percentage: write a number from 0 to 100."
        )
    return percent


# -- fixtures ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def _mock_platform_servers(pytestconfig: pytest.Config) -> Iterator[LocalServers]:
    from mock_platform.serving.process import load_quickly

    gc.collect(1)  # what became garbage lately would be kept
    with load_quickly():
        servers = _make_servers(pytestconfig)
    try:
        yield servers
        outcome = _get_outcome(pytestconfig)
        outcome.add_servers(servers, coverage=_wants_coverage(pytestconfig))
    finally:
        servers.stop()


@pytest.fixture(scope="session")
def mock_platform_server(_mock_platform_servers: LocalServers) -> PlatformFace:
    """The running sandbox, one for each run or xdist worker; its default world is never reset."""
    return _mock_platform_servers.main


@pytest.fixture
def mock_platform(
    request: pytest.FixtureRequest, _mock_platform_servers: LocalServers
) -> Iterator[WorldFace]:
    """A fresh world for this test alone, as its markers request."""
    from mock_platform.client.testing.servers import BadWorldRequest, read_markers
    from mock_platform.core.errors import Unreachable

    node = request.node
    markers = reversed(list(node.iter_markers()))
    problems: list[str] = []
    try:
        world_request = read_markers(markers, node.path.parent)
        world, verdict = _mock_platform_servers.open(world_request, node.nodeid)
    except (BadWorldRequest, Unreachable) as fault:
        problems.append(f"mock_platform: {fault}")
    _fail_with(problems)
    node.stash[_verdict_key] = verdict
    node.stash[_shown_key] = set()
    yield world
    try:
        # The world is judged a second time when the test's other fixtures have ended, because their
        # clean-up may have called the sandbox as well.
        verdict.end()
        _mock_platform_servers.close(world)
        problems += verdict.problems(late=True)
    except Unreachable as fault:
        problems.append(f"mock_platform: {fault}")
    _fail_with(problems)


@pytest.fixture
def mock_platform_session(mock_platform: WorldFace) -> Iterator[requests.Session]:
    """A `requests.Session` that the test's world answers; it adds no credentials.

    Addresses such as `/2/…` are joined to the world's base address.
    """
    with mock_platform.session() as session:
        yield session


@pytest.fixture
def mock_webhook(mock_platform: WorldFace) -> Iterator[WebhookReceiver]:
    """A receiver of webhooks on this machine, which knows the secret of the well-known app.

    `url` is what to register, `deliveries` what has arrived, `wait(n)` waits for n of them.
    """
    from mock_platform.client.testing.webhook_receiver import WebhookReceiver

    secret = mock_platform.credentials["app"]["consumer_secret"]
    with WebhookReceiver(secret, explain=mock_platform.explain_deliveries) as receiver:
        yield receiver


def _fail_with(problems: list[str]) -> None:
    """Fail the test if its world has faults."""
    if problems:
        pytest.fail("\n\n".join(problems), pytrace=False)


# -- verdict and report --------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passed although its world has faults."""
    result = yield
    verdict = item.stash.get(_verdict_key, None)
    if verdict is not None:
        _fail_with(_find_problems(verdict))
    return result


def _find_problems(verdict: Any) -> list[str]:
    from mock_platform.core.errors import Unreachable

    try:
        problems: list[str] = verdict.problems()
    except Unreachable as fault:
        problems = [f"mock_platform: {fault}"]
    return problems


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the report to a failing test."""
    report = yield
    verdict = item.stash.get(_verdict_key, None)
    if verdict is not None and call.when == "teardown":
        del item.stash[_verdict_key]  # pytest keeps all items, and it would keep all worlds
    if verdict is not None and report.failed and not _get_outcome(item.config).trying:
        told = item.stash[_shown_key]
        whole = item.config.getoption("--mock-journal-on-failure")
        try:
            sections = verdict.sections(whole=whole)
            # Subtests, the test and its teardown fail one after the other; a report is shown once.
            if not told.issuperset(sections):
                cases = item.config.getoption("--mock-cases")
                if cases is not None:
                    folder = item.config.invocation_params.dir / cases
                    report.sections += verdict.save_case(folder, item.nodeid)
                report.sections += sections
                told.update(sections)
        except Exception as fault:  # noqa: BLE001 - a server that is gone ends no test run
            report.sections.append(("mock_platform journal", f"cannot be read: {fault}"))
    return report


# -- the end of the run --------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the result of a worker to its controller; else write the coverage and check it."""
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:
        if _outcome_key in config.stash:
            output[_OUTPUT] = _get_outcome(config).as_output()
        return
    file = config.getoption("--mock-mutate-report")
    if file is not None:
        _get_outcome(config).write_mutation(file, config.invocation_params.dir)
    if not _wants_coverage(config):
        return
    names = config.getoption("--mock-coverage") or ()
    outcome = _get_outcome(config)
    outcome.judge_coverage(config.stash[_gate_key], names, config.invocation_params.dir)
    if outcome.failures and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Receive the result of a worker; a crashed worker has none, nor one that used no fixture."""
    output = getattr(node, "workeroutput", {}).get(_OUTPUT)
    if output is not None:
        _get_outcome(node.config).add_output(output)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print warnings, requests after a test's end, the coverage, and what calls would cost."""
    if _outcome_key not in config.stash:
        return
    coverage = _wants_coverage(config)
    outcome = _get_outcome(config)
    for title, lines in outcome.list_sections(coverage=coverage):
        terminalreporter.section(f"mock_platform: {title}")
        for line in lines:
            terminalreporter.line(line)
    costs = outcome.describe_costs()
    if costs is not None:
        terminalreporter.line(f"mock_platform: {costs}")


def _get_outcome(config: pytest.Config) -> RunOutcome:
    """Return what the run has collected so far."""
    found = config.stash.get(_outcome_key, None)
    if found is None:
        from mock_platform.client.testing.run_outcome import RunOutcome

        found = config.stash[_outcome_key] = RunOutcome()
    return found
