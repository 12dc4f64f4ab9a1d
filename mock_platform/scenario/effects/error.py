"""`error: CODE` — an error with a numeric or named code, as each path family words it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.call import Call, Reply
from mock_platform.core.documents.forms import (
    TypedForm,
    WholeForm,
    WordForm,
    make_keyed,
    make_object,
)
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.errors import (
    AdsError,
    AdsFailure,
    Failure,
    NumericFailure,
    ProblemFailure,
)
from mock_platform.core.failures.problems import problem
from mock_platform.core.operation import dialect_of
from mock_platform.scenario.effects.effect import EffectKind, Staging

NAMED = tuple(ADS_STATUS)
NUMBERED = tuple(NUMERIC_CODES)
_PATTERN = r"[A-Z][A-Z0-9_]{0,99}"
_CODE_BY_STATUS = {401: 32, 403: 87, 404: 34, 410: 251, 429: 88, 503: 130}
_STATUS_IS_NO_CODE = "A status is no code: give it beside one, as {code, status}, or `respond`."
CODE = TypedForm(
    text=WordForm(NAMED),
    number=WholeForm(0, choices=NUMBERED, note=_STATUS_IS_NO_CODE),
    what="a code",
)
# Document A, "Error object": code is an int32.
ANY_CODE = TypedForm(
    text=WordForm(pattern=_PATTERN, meaning="a code in capitals such as LINE_ITEM_NOT_FOUND"),
    number=WholeForm(-(2**31), 2**31 - 1),
    what="a numeric or a named code",
)


class ErrorEffect(Struct, frozen=True):
    """Raises the failure that has this code."""

    code: int | str
    message: str | None = None
    status: int | None = None
    parameter: str | None = None

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Raise the failure that has this code."""
        raise self.foresee(staging.call)

    def foresee(self, call: Call) -> Failure:
        """Return the failure for a call."""
        return self.make_failure(call.path)

    def make_failure(self, path: str) -> Failure:
        """Return the failure in the dialect of a path.

        Named codes belong to the advertising interface; elsewhere only status and message remain.
        """
        if isinstance(self.code, int):
            return NumericFailure(self.code, self.message, status=self.status)
        status = self.status or ADS_STATUS.get(self.code, 400)
        message = self.message or make_message(self.code)
        dialect = dialect_of(path)
        if dialect == "ads":
            return AdsFailure(AdsError(self.code, message, self.parameter), status=status)
        if dialect == "oauth":
            return NumericFailure(_CODE_BY_STATUS.get(status, 131), message, status=status)
        return ProblemFailure(problem("about:blank", status=status, detail=message))


def make_message(code: str) -> str:
    """Return a message for a named code: the code as a sentence."""
    return code.replace("_", " ").capitalize()


def _make(value: Mapping[str, Any]) -> ErrorEffect:
    given = value["error"]
    return ErrorEffect(**given) if isinstance(given, dict) else ErrorEffect(given)


KIND = EffectKind(
    "error",
    _make,
    form=make_keyed(
        "error",
        TypedForm(
            text=CODE.text,
            number=CODE.number,
            object=make_object(
                {
                    "code": (
                        ANY_CODE,
                        "A numeric code, or a named one of the advertising interface.",
                    ),
                    "message": (WordForm(), "The text of the error.", "that of the code"),
                    "status": (
                        WholeForm(400, 599),
                        "The status of the answer.",
                        "that of the code",
                    ),
                    "parameter": (WordForm(least=1), "The parameter that the error names.", "none"),
                },
                required=("code",),
            ),
            what="a code, or an object with code, message, status, parameter",
        ),
        "An error by its numeric or named code.",
    ),
    answers=True,
)
