"""Document A as a table: every row and rule of it, and the tests that hold each."""

from tests.spec.document_a.endpoints import ENDPOINTS
from tests.spec.document_a.history import HISTORY
from tests.spec.document_a.limits import LIMITS
from tests.spec.document_a.records import RECORDS
from tests.spec.document_a.rules import RULES

SECTIONS = (*RECORDS, *ENDPOINTS, *RULES, HISTORY)
"""Resources and fields; endpoints; states, authentication, events, errors; release history."""

__all__ = ["ENDPOINTS", "HISTORY", "LIMITS", "RECORDS", "RULES", "SECTIONS"]
