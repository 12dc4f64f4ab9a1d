from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

import pytest
from itsdangerous import URLSafeSerializer
from werkzeug.test import TestResponse

from mock_platform.control.console import clock
from mock_platform.control.guard import (
    END_SESSION,
    MAX_SECONDS,
    OPEN_SESSION,
    SESSION_SECONDS,
    Sessions,
)
from mock_platform.core.cluster_peers import Alone
from tests.control.console.support import OWN, submit
from tests.control.support import call
from tests.support import Sandbox, sandbox

TOKEN = "s3cret-gêheim"
PAGE = {"Accept": "text/html,*/*;q=0.8"}


@pytest.fixture
def locked() -> Sandbox:
    """A sandbox whose control plane needs a token."""
    return sandbox(control_token=TOKEN)


class Others(Alone):
    """The other processes of a group, whose answers are their own functions."""

    count = 3

    def __init__(self, group: list[Sessions], own: int) -> None:
        self._others = [each for number, each in enumerate(group) if number != own]

    def ask_all(self, question: str, argument: Any = None) -> dict[str, Any]:
        """Returns their answers."""
        names = {OPEN_SESSION: "open", END_SESSION: "close", SESSION_SECONDS: "find_seconds"}
        return {
            str(number): getattr(each, names[question])(argument)
            for number, each in enumerate(self._others)
        }


def _open(value: str) -> str:
    """The session that a cookie names."""
    return str(URLSafeSerializer("", salt="").load_payload(value.partition(".")[0].encode()))


def log_in(box: Sandbox, token: str = TOKEN, world: str = "", **form: str) -> TestResponse:
    """Send the form of the login."""
    return call(box, "POST", "/console/login", world, form={"token": token, **form}, headers=OWN)


def open_with(box: Sandbox, cookie: str) -> TestResponse:
    """What a client gets that has this cookie and no other."""
    client = box.app.test_client(use_cookies=False)
    return client.get("/_mock/clock", headers={"Cookie": cookie})


def test_a_browser_is_led_to_the_login(locked: Sandbox) -> None:
    """A page without the token leads to the login, and the login back to the page."""
    answer = call(locked, "GET", "/console/requests/r1", headers=PAGE)

    assert 303 == answer.status_code
    assert "/_mock/console/login?next=/console/requests/r1" == answer.headers["Location"]
    form = call(locked, "GET", "/console/login?next=/console/requests/r1", headers=PAGE)
    assert 'name="next" value="/console/requests/r1"' in form.text
    logged_in = log_in(locked, next="/console/requests/r1")
    assert (303, "/_mock/console/requests/r1") == (
        logged_in.status_code,
        logged_in.headers["Location"],
    )


def test_other_clients_are_refused_as_before(locked: Sandbox) -> None:
    """A program gets the refusal with the challenge, for pages and for routes."""
    for path in ("/", "/clock"):
        answer = call(locked, "GET", path)

        assert 401 == answer.status_code
        assert "Basic" in answer.headers["WWW-Authenticate"]


def test_a_session(locked: Sandbox) -> None:
    """The cookie opens pages and routes; it is no token, and scripts cannot read it."""
    cookie = log_in(locked).headers["Set-Cookie"]

    assert 200 == call(locked, "GET", "/", headers=PAGE).status_code
    assert 200 == call(locked, "GET", "/clock").status_code
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "s3cret" not in cookie


def test_logout(locked: Sandbox) -> None:
    """After the logout the login is asked for again."""
    log_in(locked)
    answer = call(locked, "POST", "/console/logout", form={}, headers=OWN)

    assert "/_mock/console/login" == answer.headers["Location"]
    assert 303 == call(locked, "GET", "/", headers=PAGE).status_code


def test_a_copy_of_the_cookie_is_worth_nothing_after_the_logout(locked: Sandbox) -> None:
    """The server ends the session: whoever has its cookie is asked to log in; others go on."""
    other = log_in(locked).headers["Set-Cookie"].partition(";")[0]
    kept = log_in(locked).headers["Set-Cookie"].partition(";")[0]
    call(locked, "POST", "/console/logout", form={}, headers=OWN)

    assert [200, 401] == [open_with(locked, each).status_code for each in (other, kept)]


def test_a_session_is_that_of_all_processes() -> None:
    """One begins it, another accepts it, and a third, which knew nothing of it, ends it for all."""
    group: list[Sessions] = []
    group += [Sessions(partial(Others, group, each)) for each in range(3)]
    value = group[0].start("token")
    group[2].close(_open(value))  # as one that began later
    environ = {"HTTP_COOKIE": f"mock_platform_console={value}"}

    assert [True] * 3 == [each.has(environ, "token") for each in group]
    group[2].end(environ, "token")
    assert [False] * 3 == [each.has(environ, "token") for each in group]


