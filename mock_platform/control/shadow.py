"""The report of `serve --shadow`: how the real service answers the same requests differently."""

from __future__ import annotations

from typing import Any

from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.route import ControlRequest


def get_shadow(asked: ControlRequest) -> dict[str, Any]:
    """Return the differences so far, and what was sent, dropped and failed.

    Raises:
        ControlRefusal: Requests are not sent to another service.
    """
    report = asked.platform.shadow
    if report is None:
        raise ControlRefusal(
            404, "Requests are not sent to another service. Start the server with --shadow URL."
        )
    return report()
