// Made by `make docs` from the lists in Python; do not edit.

declare const own: unique symbol;
export {}; // only what says so

/** A name that only you know, such as that of a scenario in your files. */
export type OwnName = string & { readonly [own]: true };

/** The tables of a world. */
export type TableName =
  "account_activity_subscriptions" | "account_apps" | "account_history" | "account_media" |
  "accounts" | "activities" | "activity_subscriptions" | "advertiser_business_categories" |
  "app_event_tags" | "apps" | "articles" | "audience_permissions" | "audience_users" |
  "bidding_rules" | "blocks" | "bookmark_folder_posts" | "bookmark_folders" | "bookmarks" |
  "broadcast_chat_messages" | "broadcast_chat_mutes" | "broadcasts" | "campaigns" | "cards" |
  "chat_conversations" | "chat_events" | "chat_media" | "chat_media_parts" | "chat_members" |
  "communities" | "compliance_jobs" | "connections" | "content_categories" | "conversions" |
  "curated_categories" | "custom_audiences" | "direct_messages" | "dm_blocks" |
  "do_not_reach_lists" | "draft_posts" | "events" | "follow_requests" | "follows" |
  "funding_instruments" | "grants" | "hidden_reposts" | "iab_categories" | "likes" |
  "line_item_curated_categories" | "line_items" | "list_followers" | "list_members" | "list_pins"
  | "lists" | "media" | "media_contents" | "media_creatives" | "media_library" | "mutes" | "news"
  | "notes" | "older_settings" | "personal_trends" | "pinned_figures" | "placements" |
  "poll_cards" | "posts" | "preroll_call_to_actions" | "product_catalogs" | "product_sets" |
  "products" | "promotable_users" | "promoted_accounts" | "promoted_posts" | "public_keys" |
  "publishers" | "recommendations" | "replay_jobs" | "saved_searches" | "scheduled_feeds" |
  "scheduled_posts" | "scheduled_promoted_posts" | "space_buyers" | "space_posts" | "space_topics"
  | "spaces" | "stats_jobs" | "stream_links" | "stream_rules" | "targeting_criteria" |
  "targeting_options" | "tax_settings" | "tokens" | "tracking_tags" | "trend_places" | "uploads" |
  "usage" | "user_settings" | "users" | "video_conversation_cards" | "web_event_tags" | "webhooks"
  | "welcome_message_rules" | "welcome_messages";

