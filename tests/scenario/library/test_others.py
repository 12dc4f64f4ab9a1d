"""Scenarios with several steps: answers that deceive, limits that fill, tokens that end."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.jsonio import dumps
from tests.scenario.library.support import Stage
from tests.support import ACCOUNT, BEARER, HARBOR, USER_TOKEN, Sandbox, sandbox

CATALOG = "/12/product_catalogs/1547080787865939968"
FILTERED = f"{CATALOG}/product_sets/1547081000000000002"
HASH = "b" * 64
WRITERS = "User must be an API Note Writer to access this endpoint."


def bearer(box: Sandbox, method: str, path: str, body: Any = None) -> Any:
    """A request with the bearer token."""
    headers = {"Authorization": f"Bearer {BEARER}", "Content-Type": "application/json"}
    data = None if body is None else dumps(body)
    return box.client.open(path, method=method, headers=headers, data=data)


@pytest.mark.spec("A, Errors", "Create replay job")
def test_replay_conflict_is_for_one_webhook(box: Sandbox) -> None:
    """Only the named webhook has a job in progress; without a name, all of them."""
    stage = Stage("replay-conflict", box, webhook_id="1146654567674912770")
    passed = stage.ask("webhooks.replay")
    box.client.post("/_mock/reset")
    refused = Stage("replay-conflict", box).ask("webhooks.replay")

    assert 200 == passed.status_code
    assert (409, "application/problem+json") == (refused.status_code, refused.mimetype)
    body = refused.get_json()
    assert ("http://localhost/2/problems/conflict", "Conflict") == (body["type"], body["title"])
    assert 0 == box.world.store.count("replay_jobs", {})


def test_the_token_ends_midway_for_good(box: Sandbox) -> None:
    """Two calls pass, the third is refused; the records say so, and a new token works."""
    stage = Stage("token-revoked-midway", box)

    statuses = [stage.ask("accounts.get").status_code for _ in range(4)]
    body = stage.ask("webhooks.replay").get_json()
    signed = box.call("GET", f"/12/accounts/{ACCOUNT}")
    token = stage.ask("oauth2.token").get_json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    renewed = box.client.get(f"/12/accounts/{ACCOUNT}", headers=headers)

    assert [200, 200, 401, 401] == statuses
    assert 89 == body["errors"][0]["code"]
    assert (401, 89) == (signed.status_code, signed.get_json()["errors"][0]["code"])
    assert "invalidated" == box.record("tokens", BEARER)["state"]
    assert (200, True) == (renewed.status_code, token != BEARER)
    assert [1] == stage.fired


def test_an_invalidated_token_is_told_in_an_array_everywhere(box: Sandbox) -> None:
    """Under /2 as well the body has an errors array with code 89; a new token can be had."""
    stage = Stage("token-invalidated", box)

    replay, created = stage.ask("webhooks.replay"), stage.ask("oauth2.token")

    assert (401, "application/json") == (replay.status_code, replay.mimetype)
    assert {"errors": [{"code": 89, "message": "Invalid or expired token."}]} == replay.get_json()
    assert 200 == created.status_code
    assert 401 == box.call("GET", "/12/accounts").status_code


def test_an_invalidated_token_of_one_user(box: Sandbox) -> None:
    """The user can be named; others go on."""
    Stage("token-invalidated", box, user="3805104374")

    assert 200 == box.call("GET", "/12/accounts").status_code


def test_a_skewed_clock_spares_bearer_tokens(box: Sandbox) -> None:
    """Signed requests are refused with code 135, on every path family, others are not."""
    Stage("clock-skew", box)

    signed, plain = box.call("GET", "/12/accounts"), bearer(box, "GET", "/12/accounts")

    assert (401, 135) == (signed.status_code, signed.get_json()["errors"][0]["code"])
    assert 200 == plain.status_code


def test_an_outage_does_not_look_at_credentials(box: Sandbox) -> None:
    """Every request is answered with 503, in the words of its path family."""
    stage = Stage("outage", box)

    replay, accounts = stage.ask("webhooks.replay"), box.client.get("/12/accounts")
    token = stage.ask("oauth2.token")

    assert {503} == {answer.status_code for answer in (replay, accounts, token)}
    assert ("application/problem+json", "about:blank") == (
        replay.mimetype,
        replay.get_json()["type"],
    )
    assert "SERVICE_UNAVAILABLE" == accounts.get_json()["errors"][0]["code"]
    assert 130 == token.get_json()["errors"][0]["code"]


def test_token_requests_may_pass_for_a_while(box: Sandbox) -> None:
    """`from` names the first refused request."""
    stage = Stage("token-requests-too-frequent", box, first=3)

    assert [200, 200, 403, 403] == [stage.ask("oauth2.token").status_code for _ in range(4)]


def test_a_second_delete_spares_other_line_items(box: Sandbox) -> None:
    """With an id only that line item is gone; the record is still there."""
    stage = Stage("line-item-deleted-twice", box, line_item_id="itttx")
    other = box.call("DELETE", f"/12/accounts/{ACCOUNT}/line_items/iu0p9")

    assert 404 == stage.ask("line_items.delete").status_code
    assert (200, True) == (other.status_code, box.record("line_items", "iu0p9")["deleted"])
    assert not box.record("line_items", "itttx")["deleted"]


def test_only_the_second_delete_is_the_second_one(box: Sandbox) -> None:
    """With `call: 2` the first delete is carried out, and the second must come."""
    stage = Stage("line-item-deleted-twice", box, call=2)

    statuses = [stage.ask("line_items.delete").status_code for _ in range(2)]

    assert [200, 404] == statuses
    assert box.record("line_items", "itttx")["deleted"]
    assert [1] == stage.fired


def test_operation_errors_name_the_item_and_nothing_is_kept(box: Sandbox) -> None:
    """An array parallel to the input; the correct operation next to the refused one is not kept."""
    Stage("audience-batch-operation-errors", box)
    before = box.world.store.count("audience_users", {})
    upload = {"operation_type": "Update", "params": {"users": [{"email": [HASH]}]}}

    answer = bearer(
        box, "POST", f"/12/accounts/{ACCOUNT}/custom_audiences/1nmth/users", [upload, upload]
    )

    assert (400, "application/json") == (answer.status_code, answer.mimetype)
    first, second = answer.get_json()["operation_errors"]
    assert ([], "INVALID_PARAMETER") == (second, first[0]["code"])
    assert before == box.world.store.count("audience_users", {})


@pytest.mark.parametrize(("name", "operation", "data"), [
    ("audience-batch-counts-differ", "custom_audiences.users",
     {"success_count": 0, "total_count": 1}),
    ("do-not-reach-batch-counts-differ", "do_not_reach_lists.users",
     [{"success_count": 0, "total_count": 1}]),
])  # fmt: skip
def test_counts_that_differ(box: Sandbox, name: str, operation: str, data: Any) -> None:
    """All looks well but for the counts, and the upload was accepted."""
    stage = Stage(name, box)

    answer = stage.ask(operation)

    assert (200, "application/json") == (answer.status_code, answer.mimetype)
    assert data == answer.get_json()["data"]
    assert "audience_users" in {change.table for change in stage.last.changes}
    assert [1] == stage.fired


@pytest.mark.parametrize("reason", ["TOO_SMALL", "PROCESSING"])
def test_a_list_that_is_not_targetable(box: Sandbox, reason: str) -> None:
    """The answer contains the reason; the list is deleted all the same."""
    stage = Stage("do-not-reach-list-not-targetable", box, reason=reason)

    data = stage.ask("do_not_reach_lists.delete").get_json()["data"]

    assert (False, [reason], True) == (
        data["targetable"],
        data["reasons_not_targetable"],
        data["deleted"],
    )
    assert box.record("do_not_reach_lists", "4y1bc")["deleted"]


def test_a_product_set_fails(box: Sandbox) -> None:
    """It is created in PROCESSING and read as FAILED, without products."""
    stage = Stage("product-set-failed", box)
    wanted = {
        "name": "Mugs",
        "type": "FILTERED",
        "filters": [{"attribute": "product_type", "operator": "CONTAINS", "value": "Mugs"}],
    }

    created = bearer(box, "POST", f"{CATALOG}/product_sets", wanted).get_json()["data"]
    read = bearer(box, "GET", f"{CATALOG}/product_sets/{created['id']}").get_json()["data"]

    assert ("PROCESSING", "FAILED") == (created["processing_status"], read["processing_status"])
    assert [] == created["product_ids"] == read["product_ids"]
    assert [1, 1] == stage.fired


def test_a_product_set_takes_its_time(box: Sandbox) -> None:
    """So many reads say PROCESSING, then comes the truth."""
    stage = Stage("product-set-processing", box, reads=2)

    told = [bearer(box, "GET", FILTERED).get_json()["data"]["processing_status"] for _ in range(3)]

    assert ["PROCESSING", "PROCESSING", "DONE"] == told
    assert [2] == stage.fired


@pytest.mark.parametrize(("name", "statuses", "made"), [
    ("product-item-errors", ["ERROR", "CREATE_SUCCESS"], 1),
    ("product-id-repeated", ["ERROR", "ERROR"], 0),
])  # fmt: skip
def test_products_refused_one_by_one(
    box: Sandbox, name: str, statuses: list[str], made: int
) -> None:
    """The refused ones have errors and no key, the others are accepted."""
    stage = Stage(name, box)

    answer = stage.ask("product_catalogs.products.upsert")

    assert (200, "application/json") == (answer.status_code, answer.mimetype)
    results = answer.get_json()["data"]["products_response"]
    assert statuses == [result["status"] for result in results]
    assert ["HR-900", "HR-901"] == [result["id"] for result in results]
    assert [status == "ERROR" for status in statuses] == [bool(r["errors"]) for r in results]
    assert made == len([change for change in stage.last.changes if change.table == "products"])


def test_a_product_that_is_gone_before_it_is_deleted(box: Sandbox) -> None:
    """The answer names it as failed, and it is really gone."""
    stage = Stage("product-delete-failed", box)

    answer = stage.ask("product_catalogs.products.delete")

    (result,) = answer.get_json()["data"]["delete_products"]
    assert (200, None, "1547080787865940084") == (
        answer.status_code,
        result["product_key"],
        result["failed_product_key"],
    )
    assert box.world.store.get("products", "1547080787865940084") is None


@pytest.mark.parametrize(("name", "operation", "conditions", "window"), [
    ("audience-upload-limit", "custom_audiences.users", (), 60),
    ("total-count-limit", "line_items.list", ("with_total_count",), 900),
    ("rate-limited", "line_items.list", (), 900),
])  # fmt: skip
def test_limits_fill_and_open_again(
    box: Sandbox, name: str, operation: str, conditions: tuple[str, ...], window: int
) -> None:
    """So many pass with headers that count down, once each; the window ends with its time."""
    stage = Stage(name, box, limit=2)

    answers = [stage.ask(operation, *conditions) for _ in range(3)]
    box.client.put("/_mock/clock", json={"action": "advance", "seconds": window})
    later = stage.ask(operation, *conditions)

    assert [200, 200, 429, 200] == [answer.status_code for answer in (*answers, later)]
    remaining = [answer.headers.getlist("x-rate-limit-remaining") for answer in answers]
    assert [["1"], ["0"], ["0"]] == remaining
    assert ["2"] == later.headers.getlist("x-rate-limit-limit")


def test_the_total_count_limit_spares_plain_lists(box: Sandbox) -> None:
    """Without the parameter the same list is answered."""
    stage = Stage("total-count-limit", box)

    assert 200 == stage.ask("line_items.list").status_code
    assert [0] == stage.fired


def test_polls_without_media_need_no_feature(box: Sandbox) -> None:
    """Only a poll with media is refused."""
    assert 200 == Stage("media-polls-not-enabled", box).ask("cards_poll.create").status_code


def test_another_account_is_spared(box: Sandbox) -> None:
    """Only the named account is lost; operations without one go on."""
    stage = Stage("account-not-associated", box, account_id=ACCOUNT)
    other = box.call("GET", "/12/accounts/18ce55fw2ag", keys=HARBOR)

    assert 200 == other.status_code == stage.ask("accounts.list").status_code
    assert 403 == stage.ask("line_items.list").status_code


REJECTED = [
    ("promoted-post-rejected", "promoted_posts", "1efwlo", "1efx0t"),
    ("media-creative-rejected", "media_creatives", "1bzq3", "1bzq8"),
]


@pytest.mark.parametrize(("name", "family", "key", "other_key"), REJECTED)
def test_a_part_of_a_line_item_is_rejected(
    box: Sandbox, name: str, family: str, key: str, other_key: str
) -> None:
    """One of them is shown as rejected, another one as it is."""
    stage = Stage(name, box, **{f"{family[:-1]}_id": key})
    path = f"/12/accounts/{ACCOUNT}/{family}"

    rejected = stage.ask(f"{family}.get", path=f"{path}/{key}").get_json()["data"]
    other = stage.ask(f"{family}.get", path=f"{path}/{other_key}").get_json()["data"]

    assert ("REJECTED", "ACCEPTED") == (rejected["approval_status"], other["approval_status"])
    assert box.record(family, key)["approval_status"] == "ACCEPTED"


def test_an_audience_takes_its_time(box: Sandbox) -> None:
    """So many reads of one audience show it as new, the next one as it is."""
    stage = Stage("audience-processing", box, custom_audience_id="1nmth", reads=2)
    path = f"/12/accounts/{ACCOUNT}/custom_audiences"

    def read(key: str) -> Any:
        return stage.ask("custom_audiences.get", path=f"{path}/{key}").get_json()["data"]

    other = read("2906h")
    seen = [read("1nmth") for _ in range(3)]

    assert [2, 2, 0] == [len(record["reasons_not_targetable"]) for record in seen]
    assert [False, False, True] == [record["targetable"] for record in seen]
    assert other["targetable"] is True


def test_a_conversion_is_attributed(box: Sandbox) -> None:
    """The answer names the ad; the rest of it stays."""
    answer = Stage("conversion-attributed", box, campaign_id="8wku2").ask("conversion_event.report")
    data = answer.get_json()["data"]

    assert "8wku2" == data["platform_attribution"]["promoted_properties"]["campaign_id"]
    assert (data["conversion_type"], data["tpn_attribution"]) == ("INSTALL", None)


@pytest.mark.parametrize(("name", "operation", "status", "text"), [
    ("media-expired", "media_metadata.create", 400, "have expired"),
    ("media-expired", "media_subtitles.delete", 400, "have expired"),
    ("media-not-own", "media_subtitles.create", 403, "not authorized to change the media"),
    ("media-subtitles-full", "media_subtitles.create", 400, "at most 5 languages"),
    ("direct-messages-blocked", "dm_conversations.create", 403, "permission to DM"),
    ("direct-message-not-own", "dm_events.delete", 403, "not allowed to delete"),
    ("note-writer-required", "notes.create", 403, f'"{WRITERS}"'),
    ("note-writer-required", "notes.list_written", 403, f'"{WRITERS}"'),
    ("note-writer-required", "notes.evaluate", 403, f'"{WRITERS}"'),
    ("note-writer-required", "evaluate_note.create", 403, f'"{WRITERS}"'),
    ("note-exists", "notes.create", 400, '"User already created a note for this post."'),
    ("follow-blocked", "following.create", 400,
     '"You cannot follow an account that is blocking you"'),
])  # fmt: skip
def test_a_rule_refuses(name: str, operation: str, status: int, text: str) -> None:
    """What would succeed is refused with the text of the rule, and nothing is stored."""
    stage = Stage(name, sandbox())
    answer = stage.ask(operation)

    assert (status, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert text in answer.text
    assert [] == list(stage.last.changes)


def test_a_suspended_user_is_not_found() -> None:
    """The answer is that of a user who is missing, with a title and a text of its own."""
    body = Stage("user-lookup-suspended", sandbox()).ask("users.get").get_json()

    assert ("Forbidden", "User has been suspended: [3805104374].") == (
        body["title"],
        body["detail"],
    )
    assert body["type"].endswith("/resource-not-found")


@pytest.mark.parametrize(("name", "detail"), [
    ("post-repeated", "create a Post with duplicate content."),
    ("post-reply-not-summoned", "you have not been mentioned or otherwise engaged by the"),
    ("post-edit-refused", "can no longer be edited"),
    ("post-too-long", "is too long"),
])  # fmt: skip
def test_a_post_is_refused(name: str, detail: str) -> None:
    """The generic 403 with the public text, and nothing is stored."""
    stage = Stage(name)
    answer = stage.ask("public_posts.create")
    body = answer.get_json()

    assert (403, "about:blank", "Forbidden") == (answer.status_code, body["type"], body["title"])
    assert detail in body["detail"]
    assert [] == list(stage.last.changes)


CALL = "/2/users/me"


def me(box: Sandbox) -> tuple[int, str]:
    """Status and detail of a call with the user's token."""
    headers = {"Authorization": f"Bearer {USER_TOKEN}"}
    answer = box.call("GET", CALL, keys=None, headers=headers)
    return answer.status_code, answer.get_json().get("detail", "")


@pytest.mark.parametrize(("name", "parameters", "refusal"), [
    ("user-token-expired", {}, (401, "Unauthorized")),
    ("user-token-scope-missing", {"detail": "This endpoint needs the scope users.read."},
     (403, "This endpoint needs the scope users.read.")),
])  # fmt: skip
def test_user_tokens(
    box: Sandbox, name: str, parameters: dict[str, str], refusal: tuple[int, str]
) -> None:
    """User tokens are refused, signatures are not."""
    before = me(box)
    stage = Stage(name, box, **parameters)

    assert ((200, ""), refusal) == (before, me(box))
    assert 200 == box.call("GET", CALL).status_code
    assert [1, 0] == list(stage.fired)


def test_a_code_is_refused() -> None:
    """The exchange answers in the form of RFC 6749; nothing is issued."""
    stage = Stage("oauth2-code-refused", sandbox())

    answer = stage.ask("oauth2.user_token")

    assert 400 == answer.status_code
    assert {
        "error": "invalid_request",
        "error_description": "Value passed for the authorization code was invalid.",
    } == answer.get_json()
    assert [] == list(stage.last.changes)
