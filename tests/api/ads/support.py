"""What the tests of the advertising interface share: calls below the well-known account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from tests.support import ACCOUNT, Sandbox, data_of

BASE = f"/12/accounts/{ACCOUNT}"


def get(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """A read below the well-known account."""
    return box.call("GET", f"{BASE}/{path}", query_string=query)


def post(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """A creation with parameters in the query."""
    return box.call("POST", f"{BASE}/{path}", query_string=query)


def put(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """An update with parameters in the query."""
    return box.call("PUT", f"{BASE}/{path}", query_string=query)


def delete(box: Sandbox, path: str, **query: Any) -> TestResponse:
    """A delete."""
    return box.call("DELETE", f"{BASE}/{path}", query_string=query)


def send(box: Sandbox, method: str, path: str, body: Any) -> TestResponse:
    """A call with a JSON body."""
    return box.call(method, f"{BASE}/{path}", json=body)


def load(box: Sandbox, path: str, **query: Any) -> Any:
    """The data of a successful read."""
    return data_of(get(box, path, **query))


def make(box: Sandbox, path: str, **query: Any) -> Any:
    """The data of a successful creation."""
    return data_of(post(box, path, **query))


def alter(box: Sandbox, path: str, **query: Any) -> Any:
    """The data of a successful update."""
    return data_of(put(box, path, **query))


def drop(box: Sandbox, path: str) -> Any:
    """The data of a successful delete."""
    return data_of(delete(box, path))


def echo(response: TestResponse) -> Any:
    """The echoed parameters, of a refusal as well."""
    return response.get_json()["request"]["params"]


def ids(response: TestResponse) -> list[str]:
    """The ids of the records of a success."""
    return [record["id"] for record in data_of(response)]


def without(params: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Parameters without some of them."""
    return {name: value for name, value in params.items() if name not in names}


def assumptions(response: TestResponse) -> set[str]:
    """What an answer says it rests on."""
    return set(response.headers["X-Mock-Assumptions"].split(","))


def history(box: Sandbox, entity: str, key: str) -> list[str]:
    """The kinds of change that the account's history has of an entity."""
    match = {"entity": entity, "entity_id": key}
    return [entry.record["change_type"] for entry in box.world.store.page("account_history", match)]
