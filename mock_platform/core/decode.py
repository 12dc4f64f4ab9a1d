"""Converts what a client sent into checked parameters, or into all of its faults; uploads too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields
from marshmallow.exceptions import SCHEMA
from msgspec.structs import replace

from mock_platform.core.auth.oauth1 import MalformedAuthorization, authorization_parameters
from mock_platform.core.call import FORM, MULTIPART, Call
from mock_platform.core.failures.errors import (
    BadBody,
    Failure,
    InvalidParameters,
    UnsupportedMediaType,
)
from mock_platform.core.faults import JSON_TYPES, Fault, flatten
from mock_platform.core.fields import CommaList, Content, require_types
from mock_platform.core.jsonio import MAX_VALUES, BadJson, list_repeated_keys, loads
from mock_platform.core.operation import Location, Operation
from mock_platform.core.pairs import Pairs, first_values
from mock_platform.core.schema import loader
from mock_platform.core.unread import (
    IGNORED_AUTHORIZATION,
    UNKNOWN_REFUSED,
    Finding,
    Shape,
    find_ignored_body,
    find_older_keys,
    find_refused,
    find_repeated_keys,
    find_repeated_parameters,
    find_unknown_parameters,
    report,
    shape_of,
    unknown_keys,
)
from mock_platform.settings import Settings

# Reads bodies of multipart forms, by the parser of Werkzeug that does no input and output.

_MOST_PARTS = 100


def read_parts(body: bytes, content_type: str) -> list[tuple[str, bytes]]:
    """Return the parts of a multipart form in order: their names and contents.

    Raises:
        BadBody: It is not one, or has more than 100 parts.
    """
    # Loaded here, because the platform without a server works where Werkzeug is not installed.
    from werkzeug.exceptions import RequestEntityTooLarge
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

    boundary = parse_options_header(content_type)[1].get("boundary")
    if not boundary:
        raise BadBody("The Content-Type multipart/form-data needs a boundary.")
    decoder = MultipartDecoder(boundary.encode("latin-1", "replace"), max_parts=_MOST_PARTS)
    parts: list[tuple[str, list[bytes]]] = []
    try:
        # The whole body is there already. The second call says that nothing follows, so that a form
        # which is cut short is noticed and not waited for.
        decoder.receive_data(body)
        decoder.receive_data(None)
        while not isinstance(event := decoder.next_event(), Epilogue | NeedData):
            if isinstance(event, Field | File):
                parts.append((_require_name(event.name), []))
            elif isinstance(event, Data):
                parts[-1][1].append(event.data)
    except RequestEntityTooLarge as fault:
        raise BadBody(f"The multipart form has more than {_MOST_PARTS} parts.") from fault
    except (ValueError, KeyError) as fault:
        raise BadBody("The body is not a complete multipart form.") from fault
    return [(name, b"".join(pieces)) for name, pieces in parts]


def _require_name(name: str | None) -> str:
    if name is None:  # although Werkzeug declares a text
        raise BadBody("A part of the multipart form has no name.")
    return name


# Reads the parameters of an upload: a multipart form, a form, or JSON with base64.


def make_upload_reader(
    schema: Schema | None, max_nesting: int
) -> Callable[[Call], tuple[Any, list[Finding]]]:
    """Return what reads parameters in a body of any form and in the query."""
    declared = {} if schema is None else dict(schema.load_fields)
    named = {field.data_key or attr: field for attr, field in declared.items()}
    known = frozenset(named)
    contents = frozenset(name for name, field in named.items() if isinstance(field, Content))

    def read(call: Call) -> tuple[Any, list[Finding]]:
        # The body comes first: of a name in both places the value in the body counts. A name with
        # two different values is reported; the same value twice is harmless.
        sent: dict[str, Any] = {}
        repeated: list[str] = []
        unread: list[Finding] = []
        body = _read_body(call, contents, max_nesting, unread)
        for name, value in [*body, *call.query]:
            if name not in sent:
                sent[name] = value
            elif sent[name] != value:
                repeated.append(name)
        unread += find_repeated_parameters(repeated)
        others = [(name, str(value)) for name, value in sent.items() if name not in known]
        return sent, [*unread, *find_unknown_parameters(others, known, call.path_params)]

    return read


def _read_body(
    call: Call, contents: frozenset[str], max_nesting: int, unread: list[Finding]
) -> list[tuple[str, Any]]:
    """Return the parameters of a body; those in `contents` stay bytes in a multipart form.

    What is found in it that is not read is added to `unread`.
    """
    if not call.body:
        return []
    if call.media_type == FORM:
        return list(call.form)
    if call.media_type == MULTIPART:
        parts = read_parts(call.body, call.header("content-type") or "")
        return [
            (name, value if name in contents else value.decode("utf-8", "replace"))
            for name, value in parts
        ]
    if call.media_type != "application/json":
        raise UnsupportedMediaType(call.media_type, f"application/json or {MULTIPART}")
    value = _load_json(call, max_nesting, unread)
    if not isinstance(value, dict):
        raise BadBody("The body must be an object.")
    return list(value.items())


_IN_BODY = "; parameters of this operation belong in the JSON body"
_IN_FORM = "; parameters of this operation belong in a form body"
_PREFIX_MAKES_FORMS = (
    "Some clients send JSON only if the path begins with /2/, so with the prefix /~NAME they send "
    "a form. Make the world with own credentials, and send them without a prefix: PUT "
    '/_mock/worlds/NAME {"own_credentials": true}.'
)
_INNER = re.compile(r"[.\[]")
_PLAIN = "identity"
"""The Content-Encoding of a body that is not compressed."""
_TELLING = 16
"""Number of batch items whose names are recorded as sent: further items have the same ones."""

Decoder = Callable[[Call], dict[str, Any]]
_Reader = Callable[[Call], tuple[Any, list[Finding]]]
"""The parameters that were sent, and those that the operation does not read."""


def decoder(operation: Operation, settings: Settings) -> Decoder:
    """Return the decoder for the calls of one operation; its schema is built once, here."""
    # Everything that depends on the operation alone is prepared here: a reader for the place of the
    # parameters, and a loader for their schema. Unknown names are left out by the loader, because
    # they are found separately: what to say about them depends on where they were, which the schema
    # does not know.
    schema = None if operation.params is None else operation.params(unknown=EXCLUDE)
    known = frozenset() if schema is None else frozenset(name for name, _ in _list_names(schema))
    if operation.location is Location.JSON:
        read = _body_reader(operation, schema, settings)
    elif operation.location is Location.TEXT:
        read = _read_text
    elif operation.location is Location.UPLOAD:
        read = make_upload_reader(schema, settings.max_nesting)
    else:
        read = _pairs_reader(operation, schema, known)
    load = None if schema is None else make_reader(operation, schema)
    in_query = _list_in_query(operation, schema)

    def decode(call: Call) -> dict[str, Any]:
        _warn_of_compression(call)
        sent, unread = read(call)
        call.sent = _find_sent(sent, known)
        if unread:
            if call.chosen.unknown == "refused" and operation.dialect == "v2":
                refuse_unread(call, sent, unread)
            report(call, unread, strict=settings.strict)
        if operation.read_body is not None:
            return operation.read_body(call, sent)
        return {} if load is None else load(call, sent)

    def refuse_unread(call: Call, sent: Any, unread: list[Finding]) -> None:
        refused = list(find_refused(unread, in_query))
        if not refused:
            return
        call.assume(UNKNOWN_REFUSED)
        given: Mapping[str, Any] = sent if isinstance(sent, dict) else {}
        valid: Mapping[str, Any] = {}
        try:
            if load is not None and operation.read_body is None:
                valid = load(call, sent)
        except InvalidParameters as fault:
            refused, given, valid = [*refused, *fault.faults], fault.sent, fault.valid
        raise InvalidParameters(refused, {**dict(call.query), **given}, valid)

    return decode


def _warn_of_compression(call: Call) -> None:
    """Say of a body that is compressed that nothing undoes it, whatever it is refused with."""
    if call.body and (encoding := call.header("content-encoding") or _PLAIN) != _PLAIN:
        call.warn(f"the body has the Content-Encoding {encoding}, and is read as it was sent")


def _list_in_body(operation: Operation, schema: Schema) -> list[fields.Field[Any]]:
    return [
        field
        for attr, field in schema.load_fields.items()
        if (field.data_key or attr) not in operation.in_query
    ]


def _list_in_query(operation: Operation, schema: Schema | None) -> list[str]:
    """Return the parameters of the query in the recorded order, without older names of some."""
    if schema is None or operation.location is Location.JSON:
        return list(operation.in_query)
    found = [name for name, attr in _list_names(schema) if not attr.startswith("older_")]
    last = ("expansions", "user.fields")
    return sorted(found, key=lambda name: (name.endswith(".fields"), name in last))


def _read_text(call: Call) -> tuple[Any, list[Finding]]:
    if call.body and call.media_type != "text/plain":
        raise UnsupportedMediaType(call.media_type, "text/plain")
    return {}, list(find_unknown_parameters(call.query, frozenset(), call.path_params))


def make_reader(operation: Operation, schema: Schema) -> Callable[[Call, Any], dict[str, Any]]:
    """Return a function that checks what a call sent, and adds it to the call's echo.

    That function raises `InvalidParameters` or `BadBody`.
    """
    names = _list_names(schema)
    nullable = _nullable(schema)
    load, echo = loader(schema), operation.echo
    older_keys: Mapping[str, str] = getattr(schema, "older_keys", {})
    unsets = operation.method == "PUT" and operation.location is Location.QUERY

    def read(call: Call, sent: Any) -> dict[str, Any]:
        if unsets:
            # An empty value on PUT unsets an optional field (public facts, section 3).
            sent = {k: None if v == "" and k in nullable else v for k, v in sent.items()}
        if older_keys and isinstance(sent, dict):
            sent = _read_older_keys(sent, older_keys)
        try:
            params: dict[str, Any] = load(sent)
        except ValidationError as fault:
            raise _make_refusal(call, operation, names, sent, fault, many=schema.many) from fault
        if echo.sent and sent:
            echo.add(call.echo, {n: params[a] for n, a in names if n in sent and a in params})
        return params

    return read


def _read_older_keys(sent: dict[str, Any], older_keys: Mapping[str, str]) -> dict[str, Any]:
    """Return what was sent with the names of today; what has both names counts under today's."""
    names = {old: new for old, new in older_keys.items() if new not in sent}
    return {names.get(key, key): value for key, value in sent.items()}


