from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mock_platform.core.call import Sending
from tests.scenario.support import arm, complaints, define, engine, handle, last
from tests.support import BEARER, HARBOR, Sandbox

ON = "GET /2/shops/:id"
HELLO = {"respond": {"json": {"data": {"name": "Roasters"}}}}


def get(box: Sandbox, path: str, keys: Any = None, **headers: str) -> Any:
    """The answer to a GET."""
    return box.call("GET", path, keys=keys, headers=headers)


# -- one route -----------------------------------------------------------------------------------


def test_a_path_of_ones_own(box: Sandbox) -> None:
    """A path that no operation serves answers what the rule says, and is marked."""
    arm(box, {"on": ON, "then": HELLO})

    answer = get(box, "/2/shops/7")

    assert (200, {"data": {"name": "Roasters"}}) == (answer.status_code, answer.get_json())
    assert (ON, "s/0") == (answer.headers["X-Mock-Custom"], answer.headers["X-Mock-Rule"])
    assert "X-Mock-Operation" not in answer.headers
    assert "X-Mock-Warnings" not in answer.headers


@pytest.mark.parametrize(("on", "method", "path", "status"), [
    (ON, "HEAD", "/2/shops/7", 200),
    (ON, "GET", "/2/shops", 404),
    (ON, "GET", "/2/shops/", 404),
    (ON, "GET", "/2/shops/7/members", 404),
    (ON, "GET", "/sandbox/2/shops/7", 404),
    (ON, "POST", "/2/shops/7", 404),
    ("PATCH /2/users/:id", "PATCH", "/2/users/1", 200),
    ("PATCH /2/users/:id", "PUT", "/2/users/1", 405),
    ("GET /sandbox/12/piggy_banks", "GET", "/sandbox/12/piggy_banks", 200),
    ("GET /sandbox/12/piggy_banks", "GET", "/12/piggy_banks", 404),
])  # fmt: skip
def test_which_requests_a_path_takes(
    box: Sandbox, on: str, method: str, path: str, status: int
) -> None:
    """Those of its method, on its address, and HEAD where GET is; others are as unknown as before.

    A method that an operation's path does not have can be a user's.
    """
    arm(box, {"on": on, "then": HELLO})

    answer = box.call(method, path, keys=None)

    assert status == answer.status_code
    assert (status == 200) == ("X-Mock-Custom" in answer.headers)
    assert method != "HEAD" or b"" == answer.data


def test_encoded_paths(box: Sandbox) -> None:
    """Segments are compared and matched decoded."""
    arm(box, {"on": "GET /2/old lists/:name".replace(" l", "%20l"),
              "when": {"path": {"name": "a b"}}, "then": HELLO})  # fmt: skip

    assert 200 == get(box, "/2/old%20lists/a%20b").status_code


def test_conditions_and_counts(box: Sandbox) -> None:
    """Conditions on path, query, headers and body, and counts, decide as for operations."""
    arm(box, {"on": "POST /2/shops/:list_id/members",
              "when": {"path": {"list_id": "7"}, "query": {"dry": "1"}, "json": {"user_id": "5"},
                       "headers": {"x-app": "a"}},
              "call": 2, "then": {"respond": {"status": 201, "json": {}}}})  # fmt: skip

    def add(list_id: str = "7", query: str = "dry=1", **more: Any) -> int:
        path = f"/2/shops/{list_id}/members?{query}"
        sent = {"X-App": "a"} | more
        return box.call("POST", path, keys=None, json={"user_id": "5"}, headers=sent).status_code

    assert [404, 201, 404] == [add(), add(), add()]
    assert 404 == add("8")
    difference = last(box).near_misses[0]["difference"]
    assert 'path.list_id: expected "7", got "8"' == difference
    rule = box.client.get("/_mock/scenarios/s").get_json()["rules"][0]
    assert (["POST /2/shops/:list_id/members"], 3, 1) == (
        rule["on"], rule["matched"], rule["fired"],
    )  # fmt: skip


