"""The list of an account's posts of every type, their names, and their previews."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.api.ads.support import BASE, alter, echo, make, put
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

PATH, PREVIEWS = f"{BASE}/posts", f"{BASE}/post_previews"
OWNER, ADVERTISER, INES = "2244994945", "3805104374", "2790441185"
DRAFT, OUT, WAITING = "1991500000000000101", "1991600000000000201", "1991600000000000203"
POST, PUBLIC, FOREIGN = "1712850617439551489", "1712850617439551492", "1712850617439551495"
SETTINGS = {"freeze": datetime(2026, 11, 22, 12, tzinfo=UTC)}


def read(box: Sandbox, path: str = PATH, **query: Any) -> list[dict[str, Any]]:
    """The rows of a successful read."""
    data: list[dict[str, Any]] = box.read(path, **query)["data"]
    return data


def test_published(box: Sandbox) -> None:
    """By default what is promoted only, in extended form with the whole author."""
    posts = read(box, post_type="PUBLISHED")

    assert POST in {post["id_str"] for post in posts}
    assert all(post["nullcast"] and post["post_type"] == "PUBLISHED" for post in posts)
    assert {OWNER} == {post["user"]["id_str"] for post in posts}
    assert "full_text" in posts[0]
    assert "text" not in posts[0]
    assert 41 == len(posts[0]["user"])
    assert {"id", "id_str"} == set(read(box, post_type="PUBLISHED", trim_user="true")[0]["user"])


def test_timelines(box: Sandbox) -> None:
    """NULLCAST and ORGANIC together are ALL."""
    found = {
        kind: {p["id_str"] for p in read(box, post_type="PUBLISHED", timeline_type=kind)}
        for kind in ("NULLCAST", "ORGANIC", "ALL")
    }

    assert PUBLIC in found["ORGANIC"]
    assert found["ALL"] == found["NULLCAST"] | found["ORGANIC"]
    assert not found["NULLCAST"] & found["ORGANIC"]


def test_drafts_and_scheduled_ones(box: Sandbox) -> None:
    """Plans have the form of posts; those that are out, or failed, are not scheduled any more."""
    drafts = {each["id_str"]: each for each in read(box, post_type="DRAFT")}
    waiting = read(box, post_type="SCHEDULED", timeline_type="ALL")
    draft = drafts[DRAFT]

    assert ("DRAFT", int(DRAFT), None) == (draft["post_type"], draft["id"], draft["scheduled_at"])
    assert "Two roasts, one harbor. Which one is yours?" == draft["full_text"]
    assert "3_1712850617439550002" == draft["entities"]["media"][0]["media_key"]
    assert 2 == len(drafts)
    assert [(WAITING, "SCHEDULED"), ("1991600000000000204", "SCHEDULED")] == [
        (each["id_str"], each["scheduled_status"]) for each in waiting
    ]
    assert "2027-12-27T12:00:00Z" == waiting[0]["scheduled_at"]


def test_a_scheduled_post_changes_its_list(box: Sandbox) -> None:
    """When it is out it is published, with its moment and its status."""
    box.advance(days=400)
    (done,) = read(box, post_type="PUBLISHED", name="Winter roast")

    assert WAITING not in {each["id_str"] for each in read(box, post_type="SCHEDULED")}
    assert ("SUCCESS", "2027-12-27T12:00:00Z") == (done["scheduled_status"], done["scheduled_at"])


@pytest.mark.parametrize(("kind", "name", "count", "found"), [
    ("PUBLISHED", "cold b", "1", 1), ("PUBLISHED", "COLD BREW LAUNCH", "1000", 1),
    ("PUBLISHED", "brew l", "1", 0), ("DRAFT", "x" * 80, "1", 0),
])  # fmt: skip
def test_a_prefix_of_the_name(box: Sandbox, kind: str, name: str, count: str, found: int) -> None:
    """The beginning of the name counts, in any case; it may be long, and pages small or large."""
    assert found == len(read(box, post_type=kind, name=name, count=count))


def test_ids_and_users(box: Sandbox) -> None:
    """Chosen by id; posts of another user whom the account may promote or post for."""
    chosen = read(box, post_type="PUBLISHED", post_ids=f"{POST},{PUBLIC},5")
    others = read(box, post_type="PUBLISHED", user_id=ADVERTISER)

    assert [POST] == [post["id_str"] for post in chosen]
    assert {ADVERTISER} == {post["user"]["id_str"] for post in others}


def test_mentions_and_replies(box: Sandbox) -> None:
    """They are left out unless asked for."""
    make(box, "post", as_user_id=OWNER, text="@northbike_co Thank you!")
    reply = box.record("posts", POST) | {"id_str": "7", "id": 7, "in_reply_to_status_id": 5}
    box.put("posts", "7", reply)
    every = read(box, post_type="PUBLISHED", include_mentions_and_replies="true")

    assert len(read(box, post_type="PUBLISHED")) + 2 == len(every)


listed = partial(Refusal, f"GET {PATH}")
named = partial(Refusal, f"PUT {PATH}/{POST}/name")
INVALID, TYPE = "INVALID_PARAMETER", {"post_type": "DRAFT"}
REFUSED = [
    listed("a type is required", 400, [("MISSING_PARAMETER", "post_type")]),
    listed("a type is one of three", 400, [(INVALID, "post_type")], query={"post_type": "LIVE"}),
    listed("a timeline is one of three", 400, [(INVALID, "timeline_type")],
           query=TYPE | {"timeline_type": "X"}),
    listed("a name has 80 characters", 400, [(INVALID, "name")], query=TYPE | {"name": "x" * 81}),
    listed("a page has 1000 posts", 400, [(INVALID, "count")], query=TYPE | {"count": "1001"}),
    listed("ids are numbers", 400, [(INVALID, "post_ids")], query=TYPE | {"post_ids": "a"}),
    listed("a user exists", 403, [("USER_NOT_FOUND", "user_id")], query=TYPE | {"user_id": "5"}),
    listed("a user lets the caller post", 403, [("ACTION_NOT_ALLOWED", "user_id")],
           query=TYPE | {"user_id": INES}),
    named("a new name has 80 characters", 400, [(INVALID, "name")], query={"name": "é" * 81},
          spec={"B, Posting on behalf of an advertiser": ["PUT /12"],
                "B, Limits": ["Field lengths: post"]}),
    Refusal(f"GET {PREVIEWS}", "previews need ids and a type", 400,
            [("MISSING_PARAMETER", "post_ids"), ("MISSING_PARAMETER", "post_type")]),
    named("a new name is required", 400, [("MISSING_PARAMETER", "name")],
          spec={"B, Posting on behalf of an advertiser": ["PUT /12"]}),
    *(Refusal(f"PUT {PATH}/{key}/name", f"a post is the account's, {key}", 404,
              [("POST_NOT_FOUND", "post_id")], query={"name": "Renamed"},
              spec={"B, Posting on behalf of an advertiser": ["PUT /12"]})
      for key in ("1", "abc", FOREIGN)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """post_type and a name are required; users and posts of others are out of reach."""
    row.check(box)


@pytest.mark.parametrize("path", [PATH, PREVIEWS])
def test_two_hundred_ids(box: Sandbox, path: str) -> None:
    """200 ids are accepted, 201 are not. The refusal names the type that was expected."""
    ids = [str(number) for number in range(1, 202)]
    full, beyond, odd = (
        box.ask("GET", path, post_type="PUBLISHED", post_ids=sent)
        for sent in (",".join(ids[:200]), ",".join(ids), "[12]")
    )

    assert [200, 400] == [full.status_code, beyond.status_code]
    (error,) = odd.get_json()["errors"]
    assert 'Expected Long, got "[12]" for post_ids' == error["message"]


# -- names -------------------------------------------------------------------------------------


@pytest.mark.spec("B, Posting on behalf of an advertiser", "returns the post", "PUT /12")
def test_a_post_is_named(box: Sandbox) -> None:
    """The answer shows the post with its text, in extended form, with what POST leaves out.

    The name stays, and nothing else changed.
    """
    before = box.record("posts", POST)
    response = put(box, f"posts/{POST}/name", name="Renamed")
    record = data_of(response)

    assert {
        "id": int(POST), "id_str": POST, "post_id": POST, "name": "Renamed",
        "conversation_settings": "EVERYONE", "nullcast": True, "post_type": "PUBLISHED",
        "scheduled_at": None, "scheduled_status": None,
        "created_at": "Mon Mar 02 08:00:00 +0000 2026",
        "display_text_range": [0, len(record["full_text"])],
        "in_reply_to_status_id": None, "in_reply_to_status_id_str": None,
    }.items() <= record.items()  # fmt: skip
    assert record["full_text"] == record["text"]
    assert ("harbor_roasters", 41) == (record["user"]["screen_name"], len(record["user"]))
    assert "is_quote_status" not in record
    assert not [name for name in record if name.startswith("_")]
    assert {"account_id": ACCOUNT, "post_id": int(POST), "name": "Renamed"} == echo(response)
    assert before | {"name": "Renamed"} == box.record("posts", POST)


@pytest.mark.spec("B, Posting on behalf of an advertiser", "conversation_settings: not")
def test_the_name_of_a_new_post(box: Sandbox) -> None:
    """A post that was just made can be named, and shows what it was made with."""
    made = make(box, "post", as_user_id=ADVERTISER, text="Hello",
                conversation_settings="MENTIONED_USERS")  # fmt: skip
    named = alter(box, f"posts/{made['id_str']}/name", name="Hello")

    assert {
        "name": "Hello", "full_text": "Hello", "conversation_settings": "MENTIONED_USERS",
        "nullcast": True, "contributors": [2244994945], "user": made["user"],
    }.items() <= named.items()  # fmt: skip


@pytest.mark.spec("B, Posting on behalf of an advertiser", "PUT /12")
@pytest.mark.spec("B, Limits", "Field lengths: post")
@pytest.mark.parametrize(("name", "shown"), [("é" * 80, "é" * 80), ("", None)])
def test_the_longest_name_and_none(box: Sandbox, name: str, shown: str | None) -> None:
    """A name has at most 80 characters; an empty one takes the name away."""
    assert shown == alter(box, f"posts/{POST}/name", name=name)["name"]


# -- previews ----------------------------------------------------------------------------------


class _Frame(HTMLParser):
    """Finds what a frame holds."""

    page = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the page inside the frame."""
        if tag == "iframe":
            self.page = dict(attrs)["srcdoc"] or ""


