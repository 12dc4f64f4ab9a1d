"""The pages on how to add something, followed in a copy of the checkout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
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
OPERATION, EFFECT, STORE, OPTION, COMMAND, ROUTE = (
    f"docs/contributing/adding-{name}.md"
    for name in (
        "an-operation",
        "an-effect",
        "a-store",
        "an-option",
        "a-command",
        "a-control-route",
    )
)
TESTED = (
    "tests/api/ads/test_stickers.py", "tests/api/test_subjects.py",
    "tests/api/ads/test_every_list.py", "tests/core/test_assumptions.py",
    "tests/core/original_names", "tests/control/test_operation_pages.py",
    "tests/scenario/test_headers.py", "tests/scenario/test_format.py",
    "tests/world/store/test_archive.py",
    "tests/world/store/test_backends.py::test_every_backend_passes_the_contract_suite",
    "tests/cli/test_commands.py", "tests/control/test_counts.py",
    "tests/control/test_description.py",
    "tests/test_docs.py::test_every_control_route_is_documented",
)  # fmt: skip
WORDS = (
    "stickers", "folder_is_a_subject", "subject_shows", "sentence", "have_an_example", "headers",
    "(test_archive and json)", "contract_suite", "option", "(test_commands and documented)",
    "route_is_documented", "twin", "(explains and count)", "test_counts", "everything_served",
    "bodies_of_routes", "ids_occur_once",
)  # fmt: skip
"""Words in the names of those tests that look at everything there is, and of those of the pages."""
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


def check_words(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply the rules for docstrings to the modules of a page, and to nothing else."""
    modules = {name: text for name, text in _FILE.findall(Page(page).text) if name.endswith(".py")}
    assert modules
    texts = [
        (name.removeprefix("mock_platform/"), text)
        for name, text in modules.items()
        if name.startswith("mock_platform/")
    ]
    for name, text in modules.items():
        file = folder / "words" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(test_words, "texts", lambda: texts)
        patch.setattr(test_words, "ROOT", folder / "words" / "mock_platform")
        test_words.test_docstrings_say_something()
        test_words.test_docstrings_are_in_one_mood()
        test_words.test_no_old_phrases_in_docstrings()


def put_before(file: Path, start: str, text: str) -> None:
    """Put a text into a module, before the first place that begins so."""
    whole = file.read_text("utf-8")
    assert start in whole, f"{file} has no {start!r}"
    file.write_text(whole.replace(start, text + start, 1), "utf-8")


def replace_line(file: Path, line: str) -> None:
    """Put a line in place of the one that begins like it, up to its first comma."""
    whole, start = file.read_text("utf-8"), line.partition(",")[0]
    changed, times = re.subn(
        rf"^{re.escape(start)},.*\n", lambda _: line, whole, flags=re.MULTILINE
    )
    assert times == 1, f"{file} has no line {start!r}"
    file.write_text(changed, "utf-8")


