"""Document B, "Endpoints": product catalogs, keyword insights, audiences, do-not-reach lists."""

from tests.spec.document_b.common import (
    CONVENTIONS,
    COUNT,
    EARLY,
    IDS,
    JSON,
    PAGING,
    SETS,
    SORT,
    TOTAL,
)
from tests.spec.table import Section, row

ENDPOINTS = (
    Section(
        "Product catalogs (early access only)",
        "operations/test_product_catalogs.py",
        (
            row("GET /product_catalogs: user_id (long, optional); data: array of {id, name}",
                "test_a_user_has_one_catalog", "test_user_id_may_be_the_users_own",
                "test_another_user_is_out_of_reach", EARLY, op="product_catalogs.list"),
            row("POST /product_catalogs: name (string, required), user_id (long, optional); data: "
                "{id, name}", "test_a_catalog_is_created_renamed_and_deleted_for_good",
                "test_catalog_parameters", EARLY, op="product_catalogs.create"),
            row("one catalog per user holding all products", "test_a_user_has_one_catalog"),
            row("must exist before uploading products", "test_products_need_a_catalog"),
            row("PUT /product_catalogs/:product_catalog_id: name (string, required); data: "
                "{id, name}", "test_a_catalog_is_created_renamed_and_deleted_for_good",
                "test_catalog_parameters", EARLY, op="product_catalogs.update"),
            row("DELETE /product_catalogs/:product_catalog_id: none; permanent; data: {id, name}",
                "test_a_catalog_is_created_renamed_and_deleted_for_good", EARLY,
                op="product_catalogs.delete"),
            row("GET /product_catalogs/:product_catalog_id/products: item_group_key (optional), "
                "count (default 100, 1 to 100), cursor; data: array of products; next_cursor",
                "test_a_fetch_shows_the_first_member_of_a_group", "test_count_is_1_to_100",
                "test_the_default_count_is_100", "test_pages_add_up", *COUNT, *PAGING, EARLY,
                op="product_catalogs.products.list"),
            row("PUT /product_catalogs/:product_catalog_id/products: JSON body {products: array of "
                "at most 25 products}", "test_a_request_holds_at_most_25_products",
                "test_a_body_without_products_is_refused", JSON, EARLY,
                op="product_catalogs.products.upsert"),
            row("data.products_response: array of {warnings, errors, product_key, id, status}",
                "test_unknown_ids_create_and_known_ids_update",
                "test_an_unknown_field_is_a_warning"),
            row("unknown id creates, known id updates",
                "test_unknown_ids_create_and_known_ids_update"),
            row("all required fields needed every time",
                "test_all_required_fields_are_needed_every_time"),
            row("DELETE /product_catalogs/:product_catalog_id/products: JSON body {product_keys: "
                "array, required}; permanent; data.delete_products: array of {product_key, "
                "failed_product_key, message}",
                "test_deletes_are_permanent_and_reported_per_key", "test_product_keys_are_required",
                JSON, EARLY, op="product_catalogs.products.delete"),
            row("GET /product_catalogs/:product_catalog_id/product_sets/:product_set_id: none; "
                "product set", f"{SETS}test_a_set_is_read_with_its_own_id_echoed", EARLY,
                op="product_sets.get"),
            row("POST /product_catalogs/:product_catalog_id/product_sets: JSON: name (required), "
                "type (required, MANUAL or FILTERED), description, filters (required for "
                "FILTERED), product_keys (required for MANUAL); product set with "
                "processing_status", f"{SETS}test_a_manual_set_holds_the_given_products",
                f"{SETS}test_filters_really_select",
                f"{SETS}test_a_body_that_may_not_be_is_refused",
                f"{SETS}test_unknown_products_are_not_found", JSON, EARLY,
                op="product_sets.create"),
            row("PUT /product_catalogs/:product_catalog_id/product_sets/:product_set_id: JSON: "
                "name, description (optional); only MANUAL sets can be updated; product set",
                f"{SETS}test_only_manual_sets_are_updated", JSON, EARLY, op="product_sets.update"),
        ),
    ),
    Section(
        "Keyword insights",
        "operations/test_insights.py",
        (
            row("GET {ads_base_url}/12/insights/keywords/search", "TestParameters::test_shape",
                op="insights.search_keywords"),
            row("granularity: required: DAY, HOUR", "TestParameters::test_required",
                "TestParameters::test_other_granularity", "TestWindow::test_buckets"),
            row("keywords: required, comma-separated, OR'ed", "TestParameters::test_required",
                "TestParameters::test_empty_keyword", "TestNumbers::test_keywords_add_up"),
            row("negative_keywords: optional, comma-separated, OR'ed; keywords plus "
                "negative_keywords at most 10", "TestParameters::test_ten_keywords",
                "TestParameters::test_eleven_keywords",
                "TestNumbers::test_related_without_negative_ones"),
            row("start_time: required, ISO 8601", "TestParameters::test_required",
                "TestParameters::test_no_time"),
            row("end_time: optional, ISO 8601, default now; end minus start at most 7 days",
                "TestWindow::test_until_now", "TestWindow::test_until_now_at_the_edges",
                "TestWindow::test_seven_days", "TestWindow::test_more_than_seven_days"),
            row("location: optional, country-level targeting value",
                "TestParameters::test_other_location", "TestNumbers::test_one_country"),
            row("related_keywords (array of 30 strings)", "TestParameters::test_shape",
                "test_always_thirty_related"),
            row("tweet_volume renamed post_volume in neutral naming (array of integers, one per "
                "time bucket; counts input keywords only)", "TestParameters::test_shape",
                "TestWindow::test_buckets", "test_buckets_cover_the_window",
                "TestNumbers::test_negative_ones_do_not_count"),
            row("Results are scoped to a single country", "TestNumbers::test_one_country"),
        ),
    ),
    Section(
        "Tailored audience permissions (version 5)",
        "operations/test_tailored_audiences.py",
        (
            row("Base {ads_base_url}/5/accounts/:account_id/tailored_audiences/"
                ":tailored_audience_id/permissions", "test_another_version_is_no_route",
                f"{CONVENTIONS}test_the_version_is_part_of_the_path"),
            row("GET: count (default 200, 1 to 1000), cursor, granted_account_ids (up to 200, "
                "comma-separated), sort_by, tailored_audience_permission_ids (up to 200), "
                "with_total_count; list of permissions",
                "test_permissions_are_listed_for_the_owner",
                "test_permissions_are_filtered_and_paged",
                "test_list_bounds", "test_the_longest_lists_of_ids_find_what_they_name", *COUNT,
                TOTAL, SORT, IDS, *PAGING, op="tailored_audiences.permissions.list"),
            row("POST: granted_account_id (required), permission_level (required READ_ONLY or "
                "READ_WRITE); permission", "test_a_granted_account_sees_the_audience",
                "test_a_grant_that_may_not_be_is_refused",
                op="tailored_audiences.permissions.create"),
            row("DELETE /:tailored_audience_permission_id: none; permission with deleted true",
                "test_a_revoked_account_can_no_longer_target",
                op="tailored_audiences.permissions.delete"),
            row("Creating or revoking requires that the calling account owns the audience "
                "(is_owner "
                "in the audience record)", "test_only_the_owner_grants_and_revokes",
                "property/test_families_model.py::test_permissions_agree_with_a_plain_model"),
            row("Sharing works between ad accounts of one business, or when the owner has account "
                "feature SHARE_AUDIENCE_OUTSIDE_BUSINESS",
                "test_the_feature_opens_other_businesses",
                "test_a_grant_that_may_not_be_is_refused[FEATURE_NOT_AVAILABLE]"),
        ),
    ),
    Section(
        "Custom audiences",
        "operations/test_custom_audiences.py",
        (
            row("GET {ads_base_url}/12/accounts/:account_id/custom_audiences/:custom_audience_id/"
                "targeted. Parameters: with_active (boolean, default true; false also includes "
                "line items with servable=false), cursor",
                "test_targeted_shows_servable_line_items",
                "test_targeted_shows_all_without_with_active", "test_targeted_is_paged",
                "test_servable_follows_status_times_and_campaign", op="custom_audiences.targeted"),
            row("GET .../custom_audiences/:custom_audience_id/permissions exists",
                "test_permissions_have_the_custom_audience_id",
                "test_permissions_take_the_filters_of_version_5",
                op="custom_audiences.permissions.list"),
            row("POST {ads_base_url}/12/accounts/:account_id/custom_audiences/:custom_audience_id/"
                "users (batch, JSON body)", "test_users_are_stored_with_defaults",
                "test_a_body_must_be_json", JSON, op="custom_audiences.users"),
            row("Body is an array of operations", "test_request_level_faults_stand_under_errors"),
            row("operation_type: required: Update, Delete",
                "test_a_bad_item_refuses_the_whole_batch[operation_type is required]",
                "test_a_bad_item_refuses_the_whole_batch[operation_type is Update or Delete]",
                "test_delete_takes_users_out_by_any_identifier"),
            row("params: required: holds users, effective_at, expires_at",
                "test_a_bad_item_refuses_the_whole_batch[params is required]"),
            row("params.users: required, one object per user",
                "test_a_bad_item_refuses_the_whole_batch[users is required]",
                "test_a_bad_item_refuses_the_whole_batch[a user is an object]"),
            row("params.effective_at: optional, ISO 8601 UTC, default now",
                "test_users_are_stored_with_defaults",
                "test_a_bad_item_refuses_the_whole_batch[times are ISO 8601]"),
            row("params.expires_at: optional, ISO 8601 UTC, later than effective_at, default 13 "
                "months after the request", "test_users_are_stored_with_defaults",
                "test_dates_just_inside_are_taken",
                "test_a_bad_item_refuses_the_whole_batch[expiry is after effective]",
                "operations/test_do_not_reach_lists.py::test_thirteen_months_are_calendar_months"),
            row("Each user object has optional arrays: email, device_id (IDFA, AdID or Android "
                "ID), handle, platform_id (the platform user ID), phone_number, partner_user_id",
                "test_each_identifier_is_taken",
                "test_a_bad_item_refuses_the_whole_batch[identifiers are known]",
                "test_a_bad_item_refuses_the_whole_batch[identifiers are arrays]"),
            row("Every value except partner_user_id must be normalized and hashed with SHA256 "
                "(lowercase hex in the sample)", "test_each_identifier_is_taken",
                "test_a_bad_item_refuses_the_whole_batch[email is hashed]",
                "test_a_bad_item_refuses_the_whole_batch[device_id is hashed]",
                "test_a_bad_item_refuses_the_whole_batch[handle is hashed]",
                "test_a_bad_item_refuses_the_whole_batch[platform_id is hashed]",
                "test_a_bad_item_refuses_the_whole_batch[phone is hashed]"),
            row("Several identifier types may be supplied per user",
                "test_users_are_stored_with_defaults"),
            row("Response data: {success_count, total_count}; they must be equal",
                "test_counts_are_of_users", "test_users_are_stored_with_defaults"),
            row("Batch errors: request-level problems appear under errors; item-level problems "
                "under operation_errors, whose index refers to the input item, with its message",
                "test_request_level_faults_stand_under_errors",
                "test_a_bad_item_refuses_the_whole_batch"),
            row("Batches succeed or fail as a group and responses keep request order",
                "test_a_bad_item_refuses_the_whole_batch", "test_operations_are_applied_in_order",
                "property/test_uploads_model.py::test_audience_users_agree_with_a_plain_model"),
        ),
    ),
    Section(
        "Do-not-reach lists",
        "operations/test_do_not_reach_lists.py",
        (
            row("POST {ads_base_url}/12/batch/accounts/:account_id/do_not_reach_lists/"
                ":do_not_reach_list_id/users. JSON array of operations with operation_type (Update "
                "or Delete, required) and params", "test_a_batch_answers_per_operation",
                "test_a_bad_item_refuses_the_whole_batch", JSON, op="do_not_reach_lists.users"),
            row("users (array of objects with arrays email and phone_number, hashed)",
                "test_only_email_and_phone_number_are_taken",
                "test_a_bad_item_refuses_the_whole_batch[users[0].phone_number[0]]"),
            row("expires_at (ISO 8601 UTC; listed both as required and, for users, as optional "
                "with a default of 13 months, and must be later than now)",
                "test_expiry_is_later_than_now_and_within_13_months",
                "test_expiry_defaults_to_13_months"),
            row("Response data: array of {success_count, total_count}; request: array of echoed "
                "params and operation_type", "test_a_batch_answers_per_operation"),
            row("Same batch error handling as above", "test_a_bad_item_refuses_the_whole_batch",
                "test_request_level_faults_stand_under_errors"),
            row("DELETE {ads_base_url}/12/accounts/:account_id/do_not_reach_lists/"
                ":do_not_reach_list_id. No parameters. Returns the list with deleted true",
                "test_a_list_is_deleted_once", op="do_not_reach_lists.delete"),
        ),
    ),
)  # fmt: skip
