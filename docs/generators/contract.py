"""The generated part of `docs/contract.md`: the kinds of changes between two contracts."""

from __future__ import annotations

from docs.generators.markdown import table
from docs.generators.rooms import ROOT
from mock_platform.verification.contract import RULES

_BEGIN = "<!-- Made by `make docs` from the rules; do not edit. -->"
_END = "<!-- The end of what `make docs` makes. -->"


def write_page() -> str:
    """Returns the page with its generated part renewed."""
    page = (ROOT / "docs" / "contract.md").read_text("utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    rows = [(rule.level, f"`{rule.id}`", rule.meaning) for rule in RULES.values()]
    lines = "\n".join(table(("level", "change", "what it means"), rows))
    return f"{before}{_BEGIN}\n\n{lines}\n\n{_END}{after}"
