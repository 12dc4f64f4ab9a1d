"""Values that clients send back: an update takes them if they are stored, and sets no others.

Clients that save all that they loaded send each property of a record back, also those with a value
that an update cannot set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_platform.core.call import Call
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import unlisted
from mock_platform.core.fields import Choice
from mock_platform.world.store.interface import Record


class ChoiceOrStored(Choice):
    """One of the values that can be set; further ones of records are left to `refuse_new_values`.

    Example:
        >>> field = ChoiceOrStored(("ACTIVE", "PAUSED"), stored=("DRAFT",))
        >>> field.deserialize("DRAFT"), field.values
        ('DRAFT', ('ACTIVE', 'PAUSED'))
    """

    def __init__(self, values: Sequence[str], *, stored: Sequence[str]) -> None:
        self.stored = tuple(stored)
        super().__init__(values)

    def _validate(self, value: Any) -> None:
        if value not in self.stored:
            super()._validate(value)


def refuse_new_values(call: Call, before: Record, settable: Mapping[str, Sequence[str]]) -> None:
    """Refuse values that are neither settable nor stored.

    Raises:
        InvalidParameters: A parameter has such a value.
    """
    refused = {
        name: value
        for name in settable
        if (value := call.params.get(name)) is not None
        and value != before[name]
        and value not in settable[name]
    }
    if not refused:
        return
    for name in refused:
        del call.echo[name]
    faults = [(name, unlisted(settable[name], value)) for name, value in refused.items()]
    raise InvalidParameters(
        [(name, fault.naming(name)) for name, fault in faults], refused, call.params
    )
