"""Ad accounts: their users, features, settings, history, and the lists that they choose from."""

from mock_platform.api.ads.accounts import (
    categories,
    features,
    history,
    inventory,
    operations,
    promotable_users,
    records,
    settings,
    users_and_apps,
)
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *categories.OPERATIONS,
    *features.OPERATIONS,
    *history.OPERATIONS,
    *inventory.OPERATIONS,
    *promotable_users.OPERATIONS,
    *settings.OPERATIONS,
    *users_and_apps.OPERATIONS,
)
TABLES = (
    *categories.TABLES,
    *inventory.TABLES,
    *records.TABLES,
    *settings.TABLES,
    *users_and_apps.TABLES,
)
ORIGINAL_NAMES = Pairs(
    values={
        "promotable_user_type": {"REPOSTS_ONLY": "RETWEETS_ONLY"},
        "permissions": {"POST_COMPOSER": "TWEET_COMPOSER"},
    }
)
