"""`run`: runs a command with a server that stops when the command ends, and checks the run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from msgspec import Struct, field, structs

from mock_platform.cli.command import CheckFailed, convert_errors, write_report
from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.intercepting import read_interception
from mock_platform.cli.options import settings_of
from mock_platform.cli.signals import Signals
from mock_platform.cli.verifying import (
    DatedRun,
    DateWatch,
    DriftOptions,
    GatePage,
    RunCheck,
    RunVerdict,
    StrayWatch,
    check_command,
    check_costs,
    check_faults,
    check_requests,
    check_rules,
    render_runs,
)
from mock_platform.client.intercepting import trust_variables
from mock_platform.client.platform import MockPlatform
from mock_platform.core.auth.tester_access import environment
from mock_platform.core.platform_hosts import Interception
from mock_platform.settings import Settings
from mock_platform.verification.costs.document import CostsDocument
from mock_platform.verification.coverage.document import CoverageDocument
from mock_platform.verification.coverage.gate import Gate
from mock_platform.verification.coverage.pages import SUFFIXES, render_totals, write_files
from mock_platform.world.clock import format_date

if TYPE_CHECKING:
    from mock_platform.client.local_platform import LocalPlatform

# `run --coverage`: the contract coverage of one run, as files and as a check.


class CoverageOptions(Struct, frozen=True):
    """What `run` does with the coverage."""

    files: tuple[str, ...] = ()
    """Files to write; an empty name prints the totals only."""
    conditions: CoverageConditions = field(default_factory=CoverageConditions)

    @property
    def is_wanted(self) -> bool:
        """Whether the coverage is printed."""
        return bool(self.files) or not self.conditions.is_empty

    def make_gate(self) -> Gate:
        """Return the gate, before anything is started.

        Raises:
            click.UsageError: An option cannot be used.
        """
        for name in filter(None, self.files):
            if Path(name).suffix not in SUFFIXES:
                raise click.UsageError(
                    f"--coverage={name} has no known format: the name of the file must end in "
                    f"{', '.join(SUFFIXES)}. Without a file, write '--coverage --' before the "
                    "command."
                )
        if self.conditions.is_empty:
            return Gate()
        from mock_platform.api.served import OPERATION_IDS

        return self.conditions.make_gate(OPERATION_IDS, "--coverage-")

    def report(self, found: CoverageDocument, gate: Gate) -> Iterator[str]:
        """Write the files, and return the lines to print.

        Raises:
            CheckFailed: A file cannot be written.
        """
        yield from render_totals(found)
        try:
            yield from write_files(found, self.files, gate, Path())
        except OSError as fault:
            raise CheckFailed(f"{fault.filename} cannot be written: {fault.strerror}.") from fault


_UNUSED = (
    "no request of the command reached an operation that counts. Send its requests to the address "
    "in MOCK_PLATFORM_URL. The pytest plugin starts servers of its own, unless it gets that one: "
    """sh -c 'pytest --mock-platform-url "$MOCK_PLATFORM_URL"'"""
)


def check_coverage(found: CoverageDocument, gate: Gate) -> list[RunCheck]:
    """Return a check for each condition of the gate."""
    failures = {failure.name: failure for failure in gate.list_failures(found)}
    checks = []
    reason = [] if any(row["requests"] for row in found["operations"]) else [_UNUSED]
    for name, is_set in (
        ("percentage", gate.fail_under is not None),
        ("baseline", gate.baseline is not None),
    ):
        failure = failures.get(name)
        if failure is not None:
            headline = f"too little coverage: {failure.text}"
            checks.append(
                RunCheck("coverage", name, [*reason, *(failure.lost or [failure.text])], headline)
            )
        elif is_set:
            checks.append(RunCheck("coverage", name))
    return checks


_FAILED = 1
_COSTS = ("usd", "calls", "resources", "unpriced", "prices_of")
"""What of the costs the JUnit file has, as properties."""
_DELIVERY_SECONDS = 10.0
"""How long a rule that has not acted yet may wait for deliveries, in real seconds."""


class RunOptions(Struct, frozen=True):
    """The options of `run`."""

    settings: Settings
    name: str = "mock-platform run"
    """The command, as reports name it."""
    tls: bool = False
    verify: bool | None = None
    """`None`: if a scenario is active from the start, or a report is wanted."""
    page: bool = False
    """Whether the page is printed, and any check that failed makes the status 1."""
    junit: Path | None = None
    summary: Path | None = None
    """Where to add the page as markdown."""
    coverage: CoverageOptions = field(default_factory=CoverageOptions)
    intercept: Interception | None = None
    """What a proxy for the platform's real hosts does; `None` without one."""
    explain: bool = False
    """Whether what the command tried past the proxy is printed."""
    enclose: bool = True
    """Whether the command sees files of its own over the system's, where that is possible."""
    contract: Path | None = None
    """A kept contract, with which that of this package is compared."""
    drift: DriftOptions | None = None
    max_cost: Decimal | None = None
    """What all calls together may cost in US dollars; `None` for any amount."""


