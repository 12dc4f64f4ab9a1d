"""Reads the user batches of document B by hand: 2,500 operations are too many for a schema.

What is wrong with the request as a whole goes to `errors`; what is wrong with an item goes to
`operation_errors`, parallel to the input. A batch with any fault changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mock_platform.core.ads import fail
from mock_platform.core.assumptions import Assumption, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, BatchFailure
from mock_platform.core.faults import (
    INVALID,
    Fault,
    expected,
    missing,
    unlisted,
)
from mock_platform.core.unread import Shape, UnknownKeys, report
from mock_platform.rules.audiences import IDENTITY, SIZE, THIRTEEN_MONTHS, Upload, add_months
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.world import World

OPERATION_ERRORS = settled(
    "batch.operation-errors-shape",
    "operation_errors is an array parallel to the input; each entry is an array of error objects "
    "with code, message and parameter (one of params by its name there), empty for a sound item. "
    "Beside it there is only request, the array of the operations as they were understood, without "
    "their users.",
    "B, Custom audiences: batch errors",
)
HASHES = settled(
    "audiences.hash-case",
    "Hashes are 64 hex digits in either case; the samples show both.",
)
ASSUMPTIONS: tuple[Assumption, ...] = (
    OPERATION_ERRORS,
    HASHES,
    IDENTITY,
    SIZE,
    THIRTEEN_MONTHS,
)
OPERATION_TYPES = ("Update", "Delete")
HASH = r"[0-9a-fA-F]{64}"
"""The form of a hashed identifier: SHA256 in hexadecimal digits."""
_HASH = re.compile(HASH, re.ASCII)


@dataclass(frozen=True, slots=True)
class BatchRules:
    """What a batch may hold.

    `latest_months` bounds expires_at from above; `effective` says whether effective_at is taken.
    """

    identifiers: tuple[str, ...]
    most: int | None = None
    effective: bool = False
    latest_months: int | None = None

    def check(
        self, params: Mapping[str, Any], call: Call, world: World, settings: Settings
    ) -> Iterable[tuple[str, str]]:
        """Read the uploads of a call whose parameters are `as_operations`; add them as `uploads`.

        Raises:
            AdsFailure, BatchFailure: As `read_uploads`.
        """
        now, strict = world.clock.now(), settings.strict
        uploads = read_uploads(call, params["operations"], self, now, strict=strict)
        call.params = {"operations": params["operations"], "uploads": uploads}
        return ()


@dataclass(frozen=True, slots=True)
class _Times:
    """The moment of the request, and the defaults that follow from it."""

    now: datetime
    now_text: str
    default_expiry: datetime
    expiry_text: str


@dataclass(slots=True)
class _Item:
    """One operation while it is read, with what is wrong with it."""

    index: int
    errors: list[AdsError]

    def refuse(self, fault: Fault, parameter: str, *, inside: bool = True) -> None:
        """Add a fault of a parameter; `inside` says that it is one of `params`."""
        found = AdsError.from_fault(parameter, fault.naming(parameter))
        place = f"[{self.index}]{'.params' if inside else ''}{parameter and f'.{parameter}'}"
        # The entries are known to have these three keys and no others.
        self.errors.append(replace(found, extra={}, place=place))


def as_operations(call: Call, body: Any) -> dict[str, Any]:
    """Return the whole body as one parameter: `BatchRules.check` reads it by hand."""
    return {"operations": body}


def echo_operations(
    call: Call, operations: Sequence[Any], uploads: Sequence[Upload]
) -> list[dict[str, Any]]:
    """Return the operations as `request` echoes them: what could be read, without users."""
    return [
        {"params": {**upload.times, **call.path_params}, **_echo_type(operation)}
        for operation, upload in zip(operations, uploads, strict=True)
    ]


def read_uploads(
    call: Call, body: Any, rules: BatchRules, now: datetime, *, strict: bool = False
) -> list[Upload]:
    """Read the operations of a batch.

    Raises:
        AdsFailure: The request as a whole is not acceptable.
        BatchFailure: Some of its items are not.
        NotShown: `strict`, and the request has unknown keys.
    """
    if not isinstance(body, list) or not body:
        raise fail(INVALID, "The body must be an array of at least one operation")
    if rules.most is not None and len(body) > rules.most:
        text = f"A request may have at most {rules.most:,} operations, got {len(body):,}"
        raise fail(INVALID, text)
    uploads, failed = [], []
    expiry = add_months(now)
    times = _Times(now, wire_seconds(now), expiry, wire_seconds(expiry))
    reader = _Reader(call, rules, times, UnknownKeys())
    for index, operation in enumerate(body):
        item = _Item(index, [])
        uploads.append(reader.read(operation, item))
        failed.append(item.errors)
    report(call, reader.unknown.findings(), strict=strict)
    if any(failed):
        call.assume(OPERATION_ERRORS)
        raise BatchFailure(failed, echo_operations(call, body, uploads))
    return uploads


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the operations of one batch, and collects unknown keys."""

    call: Call
    rules: BatchRules
    times: _Times
    unknown: UnknownKeys

    def read(self, operation: Any, item: _Item) -> Upload:
        """Read one operation; its faults are added to its item."""
        if not isinstance(operation, dict):
            fault = Fault(expected("Object", operation)).naming("the operation")
            item.refuse(fault, "", inside=False)
            return Upload(delete=False, users=(), effective_at=None, expires_at=None)
        kind = operation.get("operation_type")
        if kind is None:
            item.refuse(missing("operation_type"), "operation_type", inside=False)
        elif kind not in OPERATION_TYPES:
            item.refuse(unlisted(OPERATION_TYPES, kind), "operation_type", inside=False)
        params = operation.get("params")
        if isinstance(params, dict):
            self._note_unknown(operation, params, item.index)
            self._check_users(params.get("users"), item)
        else:
            absent = params is None
            fault = missing("params") if absent else Fault(expected("Object", params))
            item.refuse(fault, "params", inside=False)
            params = {}
        return self._make_upload(params, item, delete=kind == "Delete")

    def _make_upload(self, params: Mapping[str, Any], item: _Item, *, delete: bool) -> Upload:
        times = self.times
        effective = _read_moment(params, "effective_at", item) if self.rules.effective else None
        expires = _read_moment(params, "expires_at", item)
        self._check_expiry(params, item, effective or times.now, expires)
        sent = {"effective_at": effective, "expires_at": expires}
        return Upload(
            delete=delete,
            users=params.get("users") or (),
            effective_at=wire_seconds(effective) if effective else times.now_text,
            expires_at=wire_seconds(expires) if expires else times.expiry_text,
            times={name: wire_seconds(moment) for name, moment in sent.items() if moment},
        )

    def _check_expiry(
        self, params: Mapping[str, Any], item: _Item, starts: datetime, expires: datetime | None
    ) -> None:
        times, most = self.times, self.rules.latest_months
        if expires is not None and expires <= starts:
            after = "effective_at" if self.rules.effective else "now"
            item.refuse(Fault(f"expires_at must be later than {after}"), "expires_at")
        elif params.get("expires_at") is None and starts >= times.default_expiry:
            text = "expires_at must be later than effective_at, and its default is "
            item.refuse(Fault(text + times.expiry_text), "expires_at")
        if expires is not None and most is not None:
            latest = add_months(times.now, most)
            if expires > latest:
                text = f"expires_at may be at most {most} months ahead: {wire_seconds(latest)}"
                item.refuse(Fault(text), "expires_at")

    def _check_users(self, users: Any, item: _Item) -> None:
        if users is None:
            item.refuse(missing("users"), "users")
            return
        if not isinstance(users, list):
            item.refuse(Fault(expected("Array", users)), "users")
            return
        if not users:
            item.refuse(Fault("A minimum of 1 items must be provided for users"), "users")
            return
        identifiers = self.rules.identifiers
        for number, user in enumerate(users):
            where = f"users[{number}]"
            if not isinstance(user, dict):
                item.refuse(Fault(expected("Object", user)), where)
                continue
            found = False
            for kind, values in user.items():
                if kind in identifiers:
                    found = _check_values(kind, values, f"{where}.{kind}", item) or found
                else:
                    self.unknown.add(
                        f"[{item.index}].params.{where}", kind, _make_shape(identifiers)
                    )
            if not found and not item.errors:
                text = f"{where} needs at least one of {', '.join(identifiers)}"
                item.refuse(Fault(text), where)

    def _note_unknown(
        self, operation: Mapping[str, Any], params: Mapping[str, Any], index: int
    ) -> None:
        own = ("operation_type", "params")
        for name in operation.keys() - {*own}:
            self.unknown.add(f"[{index}]", name, _make_shape(own))
        times = ("effective_at",) if self.rules.effective else ()
        known = ("users", "expires_at", *times)
        for name in params.keys() - {*known}:
            if self.call.path_params.get(name) != params[name]:
                self.unknown.add(f"[{index}].params", name, _make_shape(known))