def test_callers(box: Sandbox) -> None:
    """No credentials are needed; those that are sent say who calls, and wrong ones are noted."""
    arm(box, {"on": ON, "when": {"caller": {"scheme": "oauth1"}}, "then": HELLO},
        {"on": ON, "then": {"respond": {"status": 202, "json": {}}}})  # fmt: skip

    assert [200, 202, 202] == [
        get(box, "/2/shops/7", keys).status_code for keys in (HARBOR, BEARER, None)
    ]
    assert 202 == get(box, "/2/shops/7", "wrong").status_code
    (warning,) = last(box).warnings
    assert warning.startswith("the credentials were not accepted: ")
    assert last(box).diagnosis is None


def test_other_effects(box: Sandbox) -> None:
    """Errors, problems, delays, faults, limits and states act on such a path as on others."""
    arm(
        box,
        {"on": ON, "when": {"path": {"id": "1"}}, "then": {"problem": "usage-capped"}},
        {"on": ON, "when": {"path": {"id": "2"}}, "then": [{"delay": "2s"}, {"fault": "reset"},
                                                           HELLO]},
        {"on": "GET /12/piggy_banks", "then": {"error": "NOT_FOUND"}},
        {"on": "GET /2/limited", "then": [{"rate_limit": {"limit": 1, "window": "15m"}}, HELLO]},
    )  # fmt: skip

    problem = get(box, "/2/shops/1")
    error = get(box, "/12/piggy_banks")

    assert (429, "application/problem+json") == (problem.status_code, problem.content_type)
    assert Sending(delay=2.0, fault="reset") == handle(box, "/2/shops/2").sending
    assert (404, "NOT_FOUND") == (error.status_code, error.get_json()["errors"][0]["code"])
    assert [200, 429] == [get(box, "/2/limited").status_code for _ in range(2)]


def test_named_parameters_of_two_rules(box: Sandbox) -> None:
    """Each rule reads the path by its own names; the first one that holds acts."""
    arm(box, {"on": "GET /2/:kind/:key", "when": {"path": {"key": "x"}}, "then": HELLO},
        {"on": "GET /2/shops/:kind", "when": {"path": {"kind": "7"}},
         "then": {"respond": {"status": 202, "json": {}}}})  # fmt: skip

    assert [200, 202, 404] == [
        get(box, path).status_code for path in ("/2/shops/x", "/2/shops/7", "/2/shops/8")
    ]


def test_what_acts_on_everything_acts_here(box: Sandbox) -> None:
    """A scenario for every request also acts on paths that another scenario answers."""
    arm(box, {"on": ON, "then": HELLO})
    name = define(box, {"name": "down", "rules": [
        {"stage": "before_auth", "when": {"headers": {"x-down": "1"}}, "then": {"error": 130}},
    ]})  # fmt: skip
    engine(box).activate(name)

    assert 503 == get(box, "/2/shops/7", **{"X-Down": "1"}).status_code
    assert 200 == get(box, "/2/shops/7").status_code
    assert 404 == get(box, "/2/nothing", **{"X-Down": "1"}).status_code


def test_for_one_request(box: Sandbox) -> None:
    """`X-Mock-Scenario` asks for such a path for one request; an unknown name is refused."""
    define(box, {"rules": [{"on": ON, "then": HELLO}]})

    assert [404, 200] == [
        get(box, "/2/shops/7").status_code,
        get(box, "/2/shops/7", **{"X-Mock-Scenario": "s"}).status_code,
    ]
    refused = get(box, "/2/shops/7", **{"X-Mock-Scenario": "t"})
    assert (400, "There is no scenario 't'") == (
        refused.status_code, refused.get_json()["detail"][:24],
    )  # fmt: skip
    assert 404 == get(box, "/2/other", **{"X-Mock-Scenario": "s"}).status_code


def test_prefer_is_not_for_such_paths(box: Sandbox) -> None:
    """`Prefer` asks for an operation's failure, so it is reported as without effect."""
    arm(box, {"on": ON, "then": HELLO})

    assert 200 == get(box, "/2/shops/7", Prefer="code=503").status_code
    assert ["Prefer has no effect here, because no operation serves the path"] == list(
        last(box).warnings
    )