class Examiner:
    """Watches a run from its start, looks at its server before the stop, and concludes."""

    def __init__(
        self,
        server: MockPlatform,
        options: RunOptions,
        gate: Gate,
        dates: DateWatch | None = None,
    ) -> None:
        self._server = server
        self._platform = cast("LocalPlatform", server).control.platform
        self._options = options
        self._gate = gate
        self._watch = StrayWatch()
        self._platform.observers.append(self._watch.observe)
        if dates is not None:
            self._platform.observers.append(dates.observe)
        wanted = options.verify
        if wanted is None:
            reports = options.junit is not None or options.summary is not None
            wanted = bool(self._platform.start_up.active) or options.page or reports
        self._verify = wanted
        self._rules: list[RunCheck] = []
        self._requests: list[RunCheck] = []
        self._coverage: CoverageDocument | None = None
        self._costs: CostsDocument = {}

    def examine(self) -> None:
        """Look at rules, requests, costs and coverage; the command has ended."""
        recorder = cast("LocalPlatform", self._server).control.costs
        self._costs = recorder.document_of_all(by="operation")
        self._rules = check_rules(self._platform)
        if self._verify and any(check.faults for check in self._rules):
            # A rule may act on deliveries that the command did not wait for.
            self._server.wait_for_deliveries(_DELIVERY_SECONDS)
            self._rules = check_rules(self._platform)
        self._requests = check_requests(self._watch, self._server.warnings())
        if self._options.coverage.is_wanted:
            self._coverage = self._server.coverage()

    def conclude(
        self,
        command: Sequence[str],
        status: int,
        faults: Sequence[BaseException],
        beside: Sequence[RunCheck],
    ) -> int:
        """Print and write what was found, with the checks beside the command; return the status.

        Raises:
            CheckFailed: A report cannot be written.
        """
        _, warnings = self._requests
        broken = check_faults(faults)
        verdict = RunVerdict([*self._rules, *self._requests, broken])
        shown = verdict if self._verify else RunVerdict([warnings, broken])
        if not self._options.page:
            _print_faults(shown)
        gates = RunVerdict([*self._check_coverage(), *self._check_costs(), *beside])
        whole = RunVerdict([check_command(command, status), *verdict.checks, *gates.checks])
        page = GatePage(self._options.name, whole.checks)
        if self._options.page:
            click.echo(page.render_text(), nl=False)
        else:
            _print_faults(gates)
            for note in [note for check in (*self._check_costs(), *beside) for note in check.notes]:
                click.echo(f"mock-platform: {note}", err=True)
        if self._options.junit is not None:
            costs = {f"costs.{name}": str(self._costs[name]) for name in _COSTS}
            write_report(self._options.junit, whole.write_junit(self._options.name, costs))
        if self._options.summary is not None:
            write_report(self._options.summary, page.render_markdown(), append=True)
        if self._options.page:
            return _FAILED if whole.has_failed else 0
        failed = self._verify and verdict.has_failed
        if failed and not status:
            text = "mock-platform: the command succeeded, but the run fails because of this"
            click.echo(f"{text}; --no-verify accepts it.", err=True)
        return status or (_FAILED if failed or gates.has_failed else 0)

    def judge(
        self, command: Sequence[str], status: int, faults: Sequence[BaseException]
    ) -> RunVerdict:
        """Return all checks of the run, without those of its coverage; nothing is printed."""
        ran, broken = check_command(command, status), check_faults(faults)
        return RunVerdict([ran, *self._rules, *self._requests, broken, *self._check_costs()])

    def _check_costs(self) -> list[RunCheck]:
        most = self._options.max_cost
        return [] if most is None else [check_costs(self._costs, most)]

    def _check_coverage(self) -> list[RunCheck]:
        """Return the checks of the coverage, after its totals were printed and files written."""
        if self._coverage is None:
            return []
        found = self._gate.scope.restrict(self._coverage)
        for line in self._options.coverage.report(found, self._gate):
            click.echo(line, err=True)
        return check_coverage(found, self._gate)


