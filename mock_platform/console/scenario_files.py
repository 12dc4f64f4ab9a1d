"""Files of scenarios that the console writes, below the folder given with `--scenario`."""

from __future__ import annotations

import re
from pathlib import Path

from mock_platform.control.refusal import ControlRefusal, refuse_values
from mock_platform.scenario.schema import SCENARIO_NAME
from mock_platform.settings import Settings


def find_folder(settings: Settings) -> Path | None:
    """Returns the first folder that was given with `--scenario`; `None` without one."""
    return next((Path(each) for each in settings.scenarios if Path(each).is_dir()), None)


def save_scenario(settings: Settings, name: str, text: str, *, replaces: bool = False) -> Path:
    """Write a checked scenario into the folder, as NAME.yaml; returns the file.

    Raises:
        ControlRefusal: 409 without a folder, or if there is such a file and it is not to be
            replaced; 422 for a name that no scenario can have; 507 if the file cannot be written.
    """
    folder = find_folder(settings)
    if folder is None:
        raise ControlRefusal(
            409,
            "The server has no folder for scenarios: start it with --scenario FOLDER, or download "
            "the file.",
        )
    if re.fullmatch(SCENARIO_NAME, name) is None:
        text = f"{name!r} cannot be the name of a scenario: use small letters, digits, - and _"
        raise refuse_values(422, [("name", text)], "The scenario was not saved")
    file = folder.resolve() / f"{name}.yaml"
    if file.is_symlink():  # it may lead out of the folder
        raise refuse_values(
            422, [("name", f"{file} is a link; use another name")], "The scenario was not saved"
        )
    if file.exists() and not replaces:
        why = f"there is a file {file} already; replace it, or use another name"
        raise refuse_values(409, [("name", why)], "The scenario was not saved")
    new = file.with_name(f".{name}.yaml.new")
    try:
        # First beside it: a file that is being watched is never half written.
        new.write_text(text, "utf-8")
        new.replace(file)
    except OSError as fault:
        why = f"{file} cannot be written: {fault.strerror or fault}"
        raise ControlRefusal(507, why) from fault
    return file
