"""What all operations of the advertising interface share: envelopes, credentials, account scope.

Document B, "Common conventions" and "Authentication"; public facts, sections 1 to 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from marshmallow import Schema
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.ads.lists import COUNT_CLAMPED, PageOf, clamp_count
from mock_platform.core.assumptions import Assumption, public_fact, settled
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call, Reply
from mock_platform.core.description.schemas import REQUEST_ECHO
from mock_platform.core.envelope import Returns
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import (
    Echo,
    Gate,
    Handler,
    Limit,
    Location,
    Operation,
    Origin,
    Particulars,
)
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

JsonObject = dict[str, Any]
JSON = "application/json;charset=utf-8"
JSON_TYPE = ("Content-Type", JSON)
"""The header of all answers with JSON; the journal keeps one for all."""

OAUTH1_CREDENTIALS = public_fact(
    "ads.oauth1-credentials",
    "The advertising interface takes OAuth 1.0a user context; the spec does not show its scheme.",
    "section 3, auth",
)
BEARER_OWNER = settled(
    "ads.bearer-acts-for-owner",
    "A bearer token is taken as well and acts for the app's owner; --ads-auth oauth1 and --strict "
    "refuse it.",
)
PARAMS_ECHO = public_fact(
    "ads.params-echo",
    "request.params echoes what was sent, normalised: lists from comma strings, native numbers and "
    "booleans, path parameters included, defaults not.",
    "section 3",
)
ACCOUNT_SCOPE = public_fact(
    "ads.account-not-found",
    "An account that is unknown, deleted or not associated with the user answers 403 "
    "ACCOUNT_NOT_FOUND.",
    "section 1, code list",
)
READ_ONLY = public_fact(
    "ads.read-only-application",
    "Writes with a token or app that may only read answer 403 READONLY_CLIENT_APPLICATION.",
    "section 1, code list",
)

USER_RIGHTS = public_fact(
    "ads.user-rights",
    "What belongs to campaigns is changed by ACCOUNT_ADMIN and AD_MANAGER alone, and read by "
    "CREATIVE_MANAGER and CAMPAIGN_ANALYST too; others get 403 ACTION_NOT_ALLOWED. A user without "
    "an entry in the account's _user_access is ACCOUNT_ADMIN.",
    "adjacent operations, sections 1 and 9",
)
_DEFAULT_PERMISSIONS = ("ACCOUNT_ADMIN", "POST_COMPOSER")
_WRITERS = frozenset({"ACCOUNT_ADMIN", "AD_MANAGER"})
_READERS = _WRITERS | {"CREATIVE_MANAGER", "CAMPAIGN_ANALYST"}

MAX_BYTES = 5_000_000
"""Maximum size of a body in bytes (Limits)."""
AUTH = Auth(("oauth1", "bearer"), (OAUTH1_CREDENTIALS, BEARER_OWNER))


class One(Struct, frozen=True):
    """A single record under `data`."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "application/json"
    card: bool = False
    in_array: bool = False
    data_type: str | None = None
    """The kind of the record, in those answers that name it."""

    def configure(self, settings: Settings) -> One:
        """With `--card-envelope array`, returns cards in an array, as the public samples do."""
        return replace(self, in_array=self.card and settings.card_envelope == "array")

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: the record under `data`."""
        kind = {} if self.data_type is None else {"data_type": {"const": self.data_type}}
        return _body(**kind, data={"type": "array", "items": data} if self.in_array else data)

    def reply(self, call: Call, result: Record) -> Reply:
        """Return the reply for one record."""
        shown = remove_internal_keys(result)
        body: JsonObject = {"request": {"params": call.echo}}
        if self.data_type is not None:
            body["data_type"] = self.data_type
        body["data"] = [shown] if self.in_array else shown
        return Reply(self.status, dumps(body), [JSON_TYPE])


class Many(Struct, frozen=True):
    """A page of records under `data`, with `next_cursor` and, if asked for, `total_count`."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: records under `data`, and a cursor."""
        described = _body(
            data={"type": "array", "items": data}, next_cursor={"type": ["string", "null"]}
        )
        described["properties"]["total_count"] = {"type": "integer", "minimum": 0}
        return described

    def reply(self, call: Call, result: PageOf) -> Reply:
        """Return the reply for a page."""
        body: dict[str, Any] = {"request": {"params": call.echo}}
        if result.total_count is not None:
            body["total_count"] = result.total_count
        body["next_cursor"] = result.next_cursor
        body["data"] = [remove_internal_keys(record) for record in result.records]
        return Reply(self.status, dumps(body), [JSON_TYPE])


