"""The activity stream: what an app gets, from when, and who may have it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from mock_platform import MockPlatform
from mock_platform.api.v2.activity import activities
from mock_platform.api.v2.usage.counting import count_month
from tests.api.oauth.app_client import messages
from tests.support import body_of
from tests.support_replay import NOW, WEBHOOK, Desk
from tests.support_streams import (
    KEEP_ALIVE,
    OTHER_USER,
    USER,
    StreamClient,
    clear_subscriptions,
)

Client = StreamClient
EMPTY = ("activity_subscriptions",)
SETTINGS = {"stream_keepalive": 0.001}


def texts(*lines: dict[str, Any]) -> list[str]:
    """The new texts of events about a bio."""
    return [line["data"]["payload"]["after"] for line in lines]


def bio(after: str) -> dict[str, str]:
    """The payload of an event about a bio."""
    return {"before": "Coffee.", "after": after}


class TestLine:
    """A line is the event in the envelope that webhooks get."""

    def test_whole(self, client: StreamClient) -> None:
        """It has the subscription's filter and tag, and ends with CR LF."""
        client.subscribe(tag="bios")
        lines = client.open()
        happened = client.emit(payload=bio("Tea."))["activity"]

        assert lines.next()["data"] == {
            "event_uuid": happened["event_uuid"], "filter": {"user_id": USER},
            "event_type": "profile.update.bio", "tag": "bios", "payload": bio("Tea."),
        }  # fmt: skip

    def test_includes(self, client: StreamClient) -> None:
        """What an event includes is in the line; without tag and includes neither key is there."""
        client.subscribe()
        lines = client.open()
        client.emit()
        client.emit(includes={"users": [{"id": USER}]})

        assert ["event_uuid", "filter", "event_type", "payload"] == list(lines.next()["data"])
        assert {"users": [{"id": USER}]} == lines.next()["data"]["includes"]

    def test_head(self, client: StreamClient) -> None:
        """The answer is JSON of unknown length; in silence a keep-alive comes at once and again."""
        lines = client.open()
        assert "application/json; charset=utf-8" == lines.answer.headers["Content-Type"]
        assert "Content-Length" not in lines.answer.headers
        assert [KEEP_ALIVE] * 3 == [lines.next_piece() for _ in range(3)]

    def test_no_keep_alives(self) -> None:
        """With --stream-keepalive 0 only the first one comes, and then what happens."""
        with Desk(stream_keepalive=0) as desk:
            clear_subscriptions(desk)
            client = StreamClient(desk)
            client.subscribe()
            lines = client.open()
            assert lines.next_piece() == KEEP_ALIVE
            client.emit()
            assert lines.next_piece().startswith(b'{"data"')

    def test_two_subscriptions(self, client: StreamClient) -> None:
        """An event that matches two subscriptions makes a line for each, with one event_uuid."""
        client.subscribe(tag="one")
        client.subscribe(filter={"user_id": USER, "keyword": "tea"}, tag="two")
        lines = client.open()
        client.emit(payload=bio("Tea."))
        first, second = lines.next()["data"], lines.next()["data"]

        assert {"one", "two"} == {first["tag"], second["tag"]}
        assert first["event_uuid"] == second["event_uuid"]

    def test_order(self, client: StreamClient) -> None:
        """Lines come in the order of what happened."""
        client.subscribe()
        lines = client.open()
        for number in range(20):
            client.emit(payload=bio(str(number)))

        assert [str(n) for n in range(20)] == texts(*(lines.next() for _ in range(20)))

    def test_beside_a_webhook(self, client: StreamClient) -> None:
        """A subscription with a webhook sends its events to both, under one event_uuid."""
        client.subscribe(webhook_id=WEBHOOK)
        lines = client.open()
        answer = client.emit()

        kinds = [outlet["kind"] for outlet in answer["outlets"]]
        assert ["webhook", "stream"] == kinds
        event = client.desk.record("events", answer["outlets"][0]["event_id"])
        assert event["_event_uuid"] == lines.next()["data"]["event_uuid"]


