"""What of a large account is read to find out whether campaigns have anything to show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.api.ads.campaigns.servability import complete_campaign
from mock_platform.world.store.memory import MemoryStore
from tests.support import Sandbox, sandbox

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CAMPAIGNS = [f"c{number}" for number in range(20)]
SIZES = (10, 200)
"""Line items of each campaign."""


class Reads:
    """Counts the questions to the store, and the records in its answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for name in ("get", "page", "pick", "count"):
            monkeypatch.setattr(MemoryStore, name, self._watch(getattr(MemoryStore, name)))

    def _watch(self, method: Any) -> Any:
        def watched(store: MemoryStore, *args: Any, **options: Any) -> Any:
            found = method(store, *args, **options)
            self.count += 1 + (len(found) if isinstance(found, list) else 0)
            return found

        return watched


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """What is read from now on."""
    return Reads(monkeypatch)


def fill(box: Sandbox, size: int, *, more: int = 0, funding: str = "m2k8s") -> None:
    """Add twenty campaigns of so many line items without creatives, and others beside them."""
    campaign, item = box.record("campaigns", "8wku2"), box.record("line_items", "itttx")
    campaign |= {"funding_instrument_id": funding}
    with box.world.work():
        for key in [*CAMPAIGNS, *(f"d{number}" for number in range(more))]:
            box.world.store.put("campaigns", key, campaign | {"id": key})
            for number in range(size):
                own = {"id": f"{key}-{number}", "campaign_id": key}
                box.world.store.put("line_items", own["id"], item | own)


def show(box: Sandbox, line_item: str, *, deleted: bool = False) -> None:
    """Let a line item have a post, or none any more."""
    post = box.record("promoted_posts", "1efwlo")
    key = f"of-{line_item}"
    box.put("promoted_posts", key, post | {"id": key, "line_item_id": line_item,
                                           "deleted": deleted})  # fmt: skip


def look(box: Sandbox) -> list[str]:
    """The campaigns of the twenty that have something to show."""
    shown = [complete_campaign(box.world, box.record("campaigns", key)) for key in CAMPAIGNS]
    return [each["id"] for each in shown if "INCOMPLETE" not in each["reasons_not_servable"]]


def measure(box: Sandbox, reads: Reads) -> int:
    """What a look at the twenty campaigns reads."""
    before = reads.count
    look(box)
    return reads.count - before


def test_what_is_read_does_not_depend_on_the_line_items(reads: Reads) -> None:
    """Campaigns without anything to show cost as much with many line items as with few."""
    costs = []
    for size in SIZES:
        box = sandbox(freeze=NOON)
        fill(box, size)
        look(box)
        steady = measure(box, reads)
        box.change("line_items", "c3-1", name="Renamed")
        costs.append((steady, measure(box, reads)))

    assert costs[0] == costs[1]


def test_what_is_read_does_not_depend_on_other_campaigns(reads: Reads) -> None:
    """Other campaigns of the instrument that pays are not read, whatever their number."""
    costs = []
    for more in (20, 400):
        box = sandbox(freeze=NOON)
        fill(box, 2, more=more)
        for key in CAMPAIGNS:
            show(box, f"{key}-0")
        assert CAMPAIGNS == look(box)
        box.change("line_items", "d0-0", name="Renamed")
        costs.append(measure(box, reads))

    assert costs[0] == costs[1]


@pytest.mark.usefixtures("noon")
def test_a_creative_counts_at_once(box: Sandbox) -> None:
    """A campaign has something to show as soon as one of its line items has, and as long."""
    fill(box, 3)
    assert [] == look(box)
    show(box, "c7-2")
    assert ["c7"] == look(box)
    for change, found in (
        ({"deleted": True}, []), ({"deleted": False}, ["c7"]), ({"campaign_id": "c8"}, ["c8"]),
    ):  # fmt: skip
        box.change("line_items", "c7-2", **change)
        assert found == look(box)
    show(box, "c7-2", deleted=True)
    assert [] == look(box)


@pytest.mark.usefixtures("noon")
def test_a_reset_forgets_what_was_found(box: Sandbox) -> None:
    """After a return to an earlier state, the campaigns are as they were then."""
    fill(box, 3)
    bare = box.world.store.snapshot()
    show(box, "c7-2")
    full = box.world.store.snapshot()

    assert ["c7"] == look(box)
    for state, found in ((bare, []), (full, ["c7"])):
        box.world.store.restore(state)
        assert found == look(box)
