"""Batches of records: the array, its items, loose types, and all or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenario.support import arm
from tests.support import ACCOUNT, Sandbox, refusal

PATH = f"/12/batch/accounts/{ACCOUNT}/campaigns"
NEW = {"name": "New", "funding_instrument_id": "lygyi"}


def item(kind: str, **params: Any) -> dict[str, Any]:
    """One operation of a batch."""
    return {"operation_type": kind, "params": params}


def send(box: Sandbox, *items: Any) -> Any:
    """The answer to one batch."""
    return box.call("POST", PATH, json=list(items))


def item_faults(body: dict[str, Any]) -> list[list[tuple[str, str]]]:
    """Code and parameter of each error, for each item."""
    items = body["operation_errors"]
    return [[(error["code"], error["parameter"]) for error in errors] for errors in items]


def test_operations_of_all_kinds_in_order(box: Sandbox) -> None:
    """Records and echoes are parallel to the input, and the answer has nothing else."""
    sent = [
        item("Update", campaign_id="8wku2", name="Renamed"), item("Create", **NEW),
        item("Delete", campaign_id="8x0ab"),
    ]  # fmt: skip
    name = box.record("campaigns", "8x0ab")["name"]
    body = send(box, *sent).get_json()
    changed, new, gone = body["data"]

    assert set(body) == {"request", "data"}
    assert [record["name"] for record in body["data"]] == ["Renamed", "New", name]
    assert (changed["id"], gone["id"], gone["deleted"]) == ("8wku2", "8x0ab", True)
    assert body["request"] == [
        each | {"params": each["params"] | {"account_id": ACCOUNT}} for each in sent
    ]
    assert box.record("campaigns", new["id"])["name"] == "New"


def test_one_faulty_item_refuses_all(box: Sandbox) -> None:
    """Nothing is kept of a batch with a fault, whether it was found before or in a handler."""
    before = box.world.store.page("campaigns")
    good = item("Create", **NEW)

    for bad, expected in (
        (item("Create", name="New"), ("MISSING_PARAMETER", "funding_instrument_id")),
        (item("Update", campaign_id="nope"), ("CAMPAIGN_NOT_FOUND", "campaign_id")),
    ):
        response = send(box, good, bad, good)
        body = response.get_json()

        assert response.status_code == 400
        assert set(body) == {"operation_errors", "request"}
        assert item_faults(body) == [[], [expected], []]
        assert body["request"][0]["params"] == {**NEW, "account_id": ACCOUNT}
    assert box.world.store.page("campaigns") == before


def test_a_record_that_an_item_before_deleted(box: Sandbox) -> None:
    """Items see what the items before them did; the whole batch is refused all the same."""
    delete = item("Delete", campaign_id="8x0ab")
    body = send(box, delete, delete).get_json()

    assert item_faults(body) == [[], [("CAMPAIGN_NOT_FOUND", "campaign_id")]]
    assert box.record("campaigns", "8x0ab")["deleted"] is False


@pytest.mark.parametrize(("body", "expected"), [
    ([], "The body must be an array of at least one operation"),
    ({"operations": []}, "The body must be an array of at least one operation"),
    ([item("Create", **NEW)] * 41, "A request may have at most 40 operations, got 41"),
])  # fmt: skip
def test_faults_of_the_whole_request(box: Sandbox, body: Any, expected: str) -> None:
    """What is no batch, or too large a one, is refused under errors."""
    response = box.call("POST", PATH, json=body)

    assert refusal(response) == (400, [("INVALID_PARAMETER", "")])
    assert response.get_json()["errors"][0]["message"] == expected


def test_the_largest_batch(box: Sandbox) -> None:
    """Forty items are as many as one request may have."""
    response = send(box, *[item("Create", **NEW)] * 40)

    assert response.status_code == 200
    assert len({record["id"] for record in response.get_json()["data"]}) == 40


@pytest.mark.parametrize(("bad", "expected", "shown"), [
    (7, ("INVALID_PARAMETER", ""), {}),
    ({"params": {}}, ("MISSING_PARAMETER", "operation_type"), {}),
    ({"operation_type": 5, "params": {}}, ("INVALID_PARAMETER", "operation_type"), {}),
    ({"operation_type": "Remove", "params": {}}, ("INVALID_PARAMETER", "operation_type"),
     {"operation_type": "Remove"}),
    ({"operation_type": "Create"}, ("MISSING_PARAMETER", "params"), {"operation_type": "Create"}),
    ({"operation_type": "Create", "params": []}, ("INVALID_PARAMETER", "params"), None),
    (item("Update", name="New"), ("MISSING_PARAMETER", "campaign_id"), None),
    (item("Delete", campaign_id=""), ("INVALID_PARAMETER", "campaign_id"), None),
    (item("Delete", campaign_id=["8wku2"]), ("INVALID_PARAMETER", "campaign_id"), None),
])  # fmt: skip
def test_faults_of_an_item(
    box: Sandbox, bad: Any, expected: tuple[str, str], shown: dict[str, str] | None
) -> None:
    """Each item needs a known operation_type, an object params and the id of its record.

    The operation_type is in the echo of an item, an unknown one too, unless it is no text.
    """
    body = send(box, item("Create", **NEW), bad).get_json()
    found = item_faults(body)

    assert found[0] == []
    assert expected in found[1]
    assert shown is None or {"params": {"account_id": ACCOUNT}, **shown} == body["request"][1]


def test_values_of_loose_types(box: Sandbox) -> None:
    """Numbers and booleans may be text, text may be a number, and null counts as not sent."""
    loose = {
        "name": 2026, "total_budget_amount_local_micro": "5000000", "standard_delivery": "true",
        "purchase_order_number": None,
    }  # fmt: skip
    body = send(box, item("Create", **(NEW | loose))).get_json()
    (shown,) = body["data"]

    assert (shown["name"], shown["total_budget_amount_local_micro"]) == ("2026", 5000000)
    assert shown["purchase_order_number"] is None
    assert body["request"][0]["params"]["standard_delivery"] is True


@pytest.mark.parametrize("empty", ["", None])
def test_updates_unset_with_empty_values(box: Sandbox, empty: str | None) -> None:
    """An empty text or null unsets an optional field in an update."""
    params = {"campaign_id": "8wku2", "purchase_order_number": empty}
    body = send(box, item("Update", **params)).get_json()

    assert body["data"][0]["purchase_order_number"] is None


def test_unknown_keys_are_reported(box: Sandbox) -> None:
    """Keys that no operation reads are named in the journal, with their place."""
    odd = item("Create", **NEW, colour="red") | {"extra": 1}
    response = send(box, odd, item("Update", campaign_id="8wku2", nmae="x"))

    assert response.status_code == 200
    assert response.headers["X-Mock-Warnings"] == "unknown-key"
    text = " ".join(box.world.journal.find()[-1].warnings)
    assert "'extra' at [0]" in text
    assert "'colour' at [0].params" in text
    assert "'nmae' at [1].params is unknown and was ignored; did you mean 'name'?" in text


def test_warnings_name_their_item(box: Sandbox) -> None:
    """What has no effect is reported with the index of its item."""
    send(box, item("Create", **NEW), item("Create", **NEW, standard_delivery=True))

    assert box.world.journal.find()[-1].warnings[0].startswith("[1]: standard_delivery")


def test_a_scenario_refuses_items(box: Sandbox) -> None:
    """The effect `items` refuses the items that it names, and echoes all of them."""
    arm(box, {"on": "campaigns.batch", "then": {"items": {"1": "INVALID_PARAMETER"}}})
    body = send(box, item("Create", **NEW), item("Delete", campaign_id="8wku2")).get_json()

    assert item_faults(body) == [[], [("INVALID_PARAMETER", "")]]
    assert body["request"][1]["params"] == {"campaign_id": "8wku2", "account_id": ACCOUNT}
    assert box.record("campaigns", "8wku2")["deleted"] is False
