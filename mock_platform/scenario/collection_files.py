"""Reads the files that collections of a scenario name, from the folder of the scenario.

The records take the place of the file's name in the document, so whatever keeps, sends or binds a
document needs no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from mock_platform.scenario.effects.collection import find_item_faults
from mock_platform.scenario.forms import Path, Report, parse_reference
from mock_platform.scenario.source import MAX_VALUES, Malformed, count_values, read


class _Unusable(ValueError):
    """A file with records that cannot be used."""


def insert_records(
    document: Mapping[str, Any], file: FilePath | None, report: Report
) -> list[FilePath]:
    """Replace the names of files in a document by their records; return the files that were read.

    `file` is the file of the scenario; without one, no file can be named.
    """
    files = []
    for at, effect in list(_find_collections(document)):
        given = effect["collection"]
        named = given.get("file") if isinstance(given, dict) else given
        if not isinstance(named, str):
            continue
        rest = given if isinstance(given, dict) else {}
        place = (*at, "collection", "file") if rest else (*at, "collection")
        try:
            path, records = _read_records(named, file, rest.get("id", "id"))
        except _Unusable as fault:
            report(place, str(fault))
            continue
        files.append(path)
        kept = {name: value for name, value in rest.items() if name != "file"}
        effect["collection"] = {"items": _escape(records), **kept}
    if files and count_values(document) > MAX_VALUES:
        report(("rules",), f"holds, with its files, more than {MAX_VALUES:,} values")
    return files


def _find_collections(document: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for index, rule in enumerate(document["rules"]):
        then = rule["then"]
        if isinstance(then, list):
            places: list[tuple[Path, Any]] = [
                (("rules", index, "then", number), each) for number, each in enumerate(then)
            ]
        else:
            places = [(("rules", index, "then"), then)]
        yield from ((at, effect) for at, effect in places if "collection" in effect)


def _read_records(named: str, file: FilePath | None, id_: str) -> tuple[FilePath, list[Any]]:
    """Return the path of a named file, and its records.

    Raises:
        _Unusable: They cannot be used; the text says why.
    """
    if file is None:
        raise _Unusable("only a scenario in a file can name one; write the records here, as a list")
    if "\0" in named:
        raise _Unusable(f"the name of a file has no NUL character, got {named!r}")
    path = file.parent / named
    if not path.resolve().is_relative_to(file.parent.resolve()):
        raise _Unusable(f"{named} is outside of the scenario's folder, {file.parent}")
    if path.suffix != ".json":
        raise _Unusable(f"expected a JSON file (.json), got {named}")
    try:
        records = read(path, path.read_bytes()).data
    except OSError as fault:
        raise _Unusable(f"{path} cannot be read: {fault.strerror or fault}") from fault
    except Malformed as fault:
        raise _Unusable(f"{path}:{fault.line}:{fault.column}: {fault.text}") from fault
    if not isinstance(records, list):
        raise _Unusable(f"{path}: expected an array of objects")
    faults = find_item_faults(records, id_)
    if faults:
        index, text = faults[0]
        more = f" ({len(faults)} faults)" if len(faults) > 1 else ""
        raise _Unusable(f"{path}: record {index}: {text}{more}")
    return path, records


def _escape(value: Any) -> Any:
    """Return data as a scenario writes it: a text that looks like a parameter gets one more `$`."""
    if isinstance(value, dict):
        return {key: _escape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escape(item) for item in value]
    escaped = isinstance(value, str) and (value.startswith("$$") or parse_reference(value))
    return f"${value}" if escaped else value
