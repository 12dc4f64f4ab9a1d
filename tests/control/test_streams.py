"""The control plane lists streams, ends them and silences them."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support_replay import Desk
from tests.support_streams import StreamClient

Client = StreamClient
EMPTY = ("activity_subscriptions",)
NO_STREAM = "5b0f2d3c-0000-4000-8000-000000000000"


def listed(client: StreamClient) -> list[dict[str, Any]]:
    """The open streams."""
    found: list[dict[str, Any]] = client.desk.client.get("/_mock/streams").get_json()["streams"]
    return found


def act(client: StreamClient, verb: str, key: str = "all", **body: Any) -> TestResponse:
    """Do something with streams."""
    return client.desk.client.post(f"/_mock/streams/{key}/{verb}", json=body)


def test_list(client: StreamClient) -> None:
    """Each stream shows its endpoint, its app, since when, and what it sent and did not."""
    client.subscribe()
    lines = client.open()
    lines.next_piece()
    client.emit()
    client.emit()
    lines.next()

    (found,) = listed(client)
    assert {
        "id": client.connections()[0]["id"], "endpoint": "activity_stream", "app_id": "11827",
        "since": "2026-11-20T12:00:30.000Z", "lines": 1,
        "last_keepalive": "2026-11-20T12:00:30.000Z", "lag": 1,
    } == found  # fmt: skip


def test_no_streams(client: StreamClient) -> None:
    """Without open streams the list is empty, and `all` means none of them."""
    assert [] == listed(client)
    assert {"streams": []} == act(client, "disconnect").get_json()


@pytest.mark.parametrize("disconnect_type", ["SlowReader", "InternalError"])
def test_disconnect(client: StreamClient, disconnect_type: str) -> None:
    """The chosen stream ends with a line of the chosen type; the others go on."""
    first, second = client.open(), client.open()
    chosen, other = (stream["id"] for stream in listed(client))
    answer = act(client, "disconnect", chosen, disconnect_type=disconnect_type)

    assert {"streams": [chosen]} == answer.get_json()
    assert disconnect_type == first.rest()[0]["errors"][0]["disconnect_type"]
    assert [other] == [stream["id"] for stream in listed(client)]
    second.close()


def test_without_a_line(client: StreamClient) -> None:
    """A stream can end without its last line."""
    lines = client.open()
    act(client, "disconnect", line=False)

    assert [] == lines.rest()


def test_stall(client: StreamClient) -> None:
    """A silent stream sends nothing, not even a keep-alive; what happens meanwhile waits."""
    with Desk(stream_keepalive=0.001) as desk:
        own = StreamClient(desk)
        lines = own.open()
        lines.next_piece()
        answer = act(own, "stall", seconds=3600)
        own.emit()

        (stream,) = listed(own)
        assert {"streams": [stream["id"]]} == answer.get_json()
        assert 1 == stream["lag"]
        act(own, "disconnect")
        assert ["data", "errors"] == [next(iter(line)) for line in lines.rest()]


@pytest.mark.parametrize(("seconds", "status"), [(-1, 422), (0, 200), (86400, 200), (86401, 422)])
def test_bounds_of_a_stall(client: StreamClient, seconds: float, status: int) -> None:
    """A stream is silent for up to a day."""
    assert status == act(client, "stall", seconds=seconds).status_code


@pytest.mark.parametrize("verb", ["disconnect", "stall"])
def test_unknown_stream(client: StreamClient, verb: str) -> None:
    """An id that no open stream has is refused, with those that are open."""
    client.open()
    body = {"seconds": 1} if verb == "stall" else {}
    answer = act(client, verb, NO_STREAM, **body)

    assert 404 == answer.status_code
    assert client.connections()[0]["id"] in answer.get_json()["detail"]


def test_deliveries_by_kind(client: StreamClient) -> None:
    """The list of deliveries can be asked for the lines of streams, or of one of them."""
    client.subscribe()
    lines = client.open()
    client.emit()
    lines.next()
    ask = client.desk.client.get
    id_ = client.connections()[0]["id"]

    for query, count in [("kind=stream", 1), ("kind=webhook", 0), (f"stream_id={id_}", 1)]:
        assert count == len(ask(f"/_mock/deliveries?{query}").get_json()["deliveries"]), query
