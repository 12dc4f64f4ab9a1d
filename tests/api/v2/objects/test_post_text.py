"""How long a text is, and whom it mentions."""

from __future__ import annotations

from html import escape, unescape
from typing import Any

import pytest

from mock_platform.api.v2.objects.post_text import cut_text, find_entities, find_user, weigh_text
from mock_platform.world.clock import parse_instant
from mock_platform.world.ids import find_moment
from tests.support import BEARER, NORTHBIKE, Sandbox, body_of, sandbox


@pytest.mark.parametrize(
    ("text", "weight"),
    [("", 0), ("abc", 3), ("\u00e9", 1), ("e\u0301", 1), ("\u6771\u4eac", 4),
     ("https://a-very-long-address.example/with/a/path?and=query", 23),
     ("see https://a.example.", 28), ("\U0001f600", 2), ("\U0001f1f5\U0001f1f9", 2),
     ("\U0001f468\u200d\U0001f469\u200d\U0001f467", 2), ("\U0001f44d\U0001f3fd", 2),
     ("\u2764\ufe0f", 2), ("\u201cquoted\u201d", 8),
     ("1\ufe0f\u20e3", 2), ("#\u20e3", 2), ("12 #*", 5), ("\u00a9\ufe0f", 2), ("\u00a9", 1),
     ("\U0001f3f4\u200d\u2620\ufe0f", 2), ("\U0001f408\u200d\u2b1b", 2),
     ("\U0001f642\u200d\u2194\ufe0f", 2), ("\U0001f642\u200d\U0001f642", 2)],
)  # fmt: skip
def test_weighted_length(text: str, weight: int) -> None:
    """Addresses count as 23, emoji and wide characters as 2, all others as 1."""
    assert weight == weigh_text(text)


def test_cut_text() -> None:
    """A text is cut where its weight is reached; a shorter one is whole."""
    assert "ab" == cut_text("abc", 2)
    assert "abc" == cut_text("abc", 3)
    assert "\u6771" == cut_text("\u6771\u4eac", 3)


def test_users_are_mentioned_in_any_case() -> None:
    """A mention names the user who has that name; an unknown name is not a mention."""
    world = sandbox().platform.worlds.default
    entities = find_entities(world, "@HARBOR_roasters @harbor @nobody_here #one $TWO")

    assert ["2244994945"] == [mention["id_str"] for mention in entities["user_mentions"]]
    assert ["one"] == [tag["text"] for tag in entities["hashtags"]]
    assert ["TWO"] == [tag["text"] for tag in entities["symbols"]]
    assert find_user(world, "harbor") is None


ADDRESS = "https://www.northbike.example/a/very/long/path?a=1&b=2"
TEXT = f"R&D <beans> @harbor_roasters {ADDRESS} & #new"
ESCAPED = "R&amp;D &lt;beans&gt; @harbor_roasters {} &amp; #new"


def show(box: Sandbox, post_id: str, **headers: str) -> dict[str, Any]:
    """A post with what belongs to its text; every entity is where the text has it."""
    query = "post.fields=entities,display_text_range,note_post"
    answer = box.call("GET", f"/2/posts/{post_id}?{query}", keys=BEARER, headers=headers)
    found = body_of(answer)["data"]
    for name, key in (("hashtags", "tag"), ("mentions", "username"), ("urls", "url")):
        for one in found["entities"].get(name, ()):
            placed = unescape(found["text"][one["start"] : one["end"]])
            assert placed.lstrip("#@") == one[key]
    return dict(found)


def post(box: Sandbox, text: str, **more: Any) -> Any:
    """A new post."""
    return body_of(box.call("POST", "/2/posts", json={"text": text}, **more), 201)["data"]


def test_texts_are_escaped() -> None:
    """Answers have & < > as HTML writes them, searches go by the text that was sent."""
    box = sandbox()
    made = post(box, TEXT)
    box.advance(minutes=1)

    assert ESCAPED.format(ADDRESS.replace("&", "&amp;")) == made["text"]
    shown = show(box, made["id"])
    assert (made["text"], [0, len(made["text"])]) == (shown["text"], shown["display_text_range"])
    assert ADDRESS == shown["entities"]["urls"][0]["url"]
    found = box.read("/2/posts/search/recent", keys=BEARER, query=f'"R&D beans" url:"{ADDRESS}"')
    assert [made["id"]] == [one["id"] for one in found["data"]]


