"""What the platform is known to serve can be stored: records of every table, in public shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from mock_platform.api.served import TABLES
from mock_platform.core.installed import folder
from mock_platform.core.tables.table import Table
from tests.support import ACCOUNT, Sandbox, sandbox

BASE = f"/12/accounts/{ACCOUNT}"
CATALOG = "/12/product_catalogs/1547080787865939968"
STAMPS = {
    "created_at": "2017-05-19T23:26:39Z", "updated_at": "2017-05-20T23:26:39Z", "deleted": False,
}  # fmt: skip
OWN = {"_account_id": ACCOUNT}
USER = "2244994945"
POST_TIME = "Sat Jun 24 05:08:30 +0000 2017"
VIDEO, GIF = "13_909187111427776513", "16_844349837129330688"
SIZES = {
    "video_width": "16", "video_height": "9", "video_poster_width": "16",
    "video_poster_height": "9",
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A record as the interface serves it, and where it is read."""

    public: dict[str, Any]
    path: str | None = None
    """Where it is served; `None`: nowhere by itself."""
    own: dict[str, Any] | None = None
    """The mock's own keys that a record of the table needs."""
    served: dict[str, Any] | None = None
    """What is served in other words than those of the record."""
    key: str = "id"

    @property
    def record(self) -> dict[str, Any]:
        """The record as a user would write it."""
        return self.public | (self.own or {})

    @property
    def name(self) -> str:
        """Its key."""
        return str(self.record[self.key])


def unset(names: str) -> dict[str, None]:
    """Fields without a value."""
    return dict.fromkeys(names.split())


