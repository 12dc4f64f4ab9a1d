"""The whole server as one Flask application, for any WSGI server and to be mounted anywhere."""

from __future__ import annotations

import atexit
from typing import Any

from mock_platform.control.plane import ControlPlane
from mock_platform.edge.application import PlatformApplication
from mock_platform.edge.wsgi import Edge
from mock_platform.platform import Platform
from mock_platform.restoring import open_platform, overridden
from mock_platform.settings import Settings

CONTROL = "mock_platform.control"
"""Key of the application's extensions: its control plane."""


def create_app(
    settings: Settings | Platform | None = None, **overrides: Any
) -> PlatformApplication:
    """The whole server as a Flask application: operations, control plane, and what users add.

    `overrides` are fields of `Settings`, or of its `delivery` as `delivery_timeout=1`; folders may
    be text, and `freeze` ISO 8601. A platform that is open already is served as it is, and whoever
    opened it closes it; one that is opened here is closed when the process ends.

    Its worlds live in this process: let a WSGI server have one process, with threads.

    Raises:
        TypeError: There is no such setting, or the platform has its settings already.
        BadFixtures: Something is wrong with the fixtures.
        BadScenario: Something is wrong with a scenario.
        StoreError: The store's files are in use, damaged or not ours.
    """
    if isinstance(settings, Platform):
        if overrides:
            raise TypeError("A platform that is open already has its settings; give those instead.")
        platform = settings
    else:
        opened = open_platform(overridden(settings or Settings(), overrides))
        atexit.register(opened.close)
        platform = opened.platform
    application = PlatformApplication(platform)
    control = ControlPlane(platform)
    application.extensions[CONTROL] = control
    application.wsgi_app = Edge(platform, application, control)  # type: ignore[method-assign]
    return application
