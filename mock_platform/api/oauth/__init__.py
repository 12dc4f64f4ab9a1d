"""The two OAuths: tokens, the pages on which a user consents, and who is who."""

from mock_platform.api.oauth import app_only, authorize_pages, operations, records, user_context

OPERATIONS = (
    *operations.OPERATIONS,
    *app_only.OPERATIONS,
    *authorize_pages.OPERATIONS,
    *user_context.OPERATIONS,
)
TABLES = (*records.TABLES,)
