"""Who is in an audience or list: uploads of users, and the batches that are read by hand."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Any

from msgspec import Struct, field

from mock_platform.api.ads.audiences.permissions import VISIBLE_TO, find_audience, find_permission
from mock_platform.api.ads.audiences.records import (
    AUDIENCES,
    IDENTIFIERS,
    PROCESSING,
    READ_WRITE,
    USERS,
    YOUNG_AUDIENCE,
    UserCounts,
    describe_audience_size,
    read_size,
)
from mock_platform.api.ads.batches import (
    OPERATION_ERRORS,
    BatchItem,
    as_operations,
    find_unknown_outer_keys,
    read_items,
)
from mock_platform.api.ads.conventions import Data, ads, fail
from mock_platform.api.ads.resource import apply_changes
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import BatchFailure
from mock_platform.core.faults import Fault, expected, missing
from mock_platform.core.fields import Choice, Instant, ListOf, Nested, Text
from mock_platform.core.operation import Example, Limit, Location
from mock_platform.core.schema import Schema
from mock_platform.core.unread import Shape, UnknownKeys, report
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.world import World

# Reads the user batches of document B by hand: 2,500 operations are too many for a schema. What
# is wrong with the request as a whole goes to `errors`; what is wrong with an item goes to
# `operation_errors`, parallel to the input. A batch with any fault changes nothing.

USER_IDENTITY = expectation(
    "audiences.user-identity",
    "A user is identified by the set of its identifiers: the same set replaces it, Delete removes "
    "every user that shares an identifier. Identifiers are compared without case.",
)
SIZE_FOLLOWS = expectation(
    "audiences.size-follows-uploads",
    "Audiences and lists grow and shrink with the uploaded users, at once and until they are "
    "deleted: effective_at and expires_at are kept and change no size. Fewer than 100 are "
    "TOO_SMALL to target.",
)
THIRTEEN_MONTHS = settled(
    "audiences.thirteen-months",
    "13 months are calendar months; a day that the month lacks is its last.",
)
HASH_CASE = settled(
    "audiences.hash-case", "Hashes are 64 hex digits in either case; the samples show both."
)
ASSUMPTIONS = (OPERATION_ERRORS, HASH_CASE, USER_IDENTITY, SIZE_FOLLOWS, THIRTEEN_MONTHS)
OPERATION_TYPES = ("Update", "Delete")
HASH = r"[0-9a-fA-F]{64}"
"""The form of a hashed identifier: SHA256 in hexadecimal digits."""
_HASH = re.compile(HASH, re.ASCII)
DEFAULT_EXPIRY_MONTHS = 13

# -- who is in it ---------------------------------------------------------------------------------

Identifiers = Mapping[str, Sequence[str]]
Holders = dict[tuple[str, str], set[str]]
"""Which users have an identifier: kind and value, to keys of users."""


class Upload(Struct, frozen=True):
    """One operation of a batch: users to add or to remove.

    `kind` is its operation_type as it was sent; an unknown one is refused before it is applied.
    """

    kind: str | None
    users: Sequence[Identifiers]
    effective_at: str | None
    expires_at: str | None
    times: Mapping[str, str] = field(default_factory=dict)
    """`effective_at` and `expires_at` in wire form, where the client sent them."""

    @property
    def delete(self) -> bool:
        """Whether users are removed."""
        return self.kind == "Delete"

    def describe(self, path_params: Mapping[str, str]) -> dict[str, Any]:
        """Return the operation as `request` echoes it: what could be read, without users."""
        kind = {} if self.kind is None else {"operation_type": self.kind}
        return {"params": {**self.times, **path_params}, **kind}


def apply_uploads(world: World, audience_id: str, uploads: Iterable[Upload]) -> int:
    """Add and remove users; return by how many the audience grew (negative if it shrank)."""
    grown = 0
    holders: Holders | None = None  # read at the first Delete, and kept up to date from then on
    for upload in uploads:
        if not upload.delete:
            grown += _put_users(world, audience_id, upload, holders)
            continue
        if holders is None:
            holders = {}
            for entry in world.store.page(USERS, {"_audience_id": audience_id}):
                _add_holder(holders, entry.key, entry.record["identifiers"])
        for user in upload.users:
            hit = {key for pair in _list_identifiers(user) for key in holders.get(pair, ())}
            grown -= sum(_remove_user(world, key, holders) for key in hit)
    return grown


def _put_users(world: World, audience_id: str, upload: Upload, holders: Holders | None) -> int:
    new = 0
    for user in upload.users:
        pairs = _list_identifiers(user)
        # The key has the user's only identifier, or a digest of all of them.
        identity = "-".join(pairs[0])
        if len(pairs) > 1:
            identity = blake2b(repr(sorted(pairs)).encode(), digest_size=16).hexdigest()
        key = f"{audience_id}-{identity}"
        new += world.store.get(USERS, key) is None
        record = {
            "_id": key,
            "_audience_id": audience_id,
            "identifiers": user,
            "effective_at": upload.effective_at,
            "expires_at": upload.expires_at,
        }
        world.store.put(USERS, key, record)
        if holders is not None:
            _add_holder(holders, key, user)
    return new


def _remove_user(world: World, key: str, holders: Holders) -> bool:
    gone = world.store.remove(USERS, key)
    if gone is None:
        return False
    for pair in _list_identifiers(gone["identifiers"]):
        holders[pair].discard(key)
    return True


def _add_holder(holders: Holders, key: str, user: Identifiers) -> None:
    for pair in _list_identifiers(user):
        holders.setdefault(pair, set()).add(key)


def _list_identifiers(user: Identifiers) -> list[tuple[str, str]]:
    """Return each identifier of a user once, in the order in which they were sent."""
    pairs = (
        (kind, value if kind == "partner_user_id" else value.lower())
        for kind, values in user.items()
        for value in values
    )
    return list(dict.fromkeys(pairs))


# -- the batches ----------------------------------------------------------------------------------


def add_months(moment: datetime, months: int = DEFAULT_EXPIRY_MONTHS) -> datetime:
    """Return the moment some calendar months later, clipped to the end of its month."""
    # Months are counted from zero, so that the division yields the years; the day is clipped last,
    # because only then is it known which month it is in.
    index = moment.month - 1 + months
    year, month = moment.year + index // 12, index % 12 + 1
    return moment.replace(
        year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1])
    )


class BatchRules(Struct, frozen=True):
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
        """Read the uploads of a call whose parameters are `as_operations`; add them as `items`.

        Raises:
            AdsFailure: The request as a whole is not acceptable.
            BatchFailure: Some of its items are not.
            NotShown: `--strict`, and the request has unknown keys.
        """
        body, now = params["operations"], world.clock.now()
        items, expiry = read_items(body, OPERATION_TYPES, self.most), add_months(now)
        times = _Times(now, wire_seconds(now), expiry, wire_seconds(expiry))
        reader = _Reader(call, self, times, UnknownKeys())
        uploads = [reader.read(body[item.index], item) for item in items]
        report(call, reader.unknown.findings(), strict=settings.strict)
        if any(item.errors for item in items):
            call.assume(OPERATION_ERRORS)
            echo = [upload.describe(call.path_params) for upload in uploads]
            raise BatchFailure([item.errors for item in items], echo)
        call.params = {"operations": body, "items": uploads}
        return ()


class _Times(Struct, frozen=True):
    """The moment of the request, and the defaults that follow from it."""

    now: datetime
    now_text: str
    default_expiry: datetime
    expiry_text: str


class _Reader(Struct, frozen=True):
    """Reads the operations of one batch, and collects unknown keys."""

    call: Call
    rules: BatchRules
    times: _Times
    unknown: UnknownKeys

    def read(self, operation: Any, item: BatchItem) -> Upload:
        """Read one operation; its faults are added to its item."""
        find_unknown_outer_keys(operation, item.index, self.unknown)
        if isinstance(operation, dict) and isinstance(operation.get("params"), dict):
            self._note_unknown(item)
            users = self._read_users(item.params.get("users"), item)
        elif not isinstance(operation, dict):
            return Upload(kind=None, users=(), effective_at=None, expires_at=None)
        else:
            users = ()
        return self._make_upload(item, users)

    def _make_upload(self, item: BatchItem, users: Sequence[Identifiers]) -> Upload:
        times, params = self.times, item.params
        effective = _read_moment(params, "effective_at", item) if self.rules.effective else None
        expires = _read_moment(params, "expires_at", item)
        self._check_expiry(params, item, effective or times.now, expires)
        sent = {"effective_at": effective, "expires_at": expires}
        return Upload(
            kind=item.sent_kind,
            users=users,
            effective_at=wire_seconds(effective) if effective else times.now_text,
            expires_at=wire_seconds(expires) if expires else times.expiry_text,
            times={name: wire_seconds(moment) for name, moment in sent.items() if moment},
        )

    def _check_expiry(
        self, params: Mapping[str, Any], item: BatchItem, starts: datetime, expires: datetime | None
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

    def _read_users(self, users: Any, item: BatchItem) -> Sequence[Identifiers]:
        """Return the users with the identifiers that the list takes; add faults to the item."""
        fault = None
        if users is None:
            fault = missing("users")
        elif not isinstance(users, list):
            fault = Fault(expected("Array", users))
        elif not users:
            fault = Fault("A minimum of 1 items must be provided for users")
        if fault is not None:
            item.refuse(fault, "users")
            return ()
        identifiers, read = self.rules.identifiers, []
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
                    place = f"[{item.index}].params.{where}"
                    self.unknown.add(place, kind, Shape(dict.fromkeys(identifiers)))
            if not found and not item.errors:
                text = f"{where} needs at least one of {', '.join(identifiers)}"
                item.refuse(Fault(text), where)
            # What is ignored identifies nobody, and may have any type.
            read.append({kind: values for kind, values in user.items() if kind in identifiers})
        return read

    def _note_unknown(self, item: BatchItem) -> None:
        times = ("effective_at",) if self.rules.effective else ()
        known = ("users", "expires_at", *times)
        for name in item.params.keys() - {*known}:
            if self.call.path_params.get(name) != item.params[name]:
                self.unknown.add(f"[{item.index}].params", name, Shape(dict.fromkeys(known)))


def _check_values(kind: str, values: Any, where: str, item: BatchItem) -> bool:
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


def _read_moment(params: Mapping[str, Any], name: str, item: BatchItem) -> datetime | None:
    value = params.get(name)
    if value is None:
        return None
    with suppress(ValueError):
        if isinstance(value, str):
            return parse_instant(value)
    item.refuse(Fault(expected("time", value)), name)
    return None


MAX_OPERATIONS = 2500

UPLOAD_RIGHTS = settled(
    "custom-audiences.upload-rights",
    "Users are uploaded by the owner or an account with a READ_WRITE permission.",
)
USER_COUNTS = public_fact(
    "custom-audiences.counts-users",
    "success_count and total_count count user records, not operations.",
    "section 7, custom audience users",
)


class HashedUser(Schema):
    """One user, by hashed identifiers; only partner_user_id is plain."""

    email = ListOf(Text(pattern=HASH))
    device_id = ListOf(Text(pattern=HASH))
    handle = ListOf(Text(pattern=HASH))
    platform_id = ListOf(Text(pattern=HASH))
    phone_number = ListOf(Text(pattern=HASH))
    partner_user_id = ListOf(Text(min_length=1))


class UserParams(Schema):
    """The `params` of one operation of the batch."""

    users = ListOf(Nested(HashedUser), required=True, least=1)
    effective_at = Instant()
    expires_at = Instant()


class UserBatch(Schema):
    """The body: an array of up to 2,500 operations."""

    class Meta:
        """The body is an array of operations."""

        many = True

    operation_type = Choice(OPERATION_TYPES, required=True)
    params = Nested(UserParams, required=True)


RULES = BatchRules(IDENTIFIERS, most=MAX_OPERATIONS, effective=True)


def upload_users(call: Call, world: World) -> dict[str, int]:
    """Add users to the audience and remove users from it, all of them or none."""
    uploads = call.params["items"]
    audience = find_audience(call, world, "custom_audience_id", "NOT_FOUND")
    account = call.path_params["account_id"]
    if audience["owner_account_id"] != account:
        granted = find_permission(world, audience, account)
        if granted is None or granted["permission_level"] != READ_WRITE:
            call.assume(UPLOAD_RIGHTS)
            text = "This account may not change the users of this audience"
            raise fail("ACTION_NOT_ALLOWED", text)
    grown = apply_uploads(world, audience["id"], uploads)
    size = max(0, read_size(audience, "audience_size") + grown)
    processing = PROCESSING in audience["reasons_not_targetable"]
    changes = describe_audience_size(audience, size, processing=processing)
    world.store.put(AUDIENCES, audience["id"], apply_changes(world, audience, changes))
    count = sum(len(upload.users) for upload in uploads)
    return {"success_count": count, "total_count": count}


EXAMPLE = Example(json=[{"operation_type": "Update", "params": {"users": [{"email": ["a" * 64]}]}}])
OPERATIONS = (
    ads(
        "custom_audiences.users",
        "POST",
        "/12/accounts/:account_id/custom_audiences/:custom_audience_id/users",
        upload_users,
        summary="Upload users of an audience",
        spec="Custom audiences: POST users",
        returns=Data(UserCounts),
        params=UserBatch,
        location=Location.JSON,
        read_body=as_operations,
        rules=RULES.check,
        limits=(Limit("audience uploads", 1500, 60),),
        public_limits=False,
        assumptions=(USER_COUNTS,),
        may_assume=(VISIBLE_TO, UPLOAD_RIGHTS, YOUNG_AUDIENCE, *ASSUMPTIONS),
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED"),
        statuses=(404, 413),
        example=EXAMPLE,
    ),
)
