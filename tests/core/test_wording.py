"""Refusals of the advertising interface: in the live service's words, which clients match."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.oauth_steps import last
from tests.support import ACCOUNT, Sandbox, sandbox

pytestmark = pytest.mark.usefixtures("noon")

LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"
CARDS = f"/12/accounts/{ACCOUNT}/cards"
LINE_ITEMS = f"/12/accounts/{ACCOUNT}/line_items"
MEDIA = f"/12/accounts/{ACCOUNT}/media_library/3_1712850617439550001"
AUDIENCE = f"/12/accounts/{ACCOUNT}/custom_audiences/1nmth/users"
LIST = f"/12/batch/accounts/{ACCOUNT}/do_not_reach_lists/4y1bc/users"
HASH = "a" * 64

UNREADABLE = [
    ("PUT", LINE_ITEM, "bid_amount_local_micro", "[12]", "Long", "invalid number"),
    ("PUT", LINE_ITEM, "start_time", "", "time", "invalid date"),
    ("GET", LINE_ITEMS, "with_deleted", "maybe", "Boolean", "invalid boolean"),
    ("GET", LINE_ITEMS, "cursor", "x", "cursor", "invalid cursor"),
]
"""Requests with one value that is not of its parameter's kind, and the details of the error."""
REFUSED: list[tuple[str, str, dict[str, str], str, str, str]] = [
    ("PUT", LINE_ITEM, {"pay_by": "C"}, "INVALID_PARAMETER", "pay_by",
     'Expected a value in APP_CLICK, IMPRESSION, LINK_CLICK, got "C" for pay_by'),
    ("PUT", LINE_ITEM, {"duration_in_days": "2"}, "INVALID_PARAMETER", "duration_in_days",
     'Expected a value in 1, 7, 30, got "2" for duration_in_days'),
    ("GET", LINE_ITEMS, {"sort_by": "deleted-up"}, "INVALID_PARAMETER", "sort_by",
     "Expected a value in created_at-asc, created_at-desc, updated_at-asc, updated_at-desc, "
     "deleted-asc, deleted-desc, bid_amount_local_micro-asc, bid_amount_local_micro-desc, got "
     '"deleted-up" for sort_by'),
    ("GET", LINE_ITEMS, {"line_item_ids": ""}, "INVALID_PARAMETER", "line_item_ids",
     "A minimum of 1 items must be provided for line_item_ids"),
    ("GET", LINE_ITEMS, {"line_item_ids": ",".join("ab" for _ in range(201))},
     "INVALID_PARAMETER", "line_item_ids",
     "A maximum of 200 items may be provided for line_item_ids"),
    ("GET", LINE_ITEMS, {"with_total_count": "true", "cursor": "x"}, "EXCLUSIVE_PARAMETERS",
     "with_total_count", "with_total_count and cursor are exclusive parameters"),
    ("POST", f"{LINE_ITEM[: -len('s/itttx')]}_curated_categories", {"curated_category_id": "1"},
     "MISSING_PARAMETER", "line_item_id", '"line_item_id" is a required parameter'),
    ("PUT", LINE_ITEM, {"bid_strategy": "MAX", "bid_amount_local_micro": ""},
     "MISSING_PARAMETER", "bid_amount_local_micro",
     '"bid_amount_local_micro" is a required parameter when bid_strategy is MAX'),
    ("PUT", MEDIA, {"title": "x"}, "INVALID_PARAMETER", "title", "setting title is not allowed"),
    ("PUT", LINE_ITEM, {"advertiser_user_id": "1"}, "INVALID_PARAMETER", "advertiser_user_id",
     "setting advertiser_user_id is not allowed"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "name", "value", "kind", "details"), UNREADABLE)
def test_a_value_that_cannot_be_read_is_repeated_with_details(
    box: Sandbox, method: str, path: str, name: str, value: str, kind: str, details: str
) -> None:
    """The error has the value and why it cannot be read; the echo has only what could be."""
    answer = box.call(method, path, query_string={name: value, "name": "N", "count": "5"})

    body = answer.get_json()
    assert (400, [{
        "code": "INVALID_PARAMETER", "message": f'Expected {kind}, got "{value}" for {name}',
        "parameter": name, "details": details, "value": value,
    }]) == (answer.status_code, body["errors"])  # fmt: skip
    assert name not in body["request"]["params"]
    assert ACCOUNT == body["request"]["params"]["account_id"]
    other = {"name": "N"} if method == "PUT" else {"count": 5}
    assert other.items() <= body["request"]["params"].items()


@pytest.mark.parametrize(("method", "path", "query", "code", "parameter", "message"), REFUSED)
def test_other_errors_have_code_message_and_parameter(
    box: Sandbox,
    method: str,
    path: str,
    query: dict[str, str],
    code: str,
    parameter: str,
    message: str,
) -> None:
    """Refusals by list, by bound and by rule name the parameter alone."""
    answer = box.call(method, path, query_string=query)

    assert [{"code": code, "message": message, "parameter": parameter}] == (
        answer.get_json()["errors"]
    )


