"""Saved searches of the older interface: kept, listed and deleted for their user alone."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api.older.numbers import invalid, numbers
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, Sandbox, body_of

OWN = "1866020000000000001"
PATH = "/1.1/saved_searches"


def save(box: Sandbox, query: str, status: int = 200) -> Any:
    """The answer to a query that is saved."""
    return body_of(box.call("POST", f"{PATH}/create.json", form={"query": query}), status)


def test_a_saved_search(box: Sandbox) -> None:
    """A search is saved once, listed, read and deleted; other users do not see it."""
    made, again = save(box, "cold brew"), save(box, "cold brew")
    listed = [one["query"] for one in box.read(f"{PATH}/list.json")]
    shown = box.read(f"{PATH}/show/{made['id_str']}.json")
    others = box.read(f"{PATH}/list.json", keys=NORTHBIKE)
    deleted = body_of(box.call("POST", f"{PATH}/destroy/{made['id_str']}.json"))

    assert made == again == shown == deleted
    assert ("cold brew", None, int(made["id_str"])) == (made["name"], made["position"], made["id"])
    assert ["harbor coffee", "from:northbike_co", "cold brew"] == listed
    assert [] == others
    assert 404 == box.call("GET", f"{PATH}/show/{made['id_str']}.json").status_code


def test_the_most_searches(box: Sandbox) -> None:
    """A user has 25 saved searches; one more is refused, one that is there already is not."""
    for number in range(23):
        save(box, f"query {number}")

    assert numbers(172)["errors"][0]["code"] == save(box, "one more", 403)["errors"][0]["code"]
    assert "query 22" == save(box, "query 22")["query"]
    assert 25 == len(box.read(f"{PATH}/list.json"))


create = partial(Refusal, f"POST {PATH}/create.json")
REFUSED = [
    create("no query", 403, shows=numbers(38, "query parameter is missing.")),
    create("a query of 101 characters", 400, form={"query": "x" * 101}, shows=invalid("query")),
    Refusal(f"GET {PATH}/show/99.json", "an unknown search", 404, shows=numbers(34)),
    Refusal(f"GET {PATH}/show/{OWN}.json", "the search of somebody else", 404, keys=NORTHBIKE,
            shows=numbers(34)),
    Refusal(f"POST {PATH}/destroy/{OWN}.json", "to delete the search of somebody else", 404,
            keys=NORTHBIKE, shows=numbers(34)),
    Refusal(f"GET {PATH}/list.json", "the searches of an app", 403, keys=BEARER,
            shows=numbers(220)),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_the_longest_query(box: Sandbox) -> None:
    """A query may have 100 characters."""
    assert 100 == len(save(box, "x" * 100)["query"])
