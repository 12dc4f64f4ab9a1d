"""`error: CODE` — an error with a numeric or named code, as each path family words it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mock_platform.core.call import Reply
from mock_platform.core.dialect import dialect_of
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.errors import (
    AdsError,
    AdsFailure,
    Failure,
    NumericFailure,
    ProblemFailure,
)
from mock_platform.core.failures.problems import problem
from mock_platform.scenario.effects.effect import Kind, Staging
from mock_platform.scenario.shapes import Either, Fields, Whole, Word

NAMED = tuple(ADS_STATUS)
NUMBERED = tuple(NUMERIC_CODES)
_PATTERN = r"[A-Z][A-Z0-9_]{0,99}"
_CODE_BY_STATUS = {401: 32, 403: 87, 404: 34, 410: 251, 429: 88, 503: 130}
_STATUS_IS_NO_CODE = "A status is no code: give it beside one, as {code, status}, or `respond`."
CODE = Either(
    text=Word(NAMED),
    number=Whole(0, choices=NUMBERED, note=_STATUS_IS_NO_CODE),
    what="a code",
)
# Document A, "Error object": code is an int32.
ANY_CODE = Either(
    text=Word(pattern=_PATTERN, meaning="a code in capitals such as LINE_ITEM_NOT_FOUND"),
    number=Whole(-(2**31), 2**31 - 1),
    what="a numeric or a named code",
)


@dataclass(frozen=True, slots=True)
class ErrorEffect:
    """Raises the failure that has this code."""

    code: int | str
    message: str | None = None
    status: int | None = None
    parameter: str | None = None

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Raise the failure that has this code."""
        raise self.make_failure(staging.call.path)

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


KIND = Kind(
    "error",
    _make,
    form=Fields(
        {
            "error": Either(
                text=CODE.text,
                number=CODE.number,
                object=Fields(
                    {
                        "code": ANY_CODE,
                        "message": Word(),
                        "status": Whole(400, 599),
                        "parameter": Word(least=1),
                    },
                    required=("code",),
                ),
                what="a code, or an object with code, message, status, parameter",
            )
        },
        required=("error",),
        description="An error by its numeric or named code.",
    ),
    answers=True,
)
