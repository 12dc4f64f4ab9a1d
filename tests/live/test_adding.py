"""The pages on how to add something, followed in a copy of the checkout."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import test_words
from tests.commands import environment, python
from tests.live.pages import Page

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
COPIED = (
    "mock_platform", "fixtures", "scenarios", "docs", "tests", "clients", "pyproject.toml",
)  # fmt: skip
WRITE = """
import sys
from docs.generators.pages import DOCS, PAGES
for name in sys.argv[1:]:
    (DOCS / name).write_text(PAGES[name](), "utf-8")
"""
"""A few of the generated pages: writing all of them, as `make docs` does, takes 8 s."""
_FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"`(\w+)` in `([\w/]+\.py)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LIMITS = """
from mock_platform.api.served import OPERATIONS
found = [each for each in OPERATIONS if each.id in ("stickers.list", "stickers.get")]
print([limit.count for each in found for limit in each.limits if limit.name == "account reads"])
"""
"""The rate windows of the reads."""
_WHERE = """
from mock_platform.cli.main import group
group(["where", "POST /12/accounts/1/stickers"])
"""
"""The module that answers a request, as the command tells it."""
_IMPORTED = """
import json
from pathlib import Path
from mock_platform.settings import Settings
from mock_platform.verification.importing.folder import import_har
from tests.support import ACCOUNT, Sandbox
from tests.verification.importing.support import write_bare_journal
box = Sandbox(Settings(limits="off"))
box.call("GET", f"/12/accounts/{ACCOUNT}/stickers")
report = import_har(write_bare_journal(box, Path("stickers.har")), Path("made"))
print([each["name"] for each in json.loads((report.folder / "stickers.json").read_bytes())])
"""
"""A recording of the list, made a folder of records."""
_KEPT = """
from mock_platform import MockPlatform
with MockPlatform.start(store="json:worlds.json") as platform:
    platform.state["accounts"].patch("18ce54d4x5t", {"name": "Kept"})
with MockPlatform.start(store="json:worlds.json") as platform:
    print([a["name"] for a in platform.state["accounts"].all() if a["id"] == "18ce54d4x5t"])
"""
"""A world that is kept by one server and found by the next."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the checkout, without what git does not have."""
    # What is compiled already is copied as well: it fits as long as the times of the files do.
    unwanted = shutil.ignore_patterns("node_modules", ".*")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=unwanted)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def follow(page: str, copy: Path) -> None:
    """Write the files of a page, and put its lines into their tables."""
    text = Page(page).text
    for name, content in _FILE.findall(text):
        assert not (copy / name).exists(), name
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(content, "utf-8")
    for table, name, line in _LINE.findall(text):
        add_line(copy / name, table, line)


