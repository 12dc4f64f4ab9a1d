"""The common base of the pytest plugin and the unittest mixin: worlds for tests, and reports.

`PlatformMixin` and `PlatformTestCase` are for test suites with the standard library's unittest.
`WebhookReceiver` receives webhooks in a test; the fixture `mock_webhook` is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mock_platform.testing.case import PlatformMixin, PlatformTestCase
    from mock_platform.testing.webhook_receiver import ReceivedDelivery, WebhookReceiver

__all__ = ["PlatformMixin", "PlatformTestCase", "ReceivedDelivery", "WebhookReceiver"]


def __getattr__(name: str) -> Any:
    """Load the classes, and unittest or an http server with them, when somebody uses them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.startswith("Platform"):
        from mock_platform.testing import case

        return getattr(case, name)
    from mock_platform.testing import webhook_receiver

    return getattr(webhook_receiver, name)
