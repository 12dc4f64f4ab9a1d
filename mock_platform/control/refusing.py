"""What a view raised, as the refusal that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from mock_platform.control.errors import BadQuery
from mock_platform.control.mistakes import MISTAKES
from mock_platform.control.refusal import ControlRefusal, refuse_values
from mock_platform.placement.peers import NoAnswer
from mock_platform.records.errors import BadRecord
from mock_platform.store.errors import StoreDamaged, StoreForeign, StoreOutdated

_LATER = (("Retry-After", "1"),)
_NEVER = (StoreForeign, StoreOutdated)
"""What somebody has to repair before another attempt."""
_STATUSES: Mapping[type, int] = {
    **{mistake.kind: mistake.status for mistake in MISTAKES if mistake.status is not None},
    NoAnswer: 503,
    StoreDamaged: 500,
    StoreForeign: 503,
    StoreOutdated: 503,
}


def as_refusal(fault: Exception) -> ControlRefusal | None:
    """Returns the refusal for an exception; `None` if nothing that a client did explains it."""
    if isinstance(fault, ControlRefusal):
        return fault
    if isinstance(fault, BadQuery):
        return refuse_values(400, fault.faults, "The query cannot be used")
    if isinstance(fault, BadRecord):
        text = (
            f"{fault}\nWith ?as=recorded unknown keys are kept and served; with "
            "?unchecked=true records are stored without checks."
        )
        return ControlRefusal(422, text, faults=[entry.as_json() for entry in fault.faults])
    for kind in type(fault).__mro__:
        status = _STATUSES.get(kind)
        if status is not None:
            later = status == HTTPStatus.SERVICE_UNAVAILABLE and not isinstance(fault, _NEVER)
            headers = _LATER if later else ()
            return ControlRefusal(status, str(fault), headers=headers)
    return None
