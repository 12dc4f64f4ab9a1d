"""The names that exist. Made by `make docs`; do not edit."""

from collections.abc import Mapping
from typing import Any, Literal, NewType, Protocol, TypeAlias, overload

OwnName = NewType("OwnName", str)
"""A name that only you know, such as that of a scenario in your files."""

ScenarioName: TypeAlias = Literal[
  "about-blank", "account-history-not-allowlisted", "account-not-associated",
  "account-subscription-exists", "account-subscription-limit-exceeded", "account-suspended",
  "answer-lost", "audience-batch-counts-differ", "audience-batch-operation-errors",
  "audience-batch-request-error", "audience-batch-too-large",
  "audience-batch-too-many-operations", "audience-name-taken", "audience-not-owned",
  "audience-not-targetable", "audience-processing", "audience-sharing-refused",
  "audience-upload-limit", "bookmark-folder-missing", "bookmarked-post-missing",
  "bookmarks-end-early", "broadcast-chat-closed", "broadcast-chat-muted", "broadcast-not-manual",
  "budget-below-spending", "campaign-right-missing", "campaigns-too-many", "catalog-exists",
  "chat-admin-required", "chat-group-full", "chat-key-outdated", "chat-keys-missing",
  "chat-members-unavailable", "client-disconnected", "client-forbidden", "clock-skew",
  "community-unknown", "compliance-job-failed", "compliance-upload-expired", "conflict",
  "conversation-image-refused", "conversion-attributed", "conversion-event-foreign",
  "credits-depleted", "direct-message-not-own", "direct-messages-blocked",
  "direct-messages-not-permitted", "disallowed-resource", "do-not-reach-batch-counts-differ",
  "do-not-reach-list-exists", "do-not-reach-list-not-targetable", "duplicate-rules",
  "early-access-missing", "filtered-set-update-refused", "filtered-stream-no-rules",
  "filtered-stream-rules-invalid", "flaky-network", "follow-blocked",
  "funding-instrument-invalid", "insights-range-refused", "invalid-request", "invalid-rules",
  "like-of-edited-post", "liked-post-missing", "line-item-delete-retried",
  "line-item-deleted-twice", "line-item-incompatible", "line-items-too-many", "list-full",
  "list-not-owned", "list-pins-full", "list-private", "lists-too-many", "media-creative-rejected",
  "media-expired", "media-not-own", "media-polls-not-enabled", "media-subtitles-full",
  "noncompliant-rules", "not-authorized-for-field", "not-authorized-for-resource", "note-exists",
  "note-writer-required", "oauth2-code-refused", "operational-disconnect", "outage",
  "placement-unavailable", "poll-card-gone", "post-edit-refused", "post-not-promotable",
  "post-repeated", "post-reply-not-summoned", "post-too-long", "posting-not-granted",
  "product-batch-too-large", "product-delete-failed", "product-id-repeated",
  "product-item-errors", "product-set-failed", "product-set-processing", "promoted-post-rejected",
  "rate-limited", "replay-conflict", "reply-not-hideable", "repost-not-permitted",
  "repost-repeated", "resource-not-found", "resource-unavailable", "rule-cap", "sandbox-only",
  "scheduled-feed-exists", "scheduled-post-failed", "scheduled-post-limit-exceeded",
  "scheduled-post-out", "slow-network", "space-buyers-refused", "space-canceled",
  "space-ended-meanwhile", "stats-day-not-midnight", "stats-fractional-hours",
  "stats-jobs-limit-reached", "stats-pinned", "stats-window-too-long",
  "stream-client-disconnected", "stream-cut", "stream-disconnected", "stream-line-late",
  "stream-line-lost", "stream-line-repeated", "stream-line-split", "stream-link-not-enrolled",
  "stream-out-of-order", "stream-rule-duplicate", "stream-rule-invalid", "stream-rules-cap",
  "stream-rules-noncompliant", "stream-silent", "stream-unknown-line", "streaming-connection",
  "targeting-limit-reached", "token-invalidated", "token-requests-too-frequent",
  "token-revoked-midway", "total-count-limit", "tv-show-outside-market",
  "unsupported-authentication", "usage-capped", "user-lookup-suspended", "user-suspended",
  "user-token-expired", "user-token-scope-missing", "webhook-challenge-failed",
  "webhook-delivery-lost", "webhook-duplicate-delivery", "webhook-limit-exceeded",
  "webhook-out-of-order", "webhook-receiver-down", "webhook-receiver-slow"
]
"""The scenarios of the package."""

