"""Events of direct messages: their fields, expansions, types and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import messages
from tests.support import USER_TOKEN
from tests.support_replay import Desk

USER = "2244994945"
OTHER = "3805104374"
THIRD = "2790441185"
REPLY = "1990181773551677440"
JOIN = "1990226317894123520"
LEAVE = "1990302004118310912"
GROUP = "1990226317110001664"


class Reader:
    """Reads events as the well-known user."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def get(self, event_id: str = "", **query: str) -> TestResponse:
        """Read one event, or the list."""
        headers = {"Authorization": f"Bearer {USER_TOKEN}"}
        path = f"/2/dm_events/{event_id}".rstrip("/")
        named = {name.replace("__", "."): value for name, value in query.items()}
        return self.desk.client.get(path, query_string=named, headers=headers)

    def list(self, **query: str) -> dict[str, Any]:
        """Read the list."""
        answer = self.get(**query)
        assert 200 == answer.status_code, answer.get_data(as_text=True)
        found: dict[str, Any] = answer.get_json()
        return found


@pytest.fixture
def reader() -> Iterator[Reader]:
    """A reader of a sandbox."""
    with Desk() as desk:
        yield Reader(desk)


def test_list(reader: Reader) -> None:
    """All events of all conversations, the newest first, with three fields."""
    body = reader.list()

    assert [
        (LEAVE, "ParticipantsLeave"),
        ("1990226318405828608", "MessageCreate"),
        (JOIN, "ParticipantsJoin"),
        (REPLY, "MessageCreate"),
        ("1990180010221305856", "MessageCreate"),
    ] == [(event["id"], event["event_type"]) for event in body["data"]]
    assert {"id", "event_type", "text"} == set(body["data"][1])
    assert {"result_count": 5} == body["meta"]


def test_one(reader: Reader) -> None:
    """An event by its id, with all fields."""
    fields = "created_at,dm_conversation_id,sender_id,participant_ids,text,entities,attachments"
    body = reader.get(REPLY, dm_event__fields=fields).get_json()

    assert {
        "data": {
            "id": REPLY,
            "event_type": "MessageCreate",
            "text": "We do, every Tuesday. Two bags or the whole sampler?",
            "sender_id": USER,
            "dm_conversation_id": f"{USER}-{OTHER}",
            "created_at": "2026-11-19T16:03:30.000Z",
        }
    } == body


@pytest.mark.spec("A, Events", "participant_ids")
@pytest.mark.parametrize(
    ("event_id", "expected"),
    [(JOIN, [THIRD, USER, OTHER]), (LEAVE, [OTHER]), (REPLY, None)],
    ids=["join", "leave", "message"],
)
def test_participant_ids(reader: Reader, event_id: str, expected: list[str] | None) -> None:
    """Only joins and leaves name participants: those who joined or left."""
    body = reader.get(event_id, dm_event__fields="participant_ids").get_json()

    assert expected == body["data"].get("participant_ids")


def test_expansions(reader: Reader) -> None:
    """An expansion includes the users, and shows the field that it follows."""
    body = reader.get(JOIN, expansions="sender_id,participant_ids", user__fields="verified")
    found = body.get_json()

    assert THIRD == found["data"]["sender_id"]
    assert [THIRD, USER, OTHER] == [user["id"] for user in found["includes"]["users"]]
    assert {"id", "name", "username", "verified"} == set(found["includes"]["users"][0])


def test_a_user_who_is_gone(reader: Reader) -> None:
    """What an expansion does not find is a partial error."""
    with reader.desk.world.work():
        reader.desk.world.store.remove("users", OTHER)
    found = reader.get(LEAVE, expansions="participant_ids").get_json()

    assert [("participant_ids", OTHER)] == [
        (error["parameter"], error["value"]) for error in found["errors"]
    ]


def test_types(reader: Reader) -> None:
    """The list may be of some types."""
    body = reader.list(event_types="ParticipantsJoin,ParticipantsLeave")

    assert [LEAVE, JOIN] == [event["id"] for event in body["data"]]


def test_pages(reader: Reader) -> None:
    """Pages follow one another, and the last has no token."""
    first = reader.list(max_results="3")
    second = reader.list(max_results="3", pagination_token=first["meta"]["next_token"])

    assert (3, 2) == (first["meta"]["result_count"], second["meta"]["result_count"])
    assert 5 == len({event["id"] for event in first["data"] + second["data"]})
    assert "next_token" not in second["meta"]


@pytest.mark.parametrize(("number", "status"), [(0, 400), (1, 200), (100, 200), (101, 400)])
def test_size_of_a_page(reader: Reader, number: int, status: int) -> None:
    """A page has 1 to 100 events."""
    assert status == reader.get(max_results=str(number)).status_code


def test_an_empty_list(reader: Reader) -> None:
    """Without events there is no data."""
    with reader.desk.world.work():
        for entry in reader.desk.world.store.page("direct_messages"):
            reader.desk.world.store.remove("direct_messages", entry.key)

    assert {"meta": {"result_count": 0}} == reader.list()


@pytest.mark.parametrize("name", ["dm_event__fields", "expansions", "user__fields", "event_types"])
def test_unknown_values(reader: Reader, name: str) -> None:
    """An unknown field, expansion or type is refused."""
    assert 1 == len(messages(reader.get(**{name: "colour"})))


def test_events_of_others(reader: Reader) -> None:
    """An event in which the user does not take part is not found, nor one that does not exist."""
    with reader.desk.world.work():
        message = reader.desk.record("direct_messages", REPLY)
        reader.desk.world.store.put(
            "direct_messages", "7", message | {"id": "7", "_participants": [OTHER, THIRD]}
        )
    for event_id in ("7", "8"):
        answer = reader.get(event_id)

        assert (404, "event_id", event_id) == (
            answer.status_code,
            answer.get_json()["parameter"],
            answer.get_json()["value"],
        )
    assert 5 == reader.list()["meta"]["result_count"]
