"""The progress of reading: by the number of exchanges, and by bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.verification.har import read_har, show_progress
from mock_platform.verification.har import reading as progress
from tests.verification.har.support import make_entry, write_har


def test_lines_by_number_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line comes after so many exchanges, and after so many bytes of a few large ones."""
    file = write_har(tmp_path, *[make_entry(text="1")] * 5, *[make_entry(text="x" * 5000)] * 3)
    monkeypatch.setattr(progress, "_EXCHANGES", 4)
    monkeypatch.setattr(progress, "_BYTES", 4000)
    said: list[str] = []

    found = list(show_progress(read_har(file), said.append))

    assert 8 == len(found)
    assert ["4", "7", "8"] == [line.split()[0] for line in said]
    assert "4 exchanges read, 0 MB …" == said[0]