def _body_reader(operation: Operation, schema: Schema | None, settings: Settings) -> _Reader:
    """Return the reader for the parameters of an operation in a JSON body."""
    in_query = frozenset(operation.in_query)
    older_keys: Mapping[str, str] = getattr(schema, "older_keys", {})
    if schema is not None and operation.dialect == "v2":
        # A body has the types that the interface describes; what is in the query is text.
        require_types(_list_in_body(operation, schema))

    @cache
    def shape() -> Shape:  # built by the first call: its schemas take a while
        if schema is None:
            return Shape({})
        whole = shape_of(schema)
        keys = {name: inner for name, inner in whole.keys.items() if name not in in_query}
        return replace(whole, keys=keys) if in_query else whole

    def read(call: Call) -> tuple[Any, list[Finding]]:
        # A body may be absent if all that is required can be in the query; otherwise its absence is
        # a fault, which reading the empty body reports.
        missing = in_query and not call.body
        unread = list(find_unknown_parameters(call.query, in_query, call.path_params, _IN_BODY))
        sent = {} if missing else _json(call, settings.max_nesting, unread)
        if older_keys and isinstance(sent, dict):
            unread += find_older_keys(sent, older_keys)
        if operation.read_body is None:
            unread += unknown_keys(shape(), sent, call.path_params)
        return (_add_query(call, sent, in_query, unread) if in_query else sent), unread

    return read


