"""Batches of targeting criteria: all or none, in order, up to 500, categories as whole sets."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.line_items.parts import CLICKS
from tests.api.ads.support import history, load, post
from tests.support import ACCOUNT, Sandbox, faults

PATH = f"/12/batch/accounts/{ACCOUNT}/targeting_criteria"
EMPTY = "iumz0"
"""A line item without criteria."""
FOOD = ("IAB8", "IAB8-5", "IAB8-6", "IAB8-9")
"""The IAB categories of one content category."""


def create(type_: str, value: str, **more: str) -> dict[str, Any]:
    """One creation."""
    params = {"line_item_id": EMPTY, "targeting_type": type_, "targeting_value": value}
    return {"operation_type": "Create", "params": params | more}


def delete(key: str) -> dict[str, Any]:
    """One deletion."""
    return {"operation_type": "Delete", "params": {"targeting_criterion_id": key}}


def send(box: Sandbox, *operations: dict[str, Any]) -> TestResponse:
    """One batch."""
    return box.call("POST", PATH, json=list(operations))


def codes(response: TestResponse) -> list[list[tuple[str, str]]]:
    """Code and parameter of the errors of each item."""
    assert response.status_code == 400, response.text
    body = response.get_json()
    assert {"operation_errors", "request"} == set(body)
    return [[(e["code"], e["parameter"]) for e in item] for item in body["operation_errors"]]


def test_the_public_sample(box: Sandbox) -> None:
    """A creation without operator_type and a deletion, answered with data_type, in order."""
    sent = [create("LOCATION", "5122804691e5fecc"), delete("8ptm9")]
    body = send(box, *sent).get_json()
    made, gone = body["data"]

    assert body["data_type"] == "targeting_criterion"
    assert {
        "name": "San Francisco-Oakland-San Jose CA, US", "operator_type": "EQ",
        "location_type": "METRO",
    }.items() <= made.items()  # fmt: skip
    assert (gone["id"], gone["deleted"]) == ("8ptm9", True)
    assert body["request"] == [
        each | {"params": each["params"] | {"account_id": ACCOUNT}} for each in sent
    ]
    assert ["CREATE"] == history(box, "TARGETING_CRITERIA", made["id"])
    assert ["DELETE"] == history(box, "TARGETING_CRITERIA", "8ptm9")


def test_all_or_none(box: Sandbox) -> None:
    """One wrong item: its errors are at its place, the others have none, nothing is kept."""
    before = box.world.store.count("targeting_criteria")
    response = send(
        box, create("BROAD_KEYWORD", "espresso"), create("GENDER", "3"), delete("unknown"),
        create("NO_TYPE", "1"),
    )  # fmt: skip
    read = codes(response)

    assert read[0] == []
    assert read[3] == [("INVALID_TARGETING_TYPE", "targeting_type")]
    assert box.world.store.count("targeting_criteria") == before
    later = codes(send(box, create("GENDER", "3"), delete("unknown")))
    assert later == [
        [("INVALID_PARAMETER", "targeting_value")],
        [("TARGETING_CRITERION_NOT_FOUND", "targeting_criterion_id")],
    ]
    assert load(box, "targeting_criteria/8ptm9")["deleted"] is False


def test_earlier_items_count(box: Sandbox) -> None:
    """What an item needs may come before it; what it exceeds as well."""
    engaged = send(
        box, create("CAMPAIGN_ENGAGEMENT", "8x3fz"), create("ENGAGEMENT_TYPE", "IMPRESSION")
    )
    turned = send(box, create("TV_SHOW", "10027243420"), create("LOCATION", "96683cc9126741d1"))
    ages = send(box, create("AGE", "AGE_OVER_18"), create("AGE", "AGE_OVER_21"))

    assert engaged.status_code == 200
    assert [[("INVALID_TV_SHOW_LOCATIONS", "targeting_value")], []] == codes(turned)
    assert [[], [("INVALID_PARAMETER", "targeting_type")]] == codes(ages)


@pytest.mark.parametrize(("number", "status"), [(500, 200), (501, 400)])
def test_five_hundred_at_once(box: Sandbox, number: int, status: int) -> None:
    """Five hundred are taken, one more is refused as a whole."""
    response = send(box, *(create("BROAD_KEYWORD", f"word {i}") for i in range(number)))

    assert response.status_code == status
    if status == 400:
        assert faults(response) == [("INVALID_PARAMETER", "")]
    else:
        assert len(response.get_json()["data"]) == 500


def test_there_is_no_update(box: Sandbox) -> None:
    """Criteria are created and deleted only."""
    refused = send(box, {"operation_type": "Update", "params": {"targeting_criterion_id": "8ptm9"}})

    assert [[("INVALID_PARAMETER", "operation_type")]] == codes(refused)


def test_whole_sets_of_categories(box: Sandbox) -> None:
    """IAB categories come with all of their content category, together or after each other.

    The set must be complete on one line item.
    """
    first = [create("IAB_CATEGORY", name) for name in FOOD[:3]]
    elsewhere = create("IAB_CATEGORY", FOOD[3], line_item_id=CLICKS)
    wrong = [("INVALID_PARAMETER", "targeting_value")]

    assert [wrong] * 3 == codes(send(box, *first))
    assert [wrong] * 4 == codes(send(box, *first, elsewhere))
    unknown = send(box, create("IAB_CATEGORY", "IAB99"))
    assert [[("INVALID_IAB_CATEGORY", "targeting_value")]] == codes(unknown)
    for batch in (
        [create("IAB_CATEGORY", "IAB9-30")], [create("IAB_CATEGORY", name) for name in FOOD],
        [create("IAB_CATEGORY", FOOD[0], operator_type="NE")],
    ):  # fmt: skip
        assert send(box, *batch).status_code == 200


def test_one_category_alone(box: Sandbox) -> None:
    """The single creation has the same rule: a set of one is whole, a part is not."""
    sent = {"line_item_id": EMPTY, "targeting_type": "IAB_CATEGORY", "operator_type": "EQ"}
    part = post(box, "targeting_criteria", targeting_value=FOOD[0], **sent)
    whole = post(box, "targeting_criteria", targeting_value="IAB9-30", **sent)

    assert faults(part) == [("INVALID_PARAMETER", "targeting_value")]
    assert whole.status_code == 200
