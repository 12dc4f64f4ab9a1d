"""Records what a client and the real service say to each other, as an archive without secrets."""

from __future__ import annotations

from mock_platform.recording.forwarding import Forwarder

__all__ = ["Forwarder"]
