"""An operation is a value: everything about one documented endpoint, declared once.

Routing, validation, OpenAPI, scenario ids, journal labels, coverage and the command line read it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache, partial
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable

from marshmallow import Schema
from msgspec import Struct, field

from mock_platform.core.assumptions import Assumption
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call, Challenge, Reply
from mock_platform.core.envelope import Returns
from mock_platform.core.failures.errors import Failure
from mock_platform.settings import Settings
from mock_platform.world.world import World

# The example request: values with which the default fixtures answer it.

MINUTE = "$minute"
"""Placeholder for the current minute in UTC, yyyymmddhhmm."""
PUBLISHED_CLIENT_ID = "{client_id}"
PUBLISHED_CALLBACK = "{callback}"
PUBLISHED_BEARER_TOKEN = "{bearer_token}"
PUBLISHED_USER_TOKEN = "{oauth2_access_token}"
"""In the place of these an example has values of the published credentials."""
NEW_REQUEST_TOKEN, NEW_VERIFIER, NEW_CODE = (
    f"{name}-made-when-this-is-sent" for name in ("request_token", "verifier", "code")
)
"""In the place of these the interactive documentation gets values with requests of its own."""


class Example(Struct, frozen=True):
    """What an example request has beside what follows from the declaration and the fixtures.

    Example:
        >>> example = Example(path={"card_id": "57i8b"}, query={"name": "Roast"})
        >>> example.json is None, example.is_refused
        (True, False)
    """

    path: Mapping[str, str] = field(default_factory=dict)
    """Values of path parameters, where the first fitting record of the fixtures does not do."""
    query: Mapping[str, str] | None = None
    """Without it, the required parameters are there with values that their fields take."""
    json: Any = None
    form: Mapping[str, str] | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    """Further values of the query, on which scenarios of the package depend."""
    authorization: str = ""
    """The header, if it is not that of the published credentials."""
    is_refused: bool = False
    """Whether a fresh world refuses it: it needs a step before, a page on which a user clicks, a
    receiver, or a record that the default fixtures do not have.
    """
    before: tuple[str, str] | None = None
    """Method and path of a request that the interactive documentation sends first."""
    page_values: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are others in the interactive documentation."""


# The dialects: families of paths, each of which renders its failures in its own way.

Dialect = Literal["v2", "oauth", "ads"]


def dialect_of(path: str) -> Dialect:
    """Return the dialect of a path, whether an operation has it or not."""
    first = path.lstrip("/").partition("/")[0]
    if first == "2":
        return "v2"
    return "ads" if first.isdecimal() else "oauth"


Handler = Callable[[Call, World], Any]
Gate = Callable[[Call, World], None]
"""Raises a failure if the caller may not use the operation: early access, allowlist, feature."""
Rules = Callable[[Mapping[str, Any], Call, World, Settings], Iterable[tuple[str, str]]]
"""Checks valid parameters further; returns pairs of name and fault."""


@runtime_checkable
class PathRules(Protocol):
    """Rules that tell the patterns of those parameters of the path that they check."""

    @property
    def path_patterns(self) -> Mapping[str, re.Pattern[str]]:
        """The pattern of each, which matches the whole of it."""


class Location(Enum):
    """The place of an operation's parameters."""

    QUERY = "query"
    """In the query; writes also accept a form body."""
    JSON = "json"
    UPLOAD = "upload"
    """In a JSON body, a multipart form or a form; the query is read as well."""
    TEXT = "text"
    """None; the body is plain text, which the handler reads itself."""
    FORM = "form"
    """In a form body alone: secrets do not belong into an address."""
    OAUTH = "oauth"
    """In the Authorization header, the query or a form body; equal values may be in two of them."""


class Origin(Enum):
    """The source of an operation."""

    DOCUMENT_A = "A"
    DOCUMENT_B = "B"
    NAMED = "named"
    """Only named in document A or B; its form is a public fact."""
    ADJACENT = "adjacent"
    """Not even named, but called by every advertising client around the documented operations."""
    PUBLIC_FACT = "public fact"
    EXPECTATION = "expectation"
    """Shown nowhere, but other operations need it: the forms of the pages."""


class Limit(Struct, frozen=True):
    """A rate window: `count` requests in `seconds`, counted for each `per`.

    `when` restricts it to some calls. `source` says which values of `--limits` enforce it.
    """

    name: str
    count: int
    seconds: int
    per: Literal["user", "app", "account"] = "user"
    source: Literal["spec", "public"] = "spec"
    when: Callable[[Call], bool] | None = None
    category: str | None = None
    """Operations of one category share a window; without a category, each has its own."""
    assumptions: tuple[Assumption, ...] = ()
    refusal: Callable[[], Failure] | None = None
    """The failure beyond the limit, if it is not the usual one."""


