"""Direct messages are sent to users and groups, and listed with fields and expansions."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.refusals import Refusal, make_refusal_test
from tests.support import HARBOR, NORTHBIKE, USER_TOKEN, Keys, Sandbox, body_of, data_of
from tests.support_replay import NOW

SETTINGS = {"dataset": "small", "freeze": NOW}
USER = "2244994945"
OTHER = "3805104374"
THIRD = "2790441185"
PAIR = f"{USER}-{OTHER}"
GROUP = "1990226317110001664"
"""The group of the fixtures; the other user has left it."""
NO_GROUP = "1990226317110001665"
CHATS = "/2/dm_conversations"
PATH = f"{CHATS}/with/{OTHER}/messages"
REPLY = "1990181773551677440"
JOIN = "1990226317894123520"
LEAVE = "1990302004118310912"
IMAGE = {"media_id": "1712850617439551001"}


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox in which both apps may write direct messages."""
    box.change("apps", "20993", _permissions=["read", "write", "direct_messages"])
    return box


def send(box: Sandbox, path: str = PATH, keys: Keys = HARBOR, **body: Any) -> TestResponse:
    """Send a message."""
    return box.call("POST", path, keys=keys, json=body or {"text": "Hello"})


def gather(box: Sandbox, *others: str) -> TestResponse:
    """Begin a group with others."""
    body: Any = {
        "conversation_type": "Group",
        "participant_ids": others,
        "message": {"text": "Who?"},
    }
    return send(box, CHATS, **body)


def texts(box: Sandbox, path: str, keys: Keys = HARBOR) -> list[str | None]:
    """The texts of a list."""
    return [event.get("text") for event in box.read(path, keys=keys).get("data", [])]


def read(box: Sandbox, event_id: str = "", **query: Any) -> Any:
    """Read one event, or the list."""
    named = {name.replace("__", "."): value for name, value in query.items()}
    return box.read(f"/2/dm_events/{event_id}".rstrip("/"), keys=USER_TOKEN, **named)


def test_to_a_user(box: Sandbox) -> None:
    """The answer names the conversation, the smaller id first, and the event."""
    sent = data_of(send(box, text="Hello @northbike_co"), 201)
    stored = box.record("direct_messages", sent["dm_event_id"])

    assert PAIR == sent["dm_conversation_id"]
    assert ["Hello @northbike_co", USER, [USER, OTHER], "11827"] == [
        stored[name] for name in ("text", "sender_id", "_participants", "_app_id")
    ]
    assert [[6, 19]] == [one["indices"] for one in stored["entities"]["user_mentions"]]


def test_both_read_it(box: Sandbox) -> None:
    """A message is first in the lists of both users, at both addresses of the conversation."""
    send(box, text="Fresh")
    expected = [
        "Fresh",
        "We do, every Tuesday. Two bags or the whole sampler?",
        "Do you still ship the espresso sampler to Berlin?",
    ]

    assert expected == texts(box, f"{CHATS}/with/{OTHER}/dm_events")
    assert expected == texts(box, f"{CHATS}/{PAIR}/dm_events")
    assert expected == texts(box, f"{CHATS}/{PAIR}/dm_events", NORTHBIKE)


@pytest.mark.parametrize(
    ("place", "conversation"),
    [(PAIR, PAIR), (f"{USER}-{THIRD}", f"{USER}-{THIRD}"), (f"with/{USER}", f"{USER}-{USER}")],
)
def test_to_a_conversation(box: Sandbox, place: str, conversation: str) -> None:
    """A conversation of two, known or new, takes messages by its id; a user writes to oneself."""
    sent = data_of(send(box, f"{CHATS}/{place}/messages"), 201)
    assert conversation == sent["dm_conversation_id"]


def test_group(box: Sandbox) -> None:
    """A group begins with a join of all and a message."""
    id_ = data_of(gather(box, OTHER, THIRD), 201)["dm_conversation_id"]
    data_of(send(box, f"{CHATS}/{id_}/messages", text="Me."), 201)

    page = box.world.store.page("direct_messages", {"dm_conversation_id": id_})
    stored = [entry.record for entry in page]
    everybody = [USER, OTHER, THIRD]
    assert [
        ("ParticipantsJoin", everybody), ("MessageCreate", everybody), ("MessageCreate", everybody),
    ] == [(event["event_type"], event["_participants"]) for event in stored]  # fmt: skip
    assert everybody == stored[0]["participant_ids"]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (1, "$.participant_ids: there must be a minimum of 2 items in the array"),
        (49, "Could not find user with id: [1]."),
        (50, "$.participant_ids: there must be a maximum of 49 items in the array"),
    ],
)
def test_size_of_a_group(box: Sandbox, others: int, message: str) -> None:
    """A group has 2 to 49 others; one who is unknown is refused as what a body names is: 400."""
    answer = gather(box, *map(str, range(1, others + 1)))
    assert [message] == [each["message"] for each in body_of(answer, 400)["errors"]]
    assert 201 == gather(box, OTHER, THIRD).status_code


