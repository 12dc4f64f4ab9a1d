"""Each process of a run compiles its share of the tests, and reads what the others compiled.

Without this, each compiles all of them at the same time if nothing is compiled yet: pytest changes
the asserts of each module, which takes longer than all other work before the first test.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).parent


def import_from(share: int, shares: int) -> None:
    """Import all test modules: first those of one share, then those of the next ones.

    A module that cannot be imported ends it: pytest imports it again, and reports it.
    """
    files = sorted(TESTS.rglob("test_*.py"))
    first = len(files) * share // shares
    for file in files[first:] + files[:first]:
        parts = file.relative_to(TESTS.parent).with_suffix("").parts
        try:
            import_module(".".join(parts))
        except Exception:  # noqa: BLE001
            return
