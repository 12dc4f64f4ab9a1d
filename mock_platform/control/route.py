"""A route of the control plane is a value, and so is a request to it, which views take.

The schemas of a route's query and body check requests and describe them in OpenAPI.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any

from marshmallow import ValidationError
from msgspec import Struct, field

from mock_platform.control.guard import Guesses, Sessions
from mock_platform.control.metrics import Metrics
from mock_platform.control.refusals import ControlRefusal, explain_unknown_names, refuse_values
from mock_platform.core.documents.forms import describe_allowed
from mock_platform.core.errors import BadQuery
from mock_platform.core.faults import flatten
from mock_platform.core.jsonio import BadJson, list_repeated_keys, loads
from mock_platform.core.pairs import decode_pairs, first_values
from mock_platform.core.schema import Schema
from mock_platform.core.tables.state import State
from mock_platform.core.warning_counts import WarningRecorder
from mock_platform.platform import Platform
from mock_platform.verification.costs.recorder import CostRecorder
from mock_platform.verification.coverage.outcomes import Recorder
from mock_platform.world.world import World

if TYPE_CHECKING:
    from flask import Request

    from mock_platform.core.description.schemas import Converter
    from mock_platform.core.description.views import Description

WORLD = "mock_platform.world"
"""Key of the WSGI environ: the world in the path, or `None`."""
ORIGIN = "mock_platform.origin"
"""Key of the WSGI environ: the address that the client called, without world prefix."""
_READ = "mock_platform.read"
"""Key of the WSGI environ: the world that the view has used."""

YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
"""Media types of YAML: the registered one (RFC 9512), and older ones."""

HTML = "text/html"
"""Media type of pages for people, which OpenAPI does not describe."""

WORLD_SIZE = 8
"""Factor: a whole world may be this many times as large as the body of a request."""
_WORLD_NESTING = 8
"""Additional levels of nesting that a whole world has around its records."""


class Nothing(Schema):
    """A query without parameters."""


class Services(Struct, frozen=True):
    """The platform and metrics that views use."""

    platform: Platform
    metrics: Metrics
    description: Description
    coverage: Recorder
    warnings: WarningRecorder
    costs: CostRecorder
    sessions: Sessions
    guesses: Guesses = field(default_factory=Guesses)


JsonObject = dict[str, Any]
View = Callable[["ControlRequest"], Any]


class Route(Struct, frozen=True):
    """One route. `path` is in Flask's notation; the data that the view returns becomes JSON."""

    method: str
    path: str
    """The path below `/_mock`, in Flask's notation."""
    view: View
    query: type[Schema] = Nothing
    body: type[Schema] | None = Nothing
    """Schema of a JSON object; `None` if the view takes any JSON."""
    body_form: Callable[[Platform, Converter], JsonObject] | None = None
    """The description of a body that no schema checks."""
    name_pattern: str | None = None
    """Pattern of `name` in the path, if the route can create one."""
    returns: type[Schema] | None = None
    status: int = 200
    media_type: str = "application/json"
    also: tuple[str, ...] = ()
    """Other media types of the same answer, for clients that ask for them."""
    whole_world: bool = False
    """Whether it takes a whole world, which is larger and more nested than other requests."""
    yaml: bool = False
    """Whether its body may also be YAML; the view gets YAML as bytes."""
    form: bool = False
    """Whether it takes a form of the console instead of JSON."""
    raw: bool = False
    """Whether the view gets the body as bytes, whatever it is."""

    @property
    def id(self) -> str:
        """The module and name of the view."""
        return f"{self.view.__module__.rpartition('.')[2]}.{self.view.__name__}"

    @property
    def summary(self) -> str:
        """The first line of the view's docstring."""
        return (self.view.__doc__ or "").partition("\n")[0]

    @property
    def rule(self) -> str:
        """The whole path, with `/_mock`."""
        return f"/_mock{self.path}"


class ControlRequest(Struct, frozen=True):
    """One request: decoded and checked, with everything that views need."""

    services: Services
    flask: Request
    args: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any

    @property
    def platform(self) -> Platform:
        """The platform that the control plane controls."""
        return self.services.platform

    @property
    def world(self) -> World:
        """Return the world of the request: by path prefix, by header, or the default one.

        Raises:
            UnknownWorld: The named world does not exist.
        """
        name = self.flask.environ.get(WORLD)
        if name is None:
            name = self.flask.headers.get("X-Mock-World")
        worlds = self.platform.worlds
        self.flask.environ.pop(_READ, None)
        found = worlds.default if name is None else worlds.get(name)
        self.flask.environ[_READ] = found
        return found

    @property
    def read_world(self) -> World | None:
        """The world of the request, if the view has used it."""
        return self.flask.environ.get(_READ)

    @property
    def named_world(self) -> str | None:
        """The name of the world in the request, whether or not it exists; `None` without one."""
        return self.flask.environ.get(WORLD) or self.flask.headers.get("X-Mock-World")

    def find_counted_world(self, counted: Container[str]) -> str | None:
        """Return the name of the world in the request; a removed world may still be `counted`.

        Raises:
            UnknownWorld: The world does not exist and is not counted.
        """
        name = self.named_world
        return name if name is None or name in counted else self.world.name

    @property
    def state(self) -> State:
        """The records of the world."""
        return State(self.world, self.platform.tables)

    @property
    def origin(self) -> str:
        """The address that the client called, without world prefix."""
        origin: str | None = self.flask.environ.get(ORIGIN)
        return origin if origin is not None else self.flask.host_url.rstrip("/")

    @property
    def base_url(self) -> str:
        """The address that the client called, with the world prefix if it was used."""
        name = self.flask.environ.get(WORLD)
        return self.origin if name is None else f"{self.origin}/~{name}"


