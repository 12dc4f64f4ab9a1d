"""Connections to streams are listed and disconnected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import body_of
from tests.support_streams import StreamClient

PATH = "/2/connections"
Client = StreamClient
EMPTY = ("activity_subscriptions", "connections")
SETTINGS = {"stream_keepalive": 0.001}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def listed(client: StreamClient, query: str = "") -> list[dict[str, Any]]:
    """The connections of a list that must be answered."""
    body = client.read(f"{PATH}{query}")
    found: list[dict[str, Any]] = body.get("data", [])
    assert body["meta"]["result_count"] == len(found)
    return found


def kill(client: StreamClient, path: str, **more: Any) -> Any:
    """What became of connections that were to be disconnected."""
    return body_of(client.call("DELETE", path, **more))["data"]


class TestList:
    """The list of an app's connections."""

    def test_open_one(self, client: StreamClient) -> None:
        """An open connection has its id, its endpoint, its begin and its client's address."""
        assert {"meta": {"result_count": 0}} == client.read(PATH)
        client.open()

        (found,) = listed(client)
        assert found == {
            "id": client.connections()[0]["id"], "endpoint_name": "activity_stream",
            "connected_at": "2026-11-20T12:00:30.000Z", "client_ip": "127.0.0.1",
        }  # fmt: skip
        (chosen,) = listed(client, "?connection.fields=id")
        assert {"id", "endpoint_name", "connected_at"} == set(chosen)

    def test_status(self, client: StreamClient) -> None:
        """Open ones, ended ones with when and why, or all."""
        client.open()
        client.open().close()
        first, second = (record["id"] for record in client.connections())
        (ended,) = listed(client, "?status=inactive")

        assert [first] == [found["id"] for found in listed(client, "?status=active")]
        assert {first, second} == {found["id"] for found in listed(client, "?status=all")}
        assert (second, "2026-11-20T12:00:30.000Z", "client_disconnect") == (
            ended["id"], ended["disconnected_at"], ended["disconnect_reason"]
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("endpoints", "count"),
        [("activity_stream", 1), ("filtered_stream", 0), ("filtered_stream,activity_stream", 1)],
    )
    def test_endpoints(self, client: StreamClient, endpoints: str, count: int) -> None:
        """Only those of some endpoints."""
        client.open()
        assert count == len(listed(client, f"?endpoints={endpoints}"))

    def test_pages(self, client: StreamClient) -> None:
        """max_results and pagination_token walk through all, newest first."""
        for _ in range(3):
            client.open().close()
            client.desk.advance(seconds=1)
        first = client.read(f"{PATH}?status=inactive&max_results=2")
        token = first["meta"]["next_token"]
        rest = listed(client, f"?status=inactive&max_results=2&pagination_token={token}")

        begun = [found["connected_at"] for found in [*first["data"], *rest]]
        assert 3 == len(begun)
        assert sorted(begun, reverse=True) == begun

    def test_other_app(self, client: StreamClient) -> None:
        """The connections of other apps are not listed."""
        client.open()
        client.desk.change("connections", client.connections()[0]["id"], _app_id="20993")
        assert [] == listed(client)


class TestDelete:
    """Connections are disconnected."""

    def test_all(self, client: StreamClient) -> None:
        """Each stream gets what was waiting and its last line, and its slot is free."""
        client.subscribe()
        opened = client.open(), client.open()
        ids = {record["id"] for record in client.connections()}
        client.emit()
        found = kill(client, f"{PATH}/all")

        assert (2, 0) == (found["successful_kills"], found["failed_kills"])
        assert ids == {result["uuid"] for result in found["results"]}
        for lines in opened:
            waiting, last = lines.rest()
            assert "data" in waiting
            assert "ForceDisconnect" == last["errors"][0]["disconnect_type"]
        reasons = [record["disconnect_reason"] for record in client.connections()]
        assert ["operator_disconnect"] * 2 == reasons
        client.open(), client.open()

    def test_nothing_open(self, client: StreamClient) -> None:
        """Without an open connection nothing happens."""
        found = kill(client, f"{PATH}/all")
        assert {"successful_kills": 0, "failed_kills": 0, "results": []} == found

    def test_some(self, client: StreamClient) -> None:
        """Those with the ids are disconnected; unknown and ended ones are reported."""
        first, second = client.open(), client.open()
        chosen, other = (record["id"] for record in client.connections())
        found = kill(client, PATH, json={"uuids": [chosen, UNKNOWN]})

        assert (1, 1) == (found["successful_kills"], found["failed_kills"])
        assert [True, False] == [result["success"] for result in found["results"]]
        assert UNKNOWN in found["results"][1]["error_message"]
        assert 1 == len(first.rest())
        assert [other] == [each["id"] for each in listed(client)]
        again = kill(client, PATH, json={"uuids": [chosen]})
        assert "was disconnected at" in again["results"][0]["error_message"]
        second.close()

    @pytest.mark.parametrize(("count", "status"), [(0, 400), (1, 200), (100, 200), (101, 400)])
    def test_number(self, client: StreamClient, count: int, status: int) -> None:
        """One to a hundred ids."""
        body = {"uuids": [f"{number}" for number in range(count)]}
        assert status == client.call("DELETE", PATH, json=body).status_code

    def test_endpoint(self, client: StreamClient) -> None:
        """Those of one endpoint are disconnected; no ids and no such endpoint are refused."""
        lines = client.open()

        assert 0 == kill(client, f"{PATH}/filtered_stream")["successful_kills"]
        assert 1 == kill(client, f"{PATH}/activity_stream")["successful_kills"]
        assert 1 == len(lines.rest())
        assert 400 == client.call("DELETE", PATH, json={}).status_code
        assert 400 == client.call("DELETE", f"{PATH}/trickle_stream").status_code
