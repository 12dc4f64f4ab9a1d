"""OAuth 2.0 user context: the consent page, codes, refresh tokens and revocation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest

from tests.api.oauth.oauth2_steps import (
    AUTHORIZE,
    CHALLENGE,
    CLIENT_ID,
    CLIENT_SECRET,
    PUBLIC_CALLBACK,
    PUBLIC_ID,
    SCOPES,
    VERIFIER,
    allowed,
    asked,
    basic,
    error,
    exchange,
    opened,
    refresh,
    revoke,
    send,
    tokens,
    use,
)
from tests.oauth_steps import CALLBACK, begun, last, visitor
from tests.support import HARBOR, Sandbox, sandbox

LOG_IN = "Log in to continue to Harbor Campaign Desk"
ASK = "Allow Harbor Campaign Desk to use your account?"
LIKES = f"{SCOPES} like.read"
BAD_CODE = (400, "invalid_request", "Value passed for the authorization code was invalid.")
BAD_TOKEN = (400, "invalid_request", "Value passed for the token was invalid.")
BAD_CLIENT = (401, "invalid_client", "Value passed for the client id was invalid.")
PAIR = ("access_token", "refresh_token")
NO_CLIENT = (401, "unauthorized_client", "Missing valid authorization header")
SETTINGS = {"freeze": datetime(2026, 11, 20, 12, tzinfo=UTC)}


class TestAuthorize:
    """The page on which the user allows or denies."""

    @pytest.mark.parametrize("path", [AUTHORIZE, "/i/oauth2/authorize"])
    @pytest.mark.parametrize(("state", "shown"), [
        ("s 1&2", "state=s+1%262&"), ("x" * 500, f"state={'x' * 500}&"), (None, ""),
    ])  # fmt: skip
    def test_a_user_logs_in_and_allows(
        self, box: Sandbox, path: str, state: str | None, shown: str
    ) -> None:
        """Log in, allow, and the app gets the code and its state, if any, as it was sent."""
        page = opened(box, path, state=state)
        headings = [page.heading, page.log_in().heading]
        page.submit("allow")

        assert [LOG_IN, ASK] == headings
        assert page.landed.startswith(f"{CALLBACK}?{shown}code=")
        assert state == page.landed_with.get("state")
        assert 302 == page.status

    def test_the_page_lists_the_scopes_in_words(self, box: Sandbox) -> None:
        """One line for each scope, and the password that no app ever sees."""
        page = opened(box, scope="tweet.write dm.read post.write").log_in()

        assert 1 == page.response.text.count("<li>Post and repost in your name</li>")
        assert "<li>Read your direct messages</li>" in page.response.text
        assert "<li>See your password</li>" in page.response.text

    @pytest.mark.parametrize("logged_in", [True, False])
    def test_a_user_denies(self, box: Sandbox, logged_in: bool) -> None:
        """The app gets access_denied and its state, and no code exists."""
        page = opened(box)
        if logged_in:
            page.log_in()
        page.submit("deny")
        denied = {"error": "access_denied", "error_description": "The user denied the request."}
        assert denied | {"state": "s 1&2"} == page.landed_with
        assert [] == box.world.store.page("tokens", {"kind": "code"})

    def test_a_logged_in_user_is_asked_each_time(self, box: Sandbox) -> None:
        """A consent before does not skip the question."""
        page = opened(box).log_in().submit("allow")
        page.open(AUTHORIZE, **asked())

        assert (200, ASK) == (page.status, page.heading)
        assert "oauth2.when-asked" in page.response.headers["X-Mock-Assumptions"]

    def test_another_account_can_be_used(self, box: Sandbox) -> None:
        """Switching asks to log in; the code is then for the other user."""
        page = opened(box).log_in().submit("switch")
        assert LOG_IN == page.heading
        page.log_in("northbike_co").submit("allow")

        assert "3805104374" == box.record("tokens", page.landed_with["code"])["user_id"]

    def test_a_wrong_password_is_asked_again(self, box: Sandbox) -> None:
        """The page says so, and keeps the request."""
        page = opened(box)
        page.submit("log_in", screen_name="harbor_roasters", password="wrong")

        assert 403 == page.status
        assert "No user has this username and password" in page.fault
        assert ASK == page.log_in().heading

    def test_a_form_of_another_browser_is_refused(self, box: Sandbox) -> None:
        """Whoever was not shown the page cannot make its user allow anything.

        The proof in a page is for its scopes: it does not allow more.
        """
        page = opened(box).log_in()
        fields = page.form.fields | {"action": "allow"}
        foreign = box.call("POST", AUTHORIZE, keys=None, form=fields)
        page.submit("allow", scope=f"{SCOPES} dm.read")

        assert (403, 403) == (foreign.status_code, page.status)
        assert "Location" not in foreign.headers

    @pytest.mark.parametrize(("changed", "text"), [
        ({"client_id": None}, "This sandbox needs a client_id."),
        ({"client_id": "x"}, "has no app with the client_id &#39;x&#39;"),
        ({"client_id": HARBOR.key}, "has no app with the client_id"),
        ({"redirect_uri": None}, "redirect_uri is missing in the callback_urls of app 11827"),
        ({"redirect_uri": f"{CALLBACK}/"}, "Did you mean &#39;https://desk.harbor"),
        ({"redirect_uri": f"{CALLBACK}?x=1"}, "is not one of the callback_urls"),
        ({"redirect_uri": CALLBACK.upper()}, "is not one of the callback_urls"),
        ({"redirect_uri": "https://evil.example/"}, "is not one of the callback_urls"),
        ({"redirect_uri": PUBLIC_CALLBACK}, "is not one of the callback_urls"),
    ])  # fmt: skip
    def test_a_wrong_address_is_a_page(self, box: Sandbox, changed: Any, text: str) -> None:
        """Nobody is redirected to an address that the app did not register."""
        page = opened(box, **changed)

        assert 400 == page.status
        assert text in page.response.text
        assert "Location" not in page.response.headers
        assert "oauth2.authorize-faults" in page.response.headers["X-Mock-Assumptions"]

    @pytest.mark.parametrize(("changed", "word", "text"), [
        ({"response_type": None}, "invalid_request", "Missing required parameter [response_t"),
        ({"response_type": "token"}, "unsupported_response_type", "response_type must be code"),
        ({"state": "x" * 501}, "invalid_request", "state has 501 characters; at most 500"),
        ({"code_challenge": None}, "invalid_request", "Missing required parameter [code_chal"),
        ({"code_challenge_method": "S512"}, "invalid_request", "must be one of S256 or plain."),
        ({"scope": None}, "invalid_scope", "Missing required parameter [scope]."),
        ({"scope": "post.reed"}, "invalid_scope", "Did you mean 'post.read'?"),
    ])  # fmt: skip
    def test_other_faults_go_back_to_the_app(
        self, box: Sandbox, changed: dict[str, str | None], word: str, text: str
    ) -> None:
        """With the word of RFC 6749, a text, and the state."""
        page = opened(box, **changed)

        assert 302 == page.status
        assert page.landed.startswith(f"{CALLBACK}?state=")
        assert word == page.landed_with["error"]
        assert text in page.landed_with["error_description"]
        assert changed.get("state", "s 1&2") == page.landed_with["state"]
        assert word == last(box).diagnosis["mistake"]

    def test_without_verification_any_client_is_taken(self) -> None:
        """With --auth off the user is logged in, and the code still comes."""
        box = sandbox(auth="off")
        page = opened(box).submit("allow")

        assert 200 == exchange(box, page.landed_with["code"]).status_code


class TestExchange:
    """A code becomes an access token, once."""

    def test_the_answer_has_the_form_of_the_rfc(self, box: Sandbox) -> None:
        """Bearer, 7200 seconds, the scopes, and a refresh token for offline.access."""
        answer = exchange(box, allowed(box, scope=LIKES))
        body = answer.get_json()
        pair = {name: body[name] for name in PAIR}

        assert {"token_type": "bearer", "expires_in": 7200, "scope": LIKES} | pair == body
        assert "no-store" == answer.headers["Cache-Control"]
        assert 200 == use(box, body["access_token"])

    def test_the_scopes_keep_the_words_of_the_app(self, box: Sandbox) -> None:
        """Client libraries compare what they asked for with what they got.

        Without like.read the list of subscriptions is refused.
        """
        found = tokens(box, scope="tweet.read like.read")

        assert "tweet.read like.read" == found["scope"]
        assert "refresh_token" not in found
        assert 200 == use(box, found["access_token"])
        assert 403 == use(box, tokens(box)["access_token"])

    @pytest.mark.parametrize(("seconds", "status"), [(29.9, 200), (30, 400)])
    def test_a_code_lives_30_seconds(self, box: Sandbox, seconds: float, status: int) -> None:
        """On the world's clock; the journal says when it expired."""
        code = allowed(box)
        box.platform.worlds.default.clock.advance(seconds)
        answer = exchange(box, code)

        assert status == answer.status_code
        if status == 400:
            assert BAD_CODE == error(answer)
            why = "the code expired at 2026-11-20T12:00:30.000Z on the world's clock"
            assert why == last(box).diagnosis["explanation"]

    @pytest.mark.parametrize(("seconds", "status"), [(7199.9, 200), (7200, 401)])
    def test_a_token_lives_two_hours(self, box: Sandbox, seconds: float, status: int) -> None:
        """On the world's clock."""
        found = tokens(box, scope=LIKES)
        box.platform.worlds.default.clock.advance(seconds)

        assert status == use(box, found["access_token"])

    def test_a_second_use_revokes_the_tokens(self, box: Sandbox) -> None:
        """RFC 6749, 4.1.2: a code that comes twice was stolen."""
        code = allowed(box, scope=LIKES)
        first = exchange(box, code).get_json()
        second = exchange(box, code)

        assert BAD_CODE == error(second)
        assert "oauth2.code-reused" in second.headers["X-Mock-Assumptions"]
        assert 401 == use(box, first["access_token"])
        assert BAD_TOKEN == error(refresh(box, first["refresh_token"]))

    @pytest.mark.parametrize(("changed", "refusal"), [
        ({"grant_type": None}, "Missing required parameter [grant_type]."),
        ({"code": None}, "Missing required parameter [code]."),
        ({"code": "wrong"}, "Value passed for the authorization code was invalid."),
        ({"redirect_uri": None}, "Missing required parameter [redirect_uri]."),
        ({"redirect_uri": "http://127.0.0.1:8090/callback"}, "Value passed for the redirect uri "
         "did not match the uri of the authorization code."),
        ({"code_verifier": None}, "Missing required parameter [code_verifier]."),
        *(({"code_verifier": wrong},
           "Value passed for the code verifier did not match the code challenge.")
          for wrong in (VERIFIER[::-1], CHALLENGE)),
    ])  # fmt: skip
    def test_what_does_not_fit_is_refused_and_keeps_the_code(
        self, box: Sandbox, changed: dict[str, str | None], refusal: str
    ) -> None:
        """The app can correct itself within the 30 seconds."""
        code = allowed(box)
        wrong = exchange(box, code, **changed)

        assert (400, "invalid_request", refusal) == error(wrong)
        assert 200 == exchange(box, code).status_code

    @pytest.mark.parametrize("method", ["plain", None])
    def test_a_plain_challenge(self, box: Sandbox, method: str | None) -> None:
        """The challenge is the verifier; plain is the default of RFC 7636."""
        code = allowed(box, code_challenge="challenge", code_challenge_method=method)
        wrong = exchange(box, code, code_verifier="Challenge")
        right = exchange(box, code, code_verifier="challenge")

        assert (400, 200) == (wrong.status_code, right.status_code)
        assert "RFC 7636 wants" in last(box).warnings[0]

    def test_a_token_of_another_kind_is_explained(self, box: Sandbox) -> None:
        """The journal says what was sent in the place of a code."""
        found = tokens(box)

        assert BAD_CODE == error(exchange(box, found["refresh_token"]))
        assert "this is a token of kind refresh" in last(box).diagnosis["explanation"]

    def test_another_app_cannot_exchange_it(self, box: Sandbox) -> None:
        """The code stays good for the app that it was issued to."""
        code = allowed(box)
        other = exchange(box, code, {}, client_id=PUBLIC_ID)

        assert BAD_CODE == error(other)
        assert "was issued to app 11827, not to app 20993" in last(box).diagnosis["explanation"]
        assert 200 == exchange(box, code).status_code

    @pytest.mark.parametrize("gone", ["apps", "users"])
    def test_a_user_or_app_that_is_gone(self, box: Sandbox, gone: str) -> None:
        """Records removed behind the interface refuse."""
        code = allowed(box)
        world = box.platform.worlds.default
        with world.work():
            world.store.remove(gone, "11827" if gone == "apps" else "2244994945")

        assert exchange(box, code).status_code in {400, 401}

    @pytest.mark.parametrize("kind", ["password", "client_credentials"])
    def test_other_grants_are_refused(self, box: Sandbox, kind: str) -> None:
        """App-only tokens have their own address, which the journal names."""
        status, found, _ = error(send(box, "token", {"grant_type": kind}))

        assert (400, "unsupported_grant_type") == (status, found)
        named = "POST /oauth2/token, without /2" in str(last(box).diagnosis)
        assert named == (kind == "client_credentials")

    def test_parameters_outside_a_form_are_not_read(self, box: Sandbox) -> None:
        """Secrets do not belong into an address, and JSON is no form; the journal says so."""
        form = {"grant_type": "authorization_code", "code": "c", "redirect_uri": CALLBACK}
        answers, noted = [], []
        for place in ("query_string", "json"):
            more: Any = {place: form, "headers": basic()}
            answers.append(box.call("POST", "/2/oauth2/token", keys=None, **more))
            noted.append(last(box).warnings)
        missing = (400, "invalid_request", "Missing required parameter [grant_type].")
        assert [missing, missing] == [error(answer) for answer in answers]
        assert 3 == sum("belong in a form body" in text for text in noted[0])
        assert "parameters of this operation belong in a form" in noted[1][0]

    def test_a_code_is_exchanged_once_by_many(self, box: Sandbox) -> None:
        """Of many exchanges at the same moment one at most gets tokens."""
        code, many = allowed(box, scope=LIKES), 8
        barrier = Barrier(many)
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }  # fmt: skip

        def run(_: int) -> tuple[int, dict[str, Any]]:
            barrier.wait()
            client = box.app.test_client()
            answer = client.post("/2/oauth2/token", headers=basic(), data=form)
            return answer.status_code, answer.get_json()

        with ThreadPoolExecutor(many) as pool:
            answers = list(pool.map(run, range(many)))

        assert [200] + [400] * (many - 1) == sorted(status for status, _ in answers)
        (winner,) = [body for status, body in answers if status == 200]
        assert 401 == use(box, winner["access_token"])  # the others showed that it was stolen


