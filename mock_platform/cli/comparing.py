"""`diff`: how another server, or what was recorded of one, differs from this sandbox."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.guesses import suggest_operations
from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS
from mock_platform.cli.command import CheckFailed, write_report
from mock_platform.core.address import split_surface, split_world
from mock_platform.core.auth.tester_access import environment
from mock_platform.core.call import Surface
from mock_platform.core.errors import did_you_mean
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.delivery.upstream import BadBaseUrl, check_base_url
from mock_platform.platform import Platform
from mock_platform.serving.process import collect_rarely
from mock_platform.settings import NamesMode, Settings
from mock_platform.verification.compare.accepted import (
    BadAcceptedFile,
    apply_accepted,
    choose,
    read_accepted,
    write_accepted,
)
from mock_platform.verification.compare.check import check
from mock_platform.verification.compare.client import (
    CONNECTIONS,
    HttpClient,
    ServerUnreachable,
    SigningCredentials,
)
from mock_platform.verification.compare.findings import DriftScope, Report, make_report
from mock_platform.verification.compare.plan import (
    PROBE_KINDS,
    ProbeKind,
    describe_reads,
    list_reads,
)
from mock_platform.verification.compare.recorded import RecordedComparison
from mock_platform.verification.compare.report import render
from mock_platform.verification.compare.shadow import ShadowSettings, ShadowTraffic
from mock_platform.verification.compare.side import OwnSandbox
from mock_platform.verification.har.exchange import BadHar, NamesChoice, recognize_names
from mock_platform.verification.har.reader import read_har, show_progress
from mock_platform.verification.reports import SUFFIXES, Format
from mock_platform.world.clock import machine_now

SKIPPED_KINDS = PROBE_KINDS[1:]
"""The kinds of requests that can be left out: values for the others come from plain ones."""
_MAX_REASONS = 3
_UNREAD = Settings(journal_entries=1)
"""Those of the sandbox that is compared: nobody reads its journal."""
_NEEDED = (
    "MOCK_PLATFORM_CONSUMER_KEY, MOCK_PLATFORM_CONSUMER_SECRET, MOCK_PLATFORM_ACCESS_TOKEN and "
    "MOCK_PLATFORM_ACCESS_TOKEN_SECRET, or MOCK_PLATFORM_BEARER_TOKEN"
)


class Acceptance(Struct, frozen=True):
    """The arguments of `diff` about accepted differences."""

    file: Path | None = None
    ids: tuple[str, ...] = ()
    reason: str | None = None
    until: date | None = None

    def check(self) -> None:
        """Check that the arguments belong together, and that the file can be read, if it has to.

        Raises:
            click.UsageError: They do not, or it cannot.
        """
        if self.ids and self.file is None:
            raise click.UsageError("--accept needs a file to write to: add --accepted FILE.")
        if self.ids and not self.reason:
            raise click.UsageError("--accept needs --reason TEXT: why is the difference fine?")
        if self.ids and self.file is not None and self.file.suffix == ".json":
            raise click.UsageError("--accept writes YAML: let the file of --accepted end in .yaml.")
        if not self.ids and (self.reason or self.until):
            raise click.UsageError("--reason and --until belong to --accept ID.")
        if self.file is not None and (not self.ids or self.file.exists()):
            try:
                read_accepted(self.file)
            except BadAcceptedFile as fault:
                raise click.UsageError(f"--accepted: {fault}") from fault


class OtherServer(Struct, frozen=True):
    """The server that is asked, and how."""

    base_url: str
    credentials_file: Path | None = None
    ca: Path | None = None
    connections: int = CONNECTIONS


class Output(Struct, frozen=True):
    """Where the report goes."""

    form: Format = "text"
    file: Path | None = None


def make_scope(
    only: str | None, skip: tuple[str, ...], values: tuple[str, ...], *, same_data: bool
) -> DriftScope:
    """Return what is compared; `skip` holds kinds of requests and patterns of operations.

    Raises:
        click.UsageError: A pattern matches no operation, or a value has no name.
    """
    patterns = _split(only or "")
    for pattern in patterns:
        _check_pattern(f"--only {pattern}", pattern, ())
    kinds, left_out = read_skip(skip)
    given = {}
    for each in values:
        name, separator, value = each.partition("=")
        if not (name and separator and value):
            raise click.UsageError(f"--value {each} must be NAME=VALUE, such as card_id=8xyz.")
        given[name] = value
    return DriftScope(patterns, left_out, kinds, same_data, given=given)


def read_skip(skip: Sequence[str]) -> tuple[list[ProbeKind], tuple[str, ...]]:
    """Return the kinds of requests that `--skip` leaves, and the operations that it leaves out.

    Raises:
        click.UsageError: It names neither a kind nor an operation.
    """
    named = [each for text in skip for each in _split(text)]
    left_out = tuple(each for each in named if each not in SKIPPED_KINDS)
    for pattern in left_out:
        _check_pattern(f"--skip {pattern} is no kind of requests and", pattern, SKIPPED_KINDS)
    return [kind for kind in PROBE_KINDS if kind not in named], left_out


def _split(patterns: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in patterns.split(",") if each.strip())


def _check_pattern(subject: str, pattern: str, others: Sequence[str]) -> None:
    known = [operation.id for operation in list_reads(OPERATIONS)]
    if any(fnmatchcase(each, pattern) for each in known):
        return
    family, is_family, _ = pattern.partition(".*")
    near = suggest_operations(family, known)[:1]
    if is_family:
        near = [f"{each.partition('.')[0]}.*" for each in near]
    hint = did_you_mean(pattern, others) or (f" Did you mean {near[0]!r}?" if near else "")
    raise click.UsageError(f"{subject} matches no operation that reads.{hint}")


def compare_server(
    other: OtherServer,
    scope: DriftScope,
    names: NamesChoice,
    acceptance: Acceptance,
    output: Output,
    *,
    yes: bool,
) -> None:
    """Print how another server differs.

    Raises:
        CheckFailed: The server differs in a way that is not accepted.
        click.UsageError: The address, the credentials or the consent are missing.
    """
    acceptance.check()
    report = read_server(other, scope, names, yes=yes)
    finish(report, acceptance, output, complete=not (scope.only or scope.skip))


def read_server(
    other: OtherServer,
    scope: DriftScope,
    names: NamesChoice = "auto",
    *,
    yes: bool,
) -> Report:
    """Return how the server at an address differs, with the user's credentials and consent.

    With the names `auto`, the platform's own hosts have original names, other servers neutral ones.

    Raises:
        click.UsageError: The address, the credentials or the consent are missing, or nothing could
            be compared.
    """
    signing = read_credentials(other.credentials_file)
    try:
        client = HttpClient(other.base_url, signing, other.ca, connections=other.connections)
    except BadBaseUrl as fault:
        raise click.UsageError(str(fault)) from fault
    except OSError as fault:
        raise click.UsageError(f"{other.ca} cannot be used: {fault}.") from fault
    try:
        _require_consent(client.base_url, scope, yes=yes)
        host = urlsplit(client.base_url).hostname
        chosen = names if names != "auto" else name_host(host)
        report = ask_server(client, replace(scope, names=chosen))
    finally:
        client.close()
    if not report.checked:
        reasons = dict.fromkeys(f"{x.operation}: {x.reason}" for x in report.skipped)
        text = "; ".join(list(reasons)[:_MAX_REASONS]) or "no operation that reads is among them"
        raise click.UsageError(f"Nothing of {report.subject} could be compared: {text}.")
    return report


def name_host(host: str | None) -> NamesMode:
    """Return the names of a server: original ones if the host is the platform's own."""
    return "original" if host in PLATFORM_HOSTS else "neutral"


