"""Scenario texts and files: checked as `mock-platform check` does, saved in a scenario folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from mock_platform.control.questions import RELOAD_SCENARIO
from mock_platform.control.refusal import ControlRefusal, refuse_values
from mock_platform.platform import Platform
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.errors import (
    BadParameters,
    BadScenario,
    CannotPerform,
    ScenarioComplaint,
)
from mock_platform.scenario.library import CheckedText, check_text
from mock_platform.scenario.saving import CannotSave, FileExists, find_place, write_file

NO_FOLDER = (
    "The server was started without a folder of scenarios, so there is none to save in. Start it "
    "with --scenario FOLDER, or download the file."
)


class SavedScenario(Struct, frozen=True):
    """A scenario that was saved, and is known to all worlds."""

    file: Path
    scenario: Scenario
    kept: Sequence[str]
    """Why worlds in which it is active go on with its last version."""


def check_scenario_text(
    platform: Platform, text: str, name: str = "scenario.yaml", folder: Path | None = None
) -> CheckedText:
    """Returns the faults and oddities of a text; in a folder it may name files beside it.

    The suffix of `name` decides between YAML and JSON.
    """
    catalog = platform.library.catalog
    try:
        file = None if folder is None else find_place(folder, name)
    except CannotSave:  # a fault of the name, not of the text
        file = None
    return check_text(text.encode(), catalog, name, file)


def find_scenario_folder(platform: Platform, given: str | None = None) -> Path:
    """Returns one of the server's scenario folders: the `given` one, else the first.

    Raises:
        ControlRefusal: 409; the server has none. 422; it has not this one.
    """
    folders = platform.start_up.folders
    if not folders:
        raise ControlRefusal(409, NO_FOLDER)
    if given is None:
        return folders[0]
    for folder in folders:
        if str(folder) == given:
            return folder
    listed = ", ".join(str(folder) for folder in folders)
    fault = f"folder: {given!r} is no folder of scenarios of this server; they are: {listed}"
    raise refuse_values(422, [("folder", fault)], "The scenario was not saved")


def save_scenario(
    platform: Platform, text: str, name: str, folder: Path, *, replace: bool = False
) -> SavedScenario:
    """Save a text as the file `name` of a scenario folder; all worlds know its scenario then.

    Raises:
        ControlRefusal: 422 for a text or a name with faults, 409 if the file exists and is not to
            be replaced, 507 if it cannot be written.
    """
    what = "The scenario was not saved"
    try:
        file = find_place(folder, name)
        checked = check_text(text.encode(), platform.library.catalog, name, file)
        if checked.scenario is None:
            raise refuse_text(checked.complaints, what)
        platform.check_scenario(file, checked.scenario)
        write_file(file, text.encode(), replace=replace)
        kept = platform.reload_scenario(file)
        for others in platform.peers.ask_all(RELOAD_SCENARIO, str(file)).values():
            kept += others
    except FileExists as fault:
        raise refuse_values(409, [("file", f"file: {fault}")], what) from fault
    except CannotSave as fault:
        status = 507 if isinstance(fault.__cause__, OSError) else 422
        raise refuse_values(status, [("file", f"file: {fault}")], what) from fault
    except BadScenario as fault:
        raise refuse_text(fault.complaints, what) from fault
    except (BadParameters, CannotPerform) as fault:
        raise refuse_values(422, [("", str(fault))], what) from fault
    return SavedScenario(file, checked.scenario, kept)


def refuse_text(complaints: Sequence[ScenarioComplaint], what: str) -> ControlRefusal:
    """A refusal of a text: 422 with the line and the column of every fault."""
    faults = [
        {"field": each.field, "message": each.text, "line": each.line, "column": each.column}
        for each in complaints
    ]
    return ControlRefusal(422, f"{what}: {'; '.join(map(_locate, complaints))}", faults=faults)


def _locate(complaint: ScenarioComplaint) -> str:
    where = f"{complaint.field}: " if complaint.field else ""
    return f"line {complaint.line}, column {complaint.column}: {where}{complaint.text}"