class TestWho:
    """Who gets what."""

    def test_other_user(self, client: StreamClient) -> None:
        """What happens to others does not come."""
        client.subscribe()
        lines = client.open()
        client.emit(user_id=OTHER_USER, payload=bio("theirs"))
        client.emit(payload=bio("ours"))

        assert ["ours"] == texts(lines.next())

    def test_other_app(self, client: StreamClient) -> None:
        """A subscription of another app makes no line."""
        client.desk.change("activity_subscriptions", client.subscribe(), _app_id="20993")
        lines = client.open()
        answer = client.emit()
        client.subscribe()
        client.emit(payload=bio("ours"))

        assert [] == answer["outlets"]
        assert "app 20993 has no open activity stream" in answer["why_not"][0]
        assert ["ours"] == texts(lines.next())

    def test_subscription_that_ended(self, client: StreamClient) -> None:
        """A line shows what matched when it happened: a later delete takes nothing back."""
        subscription = client.subscribe()
        lines = client.open()
        client.emit(payload=bio("before"))
        client.call("DELETE", f"/2/activity/subscriptions/{subscription}")
        client.emit(payload=bio("after"))
        client.subscribe()
        client.emit(payload=bio("again"))

        assert ["before", "again"] == texts(lines.next(), lines.next())


def test_no_date() -> None:
    """The release history dates types of events, not the endpoint."""
    with Desk(freeze=datetime(2026, 2, 18, tzinfo=UTC)) as desk:
        StreamClient(desk).open().close()


class TestSlots:
    """How many connections an app may have."""

    def test_third(self, client: StreamClient) -> None:
        """Two are open and get every line, and a third is refused."""
        client.subscribe()
        both = client.open(), client.open()
        body = body_of(client.call("GET"), 429)
        client.emit(payload=bio("Tea."))

        assert {
            "type": "http://localhost/2/problems/streaming-connection", "status": 429,
            "title": "ConnectionException", "connection_issue": "TooManyConnections",
            "detail": "This stream is currently at the maximum allowed connection limit.",
        } == body  # fmt: skip
        assert ["Tea.", "Tea."] == texts(*(lines.next() for lines in both))

    def test_client_that_left(self, client: StreamClient) -> None:
        """A client that leaves frees its slot."""
        client.open()
        client.open().close()

        client.open()
        assert [None, "client_disconnect", None] == [
            record.get("disconnect_reason") for record in client.connections()
        ]

    def test_setting(self) -> None:
        """--stream-connections sets another number."""
        with Desk(stream_connections=5) as desk:
            client = StreamClient(desk)
            opened = [client.open() for _ in range(5)]
            client.read(status=429)
            assert 5 == len(opened)

    def test_head(self, client: StreamClient) -> None:
        """HEAD answers without opening anything that stays."""
        assert [200] * 3 == [client.call("HEAD").status_code for _ in range(3)]


class TestBackfill:
    """A stream may begin in the past."""

    def test_last_minutes(self, client: StreamClient) -> None:
        """What matched in the last minutes comes first, oldest first, if it is asked for."""
        client.subscribe()
        for minutes in (4, 2, 6, 5):
            moment = NOW - timedelta(minutes=minutes)
            client.emit(payload=bio(str(minutes)), created_at=moment.isoformat())
        without, lines = client.open(), client.open("?backfill_minutes=5")
        client.emit(payload=bio("now"))

        assert ["5", "4", "2", "now"] == texts(*(lines.next() for _ in range(4)))
        assert ["now"] == texts(without.next())

    def test_repeats(self, client: StreamClient) -> None:
        """What an earlier stream delivered comes once more."""
        client.subscribe()
        lines = client.open()
        client.emit(payload=bio("once"))
        lines.next()
        lines.close()

        assert ["once"] == texts(client.open("?backfill_minutes=1").next())


def window(start: timedelta, end: timedelta | None = None) -> str:
    """The query for a window that begins and ends so long before now."""
    query = f"?start_time={NOW - start:%Y-%m-%dT%H:%M:%SZ}"
    return query if end is None else f"{query}&end_time={NOW - end:%Y-%m-%dT%H:%M:%SZ}"


