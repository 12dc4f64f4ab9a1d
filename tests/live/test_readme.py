"""The README and the tour: every block is run, as a stranger copies it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.live.pages import ROOT, Page, run_bash_of_a_stranger
from tests.live.processes import Served

pytestmark = pytest.mark.live

README = Page("README.md")
TOUR = Page("docs/tour.md")
INSTALL = Page("docs/install.md")
MOST_LINES = 120


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which the commands are where `make serve` puts them."""
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    return tmp_path


def test_it_is_short_and_begins_with_what_it_is() -> None:
    """Readers learn what it is, install it, and see a test fail; the limits are there too."""
    headings = re.findall(r"^## (.+)$", README.text, re.MULTILINE)

    assert MOST_LINES >= len(README.text.splitlines())
    assert headings[:3] == ["Install", "One failing test in 60 seconds", "Guides"]
    assert {"Compared with others", "What it does not promise"} < set(headings)


def test_the_picture_is_light() -> None:
    """The picture of the console is there, and no reader waits for it."""
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README.text)

    assert 200_000 > (ROOT / picture).stat().st_size


def test_every_block_is_tried() -> None:
    """No language is there that nothing below runs; `console` and `text` only show."""
    assert {"console", "bash", "python", "text"} == README.languages
    assert {"bash", "python"} == TOUR.languages
    assert {"console", "text"} == INSTALL.languages


def test_shown_commands_are_there() -> None:
    """What is shown to be installed and started exists: targets of make, extras, the address."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    shown = "\n".join(README.blocks("console") + INSTALL.blocks("console"))

    targets = re.findall(r"^\$ make (\w+)", shown, re.MULTILINE)
    assert {"serve", "test"} == set(targets)
    assert [] == [name for name in targets if f"\n{name}: " not in makefile]
    for address in re.findall(r"git clone (\S+)", shown):
        assert f'Source = "{address}"' in project
    for extra in re.findall(r"^\| `(\w+)` \|", INSTALL.text, re.MULTILINE):
        assert f"\n{extra} = [" in project


def test_the_first_commands_work(served: Served, checkout: Path) -> None:
    """One request meets an outage; the test fails, and the report is what is shown."""
    (file,) = README.files().items()
    (checkout / file[0]).write_text(file[1], "utf-8")
    *commands, test = README.blocks("bash")

    done = run_bash_of_a_stranger(
        commands[0].replace("http://127.0.0.1:8080", served.url), checkout
    )
    failed = run_bash_of_a_stranger(test, checkout)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("HTTP/1.1 503")
    assert 1 == failed.returncode
    (shown,) = README.blocks("text")
    assert [] == [part for part in shown.split("…\n") if part not in failed.stdout]


def test_the_tour_works_in_a_checkout(served: Served, checkout: Path) -> None:
    """Every command of the tour, as copied into a new shell; only the port is another."""
    script = "\n".join(TOUR.blocks("bash")).replace("http://127.0.0.1:8080", served.url)

    done = run_bash_of_a_stranger(script, checkout)

    assert (0, "") == (done.returncode, done.stderr)
    assert '"job_id":' in done.stdout
    assert "line_items.update" in done.stdout