def _add_query(call: Call, sent: Any, in_query: frozenset[str], unread: list[Finding]) -> Any:
    """Return a JSON body with those parameters that are in the query, and not those of the body.

    Raises:
        BadBody: The body is no object.
    """
    if not isinstance(sent, dict):
        raise BadBody("The body must be an object.")
    values, repeated = first_values([pair for pair in call.query if pair[0] in in_query])
    unread += find_repeated_parameters(repeated)
    return {name: value for name, value in sent.items() if name not in in_query} | values


def _pairs_reader(operation: Operation, schema: Schema | None, known: frozenset[str]) -> _Reader:
    """Return the reader for parameters in query, form and Authorization header."""
    repeatable = frozenset() if schema is None else _find_repeatable(schema)
    write = operation.method in {"POST", "PUT", "PATCH"}
    in_header = operation.location is Location.OAUTH

    def read(call: Call) -> tuple[Any, list[Finding]]:
        if not call.query_string and not call.body and not in_header:
            return {}, []
        sent, unread = _pairs(call, operation, repeatable, write=write)
        if sent.keys() - known:
            unread += find_unknown_parameters(sent.items(), known, call.path_params)
        return sent, unread

    return read


def _find_sent(sent: Any, known: frozenset[str]) -> Iterable[str]:
    """Return which known parameters were sent; for a batch, those of the first items."""
    if isinstance(sent, dict):
        return tuple([name for name in sent if name in known])
    items = [item for item in sent[:_TELLING] if isinstance(item, dict)]
    return tuple(known.intersection(name for item in items for name in item))


