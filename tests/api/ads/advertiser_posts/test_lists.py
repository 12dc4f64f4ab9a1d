"""The name of a post (document B, "Posting on behalf of an advertiser")."""

from __future__ import annotations

import pytest

from tests.api.ads.cards.creatives import data, echo, post, put
from tests.support import ACCOUNT, Sandbox, faults

ONE = "1712850617439551489"


@pytest.mark.spec("B, Posting on behalf of an advertiser", "returns the post")
def test_answer(box: Sandbox) -> None:
    """The answer shows the post with its text, in extended form, with what POST leaves out."""
    response = put(box, f"posts/{ONE}/name", name="Renamed")
    record = data(response)

    assert {
        "id": int(ONE),
        "id_str": ONE,
        "post_id": ONE,
        "name": "Renamed",
        "conversation_settings": "EVERYONE",
        "nullcast": True,
        "post_type": "PUBLISHED",
        "scheduled_at": None,
        "scheduled_status": None,
        "created_at": "Mon Mar 02 08:00:00 +0000 2026",
        "display_text_range": [0, len(record["full_text"])],
    }.items() <= record.items()
    assert record["full_text"] == record["text"]
    assert ("harbor_roasters", 41) == (record["user"]["screen_name"], len(record["user"]))
    assert {"in_reply_to_status_id": None, "in_reply_to_status_id_str": None}.items() <= (
        record.items()
    )
    assert "is_quote_status" not in record
    assert not [name for name in record if name.startswith("_")]
    assert {"account_id": ACCOUNT, "post_id": int(ONE), "name": "Renamed"} == echo(response)


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser", "PUT /12/accounts/:account_id/posts/:post_id/name"
)
def test_stays(box: Sandbox) -> None:
    """The name stays, and nothing else changed."""
    before = box.record("posts", ONE)
    put(box, f"posts/{ONE}/name", name="Renamed")

    assert before | {"name": "Renamed"} == box.record("posts", ONE)


@pytest.mark.spec("B, Posting on behalf of an advertiser", "conversation_settings: not")
def test_of_a_new_post(box: Sandbox) -> None:
    """A post that was just made can be named, and shows what it was made with."""
    made = data(
        post(
            box,
            "post",
            as_user_id="3805104374",
            text="Hello",
            conversation_settings="MENTIONED_USERS",
        )
    )
    named = data(put(box, f"posts/{made['id_str']}/name", name="Hello"))

    assert ("Hello", "Hello", "MENTIONED_USERS", True, [2244994945]) == tuple(
        named[name]
        for name in ("name", "full_text", "conversation_settings", "nullcast", "contributors")
    )
    assert made["user"] == named["user"]


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser", "PUT /12/accounts/:account_id/posts/:post_id/name"
)
@pytest.mark.spec("B, Limits", "Field lengths: post")
def test_length(box: Sandbox) -> None:
    """A name has at most 80 characters."""
    inside = put(box, f"posts/{ONE}/name", name="é" * 80)
    outside = put(box, f"posts/{ONE}/name", name="é" * 81)

    assert "é" * 80 == data(inside)["name"]
    assert (400, [("INVALID_PARAMETER", "name")]) == (outside.status_code, faults(outside))


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser", "PUT /12/accounts/:account_id/posts/:post_id/name"
)
def test_required(box: Sandbox) -> None:
    """A name is required; an empty one takes the name away."""
    absent = put(box, f"posts/{ONE}/name")

    assert (400, [("MISSING_PARAMETER", "name")]) == (absent.status_code, faults(absent))
    assert data(put(box, f"posts/{ONE}/name", name=""))["name"] is None


@pytest.mark.spec(
    "B, Posting on behalf of an advertiser", "PUT /12/accounts/:account_id/posts/:post_id/name"
)
@pytest.mark.parametrize("key", ["1", "abc", "1712850617439551495"])
def test_unknown(box: Sandbox, key: str) -> None:
    """A post that is unknown or of another account answers 404."""
    response = put(box, f"posts/{key}/name", name="Renamed")

    assert (404, [("POST_NOT_FOUND", "post_id")]) == (response.status_code, faults(response))
