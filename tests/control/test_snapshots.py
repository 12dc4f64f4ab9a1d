from __future__ import annotations

from mock_platform.core.snapshots import MAX_SNAPSHOTS
from tests.control.support import call, detail
from tests.support import Sandbox


def test_come_back(box: Sandbox) -> None:
    """A restored snapshot brings records, clock and ids back; it stays for another time."""
    box.change("users", "2244994945", name="Changed")
    call(box, "PUT", "/clock", json={"action": "freeze", "to": "2026-03-01T00:00:00Z"})
    before = call(box, "GET", "/state").get_json()
    taken = call(box, "PUT", "/snapshots/before").get_json()

    for _ in range(2):
        call(box, "DELETE", "/state/users/3805104374")
        box.call("POST", "/oauth/request_token?oauth_callback=oob")
        call(box, "PUT", "/clock", json={"action": "advance", "seconds": 60})
        assert 204 == call(box, "POST", "/snapshots/before/restore").status_code

        assert before == call(box, "GET", "/state").get_json()
    assert ("before", "2026-03-01T00:00:00.000Z") == (taken["name"], taken["at"])
    assert taken["changed_records"] > 0


def test_names(box: Sandbox) -> None:
    """Snapshots are listed, replaced and forgotten by name, up to 64 characters, in each world."""
    call(box, "PUT", "/worlds/w1")
    for name in ("one", "two", "one", "a" * 64):
        assert 200 == call(box, "PUT", f"/snapshots/{name}").status_code

    assert ["one", "two", "a" * 64] == call(box, "GET", "/snapshots").get_json()["snapshots"]
    assert 204 == call(box, "DELETE", "/snapshots/one").status_code
    assert ["two", "a" * 64] == call(box, "GET", "/snapshots").get_json()["snapshots"]
    assert [] == call(box, "GET", "/snapshots", "w1").get_json()["snapshots"]


def test_reset_forgets(box: Sandbox) -> None:
    """A reset forgets the world's snapshots."""
    call(box, "PUT", "/snapshots/one")
    call(box, "POST", "/reset")

    assert [] == call(box, "GET", "/snapshots").get_json()["snapshots"]


def test_most(box: Sandbox) -> None:
    """A world keeps so many snapshots and no more; those there are can be replaced."""
    saved = box.world.save()
    box.world.snapshots = {str(n): saved for n in range(MAX_SNAPSHOTS - 1)}

    assert 200 == call(box, "PUT", "/snapshots/last").status_code
    answer = call(box, "PUT", "/snapshots/beyond")

    assert "DELETE /_mock/snapshots/NAME" in detail(answer, 409)
    assert 200 == call(box, "PUT", "/snapshots/last").status_code


def test_a_case(box: Sandbox) -> None:
    """A world as a file, named after it; an unknown world has none."""
    call(box, "PUT", "/worlds/w1")
    answer = call(box, "GET", "/case", "w1")

    assert "application/zip" == answer.mimetype
    assert 'attachment; filename="w1.zip"' == answer.headers["Content-Disposition"]
    assert answer.data.startswith(b"PK")
    assert 404 == call(box, "GET", "/case", "w2").status_code
