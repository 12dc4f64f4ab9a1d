"""Worlds of a server elsewhere, worked through its control plane: the face of those in Python.

Names and arguments are those of `mock_platform.faces`; what cannot be had over an address says so.
"""

from __future__ import annotations

from mock_platform.testing.remote.control import Refused
from mock_platform.testing.remote.world import NotInProcess, RemotePlatform, RemoteWorld

__all__ = ["NotInProcess", "Refused", "RemotePlatform", "RemoteWorld"]
