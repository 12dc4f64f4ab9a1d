from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, cast

import pytest
from werkzeug.test import TestResponse

from mock_platform.control.console.requests_page import MAX_ROWS, SHOWN, EntryFilter, LiveRows
from mock_platform.core.connection import Connection, Pause
from mock_platform.scenario.director import find_engine
from mock_platform.serving.flask.sending import NoConnection
from mock_platform.world.endings import COMPLETE
from mock_platform.world.journal import Journal, JournalEntry, Query
from tests.control.support import call
from tests.support import ACCOUNT, BEARER, FORM, Sandbox, sandbox

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

    @property
    def requests(self) -> list[str]:
        """The requests of the list, in its order."""
        found = [link for link in self.all("a", "href") if "/console/requests/" in link]
        return [link.rpartition("/")[2] for link in found]

    def all(self, tag: str, attribute: str) -> list[str]:
        """The values of an attribute of all such tags."""
        return [
            value for name, found in self.tags if name == tag and (value := found.get(attribute))
        ]


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose clock is frozen."""
    return sandbox(freeze=MOMENT)


def test_every_link_leads_somewhere(box: Sandbox) -> None:
    """Every link of the pages is answered."""
    box.call("GET", "/12/accounts")
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
    fields = page.all("input", "id") + page.all("select", "id")
    assert set(fields) == set(page.all("label", "for"))
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


def test_pages(box: Sandbox) -> None:
    """The newest requests come first; links lead to older ones and back, with the filter."""
    for _ in range(SHOWN + 1):
        box.call("GET", "/oauth2/tokn", keys=None)
    box.call("GET", "/2/users/me")

    newest = Page(call(box, "GET", "/?text=tokn"))
    (older,) = [link for link in newest.all("a", "href") if "before=" in link]
    oldest = Page(box.call("GET", older, keys=None))

    assert [f"r{n}" for n in range(SHOWN + 1, 1, -1)] == newest.requests
    assert ["r1"] == oldest.requests
    assert "/_mock/?text=tokn" in oldest.all("a", "href")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=404", ["r2"]), ("status=4XX", ["r3", "r2"]), ("status=2xx", ["r4", "r1"]),
        ("operation=account_media.list", ["r4", "r3"]), ("method=post", []), ("path=tokn", ["r2"]),
        ("text=No+operation+has", ["r2"]), ("text=R3", ["r3"]), ("text=BETWEEN+1", ["r3"]),
        ("text=foo%27+is+not", ["r4"]), ("rule=outage", []), ("text=users%2Fme&status=", ["r1"]),
    ],
)  # fmt: skip
def test_filters(box: Sandbox, query: str, found: list[str]) -> None:
    """Filters restrict together; empty fields restrict nothing."""
    box.call("GET", "/2/users/me")
    box.call("GET", "/oauth2/tokn", keys=None)
    box.call("GET", "/12/accounts/18ce54d4x5t/account_media?count=0")
    box.call("GET", "/12/accounts/18ce54d4x5t/account_media?foo=1")

    assert found == Page(call(box, "GET", f"/?{query}")).requests


def test_rules_that_acted(box: Sandbox) -> None:
    """The filter by scenario finds what its rules did."""
    call(box, "POST", "/scenarios/outage/activate", json={})
    box.call("GET", "/12/accounts/18ce54d4x5t/account_media")

    page = Page(call(box, "GET", "/?rule=outage"))

    assert ["r1"] == page.requests
    assert "rule outage: The service is temporarily unavailable." in page.text


def test_reasons_are_short(box: Sandbox) -> None:
    """A line begins with the scenario and what came of it; what a counted request did is first."""
    find_engine(box.world).activate("line-item-deleted-twice", {"call": 2})
    for item in ("itttx", "iu0p9", "iu4ce"):
        box.call("DELETE", f"/12/accounts/{ACCOUNT}/line_items/{item}")

    third, second, first = re.findall(
        r'<td class="why" title="([^"]*)">(.*)</td>', call(box, "GET", "/").text
    )
    refused = "line_item_id: No line item has this id."
    assert f"Rule 0 of scenario line-item-deleted-twice acted: {refused}" == second[0]
    tag = '<span class="tag warm">rule</span> '
    assert f"{tag}line-item-deleted-twice: {refused}" == second[1]
    for shown, call_number in ((first[1], 1), (third[1], 3)):
        assert shown.startswith("changed account_history/")
        why = f"it acts on call 2 only; this was call {call_number}."
        assert shown.endswith(f"; line-item-deleted-twice did not act: {why}")


def test_answers_that_were_cut(box: Sandbox) -> None:
    """The list and the page of a request say how the answer ended, and the filter finds it."""
    call(box, "POST", "/scenarios/flaky-network/activate", json={})
    with pytest.raises(NoConnection):
        box.call("GET", "/12/accounts")

    assert ["r1"] == Page(call(box, "GET", "/?ended=reset")).requests
    assert [] == Page(call(box, "GET", "/?ended=complete")).requests
    page = call(box, "GET", "/").text
    assert '<span class="tag bad">reset after 0 bytes</span>' in page
    shown = Page(call(box, "GET", "/console/requests/r1")).text
    assert "reset after 0 bytes; the client waited" in shown
    assert "The answer below is not what the client got." in shown


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("status=teapot", "expected a status such as 404"),
        ("status=700", "expected a status such as 404"),
        ("operation=account_medi.list", "Did you mean"),
        ("method=FETCH", "method: &#34;FETCH&#34; is not allowed"),
        ("ended=badly", "ended: &#34;badly&#34; is not allowed"),
    ],
)
def test_faulty_filters(box: Sandbox, query: str, text: str) -> None:
    """A value that no request can have is explained beside its field."""
    box.call("GET", "/oauth2/tokn", keys=None)
    answer = call(box, "GET", f"/?{query}")
    page = Page(answer)

    assert 422 == answer.status_code
    assert text in page.text
    assert "true" in page.all("input", "aria-invalid") + page.all("select", "aria-invalid")
    assert [] == page.requests


def test_a_part_for_scripts(box: Sandbox) -> None:
    """A request of htmx gets the list alone."""
    answer = call(box, "GET", "/", headers={"HX-Request": "true"})

    assert answer.text.lstrip().startswith("<section")
    assert "<form" not in answer.text
    assert "HX-Request" == answer.headers["Vary"]


def test_emptied(box: Sandbox) -> None:
    """The button empties the journal of the page's world, and the next page says so."""
    box.call("GET", "/oauth2/tokn", keys=None)

    answer = call(box, "POST", "/console/requests/empty", form={}, headers=OWN)

    assert (303, "/_mock/") == (answer.status_code, answer.headers["Location"])
    assert 0 == len(box.world.journal)
    assert "was emptied" in call(box, "GET", "/").text
    assert "was emptied" not in call(box, "GET", "/").text


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
    for text in ("POST /2/webhooks/replay", "webhooks.replay", "invalid-request"):
        assert text in page.text
    assert "The spec maps no problem type to a status" in page.text
    assert BEARER not in answer.text
    assert "Bearer [redacted]" in page.text


