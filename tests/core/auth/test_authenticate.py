"""Who is calling: every scheme, every refusal, what the journal learns, and --auth off."""

from __future__ import annotations

from typing import Any, cast

import pytest
from oauthlib.oauth1 import SIGNATURE_TYPE_BODY, SIGNATURE_TYPE_QUERY

from mock_platform.api.oauth.consent import tokens
from mock_platform.core.auth import session as sessions
from mock_platform.core.auth.authenticate import BEARER, NO_AUTH, USER, Auth, Authenticator
from mock_platform.core.auth.lookup import find_app
from mock_platform.core.auth.session import Session
from mock_platform.core.call import Call, Caller
from mock_platform.core.failures.errors import (
    Failure,
    NumericFailure,
    Unauthorized,
    UnsupportedAuthentication,
)
from mock_platform.settings import Settings
from mock_platform.world.clock import machine_now
from mock_platform.world.world import World
from tests import support
from tests.core.auth.posts import basic, bearer, request, signed
from tests.support import HARBOR, NORTHBIKE, Keys

APP = Auth(("oauth1-app",))
REQUEST_TOKEN = Auth(("oauth1-request-token",))
BASIC = Auth(("basic",))
EITHER = Auth(("oauth1", "bearer"))
SESSION = Auth(("session",))


def caller(world: World, call: Call, by: Auth = USER, **settings: Any) -> Caller:
    """Who the authenticator of a server with these settings takes it to be."""
    return Authenticator(Settings(**settings)).caller(call, world, by)


def refusal(world: World, call: Call, auth: Auth = USER, **settings: Any) -> tuple[str, str]:
    """The kind of a refusal and what the journal shows."""
    with pytest.raises(Unauthorized) as caught:
        caller(world, call, auth, **settings)
    assert call.diagnosis is not None
    assert str(caught.value)
    return caught.value.fault, call.diagnosis["explanation"]


def put(world: World, table: str, key: str, **fields: Any) -> None:
    """Change a record."""
    world.store.put(table, key, (world.store.get(table, key) or {}) | fields)


# -- who it is -----------------------------------------------------------------------------------


def test_a_user_signs_with_the_access_token(world: World) -> None:
    """OAuth 1.0a user context: app, user and token are those of the token."""
    found = caller(world, signed())

    assert ("oauth1", "11827", "2244994945", HARBOR.token) == (
        found.scheme, (found.app or {})["id"], (found.user or {})["id"], (found.token or {})["id"],
    )  # fmt: skip
    assert not found.assumed


@pytest.mark.parametrize("place", [SIGNATURE_TYPE_QUERY, SIGNATURE_TYPE_BODY])
def test_a_signature_may_stand_in_query_or_body(world: World, place: str) -> None:
    """The header is one of three places."""
    assert "2244994945" == (caller(world, signed(signature_type=place)).user or {})["id"]


def test_an_app_signs_without_a_token(world: World) -> None:
    """Where an operation takes the app alone, its secret signs, and so does any of its users."""
    alone = caller(world, signed(Keys(HARBOR.key, HARBOR.secret)), APP)
    by_user = caller(world, signed(), APP)

    assert ("11827", None, None) == ((alone.app or {})["id"], alone.user, alone.token)
    assert ("11827", "2244994945") == ((by_user.app or {})["id"], (by_user.user or {})["id"])


def test_a_request_token_signs_where_it_is_asked_for(world: World) -> None:
    """The exchange is signed with the request token's secret; it has no user yet."""
    token = tokens.issue_request_token(world, find_app(world, HARBOR.key) or {}, "oob", "read")
    keys = Keys(HARBOR.key, HARBOR.secret, token["id"], token["secret"])
    found = caller(world, signed(keys), REQUEST_TOKEN)

    assert (None, token["id"]) == (found.user, (found.token or {})["id"])


