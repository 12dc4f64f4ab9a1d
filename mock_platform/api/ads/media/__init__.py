"""Media of advertising accounts: the library, and what only one account has."""

from mock_platform.api.ads.media import account_media, media_library

OPERATIONS = (
    *account_media.OPERATIONS,
    *media_library.OPERATIONS,
)
TABLES = (*account_media.TABLES,)
KINDS = (*media_library.KINDS,)
NOT_SERVED = (*media_library.NOT_SERVED,)