/** The operations. */
export type OperationId =
  "account.verify_credentials" | "account_activity.count" | "account_activity.list" |
  "account_activity.replay" | "account_activity.show" | "account_activity.subscribe" |
  "account_activity.unsubscribe" | "account_apps.list" | "account_history.list" |
  "account_media.delete" | "account_media.get" | "account_media.list" | "accounts.create" |
  "accounts.delete" | "accounts.get" | "accounts.list" | "accounts.update" | "activity.create" |
  "activity.delete" | "activity.delete_many" | "activity.list" | "activity.update" |
  "activity_stream.open" | "advertiser_business_categories.list" | "analytics.media" |
  "analytics.posts" | "app_event_tags.create" | "app_event_tags.delete" | "app_event_tags.get" |
  "app_event_tags.list" | "articles.draft" | "articles.publish" | "audience_estimate.create" |
  "authenticated_user_access.get" | "bidding_rules.list" | "blocking.create" | "blocking.delete" |
  "blocking.list" | "bookmark_folders.create" | "bookmark_folders.get" | "bookmark_folders.list" |
  "bookmarks.create" | "bookmarks.delete" | "bookmarks.list" | "broadcast_chat.delete" |
  "broadcast_chat.list" | "broadcast_chat.send" | "broadcast_chat_mutes.create" |
  "broadcast_chat_mutes.delete" | "broadcasts.get" | "broadcasts.list" | "campaigns.activate" |
  "campaigns.batch" | "campaigns.create" | "campaigns.delete" | "campaigns.get" | "campaigns.list"
  | "campaigns.update" | "cards.create" | "cards.delete" | "cards.delete_by_id" | "cards.get" |
  "cards.list" | "cards.update" | "cards_all.get" | "cards_all.list" |
  "cards_image_conversation.create" | "cards_image_conversation.get" |
  "cards_image_conversation.list" | "cards_image_conversation.update" | "cards_poll.create" |
  "cards_poll.delete" | "cards_poll.get" | "cards_poll.list" | "cards_video_conversation.create" |
  "cards_video_conversation.get" | "cards_video_conversation.list" |
  "cards_video_conversation.update" | "chat_conversations.get" | "chat_conversations.list" |
  "chat_conversations.mark_read" | "chat_conversations.show_typing" | "chat_events.list" |
  "chat_groups.create" | "chat_groups.initialize" | "chat_keys.create" | "chat_media.append" |
  "chat_media.download" | "chat_media.finalize" | "chat_media.initialize" | "chat_members.create"
  | "chat_messages.create" | "chat_messages.delete" | "communities.get" | "communities.search" |
  "compliance_jobs.begin_upload" | "compliance_jobs.create" | "compliance_jobs.download" |
  "compliance_jobs.get" | "compliance_jobs.list" | "compliance_jobs.upload" |
  "connections.delete_all" | "connections.delete_endpoint" | "connections.delete_some" |
  "connections.list" | "content_categories.list" | "conversion_event.report" |
  "conversions.report" | "curated_categories.get" | "curated_categories.list" |
  "custom_audiences.batch" | "custom_audiences.create" | "custom_audiences.delete" |
  "custom_audiences.get" | "custom_audiences.list" | "custom_audiences.permissions.create" |
  "custom_audiences.permissions.delete" | "custom_audiences.permissions.list" |
  "custom_audiences.targeted" | "custom_audiences.update" | "custom_audiences.users" |
  "dm_blocks.create" | "dm_blocks.delete" | "dm_conversations.create" |
  "dm_conversations.download" | "dm_conversations.list" | "dm_conversations.list_with_user" |
  "dm_conversations.send" | "dm_conversations.send_to_user" | "dm_events.delete" | "dm_events.get"
  | "dm_events.list" | "do_not_reach_lists.create" | "do_not_reach_lists.delete" |
  "do_not_reach_lists.list" | "do_not_reach_lists.users" | "draft_posts.create" |
  "draft_posts.delete" | "draft_posts.get" | "draft_posts.list" | "draft_posts.preview" |
  "draft_posts.update" | "evaluate_note.create" | "features.add" | "features.get" |
  "features.remove" | "filtered_stream.open" | "firehose_stream.open" |
  "firehose_stream_lang_en.open" | "firehose_stream_lang_ja.open" | "firehose_stream_lang_ko.open"
  | "firehose_stream_lang_pt.open" | "followed_lists.create" | "followed_lists.delete" |
  "followed_lists.list" | "followers.list" | "following.create" | "following.delete" |
  "following.list" | "funding_instruments.create" | "funding_instruments.delete" |
  "funding_instruments.get" | "funding_instruments.list" | "iab_categories.list" |
  "insights.search_keywords" | "liked_posts.list" | "likes.create" | "likes.delete" |
  "likes_compliance_stream.open" | "likes_firehose_stream.open" | "likes_sample10_stream.open" |
  "liking_users.list" | "line_item_curated_categories.create" |
  "line_item_curated_categories.delete" | "line_item_curated_categories.get" |
  "line_item_curated_categories.list" | "line_item_curated_categories.update" |
  "line_items.activate" | "line_items.batch" | "line_items.create" | "line_items.delete" |
  "line_items.get" | "line_items.list" | "line_items.update" | "list_followers.list" |
  "list_members.create" | "list_members.delete" | "list_members.list" | "list_memberships.list" |
  "list_posts.list" | "lists.create" | "lists.delete" | "lists.get" | "lists.update" |
  "media.append" | "media.finalize" | "media.get" | "media.get_many" | "media.initialize" |
  "media.status" | "media.upload" | "media_creatives.create" | "media_creatives.delete" |
  "media_creatives.get" | "media_creatives.list" | "media_library.create" | "media_library.delete"
  | "media_library.get" | "media_library.list" | "media_library.update" | "media_metadata.create"
  | "media_subtitles.create" | "media_subtitles.delete" | "muting.create" | "muting.delete" |
  "muting.list" | "news.get" | "news.search" | "notes.create" | "notes.delete" | "notes.evaluate"
  | "notes.list_eligible" | "notes.list_written" | "oauth.access_token" |
  "oauth.access_token_by_get" | "oauth.authenticate" | "oauth.authorize" |
  "oauth.invalidate_token" | "oauth.request_token" | "oauth.request_token_by_get" |
  "oauth.submit_authenticate" | "oauth.submit_authorize" | "oauth2.authorize" |
  "oauth2.invalidate_token" | "oauth2.revoke" | "oauth2.submit_authorize" | "oauth2.token" |
  "oauth2.user_token" | "older.account.remove_profile_banner" | "older.account.settings" |
  "older.account.settings.update" | "older.account.update_profile" |
  "older.account.update_profile_banner" | "older.account.update_profile_image" |
  "older.account_activity.environments" | "older.account_activity.subscriptions.count" |
  "older.account_activity.subscriptions.create" | "older.account_activity.subscriptions.delete" |
  "older.account_activity.subscriptions.end" | "older.account_activity.subscriptions.list" |
  "older.account_activity.subscriptions.show" | "older.account_activity.webhooks.create" |
  "older.account_activity.webhooks.delete" | "older.account_activity.webhooks.list" |
  "older.account_activity.webhooks.validate" | "older.application.rate_limit_status" |
  "older.blocks.create" | "older.blocks.destroy" | "older.blocks.ids" | "older.blocks.list" |
  "older.direct_messages.events.destroy" | "older.direct_messages.events.list" |
  "older.direct_messages.events.new" | "older.direct_messages.events.show" |
  "older.direct_messages.indicate_typing" | "older.direct_messages.mark_read" |
  "older.direct_messages.welcome_messages.destroy" | "older.direct_messages.welcome_messages.list"
  | "older.direct_messages.welcome_messages.new" |
  "older.direct_messages.welcome_messages.rules.destroy" |
  "older.direct_messages.welcome_messages.rules.list" |
  "older.direct_messages.welcome_messages.rules.new" |
  "older.direct_messages.welcome_messages.rules.show" |
  "older.direct_messages.welcome_messages.show" | "older.direct_messages.welcome_messages.update"
  | "older.favorites.create" | "older.favorites.destroy" | "older.favorites.list" |
  "older.followers.ids" | "older.followers.list" | "older.friends.ids" | "older.friends.list" |
  "older.friendships.create" | "older.friendships.destroy" | "older.friendships.incoming" |
  "older.friendships.lookup" | "older.friendships.no_reposts.ids" | "older.friendships.outgoing" |
  "older.friendships.show" | "older.friendships.update" | "older.geo.id" |
  "older.geo.reverse_geocode" | "older.geo.search" | "older.help.languages" | "older.lists.create"
  | "older.lists.destroy" | "older.lists.list" | "older.lists.members" |
  "older.lists.members.create" | "older.lists.members.create_all" | "older.lists.members.destroy"
  | "older.lists.members.destroy_all" | "older.lists.members.show" | "older.lists.memberships" |
  "older.lists.ownerships" | "older.lists.show" | "older.lists.statuses" |
  "older.lists.subscribers" | "older.lists.subscribers.create" | "older.lists.subscribers.destroy"
  | "older.lists.subscribers.show" | "older.lists.subscriptions" | "older.lists.update" |
  "older.media.metadata.create" | "older.media.subtitles.create" | "older.media.subtitles.delete"
  | "older.media.upload" | "older.media.upload.status" | "older.mutes.users.create" |
  "older.mutes.users.destroy" | "older.mutes.users.ids" | "older.mutes.users.list" |
  "older.saved_searches.create" | "older.saved_searches.destroy" | "older.saved_searches.list" |
  "older.saved_searches.show" | "older.search.posts" | "older.statuses.destroy" |
  "older.statuses.home_timeline" | "older.statuses.lookup" | "older.statuses.lookup_by_post" |
  "older.statuses.mentions_timeline" | "older.statuses.oembed" | "older.statuses.repost" |
  "older.statuses.reposters.ids" | "older.statuses.reposts" | "older.statuses.reposts_of_me" |
  "older.statuses.show" | "older.statuses.unrepost" | "older.statuses.update" |
  "older.statuses.update_with_media" | "older.statuses.user_timeline" | "older.trends.available" |
  "older.trends.closest" | "older.trends.place" | "older.users.lookup" |
  "older.users.lookup_by_post" | "older.users.profile_banner" | "older.users.report_spam" |
  "older.users.search" | "openapi.get" | "owned_lists.list" | "personalized_trends.list" |
  "pinned_lists.create" | "pinned_lists.delete" | "pinned_lists.list" | "place_trends.list" |
  "placements.list" | "post.create" | "post_counts.all" | "post_counts.recent" |
  "post_label_stream.open" | "post_previews.list" | "post_search.all" | "post_search.recent" |
  "posts.list" | "posts.update_name" | "posts_compliance_stream.open" |
  "preroll_call_to_actions.create" | "preroll_call_to_actions.delete" |
  "preroll_call_to_actions.get" | "preroll_call_to_actions.list" |
  "preroll_call_to_actions.update" | "product_catalogs.create" | "product_catalogs.delete" |
  "product_catalogs.list" | "product_catalogs.products.delete" | "product_catalogs.products.list"
  | "product_catalogs.products.upsert" | "product_catalogs.update" | "product_sets.create" |
  "product_sets.delete" | "product_sets.get" | "product_sets.update" | "promotable_users.get" |
  "promotable_users.list" | "promoted_accounts.create" | "promoted_accounts.delete" |
  "promoted_accounts.get" | "promoted_accounts.list" | "promoted_posts.create" |
  "promoted_posts.delete" | "promoted_posts.get" | "promoted_posts.list" | "public_keys.create" |
  "public_keys.list" | "public_keys.list_of_user" | "public_posts.create" | "public_posts.delete"
  | "public_posts.get" | "public_posts.hide" | "public_posts.list" | "publishers.list" |
  "quotes.list" | "recommendations.get" | "recommendations.list" | "reposts.create" |
  "reposts.delete" | "reposts.list" | "reposts.of_me" | "reposts.users" | "sample10_stream.open" |
  "sample_stream.open" | "scheduled_broadcasts.create" | "scheduled_broadcasts.delete" |
  "scheduled_broadcasts.get" | "scheduled_broadcasts.list" | "scheduled_broadcasts.start" |
  "scheduled_broadcasts.update" | "scheduled_feeds.create" | "scheduled_feeds.delete" |
  "scheduled_feeds.get" | "scheduled_feeds.list" | "scheduled_feeds.update" |
  "scheduled_posts.create" | "scheduled_posts.delete" | "scheduled_posts.get" |
  "scheduled_posts.list" | "scheduled_posts.update" | "scheduled_promoted_posts.create" |
  "scheduled_promoted_posts.delete" | "scheduled_promoted_posts.get" |
  "scheduled_promoted_posts.list" | "spaces.buyers" | "spaces.get" | "spaces.list" |
  "spaces.list_by_creators" | "spaces.posts" | "spaces.search" | "stats.active_entities" |
  "stats.get" | "stats.reach.campaigns" | "stats.reach.funding_instruments" | "stats_jobs.cancel"
  | "stats_jobs.create" | "stats_jobs.list" | "stats_jobs.result" | "stream_links.create" |
  "stream_links.delete" | "stream_links.list" | "stream_rules.change" | "stream_rules.counts" |
  "stream_rules.list" | "tailored_audiences.permissions.create" |
  "tailored_audiences.permissions.delete" | "tailored_audiences.permissions.list" |
  "targeting_criteria.batch" | "targeting_criteria.create" | "targeting_criteria.delete" |
  "targeting_criteria.get" | "targeting_criteria.list" | "targeting_options.app_store_categories"
  | "targeting_options.conversations" | "targeting_options.devices" | "targeting_options.events" |
  "targeting_options.interests" | "targeting_options.languages" | "targeting_options.locations" |
  "targeting_options.network_operators" | "targeting_options.platform_versions" |
  "targeting_options.platforms" | "targeting_options.tv_markets" | "targeting_options.tv_shows" |
  "targeting_suggestions.list" | "tax_settings.get" | "tax_settings.update" | "timelines.home" |
  "timelines.mentions" | "timelines.posts" | "tracking_tags.create" | "tracking_tags.delete" |
  "tracking_tags.get" | "tracking_tags.list" | "tracking_tags.update" | "usage.get" |
  "user_settings.get" | "user_settings.update" | "users.affiliates" | "users.get" |
  "users.get_by_name" | "users.list" | "users.list_by_name" | "users.me" | "users.search" |
  "users.show" | "users_compliance_stream.open" | "web_event_tags.create" |
  "web_event_tags.delete" | "web_event_tags.get" | "web_event_tags.list" | "web_event_tags.update"
  | "webhooks.create" | "webhooks.delete" | "webhooks.list" | "webhooks.replay" |
  "webhooks.validate";