def compare_archive(
    archive: Path, names: NamesChoice, acceptance: Acceptance, output: Output
) -> None:
    """Print how what was recorded differs; with the names `auto`, each exchange shows its own.

    Raises:
        CheckFailed: An exchange differs in a way that is not accepted.
        click.UsageError: The file is no archive, or is damaged.
    """
    acceptance.check()
    platform = Platform(_UNREAD)
    own = SigningCredentials.from_variables(environment(credentials(platform.worlds.default)))
    try:
        description = _describe_everything(platform)
        run = RecordedComparison(
            OwnSandbox(platform, own),
            description,
            _locate,
            lambda each: recognize_names(each, PLATFORM_HOSTS) if names == "auto" else names,
        )
        run.add_all(show_progress(read_har(archive), lambda text: click.echo(text, err=True)))
        report = make_report(run.finish(), str(archive), platform.assumptions())
        report.notes += run.list_notes()
    except (BadHar, OSError) as fault:
        raise click.UsageError(str(fault)) from fault
    finally:
        _end_progress()
        platform.close()
    if not report.checked:
        raise click.UsageError(f"{archive} has no request that an operation answers.")
    finish(report, acceptance, output, complete=False)


def read_shadow(
    upstream: str, *, writes: bool, credentials_file: Path | None, names: NamesMode | None = None
) -> ShadowSettings:
    """Return what `serve --shadow` sends on.

    Raises:
        click.UsageError: The address or the credentials cannot be used.
    """
    try:
        base_url = check_base_url(upstream)
    except BadBaseUrl as fault:
        raise click.UsageError(str(fault)) from fault
    held = None if credentials_file is None else read_credentials(credentials_file)
    if names is None and urlsplit(base_url).hostname in PLATFORM_HOSTS:
        names = "original"
    return ShadowSettings(base_url, writes, held, names)


def make_shadow(platform: Platform, settings: ShadowSettings) -> ShadowTraffic:
    """Return what sends the requests of a platform to another service as well."""
    return ShadowTraffic(platform, settings, _describe_everything(platform), _locate)


def _describe_everything(platform: Platform) -> dict[str, Any]:
    # The control plane takes a seventh of the imports, and a comparison by requests needs none.
    from mock_platform.control.routes import describe_everything

    return describe_everything(platform).at("http://localhost")


def _locate(url: str) -> tuple[Surface, str]:
    """Return the interface of an address, and the path without prefixes."""
    parts = urlsplit(url)
    _, path = split_world(parts.path or "/")
    surface, _, rest = split_surface(path, parts.netloc)
    return surface, rest


