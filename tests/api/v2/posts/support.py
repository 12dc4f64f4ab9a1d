"""Posts that the tests of several families make behind the interface."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.objects.relations import Relation
from mock_platform.api.v2.posts.changes import create_post
from mock_platform.world.store.interface import Record
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
KEYS = {OWN: HARBOR, OTHER: NORTHBIKE}


def make(box: Sandbox, author: str, text: str = "Hello", **options: Any) -> str:
    """Make a post; its id. `reply_to`, `quoted`, `reposted` and `previous` are ids."""
    with box.world.work():
        for name in {"reply_to", "quoted", "reposted", "previous"} & options.keys():
            options[name] = box.record("posts", options[name])
        made = create_post(box.world, box.record("users", author), text, **options)
    return str(made.record["id_str"])


def add_user(box: Sandbox, id_: str, **fields: Any) -> Record:
    """Store another user."""
    user = box.record("users", INES) | {"id": id_, "screen_name": f"user{id_}"} | fields
    box.put("users", id_, user)
    return user


def ids_of(answer: Any) -> list[str]:
    """The ids in an answer."""
    return [each["id"] for each in answer.get("data", ())]


def ids(box: Sandbox, path: str, keys: Keys | str = BEARER, **query: Any) -> list[str]:
    """The ids of the page of a list."""
    return ids_of(box.read(path, keys=keys, **query))


def read_metrics(box: Sandbox, path: str) -> Any:
    """The public metrics of a post or a user."""
    query: Any = {"post.fields": "public_metrics", "user.fields": "public_metrics"}
    return box.read(path, keys=BEARER, **query)["data"]["public_metrics"]


def list_activities(box: Sandbox, *names: str) -> list[tuple[Any, ...]]:
    """These fields of all that happened, oldest first."""
    found = [entry.record for entry in box.world.store.page("activities")]
    return [tuple(each[name] for name in names) for each in found]


def relate(box: Sandbox, relation: Relation, source: str, target: str) -> None:
    """Make an edge behind the interface."""
    with box.world.work():
        relation.add(box.world, source, target)