def test_worlds_are_apart(box: Sandbox) -> None:
    """A path is known where its scenario is active."""
    box.client.put("/_mock/worlds/w1")
    arm(box, {"on": ON, "then": HELLO})

    assert [200, 404] == [get(box, path).status_code for path in ("/2/shops/7", "/~w1/2/shops/7")]
    engine(box).deactivate("s")
    assert 404 == get(box, "/2/shops/7").status_code


def test_the_journal_and_coverage(box: Sandbox) -> None:
    """The journal names the route; the coverage of the contract does not count it."""
    before = box.client.get("/_mock/coverage").get_json()
    arm(box, {"on": ON, "then": HELLO})
    get(box, "/2/shops/7")

    entry = box.client.get("/_mock/requests").get_json()["requests"][-1]

    assert (None, ON) == (entry["operation"], entry["custom"])
    assert {"scenario": "s", "rule": 0, "call": 1} == entry["rule"]
    assert before == box.client.get("/_mock/coverage").get_json()


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("on", "text"), [
    ("GET /2/users/:who", "GET /2/users/:who is served: users.get answers GET /2/users/:id. "
     "Write `on: users.get`, with `when: {path: {…}}` for some of its requests and `stage: "
     "before_auth` for those that it would refuse"),
    ("GET /2/users/somebody", "is served: users.get answers GET /2/users/:id"),
    ("DELETE /sandbox/12/accounts/:account_id", "accounts.delete"),
    ("/2/users", "GET /2/users is served"),
    ("GET /_mock/state", "the sandbox's own paths (/_mock, /~WORLD) cannot be replaced"),
    ("GET /~w1/2/shops", "the sandbox's own paths (/_mock, /~WORLD) cannot be replaced"),
    ("get /2/shops", '"get" is not a method. Did you mean \'GET\'? Allowed: GET, POST, PUT, '
     "PATCH, DELETE."),
    ("FETCH /2/shops", '"FETCH" is not a method. Did you mean \'PATCH\'?'),
    ("GET 2/shops", 'expected a path that begins with a slash, such as "GET /2/shops/:id" or '
     '"/2/shops"; got "GET 2/shops"'),
    ("GET /2/shops?x=1", "a path has no query; leave it out, and use `when: {query: {…}}`"),
    ("GET /2/shops/", "without a slash at its end"),
    ("GET /2/:ID", "with parameters in lower case"),
    ("GET /2/:a/:a", "two parameters of the path have one name"),
    ("/2/shops/:id/members", ":id is the parameter of the collection's records; use another "
     "name"),
    (["webhooks.replay", "GET /2/users/:who"], "is served: users.get"),
    ("webhooks.replya", "Did you mean 'webhooks.replay'?"),
    ("webhooks.replya", 'For a path that no operation serves write "GET /2/shops/:id" or '
     '"/2/shops".'),
])  # fmt: skip
def test_paths_that_are_refused(box: Sandbox, on: Any, text: str) -> None:
    """Each fault names its place, what is wrong and what to write."""
    answer = box.client.put("/_mock/scenarios/bad", json={"rules": [{"on": on, "then": HELLO}]})

    place = "rules[0].on[1]" if isinstance(on, list) else "rules[0].on"
    assert 422 == answer.status_code
    assert f"{place}: " in answer.get_json()["detail"]
    assert text in answer.get_json()["detail"]


@pytest.mark.parametrize(("on", "then", "text"), [
    (ON, {"patch": {"a": 1}}, "patch needs an operation; a path that no operation serves has none"),
    (ON, {"items": {"0": "NOT_FOUND"}}, "items needs an operation"),
    (ON, {"disconnect": {}}, "disconnect needs an operation"),
    (ON, {"collection": []}, "collection needs a path without a method that no operation "
     'serves, such as `on: "/2/shops"`; got "GET /2/shops/:id"'),
    ("line_items.list", {"collection": []}, "collection needs a path without a method"),
    ("/2/shops", [{"collection": []}, HELLO], "respond and collection cannot act on one"),
])  # fmt: skip
def test_effects_that_are_refused(box: Sandbox, on: Any, then: Any, text: str) -> None:
    """An effect that cannot act on such a path, or only on such a path, says what it needs."""
    answer = box.client.put("/_mock/scenarios/bad", json={"rules": [{"on": on, "then": then}]})

    assert 422 == answer.status_code
    assert text in answer.get_json()["detail"]


