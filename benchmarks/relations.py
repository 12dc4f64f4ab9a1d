"""How lists of relations grow with a world: 1,000 edges and posts, and 100,000 of each.

Run it with `python benchmarks/relations.py`. Milliseconds of processor time in the handler, the
best of many pages or writes; the ratio is to the small world in the same run, and should stay near
one, since a page and a write cost the same in a world of any size.
"""

from __future__ import annotations

import json
from datetime import timedelta
from time import thread_time
from typing import Any

from msgspec.structs import force_setattr

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.lists.records import LIST_MEMBERS
from mock_platform.api.v2.objects.relations import FOLLOWS, LIKES, Relation
from mock_platform.core.call import Call
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

SIZES = (1_000, 100_000)
PAGES, ROUNDS = 4, 10
HOST = "http://127.0.0.1:8080"
MAIN, POST = "2244994945", "1789900000000000009"
USERS = [str(10_000 + number) for number in range(1_000)]
NEW = [str(20_000 + number) for number in range(PAGES)]
FIRST = 1_900_000_000_000_000_000


NAMES = (
    *("followers.list", "liked_posts.list", "timelines.mentions", "timelines.posts"),
    *("timelines.home", "list_posts.list", "following.create", "likes.create", "likes.delete"),
)


def fill(world: World, many: int) -> str:
    """Make so many posts, likes and followers; the main user and a list have 1,000 users."""
    store, now = world.store, world.clock.now()
    user, post = store.get("users", MAIN), store.get("posts", POST)
    assert user is not None
    assert post is not None
    listed = store.page("lists", {"owner_id": MAIN}, limit=1)[0].key
    moment = wire_millis(now)

    def link(relation: Relation, source: str, target: str) -> None:
        ends = {relation.source.field: source, relation.target.field: target}
        key = relation.key(source, target)
        store.put(relation.name, key, {"id": key, **ends, "created_at": moment})

    with world.work():
        for id_ in (*USERS, *NEW):
            store.put("users", id_, user | {"id": id_, "screen_name": f"u{id_}"})
        for id_ in USERS:
            link(FOLLOWS, MAIN, id_)
            link(LIST_MEMBERS, listed, id_)
        for number in range(many):
            id_, author = FIRST + 1000 * number, MAIN if number % 2 else USERS[number // 2 % 1_000]
            mention = {"id_str": MAIN, "screen_name": "harbor_roasters", "indices": [0, 16]}
            record = {
                "id": id_,
                "id_str": str(id_),
                "_user_id": author,
                "_conversation_id": str(id_),
                "full_text": f"@harbor_roasters {number}",
                "entities": {"user_mentions": [mention]},
                "created_at": wire_millis(now - timedelta(seconds=many - number)),
            }
            store.put("posts", str(id_), post | record)
            link(LIKES, MAIN, str(id_))
            link(LIKES, f"f{number}", POST)
            store.put("users", f"f{number}", user)
            link(FOLLOWS, f"f{number}", MAIN)
    return listed


def measure(many: int) -> dict[str, float]:
    """The best time in the handler of each operation, in milliseconds, by its id."""
    taken: dict[str, list[float]] = {}
    for operation in OPERATIONS:
        if operation.id in NAMES:
            _time(operation, taken)
    platform = Platform(Settings(limits="off"))
    world = platform.worlds.default
    listed = fill(world, many)
    token = credentials(world)["user"]["oauth2_access_token"]
    headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]

    def call(method: str, path: str, query: str = "", body: Any = None) -> Any:
        sent = b"" if body is None else json.dumps(body).encode()
        answer = platform.handle(
            Call(
                method, f"{HOST}{path}?{query}", path, HOST, headers, body=sent, query_string=query
            )
        )
        assert answer.status < 300, (path, answer.body)
        return json.loads(answer.body)

    own = f"/2/users/{MAIN}"
    for path in ROUNDS * (
        *(f"{own}/{name}" for name in ("followers", "liked_posts", "mentions", "posts")),
        f"{own}/timelines/reverse_chronological",
        f"/2/lists/{listed}/posts",
    ):
        query = "max_results=100"
        for _ in range(PAGES):
            following = call("GET", path, query)["meta"].get("next_token")
            if following is None:
                break
            query = f"max_results=100&pagination_token={following}"
    for user_id, number in zip(NEW, range(PAGES), strict=True):
        call("POST", f"{own}/following", body={"target_user_id": user_id})
        call("DELETE", f"{own}/likes/{FIRST + 1000 * number}")
        call("POST", f"{own}/likes", body={"post_id": str(FIRST + 1000 * number)})
    return {name: min(times) * 1000 for name, times in taken.items()}


def _time(operation: Operation, taken: dict[str, list[float]]) -> None:
    """Let an operation note how long its handler takes."""
    handler = operation.handler

    def timed(call: Call, world: World) -> Any:
        began = thread_time()
        answer = handler(call, world)
        taken.setdefault(operation.id, []).append(thread_time() - began)
        return answer

    force_setattr(operation, "handler", timed)


def main() -> None:
    """Print the table."""
    small, large = (measure(size) for size in SIZES)
    print(f"{'':20}{SIZES[0]:10,}{SIZES[1]:10,}")
    for name, value in large.items():
        print(f"{name:20}{small[name]:7.3f} ms{value:7.3f} ms  x{value / small[name]:5.2f}")


if __name__ == "__main__":
    main()
