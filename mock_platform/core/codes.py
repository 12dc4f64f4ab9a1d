"""The codes of countries and currencies.

The file beside this module is made from the lists of pycountry and iso4217, which users need not
install.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mock_platform.core.jsonio import loads

_FILE = Path(__file__).with_suffix(".json")


def list_countries() -> frozenset[str]:
    """Return the assigned codes of ISO 3166-1 alpha-2."""
    return _read_lists()["countries"]


def list_currencies() -> frozenset[str]:
    """Return the codes of ISO 4217."""
    return _read_lists()["currencies"]


@cache
def _read_lists() -> dict[str, frozenset[str]]:
    return {name: frozenset(codes) for name, codes in loads(_FILE.read_bytes()).items()}
