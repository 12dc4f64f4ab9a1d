"""The effect that ends a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support_replay import Desk
from tests.support_streams import StreamClient, clear_subscriptions


@pytest.fixture
def client() -> Iterator[StreamClient]:
    """A client of a sandbox with one subscription."""
    with Desk(stream_keepalive=0.001) as desk:
        clear_subscriptions(desk)
        found = StreamClient(desk)
        found.subscribe()
        yield found
        assert [] == desk.platform.errors


def define(client: StreamClient, on: str = "activity_stream.open", **disconnect: Any) -> int:
    """Activate a rule that ends streams; the status of its definition."""
    rule = {"on": on, "then": {"disconnect": disconnect}}
    put = client.desk.client.put("/_mock/scenarios/x", json={"name": "x", "rules": [rule]})
    if put.status_code < 300:
        client.desk.client.post("/_mock/scenarios/x/activate")
    return put.status_code


def test_at_once(client: StreamClient) -> None:
    """Without a number of lines or seconds the stream ends right after its first bytes."""
    define(client)

    (last,) = client.open().rest()
    assert "UpstreamOperationalDisconnect" == last["errors"][0]["disconnect_type"]


def test_after_seconds(client: StreamClient) -> None:
    """After real seconds it ends, whether something happened or not."""
    define(client, after_seconds=0.01)
    lines = client.open()

    assert ["errors"] == [next(iter(line)) for line in lines.rest()]


def test_whichever_comes_first(client: StreamClient) -> None:
    """With both, the first one counts."""
    define(client, after_lines=1, after_seconds=300)
    lines = client.open()
    client.emit()

    assert ["data", "errors"] == [next(iter(line)) for line in lines.rest()]


def test_without_a_line(client: StreamClient) -> None:
    """`line: false`: nothing comes before the end."""
    define(client, line=False)

    assert [] == client.open().rest()


def test_own_line(client: StreamClient) -> None:
    """`line` may be the object of the last line itself."""
    define(client, line={"bye": 1})

    assert [{"bye": 1}] == client.open().rest()


def test_usage_cap(client: StreamClient) -> None:
    """A last line may also say that the usage cap is reached."""
    define(client, type="usage-capped")

    (last,) = client.open().rest()
    assert last["errors"][0]["type"].endswith("/problems/usage-capped")


def test_no_stream(client: StreamClient) -> None:
    """On an answer that is no stream it does nothing, and the journal says so."""
    define(client, on="webhooks.list")

    assert 200 == client.call("GET", "/2/webhooks").status_code
    entry = list(client.desk.world.journal)[-1]
    assert ["the scenario's disconnect had no stream to act on"] == list(entry.warnings)


@pytest.mark.parametrize(
    "disconnect",
    [
        {"type": "Bye"},
        {"after_lines": -1},
        {"after_seconds": -1},
        {"after_seconds": 301},
        {"line": "bye"},
        {"fault": "flood"},
        {"after": 1},
    ],
)
def test_refused(client: StreamClient, disconnect: dict[str, Any]) -> None:
    """What the effect does not know is refused when the document is read."""
    assert 422 == define(client, **disconnect)


def test_refused_connection_leaves_no_stream(client: StreamClient) -> None:
    """A rule that replaces the answer of an opened stream ends that stream."""
    rule = {"on": "activity_stream.open", "then": {"fault": "reset", "stage": "after_commit"}}
    client.desk.client.put("/_mock/scenarios/x", json={"name": "x", "rules": [rule]})
    client.desk.client.post("/_mock/scenarios/x/activate")

    with pytest.raises(ConnectionError):
        client.call("GET")
    assert [] == client.desk.client.get("/_mock/streams").get_json()["streams"]
    assert ["client_disconnect"] == [each["disconnect_reason"] for each in client.connections()]
