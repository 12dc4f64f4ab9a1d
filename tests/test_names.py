"""One name, one thing: what is true of the names of all modules."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "mock_platform"


def test_no_class_has_the_name_of_another() -> None:
    """A public class can be found, and spoken of, by its name alone."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(), re.MULTILINE):
            places[name].append(str(path.relative_to(PACKAGE)))

    assert {} == {name: found for name, found in places.items() if len(found) > 1}
    assert 300 < len(places)
