"""What the scenario engine adds to a request that no rule acts on.

Run it with `python benchmarks/scenarios.py`. Microseconds beside the same request without an
engine, and the ratio to what the whole request takes below the edge. The bounds are 2 microseconds
with 200 armed rules on other operations, 20 with 10 rules on the same one.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

from mock_platform.core.call import Call, Reply
from mock_platform.core.jsonio import dumps
from mock_platform.platform import Platform
from mock_platform.scenario.director import bind_stages, find_engine
from mock_platform.scenario.document import loads
from mock_platform.settings import Settings

ACCOUNT = "18ce54d4x5t"
PATH = f"/12/accounts/{ACCOUNT}/line_items"
ROUNDS, REPEATS = 5000, 5


def microseconds(function: Callable[[], Any]) -> float:
    """The best time of one run."""
    return min(timeit.repeat(function, number=ROUNDS, repeat=REPEATS)) / ROUNDS * 1e6


def call(platform: Platform) -> Call:
    """A call as it is after routing."""
    made = Call(
        method="GET",
        url=f"http://127.0.0.1:8080{PATH}",
        path=PATH,
        base_url="http://127.0.0.1:8080",
        headers=[("Host", "127.0.0.1:8080"), ("Accept", "*/*"), ("Authorization", "OAuth …")],
    )
    made.operation = "line_items.list"
    made.path_params = {"account_id": ACCOUNT}
    made.header("host")
    return made


def arm(platform: Platform, name: str, rules: list[dict[str, Any]]) -> None:
    """Activate these rules in the default world."""
    engine = find_engine(platform.worlds.default)
    text = dumps({"name": name, "rules": rules})
    engine.define(loads(text, platform.library.catalog, f"{name}.json"))
    engine.activate(name)


def main() -> None:
    """Measure and print."""
    platform = Platform(Settings(auth="off"))
    world = platform.worlds.default
    made, reply = call(platform), Reply(200)
    operation = next(op for op in platform.operations if op.id == made.operation)
    before_auth, before_handler = bind_stages(operation)

    def proceed(call: Call, world: Any) -> Reply:
        return reply

    def staged() -> None:
        before_auth(made, world, proceed)
        before_handler(made, world, proceed)

    def bare() -> None:
        proceed(made, world)
        proceed(made, world)

    def request() -> None:
        platform.handle(call(platform))

    whole = microseconds(request)

    def show(what: str, bound: float) -> None:
        added = microseconds(staged) - microseconds(bare)
        print(f"{what:32} {added:6.2f} µs of {bound:g}, {added / whole:.1%} of a request")

    show("no rules", 2)
    arm(platform, "elsewhere", [{"on": "accounts.list", "then": {"error": 89}}] * 200)
    show("200 rules on other operations", 2)
    when = {"path": {"account_id": ACCOUNT}, "query": {"count": "1"}}
    arm(platform, "here", [{"on": "line_items.list", "when": when, "then": {"error": 89}}] * 10)
    show("10 rules on the same operation", 20)


if __name__ == "__main__":
    main()