def query_of(route: Route, flask: Request) -> Mapping[str, Any]:
    """Return the checked query.

    Raises:
        BadQuery: The query has faults.
    """
    # Flask's own parsing of the query fails for bytes that are not UTF-8.
    sent, repeated = first_values(decode_pairs(flask.query_string.decode("utf-8", "replace")))
    if repeated and route.media_type != HTML:
        raise BadQuery((name, f"{name!r} occurs more than once") for name in repeated)
    return load_query(route.query(), sent)


def load_query(schema: Schema, sent: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a checked query as text by name; empty values count as absent.

    Raises:
        BadQuery: The query has faults.
    """
    try:
        loaded: Mapping[str, Any] = schema.load(
            {name: value for name, value in sent.items() if value != ""}
        )
    except ValidationError as fault:
        known = {field.data_key or name: field for name, field in schema.fields.items()}
        raise BadQuery(explain_unknown_names(flatten(fault.messages), known)) from fault
    return loaded


def body_of(route: Route, flask: Request, platform: Platform) -> Any:
    """Return the checked body; if a schema is declared, an empty body counts as an empty object.

    Raises:
        Refusal: 400, 413 or 415 for a body that cannot be read or is not taken, 422 with every
            fault.
    """
    if route.form:
        return None
    settings = platform.settings
    limit = settings.max_body * (WORLD_SIZE if route.whole_world else 1)
    nesting = settings.max_nesting + (_WORLD_NESTING if route.whole_world else 0)
    if route.method not in {"POST", "PUT", "PATCH"}:
        if flask.content_length or "Transfer-Encoding" in flask.headers:
            _check_nothing(route, _read(flask, limit))
        return None
    data = _read(flask, limit)
    if route.raw:
        return data
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
            raise ControlRefusal(415, text)
        try:
            sent = loads(data, max_nesting=nesting)
        except BadJson as fault:
            raise ControlRefusal(400, f"The body is {fault}.") from fault
        repeated = [
            (key, f"{key!r} occurs more than once") for key in list_repeated_keys(data, sent)
        ]
        if repeated:
            raise refuse_values(422, repeated, "The body cannot be used")
    return sent if route.body is None else load_body(route.body(), sent)


def _read(flask: Request, limit: int) -> bytes:
    """Return the bytes of a body.

    Raises:
        Refusal: 413; it has more than `limit` bytes.
    """
    from werkzeug.exceptions import RequestEntityTooLarge

    # One byte more than allowed: a chunked body has no length at its start.
    flask.max_content_length = limit + 1
    try:
        data = flask.get_data(cache=False)
    except RequestEntityTooLarge as fault:
        raise ControlRefusal(413, f"The body may have at most {limit:,} bytes.") from fault
    if len(data) > limit:
        raise ControlRefusal(413, f"The body may have at most {limit:,} bytes.")
    return data


def _check_nothing(route: Route, data: bytes) -> None:
    """Check that a body which nothing would read is empty, or an empty object.

    Raises:
        Refusal: 400; what it asks for would not be done.
    """
    if data.strip() not in {b"", b"{}"}:
        names = [field.data_key or name for name, field in route.query().fields.items()]
        text = f"{route.method} takes no body here."
        if names:
            text += f" Parameters belong in the address.{describe_allowed(names, '')}"
        raise ControlRefusal(400, text)


def load_body(schema: Schema, sent: Any, what: str = "The body") -> Mapping[str, Any]:
    """Return a checked JSON body; `what` is what refusals call it.

    Raises:
        Refusal: 422 with every fault.
    """
    if not isinstance(sent, dict):
        raise refuse_values(422, [("", "the body must be a JSON object")], f"{what} cannot be used")
    try:
        loaded: Mapping[str, Any] = schema.load(sent)
    except ValidationError as fault:
        known = {field.data_key or name: field for name, field in schema.fields.items()}
        faults = explain_unknown_names(flatten(fault.messages), known)
        raise refuse_values(422, faults, f"{what} cannot be used") from fault
    return loaded


def object_of(body: Any, what: str) -> dict[str, Any]:
    """Return a body for which no schema is declared; it must be an object.

    Raises:
        Refusal: 422; it is not an object.
    """
    if not isinstance(body, dict):
        raise ControlRefusal(422, f"{what} must be a JSON object, got {type(body).__name__}.")
    return body
