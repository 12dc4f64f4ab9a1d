"""Reads the user batches of document B by hand: 2,500 operations are too many for a schema.

What is wrong with the request as a whole goes to `errors`; what is wrong with an item goes to
`operation_errors`, parallel to the input. A batch with any fault changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mock_platform.core.ads import fail
from mock_platform.core.assumptions import Assumption, settled
from mock_platform.core.audience import IDENTITY, SIZE, THIRTEEN_MONTHS, Upload, months_after
from mock_platform.core.call import Call
from mock_platform.core.errors import AdsError, BatchFailure
from mock_platform.core.fields import INVALID, MISSING
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.world import World

OPERATION_ERRORS = settled(
    "batch.operation-errors-shape",
    "operation_errors is an array parallel to the input; each entry is an array of error objects "
    "with index, code, message and parameter, empty for a sound item.",
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
        """Rules of an operation whose parameters are `as_operations`: adds `uploads` to them.

        Raises:
            AdsFailure, BatchFailure: As `read_uploads`.
        """
        uploads = read_uploads(call, params["operations"], self, world.clock.now())
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

    def refuse(self, message: str, parameter: str, code: str = INVALID) -> None:
        self.errors.append(AdsError(code, message, parameter, {"index": self.index}))


def as_operations(call: Call, body: Any) -> dict[str, Any]:
    """A body as the parameters of its operation, whole: `BatchRules.check` reads it by hand."""
    return {"operations": body}


def read_uploads(call: Call, body: Any, rules: BatchRules, now: datetime) -> list[Upload]:
    """The operations of a batch.

    Raises:
        AdsFailure: The request as a whole is not acceptable.
        BatchFailure: Some of its items are not.
    """
    if not isinstance(body, list) or not body:
        raise fail(INVALID, "The body must be an array of at least one operation")
    if rules.most is not None and len(body) > rules.most:
        text = f"A request may have at most {rules.most:,} operations, got {len(body):,}"
        raise fail(INVALID, text)
    uploads, failed = [], []
    expiry = months_after(now)
    times = _Times(now, wire_seconds(now), expiry, wire_seconds(expiry))
    for index, operation in enumerate(body):
        item = _Item(index, [])
        uploads.append(_operation(call, operation, rules, times, item))
        failed.append(item.errors)
    if any(failed):
        call.assume(OPERATION_ERRORS)
        raise BatchFailure(failed)
    return uploads


def _operation(call: Call, operation: Any, rules: BatchRules, times: _Times, item: _Item) -> Upload:
    if not isinstance(operation, dict):
        item.refuse("Each operation must be an object", "")
        return Upload(delete=False, users=(), effective_at=None, expires_at=None)
    kind = operation.get("operation_type")
    if kind is None:
        item.refuse("operation_type is a required parameter", "operation_type", MISSING)
    elif kind not in OPERATION_TYPES:
        item.refuse("operation_type must be one of [Update, Delete]", "operation_type")
    params = operation.get("params")
    if not isinstance(params, dict):
        missing = params is None
        text = "params is a required parameter" if missing else "params must be an object"
        item.refuse(text, "params", MISSING if missing else INVALID)
        params = {}
    else:
        _users(params.get("users"), rules, item)
        _warn(call, operation, params, rules)
    effective = _moment(params, "effective_at", item) if rules.effective else None
    expires = _moment(params, "expires_at", item)
    starts = effective or times.now
    if expires is not None and expires <= starts:
        after = "effective_at" if rules.effective else "now"
        item.refuse(f"expires_at must be later than {after}", "params.expires_at")
    elif params.get("expires_at") is None and starts >= times.default_expiry:
        text = f"expires_at must be later than effective_at, and its default is {times.expiry_text}"
        item.refuse(text, "params.expires_at")
    if expires is not None and rules.latest_months is not None:
        latest = months_after(times.now, rules.latest_months)
        if expires > latest:
            text = f"expires_at may be at most {rules.latest_months} months ahead"
            item.refuse(f"{text}: {wire_seconds(latest)}", "params.expires_at")
    return Upload(
        delete=kind == "Delete",
        users=params.get("users") or (),
        effective_at=wire_seconds(effective) if effective else times.now_text,
        expires_at=wire_seconds(expires) if expires else times.expiry_text,
    )


def _users(users: Any, rules: BatchRules, item: _Item) -> None:
    if users is None:
        item.refuse("params.users is a required parameter", "params.users", MISSING)
        return
    if not isinstance(users, list) or not users:
        item.refuse("params.users must be an array of at least one user", "params.users")
        return
    for number, user in enumerate(users):
        where = f"params.users[{number}]"
        if not isinstance(user, dict):
            item.refuse("each user must be an object", where)
            continue
        found = False
        for kind, values in user.items():
            if kind not in rules.identifiers:
                allowed = ", ".join(rules.identifiers)
                item.refuse(f"{kind!r} is no identifier; there are: {allowed}", f"{where}.{kind}")
            else:
                found = _values(kind, values, f"{where}.{kind}", item) or found
        if not found and not item.errors:
            item.refuse("a user needs at least one identifier", where)


def _values(kind: str, values: Any, where: str, item: _Item) -> bool:
    """Whether there are identifiers; every one but partner_user_id is a SHA256 in hex."""
    if not isinstance(values, list):
        item.refuse(f"{kind} must be an array of strings", where)
        return True
    for value in values:
        if not isinstance(value, str) or not value:
            item.refuse(f"{kind} must hold non-empty strings", where)
        elif kind != "partner_user_id" and _HASH.fullmatch(value) is None:
            item.refuse(
                f"{kind} must be normalized and hashed with SHA256: 64 hexadecimal digits", where
            )
    return bool(values)


def _moment(params: Mapping[str, Any], name: str, item: _Item) -> datetime | None:
    value = params.get(name)
    if value is None:
        return None
    try:
        return parse_instant(value) if isinstance(value, str) else _no_moment()
    except ValueError:
        item.refuse(f"Expected time, got {value!r} for {name}", f"params.{name}")
        return None


def _no_moment() -> datetime:
    raise ValueError("not a text")


def _warn(call: Call, operation: Mapping[str, Any], params: Any, rules: BatchRules) -> None:
    known: Sequence[str] = ("users", "expires_at", *(("effective_at",) if rules.effective else ()))
    for name in (*(operation.keys() - {"operation_type", "params"}), *(params.keys() - {*known})):
        call.warn(f"{name!r} in an operation of the batch is not one of its keys and was ignored")
