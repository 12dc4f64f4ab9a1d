"""Flexible audiences: made in batches of other audiences."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.ads.support import load, put
from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, Sandbox, data_of

PATH = f"/12/batch/accounts/{ACCOUNT}/custom_audiences"
READERS, APP_USERS, LEFT = "1nmth", "2906h", "2b4kp"


def join(operator: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """A part of a tree."""
    return {"boolean_operator": operator, "child_segments": list(parts)}


def leaf(key: str, **more: Any) -> dict[str, Any]:
    """An audience in a tree."""
    return {"custom_audience_id": key, **more}


def item(segments: Any, **params: Any) -> dict[str, Any]:
    """The creation of a flexible audience."""
    own = {"name": "Both", "audience_type": "FLEXIBLE", "segments": segments}
    return {"operation_type": "Create", "params": own | params}


def test_made(box: Sandbox) -> None:
    """The answer has the whole tree, with its defaults; the echo has what was sent."""
    tree = join("AND", leaf("1NMTH", lookback_window=30), join("OR", leaf(APP_USERS, negate=True)))
    answer = box.call("POST", PATH, json=[item(tree)]).get_json()
    made = answer["data"][0]
    metadata = made.pop("metadata")[0]
    first = metadata["segments"]["child_segments"][0]

    assert made["targetable_types"] == ["FLEXIBLE", "EXCLUDED_FLEXIBLE"]
    assert made["reasons_not_targetable"] == ["PROCESSING", "TOO_SMALL"]
    assert metadata["custom_audience_id"] == made["id"]
    assert first == leaf(READERS, lookback_window=30, child_segments=[], negate=False, frequency=1,
                         frequency_comparator="NUM_GTE")  # fmt: skip
    assert answer["request"][0]["params"]["segments"] == tree
    assert load(box, f"custom_audiences/{made['id']}") == made


def test_unknown_keys_of_the_tree_are_ignored(box: Sandbox) -> None:
    """The journal warns of them, with their place in the batch."""
    tree = join("AND", leaf(READERS, colour="red"), leaf(APP_USERS)) | {"colour": "red"}
    response = box.call("POST", PATH, json=[item(tree)])

    assert data_of(response)[0]["audience_type"] == "FLEXIBLE"
    assert response.headers["X-Mock-Warnings"] == "unknown-key"


@pytest.mark.parametrize(("tree", "size"), [
    (join("AND", leaf(READERS), leaf(APP_USERS)), 8120),
    (join("OR", leaf(READERS), leaf(APP_USERS)), 32920),
    (join("AND", leaf(READERS), join("OR", leaf(APP_USERS), leaf(LEFT))), 8181),
    (join("AND", leaf(READERS), leaf(LEFT, negate=True)), 24800),
])  # fmt: skip
def test_its_size(box: Sandbox, tree: dict[str, Any], size: int) -> None:
    """It follows from the audiences when the new one was processed."""
    key = data_of(box.call("POST", PATH, json=[item(tree)]))[0]["id"]
    box.world.clock.advance(3600)
    read = load(box, f"custom_audiences/{key}")

    assert (read["audience_size"], read["targetable"]) == (size, True)


def test_others_are_changed_and_deleted(box: Sandbox) -> None:
    """A flexible audience, of up to ten, cannot be changed; an audience of users can."""
    update = {"operation_type": "Update", "params": leaf(READERS, name="Readers")}
    delete = {"operation_type": "Delete", "params": leaf(LEFT)}
    changed = data_of(box.call("POST", PATH, json=[update, delete]))
    tree = join("OR", *[leaf(READERS)] * 10)
    made = data_of(box.call("POST", PATH, json=[item(tree)]))[0]["id"]

    assert [changed[0]["name"], changed[1]["deleted"]] == ["Readers", True]
    assert put(box, f"custom_audiences/{made}", name="New").status_code == 400


batch = partial(Refusal, f"POST {PATH}")


@refusals([
    batch("an unknown audience", 400, json=[item(leaf("NONE"))],
          text="No audience has the id 'NONE'"),
    batch("eleven audiences", 400, json=[item(join("OR", *[leaf(READERS)] * 11))],
          text="A maximum of 10"),
    batch("parts without an operator", 400, json=[item({"child_segments": [leaf(READERS)]})],
          text="required parameter if there are child_segments"),
    batch("neither audience nor parts", 400, json=[item({"negate": True})],
          text="unless there are child_segments"),
    batch("another time", 400, json=[item(leaf(READERS, lookback_window=3))],
          text="Expected a value in 1, 7, 14, 30, got 3"),
    batch("a fifth level", 400, text="A maximum of 0",
          json=[item(join("OR", join("OR", join("OR", join("OR", leaf(READERS))))))]),
    batch("another type", 400, json=[item(leaf(READERS), audience_type="MOBILE_AUDIENCE")],
          text="Expected a value in FLEXIBLE"),
    batch("a name that is taken", 400, json=[item(leaf(READERS), name="App users")],
          text="is called 'App users'"),
    batch("eleven items", 400, json=[item(leaf(READERS), name=str(n)) for n in range(11)],
          text="at most 10 operations"),
    batch("an application that is not on the allowlist", 403,
          [("UNAUTHORIZED_CLIENT_APPLICATION", None)], json=[item(leaf(READERS))],
          given={("apps", "11827"): {"_allowlist": []}}),
])  # fmt: skip
def test_refused(box: Sandbox, row: Refusal) -> None:
    """Trees that are not, and who may not make any."""
    row.check(box)