class TestRecovery:
    """A window of the past is streamed, and then the stream ends."""

    def test_window(self, client: StreamClient) -> None:
        """The first moment belongs to it, the last one does not."""
        client.subscribe()
        for minutes in (61, 60, 45, 30, 29):
            moment = NOW - timedelta(minutes=minutes)
            client.emit(payload=bio(str(minutes)), created_at=moment.isoformat())
        lines = client.open(window(timedelta(minutes=60), timedelta(minutes=30)))

        assert ["60", "45"] == texts(*lines.rest())
        assert "recovery_complete" == client.connections()[-1]["disconnect_reason"]

    def test_until_now(self, client: StreamClient) -> None:
        """Without an end it runs to now, and does not get what happens later."""
        client.subscribe()
        client.emit(payload=bio("past"))
        lines = client.open(window(timedelta(hours=1)))
        client.emit(payload=bio("later"))

        assert ["past"] == texts(*lines.rest())

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            (window(timedelta(hours=24)), None),
            (window(timedelta(hours=24, seconds=1)), "start_time must be at most 24 hours before"),
            (window(timedelta(0)), None),
            (window(-timedelta(seconds=1)), "start_time must not be in the future"),
            (window(timedelta(hours=1), timedelta(0)), None),
            (window(timedelta(hours=1), -timedelta(seconds=1)), "end_time must not be in the fut"),
            (window(timedelta(hours=1), timedelta(minutes=59, seconds=59)), None),
            (window(timedelta(hours=1), timedelta(hours=1)), "end_time must be after start_time"),
            ("?end_time=2026-11-20T11:00:00Z", "end_time needs start_time"),
            (f"{window(timedelta(hours=1))}&backfill_minutes=0", None),
            (f"{window(timedelta(hours=1))}&backfill_minutes=1", "backfill_minutes and start_time"),
        ],
    )
    def test_bounds(self, client: StreamClient, query: str, message: str | None) -> None:
        """A window is in the last 24 hours, and not empty."""
        answer = client.call("GET", f"{client.path}{query}")
        if message is None:
            assert 200 == answer.status_code
            answer.close()
        else:
            assert message in messages(answer)[0]

    def test_slots(self, client: StreamClient) -> None:
        """Two recoveries at a time are counted apart from the live streams."""
        client.subscribe()
        client.open(), client.open()
        client.emit(), client.emit()
        query = window(timedelta(hours=1))
        client.open(query), client.open(query)

        assert 429 == client.call("GET", f"{client.path}{query}").status_code


class TestEnd:
    """How a stream ends."""

    def test_reset(self, client: StreamClient) -> None:
        """A reset ends it with a last line, and its slot is free."""
        opened = client.open(), client.open()
        client.desk.client.post("/_mock/reset")

        last = {
            "type": "http://localhost/2/problems/operational-disconnect",
            "title": "operational-disconnect",
            "detail": "This stream has been disconnected upstream for operational reasons.",
            "disconnect_type": "ForceDisconnect",
        }
        assert [[last], [last]] == [lines.rest()[0]["errors"] for lines in opened]
        client.open(), client.open()

    def test_snapshot(self, client: StreamClient) -> None:
        """Returning to a snapshot ends it; the snapshot's connections are open no more."""
        lines = client.open()
        client.desk.client.put("/_mock/snapshots/here")
        client.desk.client.post("/_mock/snapshots/here/restore")

        assert 1 == len(lines.rest())
        assert ["server_stop"] == [found["disconnect_reason"] for found in client.connections()]

    @pytest.mark.parametrize("world", ["", "/~short"])
    def test_end_of_the_world(self, client: StreamClient, world: str) -> None:
        """With the platform, or its world alone, a stream ends with the last line."""
        client.desk.client.put("/_mock/worlds/short")
        lines = client.open(path=f"{world}/2/activity/stream")
        if world:
            client.desk.client.delete("/_mock/worlds/short")
        else:
            client.desk.platform.close()

        assert "ForceDisconnect" == lines.rest()[0]["errors"][0]["disconnect_type"]

    @pytest.mark.parametrize("count", [3, 4])
    def test_slow_reader(self, count: int) -> None:
        """A client for whom more lines wait than allowed is disconnected as a slow reader."""
        with Desk(stream_backlog=3) as desk:
            clear_subscriptions(desk)
            client = StreamClient(desk)
            client.subscribe()
            lines = client.open()
            for number in range(count):
                client.emit(payload=bio(str(number)))
            if count == 3:
                assert ["0", "1", "2"] == texts(*(lines.next() for _ in range(3)))
            else:
                assert "SlowReader" == lines.rest()[0]["errors"][0]["disconnect_type"]
                assert "slow_reader" == client.connections()[0]["disconnect_reason"]


