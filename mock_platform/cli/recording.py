"""`record` and `import`: traffic with the real service, as a file, and as a folder."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Self

import click
from msgspec import Struct

from mock_platform.cli.command import BadInput, CheckFailed, convert_errors
from mock_platform.cli.running import NOT_FOUND, run_command
from mock_platform.client.intercepting import list_variables, open_proxy
from mock_platform.core.errors import escape
from mock_platform.core.jsonio import pretty, printable
from mock_platform.core.platform_hosts import PLATFORM_HOSTS, Interception
from mock_platform.delivery.upstream import BadBaseUrl, Upstream
from mock_platform.serving.http import ServerThread
from mock_platform.settings import ConnectionSettings
from mock_platform.verification.har.exchange import BadHar
from mock_platform.verification.har.writer import HarFile, RecordedExchange, Secrets
from mock_platform.verification.importing.folder import FolderInUse, ImportOptions, import_har
from mock_platform.verification.importing.persons import RemainsOfPersons
from mock_platform.verification.importing.result import describe, report_as_json
from mock_platform.verification.recording import MAX_BODY_BYTES, Forwarder
from mock_platform.world import redact
from mock_platform.world.names import DEFAULT

_MAX_REASONS = 5
_EVERY = 100
"""Exchanges between two lines of progress."""


class RecordOptions(Struct, frozen=True):
    """What `record` was asked for: `upstream`, or else the platform's own hosts."""

    out: Path
    upstream: str | None
    keep_host: bool
    ca: Path | None
    allow_hosts: tuple[str, ...]
    overwrite: bool


def record_command(command: Sequence[str], options: RecordOptions) -> int:
    """Run a command, and record its requests to the real service.

    Returns the exit status as a shell would.

    Raises:
        click.ClickException: The upstream or the file cannot be used.
    """
    if shutil.which(command[0]) is None and not os.path.exists(command[0]):  # noqa: PTH110
        click.echo(f"Error: {command[0]}: this command does not exist.", err=True)
        return NOT_FOUND
    try:
        hosts = PLATFORM_HOSTS if options.upstream is None else ()
        upstream = Upstream(options.upstream, hosts, options.ca)
    except BadBaseUrl as fault:
        raise click.UsageError(f"--upstream: {fault}") from fault
    except OSError as fault:
        raise BadInput(f"{options.ca} cannot be used: {fault}.") from fault
    with _Recorder(options) as recorder, convert_errors():
        forwarder = Forwarder(upstream, recorder.add, keep_host=options.keep_host)
        with _open_way(forwarder, options) as variables:
            status = run_command(command, variables)
    recorder.conclude()
    return status


class _Recorder:
    """The file that is written, and the lines about it."""

    def __init__(self, options: RecordOptions) -> None:
        secrets = Secrets()
        secrets.learn_environment(os.environ.items())
        self._path = options.out
        self._unanswered = Counter[str]()
        """Why requests got no answer, and how many of them."""
        self._lost: OSError | None = None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = HarFile(
                self._path, overwrite=options.overwrite, max_body_bytes=MAX_BODY_BYTES,
                secrets=secrets,
            )  # fmt: skip
        except FileExistsError as fault:
            text = f"{self._path} exists already. Name another file, or replace it with --force."
            raise click.UsageError(text) from fault
        except OSError as fault:
            raise BadInput(f"{self._path} cannot be written: {fault.strerror}.") from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, exchange: RecordedExchange) -> None:
        """Write an exchange; a fault of the disk does not disturb the client."""
        if exchange.status == 0:
            self._unanswered[exchange.own.get("_error", "the client gave up")] += 1
        try:
            self._file.append(exchange)
        except OSError as fault:
            self._lost = fault
            return
        if self._file.count % _EVERY == 0:
            click.echo(f"{self._file.count:,} exchanges recorded …", err=True)

    def conclude(self) -> None:
        """Print what was recorded.

        Raises:
            click.ClickException: Some of it could not be written.
        """
        count = self._file.count
        text = f"{count:,} exchange{'' if count == 1 else 's'} recorded in {self._path}"
        if self._unanswered:
            text += f", {self._unanswered.total():,} of them without an answer"
        click.echo(f"{text}. Secrets are replaced by placeholders.", err=True)
        for why, times in self._unanswered.most_common(_MAX_REASONS):
            click.echo(f"Without an answer, {times:,} times: {escape(redact.text(why))}.", err=True)
        if not count:
            click.echo(
                "Nothing came through: does the command use MOCK_PLATFORM_URL, or with --intercept "
                "the proxy of its environment?", err=True,
            )  # fmt: skip
        if self._lost is not None:
            raise BadInput(f"{self._path} is not whole: {self._lost}.")


@contextmanager
def _open_way(forwarder: Forwarder, options: RecordOptions) -> Iterator[Mapping[str, str]]:
    """Return the variables that lead a command to the forwarder."""
    if options.upstream is not None:
        with ServerThread(forwarder) as server:
            yield {
                "MOCK_PLATFORM_URL": server.url,
                "MOCK_PLATFORM_SANDBOX_URL": f"{server.url}/sandbox",
            }
        return
    proxy = open_proxy(
        forwarder, DEFAULT, ConnectionSettings(), Interception((), options.allow_hosts)
    )
    try:
        yield list_variables(proxy)
    finally:
        proxy.stop()


# `import`: turns an archive into a folder, and prints what became of it.


def import_file(
    har: Path, folder: Path, options: ImportOptions, format: Literal["text", "json"]
) -> None:
    """Import an archive, and print the report.

    Raises:
        click.ClickException: The archive or the folder cannot be used.
    """
    try:
        with convert_errors():
            report = import_har(har, folder, options, lambda text: click.echo(text, err=True))
    except BadHar as fault:
        raise BadInput(str(fault)) from fault
    except RemainsOfPersons as fault:
        raise CheckFailed(str(fault)) from fault
    except FolderInUse as fault:
        raise click.UsageError(str(fault)) from fault
    except OSError as fault:
        raise BadInput(f"{fault.filename or folder}: {fault.strerror}.") from fault
    if format == "json":
        click.echo(printable(pretty(report_as_json(report))))
        return
    for line in describe(report):
        click.echo(line)
