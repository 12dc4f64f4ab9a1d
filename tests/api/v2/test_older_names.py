"""Original names in requests to a sandbox with neutral ones: v2 takes both, and answers alike.

`tests/test_original_names.py` has the answers of sandboxes whose own names are the original ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace

from mock_platform.control.examples import Sample
from mock_platform.core.operation import Operation
from tests.api.v2.description.test_operations import find_described, list_all_fields, open_box
from tests.api.v2.test_bad_input import BY_ID, EXAMPLES, all_of_v2, box, send
from tests.support import USER_TOKEN, Sandbox, body_of, sandbox
from tests.test_original_names import translate

USER = "2244994945"
__all__ = ["all_of_v2", "box"]


def spell_older(operation: Operation) -> Sample:
    """The example of an operation with its older path, keys and values, as far as it has some."""
    asked = translate(operation, EXAMPLES[operation.id])
    path = asked.path
    for older in operation.also[:1]:
        for part, other in zip(operation.path.split("/"), older.split("/"), strict=True):
            path = path if part.startswith(":") else path.replace(f"/{part}", f"/{other}", 1)
    return replace(asked, path=path)


OLDER: Mapping[str, Sample] = {each.id: spell_older(each) for each in BY_ID.values()}


@pytest.mark.parametrize("id_", [id_ for id_ in OLDER if OLDER[id_] != EXAMPLES[id_]])
def test_the_same_answer(box: Sandbox, id_: str) -> None:
    """Each operation whose path, parameters or body have older names takes them as its own."""
    expected = send(box, EXAMPLES[id_])
    box.world.reset()
    found = send(box, OLDER[id_])

    assert (expected.status_code, expected.get_json()) == (found.status_code, found.get_json())
    assert expected.headers.get("X-Mock-Warnings") == found.headers.get("X-Mock-Warnings")


@pytest.mark.parametrize("id_", [id_ for id_ in BY_ID if BY_ID[id_].method == "GET"])
def test_the_same_fields(box: Sandbox, id_: str) -> None:
    """Fields and expansions are taken under the names that the description has in original mode."""
    found = []
    for names in ("neutral", "original"):
        described = find_described(open_box(names, "spec")[1]).get(id_, {})
        asked = EXAMPLES[id_]
        query = urlencode(list_all_fields(described))
        path = f"{asked.path}{'&' if '?' in asked.path else '?'}{query}"
        found.append(send(box, replace(asked, path=path)))

    assert found[0].status_code == found[1].status_code
    assert found[0].data == found[1].data


@pytest.mark.parametrize("names", ["neutral", "original"])
@pytest.mark.parametrize("sent", ["post_id", "tweet_id"])
@pytest.mark.parametrize("route", [
    f"POST /2/users/{USER}/likes", f"POST /2/users/{USER}/reposts",
    f"POST /2/users/{USER}/bookmarks",
])  # fmt: skip
def test_a_post_that_a_body_names(names: str, sent: str, route: str) -> None:
    """What is wrong with the post has the name of the sandbox, with what was sent."""
    method, path = route.split(" ")
    answer = sandbox(names=names).call(method, path, keys=USER_TOKEN, json={sent: "x"})
    name = "tweet_id" if names == "original" else "post_id"

    fault = body_of(answer, 400)["errors"][0]
    assert (f"$.{name}", {name: ["x"]}) == (fault["message"].split(":")[0], fault["parameters"])


@pytest.mark.parametrize("path", [
    f"/2/users/{USER}/likes", f"/2/users/{USER}/bookmarks",
])  # fmt: skip
def test_a_post_that_a_path_names(path: str) -> None:
    """With original names it is the `tweet_id` of the path, in refusals and in the description."""
    box, document = open_box("original", "spec")
    answer = box.call("DELETE", f"{path}/x", keys=USER_TOKEN)

    assert {"tweet_id": ["x"]} == body_of(answer, 400)["errors"][0]["parameters"]
    assert f"{path.replace(USER, '{id}')}/{{tweet_id}}" in document["paths"]
    assert [] == [each for each in document["paths"] if "{post_id}" in each]