POST: dict[str, Any] = {
    "created_at": POST_TIME, "id": 877566212874469376, "id_str": "877566212874469376",
    "full_text": "What the harbour drinks", "display_text_range": [0, 23], "name": "Harbour drinks",
    "truncated": False,
    "entities": {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []},
    "source": '<a href="https://ads.platform.example" rel="nofollow">Ads</a>',
    **unset(
        "in_reply_to_status_id in_reply_to_status_id_str in_reply_to_user_id "
        "in_reply_to_user_id_str in_reply_to_screen_name geo coordinates place scheduled_at "
        "scheduled_status"
    ),
    "user": {"id": int(USER), "id_str": USER}, "contributors": [int(USER)], "repost_count": 0,
    "favorite_count": 0, "favorited": False, "reposted": False, "scopes": {"followers": False},
    "lang": "en", "nullcast": True, "conversation_settings": "EVERYONE", "post_type": "PUBLISHED",
    "post_id": "877566212874469376",
}  # fmt: skip
AUTHOR: dict[str, Any] = {
    "id": 756201191646691328, "id_str": "756201191646691328", "screen_name": "ads_sandbox_1",
    "name": "Sandbox author", "created_at": POST_TIME,
}  # fmt: skip
LINE_ITEM: dict[str, Any] = {
    "advertiser_user_id": "756201191646691328", "name": "Untitled",
    "placements": ["ALL_ON_PLATFORM"], "start_time": "2017-07-05T00:00:00Z",
    **unset(
        "bid_amount_local_micro advertiser_domain target_cpa_local_micro "
        "primary_web_event_tag daily_budget_amount_local_micro end_time duration_in_days "
        "standard_delivery total_budget_amount_local_micro automatic_post_promotion "
        "frequency_cap android_app_store_identifier ios_app_store_identifier"
    ),
    "goal": "ENGAGEMENT", "product_type": "PROMOTED_POSTS", "funding_instrument_id": "lygyi",
    "bid_strategy": "AUTO", "objective": "ENGAGEMENTS", "id": "itttz", "entity_status": "DRAFT",
    "categories": [], "currency": "USD", "pay_by": "ENGAGEMENT", "campaign_id": "8x3fz",
    "creative_source": "MANUAL", **STAMPS,
}  # fmt: skip
CAMPAIGN: dict[str, Any] = {
    "id": "p6lig", "name": "Autumn roast", "funding_instrument_id": "hxq0k",
    "budget_optimization": "LINE_ITEM", "entity_status": "PAUSED", "effective_status": "UNKNOWN",
    **unset(
        "servable total_budget_amount_local_micro standard_delivery frequency_cap "
        "duration_in_days purchase_order_number"
    ),
    "reasons_not_servable": ["PAUSED_BY_ADVERTISER", "INCOMPLETE"],
    "daily_budget_amount_local_micro": 140000000, "currency": "USD", **STAMPS,
}  # fmt: skip
FUNDING: dict[str, Any] = {
    "id": "hxq0k", "account_id": ACCOUNT, "type": "CREDIT_CARD",
    "description": "Visa ending in 4242", "currency": "USD", "entity_status": "ACTIVE",
    "able_to_fund": True, "reasons_not_able_to_fund": [], "credit_limit_local_micro": 200000000,
    "credit_remaining_local_micro": None, "funded_amount_local_micro": None, "io_header": None,
    "start_time": "2026-01-05T08:00:00Z", "end_time": None, **STAMPS,
}  # fmt: skip
POLL: dict[str, Any] = {
    "video_poster_height": "9", "name": "best coast poll", "start_time": "2017-03-03T06:11:16Z",
    "first_choice": "East", "video_height": "9",
    "video_url": "https://video.platform.example/amplify_video/vmap/876.vmap",
    "content_duration_seconds": "8", "second_choice": "West", "end_time": "2017-03-04T06:11:16Z",
    "id": "57i8t", "video_width": "16",
    "video_hls_url": "https://video.platform.example/amplify_video/876/vid/1280x720/876.mp4",
    "video_poster_width": "16",
    "video_poster_url": "https://pbs.platform.example/amplify_video_thumb/876/img/x.jpg",
    "duration_in_minutes": "1440", "card_uri": "card://958225772740714496",
    "card_type": "VIDEO_POLLS", **STAMPS,
}  # fmt: skip
CONVERSATION: dict[str, Any] = {
    "name": "A video conversation", "title": "Yes or no?", "first_cta": "#yes",
    "first_cta_post": "Yes!", "thank_you_text": "Thanks", "media_key": VIDEO,
    "media_url": "https://video.platform.example/amplify_video/vmap/909.vmap",
    "poster_media_url": "https://pbs.platform.example/amplify_video_thumb/909/img/x.jpg",
    "video_owner_id": "756201191646691328", "video_width": "16", "video_height": "9", "id": "57i77",
    "card_uri": "card://958123119320285184", "card_type": "VIDEO_CONVERSATION", **STAMPS,
}  # fmt: skip
LEGACY: list[dict[str, Any]] = [
    {
        "id": "4i0ya", "name": "Video website", "card_type": "VIDEO_WEBSITE",
        "card_uri": "card://950529518557380608", "title": "Visit",
        "website_url": "https://harbor.example", "website_dest_url": "https://harbor.example",
        "website_display_url": "harbor.example", "website_shortened_url": "https://s.example/x",
        "video_url": "https://video.platform.example/vmap/9.vmap",
        "video_hls_url": "https://video.platform.example/pl/9.m3u8", "video_content_id": VIDEO,
        "video_owner_id": USER, "video_poster_url": "https://pbs.platform.example/img/9.jpg",
        "content_duration_seconds": "8", **SIZES, **STAMPS,
    },
    {
        "id": "4i0yb", "name": "App", "card_type": "IMAGE_APP_DOWNLOAD",
        "card_uri": "card://950529518557380609", "country_code": "US", "app_cta": "INSTALL",
        "googleplay_app_id": "com.example.app", "googleplay_deep_link": None,
        "ios_app_store_identifier": "333903271", "ios_deep_link": "app://x",
        "wide_app_image": "https://pbs.platform.example/img/w.jpg", **STAMPS,
    },
    {
        "id": "4i0yc", "name": "Ask us", "card_type": "IMAGE_DIRECT_MESSAGE",
        "card_uri": "card://950529518557380610", "recipient_user_id": USER, "first_cta": "Ask",
        "first_cta_welcome_message_id": "1", "second_cta": "Tell",
        "second_cta_welcome_message_id": "2", "image": "https://pbs.platform.example/img/d.jpg",
        "image_display_width": "800", "image_display_height": "320", **STAMPS,
    },
    {
        "id": "4i0yd", "name": "Four ways", "card_type": "IMAGE_CONVERSATION",
        "card_uri": "card://950529518557380611", "title": "Which?",
        **{f"{n}_cta": "#a" for n in ("first", "second", "third", "fourth")},
        **{f"{n}_cta_post": "a" for n in ("first", "second", "third", "fourth")},
        "thank_you_text": "Thanks", "thank_you_url": "https://harbor.example", "media_key": "3_1",
        "media_url": "https://pbs.platform.example/img/e.jpg", "image_display_width": "1280",
        "image_display_height": "670", **STAMPS,
    },
]  # fmt: skip
PRODUCT: dict[str, Any] = unset(
    """brand gtin mobile_link additional_image_link google_product_category inventory sale_price
sale_price_effective_date item_group_id item_group_key gender color size age_group custom_label_0
custom_label_1 custom_label_2 custom_label_3 custom_label_4"""
) | {
    "product_key": "1547080787865939970", "id": "test1", "title": "title", "description": "desc",
    "availability": "in stock", "condition": "new", "price": "20.00 USD",
    "link": "https://platform.example", "image_link": "https://platform.example/img", "mpn": "x",
    "product_type": "",
}  # fmt: skip
CLIP: dict[str, Any] = {
    "posted": True, "name": None, "file_name": "clip.mp4",
    "media_url": "https://video.platform.example/clip/909.mp4",
    "media_status": "TRANSCODE_COMPLETED", **STAMPS,
}  # fmt: skip

