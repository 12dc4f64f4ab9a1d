"""The pages of operations, assumptions and coverage."""

from __future__ import annotations

import re
from urllib.parse import quote

from tests.control.console.support import show, text_of
from tests.control.support import call
from tests.support import Sandbox

PAGE = "/console/operations/webhooks.replay"


def test_operations_are_found_by_words(box: Sandbox) -> None:
    """In the id, the path or the summary; without words all are shown."""
    total = len(box.platform.operations)

    assert f"{total} of {total}" in show(box, "/console/operations")
    found = show(box, "/console/operations?q=replay+webhook")
    assert "webhooks.replay" in found
    assert "line_items.list" not in found
    assert "No operation has these words." in show(box, "/console/operations?q=xyzzy")


def test_the_page_of_an_operation(box: Sandbox) -> None:
    """Parameters, an example, failures with their scenarios and how often they were seen."""
    call(box, "DELETE", "/coverage")
    box.call("POST", "/2/webhooks/replay", json={})

    page = show(box, PAGE)

    for text in ("from_date", "import requests", "replay-conflict", "replay.window"):
        assert text in page
    assert "1 request so far" in page
    (link,) = re.findall('href="([^"]*)">Its requests<', call(box, "GET", PAGE).text)
    assert "POST /2/webhooks/replay" in show(box, link.removeprefix("/_mock"))


def test_no_example_without_a_token(box: Sandbox) -> None:
    """A world whose token was revoked has none that could be sent."""
    token = call(box, "GET", "/credentials").get_json()["bearer_token"]
    call(box, "DELETE", f"/state/tokens/{quote(token, safe='')}")

    page = show(box, PAGE)

    assert "This world has no record, or no token, for an example" in page
    assert "Bearer None" not in page


def test_credentials_for_a_shell(box: Sandbox) -> None:
    """The command has the address of the world."""
    call(box, "PUT", "/worlds/w1", json={})

    assert "--url http://localhost/~w1)" in show(box, "/console/credentials", "w1")


def test_a_misspelt_operation_is_a_page(box: Sandbox) -> None:
    """It says which one is near."""
    page = show(box, "/console/operations/webhook.replay", status=404)

    assert "Did you mean 'webhooks.replay'?" in page


def test_assumptions_are_found_by_words(box: Sandbox) -> None:
    """With their basis, what they complete in the specification, and the operations."""
    page = show(box, "/console/assumptions?q=replay.window")

    assert "1 of " in page
    for text in (
        "replay.window",
        "A, Endpoints: POST {base_url}/2/webhooks/replay",
        "webhooks.replay",
    ):
        assert text in page
    assert "No assumption has these words." in show(box, "/console/assumptions?q=xyzzy")
    assert "Page 2 of" in show(box, "/console/assumptions?page=2")


def test_coverage_shows_what_was_never_tried(box: Sandbox) -> None:
    """Operations by outcomes; those that were tried and those that were not can be asked for."""
    call(box, "DELETE", "/coverage")
    box.call("GET", "/2/webhooks")

    tried = show(box, "/console/coverage?shown=tried")
    never = show(box, "/console/coverage?shown=never&only=webhooks.*")

    assert "webhooks.list" in tried
    assert "webhooks.replay" not in tried
    assert "never tried" in never
    assert "webhooks.list" not in never


def test_coverage_says_of_which_worlds_it_is(box: Sandbox) -> None:
    """Of all without a world in the address, else of that one."""
    call(box, "PUT", "/worlds/w2", json={})

    assert "problem types, in all worlds." in show(box, "/console/coverage?only=webhooks.*")
    page = show(box, "/console/coverage?only=webhooks.*", "w2")
    assert "problem types, in the world w2." in page


def test_a_pattern_that_fits_nothing_is_explained(box: Sandbox) -> None:
    """Above the form, which keeps it; the whole coverage is shown."""
    answer = call(box, "GET", "/console/coverage?only=xyzzy")

    assert "&#39;xyzzy&#39; matches no operation" in answer.text
    assert 'value="xyzzy"' in answer.text
    assert "line_items.list" in text_of(answer, 400)


def test_texts_are_escaped(box: Sandbox) -> None:
    """What is searched for is shown, and is never markup."""
    answer = call(box, "GET", "/console/operations?q=%3Cscript%3E%22")

    assert '<script>"' not in answer.text
    assert "&lt;script&gt;&#34;" in answer.text