def test_a_group_that_a_user_left(box: Sandbox) -> None:
    """Who left a group reads what was before, and can send nothing."""
    path = f"{CHATS}/{GROUP}/messages"
    assert (201, 404) == tuple(send(box, path, keys).status_code for keys in (HARBOR, NORTHBIKE))
    assert "Hello" not in texts(box, "/2/dm_events", NORTHBIKE)


@pytest.mark.parametrize(("length", "status"), [(0, 400), (1, 201), (10_000, 201), (10_001, 400)])
def test_length(box: Sandbox, length: int, status: int) -> None:
    """A text has 1 to 10,000 characters."""
    assert status == send(box, text="x" * length).status_code


def test_attachment(box: Sandbox) -> None:
    """Uploaded media are sent by their id, with or without a text."""
    sent = data_of(send(box, attachments=[IMAGE]), 201)
    shown = read(
        box, sent["dm_event_id"], dm_event__fields="attachments",
        expansions="attachments.media_keys",
    )  # fmt: skip

    keys = shown["data"]["attachments"]["media_keys"]
    assert keys == [media["media_key"] for media in shown["includes"]["media"]]
    assert "text" not in shown["data"]


@pytest.mark.spec("A, Authentication", "An app needing")
@pytest.mark.parametrize("missing", ["", "read", "write", "direct_messages"])
def test_permissions_to_send(box: Sandbox, missing: str) -> None:
    """Creating needs all three permissions of the app, else the error is code 93."""
    given = [each for each in ("read", "write", "direct_messages") if each != missing]
    box.change("apps", "11827", _permissions=given)
    answer = send(box)

    assert (403 if missing else 201) == answer.status_code
    if missing:
        text = "This application is not allowed to access or delete your direct messages."
        assert {"errors": [{"code": 93, "message": text}]} == answer.get_json()
        assert "application/json" == answer.mimetype


@pytest.mark.parametrize(
    ("permissions", "status"),
    [(["read", "direct_messages"], 200), (["read", "write"], 403), (["direct_messages"], 403)],
)
@pytest.mark.parametrize(
    "path",
    ["/2/dm_events", f"/2/dm_events/{REPLY}", f"{CHATS}/with/{OTHER}/dm_events",
     f"{CHATS}/{PAIR}/dm_events"],
)  # fmt: skip
def test_permissions_to_read(box: Sandbox, path: str, permissions: list[str], status: int) -> None:
    """Reading needs two of them."""
    box.change("apps", "11827", _permissions=permissions)
    box.read(path, status=status)


def test_list(box: Sandbox) -> None:
    """All events of all conversations, the newest first, with three fields; none is no data."""
    body = read(box)

    assert [
        (LEAVE, "ParticipantsLeave"), ("1990226318405828608", "MessageCreate"),
        (JOIN, "ParticipantsJoin"), (REPLY, "MessageCreate"),
        ("1990180010221305856", "MessageCreate"),
    ] == [(event["id"], event["event_type"]) for event in body["data"]]  # fmt: skip
    assert {"id", "event_type", "text"} == set(body["data"][1])
    assert {"result_count": 5} == body["meta"]
    box.clear("direct_messages")
    assert {"meta": {"result_count": 0}} == read(box)


def test_one(box: Sandbox) -> None:
    """An event by its id, with all fields."""
    fields = "created_at,dm_conversation_id,sender_id,participant_ids,text,entities,attachments"

    assert read(box, REPLY, dm_event__fields=fields)["data"] == {
        "id": REPLY, "event_type": "MessageCreate",
        "text": "We do, every Tuesday. Two bags or the whole sampler?", "sender_id": USER,
        "dm_conversation_id": PAIR, "created_at": "2026-11-19T16:03:30.000Z",
    }  # fmt: skip


@pytest.mark.spec("A, Events", "participant_ids")
@pytest.mark.parametrize(
    ("event_id", "expected"),
    [(JOIN, [THIRD, USER, OTHER]), (LEAVE, [OTHER]), (REPLY, None)],
    ids=["join", "leave", "message"],
)
def test_participant_ids(box: Sandbox, event_id: str, expected: list[str] | None) -> None:
    """Only joins and leaves name participants: those who joined or left."""
    found = read(box, event_id, dm_event__fields="participant_ids")["data"]
    assert expected == found.get("participant_ids")


