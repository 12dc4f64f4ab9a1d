from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.processes import PATIENCE, Served, environment, serving

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """The code blocks of one language, in order."""
    return [text for name, text in _BLOCK.findall(README) if name == language]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """The server that the tour speaks of, on a port of its own."""
    with serving() as running:
        yield running


def test_it_begins_with_what_it_does_not_promise() -> None:
    """Limits come before features."""
    headings = re.findall(r"^## (.+)$", README, re.MULTILINE)

    assert headings[0] == "What it does not promise"


def test_every_block_is_tried() -> None:
    """No language is there that nothing below runs; `console` shows, it is not to be copied."""
    assert {"console", "bash", "python"} == {name for name, _ in _BLOCK.findall(README)}


def test_the_tour_works_as_one_walks_it(served: Served) -> None:
    """Every command of the tour, one after the other, as copied; only the port is another."""
    script = "\n".join(blocks("bash")).replace("http://127.0.0.1:8080", served.url)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment(PATH=path),
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert '"job_id":' in done.stdout
    assert "line_items.update" in done.stdout


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_examples_work(number: int, tmp_path: Path) -> None:
    """Each example runs by itself, in a folder of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", blocks("python")[number]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment(),
    )

    assert (0, "") == (done.returncode, done.stderr)


def test_links_lead_somewhere() -> None:
    """Every file that the page links to is there."""
    links = re.findall(r"\]\(([^)#:]+)\)", README)

    assert links
    assert [] == [link for link in links if not (ROOT / link).exists()]
