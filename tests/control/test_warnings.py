"""`/_mock/warnings`: what was ignored in requests so far."""

from __future__ import annotations

from tests.control.support import call, detail, fields
from tests.support import ACCOUNT, Sandbox

LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"


def test_warnings_are_listed_by_world_and_set_to_zero(box: Sandbox) -> None:
    """All worlds together, or the one in the address; a reset and an empty journal keep them."""
    call(box, "PUT", "/worlds/w1")
    box.call("PUT", f"{LINE_ITEM}?nmae=x")
    box.call("PUT", f"/~w1{LINE_ITEM}?nmae=x")
    call(box, "POST", "/reset", "w1")
    call(box, "DELETE", "/requests", "w1")

    every, one = (call(box, "GET", "/warnings", world).get_json() for world in ("", "w1"))

    assert (2, 1) == (every["requests"], one["requests"])
    (row,) = one["warnings"]
    assert ("unknown-parameter", "line_items.update") == (row["code"], row["operation"])
    assert f"http://localhost/~w1{LINE_ITEM}?nmae=x" == row["example"]["url"]
    assert row["example"]["text"].endswith("did you mean 'name'?")
    assert 204 == call(box, "DELETE", "/warnings", "w1").status_code
    assert 1 == call(box, "GET", "/warnings").get_json()["requests"]


def test_a_removed_world_has_its_counts(box: Sandbox) -> None:
    """As its coverage; a world that never was is unknown."""
    call(box, "PUT", "/worlds/w1")
    box.call("PUT", f"/~w1{LINE_ITEM}?nmae=x")
    call(box, "DELETE", "/worlds/w1")

    found = call(box, "GET", "/warnings", headers={"X-Mock-World": "w1"})
    missing = call(box, "GET", "/warnings", headers={"X-Mock-World": "nowhere"})

    assert 1 == found.get_json()["requests"]
    assert "nowhere" in detail(missing, 404)


def test_a_world_takes_only_the_known_values(box: Sandbox) -> None:
    """Another value is refused, and no world is made."""
    answer = call(box, "PUT", "/worlds/w1", json={"warnings": "fatal"})

    assert (422, ["warnings"]) == (answer.status_code, fields(answer))
    assert 1 == len(box.platform.worlds)
