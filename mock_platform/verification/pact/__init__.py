"""Pact files: what a client exercised, as a contract that a verifier can check against a server.

`recorded` takes what goes in from a world, with the state before each request; `document` writes
each as an interaction, with rules from its schema.
"""

from __future__ import annotations

from mock_platform.verification.pact.document import Parties, make_pact
from mock_platform.verification.pact.recorded import (
    BEGINNING,
    EVENT,
    SIGNED,
    History,
    LeftOut,
    PactDelivery,
    PactExchange,
    SentCredentials,
    make_beginning,
    read_world,
)

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
