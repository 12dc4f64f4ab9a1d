from __future__ import annotations

import pytest

from tests.control.support import call, detail
from tests.support import Sandbox, sandbox

START = "2026-03-01T00:00:00.000Z"


@pytest.fixture
def box() -> Sandbox:
    """A sandbox that was asked for three things, a minute apart."""
    box = sandbox()
    call(box, "PUT", "/clock", json={"action": "freeze", "to": START})
    box.call("GET", "/12/accounts")
    call(box, "PUT", "/clock", json={"action": "advance", "seconds": 60})
    box.call("POST", "/oauth2/token", keys=None)
    call(box, "PUT", "/clock", json={"action": "advance", "seconds": 60})
    box.call("GET", "/oauth2/tokn?x=1", keys=None)
    return box


def found(box: Sandbox, query: str) -> list[str]:
    """Ids of the entries that a query finds."""
    body = call(box, "GET", f"/requests{query}").get_json()
    ids = [entry["id"] for entry in body["requests"]]
    counted = call(box, "GET", f"/requests/count{query}")
    if "limit" not in query:
        assert len(ids) == counted.get_json()["count"]
    return ids


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["r1", "r2", "r3"]), ("?operation=oauth2.token", ["r2"]), ("?status=200", ["r1"]),
        ("?status=404", ["r3"]), ("?status=4XX", ["r2", "r3"]), ("?method=get", ["r1", "r3"]),
        ("?method=POST&status=403", ["r2"]), ("?path=oauth2", ["r2", "r3"]),
        ("?since=2026-03-01T00:01:00Z", ["r2", "r3"]), ("?rule=usage-capped", []),
        ("?rule=usage-capped/0", []), ("?rule=prefer", []), ("?ended=complete", ["r1", "r2", "r3"]),
        ("?ended=reset", []), ("?limit=2", ["r2", "r3"]), ("?limit=0", []),
        ("?path=o&limit=1", ["r3"]),
        ("?operation=&status=&method=&path=&rule=&since=&limit=", ["r1", "r2", "r3"]),
    ],
)  # fmt: skip
def test_queries(box: Sandbox, query: str, ids: list[str]) -> None:
    """Entries are found by all that is asked for, oldest first; empty values ask for nothing."""
    assert ids == found(box, query)


def test_what_a_scenario_did_that_was_deleted(box: Sandbox) -> None:
    """Its requests are found as long as there are some; a name that never acted is refused."""
    rules = [{"on": "accounts.list", "then": {"error": "NOT_FOUND"}}]
    document = {"description": "d", "spec": "s", "rules": rules}
    assert 200 == call(box, "PUT", "/scenarios/mine", json=document).status_code
    call(box, "POST", "/scenarios/mine/activate", json={})
    box.call("GET", "/12/accounts")
    call(box, "DELETE", "/scenarios/mine")

    assert ["r4"] == found(box, "?rule=mine") == found(box, "?rule=mine/0")
    assert "mine" in detail(call(box, "GET", "/requests?rule=mine/1"), 400)


def test_one_entry(box: Sandbox) -> None:
    """An entry is found by the id that its answer carried, and holds everything."""
    entry = call(box, "GET", "/requests/r2").get_json()

    assert [
        "id", "at", "world", "operation", "custom", "method", "url", "status", "ended", "why",
        "milliseconds", "handler_milliseconds", "caller", "rule", "near_misses", "changes",
        "assumptions", "warnings", "diagnosis", "cost", "request", "response",
    ] == list(entry)  # fmt: skip
    assert ("r2", "2026-03-01T00:01:00.000Z", "default") == (
        entry["id"],
        entry["at"],
        entry["world"],
    )
    listed = call(box, "GET", "/requests?operation=oauth2.token").get_json()["requests"]
    assert [entry] == listed


def test_unknown_path_names_the_nearest(box: Sandbox) -> None:
    """The entry of an unknown path names the nearest operations."""
    entry = call(box, "GET", "/requests/r3").get_json()

    assert entry["operation"] is None
    assert "oauth2.token" == entry["diagnosis"]["nearest"][0]["operation"]


def test_a_diagnosis_has_no_secrets(box: Sandbox) -> None:
    """What it quotes of a request loses its credentials, as in the address."""
    box.call("GET", "/2/client_secret=abc", keys=None)
    entry = box.call("GET", "/_mock/requests?limit=1", keys=None).get_json()["requests"][0]

    assert "/2/client_secret=[redacted]" in entry["diagnosis"]["explanation"]
    assert "abc" not in entry["diagnosis"]["explanation"]


def test_entry_of_another_world(box: Sandbox) -> None:
    """For an id of another world's journal the refusal names that world."""
    call(box, "PUT", "/worlds/w1")
    answer = box.call("GET", "/~w1/12/accounts", keys=None)

    refusal = call(box, "GET", f"/requests/{answer.headers['X-Mock-Request-Id']}")

    assert "GET /~w1/_mock/requests/r4" in detail(refusal, 404)


def test_empty_the_journal(box: Sandbox) -> None:
    """An emptied journal holds nothing; ids go on."""
    assert 204 == call(box, "DELETE", "/requests").status_code
    assert [] == found(box, "")
    box.call("GET", "/12/accounts")
    assert ["r4"] == found(box, "")


def test_dropped(box: Sandbox) -> None:
    """A full journal says how many entries it dropped."""
    box = sandbox(journal_entries=2)
    for _ in range(3):
        box.call("GET", "/12/accounts")

    body = call(box, "GET", "/requests").get_json()

    assert (["r2", "r3"], 1) == ([entry["id"] for entry in body["requests"]], body["dropped"])


def test_no_secret_is_in_what_the_control_plane_shows(box: Sandbox) -> None:
    """Passwords in addresses, and secrets under other spellings, in the journal and in archives."""
    secret = "hunter2Value"
    path = f"/2/users/me?next=http://me:{secret}@h/&client-secret={secret}&Verifier={secret}"
    headers = {"Referer": f"http://me:{secret}@h/", "X-Csrf-Token": secret, "Api-Key": secret}
    box.call("GET", path, headers=headers)
    box.call("POST", "/2/webhooks", json={"url": f"https://me:{secret}@h/", "tokenSecret": secret})

    entries = call(box, "GET", "/requests").get_json()["requests"]
    shown = [f"/requests/{entry['id']}" for entry in entries]
    pages = [f"/console{each}" for each in shown]
    for each in (*shown, *pages, "/requests", "/requests.har", "/warnings", "/"):
        answer = call(box, "GET", each)
        assert 200 == answer.status_code
        assert secret not in answer.text, each
