"""Community notes are written, evaluated, listed and deleted by note writers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient, messages
from tests.support import HARBOR, NORTHBIKE, Keys
from tests.support_replay import Desk

PATH = "/2/notes"
WRITTEN = f"{PATH}/search/notes_written?test_mode=true"
ELIGIBLE = f"{PATH}/search/posts_eligible_for_notes?test_mode=true"
EVALUATE = "/2/evaluate_note"
OTHERS_POST = "1712850617439551496"
OWN_POST = "1712850617439551492"
TEXT = "The lane opened in May: https://northbike.example/lanes"
INFO = {
    "text": TEXT,
    "classification": "misinformed_or_potentially_misleading",
    "misleading_tags": ["factual_error"],
    "trustworthy_sources": True,
}
SETTINGS = {"limits": "off"}


class Client(AppClient):
    """Calls the endpoints of notes as a user."""

    path = PATH

    def send(self, method: str, path: str, keys: Keys | None = HARBOR, **more: Any) -> TestResponse:
        """Send a request that a user signed."""
        return self.call(method, path, keys=keys, **more)

    def write(self, keys: Keys = HARBOR, **body: Any) -> TestResponse:
        """Write a note."""
        whole = {"test_mode": True, "post_id": OTHERS_POST, "info": INFO} | body
        return self.send("POST", PATH, keys, json=whole)

    def write_info(self, **info: Any) -> TestResponse:
        """Write a note that says something else."""
        return self.write(info=INFO | info)

    def create(self, **body: Any) -> str:
        """Write a note that must be accepted; its id."""
        answer = self.write(**body)
        assert 200 == answer.status_code, answer.get_json()
        note_id: str = answer.get_json()["data"]["id"]
        return note_id

    def read(self, path: str, keys: Keys = HARBOR) -> dict[str, Any]:
        """Read a list."""
        answer = self.send("GET", path, keys)
        assert 200 == answer.status_code, answer.get_json()
        body: dict[str, Any] = answer.get_json()
        return body

    def evaluate(self, path: str = EVALUATE, **body: Any) -> TestResponse:
        """Have a text evaluated."""
        whole = {"note_text": TEXT, "post_id": OTHERS_POST} | body
        return self.send("POST", path, json=whole)

    def add_post(self, number: int, **fields: Any) -> None:
        """Store a post of the other user."""
        post = self.desk.record("posts", OTHERS_POST) | {"id": number, "id_str": str(number)}
        self.desk.put("posts", str(number), post | fields)


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A sandbox that has one post of each of two users."""
    for entry in desk.world.store.page("posts"):
        if entry.key not in {OWN_POST, OTHERS_POST}:
            desk.remove("posts", entry.key)
    return desk