def _print_faults(verdict: RunVerdict) -> None:
    for line in verdict.describe():
        click.echo(line, err=True)


def read_run_options(name: str, values: Mapping[str, Any]) -> RunOptions:
    """Return the options in the parameters of a command with this name.

    Raises:
        click.UsageError: Some do not belong together.
    """
    conditions = CoverageConditions(
        values["coverage_fail_under"], values["coverage_only"], values["coverage_baseline"]
    )
    intercept = read_interception(
        values["allow_host"], values["intercept_hosts"], intercept=values["intercept"]
    )
    for option, given in (
        ("--explain", values["explain"]),
        ("--no-enclose", not values["enclose"]),
    ):
        if given and intercept is None:
            raise click.UsageError(f"{option} needs --intercept.")
    if values["page"] and values["verify"] is False:
        raise click.UsageError("--page has the checks that --no-verify leaves out: choose one.")
    return RunOptions(
        settings_of(values),
        name,
        values["tls"],
        values["verify"],
        values["page"],
        values["junit"],
        values["summary"],
        CoverageOptions(values["coverage"], conditions),
        intercept,
        values["explain"],
        values["enclose"],
        values["contract"],
        _read_drift(values),
        values["max_cost"],
    )


def _read_drift(values: Mapping[str, Any]) -> DriftOptions | None:
    """Return how another server is compared; `None` without one."""
    names = ("skip", "methods", "credentials_file", "ca", "accepted", "yes")
    if values["against"] is not None:
        more = {name: values[name] for name in names}
        return DriftOptions(values["against"], values["coverage_only"] or "", **more)
    if any(values[name] for name in names):
        raise click.UsageError(
            "--accepted, --credentials-file, --ca, --skip, --methods and --yes need --against URL."
        )
    return None


# The command itself, with the addresses and credentials of the server in its environment.

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_BY_SIGNAL = 128
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_FROM_TERMINAL = ("SIGINT", "SIGQUIT")


def run_beside_server(command: Sequence[str], options: RunOptions) -> int:
    """Run a command with the server's addresses and credentials in its environment.

    Returns the exit status as a shell would: 127 if the command does not exist, 128 plus the
    signal's number if a signal ended it. 1 if the command succeeded but the run did not, and with
    the page also for a command that failed.

    Raises:
        click.ClickException: The server cannot start, or a file cannot be read or written.
    """
    # These first: a file that cannot be read should not cost a whole run.
    beside = _check_beside(options)
    gate = options.coverage.make_gate()
    if not _can_run(command):
        return NOT_FOUND
    examiner, status, faults = _examine(command, options, gate)
    return examiner.conclude(command, status, faults, beside)


