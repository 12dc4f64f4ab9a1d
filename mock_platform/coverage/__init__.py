"""Contract coverage: which of what the interface documents the clients have met so far.

`Recorder` counts, `contract` knows what there is to meet, `document` puts both together and merges
such documents, `pages` shows them.
"""

from __future__ import annotations

from mock_platform.coverage.document import CoverageDocument, document, merge
from mock_platform.coverage.pages import FORMATS, Format, render
from mock_platform.coverage.recorder import Recorder

__all__ = ["FORMATS", "CoverageDocument", "Format", "Recorder", "document", "merge", "render"]
