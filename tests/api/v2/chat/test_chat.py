"""Encrypted conversations: keys before messages, groups, deletions, and who hears of what."""

from __future__ import annotations

from base64 import b64decode
from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.activity.activities import make_lines
from mock_platform.api.v2.chat import encoding
from mock_platform.api.v2.objects.relations import BLOCKS
from tests.api.v2.chat.people import (
    CHATS,
    DUO,
    HARBOR_ID,
    INES,
    INES_ID,
    NORTHBIKE,
    NORTHBIKE_ID,
    PAIR,
    RESERVED,
    TRIO,
    VERSION,
    make_group,
    make_keys,
    make_message,
    post,
    sign,
)
from tests.api.v2.posts.support import ids_of, list_activities, relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import HARBOR, Keys, Sandbox, body_of, data_of

BOTH = [HARBOR_ID, NORTHBIKE_ID]
NEWER = "1790000000000"


def events(box: Sandbox, id_: str, keys: Keys | str = HARBOR, **query: Any) -> Any:
    """The page of events of a conversation."""
    return box.read(f"{CHATS}/{id_}/events", keys=keys, **query)


def fields(names: str) -> dict[str, Any]:
    """The parameter that asks for fields of conversations."""
    return {"chat_conversation.fields": names}


def activities(box: Sandbox) -> list[tuple[str, ...]]:
    """Name and user of each activity that was recorded."""
    return list_activities(box, "event_type", "user_id")


def read_event(text: str) -> dict[int, bytes]:
    """The fields of an event in its binary form."""
    found = encoding.read_fields(b64decode(text))
    assert found is not None
    return found


def test_the_inbox(box: Sandbox) -> None:
    """Conversations are listed by their latest event, each with who takes part, page by page."""
    first = box.read(CHATS, max_results=1, expansions="participant_ids")
    second = box.read(CHATS, max_results=1, pagination_token=first["meta"]["next_token"])
    shown = box.read(f"{CHATS}/{DUO}", **fields("message_ttl_msec,is_muted"))

    assert [TRIO] == ids_of(first)
    assert {"result_count": 1, "has_more": True, "has_message_requests": False} == {
        name: value for name, value in first["meta"].items() if name != "next_token"
    }
    assert 3 == len(first["includes"]["users"])
    assert [HARBOR_ID] == first["data"][0]["admin_ids"]
    assert [DUO] == ids_of(second)
    assert {"id": DUO, "is_muted": True} == shown["data"]
    ttl = fields("message_ttl_msec,message_ttl_ms")
    lifetimes = {"message_ttl_ms": 2419200000, "message_ttl_msec": "2419200000"}
    assert {"id": TRIO, **lifetimes} == box.read(f"{CHATS}/{TRIO}", **ttl)["data"]
    post(box, f"{PAIR}/messages", make_message("new"), status=201)
    assert PAIR == ids_of(box.read(CHATS))[0]


@pytest.mark.parametrize("id_", [NORTHBIKE_ID, PAIR, PAIR.replace("-", ":"),
                                 f"{NORTHBIKE_ID}-{HARBOR_ID}"])  # fmt: skip
def test_ids_of_a_conversation_of_two(box: Sandbox, id_: str) -> None:
    """The other user, both, a colon between them: all lead to the same conversation."""
    assert PAIR == box.read(f"{CHATS}/{id_}")["data"]["id"]
    if id_ != NORTHBIKE_ID:
        assert PAIR == box.read(f"{CHATS}/{id_}", keys=NORTHBIKE)["data"]["id"]


def test_keys_come_before_messages(box: Sandbox) -> None:
    """A conversation of two begins with keys; a message before them is refused."""
    path = f"{CHATS}/{INES_ID}/messages"
    early = box.call("POST", path, json=make_message("m"))
    keys = make_keys([HARBOR_ID, INES_ID], NEWER)
    begun = post(box, f"{INES_ID}/keys", keys)
    again = post(box, f"{INES_ID}/keys", keys)
    sent = post(box, f"{INES_ID}/messages", make_message("m", NEWER), status=201)
    page = events(box, INES_ID)

    assert 400 == early.status_code
    assert "no keys yet" in early.get_json()["errors"][0]["message"]
    assert begun == again
    assert f"{INES_ID}-{HARBOR_ID}" != begun["conversation_id"] == f"{HARBOR_ID}-{INES_ID}"
    assert sent["encoded_message_event"] == page["data"][0]["encoded_event"]
    assert begun["sequence_id"] == page["data"][0]["previous_id"]
    (change,) = page["meta"]["conversation_key_events"]
    assert begun["sequence_id"].encode() == read_event(change)[1]


