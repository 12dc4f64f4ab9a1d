"""Document B, "Endpoints": accounts and what hangs on them, line items."""

from tests.spec.document_b.common import COUNT, IDS, JSON, PAGING, SANDBOX, SORT, TOTAL
from tests.spec.table import Section, row

ENDPOINTS = (
    Section(
        "Accounts",
        "operations/test_accounts.py",
        (
            row("GET /12/accounts: account_ids (comma-separated), count (default 200, 1 to 1000), "
                "cursor, q (name prefix), sort_by, with_deleted, with_total_count",
                "TestList::test_by_ids", "TestList::test_ids_at_most_200",
                "TestList::test_name_prefix", "TestList::test_sort", "TestList::test_with_deleted",
                "TestList::test_pages", "TestList::test_total_excludes_cursor", *COUNT, TOTAL, SORT,
                IDS, *PAGING, op="accounts.list"),
            row("GET /12/accounts/:account_id: with_deleted", "TestGet::test_one",
                "TestGet::test_with_deleted", op="accounts.get"),
            row("POST {ads_sandbox_base_url}/12/accounts: none; sandbox only, creates an account",
                "TestCreate::test_defaults", "TestCreate::test_belongs_to_the_caller",
                "TestCreate::test_sandbox_only", SANDBOX, op="accounts.create"),
            row("PUT /12/accounts/:account_id: name, industry_type", "TestUpdate::test_name",
                "TestUpdate::test_industry_type", "TestUpdate::test_empty_values",
                op="accounts.update"),
            row("DELETE {ads_sandbox_base_url}/12/accounts/:account_id: none; sandbox only",
                "TestDelete::test_stays_as_deleted", "TestDelete::test_sandbox_only", SANDBOX,
                op="accounts.delete"),
            row("GET /12/accounts/:account_id/account_apps: count (default 200, 1 to 1000), "
                "cursor, sort_by, with_deleted, with_total_count; apps",
                "operations/test_account_apps.py::test_pages",
                "operations/test_account_apps.py::test_sort",
                "operations/test_account_apps.py::test_with_deleted_and_total", *COUNT, TOTAL, SORT,
                op="account_apps.list"),
            row("GET /12/accounts/:account_id/account_history: entity_type (required: CAMPAIGN, "
                "LINE_ITEM, PROMOTED_POST, TARGETING_CRITERIA, PROMOTED_ACCOUNT), entity_id "
                "(required), start_time and end_time (required, whole hours), user_id, count "
                "(default 200, 1 to 1000), cursor",
                "operations/test_account_history.py::TestParameters::test_required",
                "operations/test_account_history.py::TestParameters::test_entity_types",
                "operations/test_account_history.py::TestParameters::test_other_entity_type",
                "operations/test_account_history.py::TestParameters::test_whole_hours",
                "operations/test_account_history.py::TestParameters::test_not_whole",
                "operations/test_account_history.py::TestEntries::test_by_user",
                "operations/test_account_history.py::TestEntries::test_pages", *COUNT,
                op="account_history.list"),
            row("beta, allowlist required",
                "operations/test_account_history.py::TestGate::test_allowlist",
                "operations/test_account_history.py::TestGate::test_allowlisted"),
            row("GET /12/advertiser_business_categories: none; list",
                "operations/test_advertiser_business_categories.py::test_all_of_them",
                op="advertiser_business_categories.list"),
            row("POST /12/accounts/:account_id/audience_estimate: JSON: targeting_criteria (array, "
                "required, at least one primary criterion), operator_type (EQ default, or NE); "
                "audience size estimate",
                "operations/test_audience_estimate.py::TestRequest::test_shape",
                "operations/test_audience_estimate.py::TestRequest::test_primary",
                "operations/test_audience_estimate.py::TestRequest::test_not_primary",
                "operations/test_audience_estimate.py::TestRequest::test_no_criteria",
                "operations/test_audience_estimate.py::TestRequest::test_refused",
                "operations/test_audience_estimate.py::TestSize::test_operator_for_all", JSON,
                op="audience_estimate.create"),
            row("GET /12/accounts/:account_id/curated_categories: list parameters; list with "
                "total_count", "operations/test_curated_categories.py::TestList::test_shape",
                "operations/test_curated_categories.py::TestList::test_pages_of_a_country",
                "operations/test_curated_categories.py::TestList::test_sort", *COUNT, TOTAL,
                op="curated_categories.list"),
            row("GET /12/accounts/:account_id/curated_categories/:curated_category_id: none; one",
                "operations/test_curated_categories.py::TestGet::test_one",
                "operations/test_curated_categories.py::TestGet::test_unknown",
                op="curated_categories.get"),
            row("GET /12/accounts/:account_id/features: feature_keys (optional); data: array of "
                "feature key strings granted to the account",
                "operations/test_features.py::TestGet::test_all",
                "operations/test_features.py::TestGet::test_other_filter", op="features.get"),
            row("POST {ads_sandbox_base_url}/12/accounts/:account_id/features: feature_keys "
                "(required, comma-separated); sandbox only, returns current keys",
                "operations/test_features.py::TestAdd::test_each",
                "operations/test_features.py::TestAdd::test_several_and_twice",
                "operations/test_features.py::TestAdd::test_required",
                "operations/test_features.py::TestAdd::test_sandbox_only", SANDBOX,
                op="features.add"),
            row("DELETE {ads_sandbox_base_url}/12/accounts/:account_id/features: feature_keys "
                "(required); sandbox only", "operations/test_features.py::TestRemove::test_each",
                "operations/test_features.py::TestAdd::test_required", SANDBOX,
                op="features.remove"),
            row("GET /12/line_items/placements: product_type (MEDIA, PROMOTED_ACCOUNT, "
                "PROMOTED_POSTS); data: array of {product_type, placements: array of arrays of "
                "placement names}", "operations/test_placements.py::test_all_product_types",
                "operations/test_placements.py::test_one_product_type",
                "operations/test_placements.py::test_other_product_type", op="placements.list"),
        ),
    ),
    Section(
        "Line items",
        "operations/test_line_items.py",
        (
            row("PUT /12/accounts/:account_id/line_items/:line_item_id",
                "test_what_the_table_allows_is_taken",
                "test_parameters_are_taken_from_a_form_as_well",
                op="line_items.update"),
            row("DELETE the same path", "test_a_delete_is_irreversible_and_happens_once",
                op="line_items.delete"),
            row("Update parameters (all optional)", "test_what_is_not_sent_keeps_its_value",
                "test_an_empty_value_unsets_an_optional_field"),
            row("advertiser_domain: no protocol; required when placement is PUBLISHER_NETWORK",
                "test_what_the_table_allows_is_taken[shop.example.com]",
                "test_what_the_table_forbids_is_refused[advertiser_domain has no protocol]",
                "test_what_the_table_forbids_is_refused"
                "[advertiser_domain is required for PUBLISHER_NETWORK]"),
            row("advertiser_user_id: for PREROLL_VIEWS ads; restricted to certain client "
                "applications", "test_advertiser_user_id_is_restricted"),
            row("android_app_store_identifier, ios_app_store_identifier: APP_INSTALLS and "
                "APP_ENGAGEMENTS objectives need at least one",
                "test_what_the_table_allows_is_taken[com.example.app]",
                "test_what_the_table_forbids_is_refused[app installs need an app]",
                "test_what_the_table_forbids_is_refused[app engagements need an app]"),
            row("audience_expansion: BROAD, DEFINED, EXPANDED",
                "test_what_the_table_allows_is_taken[EXPANDED]",
                "test_what_the_table_forbids_is_refused[audience_expansion is one of three]"),
            row("bid_amount_local_micro: greater than zero; required when bid_strategy is MAX or "
                "TARGET", "test_what_the_table_allows_is_taken",
                "test_what_the_table_forbids_is_refused[bid amount is above zero]",
                "test_what_the_table_forbids_is_refused[bid amount is required with MAX]",
                "test_what_the_table_forbids_is_refused[bid amount is required with TARGET]"),
            row("bid_strategy: AUTO (ignores bid amount)", "test_auto_does_not_keep_an_amount"),
            row("bid_strategy: MAX (not for REACH or FOLLOWERS)",
                "test_what_the_table_forbids_is_refused[MAX is not for REACH]",
                "test_what_the_table_forbids_is_refused[MAX is not for FOLLOWERS]"),
            row("bid_strategy: TARGET (daily averages within 20 percent; for REACH or "
                "WEBSITE_CLICKS)", "test_target_is_for_website_clicks_too",
                "test_what_the_table_forbids_is_refused[TARGET is for REACH or WEBSITE_CLICKS]",
                "property/test_families_model.py::test_line_items_agree_with_a_plain_model"),
            row("bid_strategy: default depends on objective",
                "test_what_is_not_sent_keeps_its_value"),
            row("categories: IAB categories; required for PUBLISHER_NETWORK",
                "test_what_the_table_allows_is_taken[IAB8]",
                "test_unknown_categories_are_not_found",
                "test_what_the_table_forbids_is_refused[categories are required for "
                "PUBLISHER_NETWORK]"),
            row("duration_in_days: 1, 7, 30; window for frequency_cap",
                "test_what_the_table_allows_is_taken[duration_in_days]",
                "test_what_the_table_forbids_is_refused[duration is 1, 7 or 30]"),
            row("entity_status: ACTIVE, PAUSED", "test_what_the_table_allows_is_taken[PAUSED]",
                "test_what_the_table_forbids_is_refused[entity_status is one of two]"),
            row("start_time, end_time: ISO 8601", "test_what_the_table_allows_is_taken[start_time]",
                "test_what_the_table_forbids_is_refused[times are ISO 8601]"),
            row("frequency_cap: REACH, ENGAGEMENTS, VIDEO_VIEWS, PREROLL_VIEWS objectives only",
                "test_what_the_table_allows_is_taken[frequency_cap]",
                "test_what_the_table_forbids_is_refused[frequency_cap is not for ]"),
            row("goal: APP_CLICKS, APP_INSTALLS, APP_PURCHASES, ENGAGEMENT, FOLLOWERS, "
                "LINK_CLICKS, MAX_REACH, PREROLL, PREROLL_STARTS, REACH_WITH_ENGAGEMENT, "
                "VIDEO_VIEW, VIEW_3S_100PCT, VIEW_6S, VIEW_15S, WEBSITE_CONVERSIONS",
                "test_what_the_table_allows_is_taken[WEBSITE_CONVERSIONS]",
                "test_what_the_table_forbids_is_refused[goal is one of the table]"),
            row("goal: default depends on objective", "test_what_is_not_sent_keeps_its_value"),
            row("name: string", "test_what_the_table_allows_is_taken[Renamed]"),
            row("pay_by: APP_CLICK, IMPRESSION, LINK_CLICK; changeable only for APP_INSTALLS "
                "objective", "test_what_the_table_allows_is_taken[LINK_CLICK]",
                "test_what_the_table_forbids_is_refused[pay_by is changeable only for "
                "APP_INSTALLS]",
                "test_what_the_table_forbids_is_refused[pay_by is one of three]"),
            row("pay_by: IMPRESSION default for APP_INSTALLS and LINK_CLICKS goals",
                "test_a_line_item_without_pay_by_is_paid_by_impression"),
            row("pay_by: not supported with TARGET bid strategy",
                "test_what_the_table_forbids_is_refused[IMPRESSION does not go with TARGET]"),
            row("total_budget_amount_local_micro: long",
                "test_what_the_table_allows_is_taken[150000000]",
                "test_what_the_table_forbids_is_refused[budgets are above zero]"),
            row("daily_budget_amount_local_micro: at most total budget",
                "test_what_the_table_allows_is_taken[12000000000]",
                "test_what_the_table_forbids_is_refused[daily budget is at most the total]",
                "test_what_the_table_forbids_is_refused[total is at least the daily budget]"),
            row("daily_budget_amount_local_micro: only when the parent campaign has "
                "budget_optimization LINE_ITEM",
                "test_what_the_table_forbids_is_refused[daily budget needs LINE_ITEM "
                "optimization]"),
            row("DELETE is irreversible", "test_a_delete_is_irreversible_and_happens_once"),
        ),
    ),
    Section(
        "Line item curated categories",
        "operations/test_line_item_curated_categories.py",
        (
            row("GET /12/accounts/:account_id/line_item_curated_categories: count (default 200, 1 "
                "to 1000), cursor, sort_by, with_deleted, with_total_count",
                "test_links_are_listed",
                "test_list_bounds",
                "test_links_are_sorted", *COUNT, TOTAL, SORT,
                *PAGING, op="line_item_curated_categories.list"),
            row("GET .../line_item_curated_categories/:line_item_curated_category_id: with_deleted",
                "test_one_link_is_read", "test_a_link_out_of_reach_is_not_found",
                op="line_item_curated_categories.get"),
            row("POST .../line_item_curated_categories: line_item_id (required), "
                "curated_category_id (required)", "test_a_new_link_stands_in_the_list",
                "test_each_end_is_required", "test_both_ends_must_exist",
                "test_deleted_and_other_line_items_cannot_be_linked",
                op="line_item_curated_categories.create"),
            row("PUT .../:line_item_curated_category_id: curated_category_id, line_item_id "
                "(optional)", "test_either_end_changes",
                "test_a_link_is_created_changed_and_deleted",
                "test_a_refused_update_changes_nothing", op="line_item_curated_categories.update"),
            row("DELETE .../:line_item_curated_category_id: none",
                "test_a_link_is_created_changed_and_deleted", "test_a_delete_leaves_both_ends",
                op="line_item_curated_categories.delete"),
        ),
    ),
)  # fmt: skip
