"""Contract coverage: which part of the documented interface clients have exercised so far.

`Recorder` counts, `contract` lists what can be covered, `document` combines the two and merges such
documents, `pages` shows them.
"""

from __future__ import annotations

from mock_platform.coverage.document import CoverageDocument, document, merge
from mock_platform.coverage.pages import (
    FORMATS,
    SUFFIXES,
    Format,
    explain_low,
    render,
    render_totals,
)
from mock_platform.coverage.recorder import Recorder

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "CoverageDocument",
    "Format",
    "Recorder",
    "document",
    "explain_low",
    "merge",
    "render",
    "render_totals",
]
