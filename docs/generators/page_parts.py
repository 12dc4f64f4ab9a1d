"""The generated parts of pages that are written by hand: the rooms, and changes of a contract."""

from __future__ import annotations

from docs.generators import tables
from docs.generators.markdown import table
from docs.generators.rooms import BESIDE, ROOT, find_direct_imports, read_rooms, read_subjects
from mock_platform.verification.contract.rules import RULES
from mock_platform.verification.fidelity.facts import read_packaged
from mock_platform.verification.fidelity.measure import Measurement, measure_sandbox
from mock_platform.verification.fidelity.report import write_page

_END = "<!-- The end of what `make docs` makes. -->"


def write_architecture() -> str:
    """Returns the page with a new picture of the rooms, and what is in them."""
    return _renew("architecture.md", "the imports and the docstrings", _draw())


def write_tables() -> str:
    """Returns the page with every table of records."""
    return _renew("tables.md", "the tables", tables.write_tables())


def write_contract() -> str:
    """Returns the page with the kinds of changes between two contracts."""
    rows = [(rule.level, f"`{rule.id}`", rule.meaning) for rule in RULES.values()]
    lines = "\n".join(table(("level", "change", "what it means"), rows))
    return _renew("contract.md", "the rules", f"{lines}\n")


def write_fidelity(measured: Measurement | None = None) -> str:
    """Returns the page with the figures and the differences of the facts, measured if need be."""
    lines = "\n".join(write_page(measured or measure_sandbox(read_packaged())))
    return _renew("fidelity.md", "the facts", f"{lines}\n")


def _renew(page: str, source: str, part: str) -> str:
    begin = f"<!-- Made by `make docs` from {source}; do not edit. -->"
    before, _, rest = (ROOT / "docs" / page).read_text("utf-8").partition(begin)
    _, _, after = rest.partition(_END)
    return f"{before}{begin}\n\n{part}\n{_END}{after}"


def _draw() -> str:
    rooms = read_rooms()
    drawn = tuple(room for room in rooms if room.name not in BESIDE)
    boxes = [f'  {room.name}["{room.label}"]' for room in drawn]
    arrows = [f"  {source} --> {target}" for source, target in find_direct_imports(drawn)]
    picture = ["```mermaid", "flowchart LR", *boxes, *arrows, "```", ""]
    beside = [room for room in rooms if room.name in BESIDE]
    rows = [(f"`{room.label}`", room.purpose) for room in (*drawn, *beside)]
    subjects = [(f"`{label}`", purpose) for label, purpose in read_subjects()]
    return "\n".join(
        [
            *picture,
            *table(("room", "what it is"), rows),
            "",
            "The subjects, each a folder:",
            "",
            *table(("subject", "what it is"), subjects),
            "",
        ]
    )
