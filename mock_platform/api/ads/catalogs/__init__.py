"""Product catalogs: products, sets of products, feeds that are read on a schedule."""

from mock_platform.api.ads.catalogs import operations, product_sets, records, scheduled_feeds

OPERATIONS = (*operations.OPERATIONS, *product_sets.OPERATIONS, *scheduled_feeds.OPERATIONS)
TABLES = (*records.TABLES, *scheduled_feeds.TABLES)
KINDS = (*product_sets.KINDS,)
EXAMPLE_PATHS = {"product_set_id": "1547081000000000001"}
SPEC_SENTENCES = {
    "catalogs": "one catalog per user holding all products",
    "product-sets": "Parameters of the product set update after description",
    "products": "unknown id creates, known id updates",
    "products.repeated-id": "if repeated within one request all instances are ignored",
    "scheduled-feeds": "any scheduled feed endpoints: not shown",
}
