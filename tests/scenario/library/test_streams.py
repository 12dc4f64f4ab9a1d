"""The shipped scenarios about streams do what they say, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from mock_platform import MockPlatform
from mock_platform.core.call import FaultKind
from mock_platform.world.journal import Query
from tests.support_streams import KEEP_ALIVE, USER, Lines, StreamClient

PROBLEMS = "http://localhost/2/problems"


def activate(client: StreamClient, name: str, **parameters: Any) -> None:
    """Activate a scenario."""
    answer = client.desk.client.post(
        f"/_mock/scenarios/{name}/activate", json={"parameters": parameters}
    )
    assert answer.status_code == 200, answer.get_data(as_text=True)


def emit(client: StreamClient, *texts: str) -> None:
    """Change the bio several times."""
    for text in texts:
        client.emit(payload={"after": text})


def read(lines: Lines, count: int) -> list[str]:
    """The texts of the next lines."""
    return [lines.next()["data"]["payload"]["after"] for _ in range(count)]


@pytest.mark.parametrize("kind", ["UpstreamOperationalDisconnect", "SlowReader"])
def test_disconnected(client: StreamClient, kind: str) -> None:
    """`stream-disconnected`: after a line comes the last one, of the chosen type."""
    activate(client, "stream-disconnected", type=kind)
    lines = client.open()
    emit(client, "a", "b")

    first, last = lines.rest()
    assert "a" == first["data"]["payload"]["after"]
    assert (f"{PROBLEMS}/operational-disconnect", kind) == (
        last["errors"][0]["type"], last["errors"][0]["disconnect_type"],
    )  # fmt: skip
    assert "scenario" == client.connections()[0]["disconnect_reason"]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_disconnected_after_lines(client: StreamClient, count: int) -> None:
    """`stream-disconnected`: exactly so many lines come before the last one."""
    activate(client, "stream-disconnected", after_lines=count)
    lines = client.open()
    emit(client, "a", "b", "c", "d")

    assert [*["data"] * count, "errors"] == [next(iter(line)) for line in lines.rest()]


def test_client_disconnected(client: StreamClient) -> None:
    """`stream-client-disconnected`: the last line has that problem."""
    activate(client, "stream-client-disconnected", after_lines=0)

    (last,) = client.open().rest()
    assert [f"{PROBLEMS}/client-disconnected"] == [error["type"] for error in last["errors"]]


def test_silent(client: StreamClient) -> None:
    """`stream-silent`: after a line nothing comes, and the stream stays open."""
    activate(client, "stream-silent")
    lines = client.open()
    emit(client, "a", "b")
    read(lines, 1)

    client.desk.client.post("/_mock/streams/all/disconnect", json={"line": False})
    assert ["b"] == [line["data"]["payload"]["after"] for line in lines.rest()]


@pytest.mark.parametrize("fault", ["truncate", "reset", "empty", "garbage"])
def test_cut(fault: FaultKind) -> None:
    """`stream-cut`: the client notices that the answer is not whole; the next one is as usual."""
    with MockPlatform.start(stream_keepalive=0.01) as platform:
        platform.activate("stream-cut", fault=fault)
        for session in (platform.session(auth="bearer"), requests.Session()):
            platform.activate("stream-cut", fault=fault)
            token = platform.credentials["bearer_token"]
            url = f"{platform.base_url}/2/activity/stream"
            headers = {"Authorization": f"Bearer {token}"}
            answer = session.get(url, headers=headers, stream=True)
            platform.emit("profile.update.bio", user=USER, payload={"after": "Tea."})
            pieces: list[bytes] = []
            with pytest.raises(requests.RequestException):
                pieces.extend(answer.iter_content(1))
            assert 1 == b"".join(pieces).count(b'"Tea."')
            with session.get(url, headers=headers, stream=True) as again:
                assert again.raw.read(2) == KEEP_ALIVE


def test_a_slow_body(client: StreamClient) -> None:
    """A stream has lines and no body to be slow: the request says so, and its reason does not."""
    rule = {"on": "activity_stream.open", "then": {"delay": {"slow_body": 5}}}
    document = {"name": "slow", "rules": [rule]}
    client.desk.client.put("/_mock/scenarios/slow", json=document)
    activate(client, "slow")
    client.open()

    entry = client.desk.world.journal.find(Query(operation="activity_stream.open"), 1)[0]
    assert ["the scenario's slow_body had no body to act on: a stream has lines"] == entry.warnings
    assert "Rule 0 of scenario slow acted." == entry.why


class TestLines:
    """Faults of single lines."""

    def test_lost(self, client: StreamClient) -> None:
        """`stream-line-lost`: the line does not come, and the list of deliveries says why."""
        activate(client, "stream-line-lost")
        lines = client.open()
        emit(client, "a", "b")

        assert ["b"] == read(lines, 1)
        shown = client.desk.client.get("/_mock/deliveries").get_json()["deliveries"]
        assert ["lost by scenario rule stream-line-lost/0; nothing was sent", None] == [
            each["error"] for each in shown
        ]
        assert ["a", "b"] == read(client.open("?backfill_minutes=1"), 2)

    def test_out_of_order_at_the_end(self, client: StreamClient) -> None:
        """`stream-out-of-order`: a line without a next one comes before the end."""
        activate(client, "stream-out-of-order")
        lines = client.open()
        emit(client, "a")
        client.desk.client.post("/_mock/streams/all/disconnect", json={})

        assert ["data", "errors"] == [next(iter(line)) for line in lines.rest()]

    def test_split(self, client: StreamClient) -> None:
        """`stream-line-split`: neither piece is whole UTF-8, both together are the line."""
        activate(client, "stream-line-split")
        lines = client.open()
        lines.next_piece()
        emit(client, "Café")
        first, second = lines.next_piece(), lines.next_piece()

        for piece in (first, second):
            with pytest.raises(UnicodeDecodeError):
                piece.decode()
        assert '"Café"' in (first + second).decode()

    def test_split_without_such_a_character(self, client: StreamClient) -> None:
        """`stream-line-split`: a line in ASCII is cut somewhere."""
        activate(client, "stream-line-split")
        lines = client.open()
        lines.next_piece()
        emit(client, "Coffee")
        first, second = lines.next_piece(), lines.next_piece()

        assert first
        assert not first.endswith(b"\r\n")
        assert '"Coffee"' in (first + second).decode()

    def test_unknown_line(self, client: StreamClient) -> None:
        """`stream-unknown-line`: a line of another kind comes first."""
        activate(client, "stream-unknown-line")
        lines = client.open()
        emit(client, "a")

        assert {"notice": {"text": "Maintenance at noon"}} == lines.next()
        assert ["a"] == read(lines, 1)

    def test_replaced(self, client: StreamClient) -> None:
        """A line that is inserted beside a lost one comes in its place."""
        then = [{"drop": True}, {"insert": "{"}]
        document = {"name": "replaced", "rules": [{"on": "lines", "times": 1, "then": then}]}
        client.desk.client.put("/_mock/scenarios/replaced", json=document)
        activate(client, "replaced")
        lines = client.open()
        lines.next_piece()
        emit(client, "a", "b")

        assert b"{\r\n" == lines.next_piece()
        assert ["b"] == read(lines, 1)

    def test_late(self, client: StreamClient) -> None:
        """`stream-line-late`: keep-alives come before the line, and what follows waits for it."""
        activate(client, "stream-line-late")
        lines = client.open()
        lines.next_piece()
        emit(client, "a", "b")

        assert KEEP_ALIVE == lines.next_piece()
        assert ["a", "b"] == read(lines, 2)

    @pytest.mark.parametrize(("name", "parameters", "expected"), [
        ("stream-line-repeated", {}, "aab"),
        ("stream-out-of-order", {}, "ba"),
        ("stream-line-lost", {"event_type": "profile.update.url"}, "ab"),
    ])  # fmt: skip
    def test_which_lines_come(
        self, client: StreamClient, name: str, parameters: dict[str, str], expected: str
    ) -> None:
        """A line comes twice, or after the next one; with a type only its lines are lost."""
        activate(client, name, **parameters)
        lines = client.open()
        emit(client, "a", "b", "c")

        assert [*expected, "c"] == read(lines, len(expected) + 1)


@pytest.mark.parametrize(
    ("issue", "status"),
    [("TooManyConnections", 429), ("RuleConfigurationIssue", 409), ("RulesInvalidIssue", 409)],
)
def test_refused_connection(client: StreamClient, issue: str, status: int) -> None:
    """`streaming-connection`: a stream is refused, with the status of the issue."""
    activate(client, "streaming-connection", on="activity_stream.open", connection_issue=issue)
    answer = client.call("GET")

    assert (status, issue) == (answer.status_code, answer.get_json()["connection_issue"])
    assert [] == client.connections()
