"""The control plane's routes."""

from __future__ import annotations

from flask import Flask

from mock_platform.platform import Platform


def create_control(platform: Platform) -> Flask:
    """The Flask application of the control plane."""
    app = Flask("mock_platform", static_folder=None)

    @app.get("/_mock/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    return app