def test_a_session_ends_by_itself() -> None:
    """After twelve hours it is not open any more."""
    now = [0.0]
    sessions = Sessions(uptime=lambda: now[0])
    sessions.open("s")

    now[0] = MAX_SECONDS - 1
    assert 1 == sessions.find_seconds("s")
    now[0] = MAX_SECONDS
    assert 0 == sessions.find_seconds("s")


def test_writes_of_a_session_need_our_own_page(locked: Sandbox) -> None:
    """Browsers send the cookie by themselves, so it alone changes nothing."""
    log_in(locked)

    assert 403 == call(locked, "POST", "/reset").status_code
    assert 403 == call(locked, "DELETE", "/requests").status_code
    other = {"Origin": "http://localhost:3000"}
    assert 403 == call(locked, "POST", "/reset", headers=other).status_code
    own = {"Origin": "http://localhost"}
    assert 204 == call(locked, "POST", "/reset", headers=own).status_code


def test_a_session_of_another_token(locked: Sandbox) -> None:
    """A session ends with its token, and a made-up one never began."""
    cookie = log_in(locked).headers["Set-Cookie"].partition(";")[0]
    other = sandbox(control_token="another")

    assert 200 == open_with(locked, cookie).status_code
    assert 401 == open_with(other, cookie).status_code
    assert 401 == open_with(other, "mock_platform_console=s3cret").status_code


def test_wrong_token(locked: Sandbox) -> None:
    """A wrong token shows the form again, with the reason beside the field."""
    answer = log_in(locked, "wrong", next="/console/requests/r1")

    assert 422 == answer.status_code
    assert "Set-Cookie" not in answer.headers
    assert 'aria-describedby="field-token-fault "' in answer.text
    assert "not the server&#39;s control token" in answer.text
    assert 'value="/console/requests/r1"' in answer.text
    assert "wrong" not in answer.text


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/\\evil.example", ""])
def test_the_login_leads_to_our_own_pages(locked: Sandbox, path: str) -> None:
    """An address elsewhere is replaced by the first page."""
    assert "/_mock/" == log_in(locked, next=path).headers["Location"]


@pytest.mark.parametrize("path", ["/console\nX: y", "/a\r\nSet-Cookie: a=b", "/a\0b", "/\x7f"])
def test_the_login_takes_no_control_characters(locked: Sandbox, path: str) -> None:
    """A page with control characters in its address is refused before and after the login."""
    before = call(locked, "GET", f"/console/login?next={quote(path)}", headers=PAGE)
    after = log_in(locked, next=path)

    assert (400, 400) == (before.status_code, after.status_code)
    assert "a path without control characters" in before.text
    assert "next must be a path without control characters" in after.text
    assert "Set-Cookie" not in after.headers


def test_an_odd_address_leads_back_to_itself(locked: Sandbox) -> None:
    """What is written with percent signs in an address is written so after the login as well."""
    answer = call(locked, "GET", "/console/requests/50%25%0A?text=a%26b", headers=PAGE)
    path = unquote(answer.headers["Location"].partition("?next=")[2])
    logged_in = log_in(locked, next=path)

    assert "/_mock/console/requests/50%25%0A?text=a%26b" == logged_in.headers["Location"]


def test_login_in_a_world(locked: Sandbox) -> None:
    """The login of a world's pages leads to its pages, and the session is good for all worlds."""
    call(locked, "PUT", "/worlds/w1", headers={"X-Mock-Control-Token": "s3cret-g\xc3\xaaheim"})

    answer = log_in(locked, world="w1", next="/")

    assert "/~w1/_mock/" == answer.headers["Location"]
    assert "Path=/" in answer.headers["Set-Cookie"].split("; ")
    assert 200 == call(locked, "GET", "/", headers=PAGE).status_code


def test_without_a_token(box: Sandbox) -> None:
    """A server without a token has no login."""
    assert "/_mock/" == call(box, "GET", "/console/login").headers["Location"]


def test_refused_hosts_see_a_page() -> None:
    """A browser gets the reason as a page."""
    box = sandbox(host="0.0.0.0")

    answer = call(box, "GET", "/", headers=PAGE)

    assert (403, "text/html") == (answer.status_code, answer.mimetype)
    assert "--control-token" in answer.text


@pytest.mark.parametrize("path", ["/", "/console/scenarios/+own", "/console/scenarios/+new"])
def test_a_world_that_is_gone(box: Sandbox, path: str) -> None:
    """Its pages say so, and lead to a world that is there."""
    answer = call(box, "GET", path, "gone", headers=PAGE)

    assert (404, "text/html") == (answer.status_code, answer.mimetype)
    assert "There is no world &#39;gone&#39;." in answer.text
    links = re.findall('href="([^"]*)"', answer.text)
    assert "/_mock/console/worlds" in links
    assert not [link for link in links if "/gone/" in link and "/assets/" not in link]


