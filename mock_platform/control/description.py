"""The description of everything that is served: all operations, and the control plane's routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from marshmallow import Schema

from mock_platform.control.refusal import MEDIA_TYPE
from mock_platform.control.route import Nothing, Route
from mock_platform.core.fields import Anything, Integer, ListOf, Nested, Text
from mock_platform.core.openapi import Description, describe
from mock_platform.core.openapi_schemas import Converter
from mock_platform.platform import Platform
from mock_platform.version import __version__

if TYPE_CHECKING:
    from apispec import APISpec

_VARYING = re.compile(r"<(?:path:)?(\w+)>")
_TEXT = (
    "Everything that this sandbox serves. Advertising operations are served under `/sandbox` as "
    "well; those that exist there alone are listed under it. Each address may be prefixed with "
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
                _add(spec, converter, route, security)

    def make() -> dict[str, Any]:
        return describe(
            platform.operations,
            platform.settings,
            title="mock_platform",
            version=__version__,
            text=_TEXT,
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


def _add(
    spec: APISpec, converter: Converter, route: Route, security: list[dict[str, list[str]]]
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
        "parameters": [
            {"in": "path", "name": name, "required": True, "schema": {"type": "string"}}
            for name in _VARYING.findall(route.rule)
        ]
        + converter.parameters(route.query()),
    }
    if security:
        entry["security"] = security
    if route.method in {"POST", "PUT", "PATCH"} and route.body is not Nothing:
        body = {"type": "object"} if route.body is None else converter.reference(route.body)
        entry["requestBody"] = {
            "required": route.body is None,
            "content": {"application/json": {"schema": body}},
        }
    spec.path(_VARYING.sub(r"{\1}", route.rule), operations={route.method.lower(): entry})