NEWS: dict[str, Any] = {
    "id": "1992010203040506070", "name": "Harbor cafés agree on a common cup",
    "category": "Business", "summary": "Twelve cafés introduce one returnable cup.",
    "hook": "One cup, twelve cafés.",
    "contexts": {
        "topics": ["Food"],
        "entities": {
            "events": [], "organizations": ["Harbor Roasters"], "people": [], "places": ["Seattle"],
            "products": [],
        },
        "finance": {"tickers": ["KC"]},
        "sports": {"teams": []},
    },
    "cluster_posts_results": [{"post_id": "1712850617439551489"}], "keywords": ["coffee"],
    "disclaimer": "This story is a summary of posts and may evolve over time.",
    "updated_at": "2026-11-01T08:00:00.000Z",
}  # fmt: skip
PUBLIC: dict[str, Sample | list[Sample]] = {
    "articles": Sample(
        {
            "id": "1992010203040506072", "title": "How we roast",
            "content_state": {
                "blocks": [
                    {
                        "text": "Slowly",
                        "type": "header-one",
                        "entity_ranges": [{"key": "0", "offset": 0, "length": 6}],
                    }
                ],
                "entities": [
                    {
                        "key": "0",
                        "value": {
                            "type": "post",
                            "mutability": "immutable",
                            "data": {"post_id": "1712850617439551489"},
                        },
                    }
                ],
            },
            "cover_media": {"media_id": "1712850617439560001", "media_category": "post_image"},
            "post_id": None, "created_at": "2026-11-01T08:00:00.000Z",
        },
        own={"_user_id": USER, "_cover_key": "3_1712850617439560001"},
    ),
    "notes": Sample(
        {
            "id": "1992010203040506071", "post_id": "1712850617439551496",
            "info": {
                "text": "Opened in May: https://northbike.example/lanes",
                "classification": "misinformed_or_potentially_misleading",
                "misleading_tags": ["factual_error"],
                "trustworthy_sources": True,
                "is_media_note": False,
            },
            "status": "currently_rated_helpful", "scoring_status": {"has_access": True},
            "test_result": None, "created_at": "2026-11-01T08:00:00.000Z",
        },
        own={"_user_id": USER, "_test_mode": False},
    ),
    "uploads": Sample(
        {
            "id": "1991204475120123951", "media_type": "video/mp4", "media_category": "post_video",
            "total_bytes": 5242881, "segments": {"0": 5242880},
            "expires_at": "2026-11-02T08:00:00.000Z",
        },
        own={"_user_id": USER},
    ),
    "usage": Sample(
        {"app_id": "11827", "date": "2026-11-01T00:00:00.000Z", "posts": 12},
        own={"_id": "11827:2026-11-01"},
        key="_id",
    ),
    "news": Sample(
        NEWS,
        f"/2/news/{NEWS['id']}?news.fields={','.join(NEWS)}",
        served={"last_updated_at_ms": NEWS["updated_at"]},
    ),
    "activities": Sample(
        {
            "id": "1990104410827816961", "event_type": "profile.update.bio",
            "event_uuid": "-8917909039855612786", "user_id": USER, "direction": None,
            "payload": {"before": "Coffee.", "after": "Coffee by the water."}, "includes": None,
            "created_at": "2026-04-01T00:00:00.000Z",
        }
    ),
    "apps": Sample({"id": "9", "name": "App", "consumer_key": "k9", "consumer_secret": "s9"}),
    "users": Sample(AUTHOR),
    "grants": Sample(
        {"app_id": "11827", "user_id": USER, "created_at": "2017-05-19T23:26:39Z"},
        own={"_id": "g9"},
        key="_id",
    ),
    "tokens": Sample({"id": "t9", "kind": "bearer", "app_id": "11827"}),
    "webhooks": Sample(
        {
            "id": "1234567890", "url": "https://your_domain.example/webhook/platform/0",
            "valid": True, "created_at": "2016-06-02T23:54:02Z",
        },
        own={"_app_id": "11827"},
    ),
    "direct_messages": Sample(
        {
            "id": "1346889436626259968", "event_type": "MessageCreate",
            "dm_conversation_id": f"{USER}-3805104374", "sender_id": USER,
            "text": "Hello just you two, again", "created_at": "2022-02-24T20:48:41.000Z",
        },
        own={"_participants": [USER, "3805104374"]},
    ),
    "events": Sample(
        {
            "id": "9", "webhook_id": "1146654567674912769", "event_type": "profile.update.bio",
            "payload": {"before": "a", "after": "b"}, "created_at": "2026-11-01T10:00:00.000Z",
        }
    ),
    "replay_jobs": Sample(
        {
            "id": "1095098195724558337", "webhook_id": "1146654567674912769",
            "from_date": "202611010000", "to_date": "202611010010",
            "created_at": "2026-11-01T10:00:00.000Z", "state": "COMPLETE",
        },
        own={"_app_id": "11827"},
    ),
    "accounts": Sample(
        {
            "name": "API McTestface", "business_name": None, "timezone": "America/Los_Angeles",
            "timezone_switch_at": "2013-05-22T07:00:00Z", "id": "18ce54d4x5u",
            "approval_status": "ACCEPTED", "business_id": None, "industry_type": None, **STAMPS,
        },
        "/12/accounts/18ce54d4x5u",
        own={"_users": [USER]},
    ),
    "account_apps": Sample(
        {
            "app_store_identifier": "com.example.app", "conversion_tracking_enabled": False,
            "deep_link_pattern": None, "id": "9x", "os_type": "Android", **STAMPS,
        },
        f"{BASE}/account_apps",
        own=OWN,
    ),
    "advertiser_business_categories": Sample(
        {"id": "9jl", "name": "Travel", "iab_categories": ["IAB20", "IAB20-18"]},
        "/12/advertiser_business_categories",
    ),
    "curated_categories": Sample(
        {
            "id": "8tujl1p3yn0x", "name": "Everywhere", "description": None, "country_codes": [],
            "publisher_user_ids": ["756201191646691328"], "videos_monetized_in_last_thirty_days": 0,
            "created_at": STAMPS["created_at"], "updated_at": STAMPS["updated_at"],
        },
        f"{BASE}/curated_categories/8tujl1p3yn0x",
    ),
    "placements": Sample(
        {"product_type": "MEDIA", "placements": [["ALL_ON_PLATFORM"]]},
        own={"_id": "p9"},
        key="_id",
    ),
    "custom_audiences": Sample(
        {
            "id": "2b7qk", "name": "Newsletter readers", "description": None, "targetable": False,
            "targetable_types": ["CRM", "EXCLUDED_CRM"], "audience_type": "FLEXIBLE",
            "permission_level": "READ_WRITE", "owner_account_id": ACCOUNT,
            "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"], "partner_source": "OTHER",
            "audience_size": None, **STAMPS,
        }
    ),
    "audience_permissions": [
        Sample(
            {
                "tailored_audience_id": "1nmth", "permission_level": "READ_ONLY", "id": "ri9",
                "granted_account_id": "18ce551k9m7", **STAMPS,
            },
            f"/5/accounts/{ACCOUNT}/tailored_audiences/1nmth/permissions",
        ),
        Sample(
            {
                "custom_audience_id": "1nmth", "permission_level": "READ_ONLY", "id": "ri8",
                "granted_account_id": "18ce551k9m7", **STAMPS,
            },
            f"{BASE}/custom_audiences/1nmth/permissions",
        ),
    ],
    "do_not_reach_lists": Sample(
        {
            "id": "4ofrq", "name": "Do Not Reach List", "description": None, "targetable": False,
            "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"], "list_size": None, **STAMPS,
        },
        own=OWN,
    ),
    "audience_users": Sample(
        {"identifiers": {"email": ["a" * 64]}, "effective_at": None, "expires_at": None},
        own={"_id": "au9", "_audience_id": "1nmth"},
        key="_id",
    ),
    "funding_instruments": Sample(FUNDING, f"{BASE}/funding_instruments/hxq0k"),
    "campaigns": Sample(CAMPAIGN, f"{BASE}/campaigns/p6lig", own=OWN),
    "line_items": Sample(LINE_ITEM, f"{BASE}/line_items/itttz", own=OWN),
    "promoted_posts": Sample(
        {
            "line_item_id": "itttz", "id": "1efwlp", "entity_status": "ACTIVE",
            "approval_status": "UNDER_REVIEW", "post_id": "1712850617439551490", **STAMPS,
        },
        own=OWN,
    ),
    "promoted_accounts": Sample(
        {
            "line_item_id": "iuj2q", "id": "19pl3", "entity_status": "ACTIVE",
            "approval_status": "ACCEPTED", "user_id": USER, **STAMPS,
        },
        f"{BASE}/promoted_accounts/19pl3",
        own=OWN,
    ),
    "scheduled_promoted_posts": Sample(
        {
            "line_item_id": "itttx", "id": "1xboq", "scheduled_post_id": "1991600000000000203",
            "post_id": None, **STAMPS,
        },
        own=OWN,
    ),
    "targeting_criteria": Sample(
        {
            "line_item_id": "itttz", "name": "21-34", "id": "dpl3a6", "operator_type": "GTE",
            "targeting_type": "NETWORK_ACTIVATION_DURATION", "targeting_value": "3", **STAMPS,
        },
        own=OWN,
    ),
    "line_item_curated_categories": Sample(
        {"line_item_id": "itttz", "curated_category_id": "8tujl1p3yn0x", "id": "1bzq9", **STAMPS},
        f"{BASE}/line_item_curated_categories/1bzq9", own=OWN,
    ),
    "account_history": Sample(
        {
            "change_by": {"user_id": USER, "platform": "API_OTHER"}, "changes": {},
            "change_time": "2026-10-13T22:04:52Z", "change_type": "CREATE", "entity": "CAMPAIGN",
            "entity_id": "p6lig", "entity_data": {"name": "Autumn roast", "frequency_cap": None},
        },
        f"{BASE}/account_history?entity_type=CAMPAIGN&entity_id=p6lig"
        "&start_time=2026-10-13T00:00:00Z&end_time=2026-10-14T00:00:00Z",
        own=OWN | {"_id": "h9"},
        key="_id",
    ),
    "pinned_figures": Sample(
        {
            "id": "pinned", "entity": "LINE_ITEM", "entity_id": "itttx",
            "start_time": "2026-11-16T08:00:00Z", "end_time": "2026-11-17T08:00:00Z",
            "metrics": {"impressions": 24000},
        }
    ),
    "product_catalogs": Sample(
        {"id": "1547080787865939999", "name": "Another"}, own={"_user_id": USER}
    ),
    "products": Sample(
        PRODUCT, f"{CATALOG}/products", own={"_catalog_id": CATALOG.rpartition("/")[2]},
        key="product_key",
    ),
    "product_sets": Sample(
        {
            "id": "1547081000000009999", "name": "Labelled", "description": None,
            "type": "FILTERED",
            "filters": [{"attribute": "product_type", "operator": "EQUAL_TO", "value": "nothing"}],
            "product_ids": [], "processing_status": "DONE",
        },
        f"{CATALOG}/product_sets/1547081000000009999",
        own={"_catalog_id": CATALOG.rpartition("/")[2]},
    ),
    "account_media": Sample(
        {
            "video_id": None, "media_url": "https://pbs.platform.example/img/f.jpg", "id": "2pzq",
            "creative_type": "INTERSTITIAL_LANDSCAPE_TABLET", **STAMPS,
        },
        f"{BASE}/account_media/2pzq",
        own=OWN,
    ),
    "media": Sample(
        {
            "media_key": "3_909", "media_type": "IMAGE", "media_category": None,
            "media_url": "https://pbs.platform.example/img/g.jpg", **STAMPS,
        },
        own=OWN,
        key="media_key",
    ),
    "media_library": [
        Sample(
            CLIP
            | {
                "media_key": GIF, "media_type": "GIF", "media_category": "POST_GIF",
                "aspect_ratio": "125:79", "title": "A title", "description": None, "duration": None,
                "poster_media_key": "3_844349837129330688",
                "poster_media_url": "https://pbs.platform.example/img/h.jpg",
            },
            f"{BASE}/media_library/{GIF}", own=OWN, key="media_key",
        ),
        Sample(
            CLIP
            | {
                "media_key": VIDEO, "media_type": "VIDEO", "media_category": "AMPLIFY_VIDEO",
                "aspect_ratio": "16:9", "title": None, "description": None, "duration": 39973,
                "poster_media_key": "3_909187111427776513",
                "poster_media_url": "https://pbs.platform.example/img/i.jpg",
            },
            f"{BASE}/media_library/{VIDEO}", own=OWN, key="media_key",
        ),
        Sample(
            CLIP | {"media_key": "3_9", "media_type": "IMAGE", "media_category": "POST_IMAGE"},
            f"{BASE}/media_library/3_9", own=OWN, key="media_key",
        ),
    ],
    "cards": [
        Sample(card, f"{BASE}/cards/{card['id']}", own=OWN | {"_legacy": True}) for card in LEGACY
    ],
    "poll_cards": Sample(POLL, f"{BASE}/cards/poll/57i8t", own=OWN),
    "video_conversation_cards": Sample(
        CONVERSATION, f"{BASE}/cards/video_conversation/57i77", own=OWN
    ),
    "posts": Sample(
        POST, f"{BASE}/posts/877566212874469376/name?name=Harbour%20drinks", own=OWN,
        served={"text": "What the harbour drinks", "user": ANY}, key="id_str",
    ),
    "stream_links": Sample(
        {
            "webhook_id": "1146654567674912769",
            "created_at": "2026-03-19T10:00:00.000Z",
            "fields": ["expansions=author_id", "user.fields=username"],
        },
        own={"_app_id": "11827"},
        key="webhook_id",
    ),
    **{
        name: Sample(
            {
                "id": "3805104374:2790441185", "user_id": "3805104374",
                "target_user_id": "2790441185", "created_at": "2026-03-19T10:00:00.000Z",
            }
        )
        for name in ("blocks", "follow_requests", "hidden_reposts")
    },
}  # fmt: skip
"""Records in their public shape, by table; the mock's own keys are separate."""
SAMPLES = {table: found if isinstance(found, list) else [found] for table, found in PUBLIC.items()}


