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
    pages = sorted(file.stem for file in ROOT.joinpath("docs").glob("*.md"))
    assert (0, ["readme", "changelog", "contributing", "security", *pages]) == (status, names)
    assert all(len(line.split()) > 1 for line in listed.splitlines())


@pytest.mark.parametrize("name", ["for-qa", "for-qa.md", "docs/for-qa.md", "FOR-QA"])
def test_a_page_is_printed(name: str) -> None:
    """By its name, also as links spell it."""
    status, text = _run(name)

    assert 0 == status
    assert ROOT.joinpath("docs", "for-qa.md").read_text("utf-8").strip() == text.strip()


def test_a_misspelt_page_is_explained() -> None:
    """The message has the nearest name, and how to list all."""
    assert (
        1,
        "Error: There is no page 'for-qq'. Did you mean 'for-qa'? `mock-platform docs` lists all "
        "pages.\n",
    ) == _run("for-qq")


def test_a_page_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the machine's own program; where none opens it, the file is named."""
    opened: list[str] = []
    answers = iter([0, 1])

    def launch(url: str) -> int:
        opened.append(url)
        return next(answers)

    monkeypatch.setattr(click, "launch", launch)
    readme, page = str(ROOT / "README.md"), str(ROOT / "docs" / "for-qa.md")

    assert (0, "") == _run("--open")
    status, text = _run("--open", "for-qa")

    assert [readme, page] == opened
    assert 1 == status
    assert page in text


def test_the_pages_of_an_installed_package_are_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There all pages are in one folder."""
    for name in ("README.md", "SECURITY.md", "for-qa.md"):
        (tmp_path / name).write_text(f"# Title of {name}\n")
    monkeypatch.setattr(docs, "folder", lambda _: tmp_path)

    lines = docs.list_pages().splitlines()

    assert ["readme", "security", "for-qa"] == [line.split()[0] for line in lines[1:]]
