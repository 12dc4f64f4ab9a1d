"""The sandbox to run instead of a social platform's real API."""

from mock_platform.settings import Settings
from mock_platform.version import __version__

__all__ = ["Settings", "__version__"]
