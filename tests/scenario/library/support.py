"""What the tests of the shipped scenarios share."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.examples import sample
from mock_platform.core import installed as shipped
from mock_platform.core.operation import MINUTE
from mock_platform.world.journal import JournalEntry
from tests.support import Sandbox, sandbox

FOLDER = shipped.folder("scenarios")
NAMES = sorted(path.stem for path in FOLDER.iterdir())


class Stage:
    """A sandbox with one shipped scenario, and no other, switched on over its control route."""

    def __init__(self, name: str, box: Sandbox | None = None, **parameters: Any) -> None:
        self.name = name
        self.box = box or sandbox()
        self._operations = {o.id: o for o in self.box.platform.operations}
        self._credentials = credentials(self.box.platform.worlds.default)
        self.box.client.post("/_mock/scenarios/deactivate")
        answer = self.box.client.post(
            f"/_mock/scenarios/{name}/activate", json={"parameters": parameters}
        )
        assert 200 == answer.status_code, answer.text

    def ask(self, operation: str, *conditions: str, path: str | None = None) -> TestResponse:
        """The example request to an operation, or to another path."""
        shown = sample(self._operations[operation], self._credentials, conditions)
        minute = self.box.world.clock.now().strftime("%Y%m%d%H%M")
        body = None if shown.body is None else shown.body.replace(MINUTE, minute)
        return self.box.client.open(
            path or shown.path, method=shown.method, headers=dict(shown.headers), data=body
        )

    @property
    def fired(self) -> list[int]:
        """How often each rule acted, as the control plane shows it."""
        told = self.box.client.get(f"/_mock/scenarios/{self.name}").get_json()
        return [rule["fired"] for rule in told["rules"]]

    @property
    def last(self) -> JournalEntry:
        """The newest entry of the journal."""
        return list(self.box.world.journal)[-1]
