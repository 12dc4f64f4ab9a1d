"""Bad input to each operation of v2: its example request, with one thing about it wrong.

What is not in a table is answered as the interface answers in general; the tables have what
differs, and an entry that no operation needs fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import pytest
from msgspec.structs import replace
from werkzeug.test import TestResponse

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.examples import Sample, sample
from mock_platform.core.auth.tester_access import Credentials
from mock_platform.core.envelope import Lines
from mock_platform.core.fields import Flag, Integer, ListOf, Nested
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import MINUTE, Location, Operation
from tests.api.v2.test_surface import SERVED, U2, B
from tests.support import USER_TOKEN, Sandbox, sandbox

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
NOW = datetime(2026, 3, 19, tzinfo=UTC)
OPERATIONS = [each for each in SERVED if not isinstance(each.returns, Lines)]
"""Those that end; a stream names no records."""


@pytest.fixture(scope="module")
def all_of_v2() -> Sandbox:
    """A sandbox in which every endpoint exists."""
    return sandbox(freeze=NOW, releases="all", limits="off")


@pytest.fixture
def box(all_of_v2: Sandbox) -> Sandbox:
    """That sandbox, as it begins."""
    all_of_v2.world.reset()
    return all_of_v2


def make_example(operation: Operation, known: Credentials) -> Sample:
    """The example of an operation, with a minute where it has the place of one."""
    asked = sample(operation, known)
    body = None if asked.body is None else asked.body.replace(MINUTE, _MINUTE)
    return replace(asked, path=asked.path.replace(quote(MINUTE), _MINUTE), body=body)


_MINUTE = "202603182359"
_BEGINNING = sandbox().world
_KNOWN = credentials(_BEGINNING)
EXAMPLES: Mapping[str, Sample] = {each.id: make_example(each, _KNOWN) for each in OPERATIONS}


def send(box: Sandbox, asked: Sample, token: str | None = None) -> TestResponse:
    """Send an example, or the same with another token."""
    headers = {**asked.headers} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    return box.client.open(asked.path, method=asked.method, headers=headers, data=asked.body)


def change(asked: Sample, old: str, new: str, *, in_body: bool) -> Sample:
    """The example with another value in its path or its body."""
    if in_body:
        return replace(asked, body=str(asked.body).replace(f'"{old}"', f'"{new}"'))
    path, mark, query = asked.path.partition("?")
    parts = [new if unquote(part) == old else part for part in path.split("/")]
    return replace(asked, path="/".join(parts) + mark + query)


def tell(answer: TestResponse) -> str:
    """What a refusal says: its first message, or its detail; of another answer all of it."""
    body = answer.get_json()
    errors = body.get("errors") or [{}]
    return str(errors[0].get("message") or body.get("detail") or body)


def list_versions(box: Sandbox) -> dict[str, int]:
    """How often each table changed."""
    return {table: box.world.store.version(table) for table in box.world.store.tables()}


class Named(NamedTuple):
    """A record that the example of an operation names."""

    operation: str
    name: str
    value: str
    in_body: bool = False

    def __str__(self) -> str:
        return f"{self.operation}-{self.name}"


_NAMES = re.compile(r"id|ids|username|woeid|resource_id|.*_ids?|media_key|media_hash_key")
_NO_RECORDS = {"message_id", "source_id", "endpoint_id"}
"""Names of what the caller chooses, and of kinds of streams."""


def list_named(operation: Operation) -> Iterator[Named]:
    """What the path and the body of an example name."""
    asked = EXAMPLES[operation.id]
    sent = urlsplit(asked.path).path.split("/")
    for part, value in zip(operation.path.split("/"), sent, strict=True):
        if part.startswith(":") and part[1:] not in _NO_RECORDS - {"message_id"}:
            yield Named(operation.id, part[1:], unquote(value))
    if asked.headers.get("Content-Type") == "application/json" and asked.body:
        for name, value in _walk(loads(asked.body.encode())):
            if _NAMES.fullmatch(name) and name not in _NO_RECORDS:
                yield Named(operation.id, name, value, in_body=True)


def _walk(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, name)
    elif isinstance(value, str):
        yield name, value


NAMED = list(dict.fromkeys(one for each in OPERATIONS for one in list_named(each)))
BY_ID = {each.id: each for each in OPERATIONS}


def is_caller(one: Named) -> bool:
    """Whether a name in a path is that of the user who calls, and no other is taken."""
    operation = BY_ID[one.operation]
    is_own = one.value == OWN and not one.in_body and operation.path.startswith("/2/users/:")
    return is_own and B not in operation.auth.schemes


# -- who calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [each for each in OPERATIONS if U2 in each.auth.schemes and not each.auth.permissions_override],
    ids=lambda one: one.id,
)
def test_a_missing_scope(box: Sandbox, operation: Operation) -> None:
    """The scopes of an operation are enough; without one of them it is refused and named."""
    asked, scopes = EXAMPLES[operation.id], list(operation.auth.scopes)
    for scope in scopes:
        box.change("tokens", USER_TOKEN, scopes=[each for each in scopes if each != scope])
        answer = send(box, asked, USER_TOKEN)

        assert (403, "about:blank") == (answer.status_code, answer.get_json()["type"])
        assert f"This endpoint needs the scope {scope}," in tell(answer)
    box.change("tokens", USER_TOKEN, scopes=scopes)
    assert b"needs the scope" not in send(box, asked, USER_TOKEN).data


@pytest.mark.parametrize("one", [one for one in NAMED if is_caller(one)], ids=str)
def test_the_id_of_another_user(box: Sandbox, one: Named) -> None:
    """Where the path has the caller's id, that of another user is refused, known or not."""
    for value in (OTHER, "999"):
        answer = send(box, change(EXAMPLES[one.operation], OWN, value, in_body=False))

        assert 400 == answer.status_code
        assert tell(answer) == (
            f"The `{one.name}` query parameter value [{value}] must be the same as the "
            f"authenticating user [{OWN}]"
        )


