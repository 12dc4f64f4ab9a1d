from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.console.overview import SHOWN_REQUESTS
from tests.control.support import call
from tests.support import BEARER, FORM, Sandbox, sandbox

OWN = {"Origin": "http://localhost", "Content-Type": FORM}
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Page(HTMLParser):
    """What a page holds: its text, its tags, what it leads to and what it loads."""

    def __init__(self, answer: TestResponse) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(answer.text)
        self.text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a tag."""
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str, attribute: str) -> list[str]:
        """The values of an attribute of all such tags."""
        return [
            value for name, found in self.tags if name == tag and (value := found.get(attribute))
        ]


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose clock is frozen."""
    return sandbox(freeze=MOMENT)


def submit(box: Sandbox, world: str = "", **form: str) -> TestResponse:
    """Send a form of the console, as its own page does."""
    return call(box, "POST", "/console", world, form=form, headers=OWN)


def test_overview(box: Sandbox) -> None:
    """The page shows world, clock, tables with counts, worlds, and leads to the documentation."""
    call(box, "PUT", "/worlds/w1")

    page = Page(call(box, "GET", "/"))

    assert "World default" in page.text
    assert "2026-03-01T12:00:00.000Z frozen" in page.text
    links = page.all("a", "href")
    assert {
        "/_mock/docs/",
        "/_mock/openapi.json",
        "/_mock/state/users",
        "http://localhost/~w1/_mock/",
    } <= set(links)
    total = call(box, "GET", "/state/line_items").get_json()["total"]
    assert f"line_items {total} " in page.text


def test_every_link_leads_somewhere(box: Sandbox) -> None:
    """Every link of the pages is answered."""
    box.call("GET", "/2/openapi.json", keys=None)
    pages = [Page(call(box, "GET", path)) for path in ("/", "/console/requests/r1")]

    for link in {link for page in pages for link in page.all("a", "href")}:
        path = link.partition("#")[0].removeprefix("http://localhost")
        assert not path or 200 == box.call("GET", path, keys=None).status_code, link


def test_nothing_from_elsewhere(box: Sandbox) -> None:
    """Pages need no script and load nothing, and say so to the browser."""
    answer = call(box, "GET", "/")
    page = Page(answer)

    loaded = page.all("link", "href") + page.all("img", "src") + page.all("script", "src")
    assert 4 < len(loaded)
    assert all(path.startswith("/_mock/console/assets/") for path in loaded)
    assert len([tag for tag, _ in page.tags if tag == "script"]) == len(page.all("script", "src"))
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy


def test_accessible(box: Sandbox) -> None:
    """The page names its language, its fields and its regions."""
    page = Page(call(box, "GET", "/"))

    assert ["en"] == page.all("html", "lang")
    assert 1 == len([tag for tag, _ in page.tags if tag == "h1"])
    assert set(page.all("input", "id")) == set(page.all("label", "for"))
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    assert set(page.all("section", "aria-labelledby")) <= set(ids)
    assert "#content" in page.all("a", "href")


def test_requests_are_listed(box: Sandbox) -> None:
    """The newest requests come first, each with the reason for its answer."""
    box.call("POST", "/2/webhooks/replay", keys=None, json={})
    box.call("GET", "/oauth2/tokn", keys=None)
    box.call("GET", "/12/accounts/18ce54d4x5t/account_media?foo=1")
    box.call("GET", "/12/accounts/18ce54d4x5t/account_media?count=0")

    page = Page(call(box, "GET", "/"))

    order = [page.text.index(f" r{n} ") for n in (4, 3, 2, 1)]
    assert sorted(order) == order
    assert "No operation has the path /oauth2/tokn." in page.text
    assert "parameter &#39;foo&#39; is not one of this operation" in page.text
    assert "count must be between 1 and 1000, got 0" in page.text
    assert "/_mock/console/requests/r1" in page.all("a", "href")


@pytest.mark.parametrize("extra", [0, 1])
def test_latest_requests(box: Sandbox, extra: int) -> None:
    """The newest fifty are listed; beyond that the page says how many there are."""
    for _ in range(SHOWN_REQUESTS + extra):
        box.call("GET", "/oauth2/tokn", keys=None)

    page = Page(call(box, "GET", "/"))

    rows = [link for link in page.all("a", "href") if "/console/requests/" in link]
    assert 50 == SHOWN_REQUESTS == len(rows)
    assert ("the newest 50 of 51" in page.text) == bool(extra)


