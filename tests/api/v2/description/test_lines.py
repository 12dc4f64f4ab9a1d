"""The description of v2: each line of a stream is valid under it, in the same names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import loads
from typing import Any
from urllib.parse import urlencode

import pytest
from jsonschema import Draft202012Validator

from mock_platform.api.served import OPERATIONS
from mock_platform.core.envelope import Lines
from tests.api.v2.description.test_operations import (
    WIRES,
    find_described,
    list_all_fields,
)
from tests.support import BEARER, NORTHBIKE, Sandbox, sandbox
from tests.support_streams import KEEP_ALIVE, USER
from tests.support_streams import Lines as Opened
from tests.test_kept_worlds import NOON

_ALL = [each for each in OPERATIONS if isinstance(each.returns, Lines)]
STREAMS = list({repr(each.returns): each for each in reversed(_ALL)}.values())
"""Of the streams whose lines have the same form, the first one."""
QUIET_USER = "1500007919"
TYPES = ("post.create", "post.delete", "like.create", "follow.follow", "profile.update.bio")


def let_happen(box: Sandbox) -> None:
    """Let posts, likes and users become what streams tell of."""

    def ask(method: str, path: str, **more: Any) -> Any:
        answer = box.call(method, path, **more)
        assert answer.status_code < 300, answer.get_data(as_text=True)
        return answer.get_json()

    rule = {"add": [{"value": "espresso"}]}
    ask("POST", "/2/posts/search/stream/rules", keys=BEARER, json=rule)
    for kind in TYPES:
        body = {"event_type": kind, "filter": {"user_id": USER}}
        answer = box.call("POST", "/2/activity/subscriptions", json=body)
        assert answer.status_code in {200, 409}, answer.get_data(as_text=True)
    words = "espresso @harbor_roasters #crema $CREMA https://crema.example"
    theirs = ask("POST", "/2/posts", keys=NORTHBIKE, json={"text": words})["data"]["id"]
    poll = {"options": ["a", "b"], "duration_minutes": 5}
    kept_back = ask("POST", "/2/posts", json={"text": "espresso", "poll": poll})["data"]["id"]
    quote = {"text": "espresso?", "quote_post_id": theirs}
    mine = ask("POST", "/2/posts", json=quote)["data"]["id"]
    edit = {"text": "espresso!", "edit_options": {"previous_post_id": mine}}
    ask("POST", "/2/posts", json=edit)
    ask("POST", f"/2/users/{USER}/likes", json={"post_id": theirs})
    ask("DELETE", f"/2/posts/{mine}")
    ask("DELETE", f"/2/users/{USER}/likes/{theirs}")
    for table, key, changed in (
        ("users", USER, {"description": "Espresso by the water."}),
        ("users", QUIET_USER, {"_geo_scrubbed_up_to": theirs}),
        ("users", QUIET_USER, {"withheld_in_countries": ["DE"]}),
        ("users", QUIET_USER, {"protected": True}),
        ("posts", kept_back, {"_withheld_in_countries": ["DE"]}),
        ("posts", kept_back, {"_dropped": True}),
        ("posts", kept_back, {"_made_unviewable_by": "review"}),
    ):
        answer = box.client.patch(f"/_mock/state/{table}/{key}", json=changed)
        assert 200 == answer.status_code, answer.text


def read_lines(box: Sandbox, address: str) -> list[dict[str, Any]]:
    """What a stream has of the last five minutes, and its last line when it is disconnected."""
    opened = Opened(box.call("GET", address, keys=BEARER))
    found = []
    while (piece := opened.next_piece()) != KEEP_ALIVE:
        found.append(loads(piece))
    ended = box.client.post("/_mock/streams/all/disconnect", json={})
    assert 200 == ended.status_code, ended.text
    return found + opened.rest()


def list_queries(described: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a client asks each part of a stream for: nothing, and everything that it can show."""
    limits = {each["name"]: each["schema"].get("maximum") for each in described["parameters"]}
    for number in range(1, limits.get("partition", 1) + 1):
        part = {"partition": number} if "partition" in limits else {}
        for asked in ({}, list_all_fields(described)):
            yield {"backfill_minutes": 5, **part, **asked}


@pytest.mark.parametrize(("names", "wire"), WIRES)
def test_lines_are_valid_under_the_description(names: Any, wire: str) -> None:
    """A client that checks what it gets reads every line, the last one of a stream included."""
    box = sandbox(freeze=NOON, limits="off", names=names, wire=wire, stream_keepalive=0.001)
    document = box.call("GET", "/2/openapi.json", keys=None).get_json()
    let_happen(box)
    faults = set()
    for operation in STREAMS:
        described = find_described(document)[operation.id]
        content = described["responses"]["200"]["content"]["application/json"]
        form = {**content["schema"], "components": document["components"]}
        lines = [
            line
            for query in list_queries(described)
            for line in read_lines(box, f"{operation.path}?{urlencode(query)}")
        ]
        faults |= {
            f"{operation.id}, {each.json_path}: {each.message}"
            for line in lines
            for each in Draft202012Validator(form).iter_errors(line)
        }
        assert any("data" in line for line in lines), operation.id
    assert set() == faults
