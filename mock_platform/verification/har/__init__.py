"""HTTP archives (HAR 1.2): reading them from any program, and writing them without secrets."""

from __future__ import annotations

from mock_platform.verification.har.exchange import (
    BadHar,
    HarExchange,
    HarPlace,
    HarRequest,
    HarResponse,
    NamesChoice,
    recognize_names,
)
from mock_platform.verification.har.reader import read_har, show_progress

__all__ = [
    "BadHar",
    "HarExchange",
    "HarPlace",
    "HarRequest",
    "HarResponse",
    "NamesChoice",
    "read_har",
    "recognize_names",
    "show_progress",
]
