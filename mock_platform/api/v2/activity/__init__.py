"""Activities of users: subscriptions, their stream, and account activity."""

from mock_platform.api.v2.activity import (
    account_activity,
    activities,
    activity_stream,
    operations,
)

OPERATIONS = (
    *operations.OPERATIONS,
    *account_activity.OPERATIONS,
    *activity_stream.OPERATIONS,
)
TABLES = (*activities.TABLES,)
