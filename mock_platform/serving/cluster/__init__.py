"""Placement: in which of several processes a world lives, and how that process is reached.

A world lives in one process at a time. A process that gets a request for another process's world
hands it over. With one process there is no placement.
"""

from __future__ import annotations

from mock_platform.serving.cluster.placement import Misplaced, Place, Placement

__all__ = ["Misplaced", "Place", "Placement"]