def test_a_message(box: Sandbox) -> None:
    """Each member reads the same event; sent again it gets the first answer and no event."""
    sent = post(box, f"{PAIR}/messages", make_message("m1"), status=201)["encoded_message_event"]
    count = len(activities(box))
    again = post(box, f"{PAIR}/messages", make_message("m1"), status=201)["encoded_message_event"]
    (mine, *_), (theirs, *_) = (events(box, PAIR, keys)["data"] for keys in (HARBOR, NORTHBIKE))
    fields = read_event(sent)

    assert sent == again == mine["encoded_event"]
    assert mine == theirs
    assert count == len(activities(box))
    assert [("chat.sent", HARBOR_ID), ("chat.received", NORTHBIKE_ID)] == activities(box)
    assert [b"m1", HARBOR_ID.encode(), PAIR.encode()] == [fields[at] for at in (2, 3, 4)]
    assert mine["id"].encode() == fields[1]
    inner = encoding.read_path(b64decode(sent), 7, encoding.MESSAGE)
    assert inner == {100: b"m1", 101: VERSION.encode()}
    signature = {"signature": "c2ln", "public_key_version": "7", "signature_version": "7"}
    assert signature == mine["message_event_signature"]
    assert int(mine["id"]) > int(mine["previous_id"])


def test_another_form(box: Sandbox) -> None:
    """A text that is not of the public form is passed on as it was sent."""
    body = {"message_id": "m", "encoded_message_create_event": "SGVsbG8-"}
    assert {"encoded_message_event": "SGVsbG8-"} == post(box, f"{PAIR}/messages", body, status=201)
    assert "SGVsbG8-" == events(box, PAIR, NORTHBIKE)["data"][0]["encoded_event"]


def test_pages_and_fields_of_events(box: Sandbox) -> None:
    """Events are listed newest first, with the keys that each page needs."""
    first = events(box, PAIR, max_results=2)
    token = first["meta"]["next_token"]
    chosen = {"chat_message_event.fields": "sender_id,created_at_msec"}
    second = events(box, PAIR, max_results=2, pagination_token=token, **chosen)

    assert [ids_of(first), ids_of(second)] == [
        ["1989100000000000004", "1989100000000000003"],
        ["1989100000000000002"],
    ]
    assert {
        "id": "1989100000000000002", "sender_id": NORTHBIKE_ID, "created_at_msec": "1777136530000",
    } == second["data"][0]  # fmt: skip
    assert first["meta"]["has_more"] is True
    assert second["meta"]["has_more"] is False
    assert first["meta"]["conversation_key_events"] == second["meta"]["conversation_key_events"]
    assert first["data"][0]["is_trusted"] is True


def test_new_keys(box: Sandbox) -> None:
    """After a change of keys, messages with the version before are refused."""
    post(box, f"{PAIR}/keys", make_keys(BOTH, NEWER))
    older = box.call("POST", f"{CHATS}/{PAIR}/messages", json=make_message("m"))
    post(box, f"{PAIR}/messages", make_message("m", NEWER), status=201)

    assert 400 == older.status_code
    assert f"the newest of the conversation is [{NEWER}]" in older.text
    assert 1 == len(events(box, PAIR, max_results=1)["meta"]["conversation_key_events"])
    assert 2 == len(events(box, PAIR)["meta"]["conversation_key_events"])


def test_a_group(box: Sandbox) -> None:
    """A reserved id becomes a group once; its maker is an admin, the others hear of joining."""
    reserved = post(box, "group/initialize", None)["conversation_id"]
    body = make_group("Market", conversation_id=reserved, ttl_msec="60000",
                      group_admins=[INES_ID])  # fmt: skip
    hidden = box.call("GET", f"{CHATS}/{reserved}")
    made = post(box, "group", body, status=201)
    shown = box.read(f"{CHATS}/{reserved}", keys=INES)["data"]

    assert 404 == hidden.status_code
    assert made == post(box, "group", body, status=201)
    assert {"group_name": "Market", "message_ttl_ms": 60000, "type": "group"}.items() <= (
        shown.items()
    )
    assert [HARBOR_ID, INES_ID] == shown["admin_ids"]
    joined = [("chat.conversation_join", id_) for id_ in (NORTHBIKE_ID, INES_ID)]
    assert joined == activities(box)
    assert made["conversation_key_change_sequence_id"] < ids_of(events(box, reserved))[0]


