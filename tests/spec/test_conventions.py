"""What document B says once for all of its operations, checked for each of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.served import OPERATIONS
from mock_platform.control.routes import describe_everything
from mock_platform.core.operation import Location, Operation, Origin
from tests.api.ads.cards.creatives import IMAGE
from tests.spec.rows import COUNTED, ID_FILTERS, PAGED, SORTED
from tests.support import (
    ACCOUNT,
    HARBOR,
    NORTHBIKE,
    OTHER_ACCOUNT,
    Sandbox,
    faults,
    refusal,
    sandbox,
)

CATALOG, AUDIENCE = "1547080787865939968", "1nmth"
DOCUMENTED = tuple(op for op in OPERATIONS if op.origin is Origin.DOCUMENT_B)
EXAMPLES = {
    "account_id": ACCOUNT, "account_media_id": "2pzo", "card_id": "1712860000001000003",
    "card_type": "image_conversation", "curated_category_id": "8tujl1p3yn0g",
    "custom_audience_id": AUDIENCE, "do_not_reach_list_id": "4y1bc",
    "line_item_curated_category_id": "1bx2k", "line_item_id": "itttx", "media_key": IMAGE,
    "post_id": "1712850617439551489", "product_catalog_id": CATALOG,
    "product_set_id": "1547081000000000001", "tailored_audience_id": AUDIENCE,
    "tailored_audience_permission_id": "ri",
}  # fmt: skip
OWN_EXAMPLES = {
    "cards.delete": {"card_id": "57i77"},
    "cards_poll.get": {"card_id": "1712870000001000003"},
    "cards_poll.delete": {"card_id": "1712870000001000003"},
    "cards_video_conversation.get": {"card_id": "1712880000001000003"},
    "cards_video_conversation.update": {"card_id": "1712880000001000003"},
}
HISTORY = {
    "entity_type": "LINE_ITEM",
    "entity_id": "itttx",
    "start_time": "2026-09-02T08:00:00Z",
    "end_time": "2026-09-02T12:00:00Z",
}
NEEDED: dict[str, dict[str, str]] = {
    "account_history.list": HISTORY,
    "insights.search_keywords": {"granularity": "DAY", "keywords": "coffee",
                                 "start_time": "2026-11-01T00:00:00Z",
                                 "end_time": "2026-11-02T00:00:00Z"},
}  # fmt: skip
"""What a read needs beside its path."""
READS = tuple(op for op in DOCUMENTED if op.method == "GET")
ELSEWHERE = tuple(op for op in DOCUMENTED if not op.sandbox_only)
SCOPED = tuple(op for op in DOCUMENTED if ":account_id" in op.path)


def path_of(operation: Operation, **others: str) -> str:
    """The operation's path with records of the fixtures in it, on the address that has it."""
    values = EXAMPLES | OWN_EXAMPLES.get(operation.id, {}) | others
    path = re.sub(r":([a-z_]+)", lambda found: values[found[1]], operation.path)
    return f"/sandbox{path}" if operation.sandbox_only else path


def named(operation: Operation) -> str:
    """The operation's id, to distinguish the cases."""
    return operation.id


def test_every_path_can_be_filled() -> None:
    """The examples name a record for everything that varies in a documented path."""
    assert {name for op in DOCUMENTED for name in op.path_names} == set(EXAMPLES)


# -- who may call --------------------------------------------------------------------------------


@pytest.mark.spec("B, Authentication", "The credential")
@pytest.mark.parametrize("operation", DOCUMENTED, ids=named)
def test_credentials_are_needed(box: Sandbox, operation: Operation) -> None:
    """Without credentials no operation answers, whatever else is wrong."""
    response = box.call(operation.method, path_of(operation), keys=None)

    assert (401, [("UNAUTHORIZED_ACCESS", None)]) == refusal(response)


