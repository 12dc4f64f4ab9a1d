"""Worlds of a server elsewhere, worked through its control plane: the face of those in Python.

Names and arguments are those of `mock_platform.client.local`; what cannot be had over an address
says so.
"""

from __future__ import annotations

from mock_platform.client.remote.world import RemotePlatform, RemoteWorld

__all__ = ["RemotePlatform", "RemoteWorld"]