class TestClients:
    """How apps prove who they are."""

    def test_a_public_client_sends_its_id(self, box: Sandbox) -> None:
        """In the form, or by Basic with an empty secret, as some libraries do."""
        public = {"client_id": PUBLIC_ID, "redirect_uri": PUBLIC_CALLBACK}
        first = allowed(box, **public)
        second = allowed(box, **public)
        in_form = exchange(box, first, {}, **public)
        by_basic = exchange(box, second, basic(PUBLIC_ID, ""), redirect_uri=PUBLIC_CALLBACK)

        assert (200, 200) == (in_form.status_code, by_basic.status_code)

    @pytest.mark.parametrize(("headers", "form", "refusal", "why"), [
        ({}, {}, (400, "invalid_request", "Missing required parameter [client_id]."), "Basic"),
        ({}, {"client_id": CLIENT_ID}, NO_CLIENT, "app 11827 is a confidential client"),
        ({}, {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}, NO_CLIENT, "by Basic"),
        (basic(secret="wrong"), {}, NO_CLIENT, "wrong client_secret"),
        (basic(secret=""), {}, NO_CLIENT, "wrong client_secret"),
        (basic(secret=HARBOR.secret), {}, NO_CLIENT, "the consumer secret was sent"),
        (basic(PUBLIC_ID, "x"), {}, NO_CLIENT, "wrong client_secret"),
        ({"Authorization": "Bearer x"}, {}, NO_CLIENT, "takes Basic or no header"),
        ({"Authorization": "Basic %"}, {}, NO_CLIENT, "not base64"),
        (basic("nobody"), {}, BAD_CLIENT, "has the client_id 'nobody'"),
        (basic(HARBOR.key, HARBOR.secret), {}, BAD_CLIENT, "the consumer key was sent"),
        (basic(), {"client_id": PUBLIC_ID}, BAD_CLIENT, "not the one of Basic"),
    ])  # fmt: skip
    @pytest.mark.parametrize("step", ["token", "revoke"])
    def test_refusals(
        self, box: Sandbox, step: str, headers: dict[str, str], form: Any, refusal: Any, why: str
    ) -> None:
        """The app learns the word of the RFC, the journal the reason."""
        answer = send(box, step, form, headers)

        assert refusal == error(answer)
        assert why in last(box).diagnosis["explanation"]
        if answer.status_code == 401:
            assert "Basic" in answer.headers["WWW-Authenticate"]

    def test_a_client_may_say_its_id_twice(self, box: Sandbox) -> None:
        """The same client_id by Basic and in the form is no contradiction."""
        assert 200 == exchange(box, allowed(box), client_id=CLIENT_ID).status_code


