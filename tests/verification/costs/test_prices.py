"""Files of prices: what they change, and what is wrong with them."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.verification.costs.document import write_usd
from mock_platform.verification.costs.prices import BadPrices, read_prices
from tests.live.pages import Page

TODAY = date(2026, 8, 22)


def write(folder: Path, content: Any) -> Path:
    """A file with this content."""
    file = folder / "prices.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


def test_every_class_has_a_price() -> None:
    """The public list of today names each class that an operation is declared with."""
    classes = {operation.price.name for operation in OPERATIONS if operation.price}

    assert classes <= set(read_prices(None).find(TODAY).classes)


def test_own_prices_come_first(tmp_path: Path) -> None:
    """From their day on, whatever the public list says later; null takes a price away."""
    classes = {"Post: Create": 0.02, "User: Read": "0.0005"}
    rows = [
        {"from": "2026-08-01", "classes": {"Trends": None}},
        {"from": "2026-01-01", "classes": classes, "events": {"like.create": "0.003"}},
    ]
    prices = read_prices(write(tmp_path, {"includes_are_free": True, "prices": rows}))
    before, after = prices.find(date(2025, 12, 31)), prices.find(TODAY)

    assert write_usd(before.classes["User: Read"]) == "0.010"
    assert write_usd(after.classes["User: Read"]) == "0.0005"
    assert write_usd(after.classes["Post: Create"]) == "0.020"
    assert str(after.find_event("profile.update.url")) == "0.005"
    assert after.find_event("like.create") is not None
    assert "Trends" not in after.classes
    assert prices.includes_are_free
    assert after.since == date(2026, 8, 1)


def test_the_file_of_the_page(tmp_path: Path) -> None:
    """What the documentation shows can be used."""
    (block,) = Page("docs/costs.md").blocks("yaml")
    file = tmp_path / "prices.yaml"
    file.write_text(block, "utf-8")
    prices = read_prices(file)

    assert write_usd(prices.find(TODAY).classes["Posts: Read"]) == "0.004"
    assert prices.includes_are_free
    assert prices.bare_hosts_are_text


FAULTS = {
    "not JSON": ("{", ":1:2: not valid JSON"),
    "no object": ([], ":1:1: expected an object with prices, includes"),
    "unknown key": ({"price": []}, "\"price\" is unknown here. Did you mean 'prices'?"),
    "flag": ({"includes_are_free": 1}, "includes_are_free: expected true or false, got 1"),
    "no list": ({"prices": {}}, "prices: expected a list, got {}"),
    "no row": ({"prices": [1]}, "prices[0]: expected an object with from, classes, events; got 1"),
    "no day": ({"prices": [{}]}, "prices[0]: from is missing"),
    "other day": ({"prices": [{"from": "2026-4-1"}]}, "prices[0].from: expected a day such as"),
    "no classes": ({"prices": [{"from": "2026-04-20", "classes": []}]},
                   "prices[0].classes: expected an object with"),
    "unknown class": ('{"prices": [{"from": "2026-04-20",\n  "classes": {"Posts: Raed": "1"}}]}',
                      "Posts: Raed: \"Posts: Raed\" is unknown here. Did you mean 'Posts: Read'?"),
    "negative": ({"prices": [{"from": "2026-04-20", "classes": {"Trends": "-0.1"}}]},
                 "prices[0].classes.Trends: expected a price in US dollars"),
    "too high": ({"prices": [{"from": "2026-04-20", "classes": {"Trends": "1000.000001"}}]},
                 "0 to 1000"),
    "too fine": ({"prices": [{"from": "2026-04-20", "classes": {"Trends": "0.0000001"}}]},
                 "up to 6 decimals"),
    "no price": ({"prices": [{"from": "2026-04-20", "events": {"like.create": True}}]},
                 "prices[0].events.like.create: expected a price"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_have_a_place(name: str, tmp_path: Path) -> None:
    """Each says where it is, and what is allowed."""
    content, text = FAULTS[name]
    file = write(tmp_path, content)

    with pytest.raises(BadPrices) as caught:
        read_prices(file)

    assert str(caught.value).startswith(f"{file}:")
    assert text in str(caught.value)


def test_limits_of_prices(tmp_path: Path) -> None:
    """The highest and the finest price are taken."""
    own = {"prices": [{"from": "2026-04-20", "classes": {"Trends": 1000, "Bookmark": "0.000001"}}]}
    classes = read_prices(write(tmp_path, own)).find(TODAY).classes

    assert [write_usd(classes[name]) for name in ("Trends", "Bookmark")] == ["1000.000", "0.000001"]


def test_a_missing_file(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(BadPrices, match=r"none\.json:1:1: cannot be read: No such file"):
        read_prices(tmp_path / "none.json")
