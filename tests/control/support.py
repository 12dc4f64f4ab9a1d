"""What the tests of the control plane share."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support import Sandbox

VIEWS = ("/state", "/scenarios", "/transitions", "/clock", "/snapshots")
"""What the refusals must leave as it is."""


def call(box: Sandbox, method: str, path: str, world: str = "", **more: Any) -> TestResponse:
    """A request to the control plane, on the default world or a named one."""
    prefix = f"/~{world}" if world else ""
    return box.call(method, f"{prefix}/_mock{path}", keys=None, **more)


def detail(answer: TestResponse, status: int | None = None) -> str:
    """The detail of a refusal, which must be a problem object, with this status if one is named."""
    body = answer.get_json()
    assert status in {None, answer.status_code}
    assert "application/problem+json" == answer.content_type
    assert answer.status_code == body["status"]
    assert "about:blank" == body["type"]
    return str(body["detail"])


def fields(answer: TestResponse) -> list[str]:
    """The fields that a refusal complains of."""
    return [fault["field"] for fault in answer.get_json()["faults"]]


def look(box: Sandbox) -> list[object]:
    """Everything that a refusal must not change."""
    shown: list[object] = [call(box, "GET", path).get_data() for path in VIEWS]
    return [*shown, [world.name for world in box.platform.worlds]]