@pytest.mark.spec("B, Common conventions", ":account_id identifies")
@pytest.mark.spec("B, Authentication", "Every account-scoped")
@pytest.mark.parametrize("operation", SCOPED, ids=named)
def test_the_account_is_associated_with_the_user(box: Sandbox, operation: Operation) -> None:
    """An account of another user, and one that is unknown, are refused alike."""
    for account in (OTHER_ACCOUNT, "nope"):
        response = box.call(operation.method, path_of(operation, account_id=account))

        assert (403, [("ACCOUNT_NOT_FOUND", "account_id")]) == refusal(response)


@pytest.mark.spec("operations", "product_catalogs.list", "product_catalogs.create")
@pytest.mark.spec("operations", "product_catalogs.update", "product_catalogs.delete")
@pytest.mark.spec("operations", "product_catalogs.products.list")
@pytest.mark.spec("operations", "product_catalogs.products.upsert")
@pytest.mark.spec("operations", "product_catalogs.products.delete", "product_sets.get")
@pytest.mark.spec("operations", "product_sets.create", "product_sets.update")
@pytest.mark.spec("B, Authentication", "Catalog endpoints")
@pytest.mark.parametrize(
    "operation", [op for op in DOCUMENTED if "/product_catalogs" in op.path], ids=named
)
def test_catalogs_need_early_access(box: Sandbox, operation: Operation) -> None:
    """Catalog endpoints refuse an app without early access before they look at anything."""
    response = box.call(operation.method, path_of(operation), keys=NORTHBIKE)

    assert (403, "UNAUTHORIZED_CLIENT_APPLICATION") == (
        response.status_code,
        faults(response)[0][0],
    )


@pytest.mark.parametrize("operation", [op for op in DOCUMENTED if op.method != "GET"], ids=named)
def test_writes_need_write_access(box: Sandbox, operation: Operation) -> None:
    """An app that may only read changes nothing."""
    box.change("apps", "11827", _permissions=["read"])
    response = box.call(operation.method, path_of(operation))

    assert (403, "READONLY_CLIENT_APPLICATION") == (response.status_code, faults(response)[0][0])


# -- addresses and versions ----------------------------------------------------------------------


@pytest.mark.spec("B, What the service does", "{ads_base_url}")
@pytest.mark.parametrize("operation", READS, ids=named)
def test_the_sandbox_address_serves_the_same(box: Sandbox, operation: Operation) -> None:
    """Every read answers on both addresses, with the same records."""
    path, query = path_of(operation), NEEDED.get(operation.id, {})
    plain = box.call("GET", path, query_string=query)
    other = box.call("GET", f"/sandbox{path}", query_string=query)

    assert (200, plain.get_json()) == (plain.status_code, other.get_json())


@pytest.mark.spec("operations", "accounts.create", "accounts.delete", "features.add")
@pytest.mark.spec("operations", "features.remove")
@pytest.mark.spec("B, What the service does", "Sandbox-only operations")
@pytest.mark.spec("B, Authentication", "Sandbox operations")
@pytest.mark.parametrize("operation", [op for op in DOCUMENTED if op.sandbox_only], ids=named)
def test_sandbox_operations_are_only_there(box: Sandbox, operation: Operation) -> None:
    """On the plain address the method does not exist."""
    path = path_of(operation).removeprefix("/sandbox")
    response = box.call(operation.method, path, query_string={"feature_keys": "DR_TAP"})

    assert (405, [("METHOD_NOT_ALLOWED", None)]) == refusal(response)
    assert operation.method not in response.headers["Allow"].split(", ")


@pytest.mark.spec("B, What the service does", "Sandbox-only operations")
def test_four_operations_are_sandbox_only() -> None:
    """They are those that document B marks so."""
    assert {"accounts.create", "accounts.delete", "features.add", "features.remove"} == {
        op.id for op in DOCUMENTED if op.sandbox_only
    }


@pytest.mark.spec("B, Tailored audience permissions (version 5)", "Base {ads_base_url}/5/accounts")
@pytest.mark.spec("B, What the service does", "Most paths begin")
@pytest.mark.spec("B, Versioning", "The version is", "The conversation_settings")
@pytest.mark.parametrize("operation", ELSEWHERE, ids=named)
@pytest.mark.parametrize("version", ["4", "11", "13"])
def test_the_version_is_part_of_the_path(box: Sandbox, operation: Operation, version: str) -> None:
    """12 for most endpoints, 5 for tailored audience permissions; no other version is a route."""
    documented = "5" if "tailored_audiences" in operation.path else "12"
    assert operation.path.startswith(f"/{documented}/")
    other = path_of(operation).replace(f"/{documented}/", f"/{version}/", 1)
    assert (404, [("ROUTE_NOT_FOUND", None)]) == refusal(box.call(operation.method, other))


