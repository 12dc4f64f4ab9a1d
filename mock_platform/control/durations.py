"""The field of a duration in bodies of the control plane."""

from __future__ import annotations

from typing import Any

from mock_platform.core.fields import Number
from mock_platform.world.durations import DURATION_EXAMPLES, DURATION_PATTERN, parse_duration


class Duration(Number):
    """A number of seconds, or a text with units such as `15m`."""

    kind = f"Number of seconds, or a duration ({DURATION_EXAMPLES})"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The description of such a value."""
        return {"type": ["number", "string"], "pattern": f"^{DURATION_PATTERN}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if not isinstance(value, str):
            return super()._deserialize(value, attr, data, **kwargs)
        try:
            return parse_duration(value)
        except ValueError as fault:
            raise self._unreadable(value) from fault
