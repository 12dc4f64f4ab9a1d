"""A scenario that is written reads back as it was."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core import installed
from mock_platform.core.documents.source import read
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.library import list_scenario_files
from mock_platform.scenario.writing import (
    CannotSave,
    FileExists,
    find_place,
    write_document,
    write_file,
)
from tests.generated import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**60), 2**60), TEXT,
        st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["yes", "1e3", "~", "#"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def written(document: dict[str, Any]) -> tuple[str, Any]:
    """The text of a document, and what it says when it is read."""
    text, suffix = write_document(document)
    return text, read(Path(f"scenario{suffix}"), text.encode()).data


@examples(150)
@given(st.dictionaries(TEXT, VALUE, min_size=1, max_size=3))
def test_every_document_reads_back(document: dict[str, Any]) -> None:
    """Whatever a document holds, its file holds the same, byte by byte."""
    assert dumps(document) == dumps(written(document)[1])


def test_the_shipped_scenarios_become_yaml() -> None:
    """What people wrote as YAML is written as YAML."""
    files = list_scenario_files(installed.folder("scenarios"))

    documents = [read(file, file.read_bytes()).data for file in files]

    assert len(documents) > 100
    assert {".yaml"} == {write_document(document)[1] for document in documents[::10]}


@pytest.mark.parametrize(
    ("value", "suffix"), [(10**17, ".yaml"), (1460323737035677698, ".json"), ("1" * 19, ".yaml")]
)
def test_what_yaml_cannot_say_becomes_json(value: Any, suffix: str) -> None:
    """A number with more digits than YAML keeps is written as JSON, for which nothing is lost."""
    assert suffix == write_document({"name": "a", "id": value})[1]


def test_the_text_is_easy_to_read() -> None:
    """Lines stay lines, long texts are folded, lists are indented, and nothing is an alias."""
    shared = {"status": 503}
    words = "a sentence that is long enough to be folded, " * 3
    text, _ = written({"name": "a", "d": f"{words}.", "l": "one\ntwo\n", "r": [shared, shared]})

    assert "d: >-\n  a sentence" in text
    assert "l: |\n  one\n  two\n" in text
    assert "r:\n  - status: 503\n  - status: 503\n" in text


@pytest.mark.parametrize(
    "name",
    [
        "", "..", "../a.yaml", "/etc/a.yaml", "a/../../b.yaml", "a\\b.yaml", ".a.yaml", "a b.yaml",
        "a.txt", "a", "users.json", "a/b/c/d/e/f.yaml", "ä.yaml", "a\n.yaml", "a.yaml\x00", "a/",
        f"{'a' * 200}.yaml", "folder.yaml",
    ],
)  # fmt: skip
def test_names_that_are_refused(tmp_path: Path, name: str) -> None:
    """A name that leads out of the folder, or that no scenario file has, is refused."""
    (tmp_path / "folder.yaml").mkdir()

    with pytest.raises(CannotSave):
        find_place(tmp_path, name)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A subfolder that is a link to somewhere else is not written into."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)

    with pytest.raises(CannotSave, match="through a link"):
        find_place(root, "link/a.yaml")
    assert root / "below" / "a.yaml" == find_place(root, "below/a.yaml")


def test_no_file_is_replaced_unless_asked(tmp_path: Path) -> None:
    """An existing file stays unless its replacement is asked for, and keeps its permissions."""
    path = tmp_path / "below" / "a.yaml"
    write_file(path, b"one", replace=False)
    path.chmod(0o600)

    with pytest.raises(FileExists, match="exists already"):
        write_file(path, b"two", replace=False)
    assert b"one" == path.read_bytes()

    write_file(path, b"two", replace=True)
    assert b"two" == path.read_bytes()
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(path.parent.iterdir())


def test_a_link_is_replaced_itself(tmp_path: Path) -> None:
    """A link in the folder becomes a file; what it pointed to does not change."""
    target, link = tmp_path / "target", tmp_path / "a.yaml"
    target.write_bytes(b"kept")
    link.symlink_to(target)

    write_file(link, b"new", replace=True)

    assert b"kept" == target.read_bytes()
    assert not link.is_symlink()


def test_the_system_may_refuse(tmp_path: Path) -> None:
    """A folder that is a file cannot be written into, and the text names the path."""
    (tmp_path / "a").write_text("")

    with pytest.raises(CannotSave, match=r"b\.yaml"):
        write_file(tmp_path / "a" / "b.yaml", b"", replace=False)