# -- what is named -------------------------------------------------------------------------------

Told = Mapping[tuple[str, str], tuple[int, str]]
"""The status, and a part of what is said, by operation and name."""

_NO_WEBHOOK = (400, "WebhookIdInvalid: the app has no webhook 999")
_NO_SUBSCRIPTION = (400, "SubscriptionNotFound: ")
_NO_POST = (400, "This post cannot be found.")
_NO_NOTED_POST = (400, "post_id: no post has the id ")
_NO_MEMBER = (400, "The user [999] does not take part; each participant needs a key.")
_NOT_ADDABLE = (400, "Cannot add all members: one or more")
_NO_SEQUENCE = (400, "The conversation has no message with the sequence id [999].")
_NO_CHAT = (400, "Could not find conversation with id: ")
UNKNOWN: Told = {
    # What is undone twice is undone.
    ("following.delete", "target_user_id"): (200, "{'following': False}"),
    ("muting.delete", "target_user_id"): (200, "{'muting': False}"),
    ("blocking.delete", "target_user_id"): (200, "{'blocking': False}"),
    ("likes.delete", "post_id"): (200, "{'liked': False}"),
    ("reposts.delete", "source_post_id"): (200, "{'reposted': False}"),
    ("bookmarks.delete", "post_id"): (200, "{'bookmarked': False}"),
    ("list_members.delete", "user_id"): (200, "{'is_member': False}"),
    ("followed_lists.delete", "list_id"): (200, "{'following': False}"),
    ("pinned_lists.delete", "list_id"): (200, "{'pinned': False}"),
    ("broadcast_chat_mutes.delete", "user_id"): (200, "{'muted': False}"),
    # What a body names.
    ("likes.create", "post_id"): _NO_POST,
    ("reposts.create", "post_id"): _NO_POST,
    ("bookmarks.create", "post_id"): _NO_POST,
    ("bookmarks.create", "folder_id"): (400, "Could not find folder with folder_id: [999]."),
    ("following.create", "target_user_id"): (400, "Could not find user with id: [999]."),
    ("muting.create", "target_user_id"): (400, "Could not find user with id: [999]."),
    ("blocking.create", "target_user_id"): (400, "Could not find user with id: [999]."),
    ("list_members.create", "user_id"): (400, "Could not find user with id: [999]."),
    ("followed_lists.create", "list_id"): (400, "Could not find list with id: [999]."),
    ("pinned_lists.create", "list_id"): (400, "Could not find list with id: [999]."),
    ("broadcast_chat_mutes.create", "user_id"): (400, "Could not find user with id: [999]."),
    ("dm_conversations.create", "participant_ids"): (400, "Could not find user with id: [999]."),
    ("notes.create", "post_id"): _NO_NOTED_POST,
    ("notes.evaluate", "post_id"): _NO_NOTED_POST,
    ("evaluate_note.create", "post_id"): _NO_NOTED_POST,
    ("scheduled_broadcasts.update", "scheduled_broadcast_id"): (400, "[999] is not that of the"),
    ("lists.update", "id"): (400, "You cannot update a List that does not exist."),
    # Webhooks, and who is subscribed.
    ("webhooks.validate", "webhook_id"): _NO_WEBHOOK,
    ("webhooks.delete", "webhook_id"): _NO_WEBHOOK,
    ("stream_links.create", "webhook_id"): _NO_WEBHOOK,
    ("stream_links.delete", "webhook_id"): _NO_WEBHOOK,
    ("account_activity.subscribe", "webhook_id"): _NO_WEBHOOK,
    ("account_activity.show", "webhook_id"): _NO_WEBHOOK,
    ("account_activity.list", "webhook_id"): _NO_WEBHOOK,
    ("account_activity.unsubscribe", "webhook_id"): _NO_WEBHOOK,
    ("account_activity.unsubscribe", "user_id"): _NO_SUBSCRIPTION,
    ("activity.update", "subscription_id"): _NO_SUBSCRIPTION,
    ("activity.delete", "subscription_id"): _NO_SUBSCRIPTION,
    ("activity.create", "user_id"): (200, "'user_id': '999'"),
    # Encrypted chat.
    ("chat_keys.create", "user_id"): _NO_MEMBER,
    ("chat_groups.create", "user_id"): (400, ""),  # a member without a key, or a key too many
    ("chat_members.create", "user_id"): (400, ""),
    ("chat_members.create", "user_ids"): _NOT_ADDABLE,
    ("chat_groups.create", "conversation_id"): (400, "is not reserved for a new group."),
    ("chat_messages.delete", "sequence_ids"): _NO_SEQUENCE,
    ("chat_conversations.mark_read", "seen_until_sequence_id"): _NO_SEQUENCE,
    ("chat_media.initialize", "conversation_id"): _NO_CHAT,
    ("chat_media.append", "conversation_id"): _NO_CHAT,
    ("chat_media.finalize", "conversation_id"): _NO_CHAT,
    ("chat_media.append", "media_hash_key"): (400, "The media hash key of the upload is "),
    ("chat_media.finalize", "media_hash_key"): (400, "The media hash key of the upload is "),
}
"""What is not answered with 404, the kind of what is missing, its parameter and its value."""


