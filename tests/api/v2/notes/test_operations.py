"""Community notes are written, evaluated, listed and deleted by note writers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import messages
from tests.api.v2.posts.support import ids_of
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, body_of, data_of, sandbox
from tests.support_replay import NOW

SETTINGS = {"freeze": NOW, "limits": "off"}
PATH = "/2/notes"
WRITTEN = f"{PATH}/search/notes_written"
ELIGIBLE = f"{PATH}/search/posts_eligible_for_notes"
EVALUATE = "/2/evaluate_note"
OWN, OTHER = "2244994945", "3805104374"
OTHERS_POST = "1712850617439551496"
OWN_POST = "1712850617439551492"
NOTE = "1991204475120123960"
TEXT = "The lane opened in May: https://northbike.example/lanes"
MISLEADING = "misinformed_or_potentially_misleading"
INFO = {
    "text": TEXT, "classification": MISLEADING, "misleading_tags": ["factual_error"],
    "trustworthy_sources": True,
}  # fmt: skip
WHOLE = {"test_mode": True, "post_id": OTHERS_POST, "info": INFO}
TEST = {"test_mode": "true"}


@pytest.fixture
def box(box: Sandbox) -> Sandbox:
    """A sandbox that has one post of each of two users."""
    for entry in box.world.store.page("posts"):
        if entry.key not in {OWN_POST, OTHERS_POST}:
            box.remove("posts", entry.key)
    return box


def write(box: Sandbox, **body: Any) -> TestResponse:
    """Write a note."""
    return box.call("POST", PATH, json=WHOLE | body)


def create(box: Sandbox, **body: Any) -> str:
    """Write a note that must be accepted; its id."""
    return str(data_of(write(box, **body))["id"])


def read(box: Sandbox, path: str = WRITTEN, status: int = 200, **query: Any) -> Any:
    """Read a list, by default of tests."""
    return box.read(path, status=status, **TEST | query)


def evaluate(box: Sandbox, path: str = EVALUATE, keys: Keys = HARBOR, **body: Any) -> TestResponse:
    """Have a text evaluated."""
    whole = {"note_text": TEXT, "post_id": OTHERS_POST} | body
    return box.call("POST", path, json=whole, keys=keys)


def add_post(box: Sandbox, number: int, **fields: Any) -> None:
    """Store a post of the other user."""
    post = box.record("posts", OTHERS_POST) | {"id": number, "id_str": str(number)}
    box.put("posts", str(number), post | fields)


# -- writing and deleting --------------------------------------------------------------------------


def test_a_note(box: Sandbox) -> None:
    """The answer is the note's id alone; it is listed with what it says and how it was tested."""
    data = data_of(write(box))
    fields: Any = {"note.fields": "info,status,test_result,scoring_status"}
    body = read(box, **fields)
    (note,) = body["data"]
    result = note.pop("test_result")

    assert ["id"] == list(data)
    assert [{"id": data["id"], "post_id": OTHERS_POST}] == read(box)["data"]
    assert note == {
        "id": data["id"], "post_id": OTHERS_POST, "info": INFO, "status": "needs_more_ratings",
        "scoring_status": {"has_access": False},
    }  # fmt: skip
    assert "ClaimOpinion" == result["evaluator_type"]
    assert result["evaluator_score_bucket"] in {"Low", "Medium", "High"}
    assert {"result_count": 1} == body["meta"]


@pytest.mark.parametrize(("length", "accepted"), [(280, True), (281, False)])
def test_length(box: Sandbox, length: int, accepted: bool) -> None:
    """A note has at most 280 characters, of which an address counts 23."""
    url = "https://northbike.example/a-very-long-path-to-the-lanes"
    answer = write(box, info=INFO | {"text": "x" * (length - 24) + " " + url})
    assert accepted == (200 == answer.status_code)
    assert accepted or ["info.text must have 1 to 280 characters, got 281"] == messages(answer)


@pytest.mark.parametrize(
    ("classification", "tags", "accepted"),
    [(MISLEADING, ["other"], True), (MISLEADING, [], False), (MISLEADING, ["wrong"], False),
     ("not_misleading", [], True), ("not_misleading", ["other"], False),
     ("misleading", ["other"], False)],
)  # fmt: skip
def test_tags(box: Sandbox, classification: str, tags: list[str], accepted: bool) -> None:
    """Misleading posts have at least one tag, others none."""
    info = INFO | {"classification": classification, "misleading_tags": tags}
    answer = write(box, info=info)
    assert accepted == (200 == answer.status_code)
    assert accepted or 1 == len(messages(answer))


