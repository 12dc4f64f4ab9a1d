"""Pact files: what a client exercised, as a contract that a verifier can check against a server.

`recorded` is what goes in, `journal` takes it from a world, `states` says how the world was before
each request, `interactions` writes each with rules from its schema, `document` writes the file.
"""

from __future__ import annotations

from mock_platform.verification.pact.document import Parties, make_pact
from mock_platform.verification.pact.journal import read_world
from mock_platform.verification.pact.recorded import (
    LeftOut,
    PactDelivery,
    PactExchange,
    SentCredentials,
)
from mock_platform.verification.pact.states import BEGINNING, EVENT, SIGNED, History, make_beginning

__all__ = [
    "BEGINNING",
    "EVENT",
    "SIGNED",
    "History",
    "LeftOut",
    "PactDelivery",
    "PactExchange",
    "Parties",
    "SentCredentials",
    "make_beginning",
    "make_pact",
    "read_world",
]