def _list_names(schema: Schema) -> list[tuple[str, str]]:
    """Return each parameter's name in the request and in the handler."""
    return [
        (field.data_key or attr, field.attribute or attr)
        for attr, field in schema.load_fields.items()
    ]


def _pairs(
    call: Call, operation: Operation, repeatable: frozenset[str], *, write: bool
) -> tuple[dict[str, str], list[Finding]]:
    """Return the parameters with their first values, and the unknown ones."""
    unread: list[Finding] = []
    pairs = list(call.query)
    if operation.location is Location.FORM and pairs and call.wire == "recorded":
        call.warn(
            "parameters of this operation belong in a form body; those of the query were taken"
        )
    elif operation.location is Location.FORM:
        unread += find_unknown_parameters(pairs, frozenset(), call.path_params, _IN_FORM)
        pairs = []
    if operation.location is Location.OAUTH:
        pairs = [*_header_pairs(call), *pairs]
    if call.body:
        if not write:
            unread += find_ignored_body(call, f"a {call.method} has its parameters in the query")
        elif call.media_type == FORM:
            pairs += call.form
        elif operation.location is Location.OAUTH:
            raise UnsupportedMediaType(call.media_type, FORM)
        else:
            query = "" if operation.location is Location.FORM else "the query or in "
            unread += find_ignored_body(
                call, f"parameters of this operation belong in {query}a form"
            )
    # The first value of a name counts, as documented; of lists that may be repeated all values
    # count, and they become the text with commas that the field reads.
    values, repeated = first_values(pairs)
    for name in repeatable.intersection(repeated):
        values[name] = ",".join(value for each, value in pairs if each == name)
        repeated.remove(name)
    if repeated:
        if operation.location is Location.OAUTH:
            # Those of OAuth were compared where they stand in two places; the other one that
            # clients put into two places is lost only if it says two things.
            repeated = [
                name
                for name in repeated
                if not name.startswith("oauth_")
                and not (name.startswith("x_auth_") and _agree(pairs, name))
            ]
        unread += find_repeated_parameters(repeated)
    return values, unread