class TestRefresh:
    """A refresh token becomes another pair."""

    def test_it_is_used_up(self, box: Sandbox) -> None:
        """Each exchange returns another one; the one before is refused."""
        first = tokens(box, scope=LIKES)
        second = refresh(box, first["refresh_token"]).get_json()
        again = refresh(box, first["refresh_token"])

        assert LIKES == second["scope"]
        assert 4 == len({*map(first.get, PAIR), *map(second.get, PAIR)})
        assert BAD_TOKEN == error(again)
        assert "this refresh token is used" in last(box).diagnosis["explanation"]
        assert (200, 200) == (use(box, first["access_token"]), use(box, second["access_token"]))
        assert 200 == refresh(box, second["refresh_token"]).status_code

    def test_it_outlives_the_access_token(self, box: Sandbox) -> None:
        """After two hours the app goes on without its user."""
        first = tokens(box, scope=LIKES)
        box.platform.worlds.default.clock.advance(30 * 86_400)
        second = refresh(box, first["refresh_token"]).get_json()

        assert (401, 200) == (use(box, first["access_token"]), use(box, second["access_token"]))

    def test_fewer_scopes_can_be_asked_for(self, box: Sandbox) -> None:
        """They narrow the access token; the refresh token keeps what the user allowed."""
        first = tokens(box, scope=LIKES)
        narrow = refresh(box, first["refresh_token"], scope="post.read").get_json()
        wide = refresh(box, narrow["refresh_token"]).get_json()

        assert ("post.read", LIKES) == (narrow["scope"], wide["scope"])
        assert (403, 200) == (use(box, narrow["access_token"]), use(box, wide["access_token"]))

    @pytest.mark.parametrize(("scope", "text"), [
        ("post.read dm.read", "The user did not allow the scope dm.read."),
        ("post.reed", "'post.reed' is not a scope. Did you mean 'post.read'?"),
    ])  # fmt: skip
    def test_more_scopes_are_refused(self, box: Sandbox, scope: str, text: str) -> None:
        """The refresh token is not used up by it."""
        first = tokens(box)
        refused = refresh(box, first["refresh_token"], scope=scope)

        assert (400, "invalid_scope", text) == error(refused)
        assert 200 == refresh(box, first["refresh_token"]).status_code

    def test_one_that_is_missing_unknown_or_of_another_app(self, box: Sandbox) -> None:
        """Refused in the words of the interface; a refresh token belongs to its app."""
        missing = (400, "invalid_request", "Missing required parameter [refresh_token].")
        form: dict[str, str | None] = {"grant_type": "refresh_token", "client_id": PUBLIC_ID}
        other = form | {"refresh_token": tokens(box)["refresh_token"]}

        assert missing == error(send(box, "token", {"grant_type": "refresh_token"}))
        assert BAD_TOKEN == error(refresh(box, "wrong"))
        assert BAD_TOKEN == error(send(box, "token", other, {}))


