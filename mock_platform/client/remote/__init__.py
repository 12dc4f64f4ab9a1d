"""A server elsewhere: the implementation of `interface` through its control plane."""

from __future__ import annotations

from mock_platform.client.remote.world import RemotePlatform, RemoteWorld

__all__ = ["RemotePlatform", "RemoteWorld"]