def test_parameters_that_exclude_each_other_are_echoed(box: Sandbox) -> None:
    """Both could be read, so both are echoed."""
    answer = box.call("GET", LINE_ITEMS, query_string={"with_total_count": "true", "cursor": "x"})

    assert {"account_id": ACCOUNT, "with_total_count": True, "cursor": "x"} == (
        answer.get_json()["request"]["params"]
    )


def test_nobody_is_to_blame(box: Sandbox) -> None:
    """An error about the request as a whole has the empty parameter."""
    answer = box.call("POST", CARDS, data=b"[", content_type="application/json")

    assert [("INVALID_PARAMETER", "")] == [
        (error["code"], error["parameter"]) for error in answer.get_json()["errors"]
    ]


@pytest.mark.parametrize("path", ["/12/accounts", CARDS])
def test_an_unsigned_request_is_not_properly_authenticated(path: str) -> None:
    """The body of a 401 has the public words and an empty echo, whatever the path names."""
    answer = sandbox().call("GET", path, keys=None)

    error = {"code": "UNAUTHORIZED_ACCESS", "message": "This request is not properly authenticated"}
    assert (401, {"errors": [error], "request": {"params": {}}}) == (
        answer.status_code,
        answer.get_json(),
    )


@pytest.mark.parametrize(("query", "explanation"), [
    ({"pay_by": "IMPRESION"}, "pay_by: Did you mean IMPRESSION?"),
    ({"start_time": "tomorrow"},
     "start_time: Not an ISO 8601 date-time such as 2026-11-20T10:00:00Z"),
    ({"advertiser_user_id": "1"},
     "advertiser_user_id: This client application has not advertiser_user_id on its _allowlist"),
])  # fmt: skip
def test_what_helps_is_in_the_journal(
    box: Sandbox, query: dict[str, str], explanation: str
) -> None:
    """The nearest value and the reason are not in the message but in the diagnosis."""
    answer = box.call("PUT", LINE_ITEM, query_string=query)

    assert 400 == answer.status_code
    diagnosis = last(box).diagnosis
    assert diagnosis is not None
    assert {"mistake": "parameters", "explanation": explanation} == diagnosis
    assert explanation.split(": ")[1] not in answer.get_data(as_text=True)


SOUND: dict[str, Any] = {"operation_type": "Update", "params": {"users": [{"email": [HASH]}]}}
ITEMS = [
    SOUND | {"params": SOUND["params"] | {"expires_at": "2027-01-01"}},
    {"operation_type": "Create", "params": {"users": [], "expires_at": "soon"}},
    5,
]


@pytest.mark.parametrize(("path", "ids"), [
    (AUDIENCE, {"account_id": ACCOUNT, "custom_audience_id": "1nmth"}),
    (LIST, {"account_id": ACCOUNT, "do_not_reach_list_id": "4y1bc"}),
])  # fmt: skip
def test_item_faults_are_parallel_to_the_input(
    box: Sandbox, path: str, ids: dict[str, str]
) -> None:
    """There is nothing else but the echoed operations, of which only what could be read."""
    answer = box.call("POST", path, data=json.dumps(ITEMS), content_type="application/json")

    def wrong(parameter: str, message: str) -> dict[str, str]:
        return {"code": "INVALID_PARAMETER", "message": message, "parameter": parameter}

    assert (400, {
        "operation_errors": [
            [],
            [
                wrong("operation_type",
                      'Expected a value in Update, Delete, got "Create" for operation_type'),
                wrong("users", "A minimum of 1 items must be provided for users"),
                wrong("expires_at", 'Expected time, got "soon" for expires_at'),
            ],
            [wrong("", "Expected Object, got 5 for the operation")],
        ],
        "request": [
            {"params": {"expires_at": "2027-01-01T00:00:00Z", **ids}, "operation_type": "Update"},
            {"params": ids, "operation_type": "Create"},
            {"params": ids},
        ],
    }) == (answer.status_code, answer.get_json())  # fmt: skip
    diagnosis = last(box).diagnosis
    assert diagnosis is not None
    assert "[1].params.users: A minimum of 1 items" in diagnosis["explanation"]


def test_the_diagnosis_of_a_batch_is_bounded(box: Sandbox) -> None:
    """Beyond 20 faults it says that there are more."""
    box.call("POST", AUDIENCE, data=json.dumps([{}] * 2500), content_type="application/json")

    diagnosis = last(box).diagnosis
    assert diagnosis is not None
    assert (21, "and more") == (
        len(diagnosis["explanation"].split("; ")),
        diagnosis["explanation"].split("; ")[-1],
    )
