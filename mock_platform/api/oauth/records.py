"""Apps, users, grants and tokens: who may call, and for whom (document A, "Authentication")."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mock_platform.api.v2.objects.users import USERS
from mock_platform.core.auth.oauth2 import SCOPES, canonicalize
from mock_platform.core.errors import did_you_mean
from mock_platform.core.fields import Choice, Flag, Instant, Integer, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

PERMISSIONS = ("read", "write", "direct_messages")
TOKEN_KINDS = ("request", "access", "bearer", "oauth2", "refresh", "code")
CLIENT_TYPES = ("public", "confidential")
TIERS = ("self_serve", "enterprise", "partner")


class AppRecord(Schema):
    """An app with its API key and secret, and what it may do.

    An app without a `client_id` has no OAuth 2.0 user tokens.
    """

    id = Text(required=True)
    name = Text(required=True)
    consumer_key = Text(required=True, min_length=1)
    consumer_secret = Text(required=True, min_length=1)
    former_key = Text(load_default=None, allow_none=True, min_length=1)
    former_secret = Text(load_default=None, allow_none=True, min_length=1)
    """The pair that was published in place of this one before, and is still accepted."""
    client_id = Text(load_default=None, allow_none=True, min_length=1)
    client_secret = Text(load_default=None, allow_none=True, min_length=1)
    callback_urls = ListOf(
        Text(
            pattern=r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+",
            pattern_text="an absolute address in printable ASCII, such as https://app.example/cb "
            "or myapp://oauth (out-of-band mode needs no entry of its own)",
        ),
        load_default=list,
    )
    description = Text(load_default="")
    url = Text(load_default=None, allow_none=True)
    _client_type = Choice(CLIENT_TYPES, load_default="confidential")
    _tier = Choice(TIERS, load_default="self_serve")
    _permissions = ListOf(Choice(PERMISSIONS), load_default=lambda: ["read", "write"])
    _sign_in_enabled = Flag(load_default=False)
    _owner_user_id = Text(load_default=None, allow_none=True)
    _early_access = Flag(load_default=False)
    _allowlist = ListOf(Text(), load_default=list)
    _ads_agents = Flag(load_default=True)
    """Whether it is enrolled for the advertising server for agents."""
    _post_cap = Integer(low=0, load_default=None, allow_none=True)
    """Posts that its project may read in a month, if not the usual number."""


class GrantRecord(Schema):
    """A grant: a user lets an app act for them, by OAuth 2.0 with `scopes`, else by OAuth 1.0a."""

    _id = Text(required=True)
    app_id = Text(required=True)
    user_id = Text(required=True)
    access = Choice(("read", "write"), load_default="write")
    scopes = ListOf(Text(), load_default=None, allow_none=True)
    created_at = Instant(as_sent=True, required=True)


class TokenRecord(Schema):
    """A token; its id is the token itself.

    A request token goes `pending`, `granted` or `denied`, `used`; the others are `active` or
    `invalidated`. `oauth2`, `refresh` and `code` are the access tokens, the refresh tokens and the
    authorization codes of OAuth 2.0 user context; those of one consent share `authorization_id`.
    """

    id = Text(required=True, min_length=1)
    former_id = Text(load_default=None, allow_none=True, min_length=1)
    """The token that was published in place of this one before, and is still accepted."""
    kind = Choice(TOKEN_KINDS, required=True)
    state = Choice(
        ("pending", "granted", "denied", "used", "active", "invalidated"), load_default="active"
    )
    secret = Text(load_default=None, allow_none=True)
    app_id = Text(required=True)
    user_id = Text(load_default=None, allow_none=True)
    access = Choice(("read", "write"), load_default="write")
    created_at = Instant(as_sent=True, load_default="2020-01-01T00:00:00Z")
    callback = Text(load_default=None, allow_none=True)
    verifier = Text(load_default=None, allow_none=True)
    scopes = ListOf(Text(), load_default=list)
    expires_at = Instant(as_sent=True, load_default=None, allow_none=True)
    authorization_id = Text(load_default=None, allow_none=True)
    code_challenge = Text(load_default=None, allow_none=True)
    code_challenge_method = Choice(("S256", "plain"), load_default=None, allow_none=True)


_NEEDED = {
    "request": ("secret", "callback"),
    "access": ("secret", "user_id"),
    "bearer": (),
    "oauth2": ("user_id",),
    "refresh": ("user_id", "authorization_id"),
    "code": ("user_id", "authorization_id", "callback", "expires_at"),
}
_ENDED = ("active", "invalidated")
_STATES = {
    "request": ("pending", "granted", "denied", "used"),
    "access": _ENDED,
    "bearer": _ENDED,
    "oauth2": _ENDED,
    "refresh": ("active", "used", "invalidated"),
    "code": ("active", "used", "invalidated"),
}


def _check_token(record: Record) -> Iterator[tuple[str, str]]:
    kind, state = record["kind"], record["state"]
    needed = _NEEDED[kind] + (("user_id", "verifier") if state == "granted" else ())
    for name in needed:
        if not record[name]:
            yield name, f"{name} may not be empty in a {state} token of kind {kind}"
    for scope in record["scopes"]:
        if canonicalize(scope) not in SCOPES:
            hint = did_you_mean(scope, SCOPES)
            yield "scopes", f"{scope!r} is not a scope.{hint} The scopes: {', '.join(SCOPES)}"
    if state not in _STATES[kind]:
        yield "state", f"a token of kind {kind} is one of {', '.join(_STATES[kind])}, not {state}"


def _draw_app(draft: Draft) -> Record:
    return {
        "name": f"{draft.company()} {draft.id()}",
        "consumer_key": draft.secret(25),
        "consumer_secret": draft.secret(50),
    }


def _draw_token(draft: Draft) -> Record:
    user_id = draft.record.get("user_id") or (draft.first("users") or {}).get("id")
    kind = "bearer" if user_id is None else "access"
    return {
        "id": f"{user_id or ''}-{draft.secret(40)}",
        "kind": kind,
        "secret": None if user_id is None else draft.secret(45),
        "user_id": user_id,
    }


REQUEST_TOKEN_SECONDS = 3600
"""How long a request token can be answered and exchanged, on the world's clock."""


def _find_expiry(token: Record) -> datetime | None:
    if token["state"] not in {"pending", "granted", "active"}:
        return None
    if token["kind"] == "request":
        return parse_instant(token["created_at"]) + timedelta(seconds=REQUEST_TOKEN_SECONDS)
    return None if token["expires_at"] is None else parse_instant(token["expires_at"])


APPS = Table(
    "apps",
    AppRecord,
    references=(Reference("_owner_user_id", "users"),),
    draw=_draw_app,
    is_scope=True,
)
GRANTS = Table(
    "grants",
    GrantRecord,
    key="_id",
    references=(Reference("app_id", "apps"), Reference("user_id", "users")),
    draw=lambda draft: {"_id": "{app_id}-{user_id}".format_map(draft.record)},
    once=("app_id", "user_id"),
)
TOKENS = Table(
    "tokens",
    TokenRecord,
    references=(Reference("app_id", "apps"), Reference("user_id", "users")),
    check=_check_token,
    draw=_draw_token,
    due=("expiry", _find_expiry),
)
TABLES = (APPS, USERS, GRANTS, TOKENS)