def add_ines(version: str = NEWER) -> dict[str, Any]:
    """The body that adds the third user to a group of two."""
    keys = make_keys([*BOTH, INES_ID], version, sign("keys"), sign("add"))
    return {"user_ids": [INES_ID], **keys, "encrypted_title": "TmV3"}


def test_new_members(box: Sandbox) -> None:
    """Who joins sees nothing from before, neither messages nor keys."""
    post(box, f"{DUO}/messages", make_message("before"), status=201)
    added = post(box, f"{DUO}/members", add_ines())
    assert added == post(box, f"{DUO}/members", add_ines())
    post(box, f"{DUO}/messages", make_message("after", NEWER), status=201)
    whole, part = events(box, DUO), events(box, DUO, INES)

    assert [*BOTH, INES_ID] == added["current_member_ids"]
    assert 3 == len(whole["data"])
    assert whole["data"][:2] == part["data"]
    assert (2, 1) == tuple(len(page["meta"]["conversation_key_events"]) for page in (whole, part))
    assert "TmV3" == box.read(f"{CHATS}/{DUO}", keys=INES)["data"]["group_name"]
    assert 1 == activities(box).count(("chat.conversation_join", INES_ID))


def test_members_who_left(box: Sandbox) -> None:
    """Keys of users who no longer take part are not served, and they find no conversation."""
    before = events(box, TRIO)["meta"]["conversation_key_events"][0]
    box.remove("chat_members", f"{TRIO}:{INES_ID}")
    after = events(box, TRIO)["meta"]["conversation_key_events"][0]

    assert INES_ID.encode() in b64decode(before)
    assert INES_ID.encode() not in b64decode(after)
    assert 404 == box.call("GET", f"{CHATS}/{TRIO}", keys=INES).status_code


def deletion(*sequence_ids: str, action: str = "delete_for_all", **more: Any) -> dict[str, Any]:
    """The body of a deletion."""
    signed = {"action_signatures": [sign(f"delete-{sequence_ids}")]}
    return {"sequence_ids": sequence_ids, "delete_message_action": action, **signed, **more}


def test_deletion_for_all(box: Sandbox) -> None:
    """A deleted message is gone for all, once; the deletion itself is an event."""
    own, path = "1989100000000000003", f"{PAIR}/messages/delete"
    for _ in range(2):
        assert {"deleted": True} == post(box, path, deletion(own))
    listed = ids_of(events(box, PAIR, NORTHBIKE))

    assert own not in listed
    assert 3 == len(listed)
    assert [("chat.sent", HARBOR_ID), ("chat.received", NORTHBIKE_ID)] == activities(box)


def test_deletion_for_oneself(box: Sandbox) -> None:
    """A message that is deleted for oneself stays for the others, who hear nothing of it."""
    body = deletion("1989100000000000004", action="delete_for_self")
    for _ in range(2):
        post(box, f"{PAIR}/messages/delete", body)

    assert 2 == len(events(box, PAIR)["data"])
    assert 3 == len(events(box, PAIR, NORTHBIKE)["data"])
    assert [] == activities(box)


def test_admins_delete_any_message(box: Sandbox) -> None:
    """An admin of a group deletes what others wrote; other members cannot."""
    message, path = "1989200000000000013", f"{TRIO}/messages/delete"
    refused = box.call("POST", f"{CHATS}/{path}", keys=NORTHBIKE, json=deletion(message))
    post(box, path, deletion(message))

    assert (403, "about:blank") == (refused.status_code, refused.get_json()["type"])
    assert message not in ids_of(events(box, TRIO, INES))


