"""Records what a client and the real service say to each other, as an archive without secrets."""

from __future__ import annotations

from mock_platform.recording.forwarding import Forwarder
from mock_platform.recording.upstream import BadUpstream, Upstream

__all__ = ["BadUpstream", "Forwarder", "Upstream"]