@pytest.mark.parametrize(
    "path",
    ["/?status=404", "/console/records/users/record?key=2244994945", "/console/scenarios?q=429"],
)
def test_buttons_of_the_head_lead_back_to_the_page(box: Sandbox, path: str) -> None:
    """With its filter, its record, its search: to switch all failures off loses nothing."""
    call(box, "POST", "/scenarios/outage/activate", json={})
    back, *_ = re.findall('name="back" value="([^"]*)"', call(box, "GET", path).text)

    answer = submit(box, "/console/scenarios/+off", back=back)

    assert path == back
    assert f"/_mock{path}" == answer.headers["Location"]


@pytest.mark.parametrize(
    ("form", "page"),
    [
        ("/console/clock/advance", "/console/clock"),
        ("/console/streams/stall", "/console/streams"),
        ("/console/worlds/default/copy", "/console/worlds"),
    ],
)
def test_the_address_of_a_refused_form(box: Sandbox, form: str, page: str) -> None:
    """Only forms lead there: the buttons of the head and a reload lead to the page instead."""
    call(box, "POST", "/scenarios/outage/activate", json={})

    refused = submit(box, form, seconds="soon", name="/", stream="all")
    reloaded = call(box, "GET", form, headers=PAGE)

    assert 422 == refused.status_code
    assert f'name="back" value="{page}"' in refused.text
    assert (303, f"/_mock{page}") == (reloaded.status_code, reloaded.headers["Location"])
    assert 405 == call(box, "GET", form).status_code  # for programs nothing changes


def test_a_form_after_the_end_of_the_session(locked: Sandbox) -> None:
    """The login says that nothing was done."""
    headers = OWN | PAGE
    answer = call(locked, "POST", "/console/scenarios/+off", form={}, headers=headers)

    assert "/_mock/console/login?next=/" == answer.headers["Location"]
    assert "Nothing was done: the session had ended." in call(locked, "GET", "/console/login").text


def test_a_text_that_is_being_written_after_the_end_of_the_session(locked: Sandbox) -> None:
    """It stays: the check of it says where to log in, and the login takes not its place."""
    headers = OWN | {"HX-Request": "true"}
    answer = call(locked, "POST", "/console/scenarios/+check", form={"text": "a"}, headers=headers)

    assert 401 == answer.status_code
    assert "HX-Redirect" not in answer.headers
    assert 'href="/_mock/console/login" target="_blank"' in answer.text


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("http://localhost/_mock/console/clock?a=%C3%A9", "/console/clock%3Fa%3D%25C3%25A9"),
        ("http://localhost/elsewhere", "/"),
        ("", "/"),
    ],
)
def test_a_part_of_a_page_after_the_end_of_the_session(
    locked: Sandbox, shown: str, wanted: str
) -> None:
    """The login leads back to the page that is shown, not to its part."""
    headers = {"HX-Request": "true", "HX-Current-URL": shown}
    answer = call(locked, "GET", "/console/streams/table", headers=headers)

    assert f"/_mock/console/login?next={wanted}" == answer.headers["HX-Redirect"]


def test_a_form_that_is_too_large(box: Sandbox) -> None:
    """It is refused with a page, or a part of one where a text is checked while it is written."""
    form = {"text": "x" * 1_100_000, "action": "define"}
    for path, headers in (("+new", PAGE), ("+check", {"HX-Request": "true"})):
        answer = call(box, "POST", f"/console/scenarios/{path}", form=form, headers=OWN | headers)

        assert (413, "text/html") == (answer.status_code, answer.mimetype)
        assert "may have at most 1,048,576 bytes" in answer.text


def test_a_failure_is_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what is wrong in the sandbox itself is not shown as JSON to a person."""
    monkeypatch.setattr(clock, "get_clock", lambda _: 1 / 0)
    answer = call(sandbox(), "GET", "/console/clock", headers=PAGE)

    assert (500, "text/html") == (answer.status_code, answer.mimetype)
    assert "The sandbox itself failed (ZeroDivisionError" in answer.text


def test_a_refused_part_of_a_page(box: Sandbox) -> None:
    """It is shown in the place of the part, which stays to be refreshed again."""
    answer = call(box, "GET", "/console/scenarios/nothing", headers={"HX-Request": "true"})

    assert 404 == answer.status_code
    assert ("innerHTML", "unset") == (answer.headers["HX-Reswap"], answer.headers["HX-Reselect"])
    assert "HX-Reswap" not in call(box, "GET", "/console/scenarios/nothing").headers