# -- collections ---------------------------------------------------------------------------------

LISTS: list[dict[str, Any]] = [
    {"id": "1", "name": "Roasters"},
    {"id": 2, "name": "Mugs", "tags": {"a": 1, "b": 2}},
]
COLLECTION = {"on": "/2/shops", "then": {"collection": LISTS}}


def names(box: Sandbox, path: str = "/2/shops") -> list[str]:
    """The names of all records of the collection."""
    return [record["name"] for record in get(box, path).get_json()["data"]]


def test_a_collection(box: Sandbox) -> None:
    """List, get, create, update and delete, in the envelope of the interface."""
    arm(box, COLLECTION)

    listed = get(box, "/2/shops")
    one = get(box, "/2/shops/2")
    made = box.call("POST", "/2/shops", keys=None, json={"name": "Beans"})
    key = made.get_json()["data"]["id"]
    put = box.call("PUT", f"/2/shops/{key}", keys=None, json={"name": "Green beans", "id": "9"})
    patched = box.call("PATCH", "/2/shops/2", keys=None, json={"tags": {"a": None}})
    deleted = box.call("DELETE", "/2/shops/1", keys=None)

    assert {"data": LISTS, "meta": {"result_count": 2}} == listed.get_json()
    assert "GET /2/shops" == listed.headers["X-Mock-Custom"]
    assert {"data": LISTS[1]} == one.get_json()
    assert "GET /2/shops/:id" == one.headers["X-Mock-Custom"]
    assert (201, {"data": {"id": key, "name": "Beans"}}) == (made.status_code, made.get_json())
    assert {"data": {"id": key, "name": "Green beans"}} == put.get_json()
    assert {"data": {"id": 2, "name": "Mugs", "tags": {"b": 2}}} == patched.get_json()
    assert (200, {"data": {"deleted": True}}) == (deleted.status_code, deleted.get_json())
    assert ["Mugs", "Green beans"] == names(box)


@pytest.mark.parametrize(("method", "path", "body", "status", "text"), [
    ("GET", "/2/shops/3", None, 404, "There is no record with the id '3' in this collection."),
    ("PUT", "/2/shops/3", {}, 404, "There is no record with the id '3'"),
    ("DELETE", "/2/shops/3", None, 404, "There is no record with the id '3'"),
    ("POST", "/2/shops", {"id": "2"}, 409, "There is already a record with the id '2'"),
    ("POST", "/2/shops", [1], 400, "Expected a JSON object"),
    ("POST", "/2/shops", {"id": [1]}, 400, "Expected a text or a whole number as id, got [1]."),
    ("POST", "/2/shops", {"id": False}, 400, "Expected a text or a whole number as id, got false."),
    ("PATCH", "/2/shops/1", [1], 400, "Expected a JSON object"),
])  # fmt: skip
def test_refusals_of_a_collection(
    box: Sandbox, method: str, path: str, body: Any, status: int, text: str
) -> None:
    """What a collection refuses is worded as the interface words it, and changes nothing."""
    arm(box, COLLECTION)

    answer = box.call(method, path, keys=None, json=body)

    assert (status, "application/problem+json") == (answer.status_code, answer.content_type)
    assert answer.get_json()["detail"].startswith(text)
    assert ["Roasters", "Mugs"] == names(box)


@pytest.mark.parametrize("given", [None, ""])
def test_a_record_without_an_id_of_its_own(box: Sandbox, given: Any) -> None:
    """An empty id does not count: the record gets one, under which it is found."""
    arm(box, COLLECTION)

    made = box.call("POST", "/2/shops", keys=None, json={"id": given, "name": "Cups"})

    record = made.get_json()["data"]
    assert record["id"]
    assert {"data": record} == get(box, f"/2/shops/{record['id']}").get_json()