TableName: TypeAlias = Literal[
  "account_activity_subscriptions", "account_apps", "account_history", "account_media",
  "accounts", "activities", "activity_subscriptions", "advertiser_business_categories",
  "app_event_tags", "apps", "articles", "audience_permissions", "audience_users", "bidding_rules",
  "blocks", "bookmark_folder_posts", "bookmark_folders", "bookmarks", "broadcast_chat_messages",
  "broadcast_chat_mutes", "broadcasts", "campaigns", "cards", "chat_conversations", "chat_events",
  "chat_media", "chat_media_parts", "chat_members", "communities", "compliance_jobs",
  "connections", "content_categories", "conversions", "curated_categories", "custom_audiences",
  "direct_messages", "dm_blocks", "do_not_reach_lists", "draft_posts", "events",
  "follow_requests", "follows", "funding_instruments", "grants", "hidden_reposts",
  "iab_categories", "likes", "line_item_curated_categories", "line_items", "list_followers",
  "list_members", "list_pins", "lists", "media", "media_contents", "media_creatives",
  "media_library", "mutes", "news", "notes", "older_settings", "personal_trends",
  "pinned_figures", "placements", "poll_cards", "posts", "preroll_call_to_actions",
  "product_catalogs", "product_sets", "products", "promotable_users", "promoted_accounts",
  "promoted_posts", "public_keys", "publishers", "recommendations", "replay_jobs",
  "saved_searches", "scheduled_feeds", "scheduled_posts", "scheduled_promoted_posts",
  "space_buyers", "space_posts", "space_topics", "spaces", "stats_jobs", "stream_links",
  "stream_rules", "targeting_criteria", "targeting_options", "tax_settings", "tokens",
  "tracking_tags", "trend_places", "uploads", "usage", "user_settings", "users",
  "video_conversation_cards", "web_event_tags", "webhooks", "welcome_message_rules",
  "welcome_messages"
]
"""The tables of a world."""