@pytest.mark.spec("B, Not shown", "Endpoints not shown", "Parameters of the")
@pytest.mark.parametrize("path", [
    f"/12/product_catalogs/{CATALOG}/scheduled_feeds",
    *(f"/12/accounts/{ACCOUNT}/{family}" for family in ("scheduled_posts", "draft_posts", "videos",
                                                        "media_creatives", "promoted_posts",
                                                        "targeting_criteria?line_item_ids=itttx")),
])  # fmt: skip
def test_endpoints_that_are_not_shown_are_not_the_documents(path: str) -> None:
    """What the document does not show is a gap or no route: --strict serves none of it."""
    answer = sandbox(strict=True).call("GET", path)

    assert answer.status_code in {404, 501}
    assert answer.get_json()["errors"][0]["code"] in {"ROUTE_NOT_FOUND", "NOT_IMPLEMENTED"}


OLDER_WORD = re.compile(r"\w*(?:twitter|tweet)\w*", re.IGNORECASE)


@pytest.mark.spec("A, Versioning", "brand word inside")
@pytest.mark.spec("B, What the service does", "The brand word")
def test_names_are_neutral(box: Sandbox) -> None:
    """No path, parameter or field has the brand word or the former name of posts in it.

    An older name is accepted on input beside the neutral one, and never served.
    """
    paths = describe_everything(box.platform).at("http://localhost")["paths"]
    for operation in (each for path in paths.values() for each in path.values()):
        operation.pop("x-mock-original-names", None)  # what `--names original` is for
    words = json.dumps(paths).replace("post.tweet-mode", "")  # the id of the assumption about it
    served = json.dumps([each["responses"] for path in paths.values() for each in path.values()])

    older = {"tweet_mode", "tweets", "liked_tweets", "tweet", "quote_tweet_id"}
    older |= {"retweets", "retweeted_by", "quote_tweets", "like_with_tweet_author"}
    older |= {"retweet", "unretweet", "retweeters", "retweets_of_me", "no_retweets"}
    assert older == set(OLDER_WORD.findall(words))
    assert [] == OLDER_WORD.findall(served)


# -- bodies --------------------------------------------------------------------------------------


@pytest.mark.spec("operations", "product_catalogs.products.upsert")
@pytest.mark.spec("operations", "product_catalogs.products.delete", "product_sets.create")
@pytest.mark.spec("operations", "product_sets.update", "custom_audiences.users")
@pytest.mark.spec("operations", "do_not_reach_lists.users", "cards.create", "cards.update")
@pytest.mark.spec("operations", "audience_estimate.create")
@pytest.mark.spec("B, Common conventions", "endpoints marked")
@pytest.mark.parametrize(
    "operation", [op for op in DOCUMENTED if op.location is Location.JSON], ids=named
)
def test_json_endpoints_take_json(box: Sandbox, operation: Operation) -> None:
    """Endpoints marked JSON take application/json: no form, no other text, no query instead."""
    path = path_of(operation)
    for response in (
        box.call(operation.method, path, form={"name": "x"}),
        box.call(operation.method, path, data=b"{}", content_type="text/plain"),
        box.call(operation.method, path, query_string={"name": "x"}),
    ):
        assert (415, "UNSUPPORTED_MEDIA_TYPE") == (response.status_code, faults(response)[0][0])


@pytest.mark.spec("B, Common conventions", "endpoints marked")
def test_the_endpoints_marked_json() -> None:
    """They are those of which document B shows a JSON body."""
    assert {
        "product_catalogs.products.upsert", "product_catalogs.products.delete",
        "product_sets.create", "product_sets.update", "custom_audiences.users",
        "do_not_reach_lists.users", "cards.create", "cards.update", "audience_estimate.create",
    } == {op.id for op in DOCUMENTED if op.location is Location.JSON}  # fmt: skip