def test_reading_and_typing(box: Sandbox) -> None:
    """The others hear that somebody types or reads; a mark that does not go on is nothing new."""
    for seen in ("1989100000000000004", "1989100000000000004", "1989100000000000002"):
        assert {"success": True} == post(box, f"{PAIR}/read", {"seen_until_sequence_id": seen})
    assert {"success": True} == post(box, f"{PAIR}/typing", None)
    found = [each.record["payload"] for each in box.world.store.page("activities")]
    read, typing = (encoding.read_path(b64decode(one["encoded_event"]), 7) for one in found)

    assert [("chat.received", NORTHBIKE_ID)] * 2 == activities(box)
    assert encoding.READ in (read or {})
    assert encoding.TYPING in (typing or {})
    assert 3 == len(events(box, PAIR)["data"])


@pytest.mark.parametrize("name", ["chat.conversation_join", "chat.conversation.join"])
def test_both_names_of_joining(box: Sandbox, name: str) -> None:
    """A subscriber hears of joining under the name that it has written."""
    webhook = {"webhook_id": "1146654567674912769"}
    body = {"event_type": name, "filter": {"user_id": NORTHBIKE_ID}, **webhook}
    data_of(box.call("POST", "/2/activity/subscriptions", keys=NORTHBIKE, json=body), 200)
    post(box, "group", make_group(), status=201)
    (activity,) = (
        each.record for each in box.world.store.page("activities", {"user_id": NORTHBIKE_ID})
    )

    (event,) = (each.record for each in box.world.store.page("events", {"event_type": name}))

    assert [name] == [match["event_type"] for match in activity["_matches"]]
    assert [name] == [line["data"]["event_type"] for line in make_lines(activity, "11827")]
    assert activity["payload"] == event["payload"]


@pytest.mark.parametrize(("number", "status"), [(100, 200), (101, 400)])
def test_size_of_a_group(box: Sandbox, number: int, status: int) -> None:
    """A group has at most 100 members."""
    added = [str(n) for n in range(1, number - 1)]
    with box.world.work():
        for id_ in added:
            user = box.record("users", HARBOR_ID) | {"id": id_, "screen_name": f"u{id_}"}
            box.world.store.put("users", id_, user)
            key = {"_id": f"{id_}:1", "_user_id": id_, "public_key_version": "1"}
            box.world.store.put("public_keys", f"{id_}:1", key | {"public_key": "QQ=="})
    body = {"user_ids": added, **make_keys([*BOTH, *added], NEWER, sign("k"), sign("a"))}
    answer = box.call("POST", f"{CHATS}/{DUO}/members", json=body)

    assert status == answer.status_code, answer.text
    if status == 400:
        text = "Too many members: adding these members would exceed the allowed group size."
        assert text == answer.get_json()["errors"][0]["message"]


def test_sequence_ids_grow(box: Sandbox) -> None:
    """Events of a conversation have ever larger ids, and each names the one before."""
    for number in range(3):
        post(box, f"{PAIR}/messages", make_message(str(number)), status=201)
    page = events(box, PAIR)["data"]

    numbers = [int(each["id"]) for each in page]
    assert sorted(numbers, reverse=True) == numbers
    assert [each["previous_id"] for each in page[:-1]] == [each["id"] for each in page[1:]]


