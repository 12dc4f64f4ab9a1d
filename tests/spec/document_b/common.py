"""What rows of several headings name alike."""

CONVENTIONS = "spec/test_conventions.py::"
COUNT = (f"{CONVENTIONS}test_the_default_count", f"{CONVENTIONS}test_the_bounds_of_count")
TOTAL = f"{CONVENTIONS}test_with_total_count"
SORT = f"{CONVENTIONS}test_sort_by_both_ways"
IDS = f"{CONVENTIONS}test_id_filters_take_200"
EARLY = f"{CONVENTIONS}test_catalogs_need_early_access"
JSON = f"{CONVENTIONS}test_json_endpoints_take_json"
SANDBOX = f"{CONVENTIONS}test_sandbox_operations_are_only_there"
CREATIVES = "operations/test_creatives_lists.py::"
SETS = "operations/test_product_sets.py::"
POSTS = "operations/test_posts.py::"
PAGING = (
    "property/test_paging_property.py::test_pages_while_threads_write",
    "property/test_paging_property.py::test_pages_between_writes",
)