def look(html: str) -> str:
    """The page in a frame."""
    frame = _Frame()
    frame.feed(html)
    return frame.page


def test_previews(box: Sandbox) -> None:
    """A frame for each id of the type; ids of other types and of others are left out."""
    every = f"{POST},{DRAFT},{WAITING},{OUT},{FOREIGN},5"
    body = box.read(PREVIEWS, post_ids=every, post_type="PUBLISHED")
    drafts = read(box, PREVIEWS, post_ids=every, post_type="DRAFT")
    waiting = read(box, PREVIEWS, post_ids=every, post_type="SCHEDULED")

    assert {"request", "data"} == set(body)
    assert [[POST, FOREIGN], [DRAFT], [WAITING]] == [
        [row["post_id"] for row in rows] for rows in (body["data"], drafts, waiting)
    ]
    assert "<iframe " in drafts[0]["preview"]
    assert "<p>Two roasts, one harbor. Which one is yours?</p>" in look(drafts[0]["preview"])


def test_a_preview_runs_nothing(box: Sandbox) -> None:
    """Text that looks like markup is text in the frame."""
    box.change("draft_posts", DRAFT, text="<script>alert('\"')</script>")
    (row,) = read(box, PREVIEWS, post_ids=DRAFT, post_type="DRAFT")

    assert "<script>" not in look(row["preview"])
    assert "&lt;script&gt;" in look(row["preview"])
