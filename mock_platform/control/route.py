"""A route of the control plane is a value, and so is a request to one; views take the latter.

The schemas of a route's query and body check what comes in and describe it in OpenAPI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Request
from marshmallow import Schema, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from mock_platform.control.metrics import Metrics
from mock_platform.control.refusal import BadQuery, Refusal, faulty, unknown_names
from mock_platform.core.call import decode_pairs, first_values
from mock_platform.core.description.openapi import Description
from mock_platform.core.description.schemas import Converter
from mock_platform.core.fields import flatten
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.coverage import Recorder
from mock_platform.platform import Platform
from mock_platform.records.state import State
from mock_platform.world.world import World

WORLD = "mock_platform.world"
"""Key of the WSGI environ: the world that the path named, or `None`."""
ORIGIN = "mock_platform.origin"
"""Key of the WSGI environ: the address that the client called, without world prefix."""

YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
"""Media types of YAML: the registered one (RFC 9512), and those that came before it."""

WORLD_SIZE = 8
"""A whole world may be this many times as large as the body of a request."""
_WORLD_NESTING = 8
"""Levels that a whole world may have around its records."""


class Nothing(Schema):
    """No parameters at all."""


@dataclass(frozen=True, slots=True)
class Services:
    """What views work on."""

    platform: Platform
    metrics: Metrics
    description: Description
    coverage: Recorder


JsonObject = dict[str, Any]
View = Callable[["ControlRequest"], Any]


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `path` is in Flask's notation; the view's data becomes JSON with `status`."""

    method: str
    path: str
    """Below `/_mock`."""
    view: View
    query: type[Schema] = Nothing
    body: type[Schema] | None = Nothing
    """Schema of a JSON object, or `None` for whatever JSON the view takes."""
    body_form: Callable[[Platform, Converter], JsonObject] | None = None
    """What the description says of a body that no schema checks."""
    name_pattern: str | None = None
    """The form of `name` in the path, where one is made under it."""
    returns: type[Schema] | None = None
    status: int = 200
    media_type: str = "application/json"
    also: tuple[str, ...] = ()
    """Media types of the same thing in other forms, for those who ask for them."""
    whole_world: bool = False
    """Whether it takes a whole world, which is larger and nested deeper than a request."""
    yaml: bool = False
    """Whether its body may be YAML as well, which the view gets as it came, as bytes."""
    form: bool = False
    """Whether it takes a form of the console's own pages instead of JSON."""

    @property
    def id(self) -> str:
        """The view's module and name."""
        return f"{self.view.__module__.rpartition('.')[2]}.{self.view.__name__}"

    @property
    def summary(self) -> str:
        """The first line of the view's docstring."""
        return (self.view.__doc__ or "").partition("\n")[0]

    @property
    def rule(self) -> str:
        """The whole path."""
        return f"/_mock{self.path}"


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """One request: what views need of it, decoded and checked."""

    services: Services
    flask: Request
    args: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any

    @property
    def platform(self) -> Platform:
        """The platform under control."""
        return self.services.platform

    @property
    def world(self) -> World:
        """The world that the request is about: by path prefix, by header, or the default one.

        Raises:
            UnknownWorld: It names one that does not exist.
        """
        name = self.flask.environ.get(WORLD)
        if name is None:
            name = self.flask.headers.get("X-Mock-World")
        worlds = self.platform.worlds
        return worlds.default if name is None else worlds.get(name)

    @property
    def state(self) -> State:
        """The world's records."""
        return State(self.world, self.platform.tables)

    @property
    def origin(self) -> str:
        """The address that the client called, without world prefix."""
        origin: str | None = self.flask.environ.get(ORIGIN)
        return origin if origin is not None else self.flask.host_url.rstrip("/")

    @property
    def base_url(self) -> str:
        """The address that the client called, with the world prefix where it was used."""
        name = self.flask.environ.get(WORLD)
        return self.origin if name is None else f"{self.origin}/~{name}"


def query_of(route: Route, flask: Request) -> Mapping[str, Any]:
    """The query, checked.

    Raises:
        BadQuery: It has faults.
    """
    # Flask's own reading of the query fails at bytes that are not UTF-8.
    sent, _ = first_values(decode_pairs(flask.query_string.decode("utf-8", "replace")))
    return load_query(route.query(), sent)


def load_query(schema: Schema, sent: Mapping[str, str]) -> Mapping[str, Any]:
    """A query as text by name, checked; empty values count as absent.

    Raises:
        BadQuery: It has faults.
    """
    try:
        loaded: Mapping[str, Any] = schema.load(
            {name: value for name, value in sent.items() if value != ""}
        )
    except ValidationError as fault:
        raise BadQuery(unknown_names(flatten(fault.messages), schema.fields)) from fault
    return loaded


def body_of(route: Route, flask: Request, platform: Platform) -> Any:
    """The body, checked; where a schema is declared, an empty one counts as an empty object.

    Raises:
        Refusal: 400, 413 or 415 for a body that cannot be read, 422 with every fault.
    """
    if route.method not in {"POST", "PUT", "PATCH"} or route.form:
        return None
    settings = platform.settings
    limit = settings.max_body * (WORLD_SIZE if route.whole_world else 1)
    nesting = settings.max_nesting + (_WORLD_NESTING if route.whole_world else 0)
    # One byte more than may be there: a chunked body says its length only at its end.
    flask.max_content_length = limit + 1
    try:
        data = flask.get_data(cache=False)
    except RequestEntityTooLarge as fault:
        raise Refusal(413, f"The body may have at most {limit:,} bytes.") from fault
    if len(data) > limit:
        raise Refusal(413, f"The body may have at most {limit:,} bytes.")
    if not data and route.body is not None:
        sent: Any = {}
    else:
        if route.yaml and flask.mimetype in YAML:
            return data
        if not flask.is_json:
            shown = flask.mimetype or "none"
            other = f" (or YAML with {YAML[0]})" if route.yaml else ""
            text = (
                "This request needs a JSON body with Content-Type application/json"
                f"{other}; got {shown}."
            )
            raise Refusal(415, text)
        try:
            sent = loads(data, max_nesting=nesting)
        except BadJson as fault:
            raise Refusal(400, f"The body is {fault}.") from fault
    return sent if route.body is None else load_body(route.body(), sent)


def load_body(schema: Schema, sent: Any) -> Mapping[str, Any]:
    """A JSON body, checked.

    Raises:
        Refusal: 422 with every fault.
    """
    if not isinstance(sent, dict):
        raise faulty(422, [("", "the body must be a JSON object")], "The body cannot be used")
    try:
        loaded: Mapping[str, Any] = schema.load(sent)
    except ValidationError as fault:
        known = {field.data_key or name: field for name, field in schema.fields.items()}
        faults = unknown_names(flatten(fault.messages), known)
        raise faulty(422, faults, "The body cannot be used") from fault
    return loaded


def object_of(body: Any, what: str) -> dict[str, Any]:
    """A body for which no schema is declared, if it is an object.

    Raises:
        Refusal: 422; it is something else.
    """
    if not isinstance(body, dict):
        raise Refusal(422, f"{what} is a JSON object, got {type(body).__name__}.")
    return body
