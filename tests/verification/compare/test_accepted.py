from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from mock_platform.verification.compare.accepted import (
    BadAcceptedFile,
    apply_accepted,
    choose,
    read_accepted,
    write_accepted,
)
from mock_platform.verification.compare.findings import DriftFinding, Report

TODAY = date(2026, 5, 1)


def report() -> Report:
    """A report with two findings."""
    first = DriftFinding(
        "extra", "data[].title", "absent", "string", operations={"line_items.list": None}
    )
    second = DriftFinding(
        "enum", "data[].state", "ON, OFF", "NEW*", operations={"cards.list": None}
    )
    return Report("http://x", [first, second], (), (), 2)


def test_written_and_read(tmp_path: Path) -> None:
    """What is written accepts these findings alone; comments of the file stay."""
    file = tmp_path / "sub" / "accepted.yaml"
    found = report()
    write_accepted(file, choose(found, [found.findings[0].id]), "Known: yes.", TODAY)
    file.write_text(file.read_text().replace("accepted:\n", "# mine\naccepted:\n"))
    write_accepted(file, choose(found, [found.findings[1].id]), "Too", TODAY, date(2026, 6, 1))

    entries = read_accepted(file)
    apply_accepted(found, entries, TODAY)

    assert ["Known: yes.; since 2026-05-01", "Too; since 2026-05-01, until 2026-06-01"] == [
        each.accepted for each in found.findings
    ]
    assert not found.differs
    assert [] == found.stale
    assert "# mine" in file.read_text()


def test_patterns(tmp_path: Path) -> None:
    """An entry without an id accepts what its patterns match, in all its operations."""
    file = tmp_path / "accepted.yaml"
    file.write_text(
        "accepted:\n- {kind: extra, where: 'data*.title', operations: ['line_items.*'], "
        "reason: x, accepted: 2026-01-01}\n"
        "- {kind: enum, operations: campaigns.*, reason: y, accepted: 2026-01-01}\n"
    )
    found = report()

    apply_accepted(found, read_accepted(file), TODAY)

    assert ["x; since 2026-01-01", None] == [each.accepted for each in found.findings]
    assert [f"{file}:3 was not found; the entry can go (y)"] == found.stale


def test_expired(tmp_path: Path) -> None:
    """An expired entry accepts nothing, and is reported."""
    file = tmp_path / "accepted.yaml"
    file.write_text(
        "accepted:\n- {kind: extra, reason: x, accepted: 2026-01-01, expires: 2026-04-30}\n"
    )
    found = report()

    apply_accepted(found, read_accepted(file), TODAY, complete=False)

    assert found.differs
    assert [f"{file}:2 expired on 2026-04-30"] == found.stale


@pytest.mark.parametrize(("text", "fault"), [
    ("a: [", "1:5: not valid YAML"),
    ("[]", "1:1: expected a list under `accepted:`, got []"),
    ("accepted: []\nmore: 1", '2:1: more: "more" is unknown here. Allowed: accepted.'),
    ("accepted:\n- 1", "2:3: accepted[0]: expected an object with id, kind, where"),
    ("accepted:\n- id: a\n  resaon: x", '3:3: accepted[0].resaon: "resaon" is unknown here.'),
    ("accepted:\n- id: a\n  resaon: x", "Did you mean 'reason'? Allowed: id, kind, where"),
    ("accepted:\n- id: a\n  accepted: 2026-01-01", "reason is missing"),
    ("accepted:\n- id: a\n  reason: x", "2:3: accepted[0]: accepted is missing"),
    ("accepted:\n- reason: x\n  accepted: 2026-01-01", "accepts everything"),
    ("accepted:\n- kind: odd\n  reason: x\n  accepted: 2026-01-01",
     '2:3: accepted[0].kind: "odd" is not allowed. Allowed: status'),
    ("accepted:\n- id: a\n  reason: x\n  accepted: soon",
     "4:3: accepted[0].accepted: expected a day such as"),
    ("accepted:\n- id: 1\n  reason: x\n  accepted: 2026-01-01",
     'accepted[0].id: expected text, got 1; write "1"'),
])  # fmt: skip
def test_faults(tmp_path: Path, text: str, fault: str) -> None:
    """A fault is reported with its place, what is allowed, and what was probably meant."""
    file = tmp_path / "accepted.yaml"
    file.write_text(text)

    with pytest.raises(BadAcceptedFile) as found:
        read_accepted(file)

    assert str(found.value).startswith(f"{file}:")
    assert fault in str(found.value)


def test_unknown_id() -> None:
    """An id that was not found is refused."""
    found = report()
    wrong = found.findings[0].id[:-1] + "!"

    with pytest.raises(ValueError, match=f"Did you mean '{found.findings[0].id}'"):
        choose(found, [wrong])
