from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ruamel.yaml import YAML

from mock_platform.cli.main import group
from tests.verification.contract.examples import (
    EXAMPLES,
    Edit,
    add_value,
    body,
    get,
    item,
    make_document,
)

Run = Callable[..., Result]
Write = Callable[..., Path]


@pytest.fixture
def run() -> Run:
    """Runs `mock-platform contract` in this process."""

    def run(*args: object) -> Result:
        words = ["contract", *(str(arg) for arg in args)]
        return CliRunner().invoke(group, words, prog_name="mock-platform")

    return run


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a document, in JSON if it is not text."""

    def write(name: str, document: Any) -> Path:
        file = tmp_path / name
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return file

    return write


def test_the_document_is_written_and_is_that_of_the_package(run: Run, tmp_path: Path) -> None:
    """The file has every part in a fixed order, and the package does not differ from it."""
    file = tmp_path / "new" / "contract.json"

    written = run("--out", file)
    compared = run("diff", file)

    document = json.loads(file.read_text())
    assert (0, "") == (written.exit_code, written.output)
    assert {
        "mock_platform_contract", "version", "openapi", "operations", "failures", "assumptions",
        "releases",
    } == set(document)  # fmt: skip
    assert json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n" == (
        file.read_text()
    )
    assert "http://127" not in file.read_text()
    assert compared.exit_code == 0, compared.output
    assert compared.output.endswith(": no changes\n")


@pytest.mark.parametrize(("edit", "fail_on", "status"), [
    (lambda d: item(d)["properties"].pop("name"), "breaking", 1),
    (lambda d: item(d)["properties"].pop("name"), "none", 0),
    (lambda d: add_value(item(d)["properties"]["status"]["enum"]), "breaking", 0),
    (lambda d: add_value(item(d)["properties"]["status"]["enum"]), "dangerous", 1),
    (lambda d: add_value(body(d)["properties"]["status"]["enum"]), "dangerous", 0),
    (lambda d: add_value(body(d)["properties"]["status"]["enum"]), "any", 1),
])  # fmt: skip
def test_exit_status_of_levels(
    run: Run, write: Write, edit: Edit, fail_on: str, status: int
) -> None:
    """Status 1 at a change of the chosen level or above, else 0."""
    new = make_document()
    edit(new)

    old_file, new_file = write("old", make_document()), write("new", new)
    result = run("diff", old_file, new_file, "--fail-on", fail_on)

    assert status == result.exit_code, result.output


def test_forms_of_the_changes(run: Run, write: Write) -> None:
    """Text, markdown and JSON have the operation, the level and both sides of each change."""
    new = make_document()
    item(new)["properties"]["name"]["maxLength"] = 90
    get(new)["parameters"][1]["required"] = True
    files = write("old", make_document()), write("new", new)

    text, markdown, data = (
        run("diff", *files, "--format", form).stdout for form in ("text", "markdown", "json")
    )

    assert text.splitlines()[:3] == [
        "items.get",
        "  breaking   query parameter fields: an optional parameter is now required: optional -> "
        "required",
        "  dangerous  answer 200: data[].name: a value of the answer has a wider bound: maxLength "
        "80 -> maxLength 90",
    ]
    assert "## items.get" in markdown
    assert "| breaking | query parameter fields | an optional parameter is now required |" in (
        markdown
    )
    found = json.loads(data)
    assert {"breaking": 1, "dangerous": 1, "harmless": 0} == found["counts"]
    assert ["parameter-required", "answer-limit-widened"] == [c["rule"] for c in found["changes"]]


def test_changes_are_written_to_a_file(run: Run, write: Write, tmp_path: Path) -> None:
    """`--out` leaves standard output empty."""
    files = write("old", make_document()), write("new", make_document())

    result = run("diff", *files, "--out", tmp_path / "changes.md", "--format", "markdown")

    assert (0, "") == (result.exit_code, result.output)
    assert "no changes." in (tmp_path / "changes.md").read_text()


def test_texts_of_a_document_do_not_act_on_a_terminal(run: Run, write: Write) -> None:
    """Control characters of a document are not printed."""
    new = make_document()
    item(new)["properties"]["\x1b]0;own\x07"] = {"type": "string"}

    result = run("diff", write("old", make_document()), write("new", new))

    assert "a new key of the answer" in result.output
    assert "\x1b" not in result.output


def test_openapi_in_yaml(run: Run, write: Write, tmp_path: Path) -> None:
    """A plain OpenAPI document in YAML is read."""
    file = tmp_path / "old.yaml"
    YAML(typ="safe", pure=True).dump(make_document()["openapi"], file)

    result = run("diff", file, write("new.json", make_document()))

    assert (0, True) == (result.exit_code, result.output.endswith("no changes\n"))


@pytest.mark.parametrize(("text", "said"), [
    ("{", ":1:2: not valid JSON"),
    ("[1]", "a contract is a JSON object"),
    ("{}", "neither a contract"),
    ('{"openapi": "2.0"}', "neither a contract"),
    ('{"mock_platform_contract": 2}', "form 2 of the contract cannot be read, only 1"),
    ('{"openapi": "3.1.0", "paths": {"/a": []}}', "not a valid OpenAPI document"),
    ('{"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{}]}}}}', "not a valid"),
])  # fmt: skip
def test_files_that_are_no_contract(run: Run, write: Write, text: str, said: str) -> None:
    """The message names the file, what is wrong and what a contract is; the status is 2."""
    result = run("diff", write("old", make_document()), write("bad", text))

    assert result.exit_code == 2
    assert "bad" in result.output
    assert said in result.output


def test_a_file_that_windows_wrote(run: Run, tmp_path: Path) -> None:
    """A byte order mark is no fault of a contract."""
    file = tmp_path / "kept.json"
    assert 0 == run("--out", file).exit_code
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

    assert 0 == run("diff", file).exit_code


def test_a_file_that_is_missing(run: Run, tmp_path: Path) -> None:
    """A missing file is a usage error, and so is `--out` in front of another command."""
    assert run("diff", tmp_path / "nowhere.json").exit_code == 2
    assert run("--out", tmp_path / "x", "diff", tmp_path / "nowhere.json").exit_code == 2


def test_many_changes_at_once(run: Run, write: Write) -> None:
    """All edits together are shown by operation, and none ends the comparison."""
    new = make_document()
    for each in EXAMPLES:
        if "operation-" not in each.forward:
            each.edit(new)

    result = run("diff", write("old", make_document()), write("new", new))

    assert result.exit_code == 1
    assert {"items.create", "items.get", "the whole contract"} <= set(result.output.splitlines())


@pytest.mark.parametrize(("dates", "status", "lines"), [
    (("2025-11-18", "2025-11-19"), 0, ["harmless   a new operation: GET /2/news/search"]),
    (("2025-11-19", "2025-11-18"), 1, ["breaking   the operation is gone: GET /2/news/search"]),
    (("2025-11-19", "2025-11-30"), 0, []),
    (("2026-05-03T23:59:59Z", "2026-05-04"), 0, [
        "dangerous  answer 200: the same request has another effect or answer: "
        "keyword searches find no reposts",
        "harmless   query parameter query: a new value of an enumeration is accepted: "
        "min_likes:, min_replies:, min_reposts:",
    ]),
])  # fmt: skip
def test_two_dates_are_compared_for_what_a_suite_calls(
    run: Run, write: Write, dates: tuple[str, str], status: int, lines: list[str]
) -> None:
    """Of the release history what is between the dates, for the operations of either file."""
    called = [{"id": "news.search", "requests": 2}, {"id": "post_search.all", "requests": 1}]
    rows = [*called, {"id": "connections.list", "requests": 0}]
    files = (
        write("coverage.json", {"operations": rows}),
        write("coverage.baseline", "news.search 200\npost_search.all 200\n"),
    )
    for file in files:
        found = run("diff", "--as-of", dates[0], "--as-of", dates[1], "--coverage", file)

        shown = [line.strip() for line in found.stdout.splitlines() if line.startswith("  ")]
        assert (status, lines) == (found.exit_code, shown), found.output
        assert f"as of {dates[0].removesuffix('T00:00:00Z')} -> as of " in found.stdout


@pytest.mark.parametrize(("words", "said"), [
    ((), "OLD is missing: a file, or --as-of DATE twice"),
    (("--as-of", "2026-01-01"), "two dates and no files"),
    (("--as-of", "2026-01-01", "--as-of", "2026-01-02", "old.json"), "two dates and no files"),
    (("--as-of", "soon"), "'soon' is not"),
    (("old.json", "--coverage", "c.json"), "--coverage needs --as-of DATE, twice"),
    (("--coverage", "empty.json"), "empty.json:1:1: is no coverage file. Write it with"),
    (("--coverage", "list.json"), "list.json:1:1: is no coverage file. Write it with"),
    (("--coverage", "cut.json"), "cut.json:1:1: cannot be read: "),
    (("--coverage", "none.json"), "none.json:1:1: cannot be read: No such file"),
    (("--coverage", "wrong.baseline"), "wrong.baseline:1:1: there is no operation 'news.serch'"),
])  # fmt: skip
def test_dates_that_cannot_be_compared(
    run: Run,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    """The refusal names the option or the place, and what to do; nothing is compared."""
    monkeypatch.chdir(tmp_path)
    write("empty.json", {})
    write("list.json", {"operations": [7]})
    write("cut.json", "[1")
    write("wrong.baseline", "news.serch 200\n")
    dates = ("--as-of", "2026-01-01", "--as-of", "2026-01-02")
    result = run("diff", *(dates if words[:1] == ("--coverage",) else ()), *words)

    assert 2 == result.exit_code
    assert said in " ".join(result.output.split())
