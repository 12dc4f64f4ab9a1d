"""The page of costs."""

from __future__ import annotations

from tests.control.console.support import show
from tests.control.support import call
from tests.support import HARBOR, Sandbox


def test_the_dearest_come_first(box: Sandbox) -> None:
    """The sum, and a row with a bar for each operation, or for something else."""
    call(box, "POST", "/reset")
    assert "Nothing was called yet." in show(box, "/console/costs")
    box.call("POST", "/2/posts", json={"text": "hello"}, keys=HARBOR)
    box.call("GET", "/2/users/me", keys=HARBOR)

    page = show(box, "/console/costs")

    assert "$0.025" in page
    assert "Operation US$ Share Calls Charged resources public_posts.create 0.015 1 0" in page
    assert page.index("public_posts.create") < page.index("users.me")
    assert "11827 0.025 2 1" in show(box, "/console/costs?by=app")
