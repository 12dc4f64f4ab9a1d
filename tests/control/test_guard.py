from __future__ import annotations

import base64
from typing import Any

import pytest

from mock_platform.control import guard
from mock_platform.control.guard import (
    FORGOTTEN_SECONDS,
    FREE,
    MAX_WAIT_SECONDS,
    Guesses,
    Sessions,
    check_form,
)
from mock_platform.control.refusals import ControlRefusal
from mock_platform.settings import Settings
from tests.control.support import call
from tests.support import sandbox

LOCAL = Settings()
OPEN = Settings(host="0.0.0.0", control_token="s3cret")


def environ(method: str = "GET", **headers: str) -> dict[str, Any]:
    """A WSGI environ with these headers."""
    found = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    return {"REQUEST_METHOD": method, "HTTP_HOST": "localhost:8080", **found}


def check(request: dict[str, Any], settings: Settings) -> None:
    """Check a request of an address that was never wrong."""
    guard.check(request, settings, Guesses(), Sessions())


def refused(settings: Settings, method: str = "GET", **headers: str) -> ControlRefusal:
    """The refusal that a request meets."""
    with pytest.raises(ControlRefusal) as caught:
        check(environ(method, **headers), settings)
    return caught.value


def basic(text: str) -> str:
    """An Authorization header as a browser's password dialog sends it."""
    return f"Basic {base64.b64encode(text.encode()).decode()}"


LINK = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
"""What a browser says of a link on another site."""
ALLOWED: list[tuple[Settings, str, dict[str, str]]] = [
    # Loopback names and addresses may be called, whatever the port.
    *((LOCAL, "GET", {"host": host}) for host in (
        "localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.8.9.10", "[::1]:8080",
        "a.localhost:1")),
    # So may names that are declared as the server's own, and the one it listens on.
    (Settings(public_hosts=("mock",)), "GET", {"host": "mock:8080"}),
    (Settings(host="Sandbox.lan", control_token="t"), "GET",
     {"host": "sandbox.lan:8080", "x_mock_control_token": "t"}),
    # On all interfaces every address may be called, but no name: only names can be rebound.
    *((OPEN, "GET", {"host": host, "x_mock_control_token": "s3cret"}) for host in (
        "192.168.1.5:8080", "[fe80::1]:8080")),
    # Pages of the server itself may use the control plane.
    *((LOCAL, "POST", {"origin": origin}) for origin in (
        "http://localhost:8080", "https://LOCALHOST:8080")),
    (LOCAL, "GET", {"sec_fetch_site": "same-origin"}), (LOCAL, "GET", {"sec_fetch_site": "none"}),
    # A link on another site leads to the console: that shows it to the person alone.
    (LOCAL, "GET", {**LINK, "sec_fetch_dest": "document"}),
    # The token may be in a header of its own, as a bearer token or as a password.
    *((Settings(control_token="s3cret"), "GET", headers) for headers in (
        {"x_mock_control_token": "s3cret"}, {"authorization": "Bearer s3cret"},
        {"authorization": "bearer  s3cret "}, {"authorization": basic("anybody:s3cret")})),
    # It may hold any characters, which are sent as UTF-8.
    (Settings(control_token="gêheim"), "GET",
     {"x_mock_control_token": "gêheim".encode().decode("latin-1")}),
]  # fmt: skip
REFUSED: list[tuple[Settings, str, dict[str, str], int, str]] = [
    # Any other Host is refused: a name can be rebound to this machine.
    *((LOCAL, "GET", {"host": host}, 403, "--public-host") for host in (
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8080", "192.168.1.5",
        "localhost@evil.example", "evil.example@localhost", "[::1", "",
        "localhost:80.evil.example", "localhost:evil.example", "localhost#.evil.example",
        "localhost?.evil.example", "localhost/.evil.example", "localhost\\.evil.example",
        "localhost:80:80", "[::1].evil.example", "[::1]8080", "localhost evil.example")),
    (OPEN, "GET", {"host": "evil.example", "x_mock_control_token": "s3cret"}, 403, ""),
    # Pages of any other origin may not, another port of this machine included.
    *((LOCAL, "POST", {"origin": origin}, 403, "") for origin in (
        "null", "", "http://evil.example", "http://localhost", "http://localhost:8081",
        "http://127.0.0.1:8080", "http://localhost:8080.evil.example")),
    # What the browser says another site's page asks for is refused, with or without an Origin.
    (LOCAL, "GET", {"sec_fetch_site": "cross-site"}, 403, ""),
    (LOCAL, "GET", {**LINK, "sec_fetch_dest": "iframe"}, 403, ""),
    (LOCAL, "POST", {**LINK, "sec_fetch_dest": "document"}, 403, ""),
    # A server that others can reach refuses everything until a token is set.
    (Settings(host="0.0.0.0"), "GET", {"authorization": "Bearer x"}, 403, "--control-token"),
    # Without the right token the answer is 401, and a browser asks for a password.
    *((Settings(control_token="s3cret"), "GET", headers, 401, "") for headers in (
        {}, {"x_mock_control_token": ""}, {"x_mock_control_token": "s3cre"},
        {"x_mock_control_token": "S3cret"}, {"x_mock_control_token": "\xe9"},
        {"authorization": "Bearer wrong"}, {"authorization": "OAuth s3cret"},
        {"authorization": basic("s3cret")}, {"authorization": basic("s3cret:wrong")},
        {"authorization": "Basic *"})),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "method", "headers"), ALLOWED, ids=[f"{row[1:]}" for row in ALLOWED]
)
def test_who_is_let_in(settings: Settings, method: str, headers: dict[str, str]) -> None:
    """Who calls this machine, from the server's own pages or none, with the token if it has one."""
    check(environ(method, **headers), settings)


