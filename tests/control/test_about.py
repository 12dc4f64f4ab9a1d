from __future__ import annotations

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.version import __version__
from tests.control.support import call, detail
from tests.support import ACCOUNT, Sandbox


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


LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"


def test_warnings_are_listed_by_world_and_set_to_zero(box: Sandbox) -> None:
    """All worlds together, or the one in the address; a reset and an empty journal keep them."""
    call(box, "PUT", "/worlds/w1")
    box.call("PUT", f"{LINE_ITEM}?nmae=x")
    box.call("PUT", f"/~w1{LINE_ITEM}?nmae=x")
    call(box, "POST", "/reset", "w1")
    call(box, "DELETE", "/requests", "w1")

    every, one = (call(box, "GET", "/warnings", world).get_json() for world in ("", "w1"))

    assert (2, 1) == (every["requests"], one["requests"])
    (row,) = one["warnings"]
    assert ("unknown-parameter", "line_items.update") == (row["code"], row["operation"])
    assert f"http://localhost/~w1{LINE_ITEM}?nmae=x" == row["example"]["url"]
    assert row["example"]["text"].endswith("did you mean 'name'?")
    assert 204 == call(box, "DELETE", "/warnings", "w1").status_code
    assert 1 == call(box, "GET", "/warnings").get_json()["requests"]


def test_a_removed_world_has_its_counts(box: Sandbox) -> None:
    """As its coverage; a world that never was is unknown."""
    call(box, "PUT", "/worlds/w1")
    box.call("PUT", f"/~w1{LINE_ITEM}?nmae=x")
    call(box, "DELETE", "/worlds/w1")

    found = call(box, "GET", "/warnings", headers={"X-Mock-World": "w1"})
    missing = call(box, "GET", "/warnings", headers={"X-Mock-World": "nowhere"})

    assert 1 == found.get_json()["requests"]
    assert "nowhere" in detail(missing, 404)