class Several(Struct, frozen=True):
    """All records that a write made, under `data`, with their `total_count`; no cursor."""

    schema: type[Schema]
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: records under `data`, and their number."""
        return _body(
            data={"type": "array", "items": data}, total_count={"type": "integer", "minimum": 0}
        )

    def reply(self, call: Call, result: Sequence[Record]) -> Reply:
        """Return the reply for all records."""
        shown = [remove_internal_keys(record) for record in result]
        body = {"request": {"params": call.echo}, "data": shown, "total_count": len(shown)}
        return Reply(self.status, dumps(body), [JSON_TYPE])


class Typed(Struct, frozen=True):
    """Rows under `data`, with `data_type` and the numbers that the handler adds to it."""

    schema: type[Schema]
    data_type: str
    members: tuple[str, ...] = ("data",)
    """`data` and the names of the numbers before and after it, in the order of the answer."""
    status: int = 200
    media_type: str = "application/json"

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: its kind, numbers, rows and the request."""
        members: JsonObject = {name: {"type": "integer", "minimum": 0} for name in self.members}
        members["data"] = {"type": "array", "items": data}
        required = {"data_type": {"const": self.data_type}, **members, "request": REQUEST_ECHO}
        return {
            "type": "object",
            "properties": required,
            "required": list(required),
            "additionalProperties": False,
        }

    def make_body(self, call: Call, result: Mapping[str, Any]) -> JsonObject:
        """Return the body for `data` and the numbers of a result."""
        return {"data_type": self.data_type, **result, "request": {"params": call.echo}}

    def reply(self, call: Call, result: Mapping[str, Any]) -> Reply:
        """Return the reply for `data` and the numbers of a result."""
        return Reply(self.status, dumps(self.make_body(call, result)), [JSON_TYPE])