def test_no_host() -> None:
    """A request without Host is no browser's and passes."""
    check({"REQUEST_METHOD": "GET"}, LOCAL)


@pytest.mark.parametrize(
    ("settings", "method", "headers", "status", "told"),
    REFUSED,
    ids=[f"{row[1:3]}" for row in REFUSED],
)
def test_who_is_refused(
    settings: Settings, method: str, headers: dict[str, str], status: int, told: str
) -> None:
    """With what to do; 401 has the challenge that lets a browser ask for a password."""
    refusal = refused(settings, method, **headers)

    assert status == refusal.status
    assert told in refusal.detail
    assert (status == 401) == ("WWW-Authenticate" in dict(refusal.headers))


def test_forms() -> None:
    """A form counts as the console's own only where the browser says so."""
    check_form(environ("POST", origin="http://localhost:8080"))
    check_form(environ("POST", sec_fetch_site="same-origin"))

    with pytest.raises(ControlRefusal):
        check_form(environ("POST"))
    with pytest.raises(ControlRefusal):
        check_form(environ("POST", sec_fetch_site="same-site"))


@pytest.mark.parametrize(
    "path", ["/_mock/health", "/_mock/", "/_mock/nope", "/_mock/docs/assets/index.css"]
)
def test_everything_is_guarded(path: str) -> None:
    """No route is open to a foreign Host, be there one or not, nor without the token."""
    box = sandbox(control_token="s3cret")
    token = {"X-Mock-Control-Token": "s3cret"}

    foreign = box.call("GET", path, keys=None, headers={"Host": "evil.example", **token})
    bare = box.call("GET", path, keys=None)
    known = box.call("GET", path, keys=None, headers=token, buffered=True)

    assert (403, 401) == (foreign.status_code, bare.status_code)
    assert known.status_code in {200, 404}


def test_platform_is_not_guarded() -> None:
    """The platform's own interface knows no control token."""
    box = sandbox(host="0.0.0.0")

    answer = box.call("GET", "/2/openapi.json", keys=None, headers={"Host": "evil.example"})

    assert 200 == answer.status_code


CLIENT = "192.0.2.7"


class Uptime:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def wait_of(guesses: Guesses, address: str = CLIENT) -> int:
    """For how many seconds an address has to wait."""
    try:
        guesses.check(address)
    except ControlRefusal as refusal:
        return int(dict(refusal.headers)["Retry-After"])
    return 0


def test_each_wrong_token_doubles_the_wait() -> None:
    """Mistakes cost nothing at first, then twice as much each time, up to a minute."""
    uptime = Uptime()
    guesses = Guesses(uptime)
    waits = []
    for _ in range(FREE + 8):
        guesses.record_wrong(CLIENT)
        waits.append(wait_of(guesses))
        uptime.now += waits[-1]

    assert [0] * (FREE - 1) + [1, 2, 4, 8, 16, 32, 60, 60, 60] == waits
    assert MAX_WAIT_SECONDS == 60
    uptime.now += FORGOTTEN_SECONDS
    guesses.record_wrong(CLIENT)
    assert 0 == wait_of(guesses)


def test_addresses_count_apart() -> None:
    """Another address does not wait; the addresses of one network of IPv6 count as one."""
    guesses = Guesses(Uptime())
    for number in range(FREE):
        guesses.record_wrong(CLIENT)
        guesses.record_wrong(f"2001:db8::{number}")

    assert 0 == wait_of(guesses, "192.0.2.8")
    assert 1 == wait_of(guesses, "2001:db8::ffff")
    assert 0 == wait_of(guesses, "2001:db8:0:1::1")
    guesses.forget(CLIENT)
    assert 0 == wait_of(guesses)


def test_many_addresses_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too many addresses were wrong, the one that was wrong longest ago is forgotten."""
    monkeypatch.setattr("mock_platform.control.guard._MAX_ADDRESSES", 2)
    guesses = Guesses(Uptime())
    for _ in range(FREE):
        guesses.record_wrong(CLIENT)
    guesses.record_wrong("192.0.2.8")
    guesses.record_wrong("192.0.2.9")

    assert 0 == wait_of(guesses)


def test_login_and_header_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """After many wrong tokens the right one is refused as well; a session goes on."""
    # The first wait is a second of real time, which a busy machine needs for a request.
    monkeypatch.setattr(
        "mock_platform.control.guard._wait_after", lambda count: 600 if count >= FREE else 0
    )
    box = sandbox(control_token="s3cret")
    own = {"Origin": "http://localhost", "Content-Type": "application/x-www-form-urlencoded"}

    def log_in(token: str) -> int:
        form = {"token": token}
        return call(box, "POST", "/console/login", form=form, headers=own).status_code

    assert 303 == log_in("s3cret")
    before = [log_in("wrong") for _ in range(FREE - 1)]
    by_header = call(box, "GET", "/clock", headers={"X-Mock-Control-Token": "wrong"})
    page = call(box, "POST", "/console/login", form={"token": "s3cret"}, headers=own)
    right = call(box, "GET", "/clock", headers={"X-Mock-Control-Token": "s3cret"})
    session = call(box, "GET", "/clock")

    assert {422} == set(before)
    assert (401, 429, 429) == (by_header.status_code, page.status_code, right.status_code)
    assert {"Retry-After"} <= set(page.headers.keys()) & set(right.headers.keys())
    assert "Too many wrong control tokens" in page.text
    assert 200 == session.status_code
