"""The description of everything that is served: all operations, and the control plane's routes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marshmallow import INCLUDE, Schema

from mock_platform.control.refusal import MEDIA_TYPE
from mock_platform.control.route import YAML, Nothing, Route
from mock_platform.core.description.openapi import Description, describe
from mock_platform.core.description.schemas import Converter
from mock_platform.core.fields import Anything, Integer, ListOf, Nested, Text
from mock_platform.platform import Platform
from mock_platform.version import __version__

if TYPE_CHECKING:
    from apispec import APISpec

_VARYING = re.compile(r"<(?:path:)?(\w+)>")
_TEXT = (
    "Everything that this sandbox serves. Advertising operations are served under `/sandbox` as "
    "well; some exist there alone. Each address may be prefixed with "
    "`/~NAME` to act on the world NAME. `x-mock-spec` names the heading of the specification that "
    "an operation rests on, `x-mock-assumptions` what the specification does not show. Operations "
    "tagged `control` are the sandbox's own."
)


class RefusalFault(Schema):
    """One fault of a body or a query."""

    field = Text(required=True)
    message = Text(required=True)
    table = Text(metadata={"description": "where records are at fault: their table"})
    record = Anything(metadata={"description": "key or index of the record"})


class RefusalMistake(Schema):
    """A mistake that has a name: the exception that Python raises for it, and what that holds."""

    class Meta:
        """What an exception holds beside its message depends on its kind."""

        unknown = INCLUDE

    kind = Text(required=True)
    message = Text(required=True)


class ControlProblem(Schema):
    """How the control plane says no; `detail` tells what to do instead."""

    type = Text(required=True)
    title = Text(required=True)
    status = Integer(required=True)
    detail = Text(required=True)
    faults = ListOf(Nested(RefusalFault))
    nearest = ListOf(Text())
    mistake = Nested(RefusalMistake)


def everything(platform: Platform, routes: Sequence[Route]) -> Description:
    """The description of a platform and these routes of its control plane."""

    def extend(spec: APISpec, converter: Converter) -> None:
        spec.tag({"name": "control", "description": "The control plane."})
        security = _security(spec, platform)
        for route in routes:
            if route.media_type != "text/html":
                _add(spec, converter, route, security, platform)

    def make() -> dict[str, Any]:
        return describe(
            platform.operations,
            platform.settings,
            title="mock_platform",
            version=__version__,
            text=_TEXT,
            sandbox=True,
            extend=extend,
        )

    return Description(make)


_TEXTUAL = {"type": "string"}


def _security(spec: APISpec, platform: Platform) -> list[dict[str, list[str]]]:
    if platform.settings.control_token is None:
        return []
    spec.components.security_scheme(
        "control", {"type": "apiKey", "in": "header", "name": "X-Mock-Control-Token"}
    )
    return [{"control": []}]


_CLOSED: Mapping[str, Callable[[Platform], Iterable[str]]] = {
    "table": lambda platform: platform.tables,
    "kind": lambda platform: platform.worlds.default.transitions.kinds,
    "operation": lambda platform: (operation.id for operation in platform.operations),
}
"""Names, of paths and queries, that only some values have."""


def _closed(name: str, platform: Platform) -> dict[str, Any]:
    return {"enum": sorted(_CLOSED[name](platform))} if name in _CLOSED else {}


def _in_path(route: Route, platform: Platform) -> Iterable[dict[str, Any]]:
    for name in _VARYING.findall(route.rule):
        schema = _TEXTUAL | _closed(name, platform)
        if name == "name" and route.name_pattern is not None:
            schema["pattern"] = f"^{route.name_pattern}$"
        yield {"in": "path", "name": name, "required": True, "schema": schema}


def _in_query(route: Route, converter: Converter, platform: Platform) -> Iterable[dict[str, Any]]:
    for parameter in converter.parameters(route.query()):
        schema = parameter["schema"] | _closed(parameter["name"], platform)
        yield parameter | {"schema": schema}


def _body(route: Route, converter: Converter, platform: Platform) -> dict[str, Any]:
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


def _add(
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
            media_type: {"schema": schema if media_type == "application/json" else _TEXTUAL}
            for media_type in (route.media_type, *route.also)
        }
    problem = {
        "description": "The request was refused; `detail` tells what to do.",
        "content": {MEDIA_TYPE: {"schema": converter.reference(ControlProblem)}},
    }
    entry: dict[str, Any] = {
        "operationId": f"control.{route.id}",
        "summary": route.summary,
        "tags": ["control"],
        "responses": {str(route.status): success, "default": problem},
        "parameters": [*_in_path(route, platform), *_in_query(route, converter, platform)],
    }
    if security:
        entry["security"] = security
    if route.method in {"POST", "PUT", "PATCH"} and route.body is not Nothing:
        entry["requestBody"] = _body(route, converter, platform)
    spec.path(_VARYING.sub(r"{\1}", route.rule), operations={route.method.lower(): entry})
