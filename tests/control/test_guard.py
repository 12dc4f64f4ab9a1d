from __future__ import annotations

import base64
from typing import Any

import pytest

from mock_platform.control import guard
from mock_platform.control.guard import Sessions, check_form
from mock_platform.control.guesses import Guesses
from mock_platform.control.refusals import ControlRefusal
from mock_platform.settings import Settings
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


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.8.9.10", "[::1]:8080", "a.localhost:1"],
)
def test_loopback_hosts(host: str) -> None:
    """Loopback names and addresses may be called, whatever the port."""
    check(environ(host=host), LOCAL)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8080",
        "localhost@evil.example",
        "evil.example@localhost",
        "192.168.1.5",
        "[::1",
        "",
    ],
)
def test_foreign_hosts(host: str) -> None:
    """Any other Host is refused: a name can be rebound to this machine."""
    refusal = refused(LOCAL, host=host)

    assert 403 == refusal.status
    assert "--public-host" in refusal.detail


def test_declared_hosts() -> None:
    """Names declared as the server's own may be called, and the one it listens on."""
    check(environ(host="mock:8080"), Settings(public_hosts=("mock",)))
    check(
        environ(host="sandbox.lan:8080", x_mock_control_token="t"),
        Settings(host="Sandbox.lan", control_token="t"),
    )


def test_addresses_where_all_interfaces_are_served() -> None:
    """On all interfaces every address may be called, but no name: only names can be rebound."""
    check(environ(host="192.168.1.5:8080", x_mock_control_token="s3cret"), OPEN)
    check(environ(host="[fe80::1]:8080", x_mock_control_token="s3cret"), OPEN)

    assert 403 == refused(OPEN, host="evil.example", x_mock_control_token="s3cret").status


def test_no_host() -> None:
    """A request without Host is no browser's and passes."""
    check({"REQUEST_METHOD": "GET"}, LOCAL)


@pytest.mark.parametrize("origin", ["http://localhost:8080", "https://LOCALHOST:8080"])
def test_own_origin(origin: str) -> None:
    """Pages of the server itself may use the control plane."""
    check(environ("POST", origin=origin), LOCAL)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://localhost",
        "http://localhost:8081",
        "http://127.0.0.1:8080",
        "http://localhost:8080.evil.example",
    ],
)
def test_foreign_origin(origin: str) -> None:
    """Pages of any other origin may not, another port of this machine included."""
    assert 403 == refused(LOCAL, "POST", origin=origin).status


def test_other_sites() -> None:
    """What the browser says another site's page asks for is refused, with or without an Origin."""
    assert 403 == refused(LOCAL, sec_fetch_site="cross-site").status
    check(environ(sec_fetch_site="same-origin"), LOCAL)
    check(environ(sec_fetch_site="none"), LOCAL)


def test_followed_link() -> None:
    """A link on another site leads to the console: that shows it to the person alone."""
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}

    check(environ(**link, sec_fetch_dest="document"), LOCAL)

    assert 403 == refused(LOCAL, **link, sec_fetch_dest="iframe").status
    assert 403 == refused(LOCAL, "POST", **link, sec_fetch_dest="document").status


@pytest.mark.parametrize(
    "headers",
    [
        {"x_mock_control_token": "s3cret"},
        {"authorization": "Bearer s3cret"},
        {"authorization": "bearer  s3cret "},
        {"authorization": basic("anybody:s3cret")},
    ],
)
def test_right_token(headers: dict[str, str]) -> None:
    """The token may be in a header of its own, as a bearer token or as a password."""
    check(environ(**headers), Settings(control_token="s3cret"))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x_mock_control_token": ""},
        {"x_mock_control_token": "s3cre"},
        {"x_mock_control_token": "S3cret"},
        {"x_mock_control_token": "\xe9"},
        {"authorization": "Bearer wrong"},
        {"authorization": "OAuth s3cret"},
        {"authorization": basic("s3cret")},
        {"authorization": basic("s3cret:wrong")},
        {"authorization": "Basic *"},
    ],
)
def test_wrong_token(headers: dict[str, str]) -> None:
    """Without the right token the answer is 401, and a browser asks for a password."""
    refusal = refused(Settings(control_token="s3cret"), **headers)

    assert 401 == refusal.status
    assert "WWW-Authenticate" in dict(refusal.headers)


def test_token_beyond_ascii() -> None:
    """A token may hold any characters; they are sent as UTF-8."""
    sent = "gêheim".encode().decode("latin-1")

    check(environ(x_mock_control_token=sent), Settings(control_token="gêheim"))


def test_no_token_beyond_loopback() -> None:
    """A server that others can reach refuses everything until a token is set."""
    refusal = refused(Settings(host="0.0.0.0"), authorization="Bearer x")

    assert 403 == refusal.status
    assert "--control-token" in refusal.detail


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
