"""Sessions of browsers: what a cookie is worth, and what guards the forms."""

from __future__ import annotations

import pytest

from mock_platform.core.auth import session as sessions
from mock_platform.core.auth.session import Session
from mock_platform.core.call import Call
from mock_platform.world.blueprint import Blueprint
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World

USER = {"id": "7"}


@pytest.fixture
def world() -> World:
    """A world without records."""
    return World("w1", Blueprint(Base()))


def call(cookie: str | None = None, base_url: str = "http://localhost/~w1") -> Call:
    """A request with a cookie header."""
    headers = [] if cookie is None else [("Cookie", cookie)]
    return Call("GET", f"{base_url}/oauth/authorize", "/oauth/authorize", base_url, headers)


def test_a_cookie_names_its_session(world: World) -> None:
    """What set_cookie sends is found again, among other cookies, with the user who logged in."""
    session = sessions.log_in(world, USER, "token", Session.anonymous())
    sent = sessions.set_cookie(call(), world, session).partition(";")[0]

    assert session == sessions.find_session(call(f"a=b; {sent}; c"), world)
    assert session.record is not None
    assert "7" == session.record["user_id"]


@pytest.mark.parametrize(
    "cookie",
    [None, "", "mock_platform_session_w1=", "mock_platform_session_w1=short",
     "mock_platform_session_w1=" + "x" * 41, "mock_platform_session_w1=" + "ä" * 40,
     "mock_platform_session_other=" + "x" * 40, "x" * 40],
)  # fmt: skip
def test_other_cookies_name_none(world: World, cookie: str | None) -> None:
    """Of other worlds, of another length, of other characters."""
    assert None is sessions.find_session(call(cookie), world)


def test_a_value_that_nobody_logged_in_with_is_anonymous(world: World) -> None:
    """A well-formed cookie guards forms but belongs to no user."""
    found = sessions.find_session(call("mock_platform_session_w1=" + "x" * 40), world)

    assert Session("x" * 40) == found


def test_authenticity_tokens_belong_to_session_and_request_token() -> None:
    """The same for the same two, another for any other; the session cannot be read from it."""
    one, other = Session("a" * 40), Session("b" * 40)
    token = one.authenticity_token("t1")

    assert token == one.authenticity_token("t1")
    assert 3 == len({token, one.authenticity_token("t2"), other.authenticity_token("t1")})
    assert one.accepts_form(token, "t1")
    assert not one.accepts_form(token, "t2")
    assert not other.accepts_form(token, "t1")
    assert not one.accepts_form("", "t1")
    assert not one.accepts_form("ü", "t1")
    assert one.id not in token


def test_logging_in_and_out(world: World) -> None:
    """A new value each time; the previous session ends; logging out ends the last."""
    first = sessions.log_in(world, USER, "t1", Session.anonymous())
    second = sessions.log_in(world, USER, "t2", first)
    values = {first.id, second.id}
    kept = [entry.key for entry in world.store.page(sessions.TABLE)]
    sessions.log_out(world, second)
    sessions.log_out(world, Session.anonymous())

    assert 2 == len(values)
    assert [second.id] == kept
    assert 0 == world.store.count(sessions.TABLE)


def test_a_session_knows_what_for_it_was_begun(world: World) -> None:
    """force_login is satisfied for the request token that the user logged in for, no other."""
    session = sessions.log_in(world, USER, "t1", Session.anonymous())

    assert session.is_logged_in_for("t1")
    assert not session.is_logged_in_for("t2")
    assert not Session.anonymous().is_logged_in_for("t1")


@pytest.mark.parametrize(("base_url", "expected"), [
    ("http://localhost", "Path=/oauth; HttpOnly; SameSite=Lax"),
    ("http://localhost/~w1", "Path=/~w1/oauth; HttpOnly; SameSite=Lax"),
    ("https://localhost/mounted/~w1", "Path=/mounted/~w1/oauth; HttpOnly; SameSite=Lax; Secure"),
])  # fmt: skip
def test_the_cookie_is_for_this_address(world: World, base_url: str, expected: str) -> None:
    """Path by the address that was called; Secure over https."""
    cookie = sessions.set_cookie(call(base_url=base_url), world, Session("x" * 40))

    assert f"mock_platform_session_w1={'x' * 40}; {expected}" == cookie
