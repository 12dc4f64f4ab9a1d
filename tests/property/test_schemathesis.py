"""Calls made from the served description meet no failure of the sandbox, nothing undescribed."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.routes import describe_everything
from mock_platform.core.description.openapi import template_path
from mock_platform.core.envelope import Lines
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.settings import Settings
from tests.generated import examples

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

BASE_URL = "http://localhost"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
FAMILIES = ("v2", "oauth", "ads", "control")

QUICK = {
    "^[0-9]{1,19}$": ("digits", st.integers(0, 10**19 - 1).map(str)),
    "^[0-9a-fA-F]{64}$": ("digest", st.binary(min_size=32, max_size=32).map(bytes.hex)),
}
"""Texts of frequent patterns, which Hypothesis would draw character by character."""
Auth = Literal["strict", "off"]
AUTH: tuple[Auth, ...] = ("strict", "off")


class Caller:
    """Generates calls from the description, makes each to two platforms, and checks the answers.

    One platform checks credentials; the other needs none: more calls get past authentication.
    Making a call up takes far longer than answering it.
    """

    def __init__(self, examples: int) -> None:
        self.platforms = {auth: Platform(Settings(auth=auth)) for auth in AUTH}
        self.known = credentials(self.platforms["strict"].worlds.default)
        self._apps = {
            auth: end_streams(create_app(platform)) for auth, platform in self.platforms.items()
        }
        self._streams = {
            f"{each.method} {template_path(path)}"
            for each in self.platforms["strict"].operations
            if isinstance(each.returns, Lines)
            for path in (each.path, *each.also)
        }
        self._examples = examples
        self._aliases = {
            f"{each.method} {template_path(path)}"
            for each in self.platforms["strict"].operations
            for path in each.also
        }
        document = describe_everything(self.platforms["strict"]).at(BASE_URL)
        name_patterns(document)
        for name, texts in QUICK.values():
            schemathesis.openapi.format(name, texts)
        self._schema = schemathesis.openapi.from_dict(document)

    def run(
        self, family: str, mode: GenerationMode, auths: Sequence[Auth]
    ) -> dict[Auth, Counter[int]]:
        """Call every operation of a family, each one in a fresh world; returns the statuses.

        What does not fit is sent to one path of each: it is read the same way at all of them.
        """
        statuses = {auth: Counter[int]() for auth in auths}
        twins = sandbox_twins(self.platforms["strict"])
        for found in self._schema.get_all_operations():
            assert isinstance(found, Ok), found
            operation = found.ok()
            if family_of(operation.path) != family or operation.label in twins:
                continue
            is_another = takes_parameters(operation) and operation.label not in self._aliases
            if mode is GenerationMode.POSITIVE or is_another:
                self._call(operation, mode, statuses)
        for auth in auths:
            assert [] == self.platforms[auth].errors
        return statuses

    def _call(
        self, operation: Any, mode: GenerationMode, statuses: dict[Auth, Counter[int]]
    ) -> None:
        strategy = operation.as_strategy(
            generation_mode=mode, path_parameters=self._addressed(operation.path)
        )
        headers = {"Authorization": self._authorization(operation.path)}
        # The first piece of a stream is a keep-alive, which is no document.
        is_stream = operation.label in self._streams
        checks = [not_a_server_error, status_code_conformance] if is_stream else CHECKS

        # What does not fit differs most in bodies; of queries, one of each operation shows it all,
        # and so does one call at each further path of an operation.
        is_query = mode is GenerationMode.NEGATIVE and not list(operation.body)
        count = 1 if is_query or operation.label in self._aliases else self._examples

        @examples(count, suppress_health_check=list(HealthCheck))
        @given(case=strategy)
        def check(case: Any) -> None:
            for auth, counted in statuses.items():
                response = case.call(headers=headers, app=self._apps[auth])
                counted[response.status_code] += 1
                case.validate_response(response, checks=checks)

        check()
        for auth in statuses:
            self.platforms[auth].worlds.default.reset()

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
        store = self.platforms["strict"].worlds.default.store
        for table in (f"{stem}s", stem, f"{stem[:-1]}ies", f"{stem}_library"):
            for entry in store.page(table):
                if entry.record.get("_account_id", account) == account:
                    return str(entry.key)
        return None


def name_patterns(schema: Any) -> None:
    """Give the patterns of `QUICK` their formats in all of a document."""
    for value in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(value, dict | list):
            name_patterns(value)
    if isinstance(schema, dict) and (found := QUICK.get(str(schema.get("pattern")))):
        schema["format"] = found[0]


def end_streams(app: WSGIApplication) -> WSGIApplication:
    """The application with answers that do not end cut off after their first piece."""

    def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        pieces = app(environ, start_response)
        if isinstance(pieces, Sequence):
            return pieces
        try:
            return list(islice(pieces, 1))
        finally:
            if hasattr(pieces, "close"):
                pieces.close()

    return call


def sandbox_twins(platform: Platform) -> set[str]:
    """Method and path of what the sandbox address describes like the plain one."""
    return {
        f"{operation.method} /sandbox{template_path(path)}"
        for operation in platform.operations
        for path in (operation.path, *operation.also)
        if operation.dialect == "ads" and not operation.sandbox_only
    }


def takes_parameters(operation: Any) -> bool:
    """Whether there is anything besides the path that a call could get wrong."""
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
def caller() -> Caller:
    """Calls with credentials, to platforms that check them and that do not.

    Two or one for each operation in the usual run; `tests/generated.py` says how to make more.
    """
    return Caller(examples=2)


@pytest.mark.parametrize("family", FAMILIES)
def test_described_calls(caller: Caller, family: str) -> None:
    """Calls that fit the description get described answers, with authentication and without."""
    auths = AUTH[:1] if family == "control" else AUTH  # the control plane knows no such setting
    statuses = caller.run(family, GenerationMode.POSITIVE, auths)

    assert all(counted[200] > 0 for counted in statuses.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_that_do_not_fit(caller: Caller, family: str) -> None:
    """Calls that do not fit the description get described answers."""
    statuses = caller.run(family, GenerationMode.NEGATIVE, ["off"])

    assert statuses["off"][400] > 0
