"""Contract coverage: which part of the documented interface clients have exercised so far.

`Recorder` counts, `contract` lists what can be covered, `document` combines the two and merges such
documents, `pages` shows them.
"""

from __future__ import annotations

from mock_platform.coverage.document import CoverageDocument, document, merge
from mock_platform.coverage.pages import FORMATS, Format, render
from mock_platform.coverage.recorder import Recorder

__all__ = ["FORMATS", "CoverageDocument", "Format", "Recorder", "document", "merge", "render"]