class TestRevoke:
    """An app ends its access to a user."""

    @pytest.mark.parametrize("which", ["access_token", "refresh_token"])
    def test_it_ends_the_consent(self, box: Sandbox, which: str) -> None:
        """Either token ends both, and the grant; a second time is answered in the same way."""
        found, other = tokens(box, scope=LIKES), tokens(box, scope=LIKES)
        first = revoke(box, found[which])
        second = revoke(box, found[which], token_type_hint="access_token")

        assert {"revoked": True} == first.get_json() == second.get_json()
        assert 401 == use(box, found["access_token"])
        assert BAD_TOKEN == error(refresh(box, found["refresh_token"]))
        assert "this refresh token was revoked" == last(box).diagnosis["explanation"]
        assert 200 == use(box, other["access_token"])

    def test_an_unknown_token_changes_nothing(self, box: Sandbox) -> None:
        """RFC 7009, 2.2: the answer is the same; the journal says that nothing was revoked."""
        answer = revoke(box, str(HARBOR.token))

        assert {"revoked": True} == answer.get_json()
        assert "nothing was revoked" in last(box).warnings[0]
        assert 200 == box.call("GET", "/12/accounts").status_code

    def test_the_token_of_another_app_is_refused(self, box: Sandbox) -> None:
        """And it stays valid; no token is refused by the name of the parameter."""
        token = tokens(box, scope=LIKES)["access_token"]
        missing = (400, "invalid_request", "Missing required parameter [token].")

        assert BAD_TOKEN == error(send(box, "revoke", {"token": token, "client_id": PUBLIC_ID}, {}))
        assert missing == error(send(box, "revoke", {}))
        assert 200 == use(box, token)


