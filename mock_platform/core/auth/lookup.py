"""Finds the tokens and apps that the credentials of a request name; nothing is verified here."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote, unquote, unquote_plus

from mock_platform.core.assumptions import expectation
from mock_platform.core.call import FORM, Call
from mock_platform.core.failures.errors import Unauthorized
from mock_platform.core.pairs import first_values
from mock_platform.world.store.interface import Change, Record
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World

_REPLACED = (
    "this published {} was replaced and will be refused by a later version: `mock-platform "
    "credentials` prints the new one"
)
_HINT = re.compile(r'oauth_(token|consumer_key)="?([^"&,\s]+)', re.ASCII)
_LOOKED_AT = 65_536
"""Bytes of a body that may have credentials; other requests wait for the look at them."""
_OAUTH2_HINTS = ("code", "refresh_token", "token", "client_id")
"""Parameters of the OAuth 2.0 endpoints that name a token or an app."""

BEARER_DECODED = expectation(
    "oauth2.bearer-decoded",
    "A bearer token, which is handed out percent-encoded, is known in its decoded form too.",
)


def find_app(world: World, consumer_key: str) -> Record | None:
    """Return the app with this API key."""
    return world.store.first("apps", {"consumer_key": consumer_key})


def find_calling_app(call: Call, world: World, consumer_key: str) -> Record | None:
    """Return the app with this API key and its secret.

    A published pair that was replaced is found as well. The journal warns of it.
    """
    app = find_app(world, consumer_key)
    if app is None:
        app = world.store.first("apps", {"former_key": consumer_key})
        if app is not None:
            call.warn(_REPLACED.format("API key"))
            app = app | {"consumer_key": consumer_key, "consumer_secret": app["former_secret"]}
    return app


def find_client(world: World, client_id: str) -> Record | None:
    """Return the app with this `client_id`."""
    return world.store.first("apps", {"client_id": client_id})


def find_signing_token(call: Call, world: World, value: str) -> Record | None:
    """Return the token with this value, which signs requests of OAuth 1.0a.

    A published access token that was replaced is found under its former value too, so that there
    is one state of both. The journal warns of it.
    """
    token = world.store.get("tokens", value)
    if token is None:
        token = world.store.first("tokens", {"former_id": value})
        if token is not None:
            call.warn(_REPLACED.format("access token"))
    return token


def find_bearer(call: Call, world: World, value: str) -> Record | None:
    """Return the bearer token with this value, as it was issued or percent-decoded."""
    token = world.store.get("tokens", value) if value else None
    if token is None and value:
        token = world.store.get("tokens", quote(value, safe=""))
        if token is not None:
            call.assume(BEARER_DECODED)
        else:
            token = world.store.first("tokens", {"former_id": quote(unquote(value), safe="")})
            if token is not None:
                call.warn(_REPLACED.format("bearer token"))
    return token if token is not None and token["kind"] == "bearer" else None


def read_basic_pair(value: str) -> tuple[str, str]:
    """Return key and secret, each percent-decoded (public facts, section 4, oauth2/token).

    Raises:
        Unauthorized: It is not base64 of two texts with a colon between them.
    """
    try:
        text = base64.b64decode(value, validate=True).decode()
    except ValueError as fault:  # no base64, no ASCII, or not UTF-8 inside
        raise Unauthorized("malformed", "the Basic credentials are not base64 of text") from fault
    key, colon, secret = text.partition(":")
    if not colon:
        raise Unauthorized(
            "malformed", "the Basic credentials have no colon between key and secret"
        )
    return unquote(key), unquote(secret)


def credential_hints(call: Call) -> Iterator[str]:
    """Return tokens and keys of the request, unverified, tokens first: to find its world."""
    # This runs before the world is known, for every request where worlds have their own
    # credentials. So nothing is parsed or verified: a pattern finds what looks like a token. A
    # wrong hint costs nothing, as the world that it leads to checks the credentials properly.
    header = call.header("authorization") or ""
    scheme, _, rest = header.partition(" ")
    if scheme.lower() == "bearer":
        value = rest.strip()
        yield value
        if "%" not in value and (encoded := quote(value, safe="")) != value:
            yield encoded
    elif scheme.lower() == "basic":
        try:
            yield read_basic_pair(rest.strip())[0]
        except Unauthorized:
            return
    texts = [rest] if scheme.lower() == "oauth" else []
    if "oauth_" in call.query_string:
        texts.append(call.query_string)
    if call.media_type == FORM and b"oauth_" in call.body[:_LOOKED_AT]:
        texts.append(call.body[:_LOOKED_AT].decode("latin-1"))
    found = [match.groups() for text in texts for match in _HINT.finditer(text)]
    for kind in ("token", "consumer_key"):
        yield from (unquote_plus(value) for name, value in found if name == kind)
    if "/oauth2/" in call.path:
        form = call.form if len(call.body) <= _LOOKED_AT else []
        values, _ = first_values([*call.query, *form])
        yield from (values[name] for name in _OAUTH2_HINTS if values.get(name))


# Credentials that choose a world: the consumer keys and tokens that only that world has. A
# client that sends one of them needs no header and no path prefix. The credentials of the
# fixtures exist in every world, so they choose none.

CREDENTIAL_TABLES = ("apps", "tokens")
"""Whose records have credentials."""
_APP_CREDENTIALS = ("consumer_key", "consumer_secret", "client_id", "client_secret")
_DRAWN = re.compile(r"(?<![A-Za-z0-9%])[0-9]+-|A{8,}|%[0-9A-Fa-f]{2}|([A-Za-z0-9]{1,64})")
"""The parts of a credential: a user id in front, a run that begins bearer tokens and an encoded
character are kept; other letters and digits are drawn."""


class WorldCredentials:
    """Finds the credentials in the changes of worlds; those of the fixtures are left out."""

    def __init__(self, base: Base) -> None:
        self._shared = frozenset(_list_credentials(base))

    def add_base(self, base: Base) -> None:
        """Leave out the credentials of these fixtures as well."""
        self._shared |= frozenset(_list_credentials(base))

    def is_shared(self, credential: str) -> bool:
        """Whether the fixtures have a credential, so that it chooses no world."""
        return credential in self._shared

    def compare(self, change: Change) -> Sequence[tuple[str, bool]]:
        """Return each credential that a change removed (`False`) or added (`True`)."""
        if change.table not in CREDENTIAL_TABLES:
            return ()
        # Most changes of apps and tokens leave the credentials as they are, for instance a token
        # that is used up; the index of owners is then not touched.
        before = _credentials_of(change.table, change.key, change.before)
        after = _credentials_of(change.table, change.key, change.after)
        if before == after:
            return ()
        found = [(each, False) for each in before if each not in after]
        found += [(each, True) for each in after if each not in before]
        return [each for each in found if each[0] not in self._shared]


def replace_credentials(world: World) -> None:
    """Give all apps and tokens of a world credentials of the same form that no other world has."""
    with world.work():
        for entry in world.store.page("apps"):
            changes: dict[str, str | None] = {
                name: _draw_like(world, value)
                for name in _APP_CREDENTIALS
                if (value := entry.record.get(name)) is not None
            }
            changes |= {"former_key": None, "former_secret": None}
            world.store.put("apps", entry.key, entry.record | changes)
        for entry in world.store.page("tokens"):
            token = entry.record | {"id": _draw_like(world, entry.key), "former_id": None}
            if token["secret"] is not None:
                token["secret"] = _draw_like(world, token["secret"])
            world.store.remove("tokens", entry.key)
            world.store.put("tokens", token["id"], token)


def _draw_like(world: World, credential: str) -> str:
    """Return a value of the form of `credential`, drawn from the seed and name of the world."""

    def draw(part: re.Match[str]) -> str:
        return world.ids.alphanumeric(len(part[0])) if part[1] else part[0]

    return _DRAWN.sub(draw, credential)


def _credentials_of(table: str, key: str, record: object) -> list[str]:
    if not isinstance(record, dict):
        return []
    if table == "tokens":
        return [key]
    found = [record.get("consumer_key"), record.get("client_id")] if table == "apps" else []
    return [each for each in found if isinstance(each, str)]


def _list_credentials(base: Base) -> Iterable[str]:
    for name in CREDENTIAL_TABLES:
        for key, row in base.rows.get(name, {}).items():
            yield from _credentials_of(name, key, row.record)
