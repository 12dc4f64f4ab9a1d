"""Each record of document B is served with the fields that the document lists, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.support import ACCOUNT, Sandbox, sandbox

BASE = f"/12/accounts/{ACCOUNT}"
CATALOG = "/12/product_catalogs/1547080787865939968"
LIBRARY = """media_key, name, file_name, description, title, media_url, media_category,
media_status, media_type, posted, poster_media_url, poster_media_key, duration, aspect_ratio,
created_at, updated_at, deleted"""
VIDEO_ONLY = {"description", "title", "poster_media_url", "poster_media_key", "duration"}
POLL = """id, name, first_choice, second_choice, third_choice, fourth_choice, duration_in_minutes,
start_time, end_time, card_uri, card_type, created_at, updated_at, deleted"""
POLL_VIDEO = """video_url, video_hls_url, video_width, video_height, video_poster_url,
video_poster_width, video_poster_height, content_duration_seconds"""


@dataclass(frozen=True)
class Shown:
    """Where a record is read, and the fields that the document lists for it.

    `beside` are served as public facts or settled questions, `without` are left out of this one.
    """

    path: str
    fields: str
    beside: str = ""
    without: str = ""

    @property
    def expected(self) -> set[str]:
        """The names that this record must have."""
        return (names(self.fields) | names(self.beside)) - names(self.without)


def names(text: str) -> set[str]:
    """Names separated by commas."""
    return {name.strip() for name in text.replace("\n", " ").split(",") if name.strip()}


RECORDS = {
    "product catalog": Shown("/12/product_catalogs", "id, name"),
    "product": Shown(
        f"{CATALOG}/products",
        """id, product_key, title, description, availability, condition, price, link, image_link,
        brand, gtin, mpn, mobile_link, additional_image_link, google_product_category,
        product_type, inventory, sale_price, sale_price_effective_date, item_group_id,
        item_group_key, gender, color, size, age_group, custom_label_0, custom_label_1,
        custom_label_2, custom_label_3, custom_label_4""",
    ),
    "product set": Shown(
        f"{CATALOG}/product_sets/1547081000000000001",
        "id, name, description, type, filters, product_ids, processing_status",
    ),
    "tailored audience permission": Shown(
        f"/5/accounts/{ACCOUNT}/tailored_audiences/1nmth/permissions",
        """id, tailored_audience_id, granted_account_id, permission_level, created_at, updated_at,
        deleted""",
    ),
    "targeted audience entry": Shown(
        f"{BASE}/custom_audiences/1nmth/targeted", "campaign_id, campaign_name, line_items"
    ),
    "account media": Shown(
        f"{BASE}/account_media/2pzo",
        "id, video_id, media_url, creative_type, created_at, updated_at, deleted",
    ),
    "card": Shown(
        f"{BASE}/cards/1712860000001000003",
        "id, name, card_type, card_uri, components, created_at, updated_at, deleted",
    ),
    "card of slides": Shown(
        f"{BASE}/cards/1712860000005000015",
        "id, name, card_type, card_uri, components, created_at, updated_at, deleted",
        beside="slides",
        without="components",
    ),
    "media library video": Shown(f"{BASE}/media_library/7_1712850617439550009", LIBRARY),
    "media library image": Shown(
        f"{BASE}/media_library/3_1712850617439550001", LIBRARY, without=", ".join(VIDEO_ONLY)
    ),
    "media library GIF": Shown(
        f"{BASE}/media_library/16_1712850617439550007", LIBRARY, without="description, title"
    ),
    "text poll card": Shown(
        f"{BASE}/cards/poll/1712870000001000003", POLL, without="third_choice, fourth_choice"
    ),
    "video poll card": Shown(
        f"{BASE}/cards/poll/1712870000004000012",
        f"{POLL}, {POLL_VIDEO}",
        without="third_choice, fourth_choice",
    ),
    "video conversation card": Shown(
        f"{BASE}/cards/video_conversation/1712880000003000009",
        """id, name, title, first_cta, second_cta, third_cta, fourth_cta, first_cta_post,
        second_cta_post, third_cta_post, fourth_cta_post, thank_you_text, thank_you_url, media_key,
        media_url, poster_media_url, video_owner_id, video_width, video_height, card_uri,
        card_type""",
        beside="created_at, updated_at, deleted",
        without="thank_you_url",
    ),
    "account": Shown(
        BASE,
        """id, name, business_name, business_id, timezone, timezone_switch_at, approval_status,
        industry_type, created_at, updated_at, deleted""",
    ),
    "account app": Shown(
        f"{BASE}/account_apps",
        """id, app_store_identifier, conversion_tracking_enabled, deep_link_pattern, os_type,
        created_at, updated_at, deleted""",
    ),
    "account history entry": Shown(
        f"{BASE}/account_history?entity_type=CAMPAIGN&entity_id=8wku2"
        "&start_time=2026-01-01T00:00:00Z&end_time=2026-11-20T00:00:00Z",
        "change_by, changes, change_time, change_type, entity, entity_id, entity_data",
    ),
    "advertiser business category": Shown(
        "/12/advertiser_business_categories", "id, name, iab_categories"
    ),
    "curated category": Shown(
        f"{BASE}/curated_categories/8tujl1p3yn0g",
        """id, name, description, country_codes, publisher_user_ids,
        videos_monetized_in_last_thirty_days, created_at, updated_at""",
    ),
    "line item": Shown(
        f"{BASE}/line_items/itttx",
        """id, name, campaign_id, objective, goal, product_type, placements, entity_status,
        start_time, end_time, bid_strategy, bid_amount_local_micro, pay_by,
        total_budget_amount_local_micro, daily_budget_amount_local_micro, duration_in_days,
        frequency_cap, categories, currency, creative_source, advertiser_user_id,
        advertiser_domain, android_app_store_identifier, ios_app_store_identifier,
        target_cpa_local_micro, primary_web_event_tag, standard_delivery,
        automatic_post_promotion, created_at, updated_at, deleted""",
        beside="funding_instrument_id",
    ),
    "line item curated category": Shown(
        f"{BASE}/line_item_curated_categories/1bx2k",
        "id, line_item_id, curated_category_id, created_at, updated_at, deleted",
    ),
}


def read(box: Sandbox, path: str) -> dict[str, Any]:
    """One record, or the first of a list."""
    response = box.call("GET", path)
    assert response.status_code == 200, response.text
    data: Any = response.get_json()["data"]
    found: dict[str, Any] = data[0] if isinstance(data, list) else data
    return found


@pytest.mark.spec("B, Resources and fields", "Every record carries")
@pytest.mark.spec("B, Product catalog", "id, name (string)")
@pytest.mark.spec("B, Product", "product_key: listed")
@pytest.mark.spec("B, Product set", "id, name, description")
@pytest.mark.spec("B, Tailored audience permission", "id, tailored_audience_id")
@pytest.mark.spec("B, Targeted audience entry", "campaign_id, campaign_name")
@pytest.mark.spec("B, Account media record", "id, video_id (nullable)")
@pytest.mark.spec("B, Card", "id, name (max 80")
@pytest.mark.spec("B, Media library object", "media_key, name", "description (videos")
@pytest.mark.spec("B, Poll card", "id, name, first_choice", "for media polls")
@pytest.mark.spec("B, Video conversation card", "id, name, title", "media_key, media_url")
@pytest.mark.spec("B, Account", "id, name, business_name")
@pytest.mark.spec("B, Account app", "id, app_store_identifier")
@pytest.mark.spec("B, Account history entry", "change_by {user_id")
@pytest.mark.spec("B, Curated category", "id, name, description")
@pytest.mark.spec("B, Line item", "id, name, campaign_id", "advertiser_user_id")
@pytest.mark.spec("B, Line item curated category", "id, line_item_id")
@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_its_documented_fields(box: Sandbox, name: str) -> None:
    """Every listed field is there, and nothing that is not listed."""
    shown = RECORDS[name]

    assert shown.expected == read(box, shown.path).keys()


@pytest.mark.spec("B, Do-not-reach list", "id, name, description")
def test_a_do_not_reach_list_has_its_documented_fields() -> None:
    """Its only answer with the record is the delete."""
    path = f"{BASE}/do_not_reach_lists/4y1bc"
    record = sandbox().call("DELETE", path).get_json()["data"]

    assert record.keys() == names(
        """id, name, description, targetable, reasons_not_targetable, list_size, created_at,
        updated_at, deleted"""
    )


@pytest.mark.spec("B, Product set", "id, name, description")
@pytest.mark.spec("B, Targeted audience entry", "campaign_id, campaign_name")
@pytest.mark.spec("B, Account", "approval_status")
@pytest.mark.spec("B, Account history entry", "change_by {user_id", "entity_data (snapshot")
@pytest.mark.spec("B, Line item", "creative_source")
def test_parts_of_records_have_their_documented_fields(box: Sandbox) -> None:
    """Who changed, the campaign's snapshot, line items that target, filters; and seen values."""
    entry = read(box, RECORDS["account history entry"].path)
    (line_item, *_) = read(box, RECORDS["targeted audience entry"].path)["line_items"]
    (chosen, *_) = read(box, f"{CATALOG}/product_sets/1547081000000000002")["filters"]

    assert names("user_id, platform") == entry["change_by"].keys()
    assert entry["entity_data"].keys() == names(
        """name, start_time, end_time, daily_budget_amount_local_micro,
        total_budget_amount_local_micro, entity_status, standard_delivery, frequency_cap,
        duration_in_days, purchase_order_number, created_at, updated_at, deleted"""
    )
    assert names("id, name, servable") == line_item.keys()
    assert names("attribute, operator, value") == chosen.keys()
    assert ("CREATE", "ACCEPTED", "MANUAL") == (
        entry["change_type"],
        read(box, BASE)["approval_status"],
        read(box, f"{BASE}/line_items/itttx")["creative_source"],
    )


