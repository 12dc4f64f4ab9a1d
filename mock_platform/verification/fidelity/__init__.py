"""How true the sandbox's answers are: facts of the real service, asked here, and counted.

`facts` reads them, `publication` undoes what their publication did, `sandbox` asks with what
`instrument` adds, `points` compares, `measure` counts, `report` writes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from mock_platform.verification.fidelity.facts import BadFacts, Fact, read_facts, read_packaged
from mock_platform.verification.fidelity.instrument import Instrument
from mock_platform.verification.fidelity.measure import Measurement, measure
from mock_platform.verification.fidelity.report import (
    list_falls,
    read_baseline,
    write_page,
    write_text,
)
from mock_platform.verification.fidelity.sandbox import FactSandbox, Sent

__all__ = [
    "BadFacts",
    "Fact",
    "FactSandbox",
    "Instrument",
    "Measurement",
    "Sent",
    "list_falls",
    "measure",
    "measure_sandbox",
    "read_baseline",
    "read_facts",
    "read_packaged",
    "write_page",
    "write_text",
]


def measure_sandbox(facts: Iterable[Fact]) -> Measurement:
    """Return the figures of the sandbox for these facts."""
    logging.disable(logging.WARNING)  # of records: what they hold is what is compared
    try:
        return measure(facts, FactSandbox(Instrument.read()).ask)
    finally:
        logging.disable(logging.NOTSET)
