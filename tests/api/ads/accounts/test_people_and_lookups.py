"""People of an account and what clients look up: users, rights, categories, bids, settings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import Refusal, refusals
from tests.support import ACCOUNT, BEARER, NORTHBIKE, OTHER_ACCOUNT, Sandbox, sandbox

BASE = f"/12/accounts/{ACCOUNT}"
OWNER, INES = "2244994945", "2790441185"
INVALID = "INVALID_PARAMETER"
LOOKUPS = [
    f"{BASE}/authenticated_user_access",
    f"{BASE}/promotable_users",
    f"{BASE}/promotable_users/mv2k",
    "/12/iab_categories",
    "/12/content_categories",
    "/12/publishers",
    "/12/bidding_rules",
    f"{BASE}/targeting_suggestions?suggestion_type=KEYWORD&targeting_values=coffee",
    f"{BASE}/user_settings/{OWNER}",
    f"{BASE}/tax_settings",
]


def read(box: Sandbox, path: str, **query: str) -> Any:
    """The body of a successful read."""
    answer = box.call("GET", path, query_string=query)
    assert 200 == answer.status_code, answer.text
    return answer.get_json()


@pytest.mark.parametrize("path", LOOKUPS)
def test_nothing_of_it_is_specified(path: str) -> None:
    """Each answer names its assumption, and --strict refuses it."""
    served = sandbox().call("GET", path)
    refused = sandbox(strict=True).call("GET", path)

    assert (200, 501) == (served.status_code, refused.status_code)
    assert ".all" in served.headers["X-Mock-Assumptions"]


@pytest.mark.parametrize("path", [path for path in LOOKUPS if "accounts" not in path])
def test_global_reads_are_limited(path: str) -> None:
    """Five in 15 minutes for each endpoint; the sixth is refused."""
    box = sandbox(limits="public")
    statuses = [box.call("GET", path).status_code for _ in range(6)]

    assert [200] * 5 + [429] == statuses


def refuse(
    path: str,
    holds: str,
    name: str,
    code: str = "INVALID_PARAMETER",
    status: int = 400,
    **more: Any,
) -> Refusal:
    """A read, or a write if it is said, that one parameter refuses."""
    return Refusal(path if " " in path else f"GET {path}", holds, status, [(code, name)], **more)


CURATED, PLACEMENTS = f"{BASE}/curated_categories", "/12/line_items/placements"
SUGGESTIONS = f"{BASE}/targeting_suggestions"
KEYWORDS = {"suggestion_type": "KEYWORD", "targeting_values": "a"}
REFUSED = [
    refuse(f"{BASE}/promotable_users/mvq3", "a promotable user of another account",
           "promotable_user_id", "PROMOTABLE_USER_NOT_FOUND", 404),
    refuse("/12/bidding_rules", "a currency in small letters", "currency",
           query={"currency": "usd"}),
    *(refuse("/12/iab_categories", f"{count} IAB categories", "count", query={"count": count})
      for count in ("0", "1001")),
    *(refuse(CURATED, f"categories of the country {codes}", "country_codes",
             query={"country_codes": codes}, messages=["alpha-2"])
      for codes in ("XX", "us", "USA", "UK", "US,,DE", "840")),
    refuse(f"{CURATED}/000000000000", "an unknown curated category", "curated_category_id",
           "NOT_FOUND", 404, spec={"operations": ["curated_categories.get"]}),
    *(refuse(PLACEMENTS, f"placements of {kind or 'nothing'}", "product_type",
             query={"product_type": kind},
             spec={"B, Accounts": ["GET /12/line_items/placements"]})
      for kind in ("media", "MEDIA,PROMOTED_POSTS", "VIDEO", "")),
    *(refuse(SUGGESTIONS, f"suggestions without {name}", name, "MISSING_PARAMETER",
             query={each: KEYWORDS[each] for each in KEYWORDS if each != name})
      for name in KEYWORDS),
    refuse(SUGGESTIONS, "suggestions of another type", "suggestion_type",
           query=KEYWORDS | {"suggestion_type": "A"}),
    *(refuse(SUGGESTIONS, f"{count} suggestions", "count", query=KEYWORDS | {"count": count})
      for count in ("0", "51")),
    *(refuse(f"{method} {BASE}/user_settings/3805104374", f"{method} settings of a stranger",
             "user_id", "USER_NOT_FOUND", 403) for method in ("GET", "PUT")),
    refuse(f"PUT {BASE}/user_settings/{OWNER}", "an email address without at", "notification_email",
           query={"notification_email": "desk"}),
    *(refuse(f"PUT {BASE}/tax_settings", f"another {name}", name, query={name: "OTHER"},
             messages=["Expected a value in "])
      for name in ("bill_to", "business_relationship", "invoice_jurisdiction", "tax_category")),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each names what is wrong: records of others, values beyond the lists, what is missing."""
    row.check(box)


# -- the calling user --------------------------------------------------------------------------


