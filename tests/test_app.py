from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from wsgiref.simple_server import make_server

import flask
import pytest
import requests
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client

from mock_platform import Settings, WsgiAdapter, create_app
from mock_platform.platform import Platform
from mock_platform.serving.in_process.oauth1 import OAuth1Auth
from tests.commands import python
from tests.support import HARBOR
from tests.waits import PATIENCE


def test_settings_and_overrides_are_taken(tmp_path: Path) -> None:
    """As `MockPlatform.start` takes them."""
    (tmp_path / "users.json").write_text('[{"id": "9", "screen_name": "nine", "name": "Nine"}]')
    app = create_app(Settings(seed=4), fixtures=str(tmp_path), freeze="2026-03-01T12:00:00Z")
    client = app.test_client()

    assert "Nine" == client.get("/_mock/state/users/9").get_json()["name"]
    assert "2026-03-01T12:00:00.000Z" == client.get("/_mock/clock").get_json()["now"]
    with pytest.raises(TypeError, match="setting 'fixture' does not exist"):
        create_app(fixture="x")
    with pytest.raises(TypeError, match="has its settings"):
        create_app(Platform(), seed=4)


@pytest.mark.live
def test_any_wsgi_server_serves_it() -> None:
    """The one of the standard library, over a socket."""
    with make_server("127.0.0.1", 0, create_app()) as server, ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever)
        address = f"http://127.0.0.1:{server.server_port}"
        auth = OAuth1Auth(HARBOR.key, HARBOR.secret, HARBOR.token or "", HARBOR.token_secret or "")
        answers = [
            requests.get(f"{address}/12/accounts?count=1", auth=auth, timeout=PATIENCE),
            requests.get(f"{address}/_mock/health", timeout=PATIENCE),
        ]
        server.shutdown()

    assert [200, 200] == [answer.status_code for answer in answers]
    assert answers[0].json()["data"]


@pytest.mark.parametrize("hooked", [False, True])
def test_it_mounts_below_another_application(*, hooked: bool) -> None:
    """Signatures, worlds and addresses count from where it is mounted, on either way."""
    app = create_app()
    if hooked:
        app.before_request(lambda: None)
    app.get("/own")(lambda: flask.url_for("accounts.list"))
    outer = flask.Flask("outer")
    outer.get("/")(lambda: "outer")
    outer.wsgi_app = DispatcherMiddleware(outer.wsgi_app, {"/mock": app})  # type: ignore[method-assign]
    with requests.Session() as session:
        session.mount("http://", WsgiAdapter(outer))
        session.auth = OAuth1Auth(
            HARBOR.key, HARBOR.secret, HARBOR.token or "", HARBOR.token_secret or ""
        )
        made = session.put("http://localhost/mock/_mock/worlds/w1", json={}).json()
        statuses = [
            session.get(f"http://localhost/mock{path}").status_code
            for path in ("/12/accounts", "/~w1/12/accounts", "/sandbox/12/accounts", "/nowhere")
        ]
        built = session.get("http://localhost/mock/~w1/own").text

    assert "http://localhost/mock/~w1" == made["base_url"]
    assert ([200, 200, 200, 404], "/mock/~w1/12/accounts") == (statuses, built)
    assert "outer" == Client(outer).get("/").text


def test_the_command_of_flask_finds_it() -> None:
    """`flask --app mock_platform.serving.app routes` lists every operation."""
    ended = python("-m", "flask", "--app", "mock_platform.serving.app", "routes", timeout=120)

    assert 0 == ended.returncode, ended.stderr
    assert "line_items.update" in ended.stdout
