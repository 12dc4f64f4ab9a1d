"""How a scenario is named: by its name, or by a file."""

from __future__ import annotations

SCENARIO_NAME = r"[a-z0-9][a-z0-9._-]{0,99}"
"""Pattern of a scenario's name."""
SUFFIXES = (".yaml", ".yml", ".json")
"""The ends of the names of scenario files."""


def is_file(text: str) -> bool:
    """Return whether a start-up argument is a path rather than a scenario's name."""
    return text.endswith(SUFFIXES) or "/" in text or "\\" in text
