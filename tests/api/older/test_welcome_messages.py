"""Welcome messages of the older interface, and the rule that chooses one."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.older.numbers import invalid, numbers
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, Sandbox, body_of

PATH = "/1.1/direct_messages/welcome_messages"
OWN, OTHER, RULE = (f"18660200000000000{number}" for number in (11, 12, 21))
IMAGE = "1712850617439560002"


def make(box: Sandbox, **data: Any) -> Any:
    """A new welcome message."""
    body = {"welcome_message": {"name": "hello", "message_data": data}}
    return body_of(box.call("POST", f"{PATH}/new.json", json=body))


def test_a_welcome_message(box: Sandbox) -> None:
    """It is made with what it offers, read, changed, listed and deleted."""
    choices = {"type": "options", "options": [{"label": "Opening hours"}]}
    made = make(box, text="Ask away #coffee", quick_reply=choices)
    id_ = made["welcome_message"]["id"]
    shown = box.read(f"{PATH}/show.json", id=id_)
    changed = body_of(box.call("PUT", f"{PATH}/update.json", query_string={"id": id_},
                               json={"message_data": {"text": "Back soon"}}))  # fmt: skip
    listed = [one["id"] for one in box.read(f"{PATH}/list.json")["welcome_messages"]]
    deleted = box.call("DELETE", f"{PATH}/destroy.json", query_string={"id": id_})

    data = made["welcome_message"]["message_data"]
    assert ("hello", choices) == (made["welcome_message"]["name"], data["quick_reply"])
    assert ["coffee"] == [tag["text"] for tag in data["entities"]["hashtags"]]
    assert "11827" == made["welcome_message"]["source_app_id"] == next(iter(made["apps"]))
    assert made == shown
    assert "Back soon" == changed["welcome_message"]["message_data"]["text"]
    assert "quick_reply" not in changed["welcome_message"]["message_data"]
    assert [OWN, OTHER, id_] == sorted(listed)
    assert (204, b"") == (deleted.status_code, deleted.data)
    assert 404 == box.ask("GET", f"{PATH}/show.json", id=id_).status_code


def test_pages(box: Sandbox) -> None:
    """The list is walked with cursors."""
    first = box.read(f"{PATH}/list.json", count="1")
    second = box.read(f"{PATH}/list.json", count="1", cursor=first["next_cursor"])

    ids = [page["welcome_messages"][0]["id"] for page in (first, second)]
    assert {OWN, OTHER} == set(ids)
    assert "next_cursor" not in second


@pytest.mark.parametrize("id_", [IMAGE, int(IMAGE)], ids=["text", "number"])
def test_an_image(box: Sandbox, id_: Any) -> None:
    """A welcome message has an image that its user uploaded."""
    made = make(box, attachment={"type": "media", "media": {"id": id_}})

    attached = made["welcome_message"]["message_data"]["attachment"]
    assert ("media", IMAGE) == (attached["type"], attached["media"]["id_str"])


def test_the_rule(box: Sandbox) -> None:
    """A user has one rule; it is gone with its message."""
    rules = f"{PATH}/rules"
    body = {"welcome_message_rule": {"welcome_message_id": OTHER}}
    before = box.read(f"{rules}/list.json")["welcome_message_rules"]
    box.call("DELETE", f"{rules}/destroy.json", query_string={"id": RULE})
    made = body_of(box.call("POST", f"{rules}/new.json", json=body))["welcome_message_rule"]
    shown = box.read(f"{rules}/show.json", id=made["id"])["welcome_message_rule"]
    box.call("DELETE", f"{PATH}/destroy.json", query_string={"id": OTHER})

    assert [(RULE, OWN)] == [(one["id"], one["welcome_message_id"]) for one in before]
    assert made == shown
    assert OTHER == made["welcome_message_id"]
    assert [] == box.read(f"{rules}/list.json")["welcome_message_rules"]


def _say(**data: Any) -> dict[str, Any]:
    return {"welcome_message": {"message_data": data}}


_ALLOWED = {("apps", "20993"): {"_permissions": ["read", "write", "direct_messages"]}}
_OTHERS: dict[str, Any] = {"keys": NORTHBIKE, "given": _ALLOWED}
new = partial(Refusal, f"POST {PATH}/new.json")
choose = partial(Refusal, f"POST {PATH}/rules/new.json")
REFUSED = [
    new("no content", 400, json=_say(), shows=numbers(25)),
    new("a text of 10,001 characters", 403, json=_say(text="x" * 10_001), shows=numbers(354)),
    new("unknown media", 400, json=_say(attachment={"type": "media", "media": {"id": "99"}}),
        shows=numbers(324)),
    new("a welcome message of an app", 403, keys=BEARER, json=_say(text="x"), shows=numbers(220)),
    new("no welcome message", 403, json={},
        shows=numbers(38, "welcome_message parameter is missing.")),
    Refusal(f"GET {PATH}/show.json", "the welcome message of somebody else", 404, **_OTHERS,
            query={"id": OWN}, shows=numbers(34)),
    Refusal(f"PUT {PATH}/update.json", "to change an unknown welcome message", 404,
            query={"id": "99"}, json={"message_data": {"text": "x"}}, shows=numbers(34)),
    Refusal(f"DELETE {PATH}/destroy.json", "to delete an unknown welcome message", 404,
            query={"id": "99"}, shows=numbers(34)),
    Refusal(f"GET {PATH}/list.json", "a cursor of no list", 400, query={"cursor": "x"},
            shows=invalid("cursor")),
    choose("a second rule", 403, shows=numbers(87),
           json={"welcome_message_rule": {"welcome_message_id": OTHER}}),
    choose("a rule for an unknown message", 404, shows=numbers(34),
           json={"welcome_message_rule": {"welcome_message_id": "99"}}),
    choose("a rule for the message of somebody else", 404, **_OTHERS, shows=numbers(34),
           json={"welcome_message_rule": {"welcome_message_id": OWN}}),
    Refusal(f"GET {PATH}/rules/show.json", "the rule of somebody else", 404, **_OTHERS,
            query={"id": RULE}, shows=numbers(34)),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_the_longest_text(box: Sandbox) -> None:
    """A welcome message may have 10,000 characters."""
    made = make(box, text="x" * 10_000)

    assert 10_000 == len(made["welcome_message"]["message_data"]["text"])
