"""The exceptions that end a command: an exit status and one message that says what to do.

Usage errors (2) are click's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import click


class CheckFailed(click.ClickException):
    """A check failed; the message says which."""

    exit_code: ClassVar[int] = 1


class CannotListen(click.ClickException):
    """The server cannot listen on the address."""

    exit_code: ClassVar[int] = 3


class BadInput(click.ClickException):
    """Fixtures, a store or a certificate authority that cannot be used."""

    exit_code: ClassVar[int] = 4


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert errors of a server's environment into exceptions with an exit status."""
    # The callers have already imported these; imports at the top would slow down `--help`.
    from mock_platform.core.errors import BadParameters, BadScenario, CannotPerform, UnknownScenario
    from mock_platform.core.installed import MissingExtra
    from mock_platform.core.tables.fixtures import BadFixtures
    from mock_platform.serving.http import CannotBind
    from mock_platform.serving.http.tls import AuthorityUnreadable
    from mock_platform.world.store.backends import BadStore, NeedsEngine
    from mock_platform.world.store.errors import StoreError

    try:
        yield
    except BadFixtures as fault:
        raise BadInput(
            f"{count_faults(len(fault.complaints))} in the fixtures.\n{fault}"
        ) from fault
    except BadScenario as fault:
        raise BadInput(
            f"{count_faults(len(fault.complaints))} in the scenarios.\n{fault}"
        ) from fault
    except UnknownScenario as fault:
        raise BadInput(
            f"{fault} `mock-platform scenarios` lists the scenarios of the package."
        ) from fault
    except (BadParameters, CannotPerform) as fault:
        raise BadInput(str(fault)) from fault
    except CannotBind as fault:
        raise CannotListen(str(fault)) from fault
    except (BadStore, MissingExtra, NeedsEngine) as fault:
        raise click.UsageError(str(fault)) from fault
    except (StoreError, AuthorityUnreadable) as fault:
        raise BadInput(str(fault)) from fault


def write_report(file: Path, text: str) -> None:
    """Write a report, and make its folder.

    Raises:
        CheckFailed: It cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    except OSError as fault:
        raise CheckFailed(f"{file} cannot be written: {fault.strerror}.") from fault


def count_faults(faults: int) -> str:
    """Return `1 fault`, `2 faults` and so on."""
    return f"{faults} fault{'' if faults == 1 else 's'}"
