"""The advertising interface on the recorded wire, where programs are taken as they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ACCOUNT, Sandbox, refusal

BASE = f"/12/accounts/{ACCOUNT}"
OWNER = "2244994945"
WIRES = pytest.mark.parametrize("wire", ["spec", "recorded"])


def ask(box: Sandbox, method: str, path: str, wire: str, **more: Any) -> Any:
    """The answer to a request with this wire."""
    return box.call(method, f"{BASE}/{path}", headers={"X-Mock-Wire": wire}, **more)


@WIRES
@pytest.mark.parametrize(("path", "most"), [("campaigns", 1000), ("cards", 200)])
def test_a_count_beyond_the_largest_page(box: Sandbox, path: str, most: int, wire: str) -> None:
    """It is the largest page, with a warning; the documents refuse it."""
    largest = ask(box, "GET", path, wire, query_string={"count": str(most)})
    beyond = ask(box, "GET", path, wire, query_string={"count": str(most + 1)})
    before, last = box.world.journal.find()[-2:]
    if wire == "spec":
        assert refusal(beyond) == (400, [("INVALID_PARAMETER", "count")])
    else:
        assert beyond.get_json() == largest.get_json()
        assert (before.warnings, len(last.warnings)) == ([], 1)


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_other_counts_are_refused_always(box: Sandbox, count: str) -> None:
    """Only what is too large has a meaning."""
    answer = ask(box, "GET", "campaigns", "recorded", query_string={"count": count})

    assert refusal(answer) == (400, [("INVALID_PARAMETER", "count")])


@pytest.mark.usefixtures("noon")
@WIRES
@pytest.mark.parametrize("path", ["post", "draft_posts", "scheduled_posts"])
@pytest.mark.parametrize("place", ["query_string", "form"])
def test_a_post_without_author(box: Sandbox, path: str, place: str, wire: str) -> None:
    """It is that of the FULL promotable user, with a warning; the documents require the author."""
    sent = {"text": "Hello"} | ({"scheduled_at": "2027-01-01T08:00Z"} if "sch" in path else {})
    answer = ask(box, "POST", path, wire, **{place: sent})
    if wire == "spec":
        assert refusal(answer) == (400, [("MISSING_PARAMETER", "as_user_id")])
    else:
        data = answer.get_json()["data"]
        author = data["user"]["id_str"] if path == "post" else data["user_id"]
        assert (author, len(box.world.journal.find()[-1].warnings)) == (OWNER, 1)


def test_an_author_that_was_sent_stays(box: Sandbox) -> None:
    """Another user's grant is needed as ever."""
    sent = {"text": "Hello", "as_user_id": "2790441185"}
    answer = ask(box, "POST", "post", "recorded", form=sent)

    assert refusal(answer) == (403, [("ACTION_NOT_ALLOWED", "as_user_id")])


def test_cards_describe_their_media(box: Sandbox) -> None:
    """Each component with media does; what a program sends back is ignored."""
    plain = ask(box, "GET", "cards", "spec").get_json()["data"]
    cards = ask(box, "GET", "cards", "recorded").get_json()["data"]
    found = {card["card_type"]: card for card in cards}
    image, video = found["IMAGE_WEBSITE"], found["VIDEO_WEBSITE"]
    swiped, slides = (
        found["IMAGE_CAROUSEL_WEBSITE"],
        found["MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE"],
    )
    again = ask(
        box, "PUT", f"cards/{image['id']}", "recorded", json={"components": image["components"]}
    )

    assert "media_metadata" not in str(plain)
    assert image["components"][0]["media_metadata"] == {
        "3_1712850617439550001": {
            "type": "IMAGE",
            "url": "https://assets.harbor-roasters.example/library/cold-brew-banner.jpg",
            "width": 1200,
            "height": 628,
        }
    }
    described = next(iter(video["components"][0]["media_metadata"].values()))
    assert (described["video_duration"], described["video_aspect_ratio"]) == (39973, "16:9")
    assert len(swiped["components"][0]["media_metadata"]) == 3
    assert all("media_metadata" in slide[0] for slide in slides["slides"])
    assert again.headers["X-Mock-Warnings"] == "read-only-key"
    assert again.get_json()["data"]["components"] == image["components"]


def test_media_that_are_gone_are_not_described(box: Sandbox) -> None:
    """The key stays, with nothing of the media."""
    box.change("media_library", "3_1712850617439550001", deleted=True)
    cards = ask(box, "GET", "cards", "recorded").get_json()["data"]

    assert cards[0]["components"][0]["media_metadata"] == {"3_1712850617439550001": {}}
