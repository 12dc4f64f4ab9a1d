"""Funding instruments: list and read; on the sandbox creation and deletion."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.ads.support import echo, get, ids, load
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

PATH = f"/12/accounts/{ACCOUNT}/funding_instruments"
SANDBOX = f"/sandbox{PATH}"
NEW = {"currency": "USD", "start_time": "2026-11-01T00:00:00Z", "type": "CREDIT_CARD"}
KEYS = {
    "id", "account_id", "type", "description", "currency", "entity_status", "able_to_fund",
    "reasons_not_able_to_fund", "credit_limit_local_micro", "credit_remaining_local_micro",
    "funded_amount_local_micro", "io_header", "start_time", "end_time", "created_at", "updated_at",
    "deleted",
}  # fmt: skip


def test_listed_and_read(box: Sandbox) -> None:
    """An account lists its own instruments; each names its account."""
    listed, read = get(box, "funding_instruments"), load(box, "funding_instruments/lygyi")
    chosen = get(box, "funding_instruments", funding_instrument_ids="m2k8s,n1x4e")

    assert ids(listed) == ["lygyi", "m2k8s"]
    assert data_of(listed)[0] == read
    assert set(read) == KEYS
    assert (read["account_id"], read["able_to_fund"]) == (ACCOUNT, True)
    assert ids(chosen) == ["m2k8s"]


def test_created_on_the_sandbox(box: Sandbox) -> None:
    """A new instrument has what was sent, and a description that says what it lacks."""
    amounts: dict[str, Any] = {"credit_limit_local_micro": 5000000, "funded_amount_local_micro": 0}
    response = box.ask("POST", SANDBOX, **NEW, **amounts)
    shown = data_of(response)

    assert set(shown) == KEYS
    assert shown["description"] == "(no payment method has been set up yet)"
    assert amounts.items() <= shown.items()
    assert amounts.items() <= echo(response).items()
    assert load(box, f"funding_instruments/{shown['id']}") == shown


create = partial(Refusal, f"POST {SANDBOX}")
REFUSED = [
    *(create(f"{name} {value}", 400, [(code, name)], query=NEW | {name: value})
      for name, value, code in (
          ("currency", "XYZ", "INVALID_PARAMETER"), ("type", "CASH", "INVALID_PARAMETER"),
          ("start_time", "soon", "INVALID_PARAMETER"),
          ("end_time", NEW["start_time"], "INVALID_TIME_WINDOW"),
          ("credit_limit_local_micro", "-1", "INVALID_PARAMETER"))),
    create("nothing", 400,
           [("MISSING_PARAMETER", name) for name in ("currency", "start_time", "type")]),
    Refusal(f"POST {PATH}", "a creation at the plain address", 405, [("METHOD_NOT_ALLOWED", None)],
            query=NEW),
    Refusal(f"DELETE {PATH}/lygyi", "a deletion at the plain address", 405,
            [("METHOD_NOT_ALLOWED", None)]),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each parameter has its form, the end is after the start, and only the sandbox writes."""
    row.check(box)


@pytest.mark.usefixtures("noon")
def test_deleted(box: Sandbox) -> None:
    """A deleted instrument stays ACTIVE, but cannot fund; its campaigns get FUNDING_PROBLEM."""
    gone = data_of(box.call("DELETE", f"{SANDBOX}/m2k8s"))

    assert (gone["deleted"], gone["entity_status"], gone["able_to_fund"]) == (True, "ACTIVE", False)
    assert gone["reasons_not_able_to_fund"] == ["DELETED"]
    assert load(box, "campaigns/8wku2")["reasons_not_servable"] == ["FUNDING_PROBLEM"]
