"""Document B as a table: every row and rule of it, and the tests that hold each."""

from tests.spec.document_b import campaign_management, catalogs_and_audiences, creatives
from tests.spec.document_b.limits import LIMITS
from tests.spec.document_b.records import RECORDS
from tests.spec.document_b.rules import RULES

ENDPOINTS = (
    *catalogs_and_audiences.ENDPOINTS,
    *creatives.ENDPOINTS,
    *campaign_management.ENDPOINTS,
)
SECTIONS = (*RECORDS, *ENDPOINTS, *RULES)
"""Resources and fields; endpoints; conventions, states, errors, versions."""

OPERATIONS = {
    "Product catalogs (early access only)": 10,
    "Keyword insights": 1,
    "Tailored audience permissions (version 5)": 3,
    "Custom audiences": 3,
    "Do-not-reach lists": 2,
    "Account media": 3,
    "Cards": 5,
    "Media library": 5,
    "Poll cards": 4,
    "Video conversation cards": 4,
    "Posting on behalf of an advertiser": 2,
    "Accounts": 15,
    "Line items": 2,
    "Line item curated categories": 5,
}
"""How many operations each heading of "Endpoints" has: 64 together."""

__all__ = ["ENDPOINTS", "LIMITS", "OPERATIONS", "RECORDS", "RULES", "SECTIONS"]