class Echo(Struct, frozen=True):
    """The parameters that `request.params` echoes; a refusal echoes them in the same way.

    Path parameters are echoed unless they are `hidden`, and with `sent` also the parameters that
    were sent and could be read. `names` maps parameters to other names in the echo, `numbers` are
    path parameters echoed as numbers; `constants` are echoed although clients do not send them.
    """

    sent: bool = True
    names: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    """Path parameters that are not echoed."""

    def echo_path(self, path_params: Mapping[str, str]) -> dict[str, Any]:
        """Return the echo of a request of which only the path was read."""
        # Most operations echo the path as it is; the others rename, convert or leave out.
        if not (self.names or self.numbers or self.constants or self.hidden):
            return dict(path_params)
        echo: dict[str, Any] = dict(self.constants)
        for name, value in path_params.items():
            if name in self.hidden:
                continue
            number = name in self.numbers and _NUMBER.fullmatch(value) is not None
            echo[self.names.get(name, name)] = int(value) if number else value
        return echo

    def add(self, echo: dict[str, Any], sent: Mapping[str, Any]) -> None:
        """Add sent parameters to the echo; of two with one name, the first is used."""
        if not self.names:
            echo.update(sent)
            return
        renamed: dict[str, Any] = {}
        for name, value in sent.items():
            renamed.setdefault(self.names.get(name, name), value)
        echo.update(renamed)


_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)


class Dated(Struct, frozen=True):
    """A change of an operation at a moment of the release history.

    `rule` is one of those by which contracts are compared; `place`, `old` and `new` are as there.
    """

    at: datetime
    rule: str
    place: str = ""
    old: str = ""
    new: str = ""


class Price(Struct, frozen=True):
    """The class under which the price list has an operation, and what of an answer it counts."""

    name: str
    of: str = ""
    """The kind of the resources in `data`, such as `post`; empty if each request costs the same."""
    may_be_owned: bool = False
    """Whether owners of an app pay less for what is their own."""


