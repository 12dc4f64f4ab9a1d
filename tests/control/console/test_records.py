"""The pages of records: tables, search, one record as JSON, its references, its deletion."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mock_platform.control.console.records import PAGE_SIZE
from mock_platform.core.jsonio import pretty
from mock_platform.core.tables import state
from tests.control.console.support import done, refused, show, submit, text_of
from tests.control.support import call
from tests.support import Sandbox

RECORDS = "/console/records"
ITEM = f"{RECORDS}/line_items/record?key=itttx"


def held(box: Sandbox, key: str = "itttx") -> dict[str, Any]:
    """A line item as it is stored."""
    record = box.world.store.get("line_items", key)
    assert record is not None
    return dict(record)


def seen(box: Sandbox) -> str:
    """What the page of the line item says about the version that it shows."""
    page = call(box, "GET", ITEM).text
    return page.partition('name="seen" value="')[2].partition('"')[0]


def test_tables(box: Sandbox) -> None:
    """Every table is listed with its count, or those with a part of a name."""
    page = show(box, RECORDS)

    assert all(f" {name} " in page for name in box.platform.tables)
    assert f"line_items {box.world.store.count('line_items')} " in page
    assert " users " not in show(box, f"{RECORDS}?q=LINE")
    assert "No table has this name." in show(box, f"{RECORDS}?q=nothing")


def test_pages(box: Sandbox) -> None:
    """A table is shown page by page, and every record is on one of them."""
    for number in range(PAGE_SIZE + 10):
        box.world.store.put("notes", f"n{number:03}", {"id": f"n{number:03}", "text": "<b>&"})
    total = box.world.store.count("notes")
    first = call(box, "GET", f"{RECORDS}/notes")
    second = call(box, "GET", f"{RECORDS}/notes?skip={PAGE_SIZE}")

    assert f"1 to {PAGE_SIZE} of {total}" in text_of(first, 200)
    assert f"{PAGE_SIZE + 1} to {total} of {total}" in text_of(second, 200)
    assert all(f">n{n:03}</a>" in first.text + second.text for n in range(PAGE_SIZE + 10))
    assert "<b>&" not in first.text
    assert f"skip={PAGE_SIZE}" in first.text
    assert "skip=0" in second.text
    assert "empty from here on" in show(box, f"{RECORDS}/notes?skip=9000")


def test_search(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is found in any field, ignoring case; a large table is searched to a bound."""
    page = show(box, f"{RECORDS}/line_items?q=POUR-OVER")
    assert "iuc5v" in page
    assert "1 to 1 of 1" in page
    assert "No record has this text." in show(box, f"{RECORDS}/line_items?q=nothing")

    monkeypatch.setattr(state, "MAX_SEARCHED", 1)
    assert "only the first records were searched" in show(box, f"{RECORDS}/line_items?q=itttx")
    answer = call(box, "GET", f"{RECORDS}/line_items?q=iuc5v")
    assert "No record has this text." not in answer.text
    assert "None of the first records has this text; the others were not searched." in answer.text
    assert 'line_items/record?key=iuc5v">Open the record with this key' in answer.text


def test_references(box: Sandbox) -> None:
    """A record leads to those that it refers to, and to those that refer to it."""
    campaign = held(box)["campaign_id"]
    page = call(box, "GET", ITEM).text

    assert f"/_mock/console/records/campaigns/record?key={campaign}" in page
    box.world.store.remove("campaigns", campaign)
    assert f"campaigns/{campaign} missing" in show(box, ITEM)
    account = call(box, "GET", f"{RECORDS}/accounts/record?key=18ce54d4x5t").text
    assert "/_mock/console/records/line_items?q=18ce54d4x5t" in account


def test_save(box: Sandbox) -> None:
    """A record is replaced by what was written."""
    record = held(box) | {"name": "Renamed <i>"}

    assert done(submit(box, ITEM, record=pretty(record), seen=seen(box)))

    assert "Renamed <i>" == held(box)["name"]
    assert "Renamed <i>" not in call(box, "GET", ITEM).text


