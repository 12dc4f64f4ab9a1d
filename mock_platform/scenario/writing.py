"""Writes scenario documents as files: YAML as people write it, and only into their folder."""

from __future__ import annotations

import io
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from pathlib import Path as FilePath
from typing import Any

from mock_platform.core.documents.source import Malformed, read
from mock_platform.core.jsonio import dumps, pretty
from mock_platform.scenario.library import is_named_like_table
from mock_platform.scenario.outline import SUFFIXES

YAML_SUFFIX = ".yaml"
JSON_SUFFIX = ".json"
_WIDTH = 100
_TEXT = "tag:yaml.org,2002:str"


def write_document(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return a document as text, and the suffix of a file for it.

    YAML, unless reading it back would give other values: it has no number of more than 18 digits.
    """
    text = _write_yaml(document)
    try:
        same = dumps(read(FilePath(f"scenario{YAML_SUFFIX}"), text.encode()).data) == dumps(
            document
        )
    except Malformed:
        same = False
    return (text, YAML_SUFFIX) if same else (f"{pretty(document)}\n", JSON_SUFFIX)


def _write_yaml(document: Mapping[str, Any]) -> str:
    from ruamel.yaml import YAML  # 40 ms that servers which write no scenario do not pay
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.representer import SafeRepresenter

    class Plain(SafeRepresenter):
        """Writes texts in the style that is easiest to read, and never an alias."""

        def ignore_aliases(self, data: Any) -> bool:
            """Write a value out wherever it occurs: a scenario has no aliases."""
            return True

        def write_text(self, text: str) -> ScalarNode:
            """Return the node of a text."""
            return self.represent_scalar(_TEXT, text, style=_choose_style(text))

    Plain.add_representer(str, Plain.write_text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Plain
    yaml.default_flow_style = False
    yaml.width = _WIDTH
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.indent(mapping=2, sequence=4, offset=2)
    written = io.StringIO()
    yaml.dump(dict(document), written)
    return written.getvalue()


def _choose_style(text: str) -> str | None:
    """Return the style of a text: a block for lines, folded if long, quoted if it must be."""
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        return '"'
    whole = all(line == line.strip() for line in lines) and text[:1] not in {"", "\n"}
    if len(lines) > 1:
        return "|" if whole else '"'
    return ">" if whole and len(text) > _WIDTH // 2 and "  " not in text and " " in text else None


# Writes scenario files into a folder: never outside of it, and each file as a whole.

_STEP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", re.ASCII)
_MAX_STEPS = 5
_MODE = 0o644


class CannotSave(ValueError):
    """A file cannot be written; the text says why, and what to do."""


class FileExists(CannotSave):
    """There is a file of this name, and it may not be replaced."""


def find_place(folder: Path, name: str) -> Path:
    """Return the path of the file `name` in a folder; it may be in a subfolder.

    Raises:
        CannotSave: It is no name of a scenario file, or leads out of the folder.
    """
    steps = name.split("/")
    allowed = "letters, digits, dots, hyphens and underscores, a slash before each part below"
    if not all(_STEP.fullmatch(step) for step in steps) or len(steps) > _MAX_STEPS:
        raise CannotSave(
            f"{name!r} is no name for a file in {folder}: write {allowed}, such as "
            "late/webhook.yaml"
        )
    path = folder / name
    if path.suffix not in SUFFIXES:
        raise CannotSave(f"{name!r} must end in one of {', '.join(SUFFIXES)}")
    if is_named_like_table(path):
        raise CannotSave(f"{name!r} is the name of a fixture file; choose another one, or .yaml")
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise CannotSave(f"{name!r} leads out of {folder} through a link; choose another folder")
    if path.is_dir():
        raise CannotSave(f"{name!r} is a folder; name a file in it")
    return path


def write_file(path: Path, content: bytes, *, replace: bool) -> None:
    """Write a file at once: half of it is never seen, and a failure leaves the old one.

    Raises:
        FileExists: There is one already, and it is not to be replaced.
        CannotSave: The system refuses to write it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, content, replace=replace)
    except FileExistsError as error:
        text = f"{path} exists already; ask for its replacement, or choose another name"
        raise FileExists(text) from error
    except OSError as error:
        raise CannotSave(f"{path} cannot be written: {error.strerror or error}") from error


def _write_whole(path: Path, content: bytes, *, replace: bool) -> None:
    # mkstemp makes a file that only its owner can read, under a name that no reader looks for.
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        part.chmod(_find_mode(path))
        if replace:
            part.replace(path)
        else:
            path.hardlink_to(part)  # in contrast to a replacement it fails if there is a file
    finally:
        part.unlink(missing_ok=True)


def _find_mode(path: Path) -> int:
    """Return the permissions of a file that exists, else those of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return _MODE