/** What can happen to a user, with former names. */
export type EventType =
  "ProfileBannerUpdate" | "ProfileBioUpdate" | "ProfileGeoUpdate" | "ProfilePictureUpdate" |
  "ProfileUrlUpdate" | "block.block" | "block.unblock" | "broadcast.chat" | "broadcast.end" |
  "broadcast.start" | "chat.conversation.join" | "chat.conversation_join" | "chat.received" |
  "chat.sent" | "dm.indicate_typing" | "dm.read" | "dm.received" | "dm.sent" | "follow.follow" |
  "follow.unfollow" | "like.create" | "mute.mute" | "mute.unmute" | "news.new" | "oauth.revoke" |
  "post.create" | "post.delete" | "post.mention.create" | "post.quote.create" |
  "post.reply.create" | "post.repost.create" | "profile.update.affiliate" |
  "profile.update.affiliate_badge" | "profile.update.banner_picture" | "profile.update.bio" |
  "profile.update.geo" | "profile.update.handle" | "profile.update.profile_picture" |
  "profile.update.screenname" | "profile.update.url" | "profile.update.verified" |
  "profile.update.verified_badge" | "spaces.end" | "spaces.start";

/** The codes of failures: words on the advertising interface, else numbers. */
export type ErrorCode =
  "ACCOUNT_LOCKED_OUT" | "ACCOUNT_MEDIA_NOT_FOUND" | "ACCOUNT_NOT_FOUND" | "ACTION_NOT_ALLOWED" |
  "APP_EVENT_PROVIDER_CONFIGURATION_NOT_FOUND" | "APP_EVENT_TAG_NOT_FOUND" |
  "BEHAVIOR_OR_BEHAVIOR_EXPANDED_NOT_FOUND" | "CAMPAIGN_NOT_FOUND" | "CANCELLED_REQUEST" |
  "CARD_NOT_FOUND" | "CURRENT_USER_SUSPENDED" | "DUPLICATE_POST" | "EXCLUSIVE_PARAMETERS" |
  "FEATURE_NOT_AVAILABLE" | "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED" |
  "FUNDING_INSTRUMENT_EXCEEDS_AVAILABLE_CREDIT_LIMIT" | "FUNDING_INSTRUMENT_NOT_FOUND" |
  "GENERIC_POST_ERROR" | "ILLEGAL_CHARACTERS" | "INCLUSIVE_PARAMETERS" | "INCOMPATIBLE_LINE_ITEM"
  | "INSUFFICIENT_STORAGE" | "INTERNAL_ERROR" | "INVALID_APP_ID" | "INVALID_APP_STORE" |
  "INVALID_DENOMINATION" | "INVALID_FUNDING_INSTRUMENT" | "INVALID_IAB_CATEGORY" |
  "INVALID_ID_ILLEGAL_CHARACTERS" | "INVALID_IMAGE" | "INVALID_MEDIA" | "INVALID_MEDIA_ID" |
  "INVALID_PARAMETER" | "INVALID_PLACEMENT_TYPE" | "INVALID_POST" |
  "INVALID_TAILORED_AUDIENCE_TYPE" | "INVALID_TARGETING_TYPE" | "INVALID_TIME_WINDOW" |
  "INVALID_TV_SHOW_LOCATIONS" | "INVALID_USER" | "INVALID_USER_ID" | "LINE_ITEM_APP_NOT_FOUND" |
  "LINE_ITEM_NOT_FOUND" | "LOCK_ACQUISITION_TIMEOUT" | "MACT_APP_NOT_FOUND" | "MALWARE_STATUS" |
  "MEDIA_CREATIVE_NOT_FOUND" | "MEDIA_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "MISSING_PARAMETER" |
  "NOT_FOUND" | "NOT_IMPLEMENTED" | "NO_PROVIDER_AVAILABLE_FOR_THIS_CLIENT_APPLICATION" |
  "OVER_CAPACITY" | "POST_CANNOT_BE_BLANK" | "POST_IS_SPAM" | "POST_NOT_FOUND" |
  "POST_RATE_LIMIT_EXCEEDED" | "PROMOTABLE_USER_NOT_FOUND" | "PROMOTED_ACCOUNT_NOT_FOUND" |
  "PROMOTED_POST_NOT_FOUND" | "READONLY_CLIENT_APPLICATION" | "REQUEST_ENTITY_TOO_LARGE" |
  "REQUEST_TOO_COMPLEX" | "ROUTE_NOT_FOUND" | "SCHEDULED_POST_LIMIT_EXCEEDED" |
  "SERVICE_UNAVAILABLE" | "SPEND_EXCEEDS_BUDGET" | "TAILORED_AUDIENCE_CHANGE_FILE_NOT_FOUND" |
  "TAILORED_AUDIENCE_NOT_FOUND" | "TAILORED_AUDIENCE_OR_TAILORED_AUDIENCE_EXPANDED_NOT_FOUND" |
  "TARGETING_CRITERION_NOT_FOUND" | "TOO_MANY_CAMPAIGNS" | "TOO_MANY_LINE_ITEMS" |
  "TOO_MANY_REQUESTS" | "TV_SHOW_OUTSIDE_MARKET" | "UNAUTHORIZED_ACCESS" |
  "UNAUTHORIZED_CLIENT_APPLICATION" | "UNKNOWN_CARD_TYPE" | "UNKNOWN_CRITERIA_TYPE" |
  "UNSUPPORTED_MEDIA_TYPE" | "USER_NOT_FOUND" | "WEB_EVENT_TAG_NOT_FOUND" | 17 | 25 | 32 | 34 | 38
  | 44 | 50 | 63 | 64 | 68 | 87 | 88 | 89 | 92 | 93 | 99 | 104 | 108 | 109 | 112 | 130 | 131 | 135
  | 136 | 139 | 144 | 158 | 160 | 161 | 162 | 170 | 172 | 179 | 183 | 185 | 186 | 187 | 195 | 214
  | 215 | 220 | 226 | 231 | 251 | 261 | 271 | 272 | 324 | 325 | 326 | 327 | 349 | 354 | 355 | 385
  | 386 | 407 | 415 | 416 | 417 | 433;

