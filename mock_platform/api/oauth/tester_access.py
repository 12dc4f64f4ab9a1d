"""What testers use without a browser: the published credentials of a world, and a user's answer.

The credentials are those of one app and one user, with their tokens and accounts. The control
plane, the command line and the Python interface return the same ones (interfaces, section 5). An
answer makes the same records as the pages do.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from mock_platform.api.oauth.consent import authorizations, tokens
from mock_platform.api.oauth.consent.authorizations import SentBack, read_request
from mock_platform.api.oauth.consent.pages import OUT_OF_BAND
from mock_platform.api.oauth.records import REQUEST_TOKEN_SECONDS
from mock_platform.api.v2.objects.post_text import find_user
from mock_platform.core.auth.lookup import find_client
from mock_platform.core.auth.tester_access import CannotApprove, Credentials, is_address
from mock_platform.core.failures.errors import PlainFailure
from mock_platform.core.pairs import decode_pairs, first_values
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_APP_KEYS = (
    "id", "consumer_key", "consumer_secret", "client_id", "client_secret", "callback_urls",
)  # fmt: skip


def credentials(world: World) -> Credentials:
    """Return the credentials of a world: its first app and user.

    A value that the world does not have (any more) is null, and `accounts` is empty.
    """
    with world.lock:
        app = world.store.first("apps")
        user = world.store.first("users")
        access = oauth2 = bearer = webhook = None
        if app is not None:
            mine = {"app_id": app["id"], "state": "active"}
            bearer = world.store.first("tokens", {**mine, "kind": "bearer"})
            webhook = world.store.first("webhooks", {"_app_id": app["id"]})
            if user is not None:
                take_user = {**mine, "user_id": user["id"]}
                access = world.store.first("tokens", {**take_user, "kind": "access"})
                oauth2 = world.store.first("tokens", {**take_user, "kind": "oauth2"})
        return {
            "app": None if app is None else _app(app),
            "user": None if user is None else _user(user, access, oauth2),
            "bearer_token": None if bearer is None else bearer["id"],
            "accounts": [] if user is None else _accounts(world, user["id"]),
            "webhook_id": None if webhook is None else webhook["id"],
        }


def _app(app: Record) -> dict[str, Any]:
    return {key: app[key] for key in _APP_KEYS}


def _user(user: Record, access: Record | None, oauth2: Record | None) -> dict[str, Any]:
    return {
        "id": user["id"],
        "screen_name": user["screen_name"],
        "password": user["_password"],
        "access_token": None if access is None else access["id"],
        "access_token_secret": None if access is None else access["secret"],
        "oauth2_access_token": None if oauth2 is None else oauth2["id"],
    }


def _accounts(world: World, user_id: str) -> list[str]:
    return [
        entry.key
        for entry in world.store.page("accounts")
        if user_id in entry.record["_users"] and not entry.record["deleted"]
    ]


class Approval(Struct, frozen=True):
    """What the browser would have carried back to the app."""

    redirect: str | None = None
    """The address that the browser would be sent to; `None` for out-of-band mode."""
    verifier: str | None = None
    """The `oauth_verifier` or PIN of OAuth 1.0a."""
    code: str | None = None
    """The authorization code of OAuth 2.0."""

    def as_json(self) -> dict[str, Any]:
        """Return the approval in the form of the control plane."""
        return asdict(self)


def approve(world: World, asked: str, *, user: str | None = None, deny: bool = False) -> Approval:
    """Allow or deny a request as a user: the first one unless `user` is an id or a screen name.

    `asked` is a request token of OAuth 1.0a, or the address of a page, which may also be that of
    OAuth 2.0. Called within `world.work()`.

    Raises:
        CannotApprove: Nothing here waits for an answer to this, or the user does not exist.
    """
    answerer = _require_user(world, user)
    if not is_address(asked):
        return _answer_token(world, asked, answerer, deny=deny)
    params, _ = first_values(decode_pairs(urlsplit(asked).query))
    if "oauth_token" in params:
        return _answer_token(world, params["oauth_token"], answerer, deny=deny)
    if "client_id" not in params:
        raise CannotApprove(
            f"The address {asked!r} has neither oauth_token nor client_id. Pass the whole address "
            "to which the app sends its user, or a request token."
        )
    return _answer_request(world, params, answerer, deny=deny)


def _answer_request(world: World, params: dict[str, str], user: Record, *, deny: bool) -> Approval:
    try:
        request = read_request(params, find_client(world, params["client_id"]))
        if deny:
            raise request.deny()
    except PlainFailure as fault:
        raise CannotApprove(fault.text) from fault
    except SentBack as back:
        return Approval(redirect=back.address)
    code = authorizations.issue_code(world, request, user)["id"]
    return Approval(redirect=request.build_answer(code=code), code=code)


def _answer_token(world: World, value: str, user: Record, *, deny: bool) -> Approval:
    token = world.store.get("tokens", value)
    if token is None or token["kind"] != "request":
        raise CannotApprove(
            f"World {world.name!r} did not issue this request token. Get one with POST "
            "/oauth/request_token, in the same world."
        )
    if token["state"] in {"used", "denied"}:
        raise CannotApprove(f"This request token was {token['state']} already; get another one.")
    if tokens.is_expired(world, token):
        seconds = REQUEST_TOKEN_SECONDS
        raise CannotApprove(f"This request token is older than {seconds} seconds; get another one.")
    if token["state"] == "granted" and token["user_id"] != user["id"]:
        raise CannotApprove("Another user has allowed this request token; get another one.")
    callback: str = token["callback"]
    by_hand = callback == OUT_OF_BAND
    if deny:
        tokens.deny(world, token)
        back = None if by_hand else tokens.build_callback(callback, denied=token["id"])
        return Approval(redirect=back)
    granted = tokens.grant(world, token, user)
    verifier: str = granted["verifier"]
    if by_hand:
        return Approval(verifier=verifier)
    address = tokens.build_callback(callback, oauth_token=token["id"], oauth_verifier=verifier)
    return Approval(redirect=address, verifier=verifier)


def find_tester(world: World, name: str | None) -> Record | None:
    """Return the user whom a test means by an id or a screen name; by `None`, the first one."""
    if name is None:
        return world.store.first("users")
    return world.store.get("users", name) or find_user(world, name.removeprefix("@"))


def _require_user(world: World, name: str | None) -> Record:
    found = find_tester(world, name)
    if found is None and name is None:
        raise CannotApprove("This world has no user; first add one to its table users.")
    if found is None:
        known = [entry.record["screen_name"] for entry in world.store.page("users", limit=10)]
        raise CannotApprove(
            f"No user has the id or screen name {name!r}; there are {', '.join(known) or 'none'}."
        )
    return found
