"""Values with which the default fixtures answer an example request of each operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MINUTE = "$minute"
"""Placeholder for the current minute in UTC, yyyymmddhhmm."""
_HASHED = "a" * 64
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel, in base64."""
_UPLOAD = [{"operation_type": "Update", "params": {"users": [{"email": [_HASHED]}]}}]
_PRODUCTS = [
    {
        "id": merchant_id,
        "title": title,
        "description": "Ground for the filter",
        "availability": "in stock",
        "condition": "new",
        "price": "18.00 USD",
        "link": f"https://shop.example.com/{merchant_id}",
        "image_link": f"https://shop.example.com/{merchant_id}.jpg",
        "brand": "Harbor Roasters",
    }
    for merchant_id, title in (("HR-900", "Dock blend"), ("HR-901", "Pier blend"))
]
ACCOUNT = "18ce54d4x5t"
"""The account of the published credentials."""
PATHS = {
    "account_id": ACCOUNT,
    "product_set_id": "1547081000000000001",
    "custom_audience_id": "1nmth",
    "tailored_audience_id": "1nmth",
    "card_id": "1712870000001000003",
    "participant_id": "3805104374",
    "scheduled_post_id": "1991600000000000203",
    "draft_post_id": "1991500000000000101",
    "subscription_id": "1984410031207391232",
    "user_id": "2244994945",
    "username": "northbike_co",
    "card_type": "image_conversation",
    "job_id": "1990000000000000777",
    "file_name": "q7Vd2mXk9TzR4bLw8HcN3sYf6JpG1aUe5KoQiDxBvMt.json.gz",
    "endpoint_id": "filtered_stream",
    "dm_conversation_id": "2244994945-3805104374",
    "event_id": "1990180010221305856",
    "custom_audience_permission_id": "ri",
    "tailored_audience_permission_id": "ri",
}
"""What is in the path where the first fitting record of the fixtures does not do."""
FAMILY_PATHS: Mapping[str, Mapping[str, str]] = {
    "cards": {"card_id": "1712860000001000003", "card_type": "IMAGE_WEBSITE"},
    "cards_image_conversation": {"card_id": "57i77"},
    "cards_video_conversation": {"card_id": "1712880000001000003"},
    "cards.delete": {"card_id": "57i8b", "card_type": "WEBSITE"},
    "do_not_reach_lists.create": {"account_id": "18ce5b7qk2c"},
    "account_activity.unsubscribe": {"webhook_id": "1146654567674912770", "user_id": "2790441185"},
    "media.append": {"id": "1991204475120123950"},
    "media.finalize": {"id": "1991204475120123951"},
}
"""The same for the operations of one family, or for one of them."""
GUESSES = ("Example", "1", "true", "2026-03-01T00:00:00Z")
"""Values of which one does for most required parameters."""
_REPLAY = {"webhook_id": "1146654567674912769", "from_date": MINUTE, "to_date": MINUTE}
JSON: Mapping[str, Any] = {
    "webhooks.create": {"url": "http://127.0.0.1:8099/webhooks/new"},
    "webhooks.replay": _REPLAY,
    "dm_conversations.send_to_user": {"text": "The beans are ready."},
    "stream_rules.change": {"add": [{"value": "espresso"}, {"value": "roaster has:images"}]},
    "public_posts.create": {"text": "Fresh from the roaster"},
    "notes.create": {
        "test_mode": True,
        "post_id": "1712850617439551496",
        "info": {
            "text": "Opened in May: https://northbike.example/lanes",
            "classification": "misinformed_or_potentially_misleading",
            "misleading_tags": ["factual_error"],
            "trustworthy_sources": True,
        },
    },
    "evaluate_note.create": {
        "note_text": "Opened in May: https://northbike.example/lanes",
        "post_id": "1712850617439551496",
    },
    "custom_audiences.users": _UPLOAD,
    "do_not_reach_lists.users": _UPLOAD,
    "activity.create": {
        "event_type": "profile.update.bio",
        "filter": {"user_id": "3805104374"},
        "tag": "Northbike bio",
    },
    "activity.update": {"tag": "Harbor biography"},
    "dm_conversations.send": {"text": "The beans are ready."},
    "dm_conversations.create": {
        "conversation_type": "Group",
        "participant_ids": ["3805104374", "2244994945"],
        "message": {"text": "The beans are ready."},
    },
    "media.initialize": {
        "media_type": "image/png",
        "total_bytes": 70,
        "media_category": "post_image",
    },
    "media.append": {"media": _PIXEL, "segment_index": 1},
    "articles.draft": {
        "title": "Slow roasts",
        "content_state": {
            "blocks": [{"text": "Why we roast slowly", "type": "unstyled"}],
            "entities": [],
        },
    },
    "media.upload": {"media": _PIXEL, "media_category": "post_image", "media_type": "image/png"},
    "connections.delete_some": {"uuids": ["b2c1d7a0-6f3e-4a58-9c1b-3d5e7f901234"]},
    "audience_estimate.create": {
        "targeting_criteria": [{"targeting_type": "INTEREST", "targeting_value": "6001"}]
    },
    "campaigns.batch": [
        {
            "operation_type": "Create",
            "params": {"name": "Spring blend", "funding_instrument_id": "m2k8s"},
        }
    ],
    "line_items.batch": [
        {"operation_type": "Update", "params": {"line_item_id": "itttx", "name": "Gifts"}}
    ],
    "targeting_criteria.batch": [
        {
            "operation_type": "Create",
            "params": {
                "line_item_id": "itttx",
                "targeting_type": "INTEREST",
                "targeting_value": "6001",
                "operator_type": "EQ",
            },
        }
    ],
    "cards.create": {
        "name": "Cold brew",
        "components": [
            {"type": "MEDIA", "media_key": "3_1712850617439550001"},
            {
                "type": "DETAILS",
                "title": "Cold brew, delivered",
                "destination": {"type": "WEBSITE", "url": "https://shop.example.com/cold-brew"},
            },
        ],
    },
    "cards.update": {"name": "Cold brew at home"},
    "product_sets.create": {
        "type": "MANUAL",
        "name": "Gifts",
        "product_keys": ["1547080787865940084"],
    },
    "product_sets.update": {"name": "Gifts"},
    "product_catalogs.products.upsert": {"products": _PRODUCTS},
    "product_catalogs.products.delete": {"product_keys": ["1547080787865940084"]},
}
_DAY = {"start_time": "2026-11-16T08:00:00Z", "end_time": "2026-11-17T08:00:00Z"}
CLIENT_ID = "{client_id}"
CALLBACK = "{callback}"
BEARER_TOKEN = "{bearer_token}"
USER_TOKEN = "{oauth2_access_token}"
"""In the place of these an example has values of the published credentials."""
CODE_VERIFIER = "slow-roasted-in-the-harbor-since-nineteen-ninety-one"
_CONSENT = {
    "response_type": "code",
    "client_id": CLIENT_ID,
    "redirect_uri": CALLBACK,
    "scope": "post.read users.read offline.access",
    "state": "harbor",
    "code_challenge": CODE_VERIFIER,
    "code_challenge_method": "plain",
}
_FIGURES = {
    "entity": "LINE_ITEM",
    "entity_ids": "itttx",
    "granularity": "TOTAL",
    "placement": "ALL_ON_PLATFORM",
    "metric_groups": "ENGAGEMENT,BILLING",
    **_DAY,
}
QUERY: Mapping[str, dict[str, str]] = {
    "account_history.list": {
        "entity_type": "CAMPAIGN",
        "entity_id": "8wku2",
        "start_time": "2026-03-01T00:00:00Z",
        "end_time": "2026-03-02T00:00:00Z",
    },
    "cards_poll.create": {
        "name": "Roast",
        "first_choice": "Light",
        "second_choice": "Dark",
        "duration_in_minutes": "60",
    },
    "insights.search_keywords": {
        "granularity": "DAY",
        "keywords": "coffee",
        "start_time": "2026-03-01T00:00:00Z",
        "end_time": "2026-03-05T00:00:00Z",
    },
    "scheduled_posts.create": {
        "as_user_id": "2244994945",
        "text": "Fresh from the roaster",
        "scheduled_at": "2027-03-01T08:00:00Z",
    },
    "cards_image_conversation.create": {
        "name": "Espresso or filter",
        "title": "Espresso or filter?",
        "first_cta": "#TeamEspresso",
        "first_cta_post": "Espresso, always.",
        "thank_you_text": "Thanks for choosing",
        "media_key": "3_1712850617439550001",
    },
    "scheduled_feeds.create": {
        "feed_url": "http://127.0.0.1:8099/products.csv",
        "feed_format": "CSV",
        "frequency": "DAILY",
        "start_time": "04:30",
        "time_zone": "America/Los_Angeles",
    },
    "account_activity.replay": {"from_date": MINUTE, "to_date": MINUTE},
    "campaigns.create": {"name": "Spring blend", "funding_instrument_id": "m2k8s"},
    "draft_posts.create": {"as_user_id": "2244994945", "text": "Fresh from the roaster"},
    "draft_posts.preview": {},
    "features.add": {"feature_keys": "CONVERSATION_CARD"},
    "funding_instruments.create": {
        "type": "CREDIT_LINE",
        "currency": "USD",
        "start_time": "2026-03-01T00:00:00Z",
    },
    "line_item_curated_categories.create": {
        "line_item_id": "iuc5v",
        "curated_category_id": "b0xt8tz3fx8g",
    },
    "media.status": {"media_id": "1712850617439550001"},
    "media_creatives.create": {"line_item_id": "iuc5v", "account_media_id": "2q4r"},
    "media_library.create": {"media_key": "3_1712850617439560002"},
    "cards_video_conversation.create": {
        "name": "Espresso or filter",
        "title": "Espresso or filter?",
        "first_cta": "#TeamEspresso",
        "first_cta_post": "Espresso, always.",
        "thank_you_text": "Thanks for choosing",
        "media_key": "7_1712850617439550009",
    },
    "features.remove": {"feature_keys": "CONVERSATION_CARD"},
    "activity.delete_many": {"ids": "1984410031207391232"},
    "oauth2.authorize": _CONSENT,
    "scheduled_promoted_posts.create": {
        "line_item_id": "itttx",
        "scheduled_post_id": "1991600000000000203",
    },
    "targeting_options.events": {"event_types": "SPORTS"},
    "targeting_options.tv_shows": {"locale": "en-US"},
    "tracking_tags.create": {
        "line_item_id": "itttx",
        "tracking_tag_type": "IMPRESSION_TAG",
        "tracking_tag_url": "https://count.harbor-roasters.example/imp?c=spring",
    },
    "preroll_call_to_actions.create": {
        "line_item_id": "iuc5v",
        "call_to_action": "VISIT_SITE",
        "call_to_action_url": "https://shop.harbor-roasters.example/spring",
    },
    "users.show": {"screen_name": "northbike_co"},
    "stats.get": _FIGURES,
    "stats.active_entities": {"entity": "LINE_ITEM", **_DAY},
    "line_items.create": {
        "campaign_id": "8wku2",
        "objective": "WEBSITE_CLICKS",
        "product_type": "PROMOTED_POSTS",
        "placements": "ALL_ON_PLATFORM",
    },
    "stats.reach.campaigns": {"campaign_ids": "8wku2", **_DAY},
    "stats.reach.funding_instruments": {"funding_instrument_ids": "m2k8s", **_DAY},
    "stats_jobs.create": _FIGURES,
    "post.create": {"as_user_id": "2244994945", "text": "Fresh from the roaster"},
    "product_catalogs.create": {"name": "Second shop"},
    "custom_audiences.create": {"name": "Gift buyers"},
    "promoted_accounts.create": {"line_item_id": "iuj2q", "user_id": "2244994945"},
    "promoted_posts.create": {"line_item_id": "itttx", "post_ids": "1712850617439551491"},
    "targeting_criteria.create": {
        "line_item_id": "itttx",
        "targeting_type": "INTEREST",
        "targeting_value": "6001",
        "operator_type": "EQ",
    },
    "tailored_audiences.permissions.create": {
        "granted_account_id": "18ce5b7qk2c",
        "permission_level": "READ_ONLY",
    },
    "custom_audiences.permissions.create": {
        "granted_account_id": "18ce5b7qk2c",
        "permission_level": "READ_ONLY",
    },
}
FORM: Mapping[str, Mapping[str, str]] = {
    "oauth.request_token": {"oauth_callback": CALLBACK, "x_auth_access_type": "write"},
    "oauth2.invalidate_token": {"access_token": BEARER_TOKEN},
    "oauth2.revoke": {"token": USER_TOKEN},
    "oauth2.token": {"grant_type": "client_credentials"},
    "oauth2.user_token": {"grant_type": "refresh_token", "refresh_token": "used-before"},
}
CONDITIONS = {"with_total_count": "true", "media_key": "3_1712850617439550001"}
"""Values for the query conditions of the package's scenarios."""
NEEDS_STEPS = frozenset(
    {
        "account.verify_credentials",
        "account_activity.replay",
        "oauth.access_token",
        "oauth.authenticate",
        "oauth.authorize",
        "oauth.invalidate_token",
        "oauth.request_token",
        "oauth.submit_authenticate",
        "oauth.submit_authorize",
        "oauth2.submit_authorize",
        "oauth2.user_token",
        "product_catalogs.create",
        "scheduled_feeds.create",
        "stats_jobs.cancel",
        "stats_jobs.result",
        "webhooks.create",
        "webhooks.validate",
    }
)
"""Operations whose example is refused in a fresh world: they need a step before, a page on which a
user clicks, a receiver, or a record that the default fixtures do not have.
"""