class Data(Struct, frozen=True):
    """Any JSON value that the handler returns, under `data`: no paging, no record."""

    schema: type[Schema] | None = None
    status: int = 200
    media_type: str = "application/json"
    many: bool = False

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: a value or an array under `data`."""
        return _body(data={"type": "array", "items": data} if self.many else data)

    def reply(self, call: Call, result: Any) -> Reply:
        """Return the reply for any JSON value."""
        body = {"request": {"params": call.echo}, "data": result}
        return Reply(self.status, dumps(body), [JSON_TYPE])


class Batch(Struct, frozen=True):
    """Results of a batch, with `request` as a parallel array of echoed operations."""

    schema: type[Schema] | None = None
    status: int = 200
    media_type: str = "application/json"
    data_type: str | None = None
    """The kind of the records, in those answers that name it."""

    def describe_body(self, data: JsonObject) -> JsonObject:
        """Return the JSON Schema of the body: two parallel arrays."""
        described = _body(data={"type": "array", "items": data})
        described["properties"]["request"] = {"type": "array", "items": {"type": "object"}}
        if self.data_type is not None:
            described["properties"]["data_type"] = {"const": self.data_type}
        return described

    def reply(self, call: Call, result: tuple[Sequence[Any], Sequence[Mapping[str, Any]]]) -> Reply:
        """Return the reply for a pair of data and request."""
        data, request = result
        kind = {} if self.data_type is None else {"data_type": self.data_type}
        body = {"request": request, **kind, "data": data}
        return Reply(self.status, dumps(body), [JSON_TYPE])


def _body(**required: JsonObject) -> JsonObject:
    """Return the JSON Schema of a body with the request echo and these properties."""
    return {
        "type": "object",
        "properties": {"request": REQUEST_ECHO, **required},
        "required": ["request", *required],
        "additionalProperties": False,
    }


def fail(code: str, message: str, parameter: str | None = None, *, hint: str = "") -> AdsFailure:
    """Return one named failure to raise; the hint goes to the journal."""
    return AdsFailure(AdsError(code, message, parameter, hint=hint))


def not_found(code: str, what: str, parameter: str, value: str) -> AdsFailure:
    """Return a 404 for a record that is unknown, deleted, or belongs to another account."""
    return fail(code, f"No {what} has the id {value!r}", parameter)


# -- gates -------------------------------------------------------------------------------------


def may_write(call: Call, world: World) -> None:
    """Check, as a gate, that a write has a token and an app with write permission."""
    if not call.caller.may_write:
        call.assume(READ_ONLY)
        raise fail(
            "READONLY_CLIENT_APPLICATION",
            "This client application may only read; grant it write access",
        )


def acts_for_user(call: Call, world: World) -> None:
    """Check, as a gate, for which user the caller acts: the owner of the token or of the app."""
    if call.caller.scheme == "bearer":
        call.assume(BEARER_OWNER)
    if call.caller.user is None:
        raise fail(
            "UNAUTHORIZED_CLIENT_APPLICATION",
            "This client application acts for no user; sign with a user's access token",
        )


def account_scope(call: Call, world: World) -> None:
    """Check, as a gate, that the account in the path belongs to the authenticated user."""
    call.account = find_account(call, world, call.path_params["account_id"])


def find_account(
    call: Call, world: World, account_id: str, *, with_deleted: bool = False
) -> Record:
    """Return an account of the calling user.

    Raises:
        AdsFailure: ACCOUNT_NOT_FOUND (403): it is unknown, deleted, or belongs to another user.
    """
    account = world.store.get("accounts", account_id)
    user = call.caller.user
    mine = account is not None and user is not None and user["id"] in account["_users"]
    if account is None or not mine or (account["deleted"] and not with_deleted):
        call.assume(ACCOUNT_SCOPE)
        raise fail(
            "ACCOUNT_NOT_FOUND",
            f"Account {account_id} was not found or is not associated with the authenticated user",
            "account_id",
        )
    return account


def find_permissions(account: Record, user_id: str) -> Sequence[str]:
    """Return the permissions of a user of an account."""
    for entry in account.get("_user_access", ()):
        if entry["user_id"] == user_id:
            return tuple(entry["permissions"])
    return _DEFAULT_PERMISSIONS


def may_use_campaigns(call: Call, world: World) -> None:
    """Check, as a gate, that the user has the right to read, or to change, campaigns.

    Raises:
        AdsFailure: ACTION_NOT_ALLOWED (403).
    """
    assert call.account is not None
    assert call.caller.user is not None
    reads = call.method in {"GET", "HEAD"}
    permissions = find_permissions(call.account, call.caller.user["id"])
    if (_READERS if reads else _WRITERS).isdisjoint(permissions):
        call.assume(USER_RIGHTS)
        what = "read" if reads else "change"
        held = ", ".join(permissions)
        raise fail(
            "ACTION_NOT_ALLOWED", f"A user with the permissions {held} may not {what} campaigns"
        )


def require_feature(call: Call, key: str) -> None:
    """Check that the account of the call has this feature.

    Raises:
        AdsFailure: FEATURE_NOT_AVAILABLE (400).
    """
    if call.account is None or key not in call.account["_features"]:
        raise fail("FEATURE_NOT_AVAILABLE", f"This account does not have the feature {key}")


def early_access(call: Call, world: World) -> None:
    """Check, as a gate, that the app has early access (document B, "Authentication")."""
    if not (call.caller.app or {}).get("_early_access"):
        raise fail(
            "UNAUTHORIZED_CLIENT_APPLICATION",
            "This client application has no early access to these endpoints",
        )


def require_allowlist(name: str) -> Gate:
    """Return a gate for apps on a named allowlist (document B, "Authentication")."""

    def gate(call: Call, world: World) -> None:
        if name not in (call.caller.app or {}).get("_allowlist", ()):
            raise fail(
                "UNAUTHORIZED_CLIENT_APPLICATION",
                f"This client application is not on the allowlist for {name}",
            )

    return gate


# -- declarations ------------------------------------------------------------------------------

CORE_READS = 10_000
"""Reads of an account in 15 minutes, of the records that clients read most; of others 2,000."""


def ads(
    id_: str,
    method: str,
    path: str,
    handler: Handler,
    *,
    summary: str,
    spec: str,
    returns: Returns,
    params: type[Schema] | None = None,
    location: Location = Location.QUERY,
    gates: Sequence[Gate] = (),
    limits: Sequence[Limit] = (),
    origin: Origin = Origin.DOCUMENT_B,
    errors: tuple[str, ...] = (),
    statuses: tuple[int, ...] = (),
    assumptions: Sequence[Assumption] = (),
    echo: Echo | None = None,
    scoped: bool = True,
    public_limits: bool = True,
    most_reads: int | None = None,
    declared_at: tuple[str, int] | None = None,
    **particulars: Unpack[Particulars],
) -> Operation:
    """Return an operation of document B: user context, account scope if the path has one.

    With `scoped=False` the handler checks the account itself (for an operation on the account that
    also shows deleted ones). Public rate limits follow from method and
    path; `most_reads` is the number of reads in 15 minutes, if it is not the usual one.
    """
    # The gates are in the order in which the interface refuses: who calls, whether they may write
    # at all, and whether the account is theirs. An operation's own gates come after these.
    first: list[Gate] = [acts_for_user]
    if method != "GET":
        first.append(may_write)
    if scoped and ":account_id" in path:
        first.append(account_scope)
    clamps = [] if params is None else clamp_count(params)
    if clamps:
        assumed = particulars.get("may_assume", ())
        particulars["may_assume"] = (*assumed, COUNT_CLAMPED)
    return Operation(
        id=id_,
        method=method,
        path=path,
        handler=handler,
        summary=summary,
        spec=f"B, {spec}",
        returns=returns,
        auth=AUTH,
        params=params,
        location=location,
        origin=origin,
        gates=(*first, *gates, *clamps),
        limits=(*limits, *(_public_limits(method, path, most_reads) if public_limits else ())),
        errors=errors,
        statuses=statuses,
        assumptions=(PARAMS_ECHO, *assumptions),
        echo=Echo(sent=location is not Location.JSON) if echo is None else echo,
        max_body=MAX_BYTES,
        declared_at=declared_at,
        **particulars,
    )


def _public_limits(method: str, path: str, most_reads: int | None) -> list[Limit]:
    if method != "GET":
        return [Limit("writes", 450, 60, source="public", category="ads-writes")]
    if ":account_id" not in path:
        return [Limit("global reads", most_reads or 5, 900, source="public")]
    return [Limit("account reads", most_reads or 2_000, 900, per="account", source="public")]
