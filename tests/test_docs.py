"""The documentation knows everything that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.generators.pages import PAGES
from mock_platform.cli.main import group
from mock_platform.control.routes import ROUTES
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from tests.live.pages import ROOT, Page

DOCS = Path(__file__).parent.parent / "docs"
FRONT = (
    "README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
    "clients/javascript/README.md",
)  # fmt: skip


# The tests of the figures check their page: to measure them takes long.
@pytest.mark.parametrize("name", [each for each in PAGES if each != "fidelity.md"])
def test_a_generated_page_is_what_the_generator_writes(name: str) -> None:
    """The committed page shows the code as it is; `make docs` writes it."""
    assert PAGES[name]() == (DOCS / name).read_text("utf-8"), "run `make docs`"


@pytest.mark.parametrize(
    "path", [*sorted(file.relative_to(ROOT).as_posix() for file in DOCS.rglob("*.md")), *FRONT]
)
def test_links_lead_somewhere(path: str) -> None:
    """Every file and every heading that a page links to is there."""
    assert Page(path).dead_links() == []


def test_the_front_page_links_every_page() -> None:
    """Whoever opens `docs/` finds all pages there."""
    text = (DOCS / "README.md").read_text("utf-8")
    pages = [file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md")]

    assert [] == [page for page in pages if page != "README.md" and f"]({page})" not in text]


def test_the_fault_that_the_page_on_fixtures_shows(tmp_path: Path) -> None:
    """A file with that mistake is answered with that line."""
    ((_, ((shown,),)),) = Page("docs/tables.md").runs()
    folder = tmp_path / "my-fixtures"
    folder.mkdir()
    (folder / "line_items.json").write_text('[\n  {"id": "a",\n    "objective": "NOISE"}\n]')

    checked = CliRunner().invoke(group, ["check", str(folder)])

    assert f"{tmp_path}/{shown.removesuffix('…')}" in checked.output


def test_the_pages_of_the_click_lesson_are_there() -> None:
    """Each address that it names is a page of the console."""
    addresses = re.findall(r"\((?:`(/_mock/[^`]*)`)", (DOCS / "click-lesson.md").read_text("utf-8"))
    client = create_app(Platform()).test_client()

    assert len(addresses) > 5
    assert {200} == {client.get(address).status_code for address in addresses}


def test_every_header_is_documented() -> None:
    """Each header of our own is in the tables of the page of the control plane."""
    text = (DOCS / "control-plane.md").read_text("utf-8")
    section = text.partition("\n## Headers\n")[2].partition("\n## ")[0]
    sources = [path.read_text("utf-8") for path in (ROOT / "mock_platform").rglob("*.py")]
    headers = {name for each in sources for name in re.findall(r"X-Mock-[A-Z][A-Za-z-]+", each)}

    assert len(headers) > 10
    assert set() == {name for name in headers if f"`{name}" not in section}


def test_every_control_route_is_documented() -> None:
    """Each route of the control plane is in its page, with its method."""
    text = (DOCS / "control-plane.md").read_text("utf-8")
    missing = []
    for route in ROUTES:
        path = re.sub(r"<(?:path:)?\w+>", "[A-Z]+", route.path.replace(".", r"\."))
        pattern = rf"{route.method}[^\n]*`?/_mock{path}(?:`|$|\?)"
        if re.search(pattern, text, re.MULTILINE) is None:
            missing.append(f"{route.method} {route.path}")

    assert missing == []


_CURL = re.compile(r"\bcurl +(-[A-Za-z]+)")
_SHOWING = ("README.md", "docs", "clients", "mock_platform", ".github")
_TEXTS = {".md", ".sh", ".yml", ".yaml", ".py", ".html", ".js", ".mjs", ".txt"}


def test_every_curl_command_says_why_there_was_no_answer() -> None:
    """Each is quiet about progress (`s`) and shows errors (`S`): else nothing is printed."""
    files = [
        file
        for name in _SHOWING
        for file in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
        if file.suffix in _TEXTS and not {"node_modules", "site"} & set(file.parts)
    ]
    found = [
        (flags, f"{file.relative_to(ROOT)}: {line.strip()}")
        for file in files
        for line in file.read_text("utf-8").splitlines()
        for flags in _CURL.findall(line)
    ]

    assert len(found) > 200
    assert [] == [line for flags, line in found if not {"s", "S"} <= set(flags)]