def _make_shape(keys: Sequence[str]) -> Shape:
    return Shape(dict.fromkeys(keys))


def _echo_type(operation: Any) -> dict[str, str]:
    kind = operation.get("operation_type") if isinstance(operation, dict) else None
    return {"operation_type": kind} if kind in OPERATION_TYPES else {}


def _check_values(kind: str, values: Any, where: str, item: _Item) -> bool:
    """Check the identifiers of one kind; return whether there are any.

    All but those of kind partner_user_id must be SHA256 hashes in hex.
    """
    if not isinstance(values, list):
        item.refuse(Fault(expected("Array", values)), where)
        return True
    for number, value in enumerate(values):
        if not isinstance(value, str) or not value:
            item.refuse(Fault(expected("String", value)), f"{where}[{number}]")
        elif kind != "partner_user_id" and _HASH.fullmatch(value) is None:
            wanted = "a normalized value hashed with SHA256, as 64 hexadecimal digits"
            item.refuse(Fault(expected(wanted, value)), f"{where}[{number}]")
    return bool(values)


def _read_moment(params: Mapping[str, Any], name: str, item: _Item) -> datetime | None:
    value = params.get(name)
    if value is None:
        return None
    try:
        return parse_instant(value) if isinstance(value, str) else _refuse_moment()
    except ValueError:
        item.refuse(Fault(expected("time", value)), name)
        return None


def _refuse_moment() -> datetime:
    raise ValueError("not a text")
