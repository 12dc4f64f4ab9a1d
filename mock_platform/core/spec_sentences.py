"""The sentences of the specification that assumptions complete.

Most say that something is not shown. An assumption has the sentence of its id, else that of the
part of its id before the dot; a test checks that the specification has each of them.
"""

from __future__ import annotations

from collections.abc import Mapping

_OTHER_V2 = "Shapes of all other v2 endpoints: not shown"
_NOT_SHOWN = (
    "Endpoints not shown in this document: scheduled feeds, scheduled posts, draft posts, promoted "
    "video operations, media creatives listing parameters, campaign, funding instrument, promoted "
    "post and targeting criteria operations, and line item create and list"
)
_FIELDS = (
    "Fields of scheduled feeds, scheduled posts, draft posts, promoted video records, media "
    "creatives, campaigns, funding instruments, promoted posts, targeting criteria, tailored "
    "audiences and custom audiences: not shown beyond identifiers and the few fields quoted "
    "elsewhere here"
)
_ADS_ERRORS = "Error body format and HTTP status codes for other failures: not shown"
_ADS_RATES = "Rate limits of other endpoints: not shown"
_TRANSITIONS = (
    "Transitions: not shown for account approval_status, media_status, campaign status and other "
    "statuses beyond those in the table"
)
_CAMPAIGNS = (
    "Campaign management: ad accounts, apps, account history, business categories, curated "
    "categories, account features, line items, placements"
)
_PAYLOADS = "Event payload shapes: not shown"
_OAUTH = "OAuth 1.0a endpoints (three-legged flow, token revocation)"
_RATES = "Numeric rate limits: not shown"
_SCOPES = "OAuth 2.0 scope names and consent rules: not shown"
_PROBLEMS = "Mapping from problem types to HTTP status codes: not shown"
_AUDIENCE_PERMISSIONS = "Parameters and response of GET custom audience permissions: not shown"