@pytest.mark.parametrize("one", [one for one in NAMED if not is_caller(one)], ids=str)
def test_what_is_unknown(box: Sandbox, one: Named) -> None:
    """A record that there is not: 404 with its value, or what the table says; no record changes."""
    last = "0" if one.value[-1] != "0" else "1"
    value = "999" if one.value.isdigit() else one.value[:-1] + last
    before = list_versions(box)
    answer = send(box, change(EXAMPLES[one.operation], one.value, value, in_body=one.in_body))
    status, text = UNKNOWN.get((one.operation, one.name), (404, "Could not find "))

    assert (status, True) == (answer.status_code, text in tell(answer)), answer.text
    assert status == 200 or before == list_versions(box)
    if status == 404:
        assert answer.get_json()["type"].endswith("/problems/resource-not-found")
        assert value.endswith(answer.get_json()["resource_id"])


# -- what is not to be seen ----------------------------------------------------------------------

_POSTS = {str(entry.key) for entry in _BEGINNING.store.page("posts")}
OF_POSTS = [one for one in NAMED if one.value in _POSTS]
_HIDDEN = (403, "Sorry, you are not authorized to see the Post with {name}: [{value}].")
_STAYS = (200, "")
HIDDEN: Told = {
    ("public_posts.delete", "id"): (403, "You are not authorized to delete this Post."),
    ("public_posts.hide", "post_id"): _STAYS,  # the conversation is the caller's
    ("likes.delete", "post_id"): _STAYS,
    ("reposts.delete", "source_post_id"): _STAYS,
    ("bookmarks.delete", "post_id"): _STAYS,
    ("notes.create", "post_id"): _STAYS,  # in test mode notes are about any post
    ("notes.evaluate", "post_id"): _STAYS,
    ("evaluate_note.create", "post_id"): _STAYS,
}
"""What is answered about a post of a protected user whom the caller does not follow."""


