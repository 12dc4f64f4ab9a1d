from __future__ import annotations

from mock_platform.api.oauth.known_credentials import credentials
from mock_platform.version import __version__
from tests.control.support import call
from tests.support import Sandbox


def test_health(box: Sandbox) -> None:
    """A running server says so, with its version and age."""
    body = call(box, "GET", "/health").get_json()

    assert ["status", "version", "uptime_seconds"] == list(body)
    assert ("ok", __version__) == (body["status"], body["version"])
    assert body["uptime_seconds"] >= 0


def test_credentials(box: Sandbox) -> None:
    """Credentials are those of the world."""
    call(box, "PUT", "/worlds/w1")
    call(box, "DELETE", "/state/users/2244994945", "w1")

    default = call(box, "GET", "/credentials").get_json()
    other = call(box, "GET", "/credentials", "w1").get_json()

    assert credentials(box.platform.worlds.default) == default
    assert ("2244994945", "3805104374") == (default["user"]["id"], other["user"]["id"])


def test_operations(box: Sandbox) -> None:
    """Every operation is listed with what leads to its code."""
    listed = call(box, "GET", "/operations").get_json()["operations"]

    assert [operation.id for operation in box.platform.operations] == [e["id"] for e in listed]
    replay = next(entry for entry in listed if entry["id"] == "webhooks.replay")
    assert replay["code"].startswith("mock_platform/api/v2/webhooks/operations.py:")


def test_assumptions(box: Sandbox) -> None:
    """Every assumption is listed with the operations that rest on it."""
    listed = call(box, "GET", "/assumptions").get_json()["assumptions"]

    assert list(box.platform.assumptions()) == [entry["id"] for entry in listed]
    resting = {entry["id"]: entry["operations"] for entry in listed}
    assert ["openapi.get"] == resting["openapi.address"]
    assert [] == resting["errors.order"]
