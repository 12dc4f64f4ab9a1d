"""The eighteen problem types of document A ("Problem object") as values.

Each type declares its slug, its fields and its status. Code that builds, validates or renders
problems, scenarios and OpenAPI read that one declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import marshmallow
from marshmallow import ValidationError, fields
from msgspec import Struct, field

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.errors import did_you_mean
from mock_platform.core.failures.codes import DETAILS, phrase
from mock_platform.core.faults import flatten
from mock_platform.core.fields import Choice, Integer, Json, ListOf, Nested, Text
from mock_platform.core.schema import Schema

MEDIA_TYPE = "application/problem+json"
ABOUT_BLANK = "about:blank"

STATUS_BY_TYPE = settled(
    "problem.status-by-type",
    "The spec maps no problem type to a status; each type has one of our choosing.",
    "A, Errors: mapping from problem types to HTTP status codes not shown",
)
PROBLEM_TITLES = public_fact(
    "problem.titles",
    "Titles and details are those of public samples. Without a sample, the detail is what the "
    "machine-readable description says of the type, and the title its name.",
    "section 5",
)
WEBHOOK_NOT_A_RESOURCE_TYPE = settled(
    "problem.webhook-resource-type",
    "resource-not-found requires a resource_type whose enumeration has no value for webhooks; "
    "'user' is sent because a webhook hangs on the app's user. Rely on 'parameter' instead.",
)

RESOURCE_TYPES = ("user", "post", "media", "list", "space")
SECTIONS = ("data", "includes")


class InvalidRequestItem(Schema):
    """One entry of `errors` in an invalid-request problem."""

    message = Text(required=True)
    parameters = Json(required=True, values=ListOf(fields.String()))


_WITH_STATUS = frozenset({ABOUT_BLANK, "unsupported-authentication"})
"""The types that have it in recorded answers."""
_Fields = Mapping[str, fields.Field[Any]]


class ProblemType(Struct, frozen=True, eq=False):
    """One problem type. `fields` are the extra ones beside type, title, detail and status."""

    slug: str
    title: str
    status: int
    meaning: str
    fields: _Fields
    typical: Mapping[str, Any] = field(default_factory=dict)
    """Optional extra fields with the values of the public samples, for a problem that a scenario or
    a `Prefer` header requests without values.
    """
    status_by_value: Mapping[str, int] = field(default_factory=dict)
    """Another status, depending on the value of an extra field."""
    public_fields: _Fields = field(default_factory=dict)
    """Optional extra fields that only the public samples have."""
    repeatable: bool = False
    """Whether some objects contain themselves in `errors` (see `Problem.repeated`)."""

    @property
    def name(self) -> str:
        """The slug as a name of files and scenarios: `about-blank` for `about:blank`."""
        return self.slug.replace(":", "-")

    def uri(self, base_url: str) -> str:
        """Return the value of `type`, the discriminator."""
        if self.slug == ABOUT_BLANK:
            return ABOUT_BLANK
        return f"{base_url}/2/problems/{self.slug}"

    def status_of(self, extra: Mapping[str, Any]) -> int:
        """Return the status of a problem with these extra fields."""
        named = (value for value in extra.values() if isinstance(value, str))
        other = (self.status_by_value.get(value) for value in named)
        return next((status for status in other if status is not None), self.status)

    def schema(self) -> type[marshmallow.Schema]:
        """Return the schema of the whole object, for OpenAPI and checks."""
        common: dict[str, fields.Field[Any]] = {
            "type": Text(required=True),
            "title": Text(required=True),
            "detail": Text(),
            "status": Integer(),
        }
        name = "".join(part.capitalize() for part in self.name.split("-")) + "Problem"
        own = {**self.fields, **self.public_fields}
        return Schema.from_dict(common | own, name=name)

    def check(self, extra: Mapping[str, Any], *, partial: bool = False) -> None:
        """Check whether extra fields match the type.

        Raises:
            ValueError: A required one is missing, one is unknown, or a value is not allowed.
        """
        try:
            _make_extras(self).load(dict(extra), partial=partial)
        except ValidationError as fault:
            texts = [
                self._unknown(name) if str(text) == "Unknown field." else text.explanation
                for name, text in flatten(fault.messages)
            ]
            raise ValueError(f"problem {self.slug}: " + "; ".join(texts)) from fault

    def _unknown(self, name: str) -> str:
        known = (*self.fields, *self.public_fields)
        allowed = ", ".join(known) or "none"
        hint = did_you_mean(name, known)
        return f"{name!r} is no extra field of this type; its extra fields: {allowed}.{hint}"


@cache
def _make_extras(kind: ProblemType) -> marshmallow.Schema:
    """Return what checks the extra fields of a type: made once, since each problem is checked."""
    return Schema.from_dict({**kind.fields, **kind.public_fields})()


class Problem(Struct, frozen=True):
    """One problem, built by `problem`."""

    kind: ProblemType
    title: str
    status: int
    detail: str
    extra: Mapping[str, Any]
    repeated: bool = False
    """Whether the object also contains itself, as the only item of `errors`."""

    def as_json(self, base_url: str) -> dict[str, Any]:
        """Return the object as it is served under that base address."""
        body = {**self._start_object(base_url), "status": self.status, **self.extra}
        return body | {"errors": [self.as_item(base_url)]} if self.repeated else body

    def as_recorded(self, base_url: str) -> dict[str, Any]:
        """Return the object as the service sends it: most types have no `status`."""
        if self.repeated:
            return {"errors": [self.as_item(base_url)], **self._start_object(base_url)}
        status = {"status": self.status} if self.kind.slug in _WITH_STATUS else {}
        return {**self._start_object(base_url), **status, **self.extra}

    def as_item(self, base_url: str) -> dict[str, Any]:
        """Return the object as an item of the `errors` of an answer, without a status."""
        return {**self._start_object(base_url), **self.extra}

    def _start_object(self, base_url: str) -> dict[str, Any]:
        return {"type": self.kind.uri(base_url), "title": self.title, "detail": self.detail}


def problem(
    slug: str,
    *,
    title: str | None = None,
    detail: str | None = None,
    status: int | None = None,
    **extra: Any,
) -> Problem:
    """Return a problem of the named type, checked against its declaration.

    The default title, detail and status are the public ones of the type.

    Raises:
        LookupError: The type does not exist; the text names the nearest one.
        ValueError: The extra fields do not match the type.

    Example:
        >>> found = problem("about:blank", status=410, detail="The list is gone.")
        >>> found.status, found.title, found.detail
        (410, 'Gone', 'The list is gone.')
    """
    # Problems are checked when they are made, not when they are sent: a missing field of a problem
    # is a fault of the operation, and the traceback then leads to it.
    kind = problem_type(slug)
    kind.check(extra)
    status = status or kind.status_of(extra)
    if title is None:  # RFC 7807, 4.2: a generic problem is titled as its status
        title = (phrase(status) or "Error") if slug == ABOUT_BLANK else kind.title
    if detail is None:
        detail = title if slug == ABOUT_BLANK else DETAILS[slug](extra)
    return Problem(kind, title, status, detail, extra)


def problem_type(slug: str) -> ProblemType:
    """Return the type of this slug.

    Raises:
        LookupError: The type does not exist; the text names the nearest one.
    """
    if slug not in PROBLEM_TYPES:
        hint = did_you_mean(slug, PROBLEM_TYPES)
        raise LookupError(f"no problem type {slug!r}.{hint} The types: {', '.join(PROBLEM_TYPES)}")
    return PROBLEM_TYPES[slug]


def _text(*, required: bool = True, nonempty: bool = False) -> Text:
    return Text(required=required, min_length=1 if nonempty else None)


def _resource(*more: str) -> Choice:
    return Choice((*RESOURCE_TYPES, *more), required=True)


_CONNECTION_ISSUES = (
    "TooManyConnections",
    "ProvisioningSubscription",
    "RuleConfigurationIssue",
    "RulesInvalidIssue",
)
DISCONNECT_TYPES = (
    "OperationalDisconnect",
    "UpstreamOperationalDisconnect",
    "ForceDisconnect",
    "UpstreamUncleanDisconnect",
    "SlowReader",
    "InternalError",
    "ClientApplicationStateDegraded",
    "InvalidRules",
)

_TYPES = (
    ProblemType(
        ABOUT_BLANK,
        "Internal Server Error",
        500,
        "Generic, only the HTTP status applies",
        {},
    ),
    ProblemType("client-disconnected", "Client Disconnected", 400, "The client has gone away", {}),
    ProblemType(
        "client-forbidden",
        "Client Forbidden",
        403,
        "Client forbidden from making the request",
        {
            "reason": Choice(("official-client-forbidden", "client-not-enrolled")),
            "registration_url": Text(
                pattern=r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+",
                pattern_text="a URI such as https://developer.example.com/",
                metadata={"format": "uri"},
            ),
        },
        typical={
            "reason": "client-not-enrolled",
            "registration_url": "https://developer.example.com/en/portal/products",
        },
        public_fields={"client_id": Text(), "required_enrollment": Text()},
    ),
    ProblemType(
        "conflict", "Conflict", 409, "A new job cannot be created while one is in progress", {}
    ),
    ProblemType(
        "disallowed-resource",
        "Disallowed Resource",
        403,
        "Requested resource violates API precepts",
        {
            "resource_id": _text(),
            "resource_type": _resource(),
            "section": Choice(SECTIONS, required=True),
        },
    ),
    ProblemType(
        "duplicate-rules",
        "DuplicateRule",
        400,
        "Submitted rule is a duplicate",
        {"id": _text(required=False), "value": _text(required=False)},
        typical={"id": "1165037377523306498", "value": "coffee has:images"},
    ),
    ProblemType(
        "invalid-request",
        "Invalid Request",
        400,
        "Request is invalid",
        {"errors": ListOf(Nested(InvalidRequestItem), least=1)},
    ),
    ProblemType("invalid-rules", "UnprocessableEntity", 400, "Submitted rule is invalid", {}),
    ProblemType(
        "noncompliant-rules",
        "Noncompliant Rules",
        403,
        "The user's rule set is not compliant",
        {},
    ),
    ProblemType(
        "not-authorized-for-field",
        "Field Authorization Error",
        403,
        "Not allowed to see a field",
        {
            "field": _text(),
            "resource_type": _resource(),
            "section": Choice(SECTIONS, required=True),
        },
    ),
    ProblemType(
        "not-authorized-for-resource",
        "Authorization Error",
        403,
        "Not allowed to see a resource",
        {
            "value": _text(),
            "resource_id": _text(),
            "resource_type": _resource(),
            "section": Choice(SECTIONS, required=True),
            "parameter": _text(),
        },
    ),
    ProblemType(
        "operational-disconnect",
        "operational-disconnect",
        503,
        "Disconnected for operational reasons",
        {"disconnect_type": Choice(DISCONNECT_TYPES)},
        typical={"disconnect_type": "UpstreamOperationalDisconnect"},
    ),
    ProblemType(
        "resource-not-found",
        "Not Found Error",
        404,
        "Resource does not exist",
        {
            "parameter": _text(nonempty=True),
            "value": _text(),
            "resource_id": _text(),
            "resource_type": _resource("place", "poll"),
        },
        repeatable=True,
    ),
    ProblemType(
        "resource-unavailable",
        "Forbidden",
        403,
        "Resource not available to the caller",
        {
            "parameter": _text(nonempty=True),
            "resource_id": _text(),
            "resource_type": _resource(),
        },
    ),
    ProblemType("rule-cap", "RulesCapExceeded", 403, "Maximum number of rules exceeded", {}),
    ProblemType(
        "streaming-connection",
        "ConnectionException",
        429,
        "Connection problem",
        {"connection_issue": Choice(_CONNECTION_ISSUES)},
        typical={"connection_issue": "TooManyConnections"},
        status_by_value={"RuleConfigurationIssue": 409, "RulesInvalidIssue": 409},
    ),
    ProblemType(
        "unsupported-authentication",
        "Unsupported Authentication",
        403,
        "The authentication used is not supported",
        {},
    ),
    ProblemType(
        "usage-capped",
        "UsageCapExceeded",
        429,
        "A usage cap was exceeded",
        {"period": Choice(("Daily", "Monthly")), "scope": Choice(("Account", "Product"))},
        typical={"period": "Monthly", "scope": "Product"},
        public_fields={"account_id": Integer(), "product_name": Text()},
    ),
)

PROBLEM_TYPES: Mapping[str, ProblemType] = {kind.slug: kind for kind in _TYPES}
"""All problem types by slug."""