@pytest.mark.spec("B, Common conventions", "Responses are JSON")
@pytest.mark.parametrize("operation", READS, ids=named)
def test_answers_are_json_with_what_was_sent(box: Sandbox, operation: Operation) -> None:
    """Responses are JSON with request.params, path parameters among them, and data."""
    query = NEEDED.get(operation.id, {})
    response = box.call("GET", path_of(operation), query_string=query)
    body = response.get_json()
    sent = {v for k, v in (EXAMPLES | OWN_EXAMPLES.get(operation.id, {})).items()
            if k in operation.path_names}  # fmt: skip

    assert response.mimetype == "application/json"
    assert {"request", "data"} <= body.keys()
    assert sent <= {str(value) for value in body["request"]["params"].values()}


# -- lists ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Listed:
    """A list: its table, one of its records, and the default and bound of its count."""

    table: str
    one: str
    key: str = "id"
    default: int = 200
    most: int = 1000
    total: bool = True


LISTS = {
    "product_catalogs.products.list": Listed(
        "products", "1547080787865940007", "product_key", 100, 100, total=False
    ),
    "tailored_audiences.permissions.list": Listed("audience_permissions", "ri"),
    "custom_audiences.permissions.list": Listed("audience_permissions", "ri"),
    "account_media.list": Listed("account_media", "2pzo"),
    "cards.list": Listed("cards", "1712860000001000003", default=100, most=200),
    "media_library.list": Listed("media_library", IMAGE, "media_key", 20, 50),
    "cards_poll.list": Listed("poll_cards", "1712870000001000003"),
    "cards_video_conversation.list": Listed("video_conversation_cards", "1712880000001000003"),
    "accounts.list": Listed("accounts", ACCOUNT),
    "account_apps.list": Listed("account_apps", "tf"),
    "account_history.list": Listed("account_history", "hx1", "_id", total=False),
    "curated_categories.list": Listed("curated_categories", "8tujl1p3yn0g"),
    "line_item_curated_categories.list": Listed("line_item_curated_categories", "1bx2k"),
}
WHOLE = {"product_catalogs.list", "advertiser_business_categories.list"}
"""Lists that always fit one page."""
BY_ID = {op.id: op for op in DOCUMENTED}


def ask(box: Sandbox, id_: str, **query: str) -> TestResponse:
    """One page of a list."""
    operation = BY_ID[id_]
    sent = NEEDED.get(id_, {}) | query
    return box.call("GET", path_of(operation), query_string=sent)


def fill(box: Sandbox, listed: Listed, number: int) -> None:
    """So many more records like the one of the fixtures."""
    record = box.record(listed.table, listed.one)
    with box.world.work():
        for n in range(number):
            box.world.store.put(listed.table, f"new{n}", record | {listed.key: f"new{n}"})


@pytest.mark.spec("B, Common conventions", "Lists accept cursor")
def test_every_list_is_here() -> None:
    """What has a next_cursor in document B is one of the lists below, or always one page."""
    paged = {op.id for op in READS if op.id.endswith(".list") and "placements" not in op.path}

    assert paged == {*LISTS, *WHOLE}


@pytest.mark.spec(PAGED)
@pytest.mark.spec("B, Common conventions", "for lists next_cursor", "Lists accept cursor")
@pytest.mark.spec("B, What public facts and settled questions add", "Comma lists are")
@pytest.mark.spec("B, Limits", "Product list count", case="product_catalogs.products.list")
@pytest.mark.spec("B, Limits", "Card list count", case="cards.list")
@pytest.mark.spec("B, Limits", "Media library list", case="media_library.list")
@pytest.mark.spec("B, Limits", "Most other lists")
@pytest.mark.parametrize("id_", LISTS)
def test_the_default_count(box: Sandbox, id_: str) -> None:
    """Without a count a page holds the documented number; one more record opens a second page."""
    listed = LISTS[id_]
    fill(box, listed, listed.default)
    first = ask(box, id_).get_json()
    second = ask(box, id_, cursor=first["next_cursor"]).get_json()

    assert listed.default == len(first["data"])
    assert "count" not in first["request"]["params"]
    assert second["data"]
    assert second["next_cursor"] is None


