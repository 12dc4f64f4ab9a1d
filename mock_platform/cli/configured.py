"""Commands whose options can also stand in `mock-platform.toml`, in the table of their name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from mock_platform.cli.command import CheckedCommand, describe_allowed
from mock_platform.core.errors import Complaint
from mock_platform.core.settings_file import (
    BadSettingsFile,
    SettingsFile,
    find_settings_file,
    read_settings_file,
)
from mock_platform.scenario.outline import is_file


class ConfiguredCommand(CheckedCommand):
    """A command that reads its options from the file too, where nothing else sets them."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:  # fmt: skip
        """Return the context, with the options of the file as defaults.

        Raises:
            click.UsageError: The file has faults; the message has all of them.
        """
        path = find_settings_file(Path.cwd())
        if path is not None and self.name is not None:
            try:
                file = read_settings_file(path)
            except BadSettingsFile as fault:
                raise click.UsageError(str(fault)) from fault
            values, faults = read_options(self, file)
            if faults:
                raise click.UsageError("\n".join(map(str, faults)))
            if values:
                click.echo(f"Options of {path} are used.", err=True)
            extra["default_map"] = values
        return super().make_context(info_name, args, parent, **extra)


def read_options(
    command: click.Command, file: SettingsFile
) -> tuple[dict[str, Any], list[Complaint]]:
    """Return the values of a command's table by parameter, and the faults of the table."""
    table = command.name or ""
    options = dict(_name_options(command))
    faults = list(file.list_faults(table, options))
    values: dict[str, Any] = {}
    for key, given in file.read_table(table).items():
        if key not in options:
            continue
        option = options[key]
        try:
            values[str(option.name)] = _read(option, key, given, file.folder)
        except click.BadParameter as fault:
            fault.param = fault.param or option
            text = f"{key}: {fault.message}{describe_allowed(fault)}"
            faults.append(file.complain(table, key, text))
    return values, faults


def _name_options(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Yield the options by each of their names: for flags, by the opposite too."""
    for param in command.params:
        if isinstance(param, click.Option):
            for name in (*param.opts, *param.secondary_opts):
                yield name.removeprefix("--"), param


def _read(option: click.Option, key: str, given: Any, folder: Path) -> Any:
    """Return a value in the form of the command line.

    Raises:
        click.BadParameter: It is not allowed.
    """
    if option.is_flag:
        if not isinstance(given, bool):
            raise click.BadParameter(f"{given!r} is not true or false.")
        return given if f"--{key}" in option.opts else not given
    texts = [_place(option, _write(each), folder) for each in _list(given)]
    if not option.multiple and len(texts) != 1:
        raise click.BadParameter("it is one value, not a list.")
    value = texts if option.multiple else texts[0]
    option.type_cast_value(click.Context(click.Command("check")), value)
    return value


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _write(value: Any) -> str:
    if isinstance(value, bool | dict | list):
        raise click.BadParameter(f"{value!r} is neither text nor a number.")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _place(option: click.Option, text: str, folder: Path) -> str:
    """Return a value whose path, if it is one, begins at the folder of the file."""
    kept, is_kept, file = text.partition("tinydb:")
    if option.name == "store" and not kept and is_kept:
        return f"tinydb:{folder / file}"
    is_path = isinstance(option.type, click.Path) or (option.name == "scenario" and is_file(text))
    return str(folder / text) if is_path or (option.name == "coverage" and text) else text