def test_once(box: Sandbox) -> None:
    """A user writes one note for a post in each mode; the modes are separate sets."""
    create(box)
    again = write(box)

    assert ["User already created a note for this post."] == messages(again)
    assert "notes.once" in again.headers["X-Mock-Assumptions"]
    create(box, post_id=OWN_POST)
    assert [NOTE] == ids_of(read(box, test_mode="false"))
    assert 2 == read(box)["meta"]["result_count"]


def test_deleted(box: Sandbox) -> None:
    """A deleted note is gone, and another one can be written."""
    answer = box.call("DELETE", f"{PATH}/{create(box)}")
    assert {"data": {"deleted": True}} == answer.get_json()
    assert {"meta": {"result_count": 0}} == read(box)
    create(box)


post = partial(Refusal, f"POST {PATH}", status=400)
evaluated = partial(Refusal, f"POST {EVALUATE}", status=400)
ADDRESS = "must contain an address"
REFUSED = [
    *(
        post(f"no {name}", messages=[name], json={n: WHOLE[n] for n in WHOLE if n != name})
        for name in WHOLE
    ),
    *(
        post(f"no {name} in info", messages=[name],
             json=WHOLE | {"info": {n: INFO[n] for n in INFO if n != name}})
        for name in INFO
    ),
    post("no address", json=WHOLE | {"info": INFO | {"text": "In May."}}, messages=[ADDRESS]),
    post("no text", json=WHOLE | {"info": INFO | {"text": ""}},
         messages=["1 to 280 characters", ADDRESS]),
    Refusal(f"DELETE {PATH}/{NOTE}", "a note of another user", 403, keys=NORTHBIKE,
            problem="about:blank", text="delete", given={("users", OTHER): {"_note_writer": True}}),
    evaluated("a long text", json={"note_text": "x" * 281, "post_id": OTHERS_POST},
              messages=["1 to 280 characters", ADDRESS]),
    evaluated("no text to evaluate", json={}, messages=["note_text", "post_id"]),
    *(
        Refusal(f"GET {ELIGIBLE}", f"the selection {text}", 400,
                query=TEST | {"post_selection": text},
                messages=["such as 'feed_size: large, feed_lang: en'"])
        for text in ("feed_size: tiny", "size: small", "feed_lang: en, feed_lang: de", "feed_size",
                     "a,b,c")
    ),
    Refusal(f"GET {ELIGIBLE}", "more posts than the cap", 429, query=TEST, problem="usage-capped",
            given={("apps", "11827"): {"_post_cap": 1}}),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


# -- lists -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "name"), [(WRITTEN, "post_id"), (ELIGIBLE, "id")])
def test_pages(box: Sandbox, path: str, name: str) -> None:
    """Pages follow one another by their tokens, newest first, ten to a page."""
    for number in range(1, 13):
        add_post(box, number, created_at=f"2026-11-19T12:00:{number:02}.000Z")
        if path == WRITTEN:
            box.world.clock.advance(1)
            create(box, post_id=str(number))
    first = read(box, path)
    rest = read(box, path, pagination_token=first["meta"]["next_token"])

    assert [str(number) for number in range(12, 2, -1)] == [each[name] for each in first["data"]]
    assert ["2", "1"] == [each[name] for each in rest["data"]][:2]
    assert "next_token" not in rest["meta"]


def test_eligible(box: Sandbox) -> None:
    """Posts of others without a note of the caller are eligible, in each mode by itself."""
    kinds: list[dict[str, Any]] = [
        {"nullcast": True}, {"lang": "de"}, {"lang": "en"}, {"_reposted_post_id": "2"},
        {"_edit_history": ["5", "1789900000000000001"]},
    ]  # fmt: skip
    for number, fields in enumerate(kinds, 1):
        add_post(box, number, **fields)
    before = ids_of(read(box, ELIGIBLE))
    create(box, post_id="3")
    after = read(box, ELIGIBLE)

    assert {OTHERS_POST, "3"} == set(before)
    assert [OTHERS_POST] == ids_of(after)
    meta = {"result_count": 1, "newest_id": OTHERS_POST, "oldest_id": OTHERS_POST}
    assert meta == after["meta"]
    assert ["3"] == ids_of(read(box, ELIGIBLE, test_mode="false"))


@pytest.mark.parametrize(
    ("selection", "found"),
    [("feed_lang: de", {"2"}), ("feed_lang:all", {"2", OTHERS_POST}),
     ("feed_size: xxl, feed_lang: DE", {"2"}), ("feed_size: large", {OTHERS_POST})],
)  # fmt: skip
def test_selection(box: Sandbox, selection: str, found: set[str]) -> None:
    """A language, or all, and the size of the feed can be chosen."""
    add_post(box, 2, lang="de")
    assert found == set(ids_of(read(box, ELIGIBLE, post_selection=selection)))


@pytest.mark.parametrize(("size", "number"), [("small", 100), ("large", 101)])
def test_size_of_a_feed(box: Sandbox, size: str, number: int) -> None:
    """A small feed has the newest 100 posts, a large one more."""
    for each in range(1, 102):
        add_post(box, each, created_at=f"2026-11-19T12:{each // 60:02}:{each % 60:02}.000Z")
    meta = read(box, ELIGIBLE, max_results=100, post_selection=f"feed_size: {size}")["meta"]

    assert ("101", "2") == (meta["newest_id"], meta["oldest_id"])
    assert (number > 100) == ("next_token" in meta)


def test_expansions(box: Sandbox) -> None:
    """The posts have the fields and expansions of other reads, and count as read."""
    fields: Any = {"post.fields": "created_at"}
    body = read(box, ELIGIBLE, expansions="author_id", **fields)

    (post,) = body["data"]
    assert {"id", "text", "edit_history_post_ids", "author_id", "created_at"} == set(post)
    assert [OTHER] == [user["id"] for user in body["includes"]["users"]]
    usage = box.read("/2/usage/posts", keys=BEARER)["data"]["project_usage"]
    assert 412 + 388 + 95 + 1 == usage


# -- evaluation ------------------------------------------------------------------------------------


def score(box: Sandbox, **body: Any) -> float:
    """The score of a text."""
    found: float = data_of(evaluate(box, **body))["claim_opinion_score"]
    return found


def test_score(box: Sandbox) -> None:
    """The score is between 0 and 1, and the same for the same note."""
    scores = [score(box, note_text=text) for text in (TEXT, TEXT, f"{TEXT}.")]
    assert scores[0] == scores[1] != scores[2]
    assert all(isinstance(each, float) and 0 <= each <= 1 for each in scores)


def test_bucket(box: Sandbox) -> None:
    """The result of a test note has the bucket of that score."""
    expected: dict[str, str] = {}
    fields: Any = {"note.fields": "test_result", "max_results": 100}
    for number in map(str, range(1, 8)):
        add_post(box, int(number))
        found = score(box, post_id=number)
        create(box, post_id=number)
        expected[number] = "Low" if found < 1 / 3 else "Medium" if found < 2 / 3 else "High"

    assert expected == {
        note["post_id"]: note["test_result"]["evaluator_score_bucket"]
        for note in read(box, **fields)["data"]
    }


def test_other_path(box: Sandbox) -> None:
    """The path of a later version answers the same."""
    later = "/2/notes/evaluate"
    assert evaluate(box).get_json() == evaluate(box, later).get_json()
    assert 403 == evaluate(box, later, NORTHBIKE).status_code


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [("POST", PATH, {"json": {}}), ("DELETE", f"{PATH}/{NOTE}", {}),
     ("GET", WRITTEN, {"query_string": TEST}), ("GET", ELIGIBLE, {"query_string": TEST}),
     ("POST", EVALUATE, {"json": {}})],
)  # fmt: skip
def test_only_writers(box: Sandbox, method: str, path: str, more: dict[str, Any]) -> None:
    """Users who are no note writers are refused, before anything else is checked."""
    body = body_of(box.call(method, path, keys=NORTHBIKE, **dict(more)), 403)

    text = "User must be an API Note Writer to access this endpoint."
    assert ("about:blank", text) == (body["type"], body["detail"])
    box.change("users", OTHER, _note_writer=True)
    after = box.call(method, path, keys=NORTHBIKE, **dict(more))
    assert 403 != after.status_code or "delete" in after.get_json()["detail"]


@pytest.mark.parametrize(("numbers", "rest"), [((90,), 1), ((90, 90, 70), 1), ((90, 90, 69), 0)])
def test_limits(numbers: tuple[int, ...], rest: int) -> None:
    """A user writes 90 notes in 15 minutes, and 250 a day."""
    box = sandbox(freeze=NOW, limits="public")
    statuses = []
    for number in numbers:
        statuses += [write(box).status_code for _ in range(number)]
        if number != numbers[-1]:
            box.world.clock.advance(900)

    assert 0 == statuses.count(429)
    assert rest == (429 == write(box).status_code)
