"""Something happens to posts because a test asks for it, and is true afterwards."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support import BEARER, Sandbox, sandbox

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
OWN, OTHER = "2244994945", "3805104374"


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own, whose clock is frozen."""
    return sandbox(freeze=NOW)


def emit(box: Sandbox, event_type: str, status: int = 201, **more: Any) -> Any:
    """Let something happen to the well-known user, unless given otherwise."""
    body = {"event_type": event_type, "user_id": OWN} | more
    answer = box.client.post("/_mock/events", json=body)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.get_json()


def read(box: Sandbox, path: str, status: int = 200) -> Any:
    """The answer to a GET with the bearer token."""
    answer = box.client.get(path, headers={"Authorization": f"Bearer {BEARER}"})
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.get_json()


def add_user(box: Sandbox) -> str:
    """Add a user without posts; the id."""
    user = {"id": "7", "screen_name": "ada", "name": "Ada"}
    answer = box.client.put("/_mock/state/users/7", json=user)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return "7"


def activities(box: Sandbox) -> list[tuple[str, str]]:
    """The type and the user of everything that happened."""
    page = box.platform.worlds.default.store.page("activities")
    return [(entry.record["event_type"], entry.record["user_id"]) for entry in page]


def test_a_post_is_made(box: Sandbox) -> None:
    """post.create makes a post that can be read, at the moment that was asked for."""
    activity = emit(box, "post.create", created_at="now-2h")["activity"]
    post_id = activity["payload"]["id"]

    shown = read(box, f"/2/posts/{post_id}?post.fields=created_at,author_id")["data"]
    assert activity["payload"]["text"] == shown["text"]
    assert (OWN, "2026-11-22T10:00:00.000Z") == (shown["author_id"], shown["created_at"])
    assert post_id == activity["event_uuid"]


def test_a_post_is_deleted(box: Sandbox) -> None:
    """post.delete deletes the newest post; a user without posts has none to delete."""
    made = emit(box, "post.create")["activity"]["payload"]["id"]
    deleted = emit(box, "post.delete")["activity"]["payload"]

    assert {"id": made, "author_id": OWN} == deleted
    read(box, f"/2/posts/{made}", 404)
    refused = emit(box, "post.delete", 422, user_id=add_user(box))
    assert "has no post that could be deleted" in str(refused)


@pytest.mark.parametrize(
    ("kind", "reference", "count"),
    [("reply", "replied_to", "reply_count"), ("quote", "quoted", "quote_count"),
     ("repost", "reposted", "repost_count")],
)  # fmt: skip
def test_others_answer(box: Sandbox, kind: str, reference: str, count: str) -> None:
    """Another user replies to, quotes or reposts the newest post, which is counted there."""
    original = emit(box, "post.create")["activity"]["payload"]["id"]
    payload = emit(box, f"post.{kind}.create")["activity"]["payload"]

    assert {"type": reference, "id": original} in payload["referenced_posts"]
    assert OWN != payload["author_id"]
    counts = read(box, f"/2/posts/{original}?post.fields=public_metrics")["data"]["public_metrics"]
    assert 1 == counts[count]
    assert [("post.create", payload["author_id"]), (f"post.{kind}.create", OWN)] == (
        activities(box)[-2:]
    )


def test_others_mention(box: Sandbox) -> None:
    """Another user names the user in a post."""
    payload = emit(box, "post.mention.create")["activity"]["payload"]

    assert [OWN] == [mention["id"] for mention in payload["entities"]["mentions"]]


def test_answers_need_no_post(box: Sandbox) -> None:
    """A user without posts makes one first."""
    payload = emit(box, "post.quote.create", user_id=add_user(box))["activity"]["payload"]

    [reference] = payload["referenced_posts"]
    assert "7" == box.record("posts", reference["id"])["_user_id"]


@pytest.mark.parametrize(("direction", "liker"), [(None, OWN), ("sent", OWN), ("received", None)])
def test_a_like(box: Sandbox, direction: str | None, liker: str | None) -> None:
    """The user likes, or with the direction received is liked; both counts change."""
    more: dict[str, Any] = {} if direction is None else {"direction": direction}
    activity = emit(box, "like.create", **more)["activity"]
    payload, includes = activity["payload"], activity["includes"]

    assert OWN == activity["user_id"]
    assert direction or "sent" == activity["direction"]
    assert (payload["liked_post_author_id"] == OWN) is (liker is None)
    assert payload["liked_post_id"] == includes["posts"][0]["id"]
    assert liker in {None, includes["users"][0]["id"]}
    assert (32, "1795348800000") == (len(payload["id"]), payload["timestamp_ms"])
    before = sandbox(freeze=NOW).record("posts", payload["liked_post_id"])["favorite_count"]
    assert before + 1 == box.record("posts", payload["liked_post_id"])["favorite_count"]


def test_a_payload_is_a_post_as_well(box: Sandbox) -> None:
    """What the payload of a post.create says can be read, and deleted by a payload."""
    payload = {"id": "77", "text": "From a test", "author_id": OTHER}
    emit(box, "post.create", user_id=OTHER, payload=payload)

    assert "From a test" == read(box, "/2/posts/77")["data"]["text"]
    emit(box, "post.delete", user_id=OTHER, payload={"id": "77", "author_id": OTHER})
    read(box, "/2/posts/77", 404)


def test_a_payload_that_is_no_post(box: Sandbox) -> None:
    """It is delivered as it is, and a warning says why it cannot be read."""
    answer = emit(box, "post.create", payload={"id": "77", "mood": "good"})

    assert {"id": "77", "mood": "good"} == answer["activity"]["payload"]
    assert any("not stored as a post" in text for text in answer["warnings"])
    read(box, "/2/posts/77", 404)


def test_protected_users(box: Sandbox) -> None:
    """What happens to their posts is no event, and the answer says so."""
    box.change("users", OWN, protected=True)
    refused = emit(box, "post.create", 422)

    assert "is protected" in str(refused)
    assert [] == activities(box)


def test_a_user_is_needed(box: Sandbox) -> None:
    """Without one, and without a payload, nothing can happen."""
    answer = box.client.post("/_mock/events", json={"event_type": "post.create"})

    assert 422 == answer.status_code
    assert "user_id is required for post.create" in answer.get_data(as_text=True)
