"""What holds between users after every step of a random sequence of follows, mutes and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random  # noqa: TID251 - which steps are tried, not what the product does
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    MUTES,
    Relation,
)
from mock_platform.api.v2.user_relations.changes import accept_request, deny_request
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, sandbox

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
KEYS: dict[str, Keys] = {OWN: HARBOR, OTHER: NORTHBIKE}
TABLES: dict[str, Relation] = {"following": FOLLOWS, "muting": MUTES, "blocking": BLOCKS}
EDGES = (*TABLES.values(), FOLLOW_REQUESTS)
Edges = dict[str, set[tuple[str, str]]]


def list_edges(box: Sandbox) -> Edges:
    """All edges between users, by relation."""
    return {
        relation.name: {
            (entry.record["user_id"], entry.record["target_user_id"])
            for entry in box.world.store.page(relation.name)
        }
        for relation in EDGES
    }


def count_all(box: Sandbox) -> dict[str, tuple[int, int]]:
    """How many users each user follows and is followed by, as the interface counts them."""
    query = {"ids": f"{OWN},{OTHER},{INES}", "user.fields": "public_metrics"}
    users = box.call("GET", "/2/users", keys=BEARER, query_string=query).get_json()["data"]
    return {
        user["id"]: tuple(user["public_metrics"][f"{n}_count"] for n in ("following", "followers"))
        for user in users
    }


def walk(box: Sandbox, random: Random) -> Iterator[tuple[str, int, Edges]]:
    """Do something at random again and again; yield what, the status, and the edges before."""
    while True:
        before = list_edges(box)
        source = random.choice(list(KEYS))
        target = random.choice([user for user in (OWN, OTHER, INES) if user != source])
        kind = random.choice([*TABLES, "answer"])
        if kind == "answer":
            answer = random.choice([accept_request, deny_request])
            with box.world.work():
                answer(box.world, box.record("users", source), box.record("users", target))
            yield answer.__name__, 200, before
            continue
        method = random.choice(["POST", "POST", "DELETE"])
        path = f"/2/users/{source}/{kind}"
        more: dict[str, Any] = {"json": {"target_user_id": target}} if method == "POST" else {}
        path = path if method == "POST" else f"{path}/{target}"
        done = box.call(method, path, keys=KEYS[source], **more)
        yield f"{method} {kind}", done.status_code, before


@pytest.mark.parametrize("seed", range(4))
def test_what_holds_after_every_step(seed: int) -> None:
    """Blocks part users, requests are no follows, counts follow the edges, refusals change none."""
    box = sandbox(freeze=datetime(2026, 11, 22, 12, tzinfo=UTC), dataset="small")
    box.change("users", OTHER, protected=True)
    first, base = list_edges(box), count_all(box)
    done: set[tuple[str, int]] = set()
    for _, (what, status, before) in zip(range(120), walk(box, Random(seed)), strict=False):
        done.add((what, status))
        edges = list_edges(box)
        parted = {pair for edge in edges["blocks"] for pair in (edge, edge[::-1])}

        assert not parted & (edges["follows"] | edges["follow_requests"]), what
        assert not edges["follows"] & edges["follow_requests"], what
        assert status == 200 or edges == before, what
        assert sum(len(edges[name] ^ before[name]) for name in ("mutes", "blocks")) <= 1, what
    for user, (following, followers) in count_all(box).items():
        for place, (old, new) in enumerate(zip(base[user], (following, followers), strict=True)):
            grown = [
                sum(edge[place] == user for edge in each["follows"]) for each in (edges, first)
            ]
            assert new - old == grown[0] - grown[1], user
    for (source, keys), (kind, relation) in [(k, t) for k in KEYS.items() for t in TABLES.items()]:
        shown = box.call("GET", f"/2/users/{source}/{kind}", keys=keys).get_json().get("data", ())
        assert {(source, user["id"]) for user in shown} == {
            edge for edge in edges[relation.name] if edge[0] == source
        }  # fmt: skip

    assert {("POST following", 400), ("POST blocking", 200), ("DELETE muting", 200)} <= done
