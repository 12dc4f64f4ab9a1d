"""Fixtures of sandboxes in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Literal

import pytest

from mock_platform import MockPlatform

_AUTHORITIES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")
"""Variables of a program with the file of those whom it trusts."""


def starting(
    scope: Literal["module", "function"] = "module", *, intercepted: bool = False, **settings: Any
) -> Any:
    """A fixture: a running sandbox with these settings, for all tests of a module or for each.

    Where it is intercepted, it answers for the platform's hosts as long as it runs.
    """

    @pytest.fixture(scope=scope)
    def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockPlatform]:
        with ExitStack() as until_then:
            started = until_then.enter_context(MockPlatform.start(**settings))
            if intercepted:
                patch = until_then.enter_context(pytest.MonkeyPatch.context())
                # Only the sandbox is called. To read all the usual authorities as well, for each
                # connection, took longer than the calls.
                nobody = tmp_path_factory.mktemp("authorities") / "none.pem"
                nobody.touch()
                for name in _AUTHORITIES:
                    patch.setenv(name, str(nobody))
                until_then.enter_context(started.intercept())
            yield started

    return start
