"""Archives for Pact files: each exchange has the state of the world that its answer shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mock_platform.verification.har.exchange import BadHar
from mock_platform.verification.importing.pact_archive import read_archive
from mock_platform.verification.pact.recorded import LeftOut, PactExchange
from tests.support import ACCOUNT, BEARER, Sandbox, sandbox
from tests.verification.har.support import make_entry, write_har
from tests.verification.importing.support import write_journal

LIST = f"/12/accounts/{ACCOUNT}/line_items"
CAMPAIGNS = f"/12/accounts/{ACCOUNT}/campaigns"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What is read of an archive in which a client creates, reads and deletes a campaign."""
    folder = tmp_path_factory.mktemp("archive")
    box = sandbox()
    made = create(box)
    box.call("GET", f"{CAMPAIGNS}/{made}", keys=BEARER)
    box.call("DELETE", f"{CAMPAIGNS}/{made}", keys=BEARER)
    box.call("GET", f"{CAMPAIGNS}/{made}", keys=BEARER)
    box.call("GET", LIST, keys=BEARER, headers={"X-Mock-Scenario": "outage"})
    box.call("GET", LIST, keys=None)
    box.call("GET", "/nothing")
    file = write_journal(box, folder / "own.har")
    text = file.read_text().replace(ACCOUNT, "9abc2").replace(made, "7made7")
    file.write_text(text.replace("X-Mock-Scenario", "X-Other"))
    return list(read_archive(file))


def create(box: Sandbox) -> str:
    """The id of a new campaign."""
    funding = box.call("GET", f"/12/accounts/{ACCOUNT}/funding_instruments", keys=BEARER)
    form = {"name": "New", "funding_instrument_id": funding.get_json()["data"][0]["id"],
            "daily_budget_amount_local_micro": "1000000"}  # fmt: skip
    answer = box.call("POST", CAMPAIGNS, keys=BEARER, form=form)
    return str(answer.get_json()["data"]["id"])


def read_state(exchange: Any) -> dict[str, Any]:
    """The parameters of the state before a request."""
    (state,) = exchange.states
    params: dict[str, Any] = state["params"]
    return params


def read_campaigns(exchange: Any) -> list[tuple[str, bool]]:
    """The campaigns of a state: id, and whether it is deleted."""
    rows = read_state(exchange).get("records", {}).get("campaigns", [])
    return [(row["id"], row["deleted"]) for row in rows]


def test_states_follow_the_archive(found: list[Any]) -> None:
    """A campaign is there after the request that made it, under its recorded id, until deleted."""
    statuses = [each.status for each in found if isinstance(each, PactExchange)]
    _, made, read, deleted, gone, *_ = found

    assert [200, 200, 200, 200, 404, 503, 401] == statuses
    assert [] == read_campaigns(made)
    assert [("7made7", False)] == read_campaigns(read) == read_campaigns(deleted)
    assert [("7made7", True)] == read_campaigns(gone)
    assert {"accounts", "campaigns", "funding_instruments"} == set(read_state(read)["records"])
    assert "scenarios" not in read_state(gone)
    assert read_state(read)["clock"].endswith("Z")


def test_failures_that_no_record_makes_come_from_a_scenario(found: list[Any]) -> None:
    """The state activates a scenario that fails the operation as recorded."""
    failed = next(each for each in found if getattr(each, "status", 0) == 503)
    (scenario,) = read_state(failed)["scenarios"]

    assert scenario["name"].startswith("fails-line-items-list-503")
    (rule,) = scenario["document"]["rules"]
    assert ("line_items.list", 503) == (rule["on"], rule["then"]["respond"]["status"])


def test_what_is_left_out(found: list[Any], tmp_path: Path) -> None:
    """Each request that is not taken has a reason."""
    url = "https://ads-api.x.com/12/accounts"
    entries = [
        make_entry(url=url, status=0),
        make_entry(url=f"{url}/9/line_items/8", status=201),
        make_entry(url=url, status=503, text=json.dumps("[redacted]")),
    ]

    others = list(read_archive(write_har(tmp_path, *entries)))

    assert LeftOut("GET /nothing", "it is no request of this interface") == found[-1]
    assert [
        "its answer is not in the archive",
        "a sandbox with the records of the archive answers 404, not 201",
        "no scenario can make this failure: the secrets in it were removed from the recording",
    ] == [each.reason for each in others if isinstance(each, LeftOut)]


def test_original_names(tmp_path: Path) -> None:
    """Requests of a service with original names ask for them, and reach its paths."""
    entry = make_entry(
        url="https://ads-api.x.com/11/accounts/9abc2/promoted_tweets", text='{"data":[]}'
    )

    (exchange,) = read_archive(write_har(tmp_path, entry), "original")

    assert isinstance(exchange, PactExchange)
    assert ("promoted_posts.list", "original") == (exchange.operation.id, exchange.names)
    assert exchange.credentials is not None  # the archive has none, but the request succeeded
    assert "oauth1" == exchange.credentials.scheme


def test_a_damaged_archive(tmp_path: Path) -> None:
    """It is refused with its place."""
    (tmp_path / "bad.har").write_text('{"log": {"entries": [1]}}')

    with pytest.raises(BadHar, match=r"bad\.har:1"):
        list(read_archive(tmp_path / "bad.har"))
