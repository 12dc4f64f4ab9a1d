"""What all reports share: the formats of files, one page of HTML, and how files are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Format = Literal["text", "json", "junit", "html"]
SUFFIXES: Mapping[str, Format] = {
    ".html": "html",
    ".json": "json",
    ".txt": "text",
    ".xml": "junit",
}
"""The format of a file by the end of its name."""


def render_page(name: str, **values: Any) -> str:
    """Return one page that needs no other file: no script, style sheet or font.

    Args:
        name: The template, which fills the blocks of `report.html`.
        **values: What the template shows.
    """
    # Loaded here: the template engine is of no use to the other forms.
    from jinja2 import Environment, PackageLoader

    engine = Environment(
        loader=PackageLoader("mock_platform.verification"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return engine.get_template(f"{name}.html").render(**values)


def write_file(text: str, name: str, folder: Path) -> str:
    """Write a report to a file below a folder; return a line about it.

    Raises:
        OSError: The file cannot be written.
    """
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return f"written to {name}"


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun: `1 test`, `2,000 tests`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