OperationId: TypeAlias = Literal[
  "account.verify_credentials", "account_activity.count", "account_activity.list",
  "account_activity.replay", "account_activity.show", "account_activity.subscribe",
  "account_activity.unsubscribe", "account_apps.list", "account_history.list",
  "account_media.delete", "account_media.get", "account_media.list", "accounts.create",
  "accounts.delete", "accounts.get", "accounts.list", "accounts.update", "activity.create",
  "activity.delete", "activity.delete_many", "activity.list", "activity.update",
  "activity_stream.open", "advertiser_business_categories.list", "analytics.media",
  "analytics.posts", "app_event_tags.create", "app_event_tags.delete", "app_event_tags.get",
  "app_event_tags.list", "articles.draft", "articles.publish", "audience_estimate.create",
  "authenticated_user_access.get", "bidding_rules.list", "blocking.create", "blocking.delete",
  "blocking.list", "bookmark_folders.create", "bookmark_folders.get", "bookmark_folders.list",
  "bookmarks.create", "bookmarks.delete", "bookmarks.list", "broadcast_chat.delete",
  "broadcast_chat.list", "broadcast_chat.send", "broadcast_chat_mutes.create",
  "broadcast_chat_mutes.delete", "broadcasts.get", "broadcasts.list", "campaigns.activate",
  "campaigns.batch", "campaigns.create", "campaigns.delete", "campaigns.get", "campaigns.list",
  "campaigns.update", "cards.create", "cards.delete", "cards.delete_by_id", "cards.get",
  "cards.list", "cards.update", "cards_all.get", "cards_all.list",
  "cards_image_conversation.create", "cards_image_conversation.get",
  "cards_image_conversation.list", "cards_image_conversation.update", "cards_poll.create",
  "cards_poll.delete", "cards_poll.get", "cards_poll.list", "cards_video_conversation.create",
  "cards_video_conversation.get", "cards_video_conversation.list",
  "cards_video_conversation.update", "chat_conversations.get", "chat_conversations.list",
  "chat_conversations.mark_read", "chat_conversations.show_typing", "chat_events.list",
  "chat_groups.create", "chat_groups.initialize", "chat_keys.create", "chat_media.append",
  "chat_media.download", "chat_media.finalize", "chat_media.initialize", "chat_members.create",
  "chat_messages.create", "chat_messages.delete", "communities.get", "communities.search",
  "compliance_jobs.begin_upload", "compliance_jobs.create", "compliance_jobs.download",
  "compliance_jobs.get", "compliance_jobs.list", "compliance_jobs.upload",
  "connections.delete_all", "connections.delete_endpoint", "connections.delete_some",
  "connections.list", "content_categories.list", "conversion_event.report", "conversions.report",
  "curated_categories.get", "curated_categories.list", "custom_audiences.batch",
  "custom_audiences.create", "custom_audiences.delete", "custom_audiences.get",
  "custom_audiences.list", "custom_audiences.permissions.create",
  "custom_audiences.permissions.delete", "custom_audiences.permissions.list",
  "custom_audiences.targeted", "custom_audiences.update", "custom_audiences.users",
  "dm_blocks.create", "dm_blocks.delete", "dm_conversations.create", "dm_conversations.download",
  "dm_conversations.list", "dm_conversations.list_with_user", "dm_conversations.send",
  "dm_conversations.send_to_user", "dm_events.delete", "dm_events.get", "dm_events.list",
  "do_not_reach_lists.create", "do_not_reach_lists.delete", "do_not_reach_lists.list",
  "do_not_reach_lists.users", "draft_posts.create", "draft_posts.delete", "draft_posts.get",
  "draft_posts.list", "draft_posts.preview", "draft_posts.update", "evaluate_note.create",
  "features.add", "features.get", "features.remove", "filtered_stream.open",
  "firehose_stream.open", "firehose_stream_lang_en.open", "firehose_stream_lang_ja.open",
  "firehose_stream_lang_ko.open", "firehose_stream_lang_pt.open", "followed_lists.create",
  "followed_lists.delete", "followed_lists.list", "followers.list", "following.create",
  "following.delete", "following.list", "funding_instruments.create",
  "funding_instruments.delete", "funding_instruments.get", "funding_instruments.list",
  "iab_categories.list", "insights.search_keywords", "liked_posts.list", "likes.create",
  "likes.delete", "likes_compliance_stream.open", "likes_firehose_stream.open",
  "likes_sample10_stream.open", "liking_users.list", "line_item_curated_categories.create",
  "line_item_curated_categories.delete", "line_item_curated_categories.get",
  "line_item_curated_categories.list", "line_item_curated_categories.update",
  "line_items.activate", "line_items.batch", "line_items.create", "line_items.delete",
  "line_items.get", "line_items.list", "line_items.update", "list_followers.list",
  "list_members.create", "list_members.delete", "list_members.list", "list_memberships.list",
  "list_posts.list", "lists.create", "lists.delete", "lists.get", "lists.update", "media.append",
  "media.finalize", "media.get", "media.get_many", "media.initialize", "media.status",
  "media.upload", "media_creatives.create", "media_creatives.delete", "media_creatives.get",
  "media_creatives.list", "media_library.create", "media_library.delete", "media_library.get",
  "media_library.list", "media_library.update", "media_metadata.create", "media_subtitles.create",
  "media_subtitles.delete", "muting.create", "muting.delete", "muting.list", "news.get",
  "news.search", "notes.create", "notes.delete", "notes.evaluate", "notes.list_eligible",
  "notes.list_written", "oauth.access_token", "oauth.access_token_by_get", "oauth.authenticate",
  "oauth.authorize", "oauth.invalidate_token", "oauth.request_token",
  "oauth.request_token_by_get", "oauth.submit_authenticate", "oauth.submit_authorize",
  "oauth2.authorize", "oauth2.invalidate_token", "oauth2.revoke", "oauth2.submit_authorize",
  "oauth2.token", "oauth2.user_token", "older.account.remove_profile_banner",
  "older.account.settings", "older.account.settings.update", "older.account.update_profile",
  "older.account.update_profile_banner", "older.account.update_profile_image",
  "older.account_activity.environments", "older.account_activity.subscriptions.count",
  "older.account_activity.subscriptions.create", "older.account_activity.subscriptions.delete",
  "older.account_activity.subscriptions.end", "older.account_activity.subscriptions.list",
  "older.account_activity.subscriptions.show", "older.account_activity.webhooks.create",
  "older.account_activity.webhooks.delete", "older.account_activity.webhooks.list",
  "older.account_activity.webhooks.validate", "older.application.rate_limit_status",
  "older.blocks.create", "older.blocks.destroy", "older.blocks.ids", "older.blocks.list",
  "older.direct_messages.events.destroy", "older.direct_messages.events.list",
  "older.direct_messages.events.new", "older.direct_messages.events.show",
  "older.direct_messages.indicate_typing", "older.direct_messages.mark_read",
  "older.direct_messages.welcome_messages.destroy", "older.direct_messages.welcome_messages.list",
  "older.direct_messages.welcome_messages.new",
  "older.direct_messages.welcome_messages.rules.destroy",
  "older.direct_messages.welcome_messages.rules.list",
  "older.direct_messages.welcome_messages.rules.new",
  "older.direct_messages.welcome_messages.rules.show",
  "older.direct_messages.welcome_messages.show", "older.direct_messages.welcome_messages.update",
  "older.favorites.create", "older.favorites.destroy", "older.favorites.list",
  "older.followers.ids", "older.followers.list", "older.friends.ids", "older.friends.list",
  "older.friendships.create", "older.friendships.destroy", "older.friendships.incoming",
  "older.friendships.lookup", "older.friendships.no_reposts.ids", "older.friendships.outgoing",
  "older.friendships.show", "older.friendships.update", "older.geo.id",
  "older.geo.reverse_geocode", "older.geo.search", "older.help.languages", "older.lists.create",
  "older.lists.destroy", "older.lists.list", "older.lists.members", "older.lists.members.create",
  "older.lists.members.create_all", "older.lists.members.destroy",
  "older.lists.members.destroy_all", "older.lists.members.show", "older.lists.memberships",
  "older.lists.ownerships", "older.lists.show", "older.lists.statuses", "older.lists.subscribers",
  "older.lists.subscribers.create", "older.lists.subscribers.destroy",
  "older.lists.subscribers.show", "older.lists.subscriptions", "older.lists.update",
  "older.media.metadata.create", "older.media.subtitles.create", "older.media.subtitles.delete",
  "older.media.upload", "older.media.upload.status", "older.mutes.users.create",
  "older.mutes.users.destroy", "older.mutes.users.ids", "older.mutes.users.list",
  "older.saved_searches.create", "older.saved_searches.destroy", "older.saved_searches.list",
  "older.saved_searches.show", "older.search.posts", "older.statuses.destroy",
  "older.statuses.home_timeline", "older.statuses.lookup", "older.statuses.lookup_by_post",
  "older.statuses.mentions_timeline", "older.statuses.oembed", "older.statuses.repost",
  "older.statuses.reposters.ids", "older.statuses.reposts", "older.statuses.reposts_of_me",
  "older.statuses.show", "older.statuses.unrepost", "older.statuses.update",
  "older.statuses.update_with_media", "older.statuses.user_timeline", "older.trends.available",
  "older.trends.closest", "older.trends.place", "older.users.lookup",
  "older.users.lookup_by_post", "older.users.profile_banner", "older.users.report_spam",
  "older.users.search", "openapi.get", "owned_lists.list", "personalized_trends.list",
  "pinned_lists.create", "pinned_lists.delete", "pinned_lists.list", "place_trends.list",
  "placements.list", "post.create", "post_counts.all", "post_counts.recent",
  "post_label_stream.open", "post_previews.list", "post_search.all", "post_search.recent",
  "posts.list", "posts.update_name", "posts_compliance_stream.open",
  "preroll_call_to_actions.create", "preroll_call_to_actions.delete",
  "preroll_call_to_actions.get", "preroll_call_to_actions.list", "preroll_call_to_actions.update",
  "product_catalogs.create", "product_catalogs.delete", "product_catalogs.list",
  "product_catalogs.products.delete", "product_catalogs.products.list",
  "product_catalogs.products.upsert", "product_catalogs.update", "product_sets.create",
  "product_sets.delete", "product_sets.get", "product_sets.update", "promotable_users.get",
  "promotable_users.list", "promoted_accounts.create", "promoted_accounts.delete",
  "promoted_accounts.get", "promoted_accounts.list", "promoted_posts.create",
  "promoted_posts.delete", "promoted_posts.get", "promoted_posts.list", "public_keys.create",
  "public_keys.list", "public_keys.list_of_user", "public_posts.create", "public_posts.delete",
  "public_posts.get", "public_posts.hide", "public_posts.list", "publishers.list", "quotes.list",
  "recommendations.get", "recommendations.list", "reposts.create", "reposts.delete",
  "reposts.list", "reposts.of_me", "reposts.users", "sample10_stream.open", "sample_stream.open",
  "scheduled_broadcasts.create", "scheduled_broadcasts.delete", "scheduled_broadcasts.get",
  "scheduled_broadcasts.list", "scheduled_broadcasts.start", "scheduled_broadcasts.update",
  "scheduled_feeds.create", "scheduled_feeds.delete", "scheduled_feeds.get",
  "scheduled_feeds.list", "scheduled_feeds.update", "scheduled_posts.create",
  "scheduled_posts.delete", "scheduled_posts.get", "scheduled_posts.list",
  "scheduled_posts.update", "scheduled_promoted_posts.create", "scheduled_promoted_posts.delete",
  "scheduled_promoted_posts.get", "scheduled_promoted_posts.list", "spaces.buyers", "spaces.get",
  "spaces.list", "spaces.list_by_creators", "spaces.posts", "spaces.search",
  "stats.active_entities", "stats.get", "stats.reach.campaigns",
  "stats.reach.funding_instruments", "stats_jobs.cancel", "stats_jobs.create", "stats_jobs.list",
  "stats_jobs.result", "stream_links.create", "stream_links.delete", "stream_links.list",
  "stream_rules.change", "stream_rules.counts", "stream_rules.list",
  "tailored_audiences.permissions.create", "tailored_audiences.permissions.delete",
  "tailored_audiences.permissions.list", "targeting_criteria.batch", "targeting_criteria.create",
  "targeting_criteria.delete", "targeting_criteria.get", "targeting_criteria.list",
  "targeting_options.app_store_categories", "targeting_options.conversations",
  "targeting_options.devices", "targeting_options.events", "targeting_options.interests",
  "targeting_options.languages", "targeting_options.locations",
  "targeting_options.network_operators", "targeting_options.platform_versions",
  "targeting_options.platforms", "targeting_options.tv_markets", "targeting_options.tv_shows",
  "targeting_suggestions.list", "tax_settings.get", "tax_settings.update", "timelines.home",
  "timelines.mentions", "timelines.posts", "tracking_tags.create", "tracking_tags.delete",
  "tracking_tags.get", "tracking_tags.list", "tracking_tags.update", "usage.get",
  "user_settings.get", "user_settings.update", "users.affiliates", "users.get",
  "users.get_by_name", "users.list", "users.list_by_name", "users.me", "users.search",
  "users.show", "users_compliance_stream.open", "web_event_tags.create", "web_event_tags.delete",
  "web_event_tags.get", "web_event_tags.list", "web_event_tags.update", "webhooks.create",
  "webhooks.delete", "webhooks.list", "webhooks.replay", "webhooks.validate"
]
"""The operations."""

