"""Connections to streams are listed and disconnected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.oauth.app_client import messages
from tests.support_replay import Desk
from tests.support_streams import StreamClient

PATH = "/2/connections"
Client = StreamClient
EMPTY = ("activity_subscriptions", "connections")
SETTINGS = {"stream_keepalive": 0.001}
SINCE = datetime(2025, 9, 19, tzinfo=UTC)
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def listed(client: StreamClient, query: str = "") -> list[dict[str, Any]]:
    """The connections of a list that must be answered."""
    answer = client.call("GET", f"{PATH}{query}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    body = answer.get_json()
    assert body["meta"]["result_count"] == len(body.get("data", []))
    found: list[dict[str, Any]] = body.get("data", [])
    return found


def kills(client: StreamClient, path: str, **more: Any) -> dict[str, Any]:
    """What became of connections that were to be disconnected."""
    answer = client.call("DELETE", path, **more)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    found: dict[str, Any] = answer.get_json()["data"]
    return found


class TestList:
    """The list of an app's connections."""

    def test_open_one(self, client: StreamClient) -> None:
        """An open connection has its id, its endpoint, its begin and its client's address."""
        client.open()

        (found,) = listed(client)
        assert {
            "id": client.connections()[0]["id"],
            "endpoint_name": "activity_stream",
            "connected_at": "2026-11-20T12:00:30.000Z",
            "client_ip": "127.0.0.1",
        } == found

    def test_none(self, client: StreamClient) -> None:
        """Without any there is no data."""
        assert {"meta": {"result_count": 0}} == client.call("GET", PATH).get_json()

    def test_status(self, client: StreamClient) -> None:
        """Open ones, ended ones, or all."""
        client.open()
        client.open().close()
        first, second = (record["id"] for record in client.connections())

        assert [first] == [found["id"] for found in listed(client, "?status=active")]
        assert [second] == [found["id"] for found in listed(client, "?status=inactive")]
        assert {first, second} == {found["id"] for found in listed(client, "?status=all")}

    def test_ended_one(self, client: StreamClient) -> None:
        """One that has ended says when and why."""
        client.open().close()

        (found,) = listed(client, "?status=inactive")
        assert "2026-11-20T12:00:30.000Z" == found["disconnected_at"]
        assert "client_disconnect" == found["disconnect_reason"]

    @pytest.mark.parametrize(
        ("endpoints", "count"),
        [("activity_stream", 1), ("filtered_stream", 0), ("filtered_stream,activity_stream", 1)],
    )
    def test_endpoints(self, client: StreamClient, endpoints: str, count: int) -> None:
        """Only those of some endpoints."""
        client.open()

        assert count == len(listed(client, f"?endpoints={endpoints}"))

    def test_unknown_endpoint(self, client: StreamClient) -> None:
        """An endpoint that does not exist is refused."""
        assert 1 == len(messages(client.call("GET", f"{PATH}?endpoints=trickle_stream")))

    def test_fields(self, client: StreamClient) -> None:
        """connection.fields chooses what is shown beside what is always there."""
        client.open()

        (found,) = listed(client, "?connection.fields=id")
        assert {"id", "endpoint_name", "connected_at"} == set(found)

    def test_pages(self, client: StreamClient) -> None:
        """max_results and pagination_token walk through all, newest first."""
        for _ in range(3):
            client.open().close()
            client.desk.client.put("/_mock/clock", json={"action": "advance", "seconds": 1})
        first = client.call("GET", f"{PATH}?status=inactive&max_results=2").get_json()
        token = first["meta"]["next_token"]
        rest = listed(client, f"?status=inactive&max_results=2&pagination_token={token}")

        begun = [found["connected_at"] for found in [*first["data"], *rest]]
        assert 3 == len(begun)
        assert sorted(begun, reverse=True) == begun

    def test_other_app(self, client: StreamClient) -> None:
        """The connections of other apps are not listed."""
        client.open()
        client.desk.client.patch(
            f"/_mock/state/connections/{client.connections()[0]['id']}", json={"_app_id": "20993"}
        )

        assert [] == listed(client)


