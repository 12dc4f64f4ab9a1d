"""Turns what a client sent into checked parameters, or into everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError
from marshmallow.exceptions import SCHEMA

from mock_platform.core.assumptions import settled
from mock_platform.core.call import FORM, Call, Pairs, first_values
from mock_platform.core.errors import (
    BadBody,
    Failure,
    InvalidParameters,
    NotShown,
    TooLarge,
    UnsupportedMediaType,
)
from mock_platform.core.fields import flatten
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.oauth1 import MalformedAuthorization, authorization_parameters
from mock_platform.core.operation import Location, Operation
from mock_platform.settings import Settings

IGNORED = settled(
    "parameters.ignored",
    "Unknown, read-only and repeated parameters are ignored with a warning in the journal; of a "
    "repeated one the first value counts. --strict refuses them.",
    gap=True,
)
PROTOCOL = frozenset(
    {
        "oauth_consumer_key",
        "oauth_nonce",
        "oauth_signature",
        "oauth_signature_method",
        "oauth_timestamp",
        "oauth_token",
        "oauth_version",
        "oauth_body_hash",
    }
)

_TELLING = 16
"""Items of a batch that are looked at for the names of what was sent: the others are alike."""

Decoder = Callable[[Call], dict[str, Any]]


def decoder(operation: Operation, settings: Settings) -> Decoder:
    """What decodes the calls of one operation; its schema is built once, here."""
    schema = None if operation.params is None else operation.params(unknown=EXCLUDE)
    names = [] if schema is None else _named(schema)
    known = frozenset(name for name, _ in names)
    nullable = frozenset() if schema is None else _nullable(schema)
    limit = operation.max_body or settings.max_body
    write = operation.method in {"POST", "PUT", "PATCH"}
    echo = operation.echo

    def decode(call: Call) -> dict[str, Any]:
        if len(call.body) > limit:
            raise TooLarge(limit)
        sent: Mapping[str, Any]
        if operation.location is Location.JSON:
            sent = _json(call, settings.max_nesting)
        else:
            sent = _pairs(call, operation, strict=settings.strict, write=write)
        call.sent = _sent(sent, known)
        if operation.read_body is not None:
            return operation.read_body(call, sent)
        _warn(call, sent, known, strict=settings.strict)
        if schema is None:
            return {}
        if operation.method == "PUT" and operation.location is Location.QUERY:
            # An empty value on PUT unsets an optional field (public facts, section 3).
            sent = {k: None if v == "" and k in nullable else v for k, v in sent.items()}
        try:
            params = schema.load(sent)
        except ValidationError as fault:
            raise _refused(call, operation, names, sent, fault, many=schema.many) from fault
        if echo.sent:
            echo.add(call.echo, {n: params[a] for n, a in names if a in params and n in sent})
        return dict(params)

    return decode


def _sent(sent: Any, known: frozenset[str]) -> Iterable[str]:
    """Which known parameters were sent; of a batch, the first items tell."""
    if isinstance(sent, dict):
        return known.intersection(sent)
    items = [item for item in sent[:_TELLING] if isinstance(item, dict)]
    return known.intersection(name for item in items for name in item)


def _named(schema: Schema) -> list[tuple[str, str]]:
    """Name on the wire and name in the handler of each parameter."""
    return [
        (field.data_key or attr, field.attribute or attr)
        for attr, field in schema.load_fields.items()
    ]


def _pairs(call: Call, operation: Operation, *, strict: bool, write: bool) -> dict[str, str]:
    pairs = list(call.query)
    if operation.location is Location.OAUTH:
        pairs = [*_header_pairs(call), *pairs]
    if write and call.body:
        if call.media_type == FORM:
            pairs += call.form
        elif operation.location is Location.OAUTH:
            raise UnsupportedMediaType(call.media_type, FORM)
        else:
            call.warn(
                f"the body has Content-Type {call.media_type or 'none'} and was ignored; "
                "parameters of this operation stand in the query or in a form"
            )
    values, repeated = first_values(pairs)
    for name in repeated:
        if operation.location is Location.OAUTH and name.startswith(("oauth_", "x_auth_")):
            continue
        call.warn(f"parameter {name!r} stands more than once; the first value counts")
        if strict:
            raise NotShown(IGNORED, f"the parameter {name!r} standing more than once")
    return values


def _header_pairs(call: Call) -> Pairs:
    try:
        found = authorization_parameters(call.header("authorization")) or []
        return [pair for pair in found if pair[0].lower() != "realm"]
    except MalformedAuthorization as fault:  # only --auth off has let it come this far
        call.warn(f"the Authorization header was ignored: {fault.message}")
        return []


def _json(call: Call, max_nesting: int) -> Any:
    if call.media_type not in {"application/json", "application/problem+json"}:
        raise UnsupportedMediaType(call.media_type, "application/json")
    try:
        value = loads(call.body, max_nesting=max_nesting)
    except BadJson as fault:
        raise BadBody(f"The body is {fault}.") from fault
    if not isinstance(value, dict | list):
        raise BadBody(f"The body must be a JSON object or array, got {type(value).__name__}.")
    return value


def _warn(call: Call, sent: Any, known: frozenset[str], *, strict: bool) -> None:
    if not isinstance(sent, dict):
        return
    for name in sent.keys() - known - PROTOCOL - call.path_params.keys():
        # Clients repeat OAuth parameters of other steps: a popular one always sends its callback.
        if strict and not name.startswith("oauth_"):
            call.warn(f"parameter {name!r} is not one of this operation")
            raise NotShown(IGNORED, f"the parameter {name!r} here")
        call.warn(f"parameter {name!r} is not one of this operation and was ignored")


def _nullable(schema: Schema) -> frozenset[str]:
    return frozenset(
        field.data_key or attr for attr, field in schema.load_fields.items() if field.allow_none
    )


def _refused(
    call: Call,
    operation: Operation,
    names: Sequence[tuple[str, str]],
    sent: Any,
    fault: ValidationError,
    *,
    many: bool,
) -> Failure:
    messages = fault.messages
    if isinstance(messages, dict) and messages.get(SCHEMA) == ["Invalid input type."]:
        return BadBody(f"The body must be {'an array' if many else 'an object'}.")
    faults = list(flatten(messages))
    valid = fault.valid_data if isinstance(fault.valid_data, dict) else {}
    if operation.echo.sent:
        # Only what parsed is echoed (public facts, section 1).
        bad = {name.partition("[")[0].partition(".")[0] for name, _ in faults}
        parsed = {n: valid[a] for n, a in names if a in valid and n in sent and n not in bad}
        operation.echo.add(call.echo, parsed)
    return InvalidParameters(faults, sent if isinstance(sent, dict) else {}, valid)
