"""Activities of users: subscriptions, their stream, and account activity."""

from mock_platform.api.v2.activity import account_activity, activity_stream, operations, records

OPERATIONS = (
    *operations.OPERATIONS,
    *account_activity.OPERATIONS,
    *activity_stream.OPERATIONS,
)
TABLES = (*records.TABLES,)
EXAMPLE_PATHS = {"subscription_id": "1984410031207391232"}
