"""Copies the pages into a folder of their own, as the generator of the site reads them."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from pathlib import Path

from docs.generators.rooms import ROOT
from docs.generators.site.navigation import KINDS, arrange
from mock_platform.control.operation_pages import write_list, write_operation
from mock_platform.platform import Platform

FRONT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_ADDRESS = "http://127.0.0.1:8080"
_CODE = "generators"
_PICTURE = re.compile(r"```mermaid\nflowchart TD\n(.*?)```\n", re.DOTALL)
_BOX = re.compile(r'^  (\w+)\["(.+)"\]$', re.MULTILINE)
_ARROW = re.compile(r"^  (\w+) --> (\w+)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def stage(folder: Path) -> str:
    """Copy all pages to an empty folder, with an index.

    Returns:
        A checksum of everything that was copied: equal sources make an equal site.
    """
    for name in (*FRONT, "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(
        ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns(_CODE, "__pycache__")
    )
    pages = sorted(folder.rglob("*.md"))
    source = _read_source_address()
    for page in pages:
        text = _lead_outside(page, page.read_text("utf-8"), folder, source)
        page.write_text(_PICTURE.sub(lambda drawn: _tell(drawn[1]), text), "utf-8")
    names = [page.relative_to(folder).with_suffix("").as_posix() for page in pages]
    (folder / "index.md").write_text(_write_index(names), "utf-8")
    return _sum(folder)


def write_texts(folder: Path) -> None:
    """Write the list for coding agents, and the text page of each operation."""
    platform = Platform()
    world = platform.worlds.default
    place = folder / "operations"
    place.mkdir(parents=True)
    for operation in platform.operations:
        text = write_operation(platform, operation, world, _ADDRESS)
        (place / f"{operation.id}.txt").write_text(text, "utf-8")
    text = write_list(
        platform.operations,
        _ADDRESS,
        lambda name: f"docs/{name}.html",
        lambda name: f"operations/{name}.txt",
    )
    (folder / "llms.txt").write_text(text, "utf-8")


def _lead_outside(page: Path, text: str, folder: Path, source: str) -> str:
    """Returns a page whose links to code lead to the repository: the site does not have the code.

    Raises:
        LookupError: A link leads to no file.
    """
    place = page.parent.relative_to(folder)

    def lead(found: re.Match[str]) -> str:
        if (page.parent / found[1]).exists():
            return found[0]
        target = (ROOT / place / found[1]).resolve()
        if not target.exists():
            raise LookupError(f"{page.relative_to(folder)}: there is no {found[1]}")
        path = target.relative_to(ROOT).as_posix()
        return f"]({source}/blob/main/{path}{found[2] or ''})"

    return _LINK.sub(lead, text)


def _read_source_address() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    address: str = project["project"]["urls"]["Source"]
    return address


def _tell(picture: str) -> str:
    """Returns a picture of boxes and arrows as a list: drawing it needs a program of megabytes."""
    labels = dict(_BOX.findall(picture))
    arrows: dict[str, list[str]] = {}
    for begin, end in _ARROW.findall(picture):
        arrows.setdefault(begin, []).append(end)
    return "".join(
        f"- `{labels[begin]}` → {', '.join(f'`{labels[end]}`' for end in ends)}\n"
        for begin, ends in arrows.items()
    )


def _write_index(names: list[str]) -> str:
    """Returns the first page: what each kind of page is for, and the navigation."""
    arranged = arrange(names)
    lines = [
        "# mock_platform",
        "",
        "The sandbox that you run instead of a social platform's real API: it follows the "
        "specification, keeps state, fails on command, and names whatever it had to assume.",
    ]
    for kind in KINDS:
        pages = arranged[kind.title]
        lines += ["", f"## {kind.title}", "", kind.purpose, ""]
        lines += ["```{toctree}", f":caption: {kind.title}", ":maxdepth: 1", "", *pages, "```"]
    return "\n".join(lines) + "\n"


def _sum(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