EventType: TypeAlias = Literal[
  "ProfileBannerUpdate", "ProfileBioUpdate", "ProfileGeoUpdate", "ProfilePictureUpdate",
  "ProfileUrlUpdate", "block.block", "block.unblock", "broadcast.chat", "broadcast.end",
  "broadcast.start", "chat.conversation.join", "chat.conversation_join", "chat.received",
  "chat.sent", "dm.indicate_typing", "dm.read", "dm.received", "dm.sent", "follow.follow",
  "follow.unfollow", "like.create", "mute.mute", "mute.unmute", "news.new", "oauth.revoke",
  "post.create", "post.delete", "post.mention.create", "post.quote.create", "post.reply.create",
  "post.repost.create", "profile.update.affiliate", "profile.update.affiliate_badge",
  "profile.update.banner_picture", "profile.update.bio", "profile.update.geo",
  "profile.update.handle", "profile.update.profile_picture", "profile.update.screenname",
  "profile.update.url", "profile.update.verified", "profile.update.verified_badge", "spaces.end",
  "spaces.start"
]
"""What can happen to a user, with former names."""

ErrorCode: TypeAlias = Literal[
  "ACCOUNT_LOCKED_OUT", "ACCOUNT_MEDIA_NOT_FOUND", "ACCOUNT_NOT_FOUND", "ACTION_NOT_ALLOWED",
  "APP_EVENT_PROVIDER_CONFIGURATION_NOT_FOUND", "APP_EVENT_TAG_NOT_FOUND",
  "BEHAVIOR_OR_BEHAVIOR_EXPANDED_NOT_FOUND", "CAMPAIGN_NOT_FOUND", "CANCELLED_REQUEST",
  "CARD_NOT_FOUND", "CURRENT_USER_SUSPENDED", "DUPLICATE_POST", "EXCLUSIVE_PARAMETERS",
  "FEATURE_NOT_AVAILABLE", "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED",
  "FUNDING_INSTRUMENT_EXCEEDS_AVAILABLE_CREDIT_LIMIT", "FUNDING_INSTRUMENT_NOT_FOUND",
  "GENERIC_POST_ERROR", "ILLEGAL_CHARACTERS", "INCLUSIVE_PARAMETERS", "INCOMPATIBLE_LINE_ITEM",
  "INSUFFICIENT_STORAGE", "INTERNAL_ERROR", "INVALID_APP_ID", "INVALID_APP_STORE",
  "INVALID_DENOMINATION", "INVALID_FUNDING_INSTRUMENT", "INVALID_IAB_CATEGORY",
  "INVALID_ID_ILLEGAL_CHARACTERS", "INVALID_IMAGE", "INVALID_MEDIA", "INVALID_MEDIA_ID",
  "INVALID_PARAMETER", "INVALID_PLACEMENT_TYPE", "INVALID_POST", "INVALID_TAILORED_AUDIENCE_TYPE",
  "INVALID_TARGETING_TYPE", "INVALID_TIME_WINDOW", "INVALID_TV_SHOW_LOCATIONS", "INVALID_USER",
  "INVALID_USER_ID", "LINE_ITEM_APP_NOT_FOUND", "LINE_ITEM_NOT_FOUND", "LOCK_ACQUISITION_TIMEOUT",
  "MACT_APP_NOT_FOUND", "MALWARE_STATUS", "MEDIA_CREATIVE_NOT_FOUND", "MEDIA_NOT_FOUND",
  "METHOD_NOT_ALLOWED", "MISSING_PARAMETER", "NOT_FOUND", "NOT_IMPLEMENTED",
  "NO_PROVIDER_AVAILABLE_FOR_THIS_CLIENT_APPLICATION", "OVER_CAPACITY", "POST_CANNOT_BE_BLANK",
  "POST_IS_SPAM", "POST_NOT_FOUND", "POST_RATE_LIMIT_EXCEEDED", "PROMOTABLE_USER_NOT_FOUND",
  "PROMOTED_ACCOUNT_NOT_FOUND", "PROMOTED_POST_NOT_FOUND", "READONLY_CLIENT_APPLICATION",
  "REQUEST_ENTITY_TOO_LARGE", "REQUEST_TOO_COMPLEX", "ROUTE_NOT_FOUND",
  "SCHEDULED_POST_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE", "SPEND_EXCEEDS_BUDGET",
  "TAILORED_AUDIENCE_CHANGE_FILE_NOT_FOUND", "TAILORED_AUDIENCE_NOT_FOUND",
  "TAILORED_AUDIENCE_OR_TAILORED_AUDIENCE_EXPANDED_NOT_FOUND", "TARGETING_CRITERION_NOT_FOUND",
  "TOO_MANY_CAMPAIGNS", "TOO_MANY_LINE_ITEMS", "TOO_MANY_REQUESTS", "TV_SHOW_OUTSIDE_MARKET",
  "UNAUTHORIZED_ACCESS", "UNAUTHORIZED_CLIENT_APPLICATION", "UNKNOWN_CARD_TYPE",
  "UNKNOWN_CRITERIA_TYPE", "UNSUPPORTED_MEDIA_TYPE", "USER_NOT_FOUND", "WEB_EVENT_TAG_NOT_FOUND",
  17, 25, 32, 34, 38, 44, 50, 63, 64, 68, 87, 88, 89, 92, 93, 99, 104, 108, 109, 112, 130, 131,
  135, 136, 139, 144, 158, 160, 161, 162, 170, 172, 179, 183, 185, 186, 187, 195, 214, 215, 220,
  226, 231, 251, 261, 271, 272, 324, 325, 326, 327, 349, 354, 355, 385, 386, 407, 415, 416, 417,
  433
]
"""The codes of failures: words on the advertising interface, else numbers."""