SENTENCES: Mapping[str, str] = {
    "account-activity": "Account Activity v2 webhook endpoints launched",
    "account-activity.bodies": _PAYLOADS,
    "account-activity.long-text": _PAYLOADS,
    "account-activity.oauth2": "OAuth 2.0 support in Account Activity v2",
    "account-activity.replay-retired": "replaced by POST /2/webhooks/replay",
    "account-activity.replay-shape": "Deprecation announced of POST /2/account_activity/replay",
    "account-history": "Catalog endpoints and account history need early access or allowlisting",
    "accounts": "sandbox only, creates an account",
    "activity": "Subscriptions filter by user ID, optionally by keyword",
    "activity.stream": "GET /2/activity/stream",
    "ads": _ADS_ERRORS,
    "articles": "Article draft and publish endpoints added",
    "audience-estimate": "Audience estimate response shape: not shown",
    "audiences": _FIELDS,
    "auth": "The credential scheme used by the advertising endpoints: not shown",
    "batch": "Batches succeed or fail as a group and responses keep request order",
    "bidding-rules": _CAMPAIGNS,
    "business-categories": "one or two must be set via the categories parameter of the line item",
    "campaigns": _NOT_SHOWN,
    "campaigns.servability": _TRANSITIONS,
    "cards": "A card needs one media component and either a DETAILS or a BUTTON component",
    "cards-all": "Only cards created through the card create endpoint are returned",
    "cards-image-conversation": "Legacy types such as IMAGE_CONVERSATION also occur",
    "cards-poll": "poll cards cannot be updated",
    "cards-video-conversation": "Parameters of this update after poster_media_key: not shown",
    "catalogs": "one catalog per user holding all products",
    "connections": "Connections endpoints: GET /2/connections",
    "content-categories": _CAMPAIGNS,
    "curated-categories": "Each is available only in its listed countries",
    "custom-audiences": _FIELDS,
    "custom-audiences.permissions-shape": _AUDIENCE_PERMISSIONS,
    "custom-audiences.permissions-writes": _AUDIENCE_PERMISSIONS,
    "direct-messages": _OTHER_V2,
    "direct-messages.permission": "Without them the error is code 93",
    "do-not-reach": "Same batch error handling as above",
    "draft-posts": _NOT_SHOWN,
    "errors": _ADS_ERRORS,
    "features": "Read filter values: REACH_AND_FREQUENCY_ANALYTICS",
    "filtered-stream": "Filtered stream webhooks",
    "funding-instruments": _NOT_SHOWN,
    "iab-categories": "iab_categories (array of IAB category codes)",
    "insights": "Results are scoped to a single country",
    "line-item-curated-categories": "curated_category_id, line_item_id (optional)",
    "line-items": _NOT_SHOWN,
    "media": _OTHER_V2,
    "media-creatives": _NOT_SHOWN,
    "media-library": "Description, poster_media_key and title apply only to videos",
    "media-library.transcoding": _TRANSITIONS,
    "names": "The brand word inside identifiers is replaced by the neutral word 'platform'",
    "news": "News endpoints: GET /2/news/search and GET /2/news/{id}",
    "notes": "Community notes endpoints",
    "oauth": _OAUTH,
    "oauth.rate-limit": _RATES,
    "oauth.http-on-loopback": "All OAuth authorization steps must use HTTPS",
    "oauth.nonce-once": "oauth_nonce accepts ASCII values only",
    "oauth.callback-not-approved": "The callback URL must be configured in the app settings",
    "oauth.regenerated-pair": "regenerating invalidates the previous pair",
    "oauth2": _SCOPES,
    "oauth2.invalidate-auth": "Request parameters of oauth2/invalidate_token: not shown",
    "oauth2.invalidate-access-token": "Request parameters of oauth2/invalidate_token: not shown",
    "oauth2.too-frequent-threshold": "requests made too frequently are rejected",
    "oauth2.failures-code-99": "requests made too frequently are rejected",
    "oauth2.permissions-override": "they override OAuth 2.0 scopes",
    "older-users": _OTHER_V2,
    "openapi": "machine-readable description of version 2.166",
    "parameters": _ADS_ERRORS,
    "placements": "data: array of {product_type, placements: array of arrays of placement names}",
    "planned-posts": _NOT_SHOWN,
    "post": "Response data is a post object",
    "post-previews": _NOT_SHOWN,
    "post-rules": "operators min_likes:, min_replies:, min_reposts: added",
    "posts": _OTHER_V2,
    "posts.summoned": "allowed only when the original author summoned the replier",
    "preroll-calls-to-action": _CAMPAIGNS,
    "problem": _PROBLEMS,
    "product-sets": "Parameters of the product set update after description",
    "products": "unknown id creates, known id updates",
    "products.repeated-id": "if repeated within one request all instances are ignored",
    "promotable-users": _CAMPAIGNS,
    "promoted-accounts": _CAMPAIGNS,
    "promoted-posts": _NOT_SHOWN,
    "publishers": _CAMPAIGNS,
    "releases": "Release history items that fix behavior",
    "replay": "Replay job states and transitions: not shown",
    "replay.activity-envelope": _PAYLOADS,
    "replay.to-date-exclusive": "its exact role as the end of the window: not shown",
    "replay.window": "events from up to the past 24 hours",
    "scheduled-feeds": "any scheduled feed endpoints: not shown",
    "scheduled-posts": _NOT_SHOWN,
    "scheduled-promoted-posts": _NOT_SHOWN,
    "search": "Search endpoints (recent and all search, recent and all counts)",
    "stats": _CAMPAIGNS,
    "stats-jobs": _CAMPAIGNS,
    "stream-links": "Filtered-stream webhook delivery",
    "stream-rules": "rule length up to 2,048 characters",
    "streams": "connection_issue (enum: TooManyConnections",
    "strict": _OTHER_V2,
    "targeting-criteria": _NOT_SHOWN,
    "targeting-options": _CAMPAIGNS,
    "targeting-suggestions": _CAMPAIGNS,
    "tax-settings": _CAMPAIGNS,
    "tracking-tags": _CAMPAIGNS,
    "usage": "Monthly post cap (2020 basic access, project level)",
    "user-access": _CAMPAIGNS,
    "user-settings": _CAMPAIGNS,
    "users": _OTHER_V2,
    "v2": _OTHER_V2,
    "webhooks": "Fields of the webhook configuration record beyond its identifier: not shown",
}  # fmt: skip
"""What the specification says, by the id of an assumption, or by the part before the dot."""


def find_sentence(id_: str) -> str:
    """Returns the sentence that an assumption completes; empty for assumptions of extensions."""
    return SENTENCES.get(id_) or SENTENCES.get(id_.partition(".")[0], "")
