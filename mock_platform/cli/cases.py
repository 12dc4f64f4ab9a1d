"""`open`, and `case --as`: a case is served, repeated, or printed as a test."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

from mock_platform.cli.command import BadInput, CheckFailed, convert_errors
from mock_platform.cli.logs import LogLevel
from mock_platform.cli.server_context import ServeOptions
from mock_platform.cli.serving import serve_until_stopped
from mock_platform.core.errors import BadCase
from mock_platform.serving.restoring import Opened, open_replayed
from mock_platform.settings import Settings
from mock_platform.verification.cases.as_test import write_test
from mock_platform.verification.cases.document import SavedCase, read_case
from mock_platform.verification.cases.replay import Replay, replay
from mock_platform.version import __version__

_MAX_LISTED = 100


def print_test(file: Path, kind: Literal["pytest", "node"]) -> None:
    """Print the session of a case as a test.

    Raises:
        click.ClickException: The file is no case, or its requests cannot be repeated.
    """
    with _convert_refusals(file):
        case = read_case(file)
        if case.document.why_not is not None:
            raise CheckFailed(f"{file} cannot be a test: {case.document.why_not}.")
        click.echo(write_test(case, kind), nl=False)


def report_replay(file: Path) -> None:
    """Print where the answers to the requests of a case differ.

    Raises:
        CheckFailed: Some do.
        click.ClickException: The file is no case.
    """
    replayed = _replay(file)
    replayed.platform.close()
    _report(replayed)


def serve_case(
    file: Path, port: int | None, *, log_level: LogLevel, stop_with_stdin: bool, report: bool
) -> None:
    """Serve a case until stopped, after its requests were repeated.

    Raises:
        click.ClickException: The file is no case, or the server cannot start.
    """

    def open_it(settings: Settings) -> Opened:
        replayed = _replay(file)
        try:
            if report:
                with _go_on():
                    _report(replayed)
            else:
                click.echo(_summarize(replayed), err=True)
            return open_replayed(replayed, {"port": settings.port})
        finally:
            replayed.platform.close()

    settings = Settings() if port is None else Settings(port=port)
    serve_until_stopped(
        ServeOptions(
            settings=settings, log_level=log_level, stop_with_stdin=stop_with_stdin, opener=open_it
        )
    )


def _replay(file: Path) -> Replay:
    with _convert_refusals(file), convert_errors():
        return replay(read_case(file))


def _report(replayed: Replay) -> None:
    for note in replayed.notes:
        click.echo(f"Note: {note}.")
    for each in replayed.differences[:_MAX_LISTED]:
        click.echo(str(each))
    if len(replayed.differences) > _MAX_LISTED:
        click.echo(f"… and {len(replayed.differences) - _MAX_LISTED:,} more.")
    if replayed.differences or replayed.case.document.why_not is not None:
        raise CheckFailed(_summarize(replayed))
    click.echo(_summarize(replayed))


def _summarize(replayed: Replay) -> str:
    case, document = replayed.case, replayed.case.document
    if document.why_not is not None:
        return f"The requests of {case.path} cannot be repeated: {document.why_not}."
    count = len(replayed.entries)
    repeated = f"{count:,} request{'' if count == 1 else 's'} of {case.path} repeated"
    differing = len({each.request for each in replayed.differences})
    if not differing:
        return f"{repeated}: every answer is the recorded one.{_name_versions(case)}"
    verb = "answer differs" if differing == 1 else "answers differ"
    return f"{repeated}: {differing:,} {verb}.{_name_versions(case)}"


def _name_versions(case: SavedCase) -> str:
    if not case.is_of_another_version:
        return ""
    by = case.document.versions.mock_platform
    return f" They were recorded with mock_platform {by}, and this is {__version__}."


@contextmanager
def _go_on() -> Iterator[None]:
    try:
        yield
    except CheckFailed as fault:
        click.echo(fault.message)


@contextmanager
def _convert_refusals(file: Path) -> Iterator[None]:
    try:
        yield
    except BadCase as fault:
        raise BadInput(str(fault)) from fault
    except FileNotFoundError as fault:
        raise BadInput(
            f"{file} does not exist. `mock-platform case {shlex.quote(str(file))}` writes the "
            "world of a running server to it."
        ) from fault
    except OSError as fault:
        raise BadInput(f"{file} cannot be read: {fault.strerror}.") from fault
