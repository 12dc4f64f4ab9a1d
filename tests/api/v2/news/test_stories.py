"""News: stories are searched, read by id, and appear as events."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.clock import wire_millis
from tests.api.oauth.app_client import AppClient, messages
from tests.support import HARBOR
from tests.support_receiver import Receiver
from tests.support_replay import NOW, WEBHOOK, Desk

SEARCH = "/2/news/search"
pytestmark = pytest.mark.usefixtures("receiver")
MARKET, BIKES, FUTURES = "1991204475120123904", "1991204475120123905", "1991204475120123906"


class Client(AppClient):
    """Calls the endpoints of news as one app."""

    path = SEARCH

    def search(self, query: str = "coffee", **more: Any) -> TestResponse:
        """Search for stories."""
        return self.call("GET", SEARCH, query_string={"query": query} | more)

    def ids(self, query: str, **more: Any) -> list[str]:
        """The ids that a search finds."""
        return [story["id"] for story in self.search(query, **more).get_json().get("data", [])]

    def add(self, number: int, name: str, *, age: timedelta = timedelta()) -> None:
        """Store a story whose last change was so long ago."""
        moment = wire_millis(self.desk.world.clock.now() - age)
        answer = self.desk.client.put(
            f"/_mock/state/news/{number}", json={"name": name, "updated_at": moment}
        )
        assert 2 == answer.status_code // 100, answer.get_json()


class TestSearch:
    """Stories are found by their words."""

    def test_newest_first(self, client: Client) -> None:
        """All stories of the time that have the word, newest first."""
        body = client.search(max_age_hours=720).get_json()

        assert [MARKET, FUTURES] == [story["id"] for story in body["data"]]
        assert {"result_count": 2} == body["meta"]

    def test_usual_fields(self, client: Client) -> None:
        """Without news.fields a story has all of them but the keywords."""
        (story,) = client.search().get_json()["data"]

        assert {
            "category", "cluster_posts_results", "contexts", "disclaimer", "hook", "id",
            "last_updated_at_ms", "name", "summary", "updated_at",
        } == set(story)  # fmt: skip
        assert "2026-11-20T07:00:30.000Z" == story["updated_at"] == story["last_updated_at_ms"]

    def test_chosen_fields(self, client: Client) -> None:
        """With news.fields a story has its id and what was asked for."""
        (story,) = client.search(**{"news.fields": "keywords,name"}).get_json()["data"]

        assert {
            "id": MARKET,
            "name": "Waterfront market opens with a coffee mile",
            "keywords": ["coffee", "market", "Seattle"],
        } == story

    def test_unknown_field(self, client: Client) -> None:
        """An unknown field is refused."""
        assert 1 == len(messages(client.search(**{"news.fields": "headline"})))

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("WATERFRONT coffee", [MARKET]),
            ("waterfront bikes", []),
            ("overtake", [BIKES]),
            ("cycling", [BIKES]),
            ("water", []),
            ("…", []),
        ],
    )
    def test_words(self, client: Client, query: str, found: list[str]) -> None:
        """Each word of the query must be a word of the story, in any case."""
        assert found == client.ids(query)

    def test_nothing_found(self, client: Client) -> None:
        """A list without stories has no data."""
        assert {"meta": {"result_count": 0}} == client.search("zeppelin").get_json()

    def test_query_is_required(self, client: Client) -> None:
        """A search needs a query."""
        assert 1 == len(messages(client.call("GET", SEARCH)))

    @pytest.mark.parametrize(
        ("length", "accepted"), [(0, False), (1, True), (2048, True), (2049, False)]
    )
    def test_length_of_the_query(self, client: Client, length: int, accepted: bool) -> None:
        """A query has 1 to 2,048 characters."""
        assert accepted == (client.search("x" * length).status_code == 200)

    def test_number_of_results(self, client: Client) -> None:
        """Ten stories are returned unless another number is asked for."""
        for number in range(12):
            client.add(number, f"Zeppelin {number}", age=timedelta(minutes=number))

        assert [str(number) for number in range(10)] == client.ids("zeppelin")
        assert 12 == len(client.ids("zeppelin", max_results=100))
        assert ["0", "1"] == client.ids("zeppelin", max_results=2)

    @pytest.mark.parametrize(("hours", "query"), [(168, {}), (5, {"max_age_hours": 5})])
    def test_age(self, client: Client, hours: int, query: dict[str, int]) -> None:
        """Stories older than max_age_hours, by default a week, are left out."""
        client.add(1, "Zeppelin", age=timedelta(hours=hours))
        client.add(2, "Zeppelin", age=timedelta(hours=hours, milliseconds=1))

        assert ["1"] == client.ids("zeppelin", **query)


class TestGet:
    """A story is read by its id."""

    def test_story(self, client: Client) -> None:
        """The story has the same form as in a search."""
        (listed,) = client.search("overtake").get_json()["data"]

        assert {"data": listed} == client.call("GET", f"/2/news/{BIKES}").get_json()
        assert {"data": {"id": BIKES, "category": "Politics"}} == client.call(
            "GET", f"/2/news/{BIKES}?news.fields=category"
        ).get_json()

    def test_user_signature(self, client: Client) -> None:
        """Unlike the search, it takes the signature of a user."""
        assert 200 == client.call("GET", f"/2/news/{BIKES}", keys=HARBOR).status_code

    def test_unknown(self, client: Client) -> None:
        """An unknown id is named in the refusal."""
        answer = client.call("GET", "/2/news/7")

        assert 404 == answer.status_code
        body = answer.get_json()
        assert body["type"].endswith("/resource-not-found")
        assert ("id", "7") == (body["parameter"], body["value"])
        assert "Could not find news with id: [7]." == body["detail"]


class TestEvents:
    """A new story reaches those who follow its words."""

    def subscribe(self, client: Client, keyword: str) -> None:
        """Subscribe the webhook to stories with a keyword."""
        body = {
            "event_type": "news.new",
            "filter": {"keyword": keyword},
            "webhook_id": WEBHOOK,
        }
        assert 200 == client.call("POST", "/2/activity/subscriptions", json=body).status_code

    def test_new_story(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """A story that appears is delivered, and read under the id of the event."""
        self.subscribe(client, "returnable cup")
        answer = desk.client.post("/_mock/events", json={"event_type": "news.new"}).get_json()
        desk.wait()

        (outlet,) = answer["outlets"]
        assert WEBHOOK == outlet["id"]
        (delivered,) = [post.json["data"] for post in receiver.received]
        payload = delivered["payload"]
        assert "news.new" == delivered["event_type"]
        assert {"keyword": "returnable cup"} == delivered["filter"]
        assert payload["headline"] == payload["name"]
        story = client.call("GET", f"/2/news/{payload['id']}").get_json()["data"]
        assert wire_millis(NOW) == story["updated_at"]
        assert story.items() <= payload.items()
        assert [payload["id"]] == client.ids("returnable")

    def test_other_keyword(self, client: Client, desk: Desk) -> None:
        """A story without the keyword is not delivered, and the answer says why."""
        self.subscribe(client, "zeppelin")

        answer = desk.client.post("/_mock/events", json={"event_type": "news.new"}).get_json()

        assert [] == answer["outlets"]
        assert any("'zeppelin' is not in the payload" in text for text in answer["why_not"])

    def test_stories_differ(self, client: Client, desk: Desk) -> None:
        """Each new story is another one."""
        names = set()
        for _ in range(3):
            event = desk.client.post("/_mock/events", json={"event_type": "news.new"})
            names.add(event.get_json()["activity"]["payload"]["name"])

        assert 3 == len(names)

    def test_given_story(self, client: Client, desk: Desk, receiver: Receiver) -> None:
        """A payload that was given is delivered as it is."""
        self.subscribe(client, "zeppelin")
        payload = {"category": "Travel", "headline": "Zeppelin lands", "hook": "", "summary": ""}

        desk.client.post("/_mock/events", json={"event_type": "news.new", "payload": payload})
        desk.wait()

        assert [payload] == [post.json["data"]["payload"] for post in receiver.received]