/** What a rule of a scenario acts on. */
export type RuleTarget = OperationId | "*" | "deliveries" | "lines" | OwnName;

/** What a scenario without parameters takes. */
export type NoParameters = { readonly [name: string]: never };

/** The parameters of each scenario of the package. */
export interface ScenarioParameters {
  "about-blank": { on?: RuleTarget | null; status?: number | null; title?: string | null; detail?: string | null };
  "account-history-not-allowlisted": NoParameters;
  "account-not-associated": { account_id?: any | null };
  "account-subscription-exists": NoParameters;
  "account-subscription-limit-exceeded": NoParameters;
  "account-suspended": NoParameters;
  "answer-lost": { on?: RuleTarget | null; fault?: "reset" | "empty" | "truncate" | "garbage" | "timeout" | null; times?: number | null };
  "audience-batch-counts-differ": { success_count?: number | null };
  "audience-batch-operation-errors": { on?: RuleTarget | null; code?: ErrorCode | "duplicate-rules" | "invalid-rules" | null; message?: string | null };
  "audience-batch-request-error": { on?: RuleTarget | null; code?: string | null };
  "audience-batch-too-large": NoParameters;
  "audience-batch-too-many-operations": NoParameters;
  "audience-name-taken": NoParameters;
  "audience-not-owned": NoParameters;
  "audience-not-targetable": NoParameters;
  "audience-processing": { custom_audience_id?: any | null; reads?: number | null };
  "audience-sharing-refused": NoParameters;
  "audience-upload-limit": { limit?: number | null; window?: number | string | null };
  "bookmark-folder-missing": NoParameters;
  "bookmarked-post-missing": NoParameters;
  "bookmarks-end-early": NoParameters;
  "broadcast-chat-closed": NoParameters;
  "broadcast-chat-muted": NoParameters;
  "broadcast-not-manual": NoParameters;
  "budget-below-spending": NoParameters;
  "campaign-right-missing": NoParameters;
  "campaigns-too-many": NoParameters;
  "catalog-exists": NoParameters;
  "chat-admin-required": NoParameters;
  "chat-group-full": NoParameters;
  "chat-key-outdated": NoParameters;
  "chat-keys-missing": NoParameters;
  "chat-members-unavailable": NoParameters;
  "client-disconnected": { on?: RuleTarget | null; status?: number | null };
  "client-forbidden": { on?: RuleTarget | null; reason?: "official-client-forbidden" | "client-not-enrolled" | null; registration_url?: string | null; status?: number | null };
  "clock-skew": NoParameters;
  "community-unknown": NoParameters;
  "compliance-job-failed": { id?: any | null };
  "compliance-upload-expired": NoParameters;
  "conflict": { on?: RuleTarget | null; status?: number | null };
  "conversation-image-refused": NoParameters;
  "conversion-attributed": { account_id?: string | null; campaign_id?: string | null; line_item_id?: string | null };
  "conversion-event-foreign": NoParameters;
  "credits-depleted": { title?: string | null; detail?: string | null; type?: string | null; status?: any | null; on?: readonly RuleTarget[] | null };
  "direct-message-not-own": NoParameters;
  "direct-messages-blocked": NoParameters;
  "direct-messages-not-permitted": { on?: readonly RuleTarget[] | null };
  "disallowed-resource": { on?: RuleTarget | null; resource_id?: string | null; resource_type?: "user" | "post" | "media" | "list" | "space" | null; section?: "data" | "includes" | null; status?: number | null };
  "do-not-reach-batch-counts-differ": { success_count?: number | null; total_count?: number | null };
  "do-not-reach-list-exists": NoParameters;
  "do-not-reach-list-not-targetable": { reason?: string | null };
  "duplicate-rules": { on?: RuleTarget | null; id?: string | null; value?: string | null; status?: number | null };
  "early-access-missing": NoParameters;
  "filtered-set-update-refused": { product_set_id?: any | null };
  "filtered-stream-no-rules": NoParameters;
  "filtered-stream-rules-invalid": NoParameters;
  "flaky-network": { on?: RuleTarget | null; failures?: number | null; fault?: "reset" | "empty" | "truncate" | "garbage" | "timeout" | null };
  "follow-blocked": NoParameters;
  "funding-instrument-invalid": NoParameters;
  "insights-range-refused": NoParameters;
  "invalid-request": { on?: RuleTarget | null; errors?: any | null; status?: number | null };
  "invalid-rules": { on?: RuleTarget | null; status?: number | null };
  "like-of-edited-post": NoParameters;
  "liked-post-missing": NoParameters;
  "line-item-delete-retried": { line_item_id?: any | null };
  "line-item-deleted-twice": { line_item_id?: any | null; call?: any | null };
  "line-item-incompatible": NoParameters;
  "line-items-too-many": NoParameters;
  "list-full": NoParameters;
  "list-not-owned": NoParameters;
  "list-pins-full": NoParameters;
  "list-private": { on?: RuleTarget | null };
  "lists-too-many": NoParameters;
  "media-creative-rejected": { media_creative_id?: any | null };
  "media-expired": NoParameters;
  "media-not-own": NoParameters;
  "media-polls-not-enabled": NoParameters;
  "media-subtitles-full": NoParameters;
  "noncompliant-rules": { on?: RuleTarget | null; status?: number | null };
  "not-authorized-for-field": { on?: RuleTarget | null; field?: string | null; resource_type?: "user" | "post" | "media" | "list" | "space" | null; section?: "data" | "includes" | null; status?: number | null };
  "not-authorized-for-resource": { on?: RuleTarget | null; parameter?: string | null; value?: string | null; resource_id?: string | null; resource_type?: "user" | "post" | "media" | "list" | "space" | null; section?: "data" | "includes" | null; status?: number | null };
  "note-exists": NoParameters;
  "note-writer-required": NoParameters;
  "oauth2-code-refused": NoParameters;
  "operational-disconnect": { on?: RuleTarget | null; disconnect_type?: "OperationalDisconnect" | "UpstreamOperationalDisconnect" | "ForceDisconnect" | "UpstreamUncleanDisconnect" | "SlowReader" | "InternalError" | "ClientApplicationStateDegraded" | "InvalidRules" | null; status?: number | null };
  "outage": { on?: RuleTarget | null; times?: number | null };
  "placement-unavailable": NoParameters;
  "poll-card-gone": { card_id?: any | null };
  "post-edit-refused": NoParameters;
  "post-not-promotable": NoParameters;
  "post-repeated": NoParameters;
  "post-reply-not-summoned": NoParameters;
  "post-too-long": NoParameters;
  "posting-not-granted": NoParameters;
  "product-batch-too-large": NoParameters;
  "product-delete-failed": { product_key?: string | null };
  "product-id-repeated": NoParameters;
  "product-item-errors": { message?: string | null };
  "product-set-failed": { product_set_id?: any | null };
  "product-set-processing": { product_set_id?: any | null; reads?: number | null };
  "promoted-post-rejected": { promoted_post_id?: any | null };
  "rate-limited": { on?: RuleTarget | null; limit?: number | null; window?: number | string | null };
  "replay-conflict": { webhook_id?: any | null };
  "reply-not-hideable": NoParameters;
  "repost-not-permitted": NoParameters;
  "repost-repeated": NoParameters;
  "resource-not-found": { on?: RuleTarget | null; parameter?: string | null; value?: string | null; resource_id?: string | null; resource_type?: "user" | "post" | "media" | "list" | "space" | "place" | "poll" | null; status?: number | null };
  "resource-unavailable": { on?: RuleTarget | null; parameter?: string | null; resource_id?: string | null; resource_type?: "user" | "post" | "media" | "list" | "space" | null; status?: number | null };
  "rule-cap": { on?: RuleTarget | null; status?: number | null };
  "sandbox-only": NoParameters;
  "scheduled-feed-exists": NoParameters;
  "scheduled-post-failed": { scheduled_post_id?: any | null };
  "scheduled-post-limit-exceeded": NoParameters;
  "scheduled-post-out": NoParameters;
  "slow-network": { on?: RuleTarget | null; least?: number | string | null; most?: number | string | null; slow_body?: number | string | null };
  "space-buyers-refused": NoParameters;
  "space-canceled": { id?: any | null };
  "space-ended-meanwhile": { id?: any | null; read?: number | null };
  "stats-day-not-midnight": NoParameters;
  "stats-fractional-hours": NoParameters;
  "stats-jobs-limit-reached": NoParameters;
  "stats-pinned": { entity?: string | null; entity_id?: string | null; start_time?: string | null; end_time?: string | null; impressions?: number | null; clicks?: number | null; billed_charge_local_micro?: number | null };
  "stats-window-too-long": NoParameters;
  "stream-client-disconnected": { on?: RuleTarget | null; after_lines?: number | null };
  "stream-cut": { on?: RuleTarget | null; fault?: "reset" | "empty" | "truncate" | "garbage" | "timeout" | null; after_lines?: number | null };
  "stream-disconnected": { on?: RuleTarget | null; type?: "OperationalDisconnect" | "UpstreamOperationalDisconnect" | "ForceDisconnect" | "UpstreamUncleanDisconnect" | "SlowReader" | "InternalError" | "ClientApplicationStateDegraded" | "InvalidRules" | "client-disconnected" | "usage-capped" | null; after_lines?: number | null };
  "stream-line-late": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "stream-line-lost": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "stream-line-repeated": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "stream-line-split": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "stream-link-not-enrolled": NoParameters;
  "stream-out-of-order": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "stream-rule-duplicate": NoParameters;
  "stream-rule-invalid": { detail?: string | null };
  "stream-rules-cap": NoParameters;
  "stream-rules-noncompliant": NoParameters;
  "stream-silent": { on?: RuleTarget | null; after_lines?: number | null };
  "stream-unknown-line": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "streaming-connection": { on?: RuleTarget | null; connection_issue?: "TooManyConnections" | "ProvisioningSubscription" | "RuleConfigurationIssue" | "RulesInvalidIssue" | null; status?: number | null };
  "targeting-limit-reached": NoParameters;
  "token-invalidated": { user?: any | null };
  "token-requests-too-frequent": { first?: number | null };
  "token-revoked-midway": { call?: number | null; access_token?: string | null; bearer_token?: string | null };
  "total-count-limit": { on?: RuleTarget | null; limit?: number | null; window?: number | string | null };
  "tv-show-outside-market": NoParameters;
  "unsupported-authentication": { on?: RuleTarget | null; status?: number | null };
  "usage-capped": { on?: RuleTarget | null; period?: "Daily" | "Monthly" | null; scope?: "Account" | "Product" | null; status?: number | null };
  "user-lookup-suspended": NoParameters;
  "user-suspended": NoParameters;
  "user-token-expired": NoParameters;
  "user-token-scope-missing": { detail?: string | null };
  "webhook-challenge-failed": NoParameters;
  "webhook-delivery-lost": { event_type?: EventType | Record<string, any> | null; call?: number | null };
  "webhook-duplicate-delivery": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "webhook-limit-exceeded": NoParameters;
  "webhook-out-of-order": { event_type?: EventType | Record<string, any> | null; times?: number | null };
  "webhook-receiver-down": { webhook_id?: any | null; attempts?: number | null };
  "webhook-receiver-slow": { webhook_id?: any | null; seconds?: number | string | null };
}

/** The scenarios of the package. */
export type ScenarioName = keyof ScenarioParameters;
