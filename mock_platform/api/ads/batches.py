"""Batches of the advertising interface: arrays of operations, all of them or none.

What is wrong with the request as a whole goes to `errors`; what is wrong with an item goes to
`operation_errors`, parallel to the input. A family declares its create, update and delete once, as
operations, and `declare_batch` returns the batch that does the same with many records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

from marshmallow import EXCLUDE, fields
from msgspec import Struct, field
from msgspec.structs import replace

from mock_platform.api.ads.conventions import (
    PARAMS_ECHO,
    Batch,
    account_scope,
    acts_for_user,
    ads,
    fail,
    may_write,
)
from mock_platform.api.ads.resource import Resource
from mock_platform.core.assumptions import Assumption, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.decode import make_reader
from mock_platform.core.failures.errors import (
    AdsError,
    AdsFailure,
    BatchFailure,
    InvalidParameters,
)
from mock_platform.core.faults import INVALID, Fault, expected, missing, unlisted
from mock_platform.core.fields import Choice, CommaList, Nested, Text
from mock_platform.core.operation import (
    Example,
    Gate,
    Handler,
    Location,
    Operation,
    Origin,
    locate_declaration,
)
from mock_platform.core.schema import Schema
from mock_platform.core.unread import (
    Shape,
    UnknownKeys,
    find_unknown_keys,
    report,
    shape_of,
)
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

OPERATION_ERRORS = settled(
    "batch.operation-errors-shape",
    "operation_errors is an array parallel to the input; each entry is an array of error objects "
    "with code, message and parameter (one of params by its name there), empty for a sound item. "
    "Beside it there is only request, the array of the operations as they were understood: without "
    "values that could not be read, and without the users of user batches; an operation_type that "
    "is refused is echoed as it was sent, with those of the path as its params.",
    "B, Custom audiences: batch errors",
)
RECORD_BATCH = public_fact(
    "batch.records",
    "A batch of records takes an array of {operation_type, params}; Update and Delete name their "
    "record in params by its id parameter. All or nothing, in order. Values may be typed loosely: "
    "booleans and numbers as strings, lists as arrays or as text with commas; null is like no "
    "value in a Create and unsets in an Update.",
    "adjacent operations, section 1",
    gap=True,
)
Show = Callable[[Call, World, Record], Record]
CheckTogether = Callable[[World, Sequence[Call]], Iterable[tuple[int, AdsError]]]
"""Checks the items of a batch together: yields errors, each with the index of its item."""

_TYPES = {"POST": "Create", "PUT": "Update", "DELETE": "Delete"}
_COMMON_GATES: tuple[Gate, ...] = (acts_for_user, may_write, account_scope)


# -- the items of any batch --------------------------------------------------------------------


class BatchItem(Struct):
    """One operation of a batch, and what is wrong with it. `kind` is its operation_type."""

    index: int
    kind: str | None = None
    """One of the types that the batch takes, or `None`."""
    sent_kind: str | None = None
    """What was sent as operation_type, if that is text."""
    params: dict[str, Any] = field(default_factory=dict)
    errors: list[AdsError] = field(default_factory=list)

    def refuse(self, fault: Fault, parameter: str, *, inside: bool = True) -> None:
        """Add a fault of a parameter; `inside` says that it is one of `params`."""
        error = AdsError.from_fault(parameter, fault.naming(parameter))
        self.add(error, inside=inside)

    def add(self, error: AdsError, *, inside: bool = True) -> None:
        """Add an error; the entries are known to have code, message, parameter and no more."""
        name = error.parameter or ""
        place = f"[{self.index}]{'.params' if inside else ''}{name and f'.{name}'}"
        self.errors.append(replace(error, parameter=name, extra={}, place=place))


def as_operations(call: Call, body: Any) -> dict[str, Any]:
    """Return the whole body as one parameter; the rules of the operation read its items."""
    return {"operations": body}


def read_items(body: Any, kinds: Sequence[str], most: int | None) -> list[BatchItem]:
    """Return the items of a batch, each with its operation_type and the object `params`.

    Raises:
        AdsFailure: The request as a whole is not acceptable.
    """
    if not isinstance(body, list) or not body:
        raise fail(INVALID, "The body must be an array of at least one operation")
    if most is not None and len(body) > most:
        text = f"A request may have at most {most:,} operations, got {len(body):,}"
        raise fail(INVALID, text)
    return [_read_item(BatchItem(index), operation, kinds) for index, operation in enumerate(body)]


def _read_item(item: BatchItem, operation: Any, kinds: Sequence[str]) -> BatchItem:
    if not isinstance(operation, dict):
        fault = Fault(expected("Object", operation)).naming("the operation")
        item.refuse(fault, "", inside=False)
        return item
    kind, params = operation.get("operation_type"), operation.get("params")
    item.sent_kind = kind if isinstance(kind, str) else None
    if kind is None:
        item.refuse(missing("operation_type"), "operation_type", inside=False)
    elif kind not in kinds:
        item.refuse(unlisted(kinds, kind), "operation_type", inside=False)
    else:
        item.kind = kind
    if isinstance(params, dict):
        item.params = params
    else:
        absent = params is None
        fault = missing("params") if absent else Fault(expected("Object", params))
        item.refuse(fault, "params", inside=False)
    return item


def find_unknown_outer_keys(operation: Any, index: int, unknown: UnknownKeys) -> None:
    """Add the keys of an operation beside operation_type and params."""
    if isinstance(operation, dict):
        known = ("operation_type", "params")
        for name in operation.keys() - {*known}:
            unknown.add(f"[{index}]", name, Shape(dict.fromkeys(known)))


# -- batches of records ------------------------------------------------------------------------


class RecordItem(Struct):
    """One operation of a batch of records, with the call that does the same alone."""

    kind: str | None
    call: Call
    sent_kind: str | None

    def describe(self, path_params: Mapping[str, str]) -> dict[str, Any]:
        """Return the operation as `request` echoes it: what could be read."""
        kind = {} if self.sent_kind is None else {"operation_type": self.sent_kind}
        return {"params": {**self.call.echo, **path_params}, **kind}


class _Write:
    """A create, update or delete as an item of a batch: reads what it needs from `params`."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.kind = _TYPES[operation.method]
        self.id_parameter = None if self.kind == "Create" else operation.path_names[-1]
        schema = (operation.params or Schema)(unknown=EXCLUDE)
        self.fields: Mapping[str, fields.Field[Any]] = {
            f.data_key or name: f for name, f in schema.load_fields.items()
        }
        self._read = make_reader(operation, schema)
        own = () if self.id_parameter is None else (self.id_parameter,)
        self.shape = Shape({**dict.fromkeys(own), **shape_of(schema).keys})

    def read(self, item: BatchItem, call: Call, world: World, settings: Settings) -> Call:
        """Return the call of an item; its faults are added to the item."""
        path_params = dict(call.path_params)
        name = self.id_parameter
        if name is not None:
            value = item.params.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if value is None:
                item.refuse(missing(name), name)
            elif not isinstance(value, str) or not value:
                item.refuse(Fault(expected("String", value)), name)
            else:
                path_params[name] = value
        # An item is a call of its own with the parameters of the item: so the operations for one
        # record need not know that they run in a batch. What belongs to the request (caller, world,
        # body) is shared.
        own = replace(
            call,
            path_params=path_params,
            echo=self.operation.echo.echo_path(path_params),
            warnings=[],
            diagnosis=None,
        )
        sent = {n: self._convert(n, v) for n, v in item.params.items() if n in self.fields}
        if self.kind == "Create":
            sent = {n: value for n, value in sent.items() if value is not None}
        faults: list[tuple[str, Fault]] = []
        try:
            own.params = self._read(own, sent)
        except InvalidParameters as fault:
            own.params, faults = dict(fault.valid), fault.faults
        own.sent = list(sent)
        if self.operation.rules is not None:
            found = self.operation.rules(own.params, own, world, settings)
            faults += InvalidParameters(found, sent).faults
        for parameter, each in faults:
            item.refuse(each, parameter)
        return own

    def find_unknown(self, item: BatchItem, call: Call, unknown: UnknownKeys) -> None:
        """Add the keys of `params` that the operation does not have."""
        for name in item.params.keys() - self.shape.keys.keys():
            if call.path_params.get(name) != item.params[name]:
                unknown.add(f"[{item.index}].params", name, self.shape)
        for name in item.params.keys() & self.shape.keys.keys():
            place = f"[{item.index}].params.{name}"
            find_unknown_keys(self.shape.keys[name], item.params[name], place, unknown)

    def _convert(self, name: str, value: Any) -> Any:
        """Return a value as its field reads it: JSON has numbers where a query has text."""
        declared = self.fields[name]
        inner = declared.inner if isinstance(declared, CommaList) else declared
        if not isinstance(inner, Text):
            return value
        if isinstance(value, list):
            return [_as_text(each) for each in value]
        return _as_text(value)