_RuleTarget: TypeAlias = (
    OperationId | OwnName | Literal["*", "deliveries", "lines"] | list[_RuleTarget]
)
"""What a rule of a scenario acts on."""

class Activation(Protocol):
    """Takes the name of a scenario, and values for the parameters it has."""

    @overload
    def __call__(self, name: Literal["about-blank"], /, *, on: _RuleTarget | None = ..., status: int | None = ..., title: str | None = ..., detail: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["account-not-associated"], /, *, account_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["answer-lost"], /, *, on: _RuleTarget | None = ..., fault: Literal["reset", "empty", "truncate", "garbage", "timeout"] | None = ..., times: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["audience-batch-counts-differ"], /, *, success_count: float | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["audience-batch-operation-errors"], /, *, on: _RuleTarget | None = ..., code: ErrorCode | Literal["duplicate-rules", "invalid-rules"] | None = ..., message: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["audience-batch-request-error"], /, *, on: _RuleTarget | None = ..., code: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["audience-processing"], /, *, custom_audience_id: Any | None = ..., reads: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["audience-upload-limit"], /, *, limit: int | None = ..., window: float | str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["client-disconnected", "conflict", "invalid-rules", "noncompliant-rules", "rule-cap", "unsupported-authentication"], /, *, on: _RuleTarget | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["client-forbidden"], /, *, on: _RuleTarget | None = ..., reason: Literal["official-client-forbidden", "client-not-enrolled"] | None = ..., registration_url: str | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["compliance-job-failed", "space-canceled"], /, *, id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["conversion-attributed"], /, *, account_id: str | None = ..., campaign_id: str | None = ..., line_item_id: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["credits-depleted"], /, *, title: str | None = ..., detail: str | None = ..., type: str | None = ..., status: Any | None = ..., on: _RuleTarget | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["direct-messages-not-permitted", "list-private"], /, *, on: _RuleTarget | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["disallowed-resource"], /, *, on: _RuleTarget | None = ..., resource_id: str | None = ..., resource_type: Literal["user", "post", "media", "list", "space"] | None = ..., section: Literal["data", "includes"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["do-not-reach-batch-counts-differ"], /, *, success_count: float | None = ..., total_count: float | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["do-not-reach-list-not-targetable"], /, *, reason: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["duplicate-rules"], /, *, on: _RuleTarget | None = ..., id: str | None = ..., value: str | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["filtered-set-update-refused", "product-set-failed"], /, *, product_set_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["flaky-network"], /, *, on: _RuleTarget | None = ..., failures: int | None = ..., fault: Literal["reset", "empty", "truncate", "garbage", "timeout"] | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["invalid-request"], /, *, on: _RuleTarget | None = ..., errors: Any | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["line-item-delete-retried"], /, *, line_item_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["line-item-deleted-twice"], /, *, line_item_id: Any | None = ..., call: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["media-creative-rejected"], /, *, media_creative_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["not-authorized-for-field"], /, *, on: _RuleTarget | None = ..., field: str | None = ..., resource_type: Literal["user", "post", "media", "list", "space"] | None = ..., section: Literal["data", "includes"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["not-authorized-for-resource"], /, *, on: _RuleTarget | None = ..., parameter: str | None = ..., value: str | None = ..., resource_id: str | None = ..., resource_type: Literal["user", "post", "media", "list", "space"] | None = ..., section: Literal["data", "includes"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["operational-disconnect"], /, *, on: _RuleTarget | None = ..., disconnect_type: Literal["OperationalDisconnect", "UpstreamOperationalDisconnect", "ForceDisconnect", "UpstreamUncleanDisconnect", "SlowReader", "InternalError", "ClientApplicationStateDegraded", "InvalidRules"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["outage"], /, *, on: _RuleTarget | None = ..., times: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["poll-card-gone"], /, *, card_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["product-delete-failed"], /, *, product_key: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["product-item-errors"], /, *, message: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["product-set-processing"], /, *, product_set_id: Any | None = ..., reads: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["promoted-post-rejected"], /, *, promoted_post_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["rate-limited", "total-count-limit"], /, *, on: _RuleTarget | None = ..., limit: int | None = ..., window: float | str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["replay-conflict"], /, *, webhook_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["resource-not-found"], /, *, on: _RuleTarget | None = ..., parameter: str | None = ..., value: str | None = ..., resource_id: str | None = ..., resource_type: Literal["user", "post", "media", "list", "space", "place", "poll"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["resource-unavailable"], /, *, on: _RuleTarget | None = ..., parameter: str | None = ..., resource_id: str | None = ..., resource_type: Literal["user", "post", "media", "list", "space"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["scheduled-post-failed"], /, *, scheduled_post_id: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["slow-network"], /, *, on: _RuleTarget | None = ..., least: float | str | None = ..., most: float | str | None = ..., slow_body: float | str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["space-ended-meanwhile"], /, *, id: Any | None = ..., read: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["stats-pinned"], /, *, entity: str | None = ..., entity_id: str | None = ..., start_time: str | None = ..., end_time: str | None = ..., impressions: float | None = ..., clicks: float | None = ..., billed_charge_local_micro: float | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["stream-client-disconnected", "stream-silent"], /, *, on: _RuleTarget | None = ..., after_lines: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["stream-cut"], /, *, on: _RuleTarget | None = ..., fault: Literal["reset", "empty", "truncate", "garbage", "timeout"] | None = ..., after_lines: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["stream-disconnected"], /, *, on: _RuleTarget | None = ..., type: Literal["OperationalDisconnect", "UpstreamOperationalDisconnect", "ForceDisconnect", "UpstreamUncleanDisconnect", "SlowReader", "InternalError", "ClientApplicationStateDegraded", "InvalidRules", "client-disconnected", "usage-capped"] | None = ..., after_lines: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["stream-line-late", "stream-line-lost", "stream-line-repeated", "stream-line-split", "stream-out-of-order", "stream-unknown-line", "webhook-duplicate-delivery", "webhook-out-of-order"], /, *, event_type: EventType | Mapping[str, Any] | None = ..., times: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["stream-rule-invalid", "user-token-scope-missing"], /, *, detail: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["streaming-connection"], /, *, on: _RuleTarget | None = ..., connection_issue: Literal["TooManyConnections", "ProvisioningSubscription", "RuleConfigurationIssue", "RulesInvalidIssue"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["token-invalidated"], /, *, user: Any | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["token-requests-too-frequent"], /, *, first: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["token-revoked-midway"], /, *, call: int | None = ..., access_token: str | None = ..., bearer_token: str | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["usage-capped"], /, *, on: _RuleTarget | None = ..., period: Literal["Daily", "Monthly"] | None = ..., scope: Literal["Account", "Product"] | None = ..., status: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["webhook-delivery-lost"], /, *, event_type: EventType | Mapping[str, Any] | None = ..., call: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["webhook-receiver-down"], /, *, webhook_id: Any | None = ..., attempts: int | None = ...) -> None: ...
    @overload
    def __call__(self, name: Literal["webhook-receiver-slow"], /, *, webhook_id: Any | None = ..., seconds: float | str | None = ...) -> None: ...
    @overload
    def __call__(self, name: OwnName, /, **parameters: Any) -> None: ...
    @overload
    def __call__(self, name: ScenarioName, /) -> None: ...