def run_as_of(command: Sequence[str], options: RunOptions, dates: Sequence[datetime]) -> int:
    """Run a command once for each date of the contract, and print one table of the runs.

    Returns 1 if one of them failed, else 0; a signal that ends the command ends the runs.

    Raises:
        click.ClickException: As `run_beside_server`.
    """
    if not _can_run(command):
        return NOT_FOUND
    runs: list[DatedRun] = []
    for date in dates:
        click.echo(f"mock-platform: as of {format_date(date)}", err=True)
        watch = DateWatch(date)
        own = structs.replace(options, settings=replace(options.settings, as_of=date))
        examiner, status, faults = _examine(command, own, Gate(), watch)
        runs.append(DatedRun(watch, examiner.judge(command, status, faults)))
        if status > _BY_SIGNAL:
            break
    for line in render_runs(runs):
        click.echo(line)
    checks = [check for run in runs for check in run.list_checks()]
    if options.junit is not None:
        write_report(options.junit, RunVerdict(checks).write_junit(options.name, {}))
    if options.summary is not None:
        lines = render_runs(runs, markdown=True)
        write_report(options.summary, "".join(f"{line}\n" for line in lines), append=True)
    return _FAILED if any(check.faults for check in checks) else 0


def _can_run(command: Sequence[str]) -> bool:
    """Whether a command exists; it prints so if not.

    Raises:
        click.ClickException: The system cannot run one beside a server.
    """
    if not hasattr(signal, "SIGCHLD"):
        raise click.ClickException(
            "this system has no signal for the end of a command (SIGCHLD), which `run` waits for. "
            "Start `mock-platform serve` beside the command."
        )
    exists = shutil.which(command[0]) is not None or os.path.exists(command[0])  # noqa: PTH110
    if not exists:
        click.echo(f"Error: {command[0]}: this command does not exist.", err=True)
    return exists


def _examine(
    command: Sequence[str], options: RunOptions, gate: Gate, watch: DateWatch | None = None
) -> tuple[Examiner, int, Sequence[BaseException]]:
    """Run a command beside a server; return what watched it, its status, the server's errors."""
    with convert_errors():
        server = MockPlatform.start(options.settings, tls=options.tls)
    examiner = Examiner(server, options, gate, watch)
    try:
        with _list_more(server, options) as more:
            status = _run_led(command, {**variables(server), **more}, options)
        examiner.examine()
    finally:
        faults = _stop(server)
    return examiner, status, faults


def _check_beside(options: RunOptions) -> Sequence[RunCheck]:
    """Return the checks that need no command: those of the contract and of another server."""
    if options.contract is None and options.drift is None:
        return ()
    from mock_platform.cli.gating import check_contract, check_drift  # loads half of the package

    checks = [] if options.contract is None else [check_contract(options.contract)]
    return [*checks, *([] if options.drift is None else [check_drift(options.drift)])]


def variables(platform: MockPlatform) -> dict[str, str]:
    """Return the environment of the command: addresses, test credentials, whom to trust."""
    return {
        "MOCK_PLATFORM_URL": platform.base_url,
        "MOCK_PLATFORM_SANDBOX_URL": platform.ads_sandbox_base_url,
        **environment(platform.credentials),
        **({} if platform.ca is None else trust_variables(platform.ca)),
    }


@contextmanager
def _list_more(server: MockPlatform, options: RunOptions) -> Iterator[Mapping[str, str]]:
    """Return the variables of a proxy, if there is one."""
    if options.intercept is None:
        yield {}
        return
    wanted = options.intercept
    with ExitStack() as stack:
        with convert_errors():
            found = stack.enter_context(
                server.intercept(allow_hosts=wanted.allow_hosts, hosts=wanted.hosts)
            )
        yield found


