"""The whole server as one Flask application, for any WSGI server and any parent application."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from mock_platform.control.plane import ControlPlane
from mock_platform.platform import Platform
from mock_platform.serving.flask.wsgi import Edge
from mock_platform.serving.restoring import open_platform, override_settings
from mock_platform.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from flask import Flask

    from mock_platform.control.route import Services
    from mock_platform.control.routes import Answers
    from mock_platform.serving.flask.application import PlatformApplication

CONTROL = "mock_platform.control"
"""Key of the application's extensions: its control plane."""


def create_app(
    settings: Settings | Platform | None = None, **overrides: Any
) -> PlatformApplication:
    """Return the whole server as a Flask application, open for additions.

    `overrides` are fields of `Settings`, or of its `delivery` as `delivery_timeout=1`; folders may
    be text, and `freeze` may be ISO 8601. An open platform is served as it is, and its owner closes
    it; a platform that is opened here is closed when the process ends.

    Its worlds are in the memory of this process: use one process with threads.

    Raises:
        TypeError: A setting does not exist or has a value of another type, or the platform already
            has its settings.
        ValueError: A setting has a value that it cannot have.
        BadFixtures: The fixtures have faults.
        BadScenario: A scenario has faults.
        StoreError: The store's files are in use, damaged or not from mock_platform.

    Example:
        >>> from mock_platform import create_app
        >>> app = create_app(freeze="2026-11-20T10:00:00Z")
        >>> @app.get("/hello")
        ... def say_hello():
        ...     return "Hello"
        >>> client = app.test_client()
        >>> client.get("/hello").text, client.get("/2/users/1").status_code
        ('Hello', 401)
    """
    if isinstance(settings, Platform):
        if overrides:
            raise TypeError("A platform that is open already has its settings; give those instead.")
        platform = settings
    else:
        # A platform that is opened here has no owner who would close it, so the end of the process
        # does; one that was given belongs to whoever opened it.
        opened = open_platform(override_settings(settings or Settings(), overrides))
        atexit.register(opened.close)
        platform = opened.platform
    edge = make_edge(platform)
    return add_flask(edge, edge)


def make_edge(platform: Platform) -> Edge:
    """Return the server below Flask: it answers all requests, and takes no additions."""
    return Edge(platform, ControlPlane(platform, _add_console))


def add_flask(edge: Edge, wsgi_app: WSGIApplication) -> PlatformApplication:
    """Return the Flask application of an edge, which asks it from now on what takes part.

    `wsgi_app` is the edge, or what calls it.
    """
    from mock_platform.serving.flask.application import PlatformApplication  # loads Flask

    application = PlatformApplication(edge.platform)
    application.extensions[CONTROL] = edge.control
    # Flask documents this for WSGI middleware, and its types forbid it.
    application.wsgi_app = wsgi_app  # type: ignore[assignment,method-assign]
    edge.application = application
    return application


def _add_console(control: Flask, services: Services) -> Answers:
    """Add the console and return its routes; its modules are loaded with the first request."""
    from mock_platform.control.console.serving import add_console

    return add_console(control, services)
