"""Refusals of the control plane: a problem object whose `detail` says what to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

from mock_platform.control.mistakes import MISTAKES
from mock_platform.core.cluster_peers import NoAnswer
from mock_platform.core.documents.forms import describe_unknown
from mock_platform.core.errors import MAX_FAULTS, BadQuery, BadRecord, find_nearest
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Json
from mock_platform.world.store.errors import StoreDamaged, StoreForeign, StoreOutdated

MEDIA_TYPE = "application/problem+json"


class ControlRefusal(Exception):
    """Ends a control request; `extra` adds fields to the problem object."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.extra = extra

    def as_json(self) -> dict[str, Any]:
        """Return the problem object."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.extra,
        }


def refuse_values(status: int, faults: Iterable[tuple[str, str]], what: str) -> ControlRefusal:
    """A refusal of values, with the first faults: 422 for a body, 400 for the query."""
    found = list(islice(faults, MAX_FAULTS + 1))
    listed = [
        {"field": field, "message": text.explanation if isinstance(text, Fault) else text}
        for field, text in found[:MAX_FAULTS]
    ]
    told = "; ".join(fault["message"] for fault in listed)
    if len(found) > MAX_FAULTS:
        told += f"; only the first {MAX_FAULTS} faults are listed"
    return ControlRefusal(status, f"{what}: {told}", faults=listed)


def explain_unknown_names(
    faults: Iterable[tuple[str, Fault]], known: Mapping[str, Any]
) -> Iterable[tuple[str, str]]:
    """Return the faults in whole sentences, with helpful ones for unknown names.

    `known` are the fields by their names. If one of them takes any object, and none is like an
    unknown name, that is where the name may belong.
    """
    objects = [name for name, field in known.items() if isinstance(field, Json)]
    for name, text in faults:
        if str(text) != "Unknown field.":
            yield name, text.explanation if isinstance(text, Fault) else text
            continue
        said = describe_unknown(name, [*known])
        if len(objects) == 1 and find_nearest(name, known) is None:
            said += f' Did you mean {{"{objects[0]}": {{"{name}": …}}}}?'
        yield name, said


# What a view raised, as the refusal that answers it.

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
    """Return the refusal for an exception; `None` if nothing that a client did explains it."""
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