class TestWrite:
    """Notes are written."""

    def test_answer(self, client: Client) -> None:
        """The answer is the note's id alone."""
        answer = client.write()

        assert 200 == answer.status_code
        assert {"data": {"id": answer.get_json()["data"]["id"]}} == answer.get_json()

    def test_what_is_listed(self, client: Client) -> None:
        """The note is listed with what it says and how it was tested."""
        note_id = client.create()

        body = client.read(f"{WRITTEN}&note.fields=info,status,test_result,scoring_status")
        (note,) = body["data"]
        result = note.pop("test_result")
        assert {
            "id": note_id,
            "post_id": OTHERS_POST,
            "info": INFO,
            "status": "needs_more_ratings",
            "scoring_status": {"has_access": False},
        } == note
        assert "ClaimOpinion" == result["evaluator_type"]
        assert result["evaluator_score_bucket"] in {"Low", "Medium", "High"}
        assert {"result_count": 1} == body["meta"]

    @pytest.mark.parametrize("name", ["test_mode", "post_id", "info"])
    def test_required(self, client: Client, name: str) -> None:
        """Mode, post and content are required."""
        body = {"test_mode": True, "post_id": OTHERS_POST, "info": INFO}
        del body[name]

        assert 1 == len(messages(client.send("POST", PATH, json=body)))

    @pytest.mark.parametrize(
        "name", ["text", "classification", "misleading_tags", "trustworthy_sources"]
    )
    def test_required_in_info(self, client: Client, name: str) -> None:
        """Everything but is_media_note is required in info."""
        info = {key: value for key, value in INFO.items() if key != name}

        (message,) = messages(client.write(info=info))

        assert name in message

    @pytest.mark.parametrize(("length", "accepted"), [(280, True), (281, False)])
    def test_length(self, client: Client, length: int, accepted: bool) -> None:
        """A note has at most 280 characters, of which an address counts 23."""
        url = "https://northbike.example/a-very-long-path-to-the-lanes"

        answer = client.write_info(text="x" * (length - 24) + " " + url)

        assert accepted == (200 == answer.status_code)
        if not accepted:
            assert ["info.text must have 1 to 280 characters, got 281"] == messages(answer)

    def test_address(self, client: Client) -> None:
        """A note needs an address."""
        (message,) = messages(client.write_info(text="Opened in May."))

        assert "must contain an address" in message
        assert 2 == len(messages(client.write_info(text="")))

    @pytest.mark.parametrize(
        ("classification", "tags", "accepted"),
        [
            ("misinformed_or_potentially_misleading", ["other"], True),
            ("misinformed_or_potentially_misleading", [], False),
            ("misinformed_or_potentially_misleading", ["wrong"], False),
            ("not_misleading", [], True),
            ("not_misleading", ["other"], False),
            ("misleading", ["other"], False),
        ],
    )
    def test_tags(
        self, client: Client, classification: str, tags: list[str], accepted: bool
    ) -> None:
        """Misleading posts have at least one tag, others none."""
        answer = client.write_info(classification=classification, misleading_tags=tags)

        assert accepted == (200 == answer.status_code)
        assert accepted or 1 == len(messages(answer))

    def test_unknown_post(self, client: Client) -> None:
        """A note is about a post that exists."""
        assert ["post_id: no post has the id 7"] == messages(client.write(post_id="7"))

    def test_once(self, client: Client) -> None:
        """A user writes one note for a post in each mode."""
        client.create()
        again = client.write()

        assert ["User already created a note for this post."] == messages(again)
        assert "notes.once" in again.headers["X-Mock-Assumptions"]
        assert 200 == client.write(post_id=OWN_POST).status_code

    def test_modes(self, client: Client) -> None:
        """Test notes and real notes are separate sets."""
        client.create()
        shipped = client.read(WRITTEN.replace("true", "false"))["data"]

        assert ["1991204475120123960"] == [note["id"] for note in shipped]
        assert 1 == client.read(WRITTEN)["meta"]["result_count"]


class TestDelete:
    """Notes are deleted."""

    def test_deleted(self, client: Client) -> None:
        """A deleted note is gone, and another one can be written."""
        note_id = client.create()

        answer = client.send("DELETE", f"{PATH}/{note_id}")

        assert {"data": {"deleted": True}} == answer.get_json()
        assert {"meta": {"result_count": 0}} == client.read(WRITTEN)
        client.create()

    def test_unknown(self, client: Client) -> None:
        """An unknown note is not found."""
        answer = client.send("DELETE", f"{PATH}/7")

        assert 404 == answer.status_code
        assert "Could not find note with id: [7]." == answer.get_json()["detail"]

    def test_of_another_user(self, client: Client) -> None:
        """A note of another user cannot be deleted."""
        note_id = client.create()
        make_writer(client.desk)

        answer = client.send("DELETE", f"{PATH}/{note_id}", NORTHBIKE)

        assert 403 == answer.status_code
        assert 1 == client.read(WRITTEN)["meta"]["result_count"]


def make_writer(desk: Desk) -> None:
    """Make the other user a note writer."""
    desk.client.patch("/_mock/state/users/3805104374", json={"_note_writer": True})


