"""The two OAuths: tokens, the pages on which a user consents, and who is who."""

from mock_platform.api.oauth import app_only, authorize_pages, operations, records, user_context
from mock_platform.api.v2 import SCOPE_NAMES
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *app_only.OPERATIONS,
    *authorize_pages.OPERATIONS,
    *user_context.OPERATIONS,
)
TABLES = (*records.TABLES,)
ORIGINAL_NAMES = Pairs(values={"scope": SCOPE_NAMES})
SPEC_SENTENCES = {
    "oauth.callback-not-approved": "The callback URL must be configured in the app settings",
    "oauth.regenerated-pair": "regenerating invalidates the previous pair",
    "oauth2.invalidate-auth": "Request parameters of oauth2/invalidate_token: not shown",
    "oauth2.invalidate-access-token": "Request parameters of oauth2/invalidate_token: not shown",
    "oauth2.too-frequent-threshold": "requests made too frequently are rejected",
    "oauth2.failures-code-99": "requests made too frequently are rejected",
}