def test_deliveries_are_listed(box: Sandbox) -> None:
    """Attempted deliveries are shown with what came of them."""
    attempt: dict[str, Any] = {
        "id": "d1", "job_id": "j1", "webhook_id": "w1", "event_id": "e1", "attempt": 2,
        "at": "2026-03-01T12:00:00.000Z", "url": "http://127.0.0.1:8091/hook", "status": None,
        "error": "connection refused", "milliseconds": 1.5, "body": None,
    }  # fmt: skip
    box.world.deliveries.append(attempt)

    page = Page(call(box, "GET", "/"))

    assert "http://127.0.0.1:8091/hook e1 j1 2 connection refused 2" in page.text


def test_nothing_a_client_sends_becomes_markup(box: Sandbox) -> None:
    """What clients send is shown as text, on both pages."""
    box.call("GET", "/12/<script>alert(1)</script>?a=<b>", keys=None)
    box.call(
        "POST",
        "/2/webhooks/replay",
        keys=None,
        data="</pre><script>alert(1)</script>",
        headers={"X-Test": "<script>", "Content-Type": "text/<i>"},
    )

    for path in ("/", "/console/requests/r1", "/console/requests/r2"):
        page = Page(call(box, "GET", path))

        assert not {"b", "i"} & {tag for tag, _ in page.tags}
        assert len([tag for tag, _ in page.tags if tag == "script"]) == len(
            page.all("script", "src")
        )


def test_one_request(box: Sandbox) -> None:
    """A request's own page shows everything, credentials left out."""
    box.call("POST", "/2/webhooks/replay", keys=BEARER, json={"webhook_id": "x"})

    answer = call(box, "GET", "/console/requests/r1")
    page = Page(answer)

    assert 200 == answer.status_code
    for text in ("POST http://localhost/2/webhooks/replay", "webhooks.replay", "invalid-request"):
        assert text in page.text
    assert "problem.status-by-type : The spec maps no problem type to a status" in page.text
    assert BEARER not in answer.text
    assert "Bearer [redacted]" in page.text


def test_unknown_request(box: Sandbox) -> None:
    """An unknown request is a refusal like any other."""
    assert 404 == call(box, "GET", "/console/requests/r1").status_code


def test_forms_move_the_clock(box: Sandbox) -> None:
    """Each form does what it says and leads back to the page, so that reloading repeats nothing."""
    clock = box.world.clock

    for form in ({"action": "advance", "seconds": "90"}, {"action": "travel", "to": "2027-01-01"}):
        answer = submit(box, **form)
        assert (303, "/_mock/") == (answer.status_code, answer.headers["Location"])
    submit(box, action="resume")
    running = not clock.frozen
    submit(box, action="freeze")

    assert running
    assert (2027, True) == (clock.now().year, clock.frozen)


def test_form_of_another_world(box: Sandbox) -> None:
    """Forms act on the world whose page they are on."""
    call(box, "PUT", "/worlds/w1")
    page = Page(call(box, "GET", "/", "w1"))

    answer = submit(box, "w1", action="advance", seconds="60")

    assert {"/~w1/_mock/console"} == set(page.all("form", "action"))
    assert "/~w1/_mock/" == answer.headers["Location"]
    assert MOMENT == box.world.clock.now()
    assert MOMENT != box.platform.worlds.get("w1").clock.now()


def test_reset_form(box: Sandbox) -> None:
    """The reset form sets the world back."""
    box.call("GET", "/oauth2/tokn", keys=None)

    submit(box, action="reset")

    assert 0 == len(box.world.journal)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ({"action": "rest"}, "Did you mean &#39;reset&#39;?"),
        ({}, "does not exist"),
        ({"action": "advance", "seconds": "soon"}, "Expected Number"),
        ({"action": "advance", "seconds": "nan"}, "seconds"),
        ({"action": "advance"}, "needs &#39;seconds&#39;"),
        ({"action": "travel", "to": "<i>"}, "Expected time"),
    ],
)
def test_faulty_form(box: Sandbox, form: dict[str, str], text: str) -> None:
    """A form that cannot be used shows the page again with what is wrong; nothing changes."""
    answer = submit(box, **form)
    page = Page(answer)

    assert 422 == answer.status_code
    assert "alert" in [found.get("role") for _, found in page.tags]
    assert text in page.text
    assert MOMENT == box.world.clock.now()


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": FORM},
        {"Content-Type": FORM, "Origin": "http://evil.example"},
        {"Content-Type": FORM, "Origin": "null"},
        {"Content-Type": FORM, "Sec-Fetch-Site": "same-site"},
    ],
)
def test_forms_of_other_pages(box: Sandbox, headers: dict[str, str]) -> None:
    """A form that no page of the console sent does nothing."""
    answer = call(box, "POST", "/console", form={"action": "resume"}, headers=headers)

    assert 403 == answer.status_code
    assert box.world.clock.frozen
