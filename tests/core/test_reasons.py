"""The sentence that says why: in the journal, in `X-Mock-Why`, the same in both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.clock import machine_now, wire_seconds
from tests.scenario.support import define, engine
from tests.support import ACCOUNT, BEARER, USER_TOKEN, Keys, Sandbox, sandbox


def find_why(box: Sandbox, answer: TestResponse) -> str | None:
    """The reason of an answer, which its entry has as well."""
    entry = box.world.journal.get(answer.headers["X-Mock-Request-Id"])
    assert entry is not None
    assert answer.headers.get("X-Mock-Why") == entry.why
    return entry.why


WRONG = Keys("hbrDeskKey7uE2qXn0Zt4Wc9", "wrong", "2244994945-nobody", "wrong")


@pytest.mark.parametrize(("method", "path", "more", "expected"), [
    ("GET", "/12/acounts", {}, "No operation has the path /12/acounts. Nearest: GET /12/acc"),
    ("GET", "/12/accounts?count=x", {}, 'Expected Integer, got "x" for count.'),
    ("GET", "/12/accounts/zz", {}, "account_id: Account zz was not found or is not associat"),
    ("GET", "/12/accounts", {"keys": None}, "No credentials; this operation takes OAuth 1.0a"),
    ("GET", "/12/accounts", {"keys": WRONG}, "The token 224499... was never issued to"),
    ("DELETE", "/12/accounts", {}, "This method is not allowed here; allowed: GET, HEAD."),
    ("GET", "/2/posts/\u2019", {"keys": BEARER}, "The `id` query parameter value [\\xe2\\x80"),
    ("GET", "/oauth/authorize?oauth_token=zz", {"keys": None},
     "This sandbox did not issue the request token of this address. "),
    ("GET", "/12/accounts", {"headers": {"X-Mock-Scenario": "outage"}},
     "Rule 0 of scenario outage acted: The service is temporarily unavailable."),
    ("GET", "/12/accounts", {"headers": {"X-Mock-Scenario": "outagee"}},
     "There is no scenario 'outagee'. Did you mean 'outage'?"),
    ("GET", "/12/accounts", {"headers": {"Prefer": "code=429"}},
     "Prefer asked for this failure: Rate limit exceeded."),
    ("GET", "/12/accounts", {"headers": {"X-Mock-Scenario": "answer-lost"}},
     "The scenario 'answer-lost' has no rule for accounts.list, only: cards_poll.create."),
    ("GET", "/12/accounts", {"headers": {"X-Mock-World": "nowhere"}}, None),
])  # fmt: skip
def test_reasons(
    box: Sandbox, method: str, path: str, more: dict[str, Any], expected: str | None
) -> None:
    """Every refusal has one, and so has a scenario that acted or could not."""
    answer = box.call(method, path, **more)

    if expected is None:  # no world, so no journal has it
        assert answer.headers["X-Mock-Why"].startswith("There is no world 'nowhere'.")
    else:
        found = find_why(box, answer)
        assert found is not None
        assert found.startswith(expected)
        assert found.isascii()
        assert found.isprintable()


def test_an_answer_without_anything_odd_has_no_reason(box: Sandbox) -> None:
    """Neither a header nor a sentence in the journal."""
    assert find_why(box, box.call("GET", "/12/accounts")) is None


def test_a_scenario_whose_rule_does_not_match(box: Sandbox) -> None:
    """A request that named the scenario itself gets the first difference."""
    define(box, {"rules": [{"on": "accounts.list", "when": {"query": {"count": 7}},
                            "then": {"error": "NOT_FOUND"}}]})  # fmt: skip

    answer = box.call("GET", "/12/accounts?count=8", headers={"X-Mock-Scenario": "s"})

    assert 200 == answer.status_code
    assert (
        find_why(box, answer) == "The scenario 's' did not act: query.count: expected 7, got \"8\"."
    )


def test_secrets_and_foreign_letters_do_not_get_into_it(box: Sandbox) -> None:
    """It is a header: what a message repeats is masked and escaped, and cut."""
    detail = f"é\nx access_token=abc\x07 {'long ' * 200}"
    respond = {"status": 400, "json": {"detail": detail}}
    rules = [{"on": "accounts.list", "then": {"respond": respond}}]
    box.client.put("/_mock/scenarios/s", json={"name": "s", "rules": rules})

    answer = box.call("GET", "/12/accounts", headers={"X-Mock-Scenario": "s"})

    why = find_why(box, answer) or ""
    assert why.startswith("Rule 0 of scenario s acted: \\xe9 x access_token=[redacted]")
    assert 400 >= len(why)


def test_without_markers_only_the_journal_has_it() -> None:
    """`--no-markers` leaves the header out."""
    box = sandbox(markers=False)

    answer = box.call("GET", f"/12/accounts/{ACCOUNT}x")

    (entry,) = box.world.journal.find()
    assert "X-Mock-Why" not in answer.headers
    assert (entry.why or "").startswith("account_id: ")


# -- a client of the machine's clock beside a world whose clock was moved --------------------------

BESIDE = "for a client that goes by the machine's: mock-platform clock travel now."


def ask_oauth2(box: Sandbox) -> TestResponse:
    """A request with a token of a user, which two hours end."""
    end = machine_now() + timedelta(hours=2)
    box.change("tokens", USER_TOKEN, expires_at=wire_seconds(end))
    return box.call("GET", "/2/users/me", keys=USER_TOKEN)


def schedule_soon(box: Sandbox) -> TestResponse:
    """A post that is scheduled in ten minutes, by the machine's clock."""
    moment = (machine_now() + timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M:00Z")
    query = f"scheduled_at={moment}&text=a&as_user_id=2244994945"
    return box.call("POST", f"/12/accounts/{ACCOUNT}/scheduled_posts?{query}")


def search_until_now(box: Sandbox) -> TestResponse:
    """A search of the last hour, by the machine's clock."""
    end = machine_now() - timedelta(minutes=1)
    times = [
        (end - back).strftime("%Y-%m-%dT%H:%M:%SZ") for back in (timedelta(hours=1), timedelta())
    ]
    path = f"/2/posts/search/recent?query=coffee&start_time={times[0]}&end_time={times[1]}"
    return box.call("GET", path, keys=BEARER)


def replay_last_hour(box: Sandbox) -> TestResponse:
    """A replay of the last hour, by the machine's clock."""
    end = machine_now()
    body = {
        "webhook_id": "1146654567674912769",
        "from_date": (end - timedelta(hours=1)).strftime("%Y%m%d%H%M"),
        "to_date": end.strftime("%Y%m%d%H%M"),
    }
    return box.call("POST", "/2/webhooks/replay", keys=BEARER, json=body)


def wait_by_the_machine(box: Sandbox) -> TestResponse:
    """The third request within a limit of one: by the machine's clock, its window is over."""
    define(box, {"rules": [{"on": "accounts.list",
                            "then": {"rate_limit": {"limit": 1, "window": 60}}}]})  # fmt: skip
    engine(box).activate("s")
    return [box.call("GET", "/12/accounts") for _ in range(3)][-1]


@pytest.mark.parametrize(("days", "ask"), [
    (40, ask_oauth2),
    (1, schedule_soon),
    (-1, search_until_now),
    (-1, replay_last_hour),
    (-1, wait_by_the_machine),
], ids=lambda value: getattr(value, "__name__", value))  # fmt: skip
def test_both_clocks_are_named(days: int, ask: Callable[[Sandbox], TestResponse]) -> None:
    """A refusal that depends on the time says what either clock shows, and how to make them one."""
    box = sandbox()
    plain = ask(box)
    box.world.clock.travel(machine_now() + timedelta(days=days))
    now = wire_seconds(box.world.clock.now())[:10]
    moved = find_why(box, ask(box))

    assert "The world's clock" not in (find_why(box, plain) or "")
    assert moved is not None
    assert f"The world's clock is at {now}T" in moved
    assert f"the machine's at {wire_seconds(machine_now())[:10]}T" in moved
    assert moved.endswith(BESIDE)


def test_other_refusals_name_no_clock(box: Sandbox) -> None:
    """What has nothing to do with the time is as it was, also the first refusal of a limit."""
    box.world.clock.travel(machine_now() + timedelta(days=3))
    engine(box).activate("rate-limited", {"on": "line_items.list"})

    unknown = find_why(box, box.call("GET", "/12/accounts/zz"))
    limited = find_why(box, box.call("GET", f"/12/accounts/{ACCOUNT}/line_items"))

    assert unknown is not None
    assert "clock" not in unknown
    assert "Rule 0 of scenario rate-limited acted: Rate limit exceeded." == limited


def test_a_signature_by_the_clock_of_the_world(box: Sandbox) -> None:
    """A timestamp that is right on the world's clock is refused with that very reason."""
    box.world.clock.travel(machine_now() + timedelta(days=3))
    stamp = str(int(box.world.clock.now().timestamp()))
    header = (
        'OAuth oauth_consumer_key="hbrDeskKey7uE2qXn0Zt4Wc9",oauth_nonce="n",oauth_signature="x",'
        f'oauth_signature_method="HMAC-SHA1",oauth_timestamp="{stamp}",oauth_version="1.0"'
    )
    answer = box.call("POST", "/oauth/request_token", keys=None, headers={"Authorization": header})

    why = find_why(box, answer)
    assert why is not None
    assert "are tolerated. It is that of the world's clock; sign with the machine's. The wor" in why
    assert why.endswith(BESIDE)
