"""Activities of users: subscriptions, their stream, and account activity."""

from mock_platform.api.v2 import FREE_KEYS, PAYLOADS, POST_OBJECT_NAMES
from mock_platform.api.v2.activity import account_activity, activities, activity_stream, operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *account_activity.OPERATIONS,
    *activity_stream.OPERATIONS,
)
TABLES = (*activities.TABLES,)
EXAMPLE_PATHS = {"subscription_id": "1984410031207391232"}
ORIGINAL_NAMES = Pairs(
    {
        "liked_post_id": "liked_tweet_id",
        "liked_post_author_id": "liked_tweet_author_id",
        "post_author_id": "tweet_author_id",
    }
)
PRODUCT_NAMES = {
    "account_activity": Pairs(
        names={
            **POST_OBJECT_NAMES,
            "post_create_events": "tweet_create_events",
            "post_delete_events": "tweet_delete_events",
        },
        free=FREE_KEYS | {"users", "apps"},
    )
}
"""The bodies of the account activity product, whose posts are those of version 1.1."""
SPEC_SENTENCES = {
    "account-activity": "Account Activity v2 webhook endpoints launched",
    "account-activity.bodies": PAYLOADS,
    "account-activity.oauth2": "OAuth 2.0 support in Account Activity v2",
    "account-activity.replay-retired": "replaced by POST /2/webhooks/replay",
    "account-activity.replay-shape": "Deprecation announced of POST /2/account_activity/replay",
    "account-activity.long-text": PAYLOADS,
    "activity": "Subscriptions filter by user ID, optionally by keyword",
    "activity.stream": "GET /2/activity/stream",
}
PUBLISHED_IDS = {
    "activity.create": "createActivitySubscription",
    "activity.list": "getActivitySubscriptions",
    "activity.update": "updateActivitySubscription",
    "activity.delete": "deleteActivitySubscription",
    "activity.delete_many": "deleteActivitySubscriptionsByIds",
    "account_activity.subscribe": "createAccountActivitySubscription",
    "account_activity.show": "validateAccountActivitySubscription",
    "account_activity.list": "getAccountActivitySubscriptions",
    "account_activity.unsubscribe": "deleteAccountActivitySubscription",
    "account_activity.count": "getAccountActivitySubscriptionCount",
    "activity_stream.open": "activityStream",
}