@pytest.mark.parametrize("one", OF_POSTS, ids=str)
def test_a_deleted_post(box: Sandbox, one: Named) -> None:
    """A post that was deleted is answered like one that there never was."""
    asked = EXAMPLES[one.operation]
    never = send(box, change(asked, one.value, "999", in_body=one.in_body))
    assert 204 == box.client.delete(f"/_mock/state/posts/{one.value}").status_code
    answer = send(box, asked)

    assert never.status_code == answer.status_code
    assert tell(never).replace("999", one.value) == tell(answer)


@pytest.mark.parametrize("one", OF_POSTS, ids=str)
def test_a_post_of_a_protected_user(box: Sandbox, one: Named) -> None:
    """A post whose author is protected is hidden from who does not follow, or as the table says."""
    box.change("posts", one.value, _user_id=INES)
    box.change("users", INES, protected=True)
    box.client.delete(f"/_mock/state/follows/{OWN}:{INES}")
    answer = send(box, EXAMPLES[one.operation])
    status, text = HIDDEN.get((one.operation, one.name), _HIDDEN)

    assert status == answer.status_code, answer.text
    assert text.format(name=one.name, value=one.value) in tell(answer)


_SUSPENDED = "User has been suspended: ["
_REFUSED = (400, _SUSPENDED)
_TAKES_NONE = (403, "You do not have permission to DM one or more participants.")
ABSENT: Told = {
    ("following.create", "target_user_id"): _REFUSED,
    ("muting.create", "target_user_id"): _REFUSED,
    ("blocking.create", "target_user_id"): _REFUSED,
    ("list_members.create", "user_id"): _REFUSED,
    ("chat_groups.create", "user_id"): _NOT_ADDABLE,
    ("chat_members.create", "user_ids"): _NOT_ADDABLE,
    ("dm_conversations.send_to_user", "participant_id"): _TAKES_NONE,
    ("dm_conversations.create", "participant_ids"): _TAKES_NONE,
    # What there is already stays, and can be undone.
    ("following.delete", "target_user_id"): _STAYS,
    ("muting.delete", "target_user_id"): _STAYS,
    ("blocking.delete", "target_user_id"): _STAYS,
    ("list_members.delete", "user_id"): _STAYS,
    ("broadcast_chat_mutes.create", "user_id"): _STAYS,
    ("broadcast_chat_mutes.delete", "user_id"): _STAYS,
    ("account_activity.unsubscribe", "user_id"): _STAYS,
    ("activity.create", "user_id"): _STAYS,
    ("dm_conversations.list_with_user", "participant_id"): _STAYS,
    ("chat_keys.create", "id"): _STAYS,
    ("chat_keys.create", "user_id"): _STAYS,
}
"""What is answered about a user who is suspended, if not 404."""
_USERS = {str(entry.key) for entry in _BEGINNING.store.page("users")} - {OWN}
OF_USERS = [
    one
    for one in NAMED
    if one.value in _USERS and (one.operation, one.name) != ("chat_members.create", "user_id")
]
"""Those who are named; among the users who have keys in a group are those who were in it before."""


@pytest.mark.parametrize("one", OF_USERS, ids=str)
def test_a_suspended_user(box: Sandbox, one: Named) -> None:
    """A user who is suspended is not found, and the detail says why, or as the table says."""
    box.change("users", one.value, _suspended=True)
    answer = send(box, EXAMPLES[one.operation])
    status, text = ABSENT.get((one.operation, one.name), (404, _SUSPENDED))
    assert (status, True) == (answer.status_code, text in tell(answer)), answer.text


