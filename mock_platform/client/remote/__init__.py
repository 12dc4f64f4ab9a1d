"""A server elsewhere: the implementation of `interface` through its control plane."""

from __future__ import annotations

from mock_platform.client.remote.platform import RemotePlatform
from mock_platform.client.remote.world import RemoteWorld

__all__ = ["RemotePlatform", "RemoteWorld"]