def test_a_record_with_a_number_as_its_id(box: Sandbox) -> None:
    """Zero is an id as well, and the record keeps it as it was sent."""
    arm(box, COLLECTION)

    made = box.call("POST", "/2/shops", keys=None, json={"name": "Cups", "id": 0})

    assert {"data": {"id": 0, "name": "Cups"}} == made.get_json()
    assert made.get_json() == get(box, "/2/shops/0").get_json()


def test_an_id_stays(box: Sandbox) -> None:
    """A request that changes the id of a record is warned of; one that repeats it is not."""
    arm(box, COLLECTION)

    box.call("PUT", "/2/shops/2", keys=None, json={"id": "2"})
    assert [] == last(box).warnings
    box.call("PUT", "/2/shops/2", keys=None, json={"id": "3"})
    assert ["the id of a record does not change: 2 stays"] == last(box).warnings


def test_a_deleted_record_is_gone(box: Sandbox) -> None:
    """A deleted record is not found any more, and its id is free."""
    arm(box, COLLECTION)
    box.call("DELETE", "/2/shops/1", keys=None)

    assert 404 == get(box, "/2/shops/1").status_code
    made = box.call("POST", "/2/shops", keys=None, json={"id": "1", "name": "Cups"})
    assert 201 == made.status_code
    assert ["Cups", "Mugs"] == names(box)


def test_an_advertising_collection(box: Sandbox) -> None:
    """Under a version of the advertising interface, answers and refusals have its form."""
    arm(box, {"on": "/12/accounts/:account_id/piggy_banks",
              "then": {"collection": {"items": [{"key": "t1"}], "id": "key"}}})  # fmt: skip
    path = "/12/accounts/abc/piggy_banks"

    made = box.call("POST", path, keys=None, form={"name": "VAT"})
    missing = get(box, f"{path}/t2")

    assert {
        "data": [{"key": "t1"}, made.get_json()["data"]],
        "request": {"params": {"account_id": "abc"}},
        "next_cursor": None,
    } == get(box, path).get_json()
    assert (200, "VAT") == (made.status_code, made.get_json()["data"]["name"])
    assert {"key": "t1", "deleted": True} == box.call("DELETE", f"{path}/t1", keys=None).get_json()[
        "data"
    ]
    assert (404, "NOT_FOUND") == (missing.status_code, missing.get_json()["errors"][0]["code"])


def test_without_an_envelope(box: Sandbox) -> None:
    """With `envelope: none` the answer is the list or the record itself."""
    arm(box, {"on": "/lists", "then": {"collection": {"items": LISTS, "envelope": "none"}}})

    assert LISTS == get(box, "/lists").get_json()
    assert LISTS[0] == get(box, "/lists/1").get_json()
    assert dict(LISTS[0], deleted=True) == box.call("DELETE", "/lists/1", keys=None).get_json()


def test_each_start_has_the_authors_records(box: Sandbox) -> None:
    """Changes stay in their world, until its reset or the next activation."""
    box.client.put("/_mock/worlds/w2")
    arm(box, COLLECTION)
    box.call("DELETE", "/2/shops/1", keys=None)

    assert ["Mugs"] == names(box)
    assert 404 == get(box, "/~w2/2/shops").status_code
    engine(box).activate("s")
    assert ["Roasters", "Mugs"] == names(box)
    box.call("DELETE", "/2/shops/1", keys=None)
    box.world.reset()
    arm(box, COLLECTION)
    assert ["Roasters", "Mugs"] == names(box)


def test_failures_of_a_collection(box: Sandbox) -> None:
    """Another rule can refuse one of a collection's requests; a lost answer can keep its change."""
    arm(box, {"on": "DELETE /2/shops/:id", "call": 1, "then": {"error": 130}},
        {"on": "/2/shops", "when": {"json": {"name": "late"}},
         "then": [{"fault": "reset", "stage": "after_commit"}, {"collection": LISTS}]},
        COLLECTION)  # fmt: skip

    assert 503 == box.call("DELETE", "/2/shops/1", keys=None).status_code
    assert 200 == box.call("DELETE", "/2/shops/1", keys=None).status_code


