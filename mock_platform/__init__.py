"""A sandbox that you run instead of a social platform's real API."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mock_platform.version import __version__

if TYPE_CHECKING:
    from mock_platform.client.interface import WorldFace
    from mock_platform.client.platform import MockPlatform
    from mock_platform.scenario.failures import failures
    from mock_platform.serving.app import create_app
    from mock_platform.serving.in_process.session import WsgiAdapter
    from mock_platform.settings import DeliverySettings, Settings

__all__ = [
    "DeliverySettings",
    "MockPlatform",
    "Settings",
    "WorldFace",
    "WsgiAdapter",
    "__version__",
    "create_app",
    "failures",
]

_HOMES = {
    "DeliverySettings": "mock_platform.settings",
    "MockPlatform": "mock_platform.client.platform",
    "Settings": "mock_platform.settings",
    "WorldFace": "mock_platform.client.interface",
    "WsgiAdapter": "mock_platform.serving.in_process.session",
    "create_app": "mock_platform.serving.app",
    "failures": "mock_platform.scenario.failures",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use: importing the package itself imports almost nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