def _run_led(command: Sequence[str], more: Mapping[str, str], options: RunOptions) -> int:
    """Run a command; with a proxy, its connections to the platform's hosts lead there anyhow."""
    if options.intercept is None:
        return run_command(command, more)
    from mock_platform.cli.enclosure import CannotEnclose, Enclosure  # most runs need none of it

    ca, port = Path(more["MOCK_PLATFORM_CA"]), int(more["MOCK_PLATFORM_PROXY"].rpartition(":")[2])
    past = ca.with_name("past.txt")
    if options.explain:
        past.touch(0o600)
        more = {**more, "MOCK_PLATFORM_PAST": str(past)}
    hosts = more["MOCK_PLATFORM_HOSTS"].split(",")
    enclosure = Enclosure(hosts, ca, port)
    missing = "" if options.enclose else "--no-enclose was given"

    def start(words: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        nonlocal missing
        try:
            return enclosure.start(words, environ)
        except CannotEnclose as fault:
            missing = str(fault)
            click.echo(f"mock-platform: {_ONLY_VARIABLES.format(missing)}", err=True)
            return _start(words, environ)

    status = run_command(command, more, start if options.enclose else _start)
    if options.explain:
        seen = [*past.read_text("utf-8").splitlines(), *enclosure.list_seen()]
        for line in _explain(seen, hosts, missing):
            click.echo(f"mock-platform: {line}", err=True)
    return status


_ONLY_VARIABLES = (
    "the command has no hosts file of its own ({}), so of its programs only those reach the "
    "sandbox that use the proxy, and those in Python and node."
)


def _explain(seen: Sequence[str], hosts: Sequence[str], missing: str) -> Iterator[str]:
    """Return lines on what a command tried past the proxy, as far as it was seen."""
    for target, times in sorted(Counter(seen).items()):
        led = target.rpartition(":")[0].lower() in hosts
        done = "answered here" if led else "not answered here, and not stopped"
        yield f"past the proxy: {times} x {target}: {done}"
    if not seen:
        yield "nothing was seen to go past the proxy."
    yield (
        f"other programs than those in Python and node cannot be seen: {missing}."
        if missing
        else "names are those that Python and node looked up, addresses those that any program "
        "connected to."
    )


def _start(command: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=environ)  # noqa: S603 - it is the user's own


def run_command(
    command: Sequence[str],
    more: Mapping[str, str],
    start: Callable[[Sequence[str], Mapping[str, str]], subprocess.Popen[bytes]] = _start,
) -> int:
    """Run a command with more variables; return its exit status as a shell would."""
    with _Forward() as forward:
        try:
            child = start(command, {**os.environ, **more})
        except OSError as fault:
            click.echo(f"Error: {command[0]} cannot be run: {fault.strerror}.", err=True)
            return NOT_EXECUTABLE
        forward.to(child)
        while (status := child.poll()) is None:
            forward.wait()
    return status if status >= 0 else _BY_SIGNAL - status


class _Forward(Signals):
    """Forwards signals to a child, also earlier ones; wakes up when the child ends."""

    def __init__(self) -> None:
        named = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
        super().__init__((*named, signal.SIGCHLD))
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def to(self, child: subprocess.Popen[bytes]) -> None:
        """Forward signals to this child from now on."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def on_signal(self, number: int) -> None:
        """Forward a signal, or keep it until the child exists."""
        if number == signal.SIGCHLD:
            return
        # The terminal sends these to the child itself; forwarding would send them twice.
        if signal.Signals(number).name in _FROM_TERMINAL and _is_in_foreground():
            return
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)


def _is_in_foreground() -> bool:
    """Whether a terminal sends its signals to this process and its children alike."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _stop(server: MockPlatform) -> Sequence[BaseException]:
    """Stop the server, and return its errors."""
    try:
        server.stop()
    except BaseExceptionGroup as group:
        return group.exceptions
    except Exception as fault:  # noqa: BLE001 - reported to the user
        return [fault]
    return []
