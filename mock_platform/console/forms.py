"""Forms of the console: what a browser sent, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.refusing import as_refusal
from mock_platform.control.route import ControlRequest

MAX_BYTES = 1024 * 1024
"""Maximum size of a form; an editor's text is the largest."""


class FormState(Struct, frozen=True):
    """What a form shows: values by the names of its fields, and what is wrong with them."""

    values: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Messages by the name of the field."""
    text: str = ""
    """What is wrong as a whole; empty if nothing is."""
    status: int = 200
    """The status of an answer that shows the form."""

    def value(self, name: str, default: object = "") -> str:
        """Returns what a field shows: what was sent, or the default."""
        return self.values.get(name, str(default))

    def faults_of(self, name: str) -> Sequence[str]:
        """Returns the messages to be shown beside a field."""
        return self.faults.get(name, ())


def read_form(request: ControlRequest) -> dict[str, str]:
    """Returns the values of a form by name; of several with the same name, the first.

    Raises:
        RequestEntityTooLarge: It is larger than `MAX_BYTES`.
    """
    request.flask.max_content_length = MAX_BYTES
    # One value may be as large as the form: without this, Werkzeug allows half a megabyte.
    request.flask.max_form_memory_size = MAX_BYTES
    return {name: value.replace("\r\n", "\n") for name, value in request.flask.form.items()}


def attempt(values: Mapping[str, str], act: Callable[[], object]) -> FormState | None:
    """Returns what is wrong with a form if `act` refuses it; `None` if it was done.

    Errors that are not refusals are raised.
    """
    try:
        act()
    except Exception as fault:
        refusal = as_refusal(fault)
        if refusal is None:
            raise
        return refuse_form(values, refusal)
    return None


def refuse_form(values: Mapping[str, str], refusal: ControlRefusal) -> FormState:
    """Returns a form as it was sent, with the messages of a refusal at their fields."""
    faults: dict[str, list[str]] = {}
    for each in refusal.extra.get("faults", ()):
        faults.setdefault(each["field"], []).append(each["message"])
    return FormState(values, faults, refusal.detail, refusal.status)