def test_expansions(box: Sandbox) -> None:
    """An expansion includes the users and shows the field that it follows; or is an error."""
    found = read(box, JOIN, expansions="sender_id,participant_ids", user__fields="verified")
    box.remove("users", OTHER)
    (error,) = read(box, LEAVE, expansions="participant_ids")["errors"]

    assert THIRD == found["data"]["sender_id"]
    assert [THIRD, USER, OTHER] == [user["id"] for user in found["includes"]["users"]]
    assert {"id", "name", "username", "verified"} == set(found["includes"]["users"][0])
    assert ("participant_ids", OTHER) == (error["parameter"], error["value"])


def test_types(box: Sandbox) -> None:
    """The list may be of some types."""
    body = read(box, event_types="ParticipantsJoin,ParticipantsLeave")
    assert [LEAVE, JOIN] == [event["id"] for event in body["data"]]


def test_events_of_others(box: Sandbox) -> None:
    """An event in which the user does not take part is not found, and not in the list."""
    message = box.record("direct_messages", REPLY)
    box.put("direct_messages", "7", message | {"id": "7", "_participants": [OTHER, THIRD]})

    found = box.read("/2/dm_events/7", status=404)
    assert ("event_id", "7") == (found["parameter"], found["value"])
    assert 5 == read(box)["meta"]["result_count"]


@pytest.mark.parametrize("expansion", ["referenced_posts", "referenced_posts.id"])
def test_posts_that_messages_refer_to(box: Sandbox, expansion: str) -> None:
    """Both names of the expansion, the newer one too, bring the posts of an event."""
    post = "1712850617439551492"
    box.change("direct_messages", REPLY, referenced_posts=[{"id": post}])

    found = box.read(f"/2/dm_events/{REPLY}", expansions=expansion)

    assert [{"id": post}] == found["data"]["referenced_posts"]
    assert [post] == [each["id"] for each in found["includes"]["posts"]]


def test_posts_whose_addresses_are_in_a_text(box: Sandbox) -> None:
    """A message refers to the posts that it links to; what is no post is a link alone."""
    post = "1712850617439551492"
    links = f"https://x.com/a/status/{post} https://x.com/a/status/1 https://x.com/a/status/{post}"
    box.change("direct_messages", REPLY, text=links)

    found = box.read(f"/2/dm_events/{REPLY}", expansions="referenced_posts.id")
    assert [{"id": post}] == found["data"]["referenced_posts"]
    assert [post] == [each["id"] for each in found["includes"]["posts"]]
    box.change("direct_messages", REPLY, text="Hello")
    shown = box.read(f"/2/dm_events/{REPLY}", expansions="referenced_posts.id")["data"]
    assert "referenced_posts" not in shown


@pytest.mark.parametrize("path", [
    f"/2/dm_events/{REPLY[:-1]}", f"{CHATS}/with/99/dm_events", f"{CHATS}/{NO_GROUP}/dm_events",
])  # fmt: skip
@pytest.mark.parametrize("wire", ["spec", "recorded", "recorded,missing=200"])
def test_form_of_what_is_missing(box: Sandbox, path: str, wire: str) -> None:
    """What is missing has the form of all single records: the problem is also in `errors`."""
    answer = box.call("GET", path, headers={"X-Mock-Wire": wire})
    found = answer.get_json()
    problem = found["errors"][0]
    rest = {
        "spec": {"status": 404, **problem},
        "recorded": {name: problem[name] for name in ("type", "title", "detail")},
    }.get(wire, {})

    assert {"errors": [problem], **rest} == found
    assert (200 if wire.endswith("200") else 404) == answer.status_code


post = partial(Refusal, f"POST {PATH}")
PARAMETER: Any = {"shows": {"parameter": "dm_conversation_id"}}
REFUSED = [
    post("no content", 400, json={}, messages=["text or attachments is required"]),
    post("no attachment", 400, json={"attachments": []}, messages=["attachments"]),
    post("two attachments", 400, json={"attachments": [IMAGE] * 2}, messages=["attachments"]),
    post("unknown media", 400, json={"attachments": [{"media_id": "5"}], "text": "Look"},
         messages=["Your media IDs are invalid."]),
    post("a user who takes no messages", 403, json={"text": "Hello"},
         given={("users", OTHER): {"receives_your_dm": False}}, problem="about:blank",
         text="You do not have permission to DM one or more participants."),
    *(
        Refusal(f"POST {CHATS}/{id_}/messages", f"the conversation {id_}", 404,
                json={"text": "Hello"}, **PARAMETER)
        for id_ in (NO_GROUP, f"{OTHER}-{USER}", f"{THIRD}-{OTHER}", f"5-{USER}")
    ),
    *(
        Refusal(f"GET {CHATS}/{id_}/dm_events", f"the list {id_}", 404,
                problem="resource-not-found")
        for id_ in (f"{THIRD}-{OTHER}", NO_GROUP)
    ),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