def shipped_sample(table: Table) -> Sample:
    """The first record of the fixtures, for a table whose public shape is not on record here."""
    record = json.loads((folder("fixtures") / f"{table.name}.json").read_bytes())[0]
    if table.key not in record:  # that of a relation follows from its ends
        record = table.from_public(record)
    own = {name: value for name, value in record.items() if name.startswith("_")}
    public = {name: value for name, value in record.items() if name not in own}
    return Sample(public, own=own, key=table.key)


SAMPLES |= {table.name: [shipped_sample(table)] for table in TABLES if table.name not in SAMPLES}


@pytest.fixture(scope="module", params=["fixtures", "records", "state"])
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A sandbox that holds the samples: from a folder, one by one, or as a whole world."""
    if request.param == "fixtures":
        folder = tmp_path_factory.mktemp("public")
        for name, samples in SAMPLES.items():
            records = [sample.record for sample in samples]
            (folder / f"{name}.json").write_text(json.dumps(records))
        return sandbox(fixtures=(Path(folder),))
    found = sandbox()
    if request.param == "records":
        for table in TABLES:
            for sample in SAMPLES[table.name]:
                path = f"/_mock/state/{table.name}/{sample.name}"
                response = found.client.put(path, json=sample.record)
                assert response.status_code == 200, response.text
        return found
    document = found.client.get("/_mock/state").get_json()
    for name, samples in SAMPLES.items():
        own = {sample.name: sample.record for sample in samples}
        others = [r for r in document["tables"][name] if r[samples[0].key] not in own]
        document["tables"][name] = [*others, *own.values()]
    response = found.client.put("/_mock/state", json=document)
    assert response.status_code == 200, response.text
    return found


ALL = [
    pytest.param(name, sample, id=f"{name}-{sample.name}")
    for name, samples in SAMPLES.items()
    for sample in samples
]


@pytest.mark.parametrize(("table", "sample"), ALL)
def test_a_public_record_is_stored_and_served(box: Sandbox, table: str, sample: Sample) -> None:
    """It comes back from the control plane, and as it was where the interface serves it."""
    stored = box.client.get(f"/_mock/state/{table}/{sample.name}").get_json()
    again = box.client.put(f"/_mock/state/{table}/{sample.name}", json=stored)

    assert {name: stored.get(name) for name in sample.own or {}} == (sample.own or {})
    assert stored == again.get_json()
    if sample.path is not None:
        assert sample.public | (sample.served or {}) == read(box, sample)


def read(box: Sandbox, sample: Sample) -> Any:
    """The record as the interface serves it."""
    assert sample.path is not None
    method = "PUT" if "/name?" in sample.path else "GET"
    response = box.call(method, sample.path)
    assert response.status_code == 200, response.text
    data = response.get_json()["data"]
    if isinstance(data, list):
        (data,) = [one for one in data if one.items() >= identity(sample)]
    return data


def identity(sample: Sample) -> Any:
    """The value by which a record is found in a list."""
    name = sample.key if sample.key in sample.public else "entity_id"
    return {name: sample.public[name]}.items()
