"""A server that is used over its control plane until it is killed, and reports each answer.

Each line on standard input (`path`, `log_limit`, `run`) starts a child that opens the store,
reports what it found there, and then does `operation(run, 0)`, `operation(run, 1)`, … for ever.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from werkzeug.test import Client

from mock_platform.core.jsonio import canonical
from mock_platform.core.tables.state import State
from mock_platform.platform import Platform, load_base
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.library import Library
from mock_platform.serving import restoring as opening
from mock_platform.serving.app import create_app
from mock_platform.settings import Settings
from mock_platform.world.ids import Ids
from mock_platform.world.store import tinydb_archive
from mock_platform.world.store.interface import SavedWorld
from mock_platform.world.store.memory import Base, MemoryStore
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from mock_platform.world.world import World
from tests.support import BEARER
from tests.world.killing import fork_children, say

WORLDS = ("w1", "w2", "w3")
SCENARIOS = Path(__file__).with_name("crash_scenarios")
MOST_RECORDS = 40
"""Tables of the fixtures with more are left out of worlds that are killed."""
FREEZE = datetime(2026, 11, 20, 12, tzinfo=UTC)
OWN = {
    "rules": [
        {"on": "accounts.get", "then": {"error": 89}, "times": 1000},
        {"on": "accounts.list", "then": {"set_state": "seen"}},
    ]
}

Operation = tuple[str, str, Any]
"""A request: method, path, and a body in JSON."""


def settings(store: str) -> Settings:
    """Settings under which the same requests always have the same effects."""
    return Settings(store=store, freeze=FREEZE, scenarios=(str(SCENARIOS),))


def load_few(most: int = MOST_RECORDS) -> Base:
    """The fixtures without tables of more records: after each kill all worlds are read again."""
    base = load_base(settings("memory"))
    few = {
        name: {key: row.record for key, row in rows.items()}
        for name, rows in base.rows.items()
        if len(rows) <= most
    }
    return Base(few, {at: moments for at, moments in base.relative.items() if at[0] in few})


def operation(run: int, number: int) -> Operation:
    """What a child does next; the same for everyone who asks."""
    chance = Ids(run, "worlds")

    def choose(label: str, *options: str) -> str:
        return options[int(chance.fraction(number, label) * len(options))]

    world = choose("world", "default", *WORLDS)
    own = f"/~{world}/_mock"
    label = choose("label", "a", "b")
    name = choose("name", *WORLDS)
    user = {"id": f"{run}{number:06}", "screen_name": f"u{run}_{number}", "name": "x" * 200}
    options: list[Operation] = [
        ("PUT", f"/_mock/worlds/{name}", {"seed": number}),
        ("PUT", f"/_mock/worlds/{name}", {"from": "default"}),
        ("DELETE", f"/_mock/worlds/{name}", None),
        ("POST", f"{own}/reset", None),
        ("POST", f"{own}/reset", None),
        ("PUT", f"{own}/state/users/{user['id']}", user),
        ("PUT", f"{own}/state/users/{user['id']}", user),
        ("PUT", f"{own}/clock", {"action": "advance", "seconds": number}),
        ("PUT", f"{own}/transitions/media", {"seconds": number}),
        ("PUT", f"{own}/scenarios/own", OWN),
        ("POST", f"{own}/scenarios/own/activate", {}),
        ("POST", f"{own}/scenarios/limited/activate", {"parameters": {"limit": number % 7 + 1}}),
        ("POST", f"{own}/scenarios/counted/activate", {}),
        ("POST", f"{own}/scenarios/limited/deactivate", {}),
        ("POST", f"{own}/scenarios/deactivate", {}),
        ("PUT", f"{own}/snapshots/{label}", None),
        ("POST", f"{own}/snapshots/{label}/restore", None),
        ("DELETE", f"{own}/snapshots/{label}", None),
        ("GET", f"/~{world}/12/accounts", None),
        ("GET", f"/~{world}/12/accounts", None),
        ("GET", f"/~{world}/12/accounts", None),
    ]
    return options[int(chance.fraction(number, "what") * len(options))]


def no_scenarios(library: Library) -> dict[str, Scenario]:
    """Instead of the shipped scenarios, which take most of a second to read."""
    return {}


def perform(client: Client, what: Operation) -> None:
    """Send a request; whatever the answer is, the sandbox itself must not have failed."""
    method, path, body = what
    headers = {} if "/_mock" in path else {"Authorization": f"Bearer {BEARER}"}
    more = {} if body is None else {"json": body}
    answer = client.open(path, method=method, headers=headers, **more)
    assert answer.status_code != 500, answer.get_data(as_text=True)


def described(platform: Platform) -> bytes:
    """All that is to be there after a kill, in one line of JSON."""
    return canonical({world.name: _world(world, platform) for world in platform.worlds})


def _world(world: World, platform: Platform) -> dict[str, Any]:
    points = {name: _point(world, saved) for name, saved in world.snapshots.items()}
    return {
        "state": State(world, platform.tables).dump(),
        "seed": world.seed,
        "beside": sorted(
            # Each process counts activations on from what it reads: that two differ matters.
            (*at, {key: value for key, value in (record or {}).items() if key != "number"})
            for at, record in world.beside.read_records().items()
        ),
        "snapshots": [*points.items()],
        "origin": None if world.origin is None else _point(world, world.origin),
    }


def _point(world: World, saved: SavedWorld) -> dict[str, Any]:
    store = MemoryStore(world.blueprint.base, saved.records)
    tables = {
        name: [(entry.key, entry.record) for entry in store.page(name)] for name in store.tables()
    }
    return {"tables": tables, "meta": saved.meta}


def serve_for_ever(path: str, log_limit: str, run: str) -> None:
    """Open the store and use it."""
    vars(tinydb_archive).update(TinyDBArchive=partial(TinyDBArchive, log_limit=int(log_limit)))
    opened = opening.open_platform(settings(f"tinydb:{path}"))
    say(described(opened.platform))
    client = Client(create_app(opened.platform))
    for number in count():
        perform(client, operation(int(run), number))
        say(b"done")


def main() -> None:
    """Start one child after another, as asked."""
    setattr(Library, "_load_packaged", no_scenarios)  # noqa: B010 - mypy refuses the assignment
    base = load_few()
    vars(opening).update(load_base=lambda _: base)
    # What the first requests load is loaded once, before all children.
    client = Client(create_app(Platform(settings("memory"), base=base)))
    for what in ("GET", "/_mock/clock", None), ("GET", "/12/accounts", None):
        perform(client, what)
    fork_children(serve_for_ever)


if __name__ == "__main__":
    main()
