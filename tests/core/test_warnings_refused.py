"""`--warnings error`: what would be ignored in a request is refused, in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control.support import call
from tests.oauth_steps import APP, begun, code, exchange, granted, last
from tests.support import ACCOUNT, HARBOR, Sandbox, Sandboxes, faults, refusal, sandbox, signed

LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"
UNKNOWN = (
    "Warning unknown-parameter, and warnings are errors here: parameter 'nmae' is not one of this "
    "operation and was ignored; did you mean 'name'?"
)


@pytest.fixture(scope="module")
def boxes() -> Sandboxes:
    """The sandboxes of the module."""
    return Sandboxes()


@pytest.fixture
def box(boxes: Sandboxes) -> Sandbox:
    """A sandbox whose warnings are errors."""
    return boxes.get(warnings="error")


def test_the_advertising_interface_refuses(box: Sandbox) -> None:
    """The answer names the warning, nothing has changed, and the markers are as usual."""
    before = dict(box.record("line_items", "itttx"))

    answer = box.call("PUT", LINE_ITEM, query_string={"nmae": "x", "name": "Renamed"})

    assert (400, [("INVALID_PARAMETER", "")]) == refusal(answer)
    assert UNKNOWN == answer.get_json()["errors"][0]["message"]
    assert "unknown-parameter" == answer.headers["X-Mock-Warnings"]
    assert "parameters.ignored" in answer.headers["X-Mock-Assumptions"].split(",")
    assert before == box.record("line_items", "itttx")
    assert [] == last(box).changes


def test_the_v2_interface_refuses(box: Sandbox) -> None:
    """There it is a problem object, one error for each warning."""
    answer = box.call("GET", "/2/users/me?zz=1&yy=2", keys=HARBOR)

    body = answer.get_json()
    assert 400 == answer.status_code
    assert body["type"].endswith("/problems/invalid-request")
    assert [True, True] == [
        error["message"].startswith("Warning unknown-parameter, ") and error["parameters"] == {}
        for error in body["errors"]
    ]


def test_the_oauth_addresses_refuse(box: Sandbox) -> None:
    """There it is a numeric code, whose message names the warning."""
    answer = box.call(
        "POST", "/oauth2/token", keys=None, form={"grant_type": "client_credentials", "zz": "1"},
        headers={"Authorization": "Basic " + _basic()},
    )  # fmt: skip

    assert (400, 131) == code(answer)
    assert "parameter 'zz'" in answer.get_json()["errors"][0]["message"]


def test_a_body_where_parameters_belong_to_the_query_is_refused(box: Sandbox) -> None:
    """Without the option this is a 200 that changes nothing."""
    answer = box.call("PUT", LINE_ITEM, json={"name": "Renamed"})

    assert (400, [("INVALID_PARAMETER", "")]) == refusal(answer)
    message = answer.get_json()["errors"][0]["message"]
    assert "Warning ignored-body" in message
    assert "parameters of this operation belong in the query or in a form" in message


def test_warnings_and_faults_are_reported_together(box: Sandbox) -> None:
    """What was ignored is often why something is missing: one answer has both."""
    answer = box.call("POST", f"/12/accounts/{ACCOUNT}/media_library", json={"name": "N"})

    found = faults(answer)
    assert 400 == answer.status_code
    assert ("INVALID_PARAMETER", "") == found[0]
    assert ("MISSING_PARAMETER", "media_key") in found[1:]


def test_a_fault_alone_is_answered_as_usual(box: Sandbox) -> None:
    """Without a warning the refusals are the same as ever."""
    answer = box.call("PUT", LINE_ITEM, query_string={"entity_status": "NOPE"})

    assert [("INVALID_PARAMETER", "entity_status")] == faults(answer)
    assert "Warning" not in answer.text


def test_a_warning_of_the_handler_undoes_its_changes(box: Sandbox) -> None:
    """A value without effect is found while the change is made; it is refused as a whole."""
    before = dict(box.record("line_items", "itttx"))
    query = {"bid_strategy": "AUTO", "bid_amount_local_micro": "1", "name": "Renamed"}

    answer = box.call("PUT", LINE_ITEM, query_string=query)

    assert (400, "no-effect") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert before == box.record("line_items", "itttx")


def test_without_warnings_requests_are_answered(box: Sandbox) -> None:
    """Everything else is as it was, also what only --strict refuses."""
    renamed = box.call("PUT", LINE_ITEM, query_string={"name": "Renamed"})
    estimate = box.call(
        "POST", f"/12/accounts/{ACCOUNT}/audience_estimate",
        json={"targeting_criteria": [
            {"targeting_type": "BROAD_KEYWORD", "targeting_value": "coffee"}
        ]},
    )  # fmt: skip

    assert (200, 200) == (renamed.status_code, estimate.status_code)


def test_parameters_that_clients_repeat_by_themselves_pass(box: Sandbox) -> None:
    """Popular clients sign the exchange with oauth_callback: their users cannot change that."""
    keys = begun(box)
    verifier = granted(box, keys)
    more: dict[str, Any] = {"callback_uri": "oob", "verifier": verifier}
    headers = signed("POST", "http://localhost/oauth/access_token", keys, **more)

    answer = box.client.post("/oauth/access_token", headers=headers)

    assert (200, None) == (answer.status_code, answer.headers.get("X-Mock-Warnings"))
    assert "oauth_callback" in last(box).warnings[0]


def test_a_misspelt_parameter_of_the_exchange_is_refused(box: Sandbox) -> None:
    """Only the parameters of the other steps pass."""
    keys = begun(box)
    verifier = granted(box, keys)

    form = {"oauth_verifier": verifier, "oauth_verifer": verifier}
    answer = box.call("POST", "/oauth/access_token", keys=keys, form=form)

    assert (400, 131) == code(answer)
    assert 200 == exchange(box, keys, verifier).status_code


def test_strict_wins(boxes: Sandboxes) -> None:
    """With both, what --strict refuses is refused by it."""
    answer = boxes.get(warnings="error", strict=True).call("PUT", f"{LINE_ITEM}?nmae=x")

    assert (501, [("NOT_IMPLEMENTED", None)]) == refusal(answer)


@pytest.mark.parametrize(("server", "world", "status"), [
    ("ignore", "error", 400),
    ("error", "ignore", 200),
    ("error", None, 400),
    ("ignore", None, 200),
])  # fmt: skip
def test_a_world_has_its_own_choice(server: str, world: str | None, status: int) -> None:
    """A new world does as the server does unless it is asked for otherwise, also after a reset."""
    box = sandbox(warnings=server)
    call(box, "PUT", "/worlds/w1", json={} if world is None else {"warnings": world})
    call(box, "PUT", "/worlds/w2", json={"from": "w1"})
    call(box, "POST", "/reset", "w1")

    found = [
        box.call("PUT", f"/~{name}{LINE_ITEM}", query_string={"nmae": "x"}).status_code
        for name in ("w1", "w2")
    ]
    usual = box.call("PUT", LINE_ITEM, query_string={"nmae": "x"}).status_code

    assert ([status, status], 400 if server == "error" else 200) == (found, usual)


def _basic() -> str:
    from base64 import b64encode

    return b64encode(f"{APP.key}:{APP.secret}".encode()).decode()
