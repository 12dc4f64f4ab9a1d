"""The command `verify`: the options of `run`, and those of the gate; `gating` implements it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from mock_platform.cli.command import CheckedCommand

_FILE = click.Path(path_type=Path, dir_okay=False)
_EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)


def make_verify(run: click.Command) -> click.Command:
    """Return the command, which takes what `run` takes, except for `--verify`."""

    @click.command("verify", cls=CheckedCommand, context_settings=run.context_settings)
    @click.option(
        "--contract",
        type=_FILE,
        metavar="FILE",
        help="A kept document of `mock-platform contract`: the contract of this package may break "
        "nothing that it promised.",
    )
    @click.option(
        "--against",
        metavar="URL",
        help="Compare the server at this address with the sandbox, as `mock-platform diff` does, "
        "but with GET alone.",
    )
    @click.option(
        "--skip", multiple=True, metavar="WHAT",
        help="With --against: send no requests for these operations, with * for any text, or of "
             "this kind (parameters, pages, refusals); repeatable, or separated by commas.",
    )  # fmt: skip
    @click.option(
        "--methods/--no-methods",
        help="With --against: also send PATCH without a body, to ids that do not exist; no "
        "operation has this method.",
    )
    @click.option(
        "--accepted",
        type=_FILE,
        metavar="FILE",
        help="With --against: the differences that are known and accepted.",
    )
    @click.option(
        "--credentials-file",
        type=_EXISTING,
        metavar="FILE",
        help="With --against: the credentials for it, as for `mock-platform diff`.",
    )
    @click.option(
        "--ca",
        type=_EXISTING,
        metavar="FILE",
        help="With --against: certificate authority to trust, if the server has its own.",
    )
    @click.option(
        "--yes/--no-yes",
        help="With --against: send signed requests without asking.",
    )
    @click.option(
        "--summary", type=_FILE, metavar="FILE",
        help="Add the page to a file as markdown, such as \"$GITHUB_STEP_SUMMARY\".",
    )  # fmt: skip
    def verify(
        *,
        command: tuple[str, ...],
        contract: Path | None,
        against: str | None,
        skip: tuple[str, ...],
        methods: bool,
        accepted: Path | None,
        credentials_file: Path | None,
        ca: Path | None,
        yes: bool,
        summary: Path | None,
        **values: Any,
    ) -> None:
        """Run CMD with a server on a free port, check everything, and print one page.

        It passes if CMD succeeds, every rule that had to act did, nothing that CMD sent was unknown
        or ignored, the coverage is what it must be, no kept promise of the contract is broken, and
        another server differs only as accepted. Otherwise the exit status is 1, and the page says
        for each part what to do.
        """
        from mock_platform.cli.gating import GateOptions, verify_command
        from mock_platform.cli.run_report import read_run_options

        if not command:
            text = "The command is missing. For instance: mock-platform verify -- pytest -q"
            raise click.UsageError(text)
        if against is None and (accepted or credentials_file or ca or yes or skip or methods):
            raise click.UsageError(
                "--accepted, --credentials-file, --ca, --skip, --methods and --yes need "
                "--against URL."
            )
        gate = GateOptions(
            contract, against, skip, methods, credentials_file, ca, accepted, yes, summary
        )
        sys.exit(verify_command(list(command), read_run_options(values), gate))

    verify.params = [*verify.params, *(each for each in run.params if each.name != "verify")]
    return verify