def add_line(file: Path, table: str, line: str) -> None:
    """Put a line at the end of what a module calls `table`."""
    text = file.read_text("utf-8")
    found = re.search(rf"^{table}\b[^\n]* = [({{]\n(.*?)^[)}}]$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{file} has no {table}"
    file.write_text(f"{text[: found.end(1)]}{line}{text[found.end(1) :]}", "utf-8")


def run(copy: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A program of Python in the copy."""
    return python(*args, cwd=copy, env=environment(PYTHONPATH=str(copy), **env))


def run_tests(copy: Path, *names: str) -> str:
    """The last line of what pytest reports in the copy."""
    plain = ["-p", "no:randomly", "-p", "no:cacheprovider"]
    done = run(copy, "-m", "pytest", "-q", *plain, *names)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def check_words(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply the rules for docstrings to the modules of a page, and to nothing else."""
    modules = {name: text for name, text in _FILE.findall(Page(page).text) if name.endswith(".py")}
    assert modules
    parsed = [
        (name.removeprefix("mock_platform/"), ast.parse(text), text)
        for name, text in modules.items()
        if name.startswith("mock_platform/")
    ]
    for name, text in modules.items():
        file = folder / "words" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(test_words, "sources", lambda: parsed)
        patch.setattr(test_words, "ROOT", folder / "words" / "mock_platform")
        test_words.test_docstrings_say_something()
        test_words.test_no_old_phrases_in_docstrings()


def test_an_operation(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a file of fixtures and one line make four operations, their page and scenario.

    Example, right, limit, original names and sentence are in the folder too, and recordings of the
    subject become records.
    """
    follow("docs/contributing/adding-an-operation.md", copy)
    check_words("docs/contributing/adding-an-operation.md", copy, monkeypatch)

    data = ["../mock_platform/core/codes.json", "../mock_platform/cli/constants.json"]
    # One process for all of it: to load the platform takes longer than what is asked.
    program = WRITE + _LIMITS + _IMPORTED + _WHERE
    done = run(copy, "-c", program, *data, "operations.md", "scenarios.md", "tables.md")
    summary = run_tests(
        copy,
        "tests/api/ads/test_stickers.py",
        "tests/api/test_subjects.py",
        "tests/api/ads/test_every_list.py",
        "tests/core/test_assumptions.py",
        "tests/core/original_names",
        "tests/control/test_operation_pages.py",
        "-k",
        "stickers or subject or sentence or example",
    )

    assert (done.returncode, done.stderr) == (0, "")
    limits, imported, where = done.stdout.split("\n", 2)
    assert ("[10000, 10000]", "['Beans', 'Mug']") == (limits, imported)
    assert "mock_platform/api/ads/stickers/operations.py:" in where
    assert "failed" not in summary
    shown = (copy / "docs" / "scenarios.md").read_text("utf-8")
    section = shown.partition("### sticker-name-taken\n")[2].partition("\n## ")[0]
    assert "Answers `400`, `application/json`, code `INVALID_PARAMETER`." in section
    for page, text in {"operations": "`stickers.create`", "tables": "## `stickers`"}.items():
        assert text in (copy / "docs" / f"{page}.md").read_text("utf-8")


def test_an_effect(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module and one line make an effect, with its form and its page."""
    follow("docs/contributing/adding-an-effect.md", copy)
    check_words("docs/contributing/adding-an-effect.md", copy, monkeypatch)

    pages = run(copy, "-c", WRITE, "scenario-format.md")
    summary = run_tests(
        copy, "tests/scenario/test_headers.py", "tests/scenario/test_format.py", "-k", "headers"
    )

    assert (pages.returncode, pages.stderr) == (0, "")
    assert "passed" in summary
    assert "failed" not in summary
    assert "### headers\n" in (copy / "docs" / "scenario-format.md").read_text("utf-8")


def test_a_store(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module and one line make a backend that `serve` keeps its worlds in."""
    follow("docs/contributing/adding-a-store.md", copy)
    check_words("docs/contributing/adding-a-store.md", copy, monkeypatch)

    # Both in one process, with the names of the tests where a keyword would take others too.
    suite = "tests/world/store/test_backends.py::test_every_backend_passes_the_contract_suite"
    summary = run_tests(
        copy, "tests/world/store/test_archive.py", suite, "-k", "json or contract_suite"
    )
    kept = run(copy, "-c", _KEPT)

    passed = re.match(r"(\d+) passed", summary)
    assert passed is not None
    assert int(passed[1]) > 10
    assert "failed" not in summary
    assert (kept.stdout, kept.stderr) == ("['Kept']\n", "")


def put_before(file: Path, start: str, text: str) -> None:
    """Put a text into a module, before the first place that begins so."""
    whole = file.read_text("utf-8")
    assert start in whole, f"{file} has no {start!r}"
    file.write_text(whole.replace(start, text + start, 1), "utf-8")


def add_rows(page: str, copy: Path, name: str) -> None:
    """Put what a page shows as Markdown at the end of another page."""
    (rows,) = Page(page).blocks("markdown")
    with (copy / "docs" / name).open("a", encoding="utf-8") as opened:
        opened.write(rows)


def test_an_option(copy: Path) -> None:
    """A field, a line and a row make an option of `serve` that its environment variable sets."""
    field, line = Page("docs/contributing/adding-an-option.md").blocks("text")
    put_before(copy / "mock_platform/settings.py", "    max_worlds: int", field)
    put_before(copy / "mock_platform/cli/options.py", '    Setting("max-worlds"', line)
    add_rows("docs/contributing/adding-an-option.md", copy, "command-line.md")

    refused = run(copy, "-m", "mock_platform", "serve", MOCK_PLATFORM_SERVE_MAX_PARAMETERS="0")
    summary = run_tests(copy, "tests/cli/test_commands.py", "-k", "option")

    assert refused.returncode == 2
    assert "'--max-parameters'" in refused.stderr
    assert "failed" not in summary


def test_a_command(copy: Path) -> None:
    """Two functions, a line and a section make a command, which asks a running server."""
    page = "docs/contributing/adding-a-command.md"
    options, _, work = Page(page).blocks("text")
    put_before(copy / "mock_platform/cli/live_commands.py", "LIVE_COMMANDS: ", options)
    put_before(copy / "mock_platform/cli/remote_commands.py", "def show_worlds(", work)
    follow(page, copy)
    add_rows(page, copy, "command-line.md")

    command = ["-m", "mock_platform", "count"]
    done = run(copy, "-m", "mock_platform", "run", "--", sys.executable, *command)
    summary = run_tests(
        copy, "tests/cli/test_commands.py", "-k", "documented or twin or (explains and count)"
    )

    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr
    assert summary.startswith("3 passed")


def test_a_control_route(copy: Path) -> None:
    """A module, a line and a row make a route that checks its query and is described."""
    page = "docs/contributing/adding-a-control-route.md"
    imported, _ = Page(page).blocks("text")
    put_before(copy / "mock_platform/control/routes.py", "    coverage,\n", imported)
    follow(page, copy)
    add_rows(page, copy, "control-plane.md")

    described = run(copy, "-m", "mock_platform", "openapi")
    summary = run_tests(
        copy, "tests/control/test_counts.py", "tests/control/test_description.py",
        "tests/test_docs.py::test_every_control_route_is_documented",
    )  # fmt: skip

    found = json.loads(described.stdout)["paths"]["/_mock/counts"]["get"]
    assert found["operationId"] == "control.counts.count_records"
    assert [each["name"] for each in found["parameters"]] == ["begins"]
    assert "failed" not in summary
