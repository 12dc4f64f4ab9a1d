"""A scenario that is written reads back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core import packaged
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.library import list_scenario_files
from mock_platform.scenario.source import read
from mock_platform.scenario.writing import write_document
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
    files = list_scenario_files(packaged.folder("scenarios"))

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
