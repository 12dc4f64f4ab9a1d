"""Calls made from the served description meet no failure of the sandbox, nothing undescribed."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any, Literal

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mock_platform.app import create_app
from mock_platform.control.known_credentials import credentials
from mock_platform.control.routes import describe_everything
from mock_platform.core.description.openapi import templated
from mock_platform.platform import Platform
from mock_platform.settings import Settings

BASE_URL = "http://localhost"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
FAMILIES = ("v2", "oauth", "ads", "control")


class Caller:
    """Generates calls for one platform and checks what it answers."""

    def __init__(self, auth: Literal["strict", "off"], examples: int) -> None:
        self.platform = Platform(Settings(auth=auth))
        self.known = credentials(self.platform)
        self._statuses: Counter[int] = Counter()
        self._examples = examples
        document = describe_everything(self.platform).at(BASE_URL)
        self._schema = schemathesis.openapi.from_dict(document)
        self._schema.app = create_app(self.platform)

    def run(self, family: str, *modes: GenerationMode) -> Counter[int]:
        """Call every operation of a family, each one in a fresh world; gives the statuses."""
        self._statuses.clear()
        twins = sandbox_twins(self.platform)
        for found in self._schema.get_all_operations():
            assert isinstance(found, Ok), found
            operation = found.ok()
            if family_of(operation.path) != family or operation.label in twins:
                continue
            for mode in modes:
                if mode is GenerationMode.POSITIVE or takes_parameters(operation):
                    self._call(operation, mode)
                    self.platform.worlds.default.reset()
        assert [] == self.platform.errors
        return self._statuses

    def _call(self, operation: Any, mode: GenerationMode) -> None:
        strategy = operation.as_strategy(
            generation_mode=mode, path_parameters=self._addressed(operation.path)
        )
        headers = {"Authorization": self._authorization(operation.path)}

        @settings(
            max_examples=self._examples,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def check(case: Any) -> None:
            response = case.call(headers=headers)
            self._statuses[response.status_code] += 1
            case.validate_response(response, checks=CHECKS)

        check()

    def _authorization(self, path: str) -> str:
        if path.startswith("/oauth2/"):
            app = self.known["app"]
            pair = f"{app['consumer_key']}:{app['consumer_secret']}"
            return f"Basic {base64.b64encode(pair.encode()).decode()}"
        return f"Bearer {self.known['bearer_token']}"

    def _addressed(self, path: str) -> dict[str, str]:
        """Records there are, for the parameters of a path."""
        names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        found = {name: self._key(name) for name in names}
        return {name: key for name, key in found.items() if key is not None}

    def _key(self, name: str) -> str | None:
        account: str = self.known["accounts"][0]
        if name in {"account_id", "table", "kind"}:
            return {"account_id": account, "table": "users", "kind": "replay_job"}[name]
        stem = name.removesuffix("_id").removesuffix("_key")
        store = self.platform.worlds.default.store
        for table in (f"{stem}s", stem, f"{stem[:-1]}ies", f"{stem}_library"):
            for entry in store.page(table):
                if entry.record.get("_account_id", account) == account:
                    return str(entry.key)
        return None


def sandbox_twins(platform: Platform) -> set[str]:
    """Method and path of what the sandbox address describes like the plain one."""
    return {
        f"{operation.method} /sandbox{templated(path)}"
        for operation in platform.operations
        for path in (operation.path, *operation.also)
        if operation.dialect == "ads" and not operation.sandbox_only
    }


def takes_parameters(operation: Any) -> bool:
    """Whether there is anything beside the path that a call could get wrong."""
    return bool(list(operation.query) or list(operation.body))


def family_of(path: str) -> str:
    """The part of the interface that a path belongs to."""
    first = path.split("/")[1]
    if first == "_mock":
        return "control"
    if first == "2":
        return "v2"
    return "ads" if first == "sandbox" or first.isdecimal() else "oauth"


@pytest.fixture(scope="module")
def strict() -> Caller:
    """Calls that carry credentials, which are checked."""
    return Caller("strict", examples=4)


@pytest.fixture(scope="module")
def off() -> Caller:
    """Calls that need no credentials: more of them get past authentication."""
    return Caller("off", examples=4)


@pytest.mark.parametrize("family", FAMILIES)
def test_described_calls(strict: Caller, family: str) -> None:
    """Calls that fit the description get described answers."""
    statuses = strict.run(family, GenerationMode.POSITIVE)

    assert statuses[200] > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_without_authentication(off: Caller, family: str) -> None:
    """With authentication off, calls that fit and calls that do not get described answers."""
    statuses = off.run(family, GenerationMode.POSITIVE, GenerationMode.NEGATIVE)

    assert statuses[200] > 0