def test_unknown_request(box: Sandbox) -> None:
    """An unknown request is explained on a page."""
    answer = call(box, "GET", "/console/requests/r1")

    assert (404, "text/html") == (answer.status_code, answer.mimetype)
    assert "has no entry" in answer.text


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
    box.call("GET", "/oauth2/tokn", keys=None)
    answer = call(box, "POST", "/console/requests/empty", form={}, headers=headers)

    assert 403 == answer.status_code
    assert 1 == len(box.world.journal)


@dataclass
class Listener:
    """A connection that knows pauses."""

    pauses: bool = True
    is_stopping: bool = False


def place(box: Sandbox, number: int) -> str:
    """The position in a world's journal after so many requests."""
    return f"{box.world.journal.era}-{number}"


def follow(
    box: Sandbox, listener: Listener | None, after: str = "", journal: Journal | None = None
) -> LiveRows:
    """The events of a world's journal, with the ids of its requests as rows."""

    def show(entries: Iterable[JournalEntry]) -> str:
        return " ".join(entry.id for entry in entries)

    everything = EntryFilter(Query())
    found = box.world.journal if journal is None else journal
    connection = cast("Connection | None", listener)
    return LiveRows(lambda: found, everything, show, after, connection)


def read(piece: bytes | Pause) -> dict[str, Any]:
    """The data of an event."""
    assert isinstance(piece, bytes)
    found: dict[str, Any] = json.loads(piece.partition(b"data: ")[2])
    return found


