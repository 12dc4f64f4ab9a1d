"""Draft posts: create, list, read, change, delete, preview."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox, refusal, sandbox

PATH = f"/12/accounts/{ACCOUNT}/draft_posts"
OWNER, ADVERTISER = "2244994945", "3805104374"
FIRST = "1991500000000000101"
KEYS = {
    "id",
    "name",
    "text",
    "user_id",
    "nullcast",
    "media_keys",
    "card_uri",
    "created_at",
    "updated_at",
}
CARD = "card://1712860000001000003"
IMAGE, GIF, VIDEO = "3_1712850617439550002", "16_1712850617439550007", "7_1712850617439550010"


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own."""
    return sandbox()


def ask(box: Sandbox, method: str, path: str = PATH, **query: str) -> dict[str, Any]:
    """The body of a successful call."""
    answer = box.call(method, path, query_string=query)
    assert 200 == answer.status_code, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def test_drafts_of_the_accounts_own_user(box: Sandbox) -> None:
    """Without user_id those of the FULL promotable user; the echo lacks the account."""
    body, others = ask(box, "GET"), ask(box, "GET", user_id=ADVERTISER)

    assert ["101", "102", "103"] == [draft["id"][-3:] for draft in body["data"]]
    assert {"params": {}} == body["request"]
    assert ["1991500000000000104"] == [draft["id"] for draft in others["data"]]
    assert all(KEYS == set(draft) for draft in body["data"])


def test_created_read_changed_and_deleted(box: Sandbox) -> None:
    """A draft has nine keys; a change touches what is sent; the delete says DELETED and is hard."""
    sent = {"as_user_id": OWNER, "text": "Soon", "name": "Teaser", "card_uri": CARD}
    created = ask(box, "POST", **sent)
    draft, path = created["data"], f"{PATH}/{created['data']['id']}"
    box.world.clock.advance(seconds=60)
    changed = ask(box, "PUT", path, text="Sooner", nullcast="false", card_uri="", name="")["data"]
    read = ask(box, "GET", path)
    deleted = ask(box, "DELETE", path)

    assert KEYS == set(draft)
    assert {"as_user_id": OWNER, **sent} == created["request"]["params"]
    assert (OWNER, True, [], CARD) == (
        draft["user_id"], draft["nullcast"], draft["media_keys"], draft["card_uri"]
    )  # fmt: skip
    assert ("Sooner", False, None, None) == (
        changed["text"], changed["nullcast"], changed["card_uri"], changed["name"]
    )  # fmt: skip
    assert changed["updated_at"] > draft["updated_at"]
    assert changed == read["data"]
    assert changed | {"status": "DELETED"} == deleted["data"]
    assert (404, [("NOT_FOUND", "draft_post_id")]) == refusal(box.call("DELETE", path))
    assert (404, [("NOT_FOUND", "draft_post_id")]) == refusal(box.call("GET", path))


def test_media_take_the_place_of_text(box: Sandbox) -> None:
    """Text is empty where only media are sent, and can be emptied where media are."""
    draft = ask(box, "POST", as_user_id=OWNER, media_keys=IMAGE)["data"]
    emptied = ask(box, "PUT", f"{PATH}/{FIRST}", text="")["data"]

    assert ("", [IMAGE]) == (draft["text"], draft["media_keys"])
    assert "" == emptied["text"]


@pytest.mark.parametrize("sent", [{"text": ""}, {"text": "  "}])
def test_a_draft_keeps_text_or_media(box: Sandbox, sent: dict[str, str]) -> None:
    """A change that would leave neither is refused, and nothing changes."""
    path = f"{PATH}/1991500000000000103"
    before = ask(box, "GET", path)["data"]
    answer = box.call("PUT", path, query_string=sent)

    assert (400, [("POST_CANNOT_BE_BLANK", "text")]) == refusal(answer)
    assert before == ask(box, "GET", path)["data"]


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        ({"text": "a"}, 400, ("MISSING_PARAMETER", "as_user_id")),
        ({"as_user_id": OWNER}, 400, ("MISSING_PARAMETER", "text")),
        ({"as_user_id": OWNER, "text": " "}, 400, ("POST_CANNOT_BE_BLANK", "text")),
        ({"as_user_id": "me", "text": "a"}, 400, ("INVALID_PARAMETER", "as_user_id")),
        ({"as_user_id": "5", "text": "a"}, 403, ("USER_NOT_FOUND", "as_user_id")),
        ({"as_user_id": "2790441185", "text": "a"}, 403, ("ACTION_NOT_ALLOWED", "as_user_id")),
        ({"as_user_id": OWNER, "media_keys": "3_9"}, 404, ("MEDIA_NOT_FOUND", "media_keys")),
        (
            {"as_user_id": OWNER, "media_keys": f"{IMAGE},{GIF}"},
            400,
            ("INVALID_PARAMETER", "media_keys"),
        ),
        (
            {"as_user_id": OWNER, "text": "a", "card_uri": "card://9"},
            404,
            ("CARD_NOT_FOUND", "card_uri"),
        ),
        (
            {"as_user_id": ADVERTISER, "text": "a", "nullcast": "false"},
            400,
            ("INVALID_PARAMETER", "nullcast"),
        ),
        ({"as_user_id": OWNER, "text": "a", "name": "x" * 81}, 400, ("INVALID_PARAMETER", "name")),
    ],
)
def test_what_is_refused(
    box: Sandbox, sent: dict[str, str], status: int, error: tuple[str, str]
) -> None:
    """The rules of posting at once hold for drafts."""
    assert (status, [error]) == refusal(box.call("POST", PATH, query_string=sent))


def test_the_longest_name(box: Sandbox) -> None:
    """80 characters are accepted."""
    draft = ask(box, "POST", as_user_id=OWNER, text="a", name="x" * 80)["data"]

    assert 80 == len(draft["name"])


@pytest.mark.parametrize(("count", "status"), [("1", 200), ("200", 200), ("0", 400), ("201", 400)])
def test_bounds_of_count(box: Sandbox, count: str, status: int) -> None:
    """From 1 to 200 drafts in a page."""
    assert status == box.call("GET", f"{PATH}?count={count}").status_code


def test_pages_of_a_hundred(box: Sandbox) -> None:
    """Without count a page has 100 drafts."""
    for number in range(98):
        box.put("draft_posts", str(number), box.record("draft_posts", FIRST) | {"id": str(number)})
    body = ask(box, "GET")

    assert 100 == len(body["data"])
    assert 1 == len(ask(box, "GET", cursor=body["next_cursor"])["data"])


def test_a_preview(box: Sandbox) -> None:
    """A message and no data; no notification is sent."""
    body = ask(box, "POST", f"{PATH}/preview/{FIRST}")

    assert {"request", "message"} == set(body)
    assert "@harbor_roasters" in body["message"]
    assert {"draft_post_id": FIRST} == body["request"]["params"]
    answer = box.call("POST", f"{PATH}/preview/1")
    assert (404, [("NOT_FOUND", "draft_post_id")]) == refusal(answer)


def test_drafts_of_another_account(box: Sandbox) -> None:
    """They are not found."""
    box.change("draft_posts", FIRST, _account_id=OTHER_ACCOUNT)

    assert 404 == box.call("GET", f"{PATH}/{FIRST}").status_code


def test_strict_refuses_drafts() -> None:
    """The specification names drafts and shows nothing of them."""
    assert 501 == sandbox(strict=True).call("GET", PATH).status_code
