"""The same call over a real socket and in-process: its caller meets the same, to the letter.

The other half, whole answers of whole applications, is `test_transport_streams.py`.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Callable
from typing import Any, Literal

import pytest
import requests
from requests.adapters import HTTPAdapter
from requests_oauthlib import OAuth1
from urllib3 import Retry, Timeout

from mock_platform import MockPlatform, WsgiAdapter
from mock_platform.world.clock import UPTIME
from tests.live.parity import Told, answer_told, direct, met
from tests.live.sandboxes import starting
from tests.visitor import Visitor
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

NOON = "2026-03-01T12:00:00Z"
FAULTS = ("reset", "empty", "truncate", "garbage", "timeout")
LINE_ITEM = "/line_items/itttx"

Way = Literal["socket", "session", "adapter"]
Call = Callable[[requests.Session, str], object]


platform = starting(auth="off", freeze=NOON)
"""A server that asks for no credentials; each call begins with a reset."""


def session(platform: MockPlatform, way: Way, retries: int | Retry = 0) -> requests.Session:
    """A session over a socket, the platform's own, or a client's own with the adapter mounted."""
    made = platform.session() if way == "session" else direct()
    if way == "adapter":
        made.mount(platform.base_url, WsgiAdapter(platform.wsgi, max_retries=retries))
    elif retries:
        made.mount("http://", HTTPAdapter(max_retries=retries))
    return made


def account(platform: MockPlatform) -> str:
    """The address of the well-known account."""
    return f"{platform.base_url}/12/accounts/{platform.credentials['accounts'][0]}"


def begin(platform: MockPlatform, rules: list[dict[str, Any]]) -> None:
    """The world as it started, in which rules act."""
    platform.reset()
    if rules:
        platform.activate(platform.define({"name": "s", "rules": rules}))


def both(
    platform: MockPlatform,
    call: Call,
    rules: list[dict[str, Any]],
    retries: int | Retry = 0,
    *,
    calls: int = 1,
) -> Told:
    """What a call meets where rules act, over a socket and both ways in-process: all the same.

    Compared besides: what the world holds afterwards, and what its journal says, once it has that
    many `calls`: a client may have stopped before its call was answered.
    """
    found: list[Told] = []
    ways: tuple[Way, ...] = ("socket", "session", "adapter")
    for way in ways:
        begin(platform, rules)
        with session(platform, way, retries) as made:
            told = met(lambda made=made: call(made, account(platform)))  # type: ignore[misc]
        _await_calls(platform, calls)
        told["record"] = platform.state["line_items"].get("itttx")
        told["journal"] = [(each.method, each.url, each.status) for each in platform.journal]
        found.append(told)

    socket, own, adapter = found
    assert socket == own
    assert socket == adapter
    return socket


def _await_calls(platform: MockPlatform, calls: int) -> None:
    begun = UPTIME()
    while len(platform.journal) < calls:
        assert UPTIME() - begun < PATIENCE


def limit(then: object) -> float:
    """A time-out that only what never comes exceeds, and that soon."""
    waits = "timeout" in str(then) or "delay" in str(then)
    return 0.2 if waits else PATIENCE


def one(then: object) -> list[dict[str, Any]]:
    """A rule that acts on every call."""
    return [{"on": "*", "then": then}]


def calling(method: str = "GET", path: str = "/line_items", **kwargs: Any) -> Call:
    """A plain call."""

    def call(session: requests.Session, url: str) -> object:
        return session.request(method, url + path, **{"timeout": PATIENCE, **kwargs})

    return call


def raised(told: Told) -> str:
    """The class of what a call raised."""
    return str(told["raised"]["class"]).rpartition(".")[2]


def root(fault: Told) -> Told:
    """What an exception is about in the end."""
    inner = [*fault["inside"], *([fault["reason"]] if isinstance(fault["reason"], dict) else [])]
    return root(inner[0]) if inner else fault


# -- faults --------------------------------------------------------------------------------------

RAISED = {
    "reset": ("ConnectionError", "Connection reset by peer"),
    "empty": ("ConnectionError", "Remote end closed connection without response"),
    "truncate": ("ChunkedEncodingError", "IncompleteRead"),
    "garbage": ("ConnectionError", "Connection aborted."),
    "timeout": ("ReadTimeout", "Read timed out."),
}
"""What requests raises for each fault, and says."""


@pytest.mark.parametrize("stage", ["before_commit", "after_commit"])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults(platform: MockPlatform, fault: str, stage: str) -> None:
    """A lost answer raises the same, and the same is kept of the request."""
    delete = calling("DELETE", LINE_ITEM, timeout=limit(fault))

    told = both(platform, delete, one({"fault": fault, "stage": stage}))

    kind, text = RAISED[fault]
    assert (kind, True) == (raised(told), text in told["raised"]["text"])
    assert fault != "reset" or errno.ECONNRESET == root(told["raised"])["errno"]
    assert (stage == "after_commit") == told["record"]["deleted"]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_head(platform: MockPlatform, fault: str) -> None:
    """HEAD has no body to cut: the connection ends instead."""
    told = both(platform, calling("HEAD", timeout=limit(fault)), one({"fault": fault}))

    assert {"truncate": "ConnectionError"}.get(fault, RAISED[fault][0]) == raised(told)


READINGS: dict[str, Callable[[requests.Response], object]] = {
    "content": lambda answer: answer.content,
    "json": lambda answer: answer.json(),
    "iter_content": lambda answer: list(answer.iter_content(70)),
    "iter_content(None)": lambda answer: list(answer.iter_content(None)),
    "iter_lines": lambda answer: list(answer.iter_lines()),
    "raw.read": lambda answer: answer.raw.read(),
    "raw.read(5)": lambda answer: (answer.raw.read(5), answer.raw.tell(), answer.raw.read(5)),
    "raw.readinto": lambda answer: answer.raw.readinto(bytearray(5)),
    "raw.stream": lambda answer: b"".join(answer.raw.stream(30)),
    "raw.data": lambda answer: answer.raw.data,
    "closed early": lambda answer: (
        next(answer.iter_content(7)),
        met(answer.close),
        met(answer.raw.read),
        met(lambda: answer.content),
    ),
}


@pytest.mark.parametrize("then", [{"fault": "truncate"}, {"delay": {"slow_body": 0.1}}], ids=str)
@pytest.mark.parametrize("reading", READINGS)
def test_bodies_are_read_in_every_way(platform: MockPlatform, reading: str, then: object) -> None:
    """Whole and cut bodies have the same parts, and the same is raised where they end."""

    def call(session: requests.Session, url: str) -> object:
        answer = session.get(f"{url}/line_items", stream=True, timeout=PATIENCE)
        return answer_told(answer, content=met(lambda: READINGS[reading](answer)))

    told = both(platform, call, one(then))

    assert told["made"]["content"]


# -- timeouts ------------------------------------------------------------------------------------


TIMEOUTS = [0.2, (5, 0.2), Timeout(total=0.2), Timeout(connect=5, read=0.2)]
LATE = [
    {"fault": "timeout"}, {"delay": 30}, {"delay": {"between": [30, 31]}},
    {"delay": {"slow_body": 300}}, [{"delay": 0.15}, {"delay": {"slow_body": 300}}],
]  # fmt: skip


@pytest.mark.parametrize(
    ("then", "timeout"),
    [*((then, 0.2) for then in LATE), *((LATE[-1], timeout) for timeout in TIMEOUTS[1:])],
    ids=repr,
)
def test_answers_later_than_the_timeout(platform: MockPlatform, then: object, timeout: Any) -> None:
    """Every form of timeout is obeyed, and reported as it was set."""
    told = both(platform, calling(timeout=timeout), one(then))

    assert "ReadTimeout" == raised(told)
    assert told["raised"]["text"].endswith("Read timed out. (read timeout=0.…)")
    assert [200] == [status for *_, status in told["journal"]]


@pytest.mark.parametrize(
    ("timeout", "then"),
    [
        (PATIENCE, {"delay": 0.1}),
        (None, {"delay": 0.1}),
        ((0.3, PATIENCE), {"delay": 0.5}),
        (1.2, {"delay": {"slow_body": 1.6}}),
    ],
    ids=str,
)
def test_answers_within_the_timeout(platform: MockPlatform, then: object, timeout: Any) -> None:
    """The time to connect is not meant, and each part of a body may take as long as the timeout."""
    assert (200, "OK", True) == both(platform, calling(timeout=timeout), one(then))["status"]


@pytest.mark.parametrize("way", ["socket", "session", "adapter"])
def test_delays_show_in_elapsed(platform: MockPlatform, way: Way) -> None:
    """`elapsed` has the delay of the answer in it, and of the body only that of its first part."""
    begin(platform, one({"delay": {"seconds": 0.2, "slow_body": 10}}))

    with session(platform, way).get(
        f"{account(platform)}/line_items", timeout=PATIENCE, stream=True
    ) as answer:
        elapsed = answer.elapsed.total_seconds()

    assert 0.2 + 10 / 20 <= elapsed < 10


@pytest.mark.parametrize("then", [{"fault": "timeout"}, {"delay": 300}], ids=str)
@pytest.mark.parametrize("way", ["session", "adapter"])
def test_in_process_no_timeout_is_waited_for(
    platform: MockPlatform, way: Way, then: object
) -> None:
    """What will time out does so at once."""
    begin(platform, one(then))
    began = UPTIME()

    with pytest.raises(requests.ReadTimeout):
        session(platform, way).get(f"{account(platform)}/line_items", timeout=250)

    assert UPTIME() - began < PATIENCE


def test_in_process_a_held_connection_ends_without_timeout(platform: MockPlatform) -> None:
    """A call that would hang for ever over a socket, because it has no timeout, is reported."""
    begin(platform, one({"fault": "timeout"}))

    with pytest.raises(requests.ReadTimeout, match=r"\(read timeout=None\)"):
        platform.session().get(f"{account(platform)}/line_items")


# -- answers -------------------------------------------------------------------------------------

POLL = {"name": "p", "first_choice": "a", "second_choice": "b", "duration_in_minutes": "1440"}
HEADERS = {
    "X-Padded": " a b ", "X-Empty": "", "Location": "/2/nowhere", "Set-Cookie": "a=b; Path=/",
    "Server": "theirs",
}  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("body", [{"text": "häh"}, {"json": {"a": 1}}, {}], ids=str)
@pytest.mark.parametrize("status", [200, 204, 205, 206, 226, 301, 304, 307, 308, 418, 451, 599])
def test_answers_of_the_authors_own(
    platform: MockPlatform, status: int, body: dict[str, Any], method: str
) -> None:
    """Any status and any header, with a body or without: redirects are followed, cookies kept."""
    then = {"respond": {"status": status, "headers": HEADERS, **body}}
    told = both(platform, calling(method, "/cards/poll", params=POLL), one(then))

    assert [("a", "b", "/", "127.0.0.1")] == (told["history"] or [told])[0]["cookies"]


@pytest.mark.parametrize(
    "then",
    [
        [{"respond": {"status": 204}}, {"fault": "truncate"}],
        {"respond": {"headers": {"Content-Encoding": "gzip"}, "text": "not compressed"}},
        {"respond": {"headers": {"Content-Type": "text/html; charset=utf-16"}, "text": "ab"}},
        {"respond": {"text": "x" * 1_000_000}},
        {"error": 88},
        {"patch": {"data": None}},
    ],
    ids=lambda then: str(then)[:60],
)
def test_odd_answers(platform: MockPlatform, then: object) -> None:
    """No body to cut, a false encoding, a long text, failures and altered answers."""
    both(platform, calling(), one(then))


def test_prepared_requests(platform: MockPlatform) -> None:
    """A request that was prepared before is sent as it is."""

    def call(session: requests.Session, url: str) -> object:
        query = {"count": "2", "line_item_ids": "ittty,itttx ", "x": "ä/%2F"}
        asked = requests.Request("GET", f"{url}/line_items", params=query)
        return session.send(session.prepare_request(asked), timeout=PATIENCE)

    assert (200, "OK", True) == both(platform, call, [])["status"]


# -- retries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "retries", "calls", "outcome"),
    [
        ({"error": 88}, Retry(2, status_forcelist=[429], backoff_factor=0), 3, "RetryError"),
        ({"error": 88}, Retry(2, status_forcelist=[429], raise_on_status=False), 3, 429),
        ({"error": 88}, Retry(2, status_forcelist=[503]), 1, 429),
        ({"respond": {"status": 503, "headers": {"Retry-After": "0"}}}, Retry(2), 3, 503),
        ({"fault": "reset"}, Retry(2), 3, "ConnectionError"),
        ({"fault": "reset"}, Retry(2, read=False), 1, "ConnectionError"),
        ({"fault": "empty"}, 2, 3, "ConnectionError"),
        ({"fault": "garbage"}, Retry(2, read=1), 2, "ConnectionError"),
        ({"fault": "timeout"}, Retry(1), 2, "ConnectionError"),
        ({"delay": 30}, Retry(1, allowed_methods=["POST"]), 1, "ReadTimeout"),
        ({"fault": "truncate"}, Retry(2), 1, "ChunkedEncodingError"),
    ],
)  # fmt: skip
def test_retries_that_fail(
    platform: MockPlatform, then: object, retries: int | Retry, calls: int, outcome: str | int
) -> None:
    """As often as a `Retry` wants it, and what it raises in the end."""
    told = both(platform, calling(timeout=limit(then)), one(then), retries, calls=calls)

    assert calls == len(told["journal"])
    assert outcome == (told["status"][0] if isinstance(outcome, int) else raised(told))


@pytest.mark.parametrize("fault", ["reset", "empty", "garbage", "timeout"])
def test_a_retry_that_succeeds(platform: MockPlatform, fault: str) -> None:
    """The retry finds the record that the lost answer had already deleted."""
    rules = [{"on": "*", "call": 1, "then": {"fault": fault, "stage": "after_commit"}}]

    # Long enough for the retry, however busy the machine is; only one way waits for it.
    call = calling("DELETE", LINE_ITEM, timeout=4 if fault == "timeout" else PATIENCE)
    told = both(platform, call, rules, Retry(1), calls=2)

    assert [200, 404] == [status for *_, status in told["journal"]]
    assert 404 == told["status"][0]
    assert 1 == len(told["retries"])


def test_a_retried_body_is_sent_again_whole(platform: MockPlatform) -> None:
    """A file is wound back before the second attempt."""

    def call(session: requests.Session, url: str) -> object:
        form = io.BytesIO(b"name=wound+back")
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return session.put(url + LINE_ITEM, data=form, headers=headers, timeout=PATIENCE)

    told = both(platform, call, [{"on": "*", "call": 1, "then": {"fault": "reset"}}], Retry(1))

    assert "wound back" == told["record"]["name"]


def test_a_sessions_own_adapters_keep_their_ways(platform: MockPlatform) -> None:
    """A client that mounts an adapter with a timeout of its own has it in-process too."""

    class Impatient(HTTPAdapter):
        def send(self, request: Any, *args: Any, **kwargs: Any) -> requests.Response:
            return super().send(request, *args, **{**kwargs, "timeout": 0.2})

    def call(session: requests.Session, url: str) -> object:
        if not isinstance(session.get_adapter(url), WsgiAdapter):
            session.mount("http://", Impatient())
            session.mount("https://", Impatient())
            return session.get(url, stream=True)
        return session.get(url, stream=True, timeout=0.2)

    told = both(platform, call, one({"delay": 30}))

    assert "ReadTimeout" == raised(told)


# -- pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_the_pages_of_consent(decision: str) -> None:
    """Logging in and deciding: cookies, redirects and pages are those of a browser's way."""
    with MockPlatform.start(freeze=NOON) as platform:
        app = platform.credentials["app"]
        assert app is not None
        callback = app["callback_urls"][0]
        signed = OAuth1(app["consumer_key"], app["consumer_secret"], callback_uri=callback)

        def call(session: requests.Session, url: str) -> object:
            asked = session.post(
                f"{platform.base_url}/oauth/request_token", auth=signed, timeout=PATIENCE
            )
            visitor = Visitor(session, platform.base_url)
            steps = [
                visitor.open("/oauth/authorize", oauth_token=asked.text[12:39]).response,
                visitor.log_in().response, visitor.submit(decision).response,
            ]  # fmt: skip
            seen = repr([answer_told(step) for step in steps])
            statuses = [step.status_code for step in steps]
            # Secrets of a browser are drawn afresh for each.
            return re.sub(r"\b(\w{40}|\w{64})\b", "…", seen), statuses, session.cookies.keys()

        told = both(platform, call, [])

    seen, statuses, cookies = told["made"]
    assert [200, 200, 302] == statuses
    assert f"'Location', '{callback}" in seen
    assert ["mock_platform_session_default"] == cookies