class TestMany:
    """Fan-out with many subscriptions."""

    def test_only_near_ones_are_compared(
        self, client: StreamClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An activity is compared with the subscriptions of its type and user, not with all."""
        store = client.desk.world.store
        own = client.desk.record("activity_subscriptions", client.subscribe())
        with client.desk.world.work():
            for user in map(str, range(9_000_000, 9_001_000)):
                topic = activities.make_topic("profile.update.bio", user)
                other = {"subscription_id": user, "filter": {"user_id": user}, "_topic": topic}
                store.put("activity_subscriptions", user, own | other)
        compared = []
        before = activities.find_difference

        def count(subscription: Any, activity: Any) -> str | None:
            compared.append(subscription)
            return before(subscription, activity)

        monkeypatch.setattr(activities, "find_difference", count)
        lines = client.open()
        client.emit()

        assert lines.next()
        assert 12 >= len(compared)  # one that matches, and some to explain who gets nothing


def test_lines_in_the_list_of_deliveries(client: StreamClient) -> None:
    """A line that was sent is in the list of deliveries, beside those of webhooks."""
    client.subscribe()
    lines = client.open()
    activity = client.emit()["activity"]
    line = lines.next()

    (found,) = client.desk.client.get("/_mock/deliveries").get_json()["deliveries"]
    assert ("stream", activity["id"], line) == (found["kind"], found["event_id"], found["body"])
    assert client.connections()[0]["id"] == found["stream_id"]


class TestUsage:
    """Posts that are streamed are reads of the app."""

    def test_cap(self, client: StreamClient) -> None:
        """The stream ends at the first post beyond the cap."""
        app = client.desk.record("apps", "11827")
        cap = count_month(client.desk.world, app) + 1
        client.desk.change("apps", "11827", _post_cap=cap)
        client.subscribe(event_type="post.create")
        lines = client.open()
        client.emit(event_type="post.create", payload={"id": "1"})
        client.emit(event_type="post.create", payload={"id": "2"})

        first, last = lines.rest()
        assert "post.create" == first["data"]["event_type"]
        assert ["UsageCapExceeded"] == [error["title"] for error in last["errors"]]
        assert cap == count_month(client.desk.world, app)


def test_session_in_this_process() -> None:
    """A session reads lines as it asks for them; when the platform stops, the stream ends."""
    platform = MockPlatform.start(stream_keepalive=0.001)
    session = platform.session(auth="bearer")
    answer = session.get(StreamClient.path, stream=True)
    lines = (line for line in answer.iter_lines() if line)
    platform.emit("profile.update.bio", user=USER, payload=bio("Tea."))
    platform.emit("profile.update.bio", user=USER, payload=bio("Milk."))

    assert ["Tea.", "Milk."] == texts(*(json.loads(next(lines)) for _ in range(2)))
    platform.stop()
    assert ["errors"] == [next(iter(json.loads(line))) for line in lines]


def test_session_with_a_timeout() -> None:
    """A session that waits for longer than its timeout raises an error, as over a socket."""
    with MockPlatform.start(stream_keepalive=3600) as platform:
        session = platform.session(auth="bearer")
        answer = session.get(StreamClient.path, stream=True, timeout=0.05)
        with pytest.raises(requests.ConnectionError, match="timed out"):
            list(answer.iter_lines())
        answer.close()
        assert [] == platform.streams.list()
