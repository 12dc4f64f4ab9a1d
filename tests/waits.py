"""How long tests wait for what must come: so long that only a test that hangs runs into it."""

from __future__ import annotations

PATIENCE = 300.0
"""Real seconds after which a test that hangs fails. No test takes that long, however busy the
machine is; what would be waited for wrongly is made to take a multiple of it."""
