"""Whether what a record belongs to is deleted, at one or two levels."""

from __future__ import annotations

import pytest

from mock_platform.api.ads.resource import CAMPAIGN, LINE_ITEM
from tests.support import Sandbox

CRITERION = {"line_item_id": "itttx"}


def test_nothing_above_is_deleted(box: Sandbox) -> None:
    """A record of a living line item in a living campaign is shown."""
    assert not LINE_ITEM.is_deleted(box.world, CRITERION)


@pytest.mark.parametrize(("table", "key"), [("line_items", "itttx"), ("campaigns", "8wku2")])
def test_something_above_is_deleted(box: Sandbox, table: str, key: str) -> None:
    """The line item or its campaign may be deleted, and the test for a list finds it as well."""
    box.change(table, key, deleted=True)

    assert LINE_ITEM.is_deleted(box.world, CRITERION)
    assert [False, False] == list(map(LINE_ITEM.make_test(box.world), [CRITERION, CRITERION]))


def test_what_is_above_is_unknown(box: Sandbox) -> None:
    """A record that was stored unchecked, without what it belongs to, is shown."""
    assert not LINE_ITEM.is_deleted(box.world, {"line_item_id": "none"})
    assert not CAMPAIGN.is_deleted(box.world, {})
    assert CAMPAIGN.make_test(box.world)({})
