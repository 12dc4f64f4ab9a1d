"""The OpenAPI description of everything that is served: all operations and the control plane."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marshmallow import INCLUDE

from mock_platform.api.served import ORIGINAL_NAMES, SPEC_SENTENCES
from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.control.refusals import MEDIA_TYPE
from mock_platform.control.route import HTML, YAML, Nothing, Route
from mock_platform.core.description.openapi import describe
from mock_platform.core.description.schemas import Converter
from mock_platform.core.description.views import Description
from mock_platform.core.fields import Anything, Integer, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.version import __version__

if TYPE_CHECKING:
    from apispec import APISpec

_VARYING = re.compile(r"<(?:path:)?(\w+)>")
_TEXT = (
    "Everything that this sandbox serves. Advertising operations are also served "
    "under `/sandbox`; some of them only there. Put `/~NAME` in front of any path to "
    "act on the world NAME. `x-mock-spec` is the heading of the specification for an "
    "operation, `x-mock-assumptions` lists what the specification does not show. "
    "Operations with the tag `control` belong to the sandbox itself."
)


class RefusalFault(Schema):
    """One fault in a body or a query."""

    field = Text(required=True)
    message = Text(required=True)
    table = Text(metadata={"description": "the table of a record with faults"})
    record = Anything(metadata={"description": "key or index of the record"})
    position = Integer(
        allow_none=True, metadata={"description": "place of a fault in a stream rule"}
    )


class RefusalMistake(Schema):
    """A mistake with a name: the exception that Python raises for it, and its values."""

    class Meta:
        """The values of an exception depend on its kind."""

        unknown = INCLUDE

    kind = Text(required=True)
    message = Text(required=True)


class ControlProblem(Schema):
    """A refusal of the control plane; `detail` says what to do instead."""

    type = Text(required=True)
    title = Text(required=True)
    status = Integer(required=True)
    detail = Text(required=True)
    faults = ListOf(Nested(RefusalFault))
    nearest = ListOf(Text())
    mistake = Nested(RefusalMistake)


def describe_all(platform: Platform, routes: Sequence[Route]) -> Description:
    """Return the description of a platform and of these routes of its control plane."""

    def extend(spec: APISpec, converter: Converter) -> None:
        spec.tag({"name": "control", "description": "The control plane."})
        security = _security(spec, platform)
        for route in routes:
            if route.media_type != HTML:
                _add_route(spec, converter, route, security, platform)

    def make() -> dict[str, Any]:
        return describe(
            platform.operations,
            platform.settings,
            title="mock_platform",
            version=__version__,
            text=_TEXT,
            original_names=ORIGINAL_NAMES,
            spec_sentences=SPEC_SENTENCES,
            sandbox=True,
            extend=extend,
        )

    return Description(make, platform.write_original)


_TEXTUAL = {"type": "string"}


def _security(spec: APISpec, platform: Platform) -> list[dict[str, list[str]]]:
    if platform.settings.control_token is None:
        return []
    spec.components.security_scheme(
        "control", {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}
    )
    return [{"control": []}]


_CLOSED: Mapping[str, Callable[[Platform], Iterable[str]]] = {
    "table": lambda platform: platform.tables,
    "kind": lambda platform: (kind.name for kind in platform.worlds.blueprint.kinds),
    "operation": lambda platform: (operation.id for operation in platform.operations),
}
"""Values of path and query parameters that allow only some values."""


def _list_allowed_values(name: str, platform: Platform) -> dict[str, Any]:
    return {"enum": sorted(_CLOSED[name](platform))} if name in _CLOSED else {}


def _path_parameters(route: Route, platform: Platform) -> Iterable[dict[str, Any]]:
    for name in _VARYING.findall(route.rule):
        schema = _TEXTUAL | _list_allowed_values(name, platform)
        if name == "name" and route.name_pattern is not None:
            schema["pattern"] = f"^{route.name_pattern}$"
        yield {"in": "path", "name": name, "required": True, "schema": schema}


def _query_parameters(
    route: Route, converter: Converter, platform: Platform
) -> Iterable[dict[str, Any]]:
    for parameter in converter.parameters(route.query()):
        # A parameter that lists its values itself may have the name of one in a path.
        schema = _list_allowed_values(parameter["name"], platform) | parameter["schema"]
        yield parameter | {"schema": schema}


def _describe_body(route: Route, converter: Converter, platform: Platform) -> dict[str, Any]:
    if route.body_form is not None:
        schema, required = route.body_form(platform, converter), True
    else:
        assert route.body is not None
        required = any(field.required for field in route.body().fields.values())
        schema = converter.reference(route.body)
    content = {"application/json": {"schema": schema}}
    if route.yaml:
        content[YAML[0]] = {"schema": schema}
    return {"required": required, "content": content}


_OBJECTS = frozenset({"application/json", "text/event-stream"})


def _add_route(
    spec: APISpec,
    converter: Converter,
    route: Route,
    security: list[dict[str, list[str]]],
    platform: Platform,
) -> None:
    success: dict[str, Any] = {"description": route.summary}
    if route.status != 204:
        schema = {} if route.returns is None else converter.reference(route.returns)
        success["content"] = {
            media_type: {"schema": schema if media_type in _OBJECTS else _TEXTUAL}
            for media_type in (route.media_type, *route.also)
        }
    problem: dict[str, Any] = {
        "description": "The request was refused; `detail` says what to do.",
        "content": {MEDIA_TYPE: {"schema": converter.reference(ControlProblem)}},
    }
    if route.raw:  # it refuses in the form of its own protocol as well
        problem["content"]["application/json"] = {"schema": {}}
    entry: dict[str, Any] = {
        "operationId": f"control.{route.id}",
        "summary": route.summary,
        "tags": ["control"],
        "responses": {str(route.status): success, "default": problem},
        "parameters": [
            *_path_parameters(route, platform),
            *_query_parameters(route, converter, platform),
        ],
    }
    if security:
        entry["security"] = security
    if route.method in {"POST", "PUT", "PATCH"} and route.body is not Nothing:
        entry["requestBody"] = _describe_body(route, converter, platform)
    spec.path(_VARYING.sub(r"{\1}", route.rule), operations={route.method.lower(): entry})