def ask_server(client: HttpClient, scope: DriftScope) -> Report:
    """Return how a server differs, and show the progress on standard error.

    Raises:
        click.UsageError: The server cannot be reached.
    """
    platform = Platform(_UNREAD)
    own = SigningCredentials.from_variables(environment(credentials(platform.worlds.default)))
    try:
        description = describe_reads(platform).at(client.base_url)
        sandbox = OwnSandbox(platform, own)
        with collect_rarely():
            drift = check(client, sandbox, description, machine_now(), scope, _show_progress)
        return make_report(drift, client.base_url, platform.assumptions())
    except ServerUnreachable as fault:
        raise click.UsageError(str(fault)) from fault
    finally:
        _end_progress()
        platform.close()


def finish(
    report: Report, acceptance: Acceptance, output: Output, *, complete: bool = True
) -> None:
    """Apply and write accepted differences, and write the report.

    Raises:
        CheckFailed: A difference is not accepted.
        click.UsageError: The file of accepted differences cannot be used.
    """
    accept(report, acceptance, complete=complete)
    if output.file is not None:
        write_report(output.file, render(report, choose_format(output.file)))
        click.echo(f"The report is in {output.file}.", err=True)
    click.echo(render(report, output.form).rstrip("\n"))
    if report.differs:
        raise CheckFailed(f"{report.subject} differs from what this sandbox declares.")


def accept(report: Report, acceptance: Acceptance, *, complete: bool = True) -> None:
    """Mark the differences that are accepted, after new ones were added to their file.

    Raises:
        click.UsageError: The file of accepted differences cannot be used.
    """
    today = machine_now().date()
    try:
        if acceptance.ids and acceptance.file is not None:
            chosen = choose(report, acceptance.ids)
            reason = acceptance.reason or ""
            write_accepted(acceptance.file, chosen, reason, today, acceptance.until)
        if acceptance.file is not None:
            entries = read_accepted(acceptance.file)
            apply_accepted(report, entries, today, complete=complete)
    except (BadAcceptedFile, ValueError) as fault:
        raise click.UsageError(str(fault)) from fault


def choose_format(file: Path) -> Format:
    """Return the format of a report by the end of its name.

    Raises:
        click.UsageError: The name ends otherwise.
    """
    if file.suffix not in SUFFIXES:
        raise click.UsageError(f"{file.name} must end in {', '.join(SUFFIXES)}.")
    return SUFFIXES[file.suffix]


def _show_progress(operation: str, done: int, of: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[2K{done}/{of} {operation}", nl=False, err=True)
    elif done % 25 == 0:
        click.echo(f"{done} of {of} operations …", err=True)


def _end_progress() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[2K", nl=False, err=True)


def _require_consent(base_url: str, scope: DriftScope, *, yes: bool) -> None:
    if yes:
        return
    host = urlsplit(base_url).netloc
    only = "and PATCH to ids that do not exist" if "methods" in scope.kinds else "with GET alone"
    try:
        agreed = click.confirm(
            f"Send requests that only read, {only}, signed with your credentials, to {host}?",
            default=False,
            err=True,
        )
    except click.Abort:
        click.echo(err=True)  # the question has no end of its line
        agreed = False
    if not agreed:
        raise click.UsageError(f"Nothing was sent. Use --yes to send signed requests to {host}.")


def read_credentials(file: Path | None) -> SigningCredentials:
    """Return what requests are signed with: of a file, or of the environment.

    Raises:
        click.UsageError: It contains no credentials.
    """
    variables = dict(os.environ) if file is None else _read_variables(file)
    found = SigningCredentials.from_variables(variables)
    if not found.is_usable:
        source = "the environment" if file is None else str(file)
        raise click.UsageError(f"{source} contains no credentials. Needed: {_NEEDED}.")
    return found


def _read_variables(file: Path) -> dict[str, str]:
    """Return the variables in a file that `mock-platform credentials` wrote, in either format."""
    # Windows writes a byte order mark to what a command prints, which would begin the first name.
    try:
        text = file.read_text("utf-8-sig")
    except OSError as fault:
        raise click.UsageError(f"{file} cannot be read: {fault.strerror}.") from fault
    except UnicodeDecodeError as fault:
        raise click.UsageError(f"{file} is not UTF-8 text; save it as UTF-8.") from fault
    if not text.lstrip().startswith("{"):
        pairs = (line.strip().removeprefix("export ").partition("=") for line in text.splitlines())
        return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs if name}
    try:
        return environment({"app": None, "user": None, "bearer_token": None, "accounts": [],
                            "webhook_id": None, **json.loads(text)})  # fmt: skip
    except json.JSONDecodeError as fault:
        place = f"{file}:{fault.lineno}:{fault.colno}"
        raise click.UsageError(f"{place}: not valid JSON: {fault.msg}.") from fault
    except (ValueError, TypeError, KeyError, AttributeError) as fault:
        raise click.UsageError(
            f"{file} is not what `mock-platform credentials --format json` prints."
        ) from fault