@pytest.mark.spec(PAGED)
@pytest.mark.spec("B, Common conventions", "Lists accept cursor")
@pytest.mark.spec("B, Limits", "Product list count", case="product_catalogs.products.list")
@pytest.mark.spec("B, Limits", "Card list count", case="cards.list")
@pytest.mark.spec("B, Limits", "Media library list", case="media_library.list")
@pytest.mark.spec("B, Limits", "Most other lists")
@pytest.mark.parametrize("id_", LISTS)
def test_the_bounds_of_count(box: Sandbox, id_: str) -> None:
    """A count is 1 to the documented bound; all else is refused."""
    listed = LISTS[id_]
    fill(box, listed, listed.most + 1)
    largest, smallest = ask(box, id_, count=str(listed.most)), ask(box, id_, count="1")

    assert [listed.most, 1] == [len(found.get_json()["data"]) for found in (largest, smallest)]
    for count in ("0", str(listed.most + 1), "-1", "x", ""):
        assert (400, [("INVALID_PARAMETER", "count")]) == refusal(ask(box, id_, count=count))


@pytest.mark.spec(COUNTED)
@pytest.mark.spec("B, Common conventions", "with_total_count")
@pytest.mark.parametrize("id_", [id_ for id_, listed in LISTS.items() if listed.total])
def test_with_total_count(box: Sandbox, id_: str) -> None:
    """The total counts every record, is exclusive with cursor, and is limited to 200."""
    listed = LISTS[id_]
    fill(box, listed, 3)
    whole = ask(box, id_).get_json()
    counted = ask(box, id_, with_total_count="true", count="1")
    body = counted.get_json()
    both = ask(box, id_, with_total_count="true", cursor=body["next_cursor"])

    assert len(whole["data"]) == body["total_count"]
    assert ("200", "199") == (
        counted.headers["x-rate-limit-limit"],
        counted.headers["x-rate-limit-remaining"],
    )
    assert (400, [("EXCLUSIVE_PARAMETERS", "with_total_count")]) == refusal(both)


@pytest.mark.spec("B, Common conventions", "with_total_count")
@pytest.mark.spec("B, Limits", "Requests with with_total_count")
@pytest.mark.parametrize("id_", [id_ for id_, listed in LISTS.items() if listed.total])
def test_the_total_is_limited_to_200_in_15_minutes(box: Sandbox, id_: str) -> None:
    """The 200th request passes, the 201st is refused; then a window of 15 minutes is over."""
    box.world.clock.freeze()
    ask(box, id_, with_total_count="true", count="1")
    for _ in range(198):  # as many requests as were counted, without making them
        box.world.windows.count((id_, "with_total_count", "2244994945"), 200, 900)
    last, over = (ask(box, id_, with_total_count="true", count="1") for _ in range(2))
    plain = ask(box, id_, count="1")
    box.world.clock.advance(899)
    early = ask(box, id_, with_total_count="true", count="1")
    box.world.clock.advance(1)
    later = ask(box, id_, with_total_count="true", count="1")

    assert [200, 429, 200, 429, 200] == [r.status_code for r in (last, over, plain, early, later)]
    assert [("TOO_MANY_REQUESTS", None)] == faults(over)


MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
WITHOUT: dict[str, set[str]] = {
    "product_catalogs.products.list": {"created_at", "updated_at", "deleted"},
    "account_history.list": {"id", "created_at", "updated_at", "deleted"},
    "curated_categories.list": {"deleted"},
    "media_library.list": {"id"},  # media_key is theirs
}
"""What the document does not list among the fields of a record."""


