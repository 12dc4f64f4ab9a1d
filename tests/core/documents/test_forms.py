"""Forms check values of users, and say where and how they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mock_platform.core.documents.forms import (
    DAY,
    FaultReport,
    FieldsForm,
    Form,
    ListForm,
    WordForm,
    is_reference,
    load_document,
)
from mock_platform.core.documents.source import DocumentKind
from mock_platform.core.errors import BadDocument

PERSON = FieldsForm({"name": WordForm(), "born": DAY}, required=("name",))
PEOPLE = FieldsForm({"people": ListForm(PERSON)})


def check(shape: Form, value: Any, report: FaultReport) -> list[tuple[Any, str]]:
    """The faults of a value."""
    shape.check(value, (), report)
    return report.faults


def test_a_file_is_refused_with_all_faults(tmp_path: Path) -> None:
    """Each has file, line, column, field, what is wrong, what is allowed and what was meant."""
    file = tmp_path / "a.yaml"
    file.write_text("people:\n  - nmae: Ada\n  - name: 1\n    born: soon\n")

    with pytest.raises(BadDocument) as caught:
        load_document(file, DocumentKind("file of people"), PEOPLE, BadDocument)

    assert [
        f"{file}:2:5: people[0]: name is missing",
        f"{file}:2:5: people[0].nmae: \"nmae\" is unknown here. Did you mean 'name'? "
        "Allowed: name, born.",
        f'{file}:3:5: people[1].name: expected text, got 1; write "1"',
        f'{file}:4:5: people[1].born: expected a day such as 2026-04-20, got "soon"',
    ] == str(caught.value).splitlines()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is refused with the same exception."""
    with pytest.raises(BadDocument, match=r"a\.yaml:1:1: cannot be read: No such file"):
        load_document(tmp_path / "a.yaml", DocumentKind("file"), PEOPLE, BadDocument)


def test_names_of_parameters_pass_in_scenarios_alone() -> None:
    """`$name` is a value like any other, except in documents with parameters."""
    value = {"name": "Ada", "born": "$day"}

    assert [] == check(PERSON, value, FaultReport(is_reference))
    assert [("born",)] == [at for at, _ in check(PERSON, value, FaultReport())]


def test_open_objects_may_have_other_fields() -> None:
    """What nothing reads is no fault there; what is read is checked as elsewhere."""
    shape = FieldsForm({"name": WordForm()}, is_open=True)

    assert [("name",)] == [at for at, _ in check(shape, {"name": 1, "more": 2}, FaultReport())]