def test_a_bearer_token_acts_for_the_app_and_its_owner(world: World) -> None:
    """App context; the owner is there for operations that need a user."""
    found = caller(world, bearer(support.BEARER), BEARER)

    assert ("bearer", "11827", "2244994945") == (
        found.scheme,
        (found.app or {})["id"],
        (found.user or {})["id"],
    )


def test_basic_is_the_app(world: World) -> None:
    """Key and secret are percent-decoded before they are compared."""
    put(world, "apps", "20993", consumer_key="a:b%/", consumer_secret="c:d%+")
    found = caller(world, basic("a:b%/", "c:d%+"), BASIC)

    assert ("basic", "20993", None) == (found.scheme, (found.app or {})["id"], found.user)


def test_operations_without_schemes_ask_nobody(world: World) -> None:
    """Whatever credentials come along are not looked at."""
    assert Caller() == caller(world, bearer("wrong"), NO_AUTH)


def test_a_session_never_refuses(world: World) -> None:
    """Without a cookie there is no user; with one its user, for the app of the request token."""
    token = tokens.issue_request_token(world, find_app(world, HARBOR.key) or {}, "oob", "read")
    session = sessions.log_in(world, {"id": "3805104374"}, token["id"], Session.anonymous())
    url = f"http://localhost/oauth/authorize?oauth_token={token['id']}"
    cookie = f"mock_platform_session_default={session.id}"
    nobody = caller(world, request(url), SESSION)
    somebody = caller(world, request(url, {"Cookie": cookie}), SESSION)
    by_access_token = caller(
        world, request(f"http://localhost/oauth/authorize?oauth_token={HARBOR.token}"), SESSION
    )

    assert (None, "11827", "nobody is logged in") == (
        nobody.user,
        (nobody.app or {})["id"],
        nobody.how,
    )
    assert "3805104374" == (somebody.user or {})["id"]
    assert (None, None) == (by_access_token.app, by_access_token.token)


# -- who it is not -------------------------------------------------------------------------------


def test_each_refusal_has_its_kind_and_its_reason(world: World) -> None:
    """The kind decides the wire's code, the reason goes to the journal."""
    unknown = Keys("nobody", HARBOR.secret)
    foreign = Keys(NORTHBIKE.key, NORTHBIKE.secret, HARBOR.token, HARBOR.token_secret)
    wrong = Keys(HARBOR.key, HARBOR.secret, HARBOR.token, "wrong")
    app = Keys(HARBOR.key, HARBOR.secret)
    cases: list[tuple[Call, Auth, str, str]] = [
        (request(), USER, "absent", "this operation takes OAuth 1.0a User Context"),
        (request(headers={"Authorization": "Digest x"}), USER, "malformed", "'digest'"),
        (request(headers={"Authorization": "OAuth x"}), USER, "malformed", "item 1 of"),
        (signed(unknown), USER, "consumer", "no app in world 'default' has the consumer key"),
        (signed(foreign), USER, "token", "was never issued to app 20993"),
        (signed(wrong), USER, "signature", "secret"),
        (signed(app), USER, "no-token", "oauth_token is missing"),
        (bearer("wrong"), BEARER, "token", "no bearer token of this value"),
        (bearer(""), BEARER, "token", "no bearer token of this value"),
        (bearer(str(HARBOR.token)), BEARER, "token", "this is an OAuth 1.0a access token"),
        (basic("nobody", "x"), BASIC, "consumer", "no app has the API key 'nobody'"),
        (basic(HARBOR.key, "x"), BASIC, "consumer", "wrong API key secret"),
        (request(headers={"Authorization": "Basic %"}), BASIC, "malformed", "not base64"),
        (request(headers={"Authorization": "Basic \xff"}), BASIC, "malformed", "not base64"),
        (request(headers={"Authorization": "Basic /w=="}), BASIC, "malformed", "not base64"),
        (request(headers={"Authorization": "Basic eA=="}), BASIC, "malformed", "no colon"),
    ]

    for call, auth, kind, reason in cases:
        found = refusal(world, call, auth)
        assert kind == found[0]
        assert reason in found[1]