class TestLists:
    """The caller's notes, and the posts that have none, are listed."""

    def test_usual_fields(self, client: Client) -> None:
        """Without note.fields a note has its id and its post."""
        note_id = client.create()

        assert [{"id": note_id, "post_id": OTHERS_POST}] == client.read(WRITTEN)["data"]

    @pytest.mark.parametrize("path", [WRITTEN, ELIGIBLE])
    def test_numbers(self, client: Client, path: str) -> None:
        """A page has 1 to 100 entries."""
        statuses = [
            client.send("GET", f"{path}&max_results={number}").status_code
            for number in (0, 1, 100, 101)
        ]

        assert [400, 200, 200, 400] == statuses

    @pytest.mark.parametrize("path", [WRITTEN, ELIGIBLE])
    def test_mode_is_required(self, client: Client, path: str) -> None:
        """The mode must be named."""
        assert ["field is required"] == messages(client.send("GET", path.partition("?")[0]))

    @pytest.mark.parametrize("path", [WRITTEN, ELIGIBLE])
    def test_pages(self, client: Client, path: str) -> None:
        """Pages follow one another by their tokens, newest first, ten to a page."""
        for number in range(1, 13):
            created = f"2026-11-19T12:00:{number:02}.000Z"
            client.add_post(number, created_at=created)
            if path == WRITTEN:
                client.desk.world.clock.advance(1)
                client.create(post_id=str(number))

        first = client.read(path)
        rest = client.read(f"{path}&pagination_token={first['meta']['next_token']}")

        name = "post_id" if path == WRITTEN else "id"
        assert [str(number) for number in range(12, 2, -1)] == [
            entry[name] for entry in first["data"]
        ]
        assert ["2", "1"] == [entry[name] for entry in rest["data"]][:2]
        assert "next_token" not in rest["meta"]

    def test_eligible(self, client: Client) -> None:
        """Posts of others without a note of the caller are eligible, in each mode by itself."""
        client.add_post(1, nullcast=True)
        client.add_post(2, lang="de")
        client.add_post(3, lang="en")

        before = [post["id"] for post in client.read(ELIGIBLE)["data"]]
        client.create(post_id="3")
        after = client.read(ELIGIBLE)

        assert {OTHERS_POST, "3"} == set(before)
        assert [OTHERS_POST] == [post["id"] for post in after["data"]]
        assert {"result_count": 1, "newest_id": OTHERS_POST, "oldest_id": OTHERS_POST} == (
            after["meta"]
        )
        real = client.read(ELIGIBLE.replace("true", "false"))
        assert ["3"] == [post["id"] for post in real["data"]]

    @pytest.mark.parametrize(
        ("selection", "found"),
        [
            ("feed_lang: de", {"2"}),
            ("feed_lang:all", {"2", OTHERS_POST}),
            ("feed_size: xxl, feed_lang: DE", {"2"}),
            ("feed_size: large", {OTHERS_POST}),
        ],
    )
    def test_selection(self, client: Client, selection: str, found: set[str]) -> None:
        """A language, or all, and the size of the feed can be chosen."""
        client.add_post(2, lang="de")

        query = {"test_mode": "true", "post_selection": selection}
        path = ELIGIBLE.partition("?")[0]

        assert found == {post["id"] for post in read_signed(client, path, query)["data"]}

    @pytest.mark.parametrize(
        "selection",
        ["feed_size: tiny", "size: small", "feed_lang: en, feed_lang: de", "feed_size", "a,b,c"],
    )
    def test_bad_selection(self, client: Client, selection: str) -> None:
        """Anything else is refused with an example."""
        query = {"test_mode": "true", "post_selection": selection}

        (message,) = messages(ask_signed(client, ELIGIBLE.partition("?")[0], query))

        assert "such as 'feed_size: large, feed_lang: en'" in message

    @pytest.mark.parametrize(("size", "number"), [("small", 100), ("large", 101)])
    def test_size_of_a_feed(self, client: Client, size: str, number: int) -> None:
        """A small feed has the newest 100 posts, a large one more."""
        for each in range(1, 102):
            client.add_post(each, created_at=f"2026-11-19T12:{each // 60:02}:{each % 60:02}.000Z")
        path, query = ELIGIBLE.partition("?")[0], {
            "test_mode": "true", "max_results": "100", "post_selection": f"feed_size: {size}"
        }  # fmt: skip

        page = ask_signed(client, path, query).get_json()

        assert ("101", "2") == (page["meta"]["newest_id"], page["meta"]["oldest_id"])
        assert (number > 100) == ("next_token" in page["meta"])

    def test_expansions(self, client: Client) -> None:
        """The posts have the fields and expansions of other reads, and count as read."""
        body = client.read(f"{ELIGIBLE}&expansions=author_id&post.fields=created_at")

        (post,) = body["data"]
        assert {"id", "text", "edit_history_post_ids", "author_id", "created_at"} == set(post)
        assert ["3805104374"] == [user["id"] for user in body["includes"]["users"]]
        usage = client.call("GET", "/2/usage/posts").get_json()["data"]["project_usage"]
        assert 412 + 388 + 95 + 1 == usage

    def test_capped(self, client: Client) -> None:
        """Beyond the monthly cap no posts are listed."""
        client.desk.client.patch("/_mock/state/apps/11827", json={"_post_cap": 1})

        answer = client.send("GET", ELIGIBLE)

        assert 429 == answer.status_code
        assert answer.get_json()["type"].endswith("/usage-capped")


