"""The headers of requests to the control plane."""

from __future__ import annotations

TOKEN_HEADER = "X-Mock-Control-Token"
"""The header with the control token of the server."""