class TestDelete:
    """Connections are disconnected."""

    def test_all(self, client: StreamClient) -> None:
        """Each stream gets its last line, and its slot is free."""
        opened = client.open(), client.open()
        ids = {record["id"] for record in client.connections()}
        found = kills(client, f"{PATH}/all")

        assert (2, 0) == (found["successful_kills"], found["failed_kills"])
        assert ids == {result["uuid"] for result in found["results"]}
        for lines in opened:
            assert "ForceDisconnect" == lines.rest()[0]["errors"][0]["disconnect_type"]
        assert {"operator_disconnect"} == {
            record["disconnect_reason"] for record in client.connections()
        }
        client.open(), client.open()

    def test_what_was_waiting(self, client: StreamClient) -> None:
        """Lines that were waiting are sent before the last one."""
        client.subscribe()
        lines = client.open()
        client.emit()
        kills(client, f"{PATH}/all")

        assert ["data", "errors"] == [next(iter(line)) for line in lines.rest()]

    def test_nothing_open(self, client: StreamClient) -> None:
        """Without an open connection nothing happens."""
        assert {"successful_kills": 0, "failed_kills": 0, "results": []} == kills(
            client, f"{PATH}/all"
        )

    def test_some(self, client: StreamClient) -> None:
        """Those with the ids are disconnected; an unknown id is reported."""
        first, second = client.open(), client.open()
        chosen = client.connections()[0]["id"]
        found = kills(client, PATH, json={"uuids": [chosen, UNKNOWN]})

        assert (1, 1) == (found["successful_kills"], found["failed_kills"])
        assert [True, False] == [result["success"] for result in found["results"]]
        assert UNKNOWN in found["results"][1]["error_message"]
        assert 1 == len(first.rest())
        assert [client.connections()[1]["id"]] == [each["id"] for each in listed(client)]
        second.close()

    def test_ended_one(self, client: StreamClient) -> None:
        """One that has ended cannot be disconnected."""
        client.open().close()
        chosen = client.connections()[0]["id"]

        found = kills(client, PATH, json={"uuids": [chosen]})
        assert "was disconnected at" in found["results"][0]["error_message"]

    @pytest.mark.parametrize(("count", "status"), [(0, 400), (1, 200), (100, 200), (101, 400)])
    def test_number(self, client: StreamClient, count: int, status: int) -> None:
        """One to a hundred ids."""
        body = {"uuids": [f"{number}" for number in range(count)]}

        assert status == client.call("DELETE", PATH, json=body).status_code

    def test_no_ids(self, client: StreamClient) -> None:
        """Without ids it is refused."""
        assert 400 == client.call("DELETE", PATH, json={}).status_code

    def test_endpoint(self, client: StreamClient) -> None:
        """Those of one endpoint are disconnected."""
        lines = client.open()

        assert 0 == kills(client, f"{PATH}/filtered_stream")["successful_kills"]
        assert 1 == kills(client, f"{PATH}/activity_stream")["successful_kills"]
        assert 1 == len(lines.rest())

    def test_unknown_endpoint(self, client: StreamClient) -> None:
        """An endpoint that does not exist is refused."""
        assert 400 == client.call("DELETE", f"{PATH}/trickle_stream").status_code

    @pytest.mark.parametrize(("calls", "status"), [(25, 200), (26, 429)])
    def test_limit(self, calls: int, status: int) -> None:
        """25 times in 15 minutes under --limits public."""
        with Desk(limits="public") as desk:
            client = StreamClient(desk)
            assert (
                status
                == [client.call("DELETE", f"{PATH}/all").status_code for _ in range(calls)][-1]
            )


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", PATH), ("DELETE", PATH), ("DELETE", f"{PATH}/all"),
     ("DELETE", f"{PATH}/activity_stream")],
)  # fmt: skip
class TestEvery:
    """What holds for each of the endpoints."""

    @pytest.mark.parametrize(
        ("moment", "known"), [(SINCE - timedelta(seconds=1), False), (SINCE, True)]
    )
    def test_date(self, method: str, path: str, moment: datetime, *, known: bool) -> None:
        """Just before the date of its release it is unknown; from then on it answers."""
        with Desk(freeze=moment) as desk:
            answer = StreamClient(desk).call(method, path, json={"uuids": [UNKNOWN]})
            assert known is (answer.status_code == 200)
