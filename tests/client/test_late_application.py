"""Flask is loaded when something needs it, and nothing that it does is missed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flask
import pytest

from mock_platform import MockPlatform
from mock_platform.client.late_application import LateApplication, RaisingApplication
from mock_platform.client.local_platform import HandlerErrors
from mock_platform.core.connection import Request
from mock_platform.platform import Platform
from mock_platform.serving.app import make_edge
from mock_platform.settings import Settings
from tests.prepared_python import PreparedPython

_PREPARE = """
import http.client, sys
from mock_platform import MockPlatform
def loaded():
    return {'flask', 'werkzeug', 'jinja2', 'requests', 'urllib3'} & set(sys.modules)
def ask(url):
    _, _, host, path = url.split('/', 3)
    client = http.client.HTTPConnection(host)
    client.request('GET', '/' + path)
    status = client.getresponse().status
    client.close()
    return status
with MockPlatform.start():
    pass
"""
_START = "with MockPlatform.start() as platform:\n"


@pytest.fixture(scope="module")
def prepared() -> Iterator[PreparedPython]:
    """A Python in which one sandbox has started and ended."""
    python = PreparedPython(_PREPARE)
    yield python
    python.close()


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("platform.world('one'); assert ask(platform.base_url + '/12/accounts') == 401", "set()"),
        (
            "platform.journal.find(status=200); platform.warnings()\n"
            "    platform.clock.freeze(); platform.reset(); platform.scenarios",
            "set()",
        ),
        (
            "assert platform.session().get('/12/accounts').status_code == 401",
            "{'requests', 'urllib3'}",
        ),
        ("assert ask(platform.control_url + '/health') == 200", "{'flask', 'werkzeug', 'jinja2'}"),
        ("platform.app", "{'flask', 'werkzeug', 'jinja2'}"),
        ("platform.test_client()", "{'flask', 'werkzeug', 'jinja2'}"),
    ],
)
def test_a_sandbox_loads_what_it_needs(
    prepared: PreparedPython, tmp_path: Path, code: str, wanted: str
) -> None:
    """Worlds and requests over a socket need no Flask and no requests."""
    prepared.check(f"{_START}    {code}\n    assert loaded() == {wanted}, loaded()\n", tmp_path)


@pytest.mark.parametrize(
    "code",
    [
        "    platform.app.before_request(lambda: ('', 299))\n"
        "    assert ask(platform.base_url + '/12/accounts') == 299\n"
        "    assert platform.session().get('/12/accounts').status_code == 299\n",
        "    import flask\n"
        "    seen = []\n"
        "    listen = lambda app, **_: seen.append(app.name)\n"
        "    flask.request_started.connect(listen)\n"
        "    assert ask(platform.base_url + '/12/accounts') == 401\n"
        "    platform.session().get('/12/accounts')\n"
        "    assert seen == ['mock_platform.serving.app'] * 2, seen\n",
    ],
    ids=["hooks", "signals"],
)
def test_who_listens_late_takes_part(prepared: PreparedPython, tmp_path: Path, code: str) -> None:
    """Hooks and receivers of signals see what comes after them, also if Flask was not loaded."""
    prepared.check(
        f"{_START}    assert ask(platform.base_url + '/12/accounts') == 401\n{code}", tmp_path
    )


def test_threads_get_the_same_application() -> None:
    """Two threads that ask at the same time do not make two applications."""
    platform = Platform(Settings())
    late = _make_late(platform)
    together = threading.Barrier(4)

    def ask(_: int) -> int:
        together.wait()
        return id(late.flask)

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(ask, range(4)))

    platform.close()
    assert len(found) == 1


@pytest.mark.parametrize("is_forbidden", [False, True])
def test_without_flask_the_edge_answers(
    monkeypatch: pytest.MonkeyPatch, is_forbidden: bool
) -> None:
    """While Flask is not loaded, or must not be, requests do not make an application."""
    platform = Platform(Settings())
    late = _make_late(platform)
    request = Request("GET", "/12/accounts", "", "1.1", [], b"", keep_alive=True)
    with monkeypatch.context() as patch:
        if is_forbidden:
            patch.setitem(sys.modules, "flask", None)
        else:
            patch.delitem(sys.modules, "flask")
        assert late.at_once(request) is not None
        assert not _is_made(late)
        assert not late.never_blocks(request)

    assert late.at_once(request) is not None

    assert _is_made(late)
    platform.close()


def test_the_application_is_that_of_every_world() -> None:
    """Each world has the same application, under both names."""
    with MockPlatform.start() as platform:
        other = platform.world("other")

        assert platform.app is platform.wsgi is other.app is other.wsgi


def _is_made(late: LateApplication) -> bool:
    return isinstance(late._edge.application, flask.Flask)


def _make_late(platform: Platform) -> LateApplication:
    edge = make_edge(platform)
    wrapped: RaisingApplication = HandlerErrors().wrap(edge)
    return LateApplication(edge, wrapped)
