from __future__ import annotations

from typing import Any

import pytest

from mock_platform.verification.pact.recorded import BEGINNING, EVENT, SIGNED, History
from mock_platform.world.store.interface import Change
from tests.support import ACCOUNT, HARBOR, Sandbox

LIST = f"/12/accounts/{ACCOUNT}/line_items"


def put(box: Sandbox, state: str, params: Any = None, **more: Any) -> Any:
    """The answer to a provider state."""
    body = {"state": state, "params": params, "action": "setup", "consumer": "shop"} | more
    return box.call("POST", "/_mock/provider-states", json=body)


def test_history_goes_back_to_the_beginning() -> None:
    """Each request that is undone leaves the records as they were before it."""
    base = {("posts", "1"): {"id": "1", "text": "old"}}
    now = [Change("posts", "1", {"id": "1", "text": "new"}, base["posts", "1"])]
    now += [Change("posts", "2", {"id": "2"}, None), Change("tokens", "t", {"id": "t"}, None)]
    history = History(now, lambda table, key: base.get((table, key)))

    assert {"posts": [{"id": "1", "text": "new"}, {"id": "2"}]} == history.describe(None)["records"]
    assert {"posts": [{"id": "2"}]} == history.describe("/posts/2")["records"]
    history.undo([Change("posts", "2", None, {"id": "2"})])
    assert {"posts": [{"id": "1", "text": "new"}]} == history.describe(None)["records"]
    history.undo([Change("posts", "1", {"id": "1", "text": "old"}, {"id": "1", "text": "new"})])
    assert {} == history.describe(None)


def test_a_state_has_what_its_records_refer_to() -> None:
    """A record brings those whose keys it has, and none that nothing mentions."""
    made = [{"id": "li1", "campaign_id": "ca1"}, {"id": "ca1"}, {"id": "ca2"}]
    history = History(
        [Change("campaigns", str(each["id"]), each, None) for each in made], lambda *_: None
    )

    assert {"campaigns": made[:2]} == history.describe("GET /line_items/li1")["records"]


def test_the_beginning_with_changes(box: Sandbox) -> None:
    """The world is reset, its clock stopped; records are changed, added and removed."""
    first = box.call("GET", LIST, keys=HARBOR).get_json()["data"][0]["id"]
    others = [each["id"] for each in box.call("GET", LIST, keys=HARBOR).get_json()["data"][1:2]]

    answer = put(box, BEGINNING, {
        "clock": "2026-05-01T00:00:00Z", "removed": {"line_items": others},
        "records": {"line_items": [{"id": first, "name": "Changed"}]},
        "scenarios": [{"name": "usage-capped", "parameters": {"period": "Daily"}}],
    })  # fmt: skip

    assert (200, {}) == (answer.status_code, answer.get_json())
    shown = {each["id"]: each for each in box.call("GET", LIST, keys=HARBOR).get_json()["data"]}
    assert "Changed" == shown[first]["name"]
    assert others[0] not in shown
    assert "2026-05-01T00:00:00.000Z" == box.call("GET", "/_mock/clock").get_json()["now"]
    active = box.call("GET", "/_mock/scenarios/usage-capped").get_json()
    assert (True, {"period": "Daily"}) == (active["active"], active["given"])


def test_a_teardown_does_nothing(box: Sandbox) -> None:
    """Verifiers may send one after each interaction."""
    assert 200 == put(box, "whatever", action="teardown").status_code


@pytest.mark.parametrize(
    "scheme", ["oauth1", "oauth1-app", "oauth2", "bearer", "basic", "oauth2-client"]
)
def test_signatures(box: Sandbox, scheme: str) -> None:
    """Each kind of credentials becomes the header of a request."""
    params = {"scheme": scheme, "method": "GET", "path": LIST, "query": [["count", "2"]]}

    found = put(box, SIGNED, params).get_json()["authorization"]

    assert found.startswith({"oauth1": "OAuth ", "oauth1-app": "OAuth "}.get(scheme, "B"))


@pytest.mark.parametrize(("state", "params", "status", "said"), [
    ("unknown", {}, 422, "'unknown' is not a state of this sandbox"),
    (BEGINNING, {"clock": "soon"}, 422, "cannot be reached"),
    (BEGINNING, {"records": [1]}, 422, "cannot be reached"),
    (BEGINNING, {"records": {"nothing": [{"id": "1"}]}}, 422, "cannot be reached"),
    (BEGINNING, {"scenarios": [{"name": "nothing"}]}, 404, "nothing"),
    (SIGNED, {"scheme": "magic"}, 422, "'magic' is not a kind of credentials"),
    (SIGNED, {"scheme": "oauth1"}, 422, "cannot be reached"),
    (SIGNED, {"scheme": "oauth1", "user": "1"}, 404, "The world has no token"),
    (EVENT, {"event": "0"}, 404, "The world has no event '0'"),
    (EVENT, {"event": ["x"]}, 422, "cannot be reached"),
])  # fmt: skip
def test_unreachable_states(box: Sandbox, state: str, params: Any, status: int, said: str) -> None:
    """The refusal says what is wrong."""
    answer = put(box, state, params)

    assert (status, True) == (answer.status_code, said in answer.get_json()["detail"])


def test_a_message_without_its_state(box: Sandbox) -> None:
    """A message of another tool cannot be made."""
    answer = box.call("POST", "/_mock/provider-messages", json={"description": "a message"})

    assert 422 == answer.status_code
    assert "no provider state 'an event is delivered'" in answer.get_json()["detail"]


def test_an_answer_that_its_secrets_leave_in_pieces_is_left_out(box: Sandbox) -> None:
    """A text that ends like the name of a secret is no reason to fail."""
    made = box.call("POST", "/2/posts", json={"text": "your password="}).get_json()
    box.call("GET", f"/2/posts/{made['data']['id']}")

    answer = box.call("GET", "/_mock/pact?consumer=shop&provider=platform", keys=None)

    assert 200 == answer.status_code
    assert "its answer cannot be read, or was cut" in answer.get_data(as_text=True)
