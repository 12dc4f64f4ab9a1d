"""The group of all commands. Other modules have the commands, and others again implement them.

What implements a command is imported when it runs, so that `--help` and usage errors are fast.
"""

from __future__ import annotations

import errno
import os
import sys

import click

from mock_platform.cli.checking_commands import CHECKING_COMMANDS
from mock_platform.cli.command import PREFIX, CheckedGroup
from mock_platform.cli.live_commands import LIVE_COMMANDS
from mock_platform.cli.printing_commands import PRINTING_COMMANDS
from mock_platform.cli.service_commands import SERVICE_COMMANDS
from mock_platform.cli.serving_commands import SERVING_COMMANDS
from mock_platform.version import __version__

_NAME = "mock-platform"
_SECTIONS = (
    ("Start a sandbox", ("serve", "run", "open", "verify")),
    ("Watch what it does", ("requests", "costs", "case", "worlds")),
    ("Break something, and undo it", ("scenarios", "failures", "on", "off", "clock", "reset")),
    ("For agents", ("mcp",)),
    ("Data", ("make", "credentials", "record", "import")),
    ("Check", ("check", "fit", "coverage", "diff", "fidelity")),
    ("The contract", ("operations", "where", "openapi", "assumptions", "contract", "pact")),
    ("Help and set-up", ("docs", "hosts")),
)


@click.group(
    cls=CheckedGroup,
    sections=_SECTIONS,
    context_settings={
        "auto_envvar_prefix": PREFIX,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog=(
        "New here? `mock-platform serve` starts a sandbox, `mock-platform docs tour` prints a "
        "tour, and `mock-platform COMMAND --help` explains a command. Every option can also be set "
        "by a variable MOCK_PLATFORM_<COMMAND>_<OPTION>, and those of serve and run in a file "
        "mock-platform.toml; the command line wins, then the variable."
    ),
)
@click.version_option(__version__, prog_name=_NAME, allow_from_autoenv=False)
def group() -> None:
    """A sandbox that you run instead of a social platform's real API."""


_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""What ends a write although the file could be opened."""


def main() -> None:
    """Run the command line."""
    _open_closed_streams()
    try:
        group(prog_name=_NAME)
    except OSError as fault:
        # Commands report the files that they write themselves; what is left is what they print.
        if fault.errno not in _NO_ROOM or fault.filename is not None:
            raise
        click.echo(f"Error: the output cannot be written: {fault.strerror}.", err=True)
        # What could not be written is still kept, and Python would try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _open_closed_streams() -> None:
    """Let streams that are closed (`>&-`) be as `/dev/null`.

    Otherwise the first files that are opened get their numbers, and there is nothing to print to.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003 - for the CMD of `run`
            setattr(sys, name, stream)


for _command in (
    *SERVING_COMMANDS,
    *PRINTING_COMMANDS,
    *CHECKING_COMMANDS,
    *LIVE_COMMANDS,
    *SERVICE_COMMANDS,
):
    group.add_command(_command)
