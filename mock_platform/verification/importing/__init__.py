"""Turns recorded traffic into a folder: records, events, and scenarios for all that they are not.

Every recorded request is sent to a sandbox that serves the folder. Where its answer is not the
recorded one, a rule answers with the recorded one, so that what was recorded is answered as it was.
"""

from __future__ import annotations

from mock_platform.verification.importing.folder import FolderInUse, ImportOptions, import_har
from mock_platform.verification.importing.persons import RemainsOfPersons
from mock_platform.verification.importing.result import ImportReport

__all__ = ["FolderInUse", "ImportOptions", "ImportReport", "RemainsOfPersons", "import_har"]
