"""Ad accounts: their users, features, settings, history, and the lists that they choose from."""

from mock_platform.api.ads.accounts import (
    categories,
    history,
    inventory,
    operations,
    records,
    settings,
    users_and_apps,
)

OPERATIONS = (
    *operations.OPERATIONS,
    *categories.OPERATIONS,
    *settings.FEATURES,
    *history.OPERATIONS,
    *inventory.OPERATIONS,
    *users_and_apps.PROMOTABLE,
    *settings.SETTINGS,
    *users_and_apps.OPERATIONS,
)
TABLES = (
    *categories.TABLES,
    *inventory.TABLES,
    *records.TABLES,
    *settings.TABLES,
    *users_and_apps.TABLES,
)
