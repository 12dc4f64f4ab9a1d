"""The chat of a broadcast: messages, their pages, mutes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from mock_platform.api.v2.broadcasts.records import BROADCASTS, MESSAGE_FIELDS, MUTES
from mock_platform.api.v2.objects.relations import BLOCKS
from mock_platform.world.clock import epoch_millis
from tests.api.v2.posts.support import relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import NORTHBIKE, Keys, Sandbox

SETTINGS = {"dataset": "small"}
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
RUNNING, ENDED, THEIRS = "1LvHarborRst1", "1LvHarborEnd0", "1LvNorthRide2"
CHAT, FIRST = f"/2/broadcasts/{RUNNING}/chat", "1795255200000000001"
SOON = epoch_millis(NOW + timedelta(minutes=5))


def send(box: Sandbox, text: str, keys: Keys = NORTHBIKE, status: int = 200, **more: Any) -> Any:
    """Write in the chat, and return the id of the message or the refusal."""
    answer = box.call("POST", CHAT, keys=keys, json={"text": text, **more})
    assert status == answer.status_code, answer.text
    return answer.get_json()["data"]["timestamp"] if status == 200 else answer.get_json()


def texts(box: Sandbox, **query: Any) -> list[str]:
    """The texts in the chat, newest first."""
    return [each["text"] for each in box.read(CHAT, **query).get("data", ())]


def test_a_message(box: Sandbox) -> None:
    """A message is first in the chat and an event of the owner; another can answer it."""
    sent = send(box, "Hello!")
    answered = send(box, "Hello to you", reply_to=sent)
    fields: Any = {"broadcast_chat_message.fields": ",".join(MESSAGE_FIELDS)}
    page = box.read(CHAT, max_results=1, expansions="author_id", **fields)
    found = [entry.record for entry in box.world.store.page("activities")]

    assert 19 == len(sent) < int(answered) - int(sent) + 20
    assert {"id": answered, "text": "Hello to you", "reply_to": sent, "broadcast_id": RUNNING,
            "author_id": OTHER, "author_name": "Northbike Co.", "author_username": "northbike_co",
            "created_at_ms": epoch_millis(NOW)} == page["data"][0]  # fmt: skip
    assert [OTHER] == [user["id"] for user in page["includes"]["users"]]
    assert [("broadcast.chat", OWN)] * 2 == [(one["event_type"], one["user_id"]) for one in found]
    assert (sent, "Hello!", OTHER) == (
        found[0]["payload"]["message_id"], found[0]["payload"]["message"],
        found[0]["payload"]["author"]["data"]["id"])  # fmt: skip


def test_pages(box: Sandbox) -> None:
    """The history is read in pages, newest message first; a new message moves nothing."""
    whole, pages, token = texts(box), [], None
    while True:
        query: dict[str, Any] = {} if token is None else {"pagination_token": token}
        page = box.read(CHAT, max_results=2, **query)
        pages.append([each["text"] for each in page["data"]])
        token = page["meta"].get("next_token")
        send(box, "another one")
        if token is None:
            break
        assert token.isdigit()

    assert [whole[:2], whole[2:4], whole[4:]] == pages
    assert {"result_count": 1} == page["meta"]
    assert {"id", "text"} == set(page["data"][0])


def test_a_deletion(box: Sandbox) -> None:
    """A deleted message is gone, and cannot be answered."""
    path = f"{CHAT}/{FIRST}"
    assert {"data": {"deleted": True}} == box.call("DELETE", path).get_json()

    assert 4 == len(texts(box))
    assert 404 == box.call("DELETE", path).status_code
    assert "no message" in send(box, "Why?", status=400, reply_to=FIRST)["errors"][0]["message"]


def test_a_mute(box: Sandbox) -> None:
    """A muted user cannot write and is not read; twice is once, unmuting is as before."""
    before = texts(box)
    for _ in range(2):
        answer = box.call("POST", f"{CHAT}/mutes", json={"user_id": OTHER, "message_id": FIRST})
        assert {"data": {"muted": True}} == answer.get_json()
    muted = texts(box)
    refused = send(box, "Hello?", status=403)
    for _ in range(2):
        answer = box.call("DELETE", f"{CHAT}/mutes/{OTHER}")
        assert {"data": {"muted": False}} == answer.get_json()

    assert 3 == len(muted)
    assert "You are muted in the chat of this broadcast." == refused["detail"]
    assert before == texts(box)
    send(box, "Hello again")


def test_a_mute_ends(box: Sandbox) -> None:
    """A mute with an end is over at that moment."""
    box.call("POST", f"{CHAT}/mutes", json={"user_id": OTHER, "end_at_ms": SOON})
    box.advance(minutes=5, seconds=-0.001)
    send(box, "too early", status=403)
    box.advance(seconds=0.001)

    send(box, "in time")


def test_the_chat_ends_with_the_broadcast(box: Sandbox) -> None:
    """Nobody writes when a broadcast is over; its owner still reads the chat."""
    box.change(BROADCASTS, RUNNING, scheduled_end_at="2026-11-22T12:05:00.000Z")
    send(box, "still on")
    box.advance(minutes=5)

    assert "is Ended: its chat is closed" in send(box, "over", status=400)["errors"][0]["message"]
    assert "still on" == texts(box)[0]


def test_who_is_blocked(box: Sandbox) -> None:
    """For whom the owner blocks there is no broadcast."""
    relate(box, BLOCKS, OWN, OTHER)
    send(box, "Hello?", status=404)


write = partial(Refusal, f"POST {CHAT}", status=400)
silence = partial(Refusal, f"POST {CHAT}/mutes", status=400)
REFUSED = [
    Refusal(f"GET /2/broadcasts/{THEIRS}/chat", "another's history", 404,
            problem="resource-not-found"),
    Refusal(f"POST /2/broadcasts/{ENDED}/chat", "a chat that is over", 400, json={"text": "x"},
            messages=["is Ended: its chat is closed"]),
    Refusal("POST /2/broadcasts/1LvHandCup001/chat", "before the beginning", 400,
            json={"text": "x"}, messages=["is Scheduled: its chat is closed"]),
    write("an answer to nothing", json={"text": "x", "reply_to": "1"}, messages=["id [1]"]),
    Refusal(f"DELETE {CHAT}/{FIRST}", "a deletion by its author", 404, keys=NORTHBIKE,
            problem="resource-not-found"),
    silence("oneself", json={"user_id": OWN}, messages=["cannot mute yourself"]),
    silence("an end that is over", json={"user_id": INES, "end_at_ms": epoch_millis(NOW)},
            messages=["later than now"]),
    silence("an end without a date", json={"user_id": INES, "end_at_ms": "9" * 19},
            messages=["later than now"]),
    silence("for no message", json={"user_id": INES, "message_id": "1"}, messages=["id [1]"]),
    Refusal(f"POST {CHAT}/mutes", "a mute by another", 404, json={"user_id": INES},
            keys=NORTHBIKE, problem="resource-not-found"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_the_longest_text(box: Sandbox) -> None:
    """A message has up to 140 characters."""
    assert "x" * 140 == (send(box, "x" * 140), texts(box)[0])[1]
    assert 2 == box.world.store.count(MUTES)