def test_an_administrator(box: Sandbox) -> None:
    """A user without an entry may do everything."""
    body = read(box, f"{BASE}/authenticated_user_access")

    assert {"params": {"account_id": ACCOUNT}} == body["request"]
    assert {"user_id": OWNER, "permissions": ["ACCOUNT_ADMIN", "POST_COMPOSER"]} == body["data"]


def test_an_entry_of_the_account(box: Sandbox) -> None:
    """The account says what a user may do."""
    box.change("accounts", ACCOUNT, _user_access=[{"user_id": OWNER, "permissions": ["ANALYST"]}])

    assert ["ANALYST"] == read(box, f"{BASE}/authenticated_user_access")["data"]["permissions"]


@pytest.mark.parametrize(
    ("permission", "reads", "writes"),
    [
        ("ACCOUNT_ADMIN", 200, 200),
        ("AD_MANAGER", 200, 200),
        ("CREATIVE_MANAGER", 200, 403),
        ("CAMPAIGN_ANALYST", 200, 403),
        ("ANALYST", 403, 403),
        ("PARTNER_AUDIENCE_MANAGER", 403, 403),
    ],
)
def test_rights_in_campaigns(box: Sandbox, permission: str, reads: int, writes: int) -> None:
    """Who may see line items and who may change them; other parts of the account are open."""
    entry = {"user_id": OWNER, "permissions": [permission]}
    box.change("accounts", ACCOUNT, _user_access=[entry])
    read_ = box.call("GET", f"{BASE}/line_item_curated_categories")
    written = box.call("PUT", f"{BASE}/line_items/itttx", query_string={"name": "New"})
    codes = {
        error["code"]
        for answer in (read_, written)
        if answer.status_code == 403
        for error in answer.get_json()["errors"]
    }

    assert (reads, writes) == (read_.status_code, written.status_code)
    assert codes <= {"ACTION_NOT_ALLOWED"}
    assert 200 == box.call("GET", f"{BASE}/media_library").status_code


@pytest.mark.parametrize(
    "entry",
    [
        {"user_id": "3805104374", "permissions": ["ANALYST"]},
        {"user_id": OWNER, "permissions": ["ANALYST", "POST_COMPOSER"]},
        {"user_id": OWNER, "permissions": ["POST_COMPOSER"]},
        {"user_id": OWNER, "permissions": []},
        {"user_id": OWNER, "permissions": ["OWNER"]},
    ],
)
def test_entries_that_cannot_be(box: Sandbox, entry: dict[str, Any]) -> None:
    """Users of others, POST_COMPOSER alone or beside an analyst, no permission, unknown ones."""
    path = f"/_mock/state/accounts/{ACCOUNT}"

    assert 422 == box.client.patch(path, json={"_user_access": [entry]}).status_code
    sound = [{"user_id": OWNER, "permissions": ["AD_MANAGER", "POST_COMPOSER"]}]
    assert 200 == box.client.patch(path, json={"_user_access": sound}).status_code


def test_permissions_of_a_stranger_are_explained(box: Sandbox) -> None:
    """The refusal names the user, and what to do."""
    access = [{"user_id": "3805104374", "permissions": ["ANALYST"]}]

    refused = box.client.patch(f"/_mock/state/accounts/{ACCOUNT}", json={"_user_access": access})

    assert (
        "user 3805104374 has permissions but is no user of the account; add the id to the field "
        "_users, or remove this entry"
    ) in refused.get_data(as_text=True)


# -- promotable users --------------------------------------------------------------------------


def test_promotable_users(box: Sandbox) -> None:
    """One FULL user of the account and one for reposts only; found by id."""
    listed = read(box, f"{BASE}/promotable_users")
    chosen = read(box, f"{BASE}/promotable_users", promotable_user_ids="mx71,mvq3")
    one = read(box, f"{BASE}/promotable_users/mv2k")

    assert [("mv2k", "FULL"), ("mx71", "REPOSTS_ONLY")] == [
        (user["id"], user["promotable_user_type"]) for user in listed["data"]
    ]
    assert ["mx71"] == [user["id"] for user in chosen["data"]]
    assert listed["data"][0] == one["data"]
    assert {"promotable_user_id": "mv2k", "account_id": ACCOUNT} == one["request"]["params"]


# -- categories, publishers, bids --------------------------------------------------------------


def test_iab_categories(box: Sandbox) -> None:
    """Pages with a total; parents are null at the top."""
    whole = read(box, "/12/iab_categories", with_total_count="true", count="1000")
    rows = {row["id"]: row for row in whole["data"]}

    assert len(rows) == whole["total_count"]
    assert {"id": "IAB8", "parent_id": None, "name": "Food & Drink"} == rows["IAB8"]
    assert "IAB8" == rows["IAB8-6"]["parent_id"]


@pytest.mark.parametrize("count", ["1", "1000"])
def test_count_of_iab_categories(box: Sandbox, count: str) -> None:
    """From 1 to 1000 rows in a page."""
    assert read(box, "/12/iab_categories", count=count)["data"]