def add_rows(page: str, copy: Path, name: str) -> None:
    """Put what a page shows as Markdown at the end of another page."""
    (rows,) = Page(page).blocks("markdown")
    with (copy / "docs" / name).open("a", encoding="utf-8") as opened:
        opened.write(rows)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, without what git does not have, in which every page was followed."""
    copy = tmp_path_factory.mktemp("copy")
    # What is compiled already is copied as well: it fits as long as the times of the files do.
    unwanted = shutil.ignore_patterns("node_modules", ".*")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=unwanted)
        else:
            shutil.copy(source, copy / name)
    package = copy / "mock_platform"
    field, line, name = Page(OPTION).blocks("text")
    put_before(package / "settings.py", "    max_worlds: int", field)
    put_before(package / "cli" / "options.py", '    Setting("max-worlds"', line)
    under = '        ),\n    ),\n    (\n        "Other hosts, and the real service",'
    put_before(package / "cli" / "serving_commands.py", under, name)
    options, _, row, work = Page(COMMAND).blocks("text")
    replace_line(package / "cli" / "main.py", row)
    put_before(package / "cli" / "live_commands.py", "LIVE_COMMANDS: ", options)
    put_before(package / "cli" / "remote_commands.py", "def show_worlds(", work)
    imported, _ = Page(ROUTE).blocks("text")
    put_before(package / "control" / "routes.py", "    coverage,\n", imported)
    for page in (OPERATION, EFFECT, STORE, COMMAND, ROUTE):
        follow(page, copy)
    for page, name in {
        OPTION: "command-line",
        COMMAND: "command-line",
        ROUTE: "control-plane",
    }.items():
        add_rows(page, copy, f"{name}.md")
    return copy


@pytest.fixture(scope="module")
def passed(copy: Path) -> Collection[str]:
    """The tests that passed in the copy, of those that the pages name; none of them failed."""
    plain = ["-p", "no:randomly", "-p", "no:cacheprovider"]
    done = run(copy, "-m", "pytest", "-q", "-rp", *plain, *TESTED, "-k", " or ".join(WORDS))
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"^PASSED (.*)$", done.stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def told(copy: Path) -> str:
    """What a program says that writes pages and tries what was added."""
    # One process for all of it: to load the platform takes longer than what is asked.
    data = ["../mock_platform/core/codes.json", "../mock_platform/cli/constants.json"]
    pages = ["operations.md", "scenarios.md", "tables.md", "scenario-format.md"]
    done = run(copy, "-c", WRITE + _LIMITS + _IMPORTED + _KEPT + _WHERE, *data, *pages)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("page", [OPERATION, EFFECT, STORE])
def test_the_modules_of_a_page_have_docstrings(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the rules for those of the package ask."""
    check_words(page, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("beginning", "least"),
    [
        ("tests/api/ads/test_stickers.py", 1),  # an operation
        ("tests/api/test_subjects.py", 1),
        ("tests/api/ads/test_every_list.py", 1),
        ("tests/core/original_names", 1),
        ("tests/control/test_operation_pages.py", 1),
        ("tests/scenario/test_headers.py", 1),  # an effect
        ("tests/scenario/test_format.py", 1),
        ("tests/world/store/test_archive.py", 10),  # a store
        ("tests/world/store/test_backends.py::test_every_backend_passes_the_contract_suite", 1),
        ("tests/cli/test_commands.py", 4),  # an option and a command
        ("tests/control/test_counts.py", 1),  # a control route
        ("tests/control/test_description.py", 3),
        ("tests/test_docs.py::test_every_control_route_is_documented", 1),
    ],
)
def test_tests_of_what_was_added_pass(passed: Collection[str], beginning: str, least: int) -> None:
    """The tests of each page, and those of the suite that look at everything there is."""
    assert sum(name.startswith(beginning) for name in passed) >= least


def test_an_operation(copy: Path, told: str) -> None:
    """A folder, a file of fixtures and one line make four operations, their page and scenario.

    Example, right, limit, original names and sentence are in the folder too, and recordings of the
    subject become records.
    """
    limits, imported, _, where = told.split("\n", 3)
    assert ("[10000, 10000]", "['Beans', 'Mug']") == (limits, imported)
    assert "mock_platform/api/ads/stickers/operations.py:" in where
    modules = {Path(name).parent for name, _ in _FILE.findall(Page(OPERATION).text)}
    assert {"mock_platform/api/ads/stickers"} == {
        str(folder) for folder in modules if folder.parts[0] == "mock_platform"
    }
    shown = (copy / "docs" / "scenarios.md").read_text("utf-8")
    section = shown.partition("### sticker-name-taken\n")[2].partition("\n## ")[0]
    assert "Answers `400`, `application/json`, code `INVALID_PARAMETER`." in section
    for page, text in {"operations": "`stickers.create`", "tables": "## `stickers`"}.items():
        assert text in (copy / "docs" / f"{page}.md").read_text("utf-8")


@pytest.mark.usefixtures("told")
def test_an_effect(copy: Path) -> None:
    """A module and one line make an effect, with its form and its page."""
    assert "### headers\n" in (copy / "docs" / "scenario-format.md").read_text("utf-8")


def test_a_store(told: str) -> None:
    """A module and one line make a backend that `serve` keeps its worlds in."""
    assert "['Kept']" == told.splitlines()[2]


def test_an_option(copy: Path) -> None:
    """A field, a line and a row make an option of `serve` that its environment variable sets."""
    refused = run(copy, "-m", "mock_platform", "serve", MOCK_PLATFORM_SERVE_MAX_PARAMETERS="0")

    assert refused.returncode == 2
    assert "'--max-parameters'" in refused.stderr


def test_a_command(copy: Path) -> None:
    """Two functions, a line and a section make a command, which asks a running server."""
    command = ["-m", "mock_platform", "count"]
    done = run(copy, "-m", "mock_platform", "run", "--", sys.executable, *command)

    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


def test_a_control_route(copy: Path) -> None:
    """A module, a line and a row make a route that checks its query and is described."""
    described = run(copy, "-m", "mock_platform", "openapi")

    found = json.loads(described.stdout)["paths"]["/_mock/counts"]["get"]
    assert found["operationId"] == "control.counts.count_records"
    assert [each["name"] for each in found["parameters"]] == ["begins"]
