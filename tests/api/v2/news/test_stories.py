"""News: stories are searched, read by id, and appear as events."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.clock import wire_millis
from tests.api.oauth.app_client import AppClient
from tests.support import HARBOR, body_of
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
        story = {"name": name, "updated_at": wire_millis(self.desk.world.clock.now() - age)}
        answer = self.desk.client.put(f"/_mock/state/news/{number}", json=story)
        assert 2 == answer.status_code // 100, answer.get_json()

    def subscribe(self, keyword: str) -> None:
        """Subscribe the webhook to stories with a keyword."""
        body = {"event_type": "news.new", "filter": {"keyword": keyword}, "webhook_id": WEBHOOK}
        body_of(self.call("POST", "/2/activity/subscriptions", json=body))

    def happen(self, **more: Any) -> Any:
        """Let a story appear; what became of it."""
        body = {"event_type": "news.new"} | more
        return body_of(self.desk.client.post("/_mock/events", json=body), 201)


def test_newest_first(client: Client) -> None:
    """All stories of the time that have the word, newest first; without any there is no data."""
    body = client.search(max_age_hours=720).get_json()
    assert [MARKET, FUTURES] == [story["id"] for story in body["data"]]
    assert {"result_count": 2} == body["meta"]
    assert {"meta": {"result_count": 0}} == client.search("zeppelin").get_json()


def test_fields(client: Client) -> None:
    """Without news.fields a story has all of them but the keywords; else its id and those."""
    (story,) = client.search().get_json()["data"]
    (chosen,) = client.search(**{"news.fields": "keywords,name"}).get_json()["data"]

    assert {
        "category", "cluster_posts_results", "contexts", "disclaimer", "hook", "id",
        "last_updated_at_ms", "name", "summary", "updated_at",
    } == set(story)  # fmt: skip
    assert "2026-11-20T07:00:30.000Z" == story["updated_at"] == story["last_updated_at_ms"]
    name, words = "Waterfront market opens with a coffee mile", ["coffee", "market", "Seattle"]
    assert {"id": MARKET, "name": name, "keywords": words} == chosen


@pytest.mark.parametrize(
    ("query", "found"),
    [("WATERFRONT coffee", [MARKET]), ("waterfront bikes", []), ("overtake", [BIKES]),
     ("cycling", [BIKES]), ("water", []), ("…", [])],
)  # fmt: skip
def test_words(client: Client, query: str, found: list[str]) -> None:
    """Each word of the query must be a word of the story, in any case."""
    assert found == client.ids(query)


def test_number_of_results(client: Client) -> None:
    """Ten stories are returned unless another number is asked for."""
    for number in range(12):
        client.add(number, f"Zeppelin {number}", age=timedelta(minutes=number))

    assert [str(number) for number in range(10)] == client.ids("zeppelin")
    assert 12 == len(client.ids("zeppelin", max_results=100))
    assert ["0", "1"] == client.ids("zeppelin", max_results=2)


@pytest.mark.parametrize(("hours", "query"), [(168, {}), (5, {"max_age_hours": 5})])
def test_age(client: Client, hours: int, query: dict[str, int]) -> None:
    """Stories older than max_age_hours, by default a week, are left out."""
    client.add(1, "Zeppelin", age=timedelta(hours=hours))
    client.add(2, "Zeppelin", age=timedelta(hours=hours, milliseconds=1))
    assert ["1"] == client.ids("zeppelin", **query)


def test_one_story(client: Client) -> None:
    """The story has the same form as in a search; a user may sign."""
    (listed,) = client.search("overtake").get_json()["data"]

    assert listed == client.read(f"/2/news/{BIKES}")["data"]
    chosen = client.read(f"/2/news/{BIKES}?news.fields=category")["data"]
    assert {"id": BIKES, "category": "Politics"} == chosen
    assert 200 == client.call("GET", f"/2/news/{BIKES}", keys=HARBOR).status_code


def test_new_story(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A story that appears is delivered, and read under the id of the event."""
    client.subscribe("returnable cup")
    (outlet,) = client.happen()["outlets"]
    desk.wait()

    (delivered,) = [post.json["data"] for post in receiver.received]
    payload = delivered["payload"]
    assert (WEBHOOK, "news.new") == (outlet["id"], delivered["event_type"])
    assert {"keyword": "returnable cup"} == delivered["filter"]
    assert payload["headline"] == payload["name"]
    story = client.read(f"/2/news/{payload['id']}")["data"]
    assert wire_millis(NOW) == story["updated_at"]
    assert story.items() <= payload.items()
    assert [payload["id"]] == client.ids("returnable")


def test_other_keyword(client: Client) -> None:
    """A story without the keyword is not delivered, and the answer says why; each is another."""
    client.subscribe("zeppelin")
    answers = [client.happen() for _ in range(3)]

    assert [] == answers[0]["outlets"]
    reason = "'zeppelin' is not in what the payload says"
    assert any(reason in text for text in answers[0]["why_not"])
    assert 3 == len({each["activity"]["payload"]["name"] for each in answers})


def test_given_story(client: Client, desk: Desk, receiver: Receiver) -> None:
    """A payload that was given is delivered as it is."""
    client.subscribe("zeppelin")
    payload = {"category": "Travel", "headline": "Zeppelin lands", "hook": "", "summary": ""}
    client.happen(payload=payload)
    desk.wait()

    assert [payload] == [post.json["data"]["payload"] for post in receiver.received]
