"""The codes of countries and currencies that the package ships, from pycountry and iso4217.

The libraries would be more than half of what a user installs, for two lists that hardly change.
"""

from __future__ import annotations

import json

import pycountry
from iso4217 import Currency


def write_page() -> str:
    """Returns the text of `mock_platform/core/codes.json`: one list for each kind of code."""
    lists = {
        "countries": sorted(country.alpha_2 for country in pycountry.countries),
        "currencies": sorted(currency.code for currency in Currency),
    }
    rows = [f'  "{name}": {json.dumps(codes)}' for name, codes in lists.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"
