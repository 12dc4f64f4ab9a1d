"""Direct messages are sent to users and groups, and listed with fields and expansions."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient, messages
from tests.support import HARBOR, NORTHBIKE, USER_TOKEN, Keys
from tests.support_replay import Desk

SETTINGS = {"dataset": "small"}
USER = "2244994945"
OTHER = "3805104374"
THIRD = "2790441185"
PAIR = f"{USER}-{OTHER}"
GROUP = "1990226317110001664"
"""The group of the fixtures; the other user has left it."""
PATH = f"/2/dm_conversations/with/{OTHER}/messages"
NOT_PERMITTED = {
    "errors": [
        {
            "code": 93,
            "message": "This application is not allowed to access or delete your direct messages.",
        }
    ]
}


class Client(AppClient):
    """Calls the endpoints of one sandbox as the well-known user."""

    path = PATH

    def send(
        self, path: str | None = None, keys: Keys | None = HARBOR, **body: Any
    ) -> TestResponse:
        """Send a message."""
        return self.call("POST", path, keys=keys, json=body or {"text": "Hello"})

    def texts(self, path: str, keys: Keys = HARBOR) -> list[str | None]:
        """The texts of a list."""
        answer = self.call("GET", path, keys=keys)
        assert 200 == answer.status_code, answer.get_data(as_text=True)
        return [event.get("text") for event in answer.get_json().get("data", [])]


def permit(desk: Desk, *permissions: str, app: str = "11827") -> None:
    """Set the permissions of an app."""
    desk.change("apps", app, _permissions=list(permissions))


def test_to_a_user(client: Client, desk: Desk) -> None:
    """The answer names the conversation, the smaller id first, and the event."""
    answer = client.send(text="Hello @northbike_co")

    sent = answer.get_json()["data"]
    stored = desk.record("direct_messages", sent["dm_event_id"])
    assert (201, PAIR) == (answer.status_code, sent["dm_conversation_id"])
    assert ("Hello @northbike_co", USER, [USER, OTHER], "11827") == (
        stored["text"],
        stored["sender_id"],
        stored["_participants"],
        stored["_app_id"],
    )
    assert [[6, 19]] == [one["indices"] for one in stored["entities"]["user_mentions"]]


def test_both_read_it(client: Client, desk: Desk) -> None:
    """A message is first in the lists of both users."""
    permit(desk, "read", "write", "direct_messages", app="20993")
    client.send(text="Fresh")

    assert "Fresh" == client.texts(f"/2/dm_conversations/with/{OTHER}/dm_events")[0]
    assert "Fresh" == client.texts(f"/2/dm_conversations/{PAIR}/dm_events", NORTHBIKE)[0]


def test_to_a_conversation(client: Client) -> None:
    """A conversation of two takes messages by its id, also the first one."""
    known, new = PAIR, f"{USER}-{THIRD}"

    for conversation in (known, new):
        answer = client.send(f"/2/dm_conversations/{conversation}/messages")
        assert (201, conversation) == (
            answer.status_code,
            answer.get_json()["data"]["dm_conversation_id"],
        )


def test_group(client: Client, desk: Desk) -> None:
    """A group begins with a join of all and a message."""
    body = {
        "conversation_type": "Group",
        "participant_ids": [OTHER, THIRD],
        "message": {"text": "Who comes?"},
    }
    answer = client.call("POST", "/2/dm_conversations", keys=HARBOR, json=body)
    sent = answer.get_json()["data"]
    again = client.send(f"/2/dm_conversations/{sent['dm_conversation_id']}/messages", text="Me.")

    match = {"dm_conversation_id": sent["dm_conversation_id"]}
    stored = [entry.record for entry in desk.world.store.page("direct_messages", match)]
    assert (201, 201) == (answer.status_code, again.status_code)
    assert ["ParticipantsJoin", "MessageCreate", "MessageCreate"] == [
        event["event_type"] for event in stored
    ]
    assert [[USER, OTHER, THIRD]] * 3 == [event["_participants"] for event in stored]
    assert [USER, OTHER, THIRD] == stored[0]["participant_ids"]


@pytest.mark.parametrize(("number", "accepted"), [(1, False), (2, True)])
def test_size_of_a_group(client: Client, number: int, accepted: bool) -> None:
    """A group has at least two others."""
    body = {
        "conversation_type": "Group",
        "participant_ids": [OTHER, THIRD][:number],
        "message": {"text": "Who comes?"},
    }
    answer = client.call("POST", "/2/dm_conversations", keys=HARBOR, json=body)

    assert accepted == (answer.status_code == 201)


@pytest.mark.parametrize(("number", "status"), [(49, 404), (50, 400)])
def test_size_of_a_large_group(client: Client, number: int, status: int) -> None:
    """A group has at most 49 others, which are looked up after their number."""
    body = {
        "conversation_type": "Group",
        "participant_ids": [str(each) for each in range(1, number + 1)],
        "message": {"text": "Who comes?"},
    }

    assert status == client.call("POST", "/2/dm_conversations", keys=HARBOR, json=body).status_code


def test_a_group_that_a_user_left(client: Client, desk: Desk) -> None:
    """Who left a group reads what was before, and can send nothing."""
    permit(desk, "read", "write", "direct_messages", app="20993")
    path = f"/2/dm_conversations/{GROUP}/messages"

    assert 201 == client.send(path).status_code
    assert 404 == client.send(path, NORTHBIKE).status_code
    assert "Hello" not in client.texts("/2/dm_events", NORTHBIKE)


@pytest.mark.parametrize(
    ("length", "accepted"), [(0, False), (1, True), (10_000, True), (10_001, False)]
)
def test_length(client: Client, length: int, accepted: bool) -> None:
    """A text has 1 to 10,000 characters."""
    assert accepted == (client.send(text="x" * length).status_code == 201)


def test_no_content(client: Client) -> None:
    """A message needs text or an attachment."""
    answer = client.call("POST", keys=HARBOR, json={})

    assert ["text or attachments is required"] == messages(answer)


def test_attachment(client: Client) -> None:
    """Uploaded media are sent by their id, with or without a text."""
    answer = client.send(attachments=[{"media_id": "1712850617439551001"}])

    assert 201 == answer.status_code, answer.get_data(as_text=True)
    fields = "dm_event.fields=attachments&expansions=attachments.media_keys"
    shown = client.desk.client.get(
        f"/2/dm_events/{answer.get_json()['data']['dm_event_id']}?{fields}",
        headers={"Authorization": f"Bearer {USER_TOKEN}"},
    ).get_json()
    keys = shown["data"]["attachments"]["media_keys"]
    assert keys == [media["media_key"] for media in shown["includes"]["media"]]
    assert "text" not in shown["data"]


@pytest.mark.parametrize("number", [0, 2])
def test_number_of_attachments(client: Client, number: int) -> None:
    """A message has one attachment."""
    attachments = [{"media_id": "1712850617439551001"}] * number

    assert 400 == client.send(attachments=attachments).status_code


def test_unknown_media(client: Client) -> None:
    """Media that were not uploaded are refused."""
    assert ["Your media IDs are invalid."] == messages(
        client.send(attachments=[{"media_id": "5"}], text="Look")
    )


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/2/dm_conversations/with/5/messages", "participant_id"),
        ("/2/dm_conversations/5/messages", "dm_conversation_id"),
        (f"/2/dm_conversations/{OTHER}-{USER}/messages", "dm_conversation_id"),
        (f"/2/dm_conversations/{THIRD}-{OTHER}/messages", "dm_conversation_id"),
        (f"/2/dm_conversations/5-{USER}/messages", "dm_conversation_id"),
        ("/2/dm_conversations/1-2-3/messages", "dm_conversation_id"),
    ],
)
def test_unknown(client: Client, path: str, parameter: str) -> None:
    """A user or conversation that the caller has not is not found."""
    answer = client.send(path)

    assert (404, parameter) == (answer.status_code, answer.get_json()["parameter"])


def test_a_user_who_takes_no_messages(client: Client, desk: Desk) -> None:
    """A user who takes no messages gets none."""
    desk.change("users", OTHER, receives_your_dm=False)
    answer = client.send()

    assert (403, "You do not have permission to DM one or more participants.") == (
        answer.status_code,
        answer.get_json()["detail"],
    )


def test_to_oneself(client: Client) -> None:
    """A user can send a note to oneself."""
    answer = client.send(f"/2/dm_conversations/with/{USER}/messages")

    assert (201, f"{USER}-{USER}") == (
        answer.status_code,
        answer.get_json()["data"]["dm_conversation_id"],
    )


@pytest.mark.spec("A, Authentication", "An app needing")
@pytest.mark.parametrize(
    ("permissions", "status"),
    [
        (("read", "write", "direct_messages"), 201),
        (("read", "write"), 403),
        (("read", "direct_messages"), 403),
        (("write", "direct_messages"), 403),
    ],
)
def test_permissions_to_send(
    client: Client, desk: Desk, permissions: tuple[str, ...], status: int
) -> None:
    """Creating needs all three permissions of the app, else the error is code 93."""
    permit(desk, *permissions)
    answer = client.send()

    assert status == answer.status_code
    if status == 403:
        assert NOT_PERMITTED == answer.get_json()
        assert "application/json" == answer.mimetype


@pytest.mark.parametrize(
    ("permissions", "status"),
    [(("read", "direct_messages"), 200), (("read", "write"), 403), (("direct_messages",), 403)],
)
@pytest.mark.parametrize(
    "path",
    [
        "/2/dm_events",
        "/2/dm_events/1990181773551677440",
        f"/2/dm_conversations/with/{OTHER}/dm_events",
        f"/2/dm_conversations/{PAIR}/dm_events",
    ],
)
def test_permissions_to_read(
    client: Client, desk: Desk, path: str, permissions: tuple[str, ...], status: int
) -> None:
    """Reading needs two of them."""
    permit(desk, *permissions)

    assert status == client.call("GET", path, keys=HARBOR).status_code


@pytest.mark.parametrize("scope", ["dm.write", "post.read", "users.read"])
def test_scopes(desk: Desk, scope: str) -> None:
    """An OAuth 2.0 token needs three scopes to send."""
    headers = {"Authorization": f"Bearer {USER_TOKEN}"}
    before = desk.client.post(PATH, json={"text": "Hello"}, headers=headers)
    with desk.world.work():
        token = desk.record("tokens", USER_TOKEN)
        rest = [each for each in token["scopes"] if each != scope]
        desk.world.store.put("tokens", USER_TOKEN, token | {"scopes": rest})
    after = desk.client.post(PATH, json={"text": "Hello"}, headers=headers)

    assert (201, 403) == (before.status_code, after.status_code)
    assert f"needs the scope {scope}" in after.get_json()["detail"]


def test_lists_with_a_user_and_of_a_conversation(client: Client) -> None:
    """Both addresses of a conversation list the same, the newest first."""
    expected = [
        "We do, every Tuesday. Two bags or the whole sampler?",
        "Do you still ship the espresso sampler to Berlin?",
    ]

    assert expected == client.texts(f"/2/dm_conversations/with/{OTHER}/dm_events")
    assert expected == client.texts(f"/2/dm_conversations/{PAIR}/dm_events")


def test_lists_that_are_not_found(client: Client) -> None:
    """Unknown users and conversations of others have no list."""
    for path in ("with/5", f"{THIRD}-{OTHER}", "5"):
        answer = client.call("GET", f"/2/dm_conversations/{path}/dm_events", keys=HARBOR)

        assert 404 == answer.status_code


REPLY = "1990181773551677440"
JOIN = "1990226317894123520"
LEAVE = "1990302004118310912"


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
def reader(desk: Desk) -> Reader:
    """A reader of a sandbox."""
    return Reader(desk)


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
    reader.desk.remove("users", OTHER)
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


def test_an_empty_list(reader: Reader) -> None:
    """Without events there is no data."""
    reader.desk.clear("direct_messages")

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
