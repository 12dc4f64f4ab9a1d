"""For suites with unittest, and a receiver of webhooks: the public names of `client.testing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mock_platform.client.testing.case import PlatformMixin, PlatformTestCase
    from mock_platform.client.testing.webhook_receiver import ReceivedDelivery, WebhookReceiver

__all__ = ["PlatformMixin", "PlatformTestCase", "ReceivedDelivery", "WebhookReceiver"]


def __getattr__(name: str) -> Any:
    """Load the classes, and unittest or an http server with them, when somebody uses them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.startswith("Platform"):
        from mock_platform.client.testing import case

        return getattr(case, name)
    from mock_platform.client.testing import webhook_receiver

    return getattr(webhook_receiver, name)
