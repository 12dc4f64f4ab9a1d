"""`problem: SLUG` — a problem of document A; what is not given is filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import Schema, fields, validate
from msgspec import Struct

from mock_platform.core.assumptions import Assumption
from mock_platform.core.auth.authenticate import BEARER, USER
from mock_platform.core.call import Call, Reply
from mock_platform.core.documents.forms import (
    EntriesForm,
    FieldsForm,
    Form,
    ListForm,
    Row,
    StructureForm,
    WholeForm,
    WordForm,
    make_object,
)
from mock_platform.core.failures.codes import (
    could_not_find,
    describe_unsupported_authentication,
    not_authorized_to_access,
    not_authorized_to_see,
)
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import (
    PROBLEM_TYPES,
    RESOURCE_TYPES,
    WEBHOOK_NOT_A_RESOURCE_TYPE,
    InvalidRequestItem,
    ProblemType,
    problem,
)
from mock_platform.core.fields import ListOf
from mock_platform.core.jsonio import dumps
from mock_platform.core.validators import Pattern
from mock_platform.scenario.effects.effect import EffectKind, Staging

_RESOURCES = frozenset({*RESOURCE_TYPES, "place", "poll"})
_OF_TYPE = "that of the type"
_COMMON: Mapping[str, Row] = {
    "title": (WordForm(), "The title of the problem.", _OF_TYPE),
    "detail": (WordForm(), "Its text.", _OF_TYPE),
    "status": (WholeForm(400, 599), "The status of the answer.", _OF_TYPE),
}
_FROM_REQUEST = "from the request, or a typical one"


class ProblemEffect(Struct, frozen=True):
    """Raises the problem as a handler would."""

    slug: str
    given: Mapping[str, Any]

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Raise the problem for the call."""
        raise self.foresee(staging.call)

    def foresee(self, call: Call) -> ProblemFailure:
        """Return the problem for a call."""
        return make_problem_failure(self.slug, self.given, call)


def make_problem_failure(slug: str, given: Mapping[str, Any], call: Call) -> ProblemFailure:
    """Return the problem for a call.

    Extra fields that are not given come from the call if the type requires them, else from the
    type's public sample; so does the detail.
    """
    kind = PROBLEM_TYPES[slug]
    filled = {**kind.typical, **given}
    for name, declared in kind.fields.items():
        if declared.required and name not in filled:
            filled[name] = _LIVE[name](call)
    assumed: tuple[Assumption, ...] = ()
    if "resource_type" in filled and "resource_type" not in given:
        assumed = (WEBHOOK_NOT_A_RESOURCE_TYPE,)
    if slug == "invalid-request" and "errors" not in filled:
        filled["errors"] = [{"message": "Invalid Request", "parameters": _list_sent(call)}]
    if "detail" not in filled and slug in _LIVE_DETAILS:
        filled["detail"] = _LIVE_DETAILS[slug](filled, call)
    return ProblemFailure(problem(slug, **filled), *assumed)


def _guess_parameter(call: Call) -> tuple[str, str]:
    """Return the parameter that a request is most likely about, and its value."""
    sent = {**call.path_params, **call.params}
    named = [name for name in sent if name == "id" or name.endswith(("_id", "_key"))]
    name = next(reversed(named), None) or next(iter(sent), "id")
    value = sent.get(name, "")
    return name, value if isinstance(value, str) else dumps(value).decode()


def _list_sent(call: Call) -> dict[str, list[str]]:
    name, value = _guess_parameter(call)
    return {name: [value]}


_LIVE: Mapping[str, Callable[[Call], str]] = {
    "parameter": lambda call: _guess_parameter(call)[0],
    "field": lambda call: _guess_parameter(call)[0],
    "value": lambda call: _guess_parameter(call)[1],
    "resource_id": lambda call: _guess_parameter(call)[1],
    "resource_type": lambda _: "user",
    "section": lambda _: "data",
}


def _describe_resource(filled: Mapping[str, Any]) -> tuple[str, str]:
    """Return resource and parameter of a problem, as its detail names them.

    `webhook_id` is the id of a webhook, although resource_type has no such value.
    """
    parameter, kind = filled["parameter"], filled["resource_type"]
    stem, _, end = parameter.rpartition("_")
    if not stem or end not in {"id", "ids", "key", "keys"}:
        return kind, parameter
    if stem in _RESOURCES and stem != kind:
        return kind, parameter
    return stem.replace("_", " "), end


def _write_field_detail(filled: Mapping[str, Any], call: Call) -> str:
    name, value = _guess_parameter(call)
    resource_id = value if value and name.endswith(("id", "ids")) else None
    return not_authorized_to_access(filled["field"], filled["resource_type"], resource_id)


def _write_authentication_detail(_filled: Mapping[str, Any], call: Call) -> str:
    if call.caller.scheme == "oauth1":
        return describe_unsupported_authentication(USER.names[0], BEARER.names)
    return describe_unsupported_authentication()


_LIVE_DETAILS: Mapping[str, Callable[[Mapping[str, Any], Call], str]] = {
    "not-authorized-for-field": _write_field_detail,
    "not-authorized-for-resource": lambda filled, _: not_authorized_to_see(
        *_describe_resource(filled), filled["value"]
    ),
    "resource-not-found": lambda filled, _: could_not_find(
        *_describe_resource(filled), filled["value"]
    ),
    "unsupported-authentication": _write_authentication_detail,
}
"""Details that name what the request is about or signed with."""


def _make_shape(declared: fields.Field[Any]) -> Form:
    """Return the form of an extra field."""
    if isinstance(declared, ListOf):
        return ListForm(_make_object_shape(InvalidRequestItem), most=100)
    for rule in declared.validators:
        if isinstance(rule, validate.OneOf):
            return WordForm(tuple(rule.choices))
        if isinstance(rule, Pattern):
            return WordForm(pattern=str(rule.regex.pattern), meaning=rule.text or "another form")
    least = next((r.min or 0 for r in declared.validators if isinstance(r, validate.Length)), 0)
    return WordForm(least=least)


def _make_object_shape(schema: type[Schema]) -> FieldsForm:
    rows: dict[str, Row] = {
        "message": (WordForm(), "What is wrong."),
        "parameters": (
            EntriesForm(ListForm(WordForm(), least=0), least=0),
            "The values that are wrong, by the name of their parameter.",
        ),
    }
    assert set(rows) == set(schema().fields)
    return make_object(rows, required=tuple(rows))


def _make(value: Mapping[str, Any]) -> ProblemEffect:
    given = {name: item for name, item in value.items() if name != "problem"}
    return ProblemEffect(value["problem"], given)


def _make_form(slug: str, kind: ProblemType) -> FieldsForm:
    rows: dict[str, Row] = {"problem": (StructureForm(WordForm((slug,))), ""), **_COMMON}
    for name, declared in kind.fields.items():
        rows[name] = (_make_shape(declared), "A field of this problem type.", _FROM_REQUEST)
    return make_object(rows, required=("problem",), description=kind.meaning)


KIND = EffectKind(
    "problem",
    _make,
    by_value={slug: _make_form(slug, kind) for slug, kind in PROBLEM_TYPES.items()},
    answers=True,
)