def ask_signed(client: Client, path: str, query: dict[str, str]) -> TestResponse:
    """Send a signed request with a query whose values need encoding."""
    encoded = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return client.send("GET", f"{path}?{encoded}")


def read_signed(client: Client, path: str, query: dict[str, str]) -> dict[str, Any]:
    """Read a list with such a query."""
    answer = ask_signed(client, path, query)
    assert 200 == answer.status_code, answer.get_json()
    body: dict[str, Any] = answer.get_json()
    return body


class TestEvaluate:
    """The text of a note is evaluated before it is written."""

    def test_score(self, client: Client) -> None:
        """The score is between 0 and 1, and the same for the same note."""
        scores = [
            client.evaluate(note_text=text).get_json()["data"]["claim_opinion_score"]
            for text in (TEXT, TEXT, f"{TEXT}.")
        ]

        assert scores[0] == scores[1] != scores[2]
        assert all(isinstance(score, float) and 0 <= score <= 1 for score in scores)

    def test_bucket(self, client: Client) -> None:
        """The result of a test note has the bucket of that score."""
        for number in range(1, 8):
            client.add_post(number)
            score = client.evaluate(post_id=str(number)).get_json()["data"]["claim_opinion_score"]
            client.create(post_id=str(number))
            path = f"{WRITTEN}&note.fields=test_result&max_results=100"
            (result,) = [
                note["test_result"]
                for note in client.read(path)["data"]
                if note["post_id"] == str(number)
            ]
            bucket = "Low" if score < 1 / 3 else "Medium" if score < 2 / 3 else "High"
            assert bucket == result["evaluator_score_bucket"]

    def test_other_path(self, client: Client) -> None:
        """The path of a later version answers the same."""
        assert client.evaluate().get_json() == client.evaluate("/2/notes/evaluate").get_json()
        client.desk.change("users", "2244994945", _note_writer=False)
        assert 403 == client.evaluate("/2/notes/evaluate").status_code

    def test_faults(self, client: Client) -> None:
        """Text and post are checked as those of a note."""
        assert 2 == len(messages(client.evaluate(note_text="x" * 281)))
        assert ["post_id: no post has the id 7"] == messages(client.evaluate(post_id="7"))
        assert 2 == len(messages(client.send("POST", EVALUATE, json={})))


CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", PATH, {"json": {}}),
    ("DELETE", f"{PATH}/1991204475120123960", {}),
    ("GET", WRITTEN, {}),
    ("GET", ELIGIBLE, {}),
    ("POST", EVALUATE, {"json": {}}),
]


@pytest.mark.parametrize(("method", "path", "more"), CALLS)
def test_only_writers(client: Client, method: str, path: str, more: dict[str, Any]) -> None:
    """Users who are no note writers are refused, before anything else is checked."""
    answer = client.send(method, path, NORTHBIKE, **more)

    assert 403 == answer.status_code
    body = answer.get_json()
    assert "about:blank" == body["type"]
    assert "User must be an API Note Writer to access this endpoint." == body["detail"]
    make_writer(client.desk)
    after = client.send(method, path, NORTHBIKE, **more)
    assert 403 != after.status_code or "delete" in after.get_json()["detail"]


@pytest.mark.parametrize(("numbers", "rest"), [((90,), 1), ((90, 90, 70), 1), ((90, 90, 69), 0)])
def test_limits(numbers: tuple[int, ...], rest: int) -> None:
    """A user writes 90 notes in 15 minutes, and 250 a day."""
    with Desk(limits="public") as desk:
        client = Client(desk)
        statuses = []
        for number in numbers:
            statuses += [client.write().status_code for _ in range(number)]
            if number != numbers[-1]:
                desk.world.clock.advance(900)
        last = client.write().status_code

    assert 0 == statuses.count(429)
    assert rest == (429 == last)
