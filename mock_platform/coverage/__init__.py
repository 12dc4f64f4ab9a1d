"""Contract coverage: which part of the documented interface clients have exercised so far.

`Recorder` counts, `contract` lists what can be covered, `document` combines the two and merges such
documents, `CoverageScope` restricts them, `Gate` judges them, `pages` shows them.
"""

from __future__ import annotations

from mock_platform.coverage.baseline import BadBaseline, Baseline
from mock_platform.coverage.document import CoverageDocument, document, merge
from mock_platform.coverage.files import read_gate, write_files
from mock_platform.coverage.gate import Gate, GateFailure
from mock_platform.coverage.pages import FORMATS, SUFFIXES, Format, render, render_totals
from mock_platform.coverage.recorder import Recorder
from mock_platform.coverage.scope import BadPatterns, CoverageScope

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "BadBaseline",
    "BadPatterns",
    "Baseline",
    "CoverageDocument",
    "CoverageScope",
    "Format",
    "Gate",
    "GateFailure",
    "Recorder",
    "document",
    "merge",
    "read_gate",
    "render",
    "render_totals",
    "write_files",
]