@pytest.mark.spec("B, Media library object", "posted (boolean)", "poster_media_url")
@pytest.mark.spec("B, Curated category", "id, name, description")
@pytest.mark.spec("B, Line item", "id, name, campaign_id", "Monetary amounts")
def test_values_have_their_documented_types(box: Sandbox) -> None:
    """Identifiers are strings, amounts integers, lists arrays, and what may be null is."""
    line_item = read(box, f"{BASE}/line_items/itttx")
    category = read(box, f"{BASE}/curated_categories/8tujl1p3yn0g")
    app = read(box, f"{BASE}/account_apps")
    video = read(box, f"{BASE}/media_library/7_1712850617439550009")
    targeted = read(box, f"{BASE}/custom_audiences/1nmth/targeted")["line_items"][0]

    assert 1_500_000 == line_item["bid_amount_local_micro"]  # 1.50 in the currency
    assert [list, list] == [type(line_item[name]) for name in ("placements", "categories")]
    assert all(isinstance(user, str) for user in category["publisher_user_ids"])
    assert all(isinstance(code, str) for code in category["country_codes"])
    assert isinstance(category["videos_monetized_in_last_thirty_days"], int)
    assert app["conversion_tracking_enabled"] is True
    assert ("16:9", False, int) == (
        video["aspect_ratio"],
        video["deleted"],
        type(video["duration"]),
    )
    assert isinstance(video["posted"], bool)
    assert targeted["servable"] is True


@pytest.mark.spec("B, Card", "id, name (max 80")
@pytest.mark.spec("B, Poll card", "card_uri, card_type")
def test_card_addresses(box: Sandbox) -> None:
    """card_uri has the form card://<card_id> in every family of cards."""
    for path in ("cards", "cards/poll", "cards/video_conversation"):
        for card in box.call("GET", f"{BASE}/{path}").get_json()["data"]:
            assert f"card://{card['id']}" == card["card_uri"]