def _agree(pairs: Pairs, name: str) -> bool:
    """Return whether a parameter has one value in all of its places."""
    return len({value for each, value in pairs if each == name}) == 1


def _header_pairs(call: Call) -> Pairs:
    try:
        found = authorization_parameters(call.header("authorization")) or []
        return [pair for pair in found if pair[0].lower() != "realm"]
    except MalformedAuthorization as fault:  # only --auth off has let it come this far
        text = f"the Authorization header was ignored: {fault.message}"
        call.warn(text, IGNORED_AUTHORIZATION)
        return []


def _json(call: Call, max_nesting: int, unread: list[Finding]) -> Any:
    if call.media_type != "application/json":
        if call.media_type == FORM and call.world_prefix is not None:
            call.diagnosis = {"mistake": "world-prefix", "explanation": _PREFIX_MAKES_FORMS}
        raise UnsupportedMediaType(call.media_type, "application/json")
    value = _load_json(call, max_nesting, unread)
    if not isinstance(value, dict | list):
        found = JSON_TYPES[type(value)]
        raise BadBody(f"The body must be a JSON object or array, got {found}.")
    return value


def _load_json(call: Call, max_nesting: int, unread: list[Finding]) -> Any:
    """Return the value of a JSON body; keys that an object in it repeats are added to `unread`."""
    try:
        value = loads(call.json_body, max_nesting=max_nesting, max_values=MAX_VALUES)
    except BadJson as fault:
        raise BadBody(f"The body is {fault}.") from fault
    # Of the bytes that the client sent: with original names the other was written again.
    if repeated := list_repeated_keys(call.body, value):
        unread += find_repeated_keys(repeated)
    return value


def _find_repeatable(schema: Schema) -> frozenset[str]:
    return frozenset(
        field.data_key or attr
        for attr, field in schema.load_fields.items()
        if isinstance(field, CommaList) and field.repeatable
    )


def _nullable(schema: Schema) -> frozenset[str]:
    return frozenset(
        field.data_key or attr for attr, field in schema.load_fields.items() if field.allow_none
    )


def _make_refusal(
    call: Call,
    operation: Operation,
    names: Sequence[tuple[str, str]],
    sent: Any,
    fault: ValidationError,
    *,
    many: bool,
) -> Failure:
    # The library says the same of an array for an object, and of an object for an array, under a
    # name of its own for the whole. That is a fault of the body and not of a parameter.
    messages = fault.messages
    if isinstance(messages, dict) and messages.get(SCHEMA) == ["Invalid input type."]:
        return BadBody(f"The body must be {'an array' if many else 'an object'}.")
    faults = list(flatten(messages))
    whole: str | None = getattr(operation.params, "body_refusal", None)
    if whole is not None:  # the platform says no more of such a body; the journal does
        split = [(_INNER.split(name, maxsplit=1)[0], name, found) for name, found in faults]
        faults = [
            (name, found) if head in operation.in_query else (head, Fault(whole, hint=str(found)))
            for head, name, found in split
        ]
        sent = {name: sent[name] for name in operation.in_query if name in sent}
    valid = fault.valid_data if isinstance(fault.valid_data, dict) else {}
    if operation.echo.sent:
        # Only parsed values are echoed (public facts, section 1). A value that was refused as a
        # whole is not valid; of a list, the valid items would be.
        heads = {name: _INNER.split(name, maxsplit=1)[0] for name, _ in faults}
        bad = {head for name, head in heads.items() if head != name}
        parsed = {n: valid[a] for n, a in names if a in valid and n in sent and n not in bad}
        operation.echo.add(call.echo, parsed)
    return InvalidParameters(faults, sent if isinstance(sent, dict) else {}, valid)
