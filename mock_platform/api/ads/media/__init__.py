"""Media of advertising accounts: the library, and what only one account has."""

from mock_platform.api.ads.media import media_library

OPERATIONS = (*media_library.OPERATIONS,)
TABLES = (*media_library.TABLES,)
KINDS = (*media_library.KINDS,)
NOT_SERVED = (*media_library.NOT_SERVED,)