def test_content_categories_and_publishers(box: Sandbox) -> None:
    """One page each: categories with a total, publishers that belong to them."""
    categories, publishers = read(box, "/12/content_categories"), read(box, "/12/publishers")
    known = {row["id"] for row in categories["data"]}

    assert (5, None) == (categories["total_count"], categories["next_cursor"])
    assert {
        "id",
        "name",
        "iab_categories",
        "publishers_in_last_thirty_days",
        "videos_monetized_in_last_thirty_days",
    } == set(categories["data"][0])
    assert all(known >= set(row["content_category_ids"]) for row in publishers["data"])
    assert publishers["next_cursor"] is None


def test_bidding_rules(box: Sandbox) -> None:
    """One rule for each currency, with data_type and total_count, in the public order of keys."""
    every, one = read(box, "/12/bidding_rules"), read(box, "/12/bidding_rules", currency="USD")

    assert ["data_type", "data", "total_count", "request"] == list(one)
    assert ("bidding_rule", 1) == (one["data_type"], one["total_count"])
    assert every["total_count"] == len(every["data"]) > 1
    assert {
        "currency": "USD",
        "minimum_cpe_bid_local_micro": 10000,
        "maximum_cpe_bid_local_micro": 1000000000,
        "minimum_denomination": 10000,
    } == one["data"][0]
    assert [] == read(box, "/12/bidding_rules", currency="XAU")["data"]


# -- suggestions -------------------------------------------------------------------------------


def suggest(box: Sandbox, **query: str) -> list[str]:
    """The suggested values."""
    body = read(box, f"{BASE}/targeting_suggestions", **query)
    assert "next_cursor" not in body
    assert {query["suggestion_type"]} >= {row["suggestion_type"] for row in body["data"]}
    return [row["suggestion_value"] for row in body["data"]]


def test_suggested_keywords(box: Sandbox) -> None:
    """30 without count; the same ones each time; none that was sent."""
    query = {"suggestion_type": "KEYWORD", "targeting_values": "coffee,Espresso"}
    found = suggest(box, **query)

    assert 30 == len(set(found))
    assert found == suggest(box, **query)
    assert found[:7] == suggest(box, **query, count="7")
    assert not {"coffee", "espresso"} & set(found)
    assert all("coffee" in value or "espresso" in value for value in found)


def test_suggested_users(box: Sandbox) -> None:
    """Users that exist and were not sent, those with most followers first."""
    found = suggest(box, suggestion_type="USER_ID", targeting_values="2244994945")

    assert ["3805104374", "2790441185"] == found[:2]


@pytest.mark.parametrize("count", ["1", "50"])
def test_bounds_of_count(box: Sandbox, count: str) -> None:
    """The smallest and the largest page."""
    words = "a,b,c"
    found = suggest(box, suggestion_type="KEYWORD", targeting_values=words, count=count)

    assert int(count) == len(found)


# -- settings ----------------------------------------------------------------------------------


def test_user_settings(box: Sandbox) -> None:
    """What is sent changes, an empty value unsets; without settings all is null."""
    path = f"{BASE}/user_settings/{INES}"
    before = read(box, path)["data"]
    changed = box.call("PUT", path, query_string={"contact_phone": "+12065550199"}).get_json()
    box.call("PUT", path, query_string={"notification_email": ""})

    assert {"notification_email", "contact_phone", "contact_phone_extension"} == set(before)
    assert before | {"contact_phone": "+12065550199"} == changed["data"]
    assert changed["data"] | {"notification_email": None} == read(box, path)["data"]
    assert {"account_id": ACCOUNT, "user_id": INES, "contact_phone": "+12065550199"} == (
        changed["request"]["params"]
    )
    other = f"/12/accounts/{OTHER_ACCOUNT}/user_settings/3805104374"
    assert {None} == set(box.call("GET", other, keys=NORTHBIKE).get_json()["data"].values())


def test_tax_settings(box: Sandbox) -> None:
    """What is sent changes, an empty value unsets; without settings all fifteen are null."""
    path = f"{BASE}/tax_settings"
    before = read(box, path)["data"]
    sent = {"bill_to": "AGENCY", "address_street2": "", "tax_id": ""}
    changed = box.call("PUT", path, query_string=sent).get_json()["data"]
    other = f"/12/accounts/{OTHER_ACCOUNT}/tax_settings"

    assert before | {"bill_to": "AGENCY", "address_street2": None, "tax_id": None} == changed
    assert changed == read(box, path)["data"]
    empty = box.call("GET", other, keys=NORTHBIKE).get_json()["data"]
    assert (15, {None}) == (len(empty), set(empty.values()))


def test_bearer_tokens_read_lookups(box: Sandbox) -> None:
    """As everywhere on the advertising interface, a bearer token acts for the app's owner."""
    assert 200 == box.call("GET", f"{BASE}/tax_settings", keys=BEARER).status_code
