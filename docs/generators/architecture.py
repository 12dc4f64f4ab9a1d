"""The generated part of `docs/architecture.md`: the picture of the rooms, and the list of them."""

from __future__ import annotations

from docs.generators.markdown import table
from docs.generators.rooms import ROOT, find_direct_imports, read_rooms

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
    boxes = [f'  {room.name}["{room.label}"]' for room in rooms]
    arrows = [f"  {source} --> {target}" for source, target in find_direct_imports(rooms)]
    rows = [(f"`{room.label}`", room.purpose) for room in rooms]
    lines = ["```mermaid", "flowchart TD", *boxes, *arrows, "```", ""]
    return "\n".join([*lines, *table(("room", "what it is"), rows), ""])
