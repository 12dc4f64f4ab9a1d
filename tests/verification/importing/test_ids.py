"""`import --ids map`: new ids wherever the recording names a record, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mock_platform.verification.importing.ids import IdTranslation, make_fresh
from mock_platform.verification.importing.result import describe
from tests.verification.har.support import make_entry
from tests.verification.importing.support import import_entries, read_table, read_words

ACCOUNT = "18ce5zzz9"
FRESH = {
    "77": "1990000000000000001", ACCOUNT: "18ce5new1", "itttx": "newid", "14m": "abcde",
    "3_1800000000000000001": "3_1990000000000000002",
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), [
    ({"id": "14m", "name": "14m"}, {"id": "abcde", "name": "14m"}),
    ({"user_id": 77, "count": 77}, {"user_id": 1990000000000000001, "count": 77}),
    ({"line_item_ids": ["itttx", "14m"]}, {"line_item_ids": ["newid", "abcde"]}),
    ({"card_uri": "card://14m"}, {"card_uri": "card://abcde"}),
    ({"message": "The line item itttx of 14m"}, {"message": "The line item newid of 14m"}),
    ({"media_keys": ["3_1800000000000000001"]}, {"media_keys": ["3_1990000000000000002"]}),
    ({"name": "itttxyz", "more": "my_itttx"}, {"name": "itttxyz", "more": "my_itttx"}),
    ({"itttx": {"id": True}, "14m": None}, {"newid": {"id": True}, "14m": None}),
])  # fmt: skip
def test_values(value: Any, expected: Any) -> None:
    """Short ids are replaced only where ids belong, long ones as words of any text."""
    assert expected == IdTranslation(FRESH).rewrite_value(value)


def test_addresses() -> None:
    """In a path the parameters, in a query what ids belong to; the rest stays as it was sent."""
    translation = IdTranslation(FRESH)

    assert (
        "http://h:1/~w/77/18ce5new1/abcde?line_item_ids=newid%2Cabcde&q=14m%20x"
        == translation.rewrite_url(
            f"http://h:1/~w/77/{ACCOUNT}/14m?line_item_ids=itttx%2C14m&q=14m+x", [4]
        )
    )
    assert "/12/14m?q=a+b&count=77" == translation.rewrite_url("/12/14m?q=a+b&count=77")


def test_fresh_ids() -> None:
    """They have the form of the table's ids and keep their order; what is no id stays."""
    known = [("users", "9"), ("users", "10"), ("line_items", "b1"), ("line_items", "a1"),
             ("media", "7_5"), ("publishers", "IAB1"), ("users", "Ada")]  # fmt: skip

    fresh = make_fresh(known, {"users": "2244994945", "line_items": "itttx"})

    assert {"9", "10", "b1", "a1", "7_5"} == fresh.keys()
    assert int(fresh["9"]) < int(fresh["10"])
    assert fresh["a1"] < fresh["b1"]
    assert {5} == {len(fresh[each]) for each in ("a1", "b1")}
    assert fresh["7_5"].startswith("7_19")
    assert fresh == make_fresh(reversed(known), {"users": "2244994945", "line_items": "itttx"})


def test_a_recording(tmp_path: Path) -> None:
    """Records, references, scenarios, events and requests have the new ids, and answer alike."""
    campaign = {"id": "c9xyz", "name": "Spring", "funding_instrument_id": "f9abc"}
    base = f"https://ads-api.x.com/12/accounts/{ACCOUNT}"
    echo = {"request": {"params": {"account_id": ACCOUNT}}}
    shown = {**echo, "data": [campaign], "next_cursor": None}
    refused = {"errors": [{"code": "NOT_FOUND", "message": "no c9xyz"}], **echo}
    event = {
        "for_user_id": "8150815",
        "favorite_events": [{"user": {"id": 8150815, "id_str": "8150815"}}],
    }
    delivery = {"mimeType": "application/json", "text": json.dumps(event)}
    user = {"data": {"id": "8150815", "name": "Ada", "username": "ada_l"}}

    report = import_entries(
        tmp_path,
        make_entry(url=f"{base}/campaigns", text=json.dumps(shown)),
        make_entry(url=f"{base}/campaigns/c9xyz", status=404, text=json.dumps(refused)),
        make_entry(url="https://api.x.com/2/users/8150815", text=json.dumps(user)),
        make_entry(method="POST", url="https://hooks.example.org/in", posted=delivery),
        ids="map",
    )

    assert {"c9xyz", ACCOUNT, "8150815", "f9abc"} == report.ids.keys()
    assert 3 == report.answered
    assert set() == report.ids.keys() & read_words(report.folder)
    (kept,) = read_table(report, "events")
    assert (
        report.ids["8150815"]
        == kept["_user_id"]
        == kept["payload"]["favorite_events"][0]["user"]["id_str"]
    )
    assert "Ids that were replaced by fresh ones: 4." in list(describe(report))
