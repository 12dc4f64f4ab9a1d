"""What all pages share: the text that the page after a form says."""

from __future__ import annotations

from tests.control.console.support import submit
from tests.control.support import call
from tests.support import Sandbox

CLOCK = "/console/clock"


def test_the_text_after_a_form_is_for_the_next_page(box: Sandbox) -> None:
    """It is shown once, and what polls meanwhile (htmx) neither shows nor removes it."""
    moved = submit(box, f"{CLOCK}/advance", seconds="60")
    cookie = {"Cookie": moved.headers["Set-Cookie"].partition(";")[0]}

    polled = call(box, "GET", CLOCK, headers=cookie | {"HX-Request": "true"})
    followed = call(box, "GET", CLOCK, headers=cookie)

    assert 'role="status"' not in polled.text
    assert "Set-Cookie" not in polled.headers
    assert 'role="status"' in followed.text
    assert "mock_platform_said=;" in followed.headers["Set-Cookie"]
