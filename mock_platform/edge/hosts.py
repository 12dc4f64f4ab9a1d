"""The hosts of the platform, which the proxy answers for (reference, original names, section 7)."""

from __future__ import annotations

_NAMES = ("x.com", "twitter.com")
_PREFIXES = ("", "api.", "upload.", "ads-api.", "ads-api-sandbox.")
PLATFORM_HOSTS = tuple(f"{prefix}{name}" for name in _NAMES for prefix in _PREFIXES)
"""Consent pages, the v2 interface and OAuth, uploads, advertising, its sandbox."""
