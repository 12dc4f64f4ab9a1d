"""The scenarios of community notes refuse as the public interface does."""

from __future__ import annotations

import pytest

from tests.scenario.library.support import Stage
from tests.support import sandbox


@pytest.mark.parametrize(
    "operation", ["notes.create", "notes.list_written", "evaluate_note.create"]
)
def test_only_writers(operation: str) -> None:
    """The user is refused although they are a note writer."""
    answer = Stage("note-writer-required", sandbox()).ask(operation)

    assert (403, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert "User must be an API Note Writer to access this endpoint." == answer.get_json()["detail"]


def test_one_note() -> None:
    """The first note of a user is refused as if it were the second."""
    stage = Stage("note-exists", sandbox())

    answer = stage.ask("notes.create")

    assert 400 == answer.status_code
    (error,) = answer.get_json()["errors"]
    assert "User already created a note for this post." == error["message"]
    assert [] == list(stage.last.changes)