def test_no_secret_reaches_the_journals_reasons(world: World) -> None:
    """What is said about a refusal names keys, never secrets and no token whole."""
    wrong = Keys(HARBOR.key, HARBOR.secret, HARBOR.token, "wrong")
    foreign = Keys(NORTHBIKE.key, NORTHBIKE.secret, HARBOR.token, HARBOR.token_secret)
    told = []
    for keys in (wrong, foreign):
        call = signed(keys)
        refusal(world, call)
        told.append(str((call.diagnosis or {}) | {"base_string": "", "normalized": ""}))

    for secret in (HARBOR.secret, HARBOR.token_secret, NORTHBIKE.secret):
        assert str(secret) not in "".join(told)
    assert str(HARBOR.token) not in told[1]


def test_an_invalidated_token_is_told_apart_from_a_wrong_one(world: World) -> None:
    """Only whoever can sign with it, or holds it, learns that it was valid once."""
    put(world, "tokens", str(HARBOR.token), state="invalidated")
    put(world, "tokens", support.BEARER, state="invalidated")
    wrong = Keys(HARBOR.key, HARBOR.secret, HARBOR.token, "wrong")

    assert "revoked" == refusal(world, signed())[0]
    assert "signature" == refusal(world, signed(wrong))[0]
    assert "revoked" == refusal(world, bearer(support.BEARER), BEARER)[0]


def test_tokens_without_their_user_or_app_are_worth_nothing(world: World) -> None:
    """Records removed behind the interface refuse; they do not bring an operation down."""
    world.store.remove("users", "2244994945")
    user = refusal(world, signed())
    world.store.remove("apps", "11827")
    app = refusal(world, bearer(support.BEARER), BEARER)

    assert ("token", "the user 2244994945 of this access token is gone") == user
    assert ("token", "the app of this bearer token is gone") == app


def test_another_scheme_than_the_operations_is_unsupported(world: World) -> None:
    """The caller is known, but by a scheme that this operation does not take."""
    token = tokens.issue_request_token(world, find_app(world, HARBOR.key) or {}, "oob", "read")
    pending = Keys(HARBOR.key, HARBOR.secret, token["id"], token["secret"])
    cases = [
        (bearer(support.BEARER), USER, "OAuth 2.0 Application-Only"),
        (basic(HARBOR.key, HARBOR.secret), USER, "HTTP Basic"),
        (signed(), BEARER, "OAuth 1.0a User Context"),
        (signed(), REQUEST_TOKEN, "OAuth 1.0a User Context"),
    ]
    for call, auth, used in cases:
        with pytest.raises(UnsupportedAuthentication) as caught:
            caller(world, call, auth)
        assert (used, auth.names) == (caught.value.used, caught.value.supported)

    assert "token" == refusal(world, signed(pending))[0]


def test_an_operation_may_word_its_refusals(world: World) -> None:
    """`on_failure` sees what was found and returns what is raised; the journal keeps the reason."""
    seen: list[Failure] = []

    def worded(fault: Failure) -> Failure:
        seen.append(fault)
        return NumericFailure(99)

    call = basic("nobody", "x")
    with pytest.raises(NumericFailure):
        caller(world, call, Auth(("basic",), on_failure=worded))

    assert [Unauthorized] == [type(fault) for fault in seen]
    assert {
        "mistake": "consumer",
        "explanation": "no app has the API key 'nobody'",
    } == call.diagnosis


def test_the_setting_of_the_tolerance_is_used(world: World) -> None:
    """A timestamp of 100 seconds ago is refused by `--oauth-tolerance 60`, and accepted by 200."""
    then = str(int(machine_now().timestamp()) - 100)

    assert "timestamp" == refusal(world, signed(timestamp=then), oauth_tolerance=60)[0]
    assert "oauth1" == caller(world, signed(timestamp=then), oauth_tolerance=200).scheme


