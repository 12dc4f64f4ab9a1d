"""Matches a call against a rule's `when`: finds the first difference; without one it matches.

Every condition yields a `Mismatch` or nothing, so a rule that did not act can always say why.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.core.call import ABSENT, Call
from mock_platform.core.documents.forms import (
    ANY_NUMBER,
    AnyForm,
    EntriesForm,
    FlagForm,
    InstantForm,
    ListForm,
    NumberForm,
    Row,
    TypedForm,
    WordForm,
    make_object,
)
from mock_platform.core.documents.source import quote
from mock_platform.core.jsonio import canonical
from mock_platform.scenario.pattern import (
    MAX_TEXT_CHARACTERS,
    compile_pattern,
)

SCHEMES = ("bearer", "oauth1", "oauth2", "basic", "session", "none")


class Mismatch(Struct, frozen=True):
    """Why a rule did not act: the place, what it expects there, what it got."""

    path: str
    expected: str = ""
    got: Any = ABSENT
    sentence: str = ""
    """The whole of it in words, where place and value do not say it."""

    def __str__(self) -> str:
        if self.sentence:
            return self.sentence
        found = "it was absent" if self.got is ABSENT else f"got {quote(self.got)}"
        return f"{self.path}: expected {self.expected}, {found}"


# -- declarations --------------------------------------------------------------------------------

_EQUALS = "Equal to this value; the value alone means the same."
_IN = "Equal to one of these values."
_MATCHES: Row = (
    WordForm(least=1, most=200),
    "The whole text, of at most 256 characters, matches this regular expression. It has "
    "at most three open repetitions such as `.*`, none within another or of what may be empty. Of "
    "the rules that are active on one operation, 34 may have three, or 3,000 two, and fewer with a "
    "long text behind them; a scenario with which they would be more cannot be activated.",
)
_EXISTS: Row = (FlagForm(), "true: there is a value; false: nothing was sent.")
_NUMBER = NumberForm(-ANY_NUMBER, ANY_NUMBER)
CONDITION = TypedForm(
    text=WordForm(),
    number=_NUMBER,
    flag=FlagForm(),
    items=ListForm(AnyForm(), least=0),
    object=make_object(
        {
            "equals": (AnyForm(), _EQUALS),
            "in": (ListForm(AnyForm()), _IN),
            "matches": _MATCHES,
            "exists": _EXISTS,
            "above": (_NUMBER, "A number, also one written as text, greater than this one."),
            "below": (_NUMBER, "A number less than this one."),
        },
        least=1,
    ),
    null=True,
    what="a value, or an object with equals, in, matches, exists, above, below",
)
_ANY_NAMES = EntriesForm(CONDITION)
_SCHEME = TypedForm(
    text=WordForm(SCHEMES),
    object=make_object(
        {
            "equals": (WordForm(SCHEMES), _EQUALS),
            "in": (ListForm(WordForm(SCHEMES)), _IN),
            "matches": _MATCHES,
            "exists": _EXISTS,
        },
        least=1,
    ),
    null=True,
    what="a scheme, or an object with equals, in, matches, exists",
)
COMMON_CONDITIONS: Mapping[str, Row] = {
    "state": (
        TypedForm(
            text=WordForm(),
            object=make_object(
                {"equals": (WordForm(), _EQUALS), "in": (ListForm(WordForm()), _IN)}, least=1
            ),
            null=True,
            what="the name of a state, or equals or in",
        ),
        "The state of the scenario, which `set_state` changes; null at the start.",
    ),
    "clock": (
        make_object(
            {
                "after": (
                    InstantForm(),
                    "From this moment on, ISO 8601; without an offset it is UTC.",
                    "no start",
                ),
                "before": (InstantForm(), "Up to this moment.", "no end"),
            },
            least=1,
        ),
        "A part of the time on the world's clock.",
    ),
}
"""The conditions that all rules have."""
WHEN = make_object(
    {
        "path": (_ANY_NAMES, "Parameters of the path, by name."),
        "query": (_ANY_NAMES, "Parameters of the query, by name."),
        "json": (
            _ANY_NAMES,
            "Values of a JSON body; a dot leads into objects and lists: `users.0.id`.",
        ),
        "form": (_ANY_NAMES, "Parameters of a form body, by name."),
        "headers": (_ANY_NAMES, "Headers, by name in any case."),
        "caller": (
            make_object(
                {
                    "app": (CONDITION, "The id of the app."),
                    "user": (CONDITION, "The id of the user."),
                    "scheme": (_SCHEME, "The kind of the credentials."),
                },
                least=1,
            ),
            "Who calls; not with `stage: before_auth`.",
        ),
        **COMMON_CONDITIONS,
    },
    description="Conditions on the request, all of which must hold.",
)


# -- matching ------------------------------------------------------------------------------------

Test = Callable[[Any], bool]
Getter = Callable[[Any], Any]
"""Looks into a `Call`, or into an event on its way to a webhook."""


class Check(Struct, frozen=True):
    """One condition: how to get the value, how to test it, and what it expects in words."""

    path: str
    get: Getter
    holds: Test
    expected: str
    place: Hashable
    """Equal for conditions that get the same value, and read it alike."""
    read: Callable[[Any], Hashable]
    """Return `value` for a value with which the condition holds, and something else for others."""
    value: Hashable


def make_checks(
    when: Mapping[str, Any],
    state: Callable[[], str | None],
    find_path_params: Callable[[Call], Mapping[str, str]] | None = None,
) -> list[Check]:
    """Return the conditions of a rule as checks; `state` returns the scenario's current state.

    `find_path_params` returns the path parameters of a call if those of its operation do not apply.
    """
    found: list[Check] = []
    for source, conditions in when.items():
        if source == "state":
            found += _make_source_checks(
                "state", lambda _: state(), conditions, as_text=False, scope=state
            )
            continue
        if source == "clock":  # a rule compares it with its world's time
            continue
        for name, condition in conditions.items():
            get, scope = _GETTERS[source](name), None
            if source == "path" and find_path_params is not None:
                get, scope = _make_own_path_getter(name, find_path_params), find_path_params
            found += _make_source_checks(
                f"{source}.{name}", get, condition, as_text=source != "json", scope=scope
            )
    return found


def find_first_difference(subject: Any, of: Sequence[Check]) -> tuple[int, Mismatch] | None:
    """Return how many conditions hold before the first that fails, and that one; else `None`."""
    for index, check in enumerate(of):
        got = check.get(subject)
        if not check.holds(got):
            return index, Mismatch(check.path, check.expected, got)
    return None


def _make_source_checks(
    path: str, get: Getter, condition: Any, *, as_text: bool, scope: Hashable = None
) -> list[Check]:
    """Return the checks of a condition; `scope` is what gets the value, if not all do alike."""
    if not isinstance(condition, dict):
        # Comparisons with one value at one place share the place, so that a tree of rules can
        # divide them by the value. Any other condition is only true or false: its operator and its
        # operand are part of the place, and the value to look up is True.
        condition = {"equals": condition}
    found = []
    for name, wanted in condition.items():
        holds = _TESTS[name](wanted, as_text)
        expected = _describe(name, wanted)
        read: Callable[[Any], Hashable]
        if name == "equals":
            read = _read_text if as_text else _read_json
            place: tuple[Hashable, ...] = (scope, path, as_text)
            value = read(_as_text(wanted) if as_text else wanted)
        else:
            read, value = holds, True
            place = (scope, path, as_text, name, canonical(wanted))
        found.append(Check(path, get, holds, expected, place, read, value))
    return found


def _read_text(got: Any) -> Hashable:
    return got if isinstance(got, str) or got is None else ABSENT


def _read_json(got: Any) -> Hashable:
    return got if isinstance(got, str) or got is None or got is ABSENT else canonical(got)


def _test_equals(wanted: Any, as_text: bool) -> Test:  # noqa: FBT001 - one signature for all
    if as_text:
        text = _as_text(wanted)
        return lambda got: got == text
    if isinstance(wanted, str) or wanted is None:
        return lambda got: got == wanted
    exact = canonical(wanted)
    return lambda got: got is not ABSENT and canonical(got) == exact


def _test_in(wanted: Any, as_text: bool) -> Test:  # noqa: FBT001 - as above
    tests = [_test_equals(each, as_text) for each in wanted]
    return lambda got: any(test(got) for test in tests)


def _test_matches(wanted: str, as_text: bool) -> Test:  # noqa: FBT001 - as above
    expression = compile_pattern(wanted)

    def test(got: Any) -> bool:
        return (
            isinstance(got, str)
            and len(got) <= MAX_TEXT_CHARACTERS
            and expression.fullmatch(got) is not None
        )

    return test


def _test_exists(wanted: bool, as_text: bool) -> Test:  # noqa: FBT001 - as above
    return lambda got: (got is not ABSENT and got is not None) is wanted


def _test_above(wanted: float, as_text: bool) -> Test:  # noqa: FBT001 - as above
    return lambda got: (number := _as_number(got, as_text)) is not None and number > wanted


def _test_below(wanted: float, as_text: bool) -> Test:  # noqa: FBT001 - as above
    return lambda got: (number := _as_number(got, as_text)) is not None and number < wanted


_TESTS: Mapping[str, Callable[[Any, bool], Test]] = {
    "equals": _test_equals,
    "in": _test_in,
    "matches": _test_matches,
    "exists": _test_exists,
    "above": _test_above,
    "below": _test_below,
}


def _describe(name: str, wanted: Any) -> str:
    if name == "equals":
        return quote(wanted)
    if name == "in":
        return f"one of {quote(wanted)}"
    if name == "matches":
        return f"a match of {quote(wanted)} (of at most {MAX_TEXT_CHARACTERS} characters)"
    if name == "exists":
        return "a value" if wanted else "nothing"
    return f"a number {name} {wanted:g}"


def _as_text(value: Any) -> Any:
    """Return a value as it is written in an address, a form or a header."""
    if isinstance(value, str) or value is None:
        return value
    return quote(value)


def _as_number(got: Any, as_text: bool) -> float | None:  # noqa: FBT001 - as above
    if isinstance(got, bool):
        return None
    if isinstance(got, int | float):
        return got
    if not as_text or not isinstance(got, str) or len(got) > 40:
        return None
    try:
        return float(got)
    except ValueError:
        return None


# -- where to look -------------------------------------------------------------------------------


def _make_path_getter(name: str) -> Getter:
    return lambda call: call.path_params.get(name, ABSENT)


def _make_own_path_getter(name: str, find: Callable[[Call], Mapping[str, str]]) -> Getter:
    return lambda call: find(call).get(name, ABSENT)


def _make_query_getter(name: str) -> Getter:
    return lambda call: next((value for key, value in call.query if key == name), ABSENT)


def _make_form_getter(name: str) -> Getter:
    return lambda call: next((value for key, value in call.form if key == name), ABSENT)


def _make_header_getter(name: str) -> Getter:
    def get(call: Call) -> Any:
        value = call.header(name)
        return ABSENT if value is None else value

    return get


def _make_json_getter(name: str) -> Getter:
    steps = name.split(".")

    def get(call: Call) -> Any:
        value = call.json
        for step in steps:
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
                value = value[int(step[:9])]
            else:
                return ABSENT
        return value

    return get


def _make_caller_getter(name: str) -> Getter:
    if name == "scheme":
        return lambda call: call.caller.scheme

    def get(call: Call) -> Any:
        record = call.caller.app if name == "app" else call.caller.user
        return ABSENT if record is None else record["id"]

    return get


def _make_event_getter(name: str) -> Getter:
    return lambda event: event.get(name, ABSENT)


_GETTERS: Mapping[str, Callable[[str], Getter]] = {
    "path": _make_path_getter,
    "query": _make_query_getter,
    "form": _make_form_getter,
    "headers": _make_header_getter,
    "json": _make_json_getter,
    "caller": _make_caller_getter,
    "event": _make_event_getter,
}
