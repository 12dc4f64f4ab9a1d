"""Forms of the console: what a browser sent, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flask import Response
from msgspec import Struct, field

from mock_platform.control.refusals import ControlRefusal, as_refusal, refuse_values
from mock_platform.control.route import ControlRequest
from mock_platform.core.jsonio import BadJson, loads

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
        """Return what a field shows: what was sent, or the default."""
        return self.values.get(name, str(default))

    def faults_of(self, name: str) -> Sequence[str]:
        """Return the messages to be shown beside a field."""
        return self.faults.get(name, ())


def read_form(request: ControlRequest) -> dict[str, str]:
    """Return the values of a form by name; of several with the same name, the first.

    Raises:
        RequestEntityTooLarge: It is larger than `MAX_BYTES`.
    """
    request.flask.max_content_length = MAX_BYTES
    # One value may be as large as the form: without this, Werkzeug allows half a megabyte.
    request.flask.max_form_memory_size = MAX_BYTES
    return {name: value.replace("\r\n", "\n") for name, value in request.flask.form.items()}


def attempt(values: Mapping[str, str], act: Callable[[], object]) -> FormState | None:
    """Return what is wrong with a form if `act` refuses it; `None` if it was done.

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


def answer_form(
    request: ControlRequest,
    act: Callable[[dict[str, str]], Response],
    show: Callable[[ControlRequest, FormState], Response],
) -> Response:
    """Return what `act` answers to the values of a form; if it refuses them, the form again.

    `show` returns the page with the form.
    """
    values, answers = read_form(request), list[Response]()
    refused = attempt(values, lambda: answers.append(act(values)))
    return answers[0] if refused is None else show(request, refused)


def refuse_form(values: Mapping[str, str], refusal: ControlRefusal) -> FormState:
    """Return a form as it was sent, with the messages of a refusal at their fields."""
    faults: dict[str, list[str]] = {}
    for each in refusal.extra.get("faults", ()):
        faults.setdefault(each["field"], []).append(each["message"])
    return FormState(values, faults, refusal.detail, refusal.status)


# Values of forms in the types that the views of the control plane take.

_NO_INTEGER = 2**63


def to_number(text: str) -> int | float | str:
    """Return a number that a text holds, else the text, which a schema refuses with its reason."""
    try:
        if text.strip().lstrip("+-").isdecimal() and abs(number := int(text)) < _NO_INTEGER:
            return number
        # As JSON reads a number that is too large for an integer.
        return found if math.isfinite(found := float(text)) else text
    except ValueError:
        return text


def read_json(values: Mapping[str, str], name: str, failed: str) -> dict[str, Any]:
    """Return the JSON of a field under its name; nothing if the field is empty.

    Raises:
        ControlRefusal: 422, beside the field; `failed` says what was not done.
    """
    text = values.get(name, "").strip()
    if not text:
        return {}
    try:
        return {name: loads(text.encode())}
    except BadJson as fault:
        raise refuse_values(422, [(name, str(fault))], failed) from fault
