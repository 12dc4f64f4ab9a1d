"""Direct messages of the older interface: sent, listed, read and deleted."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.older.numbers import numbers
from tests.refusals import Refusal, refusals
from tests.support import NORTHBIKE, Sandbox, body_of

OWN, OTHER = "2244994945", "3805104374"
EVENTS = "/1.1/direct_messages/events"
MESSAGE, RECEIVED = "1990181773551677440", "1990180010221305856"


def make(text: str | None = "Beans?", to: str = OTHER, **data: Any) -> Any:
    """The body of a new message."""
    said = data if text is None else {"text": text, **data}
    created = {"target": {"recipient_id": to}, "message_data": said}
    return {"event": {"type": "message_create", "message_create": created}}


def test_a_message_is_the_same_in_both_interfaces(box: Sandbox) -> None:
    """It is sent here, read there and by its receiver, and deleted for both."""
    box.change("apps", "20993", _permissions=["read", "write", "direct_messages"])
    sent = body_of(box.call("POST", f"{EVENTS}/new.json", json=make("Beans? #now")))["event"]
    fields: dict[str, Any] = {"dm_event.fields": "sender_id,text"}
    there = box.read(f"/2/dm_events/{sent['id']}", **fields)["data"]
    seen = box.read(f"{EVENTS}/show.json", keys=NORTHBIKE, id=sent["id"])
    gone = box.call("DELETE", f"{EVENTS}/destroy.json", query_string={"id": sent["id"]})

    assert (OWN, "Beans? #now") == (there["sender_id"], there["text"])
    assert sent == seen["event"]
    created = sent["message_create"]
    assert (OWN, {"recipient_id": OTHER}) == (created["sender_id"], created["target"])
    assert ["now"] == [tag["text"] for tag in created["message_data"]["entities"]["hashtags"]]
    assert "Harbor Campaign Desk" == seen["apps"][created["source_app_id"]]["name"]
    assert (204, b"") == (gone.status_code, gone.data)
    assert 404 == box.call("GET", f"/2/dm_events/{sent['id']}").status_code


def test_an_attachment(box: Sandbox) -> None:
    """Uploaded media are shown with the message."""
    attachment = {"type": "media", "media": {"id": "1712850617439560002"}}
    sent = body_of(box.call("POST", f"{EVENTS}/new.json", json=make(None, attachment=attachment)))
    shown = sent["event"]["message_create"]["message_data"]["attachment"]["media"]

    assert ("1712850617439560002", "photo") == (shown["id_str"], shown["type"])


def test_pages(box: Sandbox) -> None:
    """The newest message comes first; the cursor leads to the rest."""
    box.change("apps", "20993", _permissions=["read", "write", "direct_messages"])
    for number in range(3):
        body_of(box.call("POST", f"{EVENTS}/new.json", json=make(f"Number {number}")))
    whole = box.read(f"{EVENTS}/list.json", count="50")["events"]
    first = box.read(f"{EVENTS}/list.json", count="2")
    rest = box.read(f"{EVENTS}/list.json", count="50", cursor=first["next_cursor"])

    assert whole == (first["events"] + rest["events"])[:50]
    assert "Number 2" == whole[0]["message_create"]["message_data"]["text"]
    assert "next_cursor" not in box.read(f"{EVENTS}/list.json", keys=NORTHBIKE, count="50")


@pytest.mark.parametrize(
    ("what", "more", "event_type"),
    [("indicate_typing", {}, "dm.indicate_typing"),
     ("mark_read", {"last_read_event_id": "1990180010221305856"}, "dm.read")],
)  # fmt: skip
def test_notices(box: Sandbox, what: str, more: dict[str, str], event_type: str) -> None:
    """The other user hears that the caller writes, and up to which message they have read."""
    form = {"recipient_id": OTHER} | more
    answer = box.call("POST", f"/1.1/direct_messages/{what}.json", form=form)
    (event,) = (entry.record for entry in box.world.store.page("activities"))
    (notice,) = next(iter(event["payload"].values()))

    assert (204, b"") == (answer.status_code, answer.data)
    assert (event_type, OTHER) == (event["event_type"], event["user_id"])
    assert (OWN, OTHER) == (notice["sender_id"], notice["target"]["recipient_id"])
    assert more.get("last_read_event_id") == notice.get("last_read_event_id")


new = partial(Refusal, f"POST {EVENTS}/new.json")
read = partial(Refusal, "POST /1.1/direct_messages/mark_read.json")
REFUSED = [
    read("to have read the own message", 404, shows=numbers(34),
         form={"recipient_id": OTHER, "last_read_event_id": MESSAGE}),
    read("to have read an unknown message", 404, shows=numbers(34),
         form={"recipient_id": OTHER, "last_read_event_id": "99"}),
    read("to have read nothing", 403, form={"recipient_id": OTHER}, shows=numbers(38)),
    Refusal("POST /1.1/direct_messages/indicate_typing.json", "to write to an unknown user", 404,
            form={"recipient_id": "99"}, shows=numbers(50)),
    new("no text", 400, json=make(None), shows=numbers(25)),
    new("a text of 10,001 characters", 403, json=make("x" * 10_001), shows=numbers(354)),
    new("an unknown recipient", 404, json=make(to="99"), shows=numbers(50)),
    new("a recipient who takes no messages", 403, json=make(), shows=numbers(349),
        given={("users", OTHER): {"receives_your_dm": False}}),
    new("a recipient who is suspended", 403, json=make(), shows=numbers(349),
        given={("users", OTHER): {"_suspended": True}}),
    new("unknown media", 400, shows=numbers(324),
        json=make(attachment={"type": "media", "media": {"id": "99"}})),
    new("an app without the permission", 403, json=make(), shows=numbers(93),
        given={("apps", "11827"): {"_permissions": ["read", "write"]}}),
    new("a body without an event", 403, json={}, shows=numbers(38)),
    Refusal(f"GET {EVENTS}/show.json", "an unknown message", 404, query={"id": "99"},
            shows=numbers(34)),
    Refusal(f"GET {EVENTS}/list.json", "a cursor of nothing", 400, query={"cursor": "x"},
            shows=numbers(44)),
    Refusal(f"DELETE {EVENTS}/destroy.json", "to delete what was received", 403,
            query={"id": RECEIVED}, shows=numbers(87)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    row.check(box)