def test_a_change_meanwhile_is_not_lost(box: Sandbox) -> None:
    """What was written is refused and shown again if the record changed since the page did."""
    version, record = seen(box), held(box)
    box.world.store.put("line_items", "itttx", record | {"name": "Theirs"})

    page = refused(submit(box, ITEM, record=pretty(record | {"name": "Mine"}), seen=version), 409)

    assert "changed since this page showed it" in page
    assert "Mine" in page
    assert "Theirs" == held(box)["name"]


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        ({"objective": "CLICKZ"}, ["objective", "WEBSITE_CLICKS"]),
        ({"campaign_id": "gone"}, ["campaign_id refers to 'gone'"]),
        ({"nam": "x"}, ["Did you mean 'name'?"]),
        ({"id": "other"}, ["must stay 'itttx'"]),
    ],
)
def test_faults(box: Sandbox, change: dict[str, Any], texts: list[str]) -> None:
    """Every fault of a record is shown with its field, what is allowed and what was meant."""
    written = pretty(held(box) | change)
    page = refused(submit(box, ITEM, record=written, seen=seen(box)), 422)

    assert all(text in page for text in texts)
    assert "itttx" == held(box)["id"]
    assert json.loads(written)["name"] in page


def test_json_faults(box: Sandbox) -> None:
    """A text that is not JSON is shown again with the line and the column."""
    page = refused(submit(box, ITEM, record='{"id": "itttx"\nx}', seen=seen(box)), 422)

    assert "record: line 2, column 1" in page
    assert "A record must be a JSON object, got list" in refused(
        submit(box, ITEM, record="[]", seen=seen(box)), 422
    )


def test_invalid_on_purpose(box: Sandbox) -> None:
    """Boxes store unknown keys as recorded, or anything without checks."""
    strange = held(box) | {"strange": 1}
    assert done(submit(box, ITEM, record=pretty(strange), seen=seen(box), recorded="on"))
    assert 1 == held(box)["strange"]

    broken = {"id": "itttx", "objective": "NONE"}
    assert done(submit(box, ITEM, record=pretty(broken), seen=seen(box), unchecked="on"))
    assert broken == held(box)


def test_create(box: Sandbox) -> None:
    """A record is created under its key, which must be new."""
    new = f"{RECORDS}/line_items/new"
    record = held(box) | {"id": "new/1 ?&#"}

    assert "objective" in show(box, new)
    answer = submit(box, new, record=pretty(record))
    assert "line_items/new/1 ?&# was created." == done(answer)
    assert "new/1 ?&#" in show(box, answer.headers["Location"].removeprefix("/_mock"))
    assert "already" in refused(submit(box, new, record=pretty(record)), 409)
    assert "id is the key" in refused(submit(box, new, record="{}"), 422)


def test_delete(box: Sandbox) -> None:
    """A deletion is asked first, with what refers to the record."""
    question = f"{RECORDS}/campaigns/delete?key={held(box)['campaign_id']}"

    assert "records of line_items" in show(box, question) or "line_items/" in show(box, question)
    assert done(submit(box, question))
    assert "has no record" in show(box, question, status=404)


def test_unknown_tables_and_keys(box: Sandbox) -> None:
    """What does not exist is refused with what was meant."""
    assert "Did you mean 'line_items'?" in show(box, f"{RECORDS}/line_item", status=404)
    assert "has no record 'x'" in show(box, f"{RECORDS}/users/record?key=x", status=404)
    assert "key" in show(box, f"{RECORDS}/users/record", status=400)


def test_the_form_to_make_records_is_above_them(box: Sandbox) -> None:
    """It is folded, and open where there is nothing else to see or something is wrong in it."""
    full = call(box, "GET", f"{RECORDS}/users").text
    empty = call(box, "GET", f"{RECORDS}/replay_jobs").text
    wrong = submit(box, f"{RECORDS}/users", count="0").text

    assert 0 < full.index("Make records") < full.index("<table")
    assert '<details class="card" id="make">' in full
    for page in (empty, wrong):
        assert '<details class="card" id="make" open>' in page


def test_records_are_made(box: Sandbox) -> None:
    """The form of a table makes records and shows the last page."""
    before = box.world.store.count("users")
    table = f"{RECORDS}/users"

    said = done(submit(box, table, count="60", seed="3", fields='{"location": "Lima"}'))

    assert "60 users were made." == said
    assert before + 60 == box.world.store.count("users")


def test_a_record_that_is_gone_meanwhile(box: Sandbox) -> None:
    """What was written is not lost: it is shown in the form that creates a record."""
    version, record = seen(box), held(box)
    call(box, "DELETE", "/state/line_items/itttx")

    answer = submit(box, ITEM, record=pretty(record | {"name": "Mine"}), seen=version)

    page = refused(answer, 404)
    assert "line_items has no record 'itttx'" in page
    assert "New record of line_items" in page
    assert "Mine" in page