NO_ONE = "1-2"
UNKNOWN_KEY = make_keys(BOTH, NEWER)
UNKNOWN_KEY["conversation_participant_keys"][1]["public_key_version"] = "1"
keys_of = partial(Refusal, f"POST {CHATS}/{PAIR}/keys", status=400)
group = partial(Refusal, f"POST {CHATS}/group", status=400)
members = partial(Refusal, f"POST {CHATS}/{DUO}/members")
message = partial(Refusal, f"POST {CHATS}/{PAIR}/messages", status=400)
delete = partial(Refusal, f"POST {CHATS}/{PAIR}/messages/delete")
NOT_ADDABLE = "Cannot add all members: one or more of the requested members cannot be added"
REFUSED = [
    Refusal(f"GET {CHATS}/{NO_ONE}", "a conversation of others", 404,
            problem="resource-not-found"),
    Refusal(f"GET {CHATS}", "no permission to read", 403, given={("apps", "11827"): {
            "_permissions": ["read", "write"]}}, shows={"errors": [{"code": 93}]}),
    Refusal(f"GET {CHATS}", "a foreign token", 400, query={"pagination_token": "x" * 20},
            messages=["pagination_token"]),
    Refusal(f"POST {CHATS}/{HARBOR_ID}/keys", "a conversation with oneself", 404,
            json=make_keys([HARBOR_ID], NEWER), problem="resource-not-found"),
    Refusal(f"POST {CHATS}/1/keys", "a conversation with nobody", 404,
            json=make_keys([HARBOR_ID, "1"], NEWER), problem="resource-not-found"),
    keys_of("keys without signatures", json=make_keys(BOTH, NEWER) | {"action_signatures": []},
            messages=["action_signatures needs 1, got 0"]),
    keys_of("keys without the list of signatures", json={
            name: value for name, value in make_keys(BOTH, NEWER).items()
            if name != "action_signatures"}, messages=["action_signatures is required"]),
    keys_of("a signature that is not base64", json=make_keys(BOTH, NEWER, sign("m", "?!")),
            messages=["encoded_message_event_detail"]),
    keys_of("the same version under another id", json=make_keys(BOTH, VERSION),
            messages=[f"The key version [{VERSION}] is not newer"]),
    keys_of("no key for a participant", json=make_keys([HARBOR_ID], NEWER),
            messages=[f"The user [{NORTHBIKE_ID}] has no key"]),
    keys_of("a key for a stranger", json=make_keys([*BOTH, INES_ID], NEWER),
            messages=[f"The user [{INES_ID}] does not take part"]),
    keys_of("public keys that are unknown", json=UNKNOWN_KEY,
            messages=[f"The user [{NORTHBIKE_ID}] has no public key of version [1]"]),
    message("an unknown key version", json=make_message("m", NEWER), messages=["key version"]),
    message("a message that is not base64", json=make_message("m") | {
            "encoded_message_create_event": "?"},
            messages=["$.encoded_message_create_event: does not match the regex pattern"]),
    group("an id that is not reserved", json=make_group(conversation_id="g1"),
          messages=["is not reserved"]),
    group("the id of a group that exists", json=make_group(conversation_id=TRIO),
          messages=["is not reserved"]),
    group("one signature", json=make_group(action_signatures=[sign("m")]),
          messages=["action_signatures needs 2, got 1"]),
    group("a name that was not signed", json=make_group("Market", group_name="Other"),
          messages=["group_name is not the one that was signed"]),
    group("an unknown member", json=make_group(group_members=["1"]), messages=[NOT_ADDABLE]),
    group("an admin who is no member", json=make_group(group_admins=["1"]),
          messages=["The admin [1]"]),
    members("a member already", 400, json=add_ines() | {"user_ids": [NORTHBIKE_ID]},
            messages=["take part already"]),
    members("no admin", 403, keys=NORTHBIKE, json=add_ines(), problem="about:blank"),
    members("no keys", 400, json={"user_ids": [INES_ID], "action_signatures": [sign("m")] * 2},
            messages=["conversation_key_version", "conversation_participant_keys"]),
    Refusal(f"POST {CHATS}/{PAIR}/members", "a third for two", 400, json=add_ines(),
            messages=["takes no more members"]),
    delete("the message of another", 403, json=deletion("1989100000000000004"),
           problem="about:blank"),
    delete("an event about keys", 400, json=deletion("1989100000000000001"),
           messages=["no message with the sequence id"]),
    delete("a message of another conversation", 400, json=deletion("1989200000000000012"),
           messages=["no message with the sequence id"]),
    Refusal(f"POST {CHATS}/{DUO}/typing", "typing without a part", 404, keys=INES,
            problem="resource-not-found"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_a_block_ends_messages(box: Sandbox) -> None:
    """Who blocks a user gets no message of theirs, and is in no new group."""
    relate(box, BLOCKS, INES_ID, HARBOR_ID)
    relate(box, BLOCKS, HARBOR_ID, NORTHBIKE_ID)
    sent = box.call("POST", f"{CHATS}/{PAIR}/messages", json=make_message("m"))
    begun = box.call("POST", f"{CHATS}/{INES_ID}/keys",
                     json=make_keys([HARBOR_ID, INES_ID], NEWER))  # fmt: skip
    added = box.call("POST", f"{CHATS}/{DUO}/members", json=add_ines())

    assert [403, 403, 400] == [each.status_code for each in (sent, begun, added)]
    assert NOT_ADDABLE in added.text
    assert body_of(box.call("GET", f"{CHATS}/{DUO}"))["data"]["participant_ids"] == BOTH
    assert RESERVED not in ids_of(box.read(CHATS))