@pytest.mark.parametrize(("auth", "challenges"), [
    (BEARER, ["Bearer"]),
    (BASIC, ["Basic"]),
    (USER, ["OAuth"]),
    (APP, ["OAuth"]),
    (EITHER, ["OAuth", "Bearer"]),
])  # fmt: skip
def test_challenges(world: World, auth: Auth, challenges: list[str]) -> None:
    """A refusal names the kinds of credentials that would be accepted."""
    with pytest.raises(Unauthorized) as caught:
        Authenticator(Settings()).caller(request(), world, auth)

    assert [("WWW-Authenticate", f'{kind} realm="mock_platform"') for kind in challenges] == list(
        caught.value.headers
    )


# -- --auth off ----------------------------------------------------------------------------------


def off(world: World, call: Call, auth: Auth) -> tuple[str | None, str | None, str | None]:
    """App, user and token of an unverified caller."""
    found = caller(world, call, auth, auth="off")
    assert found.assumed
    assert "auth.off" in call.assumptions
    parts = (found.app, found.user, found.token)
    return cast(
        "tuple[str | None, str | None, str | None]",
        tuple(None if part is None else part["id"] for part in parts),
    )


def test_auth_off_acts_for_the_well_known_app_and_user(world: World) -> None:
    """Without credentials, whatever the operation takes; with its access token where one is due."""
    assert ("11827", "2244994945", HARBOR.token) == off(world, request(), USER)
    assert ("11827", "2244994945", None) == off(world, request(), BEARER)
    assert ("11827", "2244994945", None) == off(world, request(), BASIC)
    assert ("11827", "2244994945", None) == off(world, request(), APP)
    assert ("11827", "2244994945", None) == off(world, request(), SESSION)


def test_auth_off_follows_credentials_without_verifying_them(world: World) -> None:
    """A token, a key or a session names whom to act for, however wrong the rest is."""
    wrong = Keys(NORTHBIKE.key, "wrong", NORTHBIKE.token, "wrong")
    key_only = Keys(NORTHBIKE.key, "wrong")
    session = sessions.log_in(world, {"id": "3805104374"}, "t", Session.anonymous())
    cookie = {"Cookie": f"mock_platform_session_default={session.id}"}

    assert ("20993", "3805104374", NORTHBIKE.token) == off(world, signed(wrong), USER)
    assert ("20993", "3805104374", NORTHBIKE.token) == off(world, signed(key_only), USER)
    assert ("20993", "3805104374", None) == off(world, basic(NORTHBIKE.key, "wrong"), BASIC)
    assert ("11827", "2244994945", support.BEARER) == off(world, bearer(support.BEARER), EITHER)
    assert "3805104374" == off(world, request(headers=cookie), SESSION)[1]


def test_auth_off_takes_only_tokens_of_a_fitting_kind(world: World) -> None:
    """A bearer token names the app, but is not the access token of a user-context operation."""
    put(world, "tokens", "b20993", kind="bearer", state="active", app_id="20993", user_id=None)

    assert ("20993", "3805104374", NORTHBIKE.token) == off(world, bearer("b20993"), USER)


def test_auth_off_needs_an_app(world: World) -> None:
    """Where there is no app at all, the refusal says so."""
    for entry in world.store.page("apps"):
        world.store.remove("apps", entry.key)
    with pytest.raises(Unauthorized, match="world 'default' has no app to act for"):
        caller(world, request(), USER, auth="off")


def test_auth_off_finds_a_user_where_the_app_has_no_owner(world: World) -> None:
    """Then it is the first user."""
    put(world, "apps", "11827", _owner_user_id=None)

    assert ("11827", "2244994945", None) == off(world, request(), BEARER)


def test_schemes_have_the_names_of_the_documentation() -> None:
    """The names are used in refusals and in the table of operations."""
    assert ("OAuth 1.0a User Context", "OAuth 2.0 Application-Only") == EITHER.names
    assert (True, False, False) == (EITHER.refuses, SESSION.refuses, NO_AUTH.refuses)