class Operation(Struct, frozen=True, eq=False):
    """One operation. `path` is in the spec's notation, with `:name` for parameters.

    Example:
        >>> from mock_platform.core.auth.authenticate import BEARER
        >>> from mock_platform.core.envelope import Flat
        >>> from mock_platform.core.schema import Schema
        >>> operation = Operation(
        ...     "lists.get", "GET", "/2/lists/:id", lambda call, world: {"data": {}},
        ...     "Read one list", "A, Lists", Flat(Schema), BEARER,
        ... )
        >>> operation.dialect, operation.path_names, operation.auth.schemes
        ('v2', ('id',), ('bearer',))
    """

    id: str
    method: str
    path: str
    handler: Handler
    summary: str
    spec: str
    returns: Returns
    auth: Auth
    params: type[Schema] | None = None
    path_form: type[Schema] | None = None
    """The schemas of those path parameters that do not accept any text."""
    location: Location = Location.QUERY
    in_query: tuple[str, ...] = ()
    """Those parameters of an operation with a JSON body that are in the query; the body may then be
    missing.
    """
    configure: Callable[[Settings], Handler] | None = None
    """Return the handler under these settings, if they change what it does."""
    rules: Rules | None = None
    """Further checks of the parameters; their faults are reported together with all others."""
    origin: Origin = Origin.DOCUMENT_A
    sandbox_only: bool = False
    gates: tuple[Gate, ...] = ()
    tier_gate: Gate | None = None
    """Refuses apps of lower tiers; it is called where the setting `tiers` is on."""
    limits: tuple[Limit, ...] = ()
    set_limits: Callable[[Settings], Sequence[Limit]] | None = None
    """Limits whose numbers are separate settings, whatever `--limits` says."""
    errors: tuple[str, ...] = ()
    """Slugs, numeric codes or names of the failures that the operation itself may raise."""
    statuses: tuple[int, ...] = ()
    """The statuses of those failures, for the description."""
    assumptions: tuple[Assumption, ...] = ()
    """The assumptions of every successful answer."""
    may_assume: tuple[Assumption, ...] = ()
    """The assumptions of some answers; those answers name them."""
    deprecated: bool = False
    oauth_step: bool = False
    """Whether document A requires https for it ("Authentication", rule 1)."""
    echo: Echo = Echo()
    max_body: int | None = None
    read_body: Callable[[Call, Any], dict[str, Any]] | None = None
    """Reads a JSON body without its schema, because a very large one would be too slow; `params`
    still describes it. Returns the parameters or raises a failure.
    """
    also: tuple[str, ...] = ()
    """Other spellings of the path."""
    since: datetime | None = None
    """When the release history says that it took effect; before, the path does not exist."""
    dated: tuple[Dated, ...] = ()
    """What else the release history changes of it; its parameters may have more of them."""
    challenge: Callable[[Call, World, Settings], Challenge] | None = None
    """The challenge to make, outside the world's lock, between the checks and the handler."""
    dress: Callable[[Call, Failure, Reply], Reply] | None = None
    """Converts a failure's reply into a page, for operations that people call."""
    example: Example = Example()
    """What its example request has; a test sends all examples."""
    declared_at: tuple[str, int] | None = None
    """File and line of the declaration, if the handler is defined elsewhere."""
    price: Price | None = None
    """What a call costs there; `None` if the public price list does not say."""

    @property
    def dialect(self) -> Dialect:
        """The family of its path."""
        return _find_dialect(self.path)

    @property
    def path_names(self) -> tuple[str, ...]:
        """The names of the path parameters, in order."""
        return tuple(re.findall(r":([a-z_]+)", self.path))

    @property
    def documented(self) -> bool:
        """Whether document A or B describes it (72 operations)."""
        return self.origin in {Origin.DOCUMENT_A, Origin.DOCUMENT_B}

    @property
    def all_assumptions(self) -> tuple[Assumption, ...]:
        """All assumptions of its answers, except for failures."""
        limits = [assumption for limit in self.limits for assumption in limit.assumptions]
        return (*self.assumptions, *self.may_assume, *self.auth.assumptions, *limits)

    @property
    def history(self) -> tuple[Dated, ...]:
        """All that the release history changes of it, its beginning included."""
        begins: tuple[Dated, ...] = ()
        if self.since is not None:
            begins = (Dated(self.since, "operation-added", new=f"{self.method} {self.path}"),)
        return (*begins, *self.dated, *getattr(self.params, "dated", ()))

    def exists_at(self, moment: datetime) -> bool:
        """Whether it is there at a moment of the release history: it began, and has not ended."""
        added, removed = (
            [each.at <= moment for each in self.history if each.rule == rule]
            for rule in ("operation-added", "operation-removed")
        )
        return all(added) and not any(removed)

    def where(self) -> tuple[str, int]:
        """Return source file and line of the handler, or of the declaration that has it."""
        if self.declared_at is not None:
            return self.declared_at
        # Handlers may be wrapped, or made by `partial`; whoever asks where an operation is wants
        # the function that somebody wrote.
        code = inspect.unwrap(self.handler)
        while isinstance(code, partial):
            code = code.func
        return inspect.getsourcefile(code) or "", inspect.getsourcelines(code)[1]

    def as_json(self) -> dict[str, Any]:
        """Return the operation in the form of `GET /_mock/operations`."""
        file, line = self.where()
        _, _, module = file.rpartition("mock_platform/")
        return {
            "id": self.id,
            "method": self.method,
            "path": self.path,
            "summary": self.summary,
            "spec": self.spec,
            "origin": self.origin.value,
            "sandbox_only": self.sandbox_only,
            "deprecated": self.deprecated,
            "auth": list(self.auth.names),
            "errors": list(self.errors),
            "assumptions": [assumption.id for assumption in self.all_assumptions],
            "code": f"mock_platform/{module}:{line}",
        }


def locate_declaration() -> tuple[str, int]:
    """Return file and line of the call of the calling function."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    assert frame is not None, "CPython has frames"
    return frame.f_code.co_filename, frame.f_lineno


class Particulars(TypedDict, total=False):
    """The options that only some operations use, with the same meaning as on `Operation`."""

    path_form: type[Schema]
    in_query: tuple[str, ...]
    configure: Callable[[Settings], Handler]
    rules: Rules
    sandbox_only: bool
    set_limits: Callable[[Settings], Sequence[Limit]]
    may_assume: tuple[Assumption, ...]
    deprecated: bool
    read_body: Callable[[Call, Any], dict[str, Any]]
    dated: tuple[Dated, ...]
    also: tuple[str, ...]
    example: Example


class NotServed(Struct, frozen=True):
    """A path that clients of the public interface call, and that is not served on purpose.

    It answers like any unknown path. `why` explains this to the caller.
    """

    methods: tuple[str, ...]
    path: str
    why: str
    assumption: Assumption


def table(*groups: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return all operations in one table.

    Raises:
        ValueError: Two of them have the same id, or the same method and path.
    """
    operations = tuple(operation for group in groups for operation in group)
    seen: dict[object, str] = {}
    for operation in operations:
        shape = _find_shape(operation.path)
        for key in (operation.id, (operation.method, shape, operation.sandbox_only)):
            if key in seen:
                raise ValueError(f"{operation.id} and {seen[key]} collide on {key}")
            seen[key] = operation.id
    return operations


@cache
def _find_dialect(path: str) -> Dialect:
    # Each server asks for that of each operation. The paths of requests, which have no end, are not
    # kept so.
    return dialect_of(path)


@cache
def _find_shape(path: str) -> str:
    """Return a path without the names of its parameters, which do not tell requests apart."""
    return re.sub(r":[a-z_]+", ":", path)
