"""What the tests of scenarios share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api import served as operations
from mock_platform.core.call import Call, Reply
from mock_platform.core.errors import BadScenario, Complaint
from mock_platform.core.jsonio import dumps
from mock_platform.scenario.active import ActiveRule
from mock_platform.scenario.catalog import Catalog, CustomRoute
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario, loads
from mock_platform.scenario.engine import Engine
from mock_platform.world.journal import JournalEntry
from tests.support import ACCOUNT, BEARER, Sandbox

OPERATIONS = ("line_items.delete", "line_items.list", "line_items.get", "webhooks.replay")
CATALOG = Catalog.collect(
    next(op for op in operations.OPERATIONS if op.id == id_) for id_ in OPERATIONS
)
SOUND = "name: {}\nrules: [{{then: {{error: 89}}}}]\n"
LINE_ITEMS = f"/12/accounts/{ACCOUNT}/line_items"


def write(folder: Path, name: str, text: str = "") -> Path:
    """A scenario file, called like its scenario."""
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text or SOUND.format(file.stem))
    return file


def read(text: str, name: str = "scenario.yaml") -> Scenario:
    """The scenario of a text, where only a few operations exist."""
    return loads(text, CATALOG, name)


def complaints(text: str, name: str = "scenario.yaml") -> list[Complaint]:
    """What is wrong with a text; there must be something."""
    try:
        read(text, name)
    except BadScenario as fault:
        return fault.complaints
    raise AssertionError("the document was taken")


def engine(box: Sandbox) -> Engine:
    """The engine of a sandbox's default world."""
    return find_engine(box.world)


def define(box: Sandbox, document: dict[str, Any]) -> str:
    """Define a scenario, called `s` if it has no name; returns the name."""
    whole = {"name": "s", **document}
    found = loads(dumps(whole), box.platform.library.catalog, "s.json")
    engine(box).define(found)
    return found.name


def arm(box: Sandbox, *rules: dict[str, Any], **more: Any) -> None:
    """Activate a scenario of these rules."""
    engine(box).activate(define(box, {"rules": list(rules), **more}))


def count_asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Note which rules and which custom routes are asked about requests from now on."""
    asked: list[object] = []
    match, decide = CustomRoute.match, ActiveRule.decide

    def count_match(route: CustomRoute, call: Any) -> Any:
        asked.append(route)
        return match(route, call)

    def count_decide(rule: ActiveRule, *given: Any) -> Any:
        asked.append(rule.index)
        return decide(rule, *given)

    monkeypatch.setattr(CustomRoute, "match", count_match)
    monkeypatch.setattr(ActiveRule, "decide", count_decide)
    return asked


def replay(box: Sandbox, **headers: str) -> TestResponse:
    """A call under /2 whose parameters are sound."""
    now = box.world.clock.now().strftime("%Y%m%d%H%M")
    body = {"webhook_id": "1146654567674912769", "from_date": now, "to_date": now}
    return box.call("POST", "/2/webhooks/replay", keys=BEARER, json=body, headers=headers)


def handle(box: Sandbox, path: str = LINE_ITEMS, method: str = "GET") -> Reply:
    """The reply to an unsigned call, before it is sent: no connection is there to break."""
    call = Call(method, f"http://localhost{path}", path, "http://localhost", [])
    return box.platform.handle(call)


def last(box: Sandbox) -> JournalEntry:
    """The newest entry of the journal."""
    return list(box.world.journal)[-1]