def _as_text(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if number else value


class _RecordBatch:
    """Reads and applies batches of the records of one family."""

    def __init__(
        self,
        operations: Sequence[Operation],
        most: int,
        show: Show | None,
        check_together: CheckTogether | None,
    ) -> None:
        self.operations = operations
        self.most = most
        self.show = show
        self.check_together = check_together

    @cached_property
    def writes(self) -> Mapping[str, _Write]:
        """How each operation_type is read; built by the first call, as schemas take a while."""
        return {write.kind: write for write in map(_Write, self.operations)}

    def check(
        self, params: Mapping[str, Any], call: Call, world: World, settings: Settings
    ) -> Iterable[tuple[str, str]]:
        """Read the items of a call whose parameters are `as_operations`; add them as `items`.

        Raises:
            AdsFailure: The request as a whole is not acceptable.
            BatchFailure: Some of its items are not.
            NotShown: `--strict`, and the request has unknown keys.
        """
        body, writes, unknown = params["operations"], self.writes, UnknownKeys()
        # Two passes. This one reads all items and collects what is wrong with any of them, so that
        # a client learns of all its mistakes at once; nothing is written yet. The handler then
        # applies the items.
        items: list[RecordItem] = []
        found = read_items(body, tuple(writes), self.most)
        for item in found:
            find_unknown_outer_keys(body[item.index], item.index, unknown)
            own = replace(call, echo=dict(call.echo))
            if item.kind is not None:
                write = writes[item.kind]
                write.find_unknown(item, call, unknown)
                own = write.read(item, call, world, settings)
            items.append(RecordItem(item.kind, own, item.sent_kind))
        report(call, unknown.findings(), strict=settings.strict)
        _refuse_faulty(call, found, items)
        call.params = {"operations": body, "items": items}
        return ()

    def apply(self, handlers: Mapping[str | None, Handler]) -> Handler:
        """Return the handler that applies the items in order, all of them or none."""

        def apply_items(call: Call, world: World) -> tuple[list[Record], list[dict[str, Any]]]:
            items: list[RecordItem] = call.params["items"]
            done, faulty = [], []
            # Rules that look at several items (two that create the same name) cannot be found one
            # by one.
            if self.check_together is not None:
                read_all = [BatchItem(index, item.kind) for index, item in enumerate(items)]
                for index, error in self.check_together(world, [item.call for item in items]):
                    read_all[index].add(error)
                _refuse_faulty(call, read_all, items)
            for index, item in enumerate(items):
                read = BatchItem(index, item.kind)
                faulty.append(read)
                try:
                    with world.attempt():
                        # Each item is undone alone if it fails, and the loop goes on, because the
                        # answer lists what is wrong with every item. At the end one faulty item
                        # refuses all: the exception undoes the whole transaction. Later items see
                        # what earlier ones did, as they would one request after the other.
                        record = handlers[item.kind](item.call, world)
                except AdsFailure as fault:
                    for error in fault.errors:
                        read.add(error)
                except InvalidParameters as fault:
                    for name, refusal in fault.faults:
                        read.refuse(refusal, name)
                else:
                    shown = record if self.show is None else self.show(call, world, record)
                    done.append(remove_internal_keys(shown))
                for text in item.call.warnings:
                    call.warn(f"[{index}]: {text}")
            _refuse_faulty(call, faulty, items)
            return done, [item.describe(call.path_params) for item in items]

        return apply_items


def _refuse_faulty(call: Call, found: Sequence[BatchItem], items: Sequence[RecordItem]) -> None:
    if any(item.errors for item in found):
        call.assume(OPERATION_ERRORS)
        echo = [item.describe(call.path_params) for item in items]
        raise BatchFailure([item.errors for item in found], echo)


def declare_batch(
    resource: Resource,
    writes: Sequence[Operation],
    *,
    most: int,
    origin: Origin | None = None,
    show: Show | None = None,
    data_type: str | None = None,
    check_together: CheckTogether | None = None,
    gates: Sequence[Gate] = (),
    assumptions: Sequence[Assumption] = (),
    example: Example,
) -> Operation:
    """Return the operation that does these creates, updates and deletes in batches.

    `writes` are the operations for one record: their parameters, rules, handlers, gates, errors and
    assumptions hold for each item. `most` is the number of items in one request; `show` converts
    the records of the answer; `data_type` is at the top of the answer, where there is one.
    `check_together` checks what is true of all items together.
    """
    batch = _RecordBatch(writes, most, show, check_together)

    def configure(settings: Settings) -> Handler:
        return batch.apply(
            {
                _TYPES[each.method]: each.handler
                if each.configure is None
                else each.configure(settings)
                for each in writes
            }
        )

    inner = [gate for each in writes for gate in each.gates if gate not in _COMMON_GATES]
    assumed = [each for write in writes for each in write.assumptions if each is not PARAMS_ECHO]
    may_assume = [assumption for each in writes for assumption in each.may_assume]
    errors = [error for each in writes for error in each.errors]
    return ads(
        f"{resource.name}.batch",
        "POST",
        resource.path.replace("/12/accounts/", "/12/batch/accounts/", 1),
        batch.apply({_TYPES[each.method]: each.handler for each in writes}),
        summary=f"Write {resource.noun}s in a batch",
        spec=resource.spec,
        declared_at=locate_declaration(),
        returns=Batch(resource.schema, data_type=data_type),
        params=_describe_body(resource.name, writes),
        location=Location.JSON,
        read_body=as_operations,
        rules=batch.check,
        configure=configure,
        gates=(*gates, *dict.fromkeys(inner)),
        origin=origin or resource.origin,
        assumptions=tuple(dict.fromkeys((RECORD_BATCH, *assumptions, *assumed))),
        may_assume=tuple(dict.fromkeys((*may_assume, OPERATION_ERRORS))),
        errors=tuple(dict.fromkeys(errors)),
        statuses=(413,),
        example=example,
    )


def _describe_body(name: str, writes: Sequence[Operation]) -> type[Schema]:
    """Return the schema of the body, for the description: `params` of all kinds together."""
    title = name.title().replace("_", "")
    parts: dict[str, fields.Field[Any]] = {}
    for each in writes:
        if each.method != "POST":
            parts[each.path_names[-1]] = Text(min_length=1)
        declared = {} if each.params is None else each.params().load_fields
        for parameter, read in declared.items():
            if parameter not in parts:
                parts[parameter] = deepcopy(read)
                parts[parameter].required = False
    params = type(f"{title}BatchParams", (Schema,), dict(parts))
    kinds = tuple(_TYPES[each.method] for each in writes)
    return type(
        f"{title}Batch",
        (Schema,),
        {
            "Meta": type("Meta", (), {"many": True}),
            "operation_type": Choice(kinds, required=True),
            "params": Nested(params, required=True),
        },
    )