def request(box: Sandbox, times: int = 1) -> None:
    """Requests of a client."""
    for _ in range(times):
        box.call("GET", "/oauth2/tokn", keys=None)


def test_only_what_is_new(box: Sandbox) -> None:
    """Each event has what came since the last one; without news there are pauses."""
    request(box)
    events = follow(box, Listener(), place(box, 1))

    begin = next(events)
    pauses = [next(events), next(events)]
    request(box, 2)
    two = read(next(events))
    pauses.append(next(events))
    request(box)
    one = read(next(events))

    assert b"retry: 2000\n\n" == begin
    assert all(isinstance(each, Pause) and each.endless for each in pauses)
    assert ("r3 r2", 2, place(box, 3)) == (two["rows"], two["shown"], two["position"])
    assert ("r4", 0, False) == (one["rows"], one["left_out"], one["emptied"])


def test_a_row_is_shown_again_when_its_answer_ended(box: Sandbox) -> None:
    """Its first row says that the answer is still being sent, a later event how it ended."""
    request(box)
    (entry,) = box.world.journal
    entry.ending = None
    events = follow(box, Listener(), place(box, 0))
    next(events)
    next(events)

    first = read(next(events))
    next(events)
    waiting = next(events)
    entry.ending = COMPLETE
    again = read(next(events))

    assert ("r1", "") == (first["rows"], first["again"])
    assert isinstance(waiting, Pause)
    assert ("", "r1") == (again["rows"], again["again"])


def test_a_busy_server(box: Sandbox) -> None:
    """An event has the newest rows, and how many it leaves out."""
    request(box, MAX_ROWS + 3)
    events = follow(box, Listener())
    next(events), next(events)

    busy = read(next(events))

    assert (MAX_ROWS, 3) == (busy["shown"], busy["left_out"])
    assert busy["rows"].startswith(f"r{MAX_ROWS + 3} ")


def test_an_emptied_journal(box: Sandbox) -> None:
    """Emptying is news, also if new requests came since."""
    request(box, 3)
    events = follow(box, Listener(), place(box, 3))
    next(events), next(events)
    box.world.journal.clear()
    request(box, 4)

    emptied = read(next(events))

    assert (True, 4) == (emptied["emptied"], emptied["shown"])


def test_a_server_that_was_started_again(box: Sandbox) -> None:
    """Positions of the one before mean nothing: all its rows go, and all new requests are shown."""
    request(box, 4)
    after = place(sandbox(), 3)
    events = follow(box, Listener(), after)
    next(events), next(events)

    news = read(next(events))

    assert (True, "r4 r3 r2 r1", "4 in the journal") == (
        news["emptied"], news["rows"], news["total"],
    )  # fmt: skip


def test_a_world_that_was_dropped(box: Sandbox) -> None:
    """Its events end, so that the browser asks again and hears that it is gone."""
    call(box, "PUT", "/worlds/w1", json={})
    journal = box.platform.worlds.get("w1").journal
    events = follow(box, Listener(), journal=journal)
    next(events)
    next(events)
    call(box, "DELETE", "/worlds/w1")

    assert next(events, None) is None
    assert 404 == call(box, "GET", "/console/live", "w1").status_code


def test_a_silent_world(box: Sandbox) -> None:
    """Now and then a comment keeps the connection open."""
    events = follow(box, Listener())

    pieces = [next(events) for _ in range(40)]

    assert pieces.count(b": nothing new\n\n") == 2


def test_the_end(box: Sandbox) -> None:
    """A server that stops waits for no listener."""
    listener = Listener()
    events = follow(box, listener)
    next(events)
    listener.is_stopping = True

    assert [] == list(events)


def test_other_servers(box: Sandbox) -> None:
    """Where no pause is known, the events end at once, and the browser asks again."""
    request(box)

    answer = call(box, "GET", "/console/live")

    assert "text/event-stream" == answer.mimetype
    assert f"id: {place(box, 1)}\nevent: requests\n" in answer.text
    again = call(box, "GET", "/console/live", headers={"Last-Event-ID": place(box, 1)})
    assert "retry: 2000\n\n" == again.text


def test_a_faulty_filter(box: Sandbox) -> None:
    """A filter that the page refuses has no events."""
    assert 422 == call(box, "GET", "/console/live?status=teapot").status_code
