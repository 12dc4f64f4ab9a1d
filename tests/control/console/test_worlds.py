"""The pages of worlds: made, copied, reset and deleted, with addresses and credentials."""

from __future__ import annotations

import pytest

from mock_platform.control.console.worlds import MAX_SHOWN
from mock_platform.world.clock import UPTIME
from tests.control.console.support import done, refused, show, submit
from tests.control.support import call
from tests.support import Sandbox

WORLDS = "/console/worlds"
CLOCK = "/console/clock"


def test_make(box: Sandbox) -> None:
    """A world is made with all that a form can say about it."""
    answer = submit(
        box, WORLDS, name="qa-1", seed="7", freeze="2026-12-24T18:00:00Z", names="original",
        warnings="error", own_credentials="on", as_of="2026-03-01",
    )  # fmt: skip
    world = box.platform.worlds.get("qa-1")
    page = show(box, f"{WORLDS}/qa-1")

    assert done(answer) == "The world qa-1 was made."
    assert answer.headers["Location"].endswith(f"{WORLDS}/qa-1")
    assert (7, True, 2026) == (world.seed, world.clock.frozen, world.clock.now().year)
    assert ("original", True) == (world.names, world.refuses_warnings)
    assert "http://localhost/~qa-1/sandbox" in page
    assert "Contract as of 2026-03-01" in page
    assert "contract of 2026-03-01" in show(box, WORLDS)
    assert "contract of 2026-03-01" in show(box, CLOCK, "qa-1")
    assert "contract of" not in show(box, CLOCK)
    token = call(box, "GET", "/credentials", "qa-1").get_json()["bearer_token"]
    assert token in page
    assert token not in show(box, f"{WORLDS}/default")


def test_copy(box: Sandbox) -> None:
    """A copy has the records of its source, whichever form makes it."""
    box.world.store.put("lists_of_test", "1", {"id": "1"})
    call(box, "POST", "/scenarios/outage/activate", json={})

    assert "copy of default" in done(submit(box, f"{WORLDS}/default/copy", name="copy"))
    assert done(submit(box, WORLDS, **{"name": "other", "from": "copy"}))
    for name in ("copy", "other"):
        assert box.platform.worlds.get(name).store.get("lists_of_test", "1")
        assert "no failure on" in show(box, f"{WORLDS}/{name}", name)
    for page in (WORLDS, f"{WORLDS}/copy"):
        assert "no scenario is on" in show(box, page)


def test_many_worlds(box: Sandbox) -> None:
    """The list shows the first ones, and a search finds the others; each can be copied."""
    for number in range(MAX_SHOWN + 1):
        call(box, "PUT", f"/worlds/w{number}", json={})
    last = f"w{MAX_SHOWN}"

    page = call(box, "GET", WORLDS).text

    assert f"The first {MAX_SHOWN} of {MAX_SHOWN + 2} are shown" in page
    assert f"worlds/{last}" not in page
    assert f'<option value="{last}">' in page
    assert f"{last} http://localhost/~{last}" in show(box, f"{WORLDS}?q={last.upper()}")
    assert "No world has this name." in show(box, f"{WORLDS}?q=nothing")


def test_reset_and_delete(box: Sandbox) -> None:
    """Both are asked first; a deleted world is gone, and its own console leads to another one."""
    submit(box, WORLDS, name="w1")
    box.platform.worlds.get("w1").store.put("lists_of_test", "1", {"id": "1"})

    assert "Reset the world w1?" in show(box, f"{WORLDS}/w1/reset")
    assert box.platform.worlds.get("w1").store.get("lists_of_test", "1")
    assert done(submit(box, f"{WORLDS}/w1/reset"))
    assert box.platform.worlds.get("w1").store.get("lists_of_test", "1") is None

    assert "Delete the world w1?" in show(box, f"{WORLDS}/w1/delete", "w1")
    answer = submit(box, f"{WORLDS}/w1/delete", "w1")
    assert done(answer) == "The world w1 was deleted."
    assert "http://localhost/_mock/console/worlds" == answer.headers["Location"]
    assert ["default"] == [world.name for world in box.platform.worlds]
    assert "always exists" in refused(submit(box, f"{WORLDS}/default/delete"), 409)
    assert "There is no world 'w1'" in show(box, f"{WORLDS}/w1", status=404)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(59, "59 s"), (60, "1 min"), (7_300, "2 h"), (90_000, "1 d")]
)
def test_age(box: Sandbox, monkeypatch: pytest.MonkeyPatch, seconds: int, shown: str) -> None:
    """The list says in the largest unit how long ago a world was made, the interface in seconds."""
    world = box.platform.worlds.default
    monkeypatch.setattr(world, "opened", UPTIME() - seconds)
    (listed,) = call(box, "GET", "/worlds").get_json()["worlds"]

    assert seconds <= listed["age_seconds"]
    assert f" {shown} 0 0 Open its console" in show(box, WORLDS)