@pytest.mark.parametrize(
    ("names", "start", "pictures"),
    [
        ("neutral", "https://s.example/", "pic.platform.example/"),
        ("original", "https://t.co/", "pic.x.com/"),
    ],
)
def test_short_links_as_recorded(names: str, start: str, pictures: str) -> None:
    """As recorded, links count 23, and a post with media ends in a link to them."""
    box = sandbox()
    headers = {"X-Mock-Wire": "recorded", "X-Mock-Names": names}
    made = post(box, TEXT, headers=headers)
    box.change("posts", made["id"], _media_keys=["3_1712850617439550001", "3_1712850617439560001"])

    shown = show(box, made["id"], **headers)
    link, first, second = shown["entities"]["urls"]
    assert {23} == {len(one["url"]) for one in shown["entities"]["urls"]}
    assert link["url"].startswith(start)
    assert ESCAPED.format(link["url"]) == made["text"]
    assert (ADDRESS, "northbike.example/a/very/long/pa\u2026") == (
        link["expanded_url"], link["display_url"]
    )  # fmt: skip
    assert f"{made['text']} {first['url']}" == shown["text"]
    assert [0, len(made["text"])] == shown["display_text_range"]
    assert first["url"] == second["url"]
    assert first["display_url"].startswith(pictures)
    assert first["expanded_url"].endswith(f"/harbor_roasters/status/{made['id']}/photo/1")
    assert "3_1712850617439560001" == second["media_key"]


def test_a_long_text_is_cut_and_whole() -> None:
    """The beginning of a long text has its entities, note_post has all of them."""
    box = sandbox()
    box.change("users", "2244994945", subscription_type="Premium")
    text = " & ".join(f"#tag{number}" for number in range(60))
    made = post(box, text)

    shown = show(box, made["id"], **{"X-Mock-Wire": "recorded"})
    assert 280 == len(unescape(shown["text"]))
    assert escape(text, quote=False) == shown["note_post"]["text"]
    assert 60 == len(shown["note_post"]["entities"]["hashtags"])
    assert 60 > len(shown["entities"]["hashtags"])


@pytest.mark.parametrize(("size", "status"), [(280, 201), (281, 403)])
def test_names_that_begin_a_reply_do_not_count(size: int, status: int) -> None:
    """A reply may have 280 characters behind the names of those whom it answers."""
    box = sandbox()
    reply = {"in_reply_to_post_id": "1712850617439551489"}
    text = f"@northbike_co @harbor_roasters {'a' * size}"
    box.change("users", "2244994945", subscription_type="None")

    assert status == box.call("POST", "/2/posts", json={"text": text, "reply": reply}).status_code


def test_ids_have_their_time() -> None:
    """The id of a new post is of its moment, also on a clock that went back, and never the same."""
    box = sandbox(freeze=parse_instant("2026-11-20T10:00:00.123Z"))
    found = []
    for number in range(4):
        if number == 2:
            box.advance(days=-400)
        made = post(box, f"No. {number}")
        assert box.world.clock.now() == find_moment(made["id"])
        found.append(int(made["id"]))

    assert found[0] < found[1]
    assert found[2] < found[3] < found[0]


def test_a_repost_is_cut_with_short_links() -> None:
    """As recorded, the text of a repost has the short links of the original, as far as they fit."""
    box = sandbox()
    own = {"post_id": post(box, f"{ADDRESS} & {'a' * 99} #b")["id"]}
    body_of(box.call("POST", "/2/users/3805104374/reposts", keys=NORTHBIKE, json=own))
    found = box.read("/2/users/3805104374/posts", max_results=5)["data"][0]

    shown = show(box, found["id"], **{"X-Mock-Wire": "recorded"})
    assert 140 == len(unescape(shown["text"]))
    assert [ADDRESS] == [one["expanded_url"] for one in shown["entities"]["urls"]]
    assert "hashtags" not in shown["entities"]
