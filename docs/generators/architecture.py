"""The generated part of `docs/architecture.md`: the picture of the rooms, and what is in them."""

from __future__ import annotations

from docs.generators.markdown import table
from docs.generators.rooms import BESIDE, ROOT, find_direct_imports, read_rooms, read_subjects

_BEGIN = "<!-- Made by `make docs` from the imports and the docstrings; do not edit. -->"
_END = "<!-- The end of what `make docs` makes. -->"


def write_page() -> str:
    """Returns the page with its generated part renewed."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n\n{_draw()}\n{_END}{after}"


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
