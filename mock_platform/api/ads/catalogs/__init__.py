"""Product catalogs: products, sets of products, feeds that are read on a schedule."""

from mock_platform.api.ads.catalogs import operations, product_sets, records, scheduled_feeds

OPERATIONS = (
    *operations.OPERATIONS,
    *product_sets.OPERATIONS,
    *scheduled_feeds.OPERATIONS,
)
TABLES = (
    *records.TABLES,
    *scheduled_feeds.TABLES,
)
KINDS = (*product_sets.KINDS,)
EXAMPLE_PATHS = {"product_set_id": "1547081000000000001"}
