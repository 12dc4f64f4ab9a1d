"""The contract as one document, and what a client feels when it changes.

`document` makes the document, and reads it or a plain OpenAPI file; `rules` says how grave each
kind of change is, `compare` finds the changes, those of schemas with `schemas`.
"""

from __future__ import annotations

from mock_platform.verification.contract.compare import compare_contracts, compare_dates
from mock_platform.verification.contract.document import (
    BadContract,
    Contract,
    make_contract,
    read_contract,
    read_contract_file,
    render_contract,
)
from mock_platform.verification.contract.rules import (
    LEVELS,
    RULES,
    Comparison,
    ContractChange,
    Format,
    Level,
    render,
)

__all__ = [
    "LEVELS",
    "RULES",
    "BadContract",
    "Comparison",
    "Contract",
    "ContractChange",
    "Format",
    "Level",
    "compare_contracts",
    "compare_dates",
    "make_contract",
    "read_contract",
    "read_contract_file",
    "render",
    "render_contract",
]
