"""Worlds of a server elsewhere, worked through its control plane, with the face of `interface`."""

from __future__ import annotations

from mock_platform.client.remote.platform import RemotePlatform
from mock_platform.client.remote.world import RemoteWorld

__all__ = ["RemotePlatform", "RemoteWorld"]