# -- types ---------------------------------------------------------------------------------------


def list_typed(declared: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Where the fields of a body have a boolean or a number, and a body with a text there."""
    for name, field in declared.items():
        inner = field.inner if isinstance(field, ListOf) else field
        if isinstance(inner, Flag | Integer):
            found: Iterator[tuple[str, Any]] = iter(
                [("", "1" if isinstance(inner, Integer) else "true")]
            )
        elif isinstance(inner, Nested):
            found = list_typed(inner.schema.load_fields)
        else:
            continue
        index = "[0]" if inner is not field else ""
        for place, body in found:
            yield f"{name}{index}{place and f'.{place}'}", {name: [body] if index else body}


TYPED = [
    pytest.param(operation, place, body, id=f"{operation.id}-{place}")
    for operation in OPERATIONS
    if operation.location is Location.JSON and operation.params is not None
    for place, body in list_typed(operation.params().load_fields)
    if place not in operation.in_query
]
"""The booleans and numbers in the JSON bodies of all operations."""


@pytest.mark.spec("A, Release history", "2026-06-03: paid", "2025-07-28: share")
@pytest.mark.parametrize(("operation", "place", "body"), TYPED)
def test_a_text_in_the_place_of_another_type(
    box: Sandbox, operation: Operation, place: str, body: Any
) -> None:
    """A JSON body has its booleans and numbers as such: the same in a text is refused."""
    answer = send(box, replace(EXAMPLES[operation.id], body=dumps(body).decode()))
    messages = [error["message"] for error in answer.get_json()["errors"]]

    assert 400 == answer.status_code
    assert any(f"$.{place}: string found, " in message for message in messages), messages


# -- what is sent twice --------------------------------------------------------------------------

_GONE = (404, "Could not find ")
_IN_PROGRESS = (409, "You cannot create a new job if one is already in progress.")
AGAIN: Mapping[str, tuple[int, str]] = {
    "reposts.create": (400, "You cannot repost a Post that you have already reposted."),
    "public_posts.create": (403, "duplicate content"),
    "public_posts.delete": _GONE,
    "articles.publish": (403, "This article is published already"),
    "notes.create": (400, ""),
    "notes.delete": _GONE,
    "lists.delete": _GONE,
    "dm_events.delete": _GONE,
    "media_subtitles.delete": _GONE,
    "scheduled_broadcasts.delete": _GONE,
    "scheduled_broadcasts.start": (400, ""),
    "broadcast_chat.delete": _GONE,
    "activity.create": (409, "DuplicateSubscriptionFailed"),
    "activity.delete": (400, "SubscriptionNotFound"),
    "activity.delete_many": (400, "SubscriptionNotFound"),
    "account_activity.subscribe": (400, "DuplicateSubscriptionFailed: Subscription already"),
    "account_activity.unsubscribe": (400, "SubscriptionNotFound"),
    "webhooks.replay": _IN_PROGRESS,
    "account_activity.replay": _IN_PROGRESS,
    "webhooks.delete": (400, "WebhookIdInvalid"),
    "stream_links.delete": (400, ""),
}
"""What the second of two equal requests is answered, if not what the first one was."""


@pytest.mark.parametrize(
    "operation", [each for each in OPERATIONS if each.method != "GET"], ids=lambda one: one.id
)
def test_the_same_again(box: Sandbox, operation: Operation) -> None:
    """What is there already is there, and what is undone is undone, or as the table says."""
    first, second = (send(box, EXAMPLES[operation.id]) for _ in range(2))
    status, text = AGAIN.get(operation.id, (first.status_code, ""))

    assert (status, True) == (second.status_code, text in tell(second)), second.text
    flags = [] if operation.id in AGAIN else first.get_json().get("data")
    if isinstance(flags, dict) and all(isinstance(flag, bool) for flag in flags.values()):
        assert first.get_json() == second.get_json()


def test_the_tables_have_what_is_asked() -> None:
    """Each entry of a table is about something that an example names."""
    asked = {(one.operation, one.name) for one in NAMED}
    assert set() == {*UNKNOWN, *HIDDEN, *ABSENT} - asked
    assert set() == set(AGAIN) - set(BY_ID)
