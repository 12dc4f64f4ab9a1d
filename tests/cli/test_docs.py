from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mock_platform.cli import docs
from mock_platform.cli.main import group

ROOT = Path(__file__).parents[2]


def _run(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(group, ["docs", *args])
    return done.exit_code, done.output


def test_every_page_is_listed_with_its_title() -> None:
    """All pages of `docs/`, and those at the root of a checkout."""
    status, listed = _run()

    names = [line.split()[0] for line in listed.splitlines()[1:]]
    pages = [file.stem.lower() for file in sorted(ROOT.joinpath("docs").glob("*.md"))]
    pages[pages.index("readme")] = "index"
    assert (0, ["readme", "changelog", "contributing", "security", *pages]) == (status, names)
    assert all(len(line.split()) > 1 for line in listed.splitlines())


@pytest.mark.parametrize("name", ["for-qa", "for-qa.md", "docs/for-qa.md", "FOR-QA"])
def test_a_page_is_printed(name: str) -> None:
    """By its name, also as links spell it."""
    status, text = _run(name)

    assert 0 == status
    assert ROOT.joinpath("docs", "for-qa.md").read_text("utf-8").strip() == text.strip()


def test_agents_have_a_page_of_their_own() -> None:
    """It is short, begins with what tools read of a skill, and names what an agent needs."""
    status, text = _run("skill")

    assert 0 == status
    assert text.startswith("---\nname: mock-platform\ndescription: ")
    assert len(text.splitlines()) < 200
    headings = {"Start", "Credentials", "Worlds", "Failures", "Time", "Why", "Costs"}
    assert headings < {line[3:] for line in text.splitlines() if line.startswith("## ")}
    assert "`mock-platform mcp`" in text
    assert "mock-platform docs skill" in ROOT.joinpath("AGENTS.md").read_text("utf-8")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is opened, from a package whose pages are in `tmp_path`."""
    found: list[str] = []

    def launch(url: str) -> int:
        found.append(url)
        return 0

    monkeypatch.setattr(click, "launch", launch)
    monkeypatch.setattr(docs, "folder", lambda _: tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "for-qa.md"):
        (tmp_path / "docs" / name).write_text(f"# Title of {name}\n")
    return found


@pytest.mark.parametrize("place", ["docs/site", "build/site"])
def test_the_site_is_opened(opened: list[str], tmp_path: Path, place: str) -> None:
    """Its first page, or the page that is named: from the package, or from where it was built."""
    site = tmp_path / place
    site.mkdir(parents=True)
    (site / "index.html").touch()

    done = [_run("--open"), _run("--open", "for-qa"), _run("--open", "readme")]

    assert [(0, "")] * 3 == done
    expected = [site / "index.html", site / "docs" / "for-qa.html", site / "README.html"]
    assert [str(file) for file in expected] == opened


def test_without_a_site_the_text_is_opened(opened: list[str], tmp_path: Path) -> None:
    """It is said what would build the site."""
    status, told = _run("--open", "for-qa")

    assert (0, [str(tmp_path / "docs" / "for-qa.md")]) == (status, opened)
    assert "The site is not built here (`make site`); opening the text.\n" == told


@pytest.mark.parametrize("words", [(), ("--open",)], ids=["printed", "opened"])
def test_a_misspelt_page_is_explained(opened: list[str], words: tuple[str, ...]) -> None:
    """The message has the nearest name, and how to list all."""
    told = (
        "Error: There is no page 'for-qq'. Did you mean 'for-qa'? `mock-platform docs` lists all "
        "pages.\n"
    )

    assert (1, told) == _run(*words, "for-qq")
    assert [] == opened


def test_a_page_that_nothing_opens_is_named(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file can be opened by other means."""
    monkeypatch.setattr(click, "launch", lambda _: 1)

    status, told = _run("--open", "for-qa")

    assert 1 == status
    assert str(tmp_path / "docs" / "for-qa.md") in told


def test_the_pages_of_an_installed_package_are_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There all pages are in one folder."""
    for name in ("README.md", "SECURITY.md", "for-qa.md"):
        (tmp_path / name).write_text(f"# Title of {name}\n")
    monkeypatch.setattr(docs, "folder", lambda _: tmp_path)

    lines = docs.list_pages().splitlines()

    assert ["readme", "security", "for-qa"] == [line.split()[0] for line in lines[1:]]