class TestGrants:
    """What users allowed is recorded."""

    def test_scopes_add_up(self, box: Sandbox) -> None:
        """In the names in force; the grant ends with the last token."""
        key, client = "20993-2244994945-oauth2", {"client_id": PUBLIC_ID}
        public = client | {"redirect_uri": PUBLIC_CALLBACK}
        found, grants = [], []
        for scope in ("tweet.read", "dm.write"):
            code = allowed(box, scope=scope, **public)
            found.append(exchange(box, code, {}, **public).get_json()["access_token"])
            grants.append(box.record("grants", key))
        for token in found:
            assert box.record("grants", key)
            send(box, "revoke", {**client, "token": token}, headers={})

        assert [(["post.read"], "read"), (["post.read", "dm.write"], "write")] == [
            (grant["scopes"], grant["access"]) for grant in grants
        ]
        assert box.world.store.get("grants", key) is None

    def test_they_do_not_count_for_oauth1(self, box: Sandbox) -> None:
        """oauth/authenticate still asks a user who allowed the app by OAuth 2.0 only."""
        tokens(box, scope="post.write")
        page = visitor(box).open("/oauth/authenticate", oauth_token=str(begun(box).token)).log_in()

        assert ASK == page.heading


def test_no_secret_reaches_the_journal(box: Sandbox) -> None:
    """Codes, verifiers, challenges, tokens and secrets are masked wherever they were sent."""
    page = opened(box, code_challenge=VERIFIER, code_challenge_method="plain").log_in()
    page.submit("allow")
    code = page.landed_with["code"]
    found = exchange(box, code).get_json()
    again = refresh(box, found["refresh_token"]).get_json()
    revoke(box, again["access_token"])
    shown = box.client.get("/_mock/requests").text
    for entry in box.client.get("/_mock/requests").get_json()["requests"]:
        shown += box.client.get(f"/_mock/requests/{entry['id']}").text
    shown += box.client.get("/_mock/requests.har").text
    secrets = [code, VERIFIER, CLIENT_SECRET, *map(found.get, PAIR), *map(again.get, PAIR)]
    assert [] == [secret for secret in secrets if str(secret) in shown]
    assert basic()["Authorization"] not in shown


def test_a_code_chooses_its_world(box: Sandbox) -> None:
    """A client that cannot send a prefix exchanges in the world of its app."""
    world = box.platform.worlds.create("w1")
    app = box.record("apps", "20993") | {"id": "5", "client_id": "own", "consumer_key": "own-key"}
    with world.work():
        world.store.put("apps", "5", app)
    answer = send(box, "token", {"grant_type": "x", "client_id": "own"}, {})

    assert "unsupported_grant_type" == answer.get_json()["error"]
    assert "w1" == world.journal.find()[-1].world
