"""A receiver as it was written for the platform: a Flask application that knows nothing of us."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask, abort, request
from werkzeug.serving import make_server

from mock_platform import MockPlatform
from tests.support_replay import WEBHOOK, window_before
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


def make_receiver(secret: str, bodies: list[Any]) -> Flask:
    """Returns the application: it answers the challenge, and takes signed bodies only."""
    app = Flask("receiver")

    def sign(data: bytes) -> str:
        digest = hmac.new(secret.encode(), data, hashlib.sha256).digest()
        return "sha256=" + base64.b64encode(digest).decode()

    @app.get("/webhook")
    def answer_challenge() -> dict[str, str]:
        return {"response_token": sign(request.args["crc_token"].encode())}

    @app.post("/webhook")
    def take_activity() -> tuple[str, int]:
        sent = request.headers["x-twitter-webhooks-signature"]
        if not hmac.compare_digest(sent, sign(request.get_data())):
            abort(403)
        bodies.append(request.get_json())
        return "", 200

    return app


@contextmanager
def serve(app: Flask) -> Iterator[str]:
    """Serves an application on a free port; yields its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


@pytest.mark.parametrize("names", ["neutral", "original"])
@pytest.mark.parametrize("trusted", [True, False])
def test_it_takes_a_replay(names: Any, *, trusted: bool) -> None:
    """It accepts each event of a replay with the app's secret, and none with another one."""
    with MockPlatform.start(names=names, delivery_backoff=0.01) as platform:
        secret = platform.credentials["app"]["consumer_secret"] if trusted else "another"
        bodies: list[Any] = []
        with serve(make_receiver(secret, bodies)) as address:
            platform.state["webhooks"].patch(WEBHOOK, {"url": f"{address}/webhook"})
            now = platform.clock.now()
            answer = platform.session("bearer").post(
                "/2/webhooks/replay", json=window_before(now, hours=23, minutes=50),
            )  # fmt: skip
            assert platform.wait_for_deliveries(PATIENCE)

    assert 200 == answer.status_code
    assert trusted is bool(bodies)