# -- files ---------------------------------------------------------------------------------------


def write(folder: Path, records: Any, named: str = "lists.json") -> Path:
    """A scenario with a collection in a file."""
    folder.mkdir(exist_ok=True)
    (folder / "lists.json").write_text(records if isinstance(records, str) else json.dumps(records))
    file = folder / "mine.yaml"
    file.write_text(f"name: mine\nrules:\n  - on: /2/shops\n    then: {{collection: {named}}}\n")
    return file


def test_a_collection_in_a_file(box: Sandbox, tmp_path: Path) -> None:
    """The records may be in a JSON file beside the scenario; dollar signs are only text there."""
    records = [{"id": "1", "name": "$price"}, {"id": "2", "name": "$$"}, {"id": "3", "name": "$5"}]
    found = box.platform.start_up.read(write(tmp_path, records))
    engine(box).define(found)
    engine(box).activate("mine")

    assert records == get(box, "/2/shops").get_json()["data"]
    assert (tmp_path / "lists.json",) == found.files


@pytest.mark.parametrize(("records", "named", "text"), [
    ([], "other.json", "other.json:1:1: cannot be read: No such file or directory"),
    ([], "../lists.json", "../lists.json is outside of the scenario's folder"),
    ([], "/etc/hosts.json", "/etc/hosts.json is outside of the scenario's folder"),
    ([], "lists.csv", "expected a JSON file (.json), got lists.csv"),
    ("[1,", "lists.json", "lists.json:1:4: not valid JSON"),
    ({}, "lists.json", "lists.json:1:1: expected an array of objects"),
    ([{"id": "1"}, 7], "lists.json", "[1]: expected an object, got 7"),
    ([{"name": "a"}], "lists.json", "[0]: expected a text or a whole number as id; it is missing"),
    ([{"id": None}], "lists.json", "[0]: expected a text or a whole number as id; got null"),
    ([{"id": "1"}, {"id": 1}], "lists.json", "[1]: record 0 has the id 1 already"),
    ([{"id": n} for n in range(1001)], "lists.json",
     "[1000]: a collection has at most 1,000 records"),
])  # fmt: skip
def test_files_that_are_refused(
    tmp_path: Path, box: Sandbox, records: Any, named: str, text: str
) -> None:
    """Place, file and fault of a collection that cannot be used."""
    file = write(tmp_path / "scenarios", records, named)

    with pytest.raises(ValueError, match=r"then\.collection: ") as fault:
        box.platform.start_up.read(file)

    assert f"{file}:4:12: rules[0].then.collection: " in str(fault.value)
    assert text in str(fault.value)


def test_a_link_out_of_the_folder(tmp_path: Path, box: Sandbox) -> None:
    """A link in the folder does not reach outside of it."""
    (tmp_path / "secret.json").write_text('[{"id": "1"}]')
    file = write(tmp_path / "scenarios", [], "linked.json")
    (tmp_path / "scenarios" / "linked.json").symlink_to(tmp_path / "secret.json")

    with pytest.raises(ValueError, match="outside of the scenario's folder"):
        box.platform.start_up.read(file)


def test_a_scenario_without_a_file_names_none() -> None:
    """A scenario that comes over HTTP cannot read files of the server."""
    (found,) = complaints("name: a\nrules: [{on: /2/shops, then: {collection: lists.json}}]")

    assert (
        "only a scenario in a file can name one; write the records here, as a list"
    ) == found.text


def test_inline_records_that_are_refused() -> None:
    """Records in the scenario are checked like those in a file."""
    (found,) = complaints(
        "name: a\nrules:\n  - on: /2/shops\n    then:\n      collection:\n"
        "        items: [{id: 1}, {id: 1}]\n"
    )

    assert (6, "rules[0].then.collection.items[1]", "record 0 has the id 1 already") == (
        found.line, found.field, found.text,
    )  # fmt: skip