@pytest.mark.spec("B, Resources and fields", "Timestamps are", "Every record carries")
@pytest.mark.parametrize("id_", LISTS)
def test_records_carry_the_common_fields(box: Sandbox, id_: str) -> None:
    """Every record carries id, created_at, updated_at and deleted unless stated."""
    common = {"id": str, "created_at": str, "updated_at": str, "deleted": bool}
    expected = {name: kind for name, kind in common.items() if name not in WITHOUT.get(id_, set())}
    records: list[dict[str, Any]] = ask(box, id_).get_json()["data"]

    assert records
    for record in records:
        assert expected == {name: type(record[name]) for name in expected}
        assert not WITHOUT.get(id_, set()) & record.keys()
        assert not [name for name in record if name.startswith("_")]
        for name in ("created_at", "updated_at"):
            assert name not in expected or MOMENT.fullmatch(record[name]), record


@pytest.mark.spec(SORTED)
@pytest.mark.spec("B, Common conventions", "sort_by (attribute")
@pytest.mark.parametrize("id_", [id_ for id_ in LISTS if id_ not in WITHOUT])
def test_sort_by_takes_an_attribute_and_a_way(box: Sandbox, id_: str) -> None:
    """Nothing else: no attribute alone, no other way and no other attribute."""
    for right in ("updated_at-asc", "updated_at-desc"):
        assert 200 == ask(box, id_, sort_by=right).status_code
    for wrong in ("updated_at", "updated_at-down", "nothing-asc", "id-asc", ""):
        assert [("INVALID_PARAMETER", "sort_by")] == faults(ask(box, id_, sort_by=wrong))


FILTERS = {
    ("tailored_audiences.permissions.list", "granted_account_ids"),
    ("tailored_audiences.permissions.list", "tailored_audience_permission_ids"),
    ("account_media.list", "account_media_ids"),
    ("cards.list", "card_id"),
    ("cards.list", "card_uris"),
    ("cards_poll.list", "card_ids"),
    ("cards_video_conversation.list", "card_ids"),
    ("accounts.list", "account_ids"),
}


@pytest.mark.spec(ID_FILTERS)
@pytest.mark.spec("B, Limits", "ID filters: up")
@pytest.mark.parametrize(("id_", "name"), sorted(FILTERS))
def test_id_filters_take_200(box: Sandbox, id_: str, name: str) -> None:
    """200 identifiers are accepted, 201 refused; unknown ones find nothing and fail nothing."""
    value = "card://1" if name == "card_uris" else "1"
    inside = ask(box, id_, **{name: ",".join([value] * 200)})
    outside = ask(box, id_, **{name: ",".join([value] * 201)})

    assert (200, []) == (inside.status_code, inside.get_json()["data"])
    assert (400, [("INVALID_PARAMETER", name)]) == refusal(outside)


OWNED = {
    ACCOUNT: (HARBOR, "2906h", "itttx"),
    "18ce55fw2ag": (HARBOR, "3m8qe", "iv3k8"),
    OTHER_ACCOUNT: (NORTHBIKE, "4q7sd", "iv7pd"),
}
"""For three accounts of two users: who signs, an audience of theirs, a line item of theirs."""


@pytest.mark.parametrize("account", OWNED)
@pytest.mark.parametrize("id_", [id_ for id_ in LISTS if ":account_id" in BY_ID[id_].path])
def test_every_account_has_two_pages_of_everything(box: Sandbox, account: str, id_: str) -> None:
    """The default fixtures show each list of each account on at least two pages of one."""
    keys, audience, line_item = OWNED[account]
    ids = {"custom_audience_id": audience, "tailored_audience_id": audience}
    path = path_of(BY_ID[id_], account_id=account, **ids)
    query = NEEDED.get(id_, {}) | {"count": "1"}
    if "entity_id" in query:
        whole = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-11-01T00:00:00Z"}
        query |= {"entity_id": line_item, **whole}
    first = box.call("GET", path, keys=keys, query_string=query)
    if first.status_code == 403:  # the other user's app is on no allowlist
        assert ("account_history.list", OTHER_ACCOUNT) == (id_, account)
        return
    cursor = {"cursor": first.get_json()["next_cursor"]}
    second = box.call("GET", path, keys=keys, query_string=query | cursor)

    assert [1, 1] == [len(page.get_json()["data"]) for page in (first, second)]
