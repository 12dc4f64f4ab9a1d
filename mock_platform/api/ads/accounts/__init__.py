"""Ad accounts: their users, features, settings, history, and the lists that they choose from."""

from mock_platform.api.ads import CAMPAIGN_MANAGEMENT
from mock_platform.api.ads.accounts import (
    categories,
    history,
    inventory,
    operations,
    records,
    settings,
    users_and_apps,
)
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *categories.OPERATIONS,
    *settings.OPERATIONS,
    *history.OPERATIONS,
    *inventory.OPERATIONS,
    *users_and_apps.OPERATIONS,
)
TABLES = (
    *categories.TABLES,
    *inventory.TABLES,
    *records.TABLES,
    *settings.TABLES,
    *users_and_apps.TABLES,
)
AGENT_TOOLS = {"accounts.list": "list_ads_accounts"}
ORIGINAL_NAMES = Pairs(
    values={
        "promotable_user_type": {"REPOSTS_ONLY": "RETWEETS_ONLY"},
        "permissions": {"POST_COMPOSER": "TWEET_COMPOSER"},
    }
)
SPEC_SENTENCES = {
    "account-history": "Catalog endpoints and account history need early access or allowlisting",
    "accounts": "sandbox only, creates an account",
    "bidding-rules": CAMPAIGN_MANAGEMENT,
    "business-categories": "one or two must be set via the categories parameter of the line item",
    "content-categories": CAMPAIGN_MANAGEMENT,
    "curated-categories": "Each is available only in its listed countries",
    "features": "Read filter values: REACH_AND_FREQUENCY_ANALYTICS",
    "iab-categories": "iab_categories (array of IAB category codes)",
    "placements": "data: array of {product_type, placements: array of arrays of placement names}",
    "promotable-users": CAMPAIGN_MANAGEMENT,
    "publishers": CAMPAIGN_MANAGEMENT,
    "tax-settings": CAMPAIGN_MANAGEMENT,
    "user-access": CAMPAIGN_MANAGEMENT,
    "user-settings": CAMPAIGN_MANAGEMENT,
}
