"""Analytics: the figures of ads, asked for at once or computed by a job."""

from mock_platform.api.ads.analytics import jobs, operations

OPERATIONS = (
    *operations.OPERATIONS,
    *jobs.OPERATIONS,
)
TABLES = (
    *operations.TABLES,
    *jobs.TABLES,
)
KINDS = (*jobs.KINDS,)
