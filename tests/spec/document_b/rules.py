"""Document B: what the service does, states, conventions, authentication, errors, versions."""

from tests.spec.document_b.common import CONVENTIONS, CREATIVES, PAGING, SETS
from tests.spec.table import Section, beyond, row

ITEMS = "operations/test_line_items.py::"
CATALOGS = "operations/test_product_catalogs.py::"
AUDIENCES = "operations/test_custom_audiences.py::"
TAILORED = "operations/test_tailored_audiences.py::"
LINKS = "operations/test_line_item_curated_categories.py::"

RULES = (
    Section(
        "What the service does",
        "spec/test_document_b.py",
        (
            row("Most paths begin with /12; tailored audience permission paths begin with /5",
                f"{CONVENTIONS}test_the_version_is_part_of_the_path"),
            row("Sandbox-only operations are marked",
                f"{CONVENTIONS}test_four_operations_are_sandbox_only",
                f"{CONVENTIONS}test_sandbox_operations_are_only_there"),
            row("{ads_base_url} is the advertising base address and {ads_sandbox_base_url} its "
                "sandbox counterpart",
                f"{CONVENTIONS}test_the_sandbox_address_serves_the_same",
                "test_platform.py::test_the_sandbox_address_shares_the_records"),
            row("The brand word inside identifiers and enumerated values is replaced by "
                "'platform', and the short public message is 'post'",
                f"{CONVENTIONS}test_names_are_neutral"),
        ),
    ),
    Section(
        "States and transitions",
        "operations/test_line_items.py",
        (
            row("Product set (FILTERED), create: status reported in response; MANUAL sets report "
                "DONE", f"{SETS}test_processing_takes_time_when_it_is_asked_to",
                f"{SETS}test_processing_can_fail", f"{SETS}test_filters_really_select",
                f"{SETS}test_a_manual_set_holds_the_given_products"),
            row("Product set (FILTERED), PUT: rejected: updating FILTERED sets is unsupported",
                f"{SETS}test_only_manual_sets_are_updated"),
            row("Line item, entity_status: ACTIVE, PAUSED; PUT with entity_status; the given value",
                "test_what_the_table_allows_is_taken[entity_status]"),
            row("Line item, DELETE: irreversible; repeated delete returns HTTP 404",
                "test_a_delete_is_irreversible_and_happens_once"),
            row("Line item, DELETE: child promoted posts are not cascaded and stay deleted=false",
                "test_a_delete_is_irreversible_and_happens_once"),
            row("Tailored audience permission, DELETE, owner account: deleted true",
                f"{TAILORED}test_a_revoked_account_can_no_longer_target",
                f"{TAILORED}test_only_the_owner_grants_and_revokes"),
            row("granted account can no longer target the audience in future campaigns",
                f"{TAILORED}test_a_revoked_account_can_no_longer_target"),
            row("running campaigns continue",
                f"{TAILORED}test_running_campaigns_continue_after_a_revocation"),
            beyond("the campaign cannot be copied afterwards",
                   "no operation of the document copies a campaign"),
            row("Account media, media library object, account, curated category link, DELETE: "
                "record returned with deleted true", f"{CREATIVES}test_with_deleted",
                "operations/test_accounts.py::TestDelete::test_stays_as_deleted",
                f"{LINKS}test_a_link_is_created_changed_and_deleted"),
            row("Product catalog, product, DELETE: removed, permanent",
                f"{CATALOGS}test_a_catalog_is_created_renamed_and_deleted_for_good",
                f"{CATALOGS}test_deletes_are_permanent_and_reported_per_key"),
            row("Poll card, DELETE: hard delete, cannot be retrieved",
                "operations/test_cards_poll.py::test_hard_delete"),
            row("poll cards cannot be updated", "operations/test_cards_poll.py::test_no_update",
                "operations/test_cards.py::TestPaths::test_poll_cards_cannot_be_updated"),
            row("Product upsert result per item: status enum CREATE_SUCCESS, UPDATE_SUCCESS, "
                "ERROR, NO_CHANGE", f"{CATALOGS}test_unknown_ids_create_and_known_ids_update",
                f"{CATALOGS}test_what_the_table_forbids_is_an_error_of_the_item"),
        ),
    ),
    Section(
        "Common conventions",
        "spec/test_conventions.py",
        (
            row("Responses are JSON with request.params (echo of parameters), data",
                "test_answers_are_json_with_what_was_sent"),
            row("for lists next_cursor (null at the end)", "test_the_default_count",
                f"{CREATIVES}test_small_pages_add_up_to_the_whole", *PAGING),
            row("Lists accept cursor for the next page, count (integer, default and bounds per "
                "endpoint)", "test_the_default_count", "test_the_bounds_of_count",
                "test_every_list_is_here"),
            row("sort_by (attribute with ascending or descending order)",
                "test_sort_by_both_ways", *PAGING),
            row("with_deleted (boolean, default false)", f"{CREATIVES}test_with_deleted",
                "operations/test_accounts.py::TestList::test_with_deleted"),
            row("with_total_count (boolean, default false; adds total_count; exclusive with "
                "cursor; such requests have a lower limit, currently 200 per 15 minutes)",
                "test_with_total_count", "test_the_total_is_limited_to_200_in_15_minutes"),
            row(":account_id identifies the ad account and must be associated with the "
                "authenticated user", "test_the_account_is_associated_with_the_user"),
            row("Creation and update parameters for simple endpoints are sent as query parameters",
                "operations/test_accounts.py::TestUpdate::test_name",
                f"{LINKS}test_a_new_link_stands_in_the_list",
                "operations/test_media_library.py::test_add_image"),
            row("endpoints marked JSON take a JSON body with Content-Type application/json",
                "test_json_endpoints_take_json", "test_the_endpoints_marked_json"),
        ),
    ),
    Section(
        "Authentication",
        "spec/test_conventions.py",
        (
            row("Every account-scoped request needs an ad account associated with the "
                "authenticated user", "test_the_account_is_associated_with_the_user"),
            row("Posting on behalf of an advertiser uses as_user_id and needs the advertiser's "
                "grant to the caller's handle in the ads console",
                "operations/test_post.py::TestUser::test_granted",
                "operations/test_post.py::TestUser::test_no_grant"),
            row("Catalog endpoints and account history need early access or allowlisting",
                "test_catalogs_need_early_access",
                "operations/test_account_history.py::TestGate::test_allowlist"),
            row("Sandbox operations are only on the sandbox address",
                "test_sandbox_operations_are_only_there"),
            row("The credential scheme used by the advertising endpoints: not shown",
                "test_credentials_are_needed",
                "test_platform.py::test_bearer_is_refused_where_only_oauth1_is_asked_for",
                "live/test_ads_sdk.py::test_accounts_are_listed_and_loaded",
                "live/test_node_ads.py::test_reads_pages_and_features"),
        ),
    ),
    Section(
        "Errors",
        "operations/test_custom_audiences.py",
        (
            row("Batch uploads report request-level errors under errors and item-level errors "
                "under operation_errors with the input index",
                "test_request_level_faults_stand_under_errors",
                "test_a_bad_item_refuses_the_whole_batch",
                "operations/test_do_not_reach_lists.py::test_a_bad_item_refuses_the_whole_batch",
                "operations/test_do_not_reach_lists.py::"
                "test_request_level_faults_stand_under_errors"),
            row("Product upsert reports per-item warnings and errors arrays and status ERROR",
                f"{CATALOGS}test_what_the_table_forbids_is_an_error_of_the_item",
                f"{CATALOGS}test_an_unknown_field_is_a_warning"),
            row("Repeated DELETE of a line item returns HTTP 404",
                f"{ITEMS}test_a_delete_is_irreversible_and_happens_once",
                "live/test_ads_sdk.py::test_a_line_item_is_loaded_saved_and_deleted"),
            row("Updating a FILTERED product set is unsupported",
                f"{SETS}test_only_manual_sets_are_updated"),
            row("Error body format and HTTP status codes for other failures: not shown",
                "live/test_ads_sdk.py::test_400_names_every_parameter",
                "live/test_ads_sdk.py::test_401_for_a_wrong_secret",
                "live/test_ads_sdk.py::test_403_for_an_account_of_somebody_else",
                "live/test_ads_sdk.py::test_404_by_family",
                "live/test_ads_sdk.py::test_429_is_raised_and_tried_again_after_a_delay",
                "test_platform.py::test_an_unknown_path_answers_in_its_dialect"),
        ),
    ),
    Section(
        "Versioning",
        "spec/test_conventions.py",
        (
            row("The version is part of the path: 12 for most endpoints, 5 for tailored audience "
                "permissions", "test_the_version_is_part_of_the_path",
                f"{TAILORED}test_another_version_is_no_route"),
            row("The conversation_settings parameter works from version 8 upward",
                "operations/test_post.py::test_conversation_settings",
                "test_the_version_is_part_of_the_path"),
        ),
    ),
    Section(
        "Not shown",
        "spec/test_conventions.py",
        (
            row("Endpoints not shown in this document: scheduled feeds, scheduled posts, draft "
                "posts, promoted video operations, media creatives listing parameters, campaign, "
                "funding instrument, promoted post and targeting criteria operations, and line "
                "item create and list", "test_endpoints_that_are_not_shown_do_not_exist",
                f"{ITEMS}test_line_items_are_listed_and_filtered"),
            row("Parameters of the product set update after description, and any scheduled feed "
                "endpoints: not shown", f"{SETS}test_only_manual_sets_are_updated",
                "test_endpoints_that_are_not_shown_do_not_exist"),
            row("Parameters and response of GET custom audience permissions: not shown",
                f"{AUDIENCES}test_permissions_have_the_custom_audience_id"),
            row("Parameters of this update after poster_media_key: not shown",
                "operations/test_cards_video_conversation.py::test_update"),
            row("Audience estimate response shape: not shown",
                "operations/test_audience_estimate.py::TestRequest::test_shape",
                "operations/test_audience_estimate.py::TestRequest::test_strict"),
            row("Rate limits of other endpoints: not shown",
                "test_platform.py::test_limits_can_be_switched_off_and_up"),
            row("Transitions: not shown for account approval_status, media_status, campaign status "
                "and other statuses beyond those in the table",
                "operations/test_media_library.py::TestTranscoding::test_by_default",
                "operations/test_media_library.py::TestTranscoding::test_by_time",
                "operations/test_accounts.py::TestUpdate::test_read_only"),
            beyond("Fields of scheduled feeds, scheduled posts, draft posts, promoted video "
                   "records, media creatives, campaigns, funding instruments, promoted posts, "
                   "targeting criteria, tailored audiences and custom audiences: not shown beyond "
                   "identifiers and the few fields quoted elsewhere here",
                   "their records have the shape of the public facts and no operation serves them"),
            beyond("Events emitted by the advertising interface: not shown", "it emits none"),
            beyond("Version retirement policy: not shown", "one version of each path is served"),
            beyond("if the number of records sent differs from them, treat it as an error and "
                   "retry",
                   "what a client does with the counts is its own business"),
        ),
    ),
    Section(
        "What public facts and settled questions add",
        "operations/test_cards_poll.py",
        (
            row("Numbers of poll cards and sizes of conversation cards are strings, unset choices "
                "are left out", "test_text_poll", "test_video_poll",
                "operations/test_cards_video_conversation.py::test_create"),
            row("Poll and conversation cards echo a card_type that nobody sends", "test_echo",
                "operations/test_cards_video_conversation.py::test_create"),
            row("A single card may stand in an array",
                "operations/test_cards.py::test_envelope_as_array"),
            row("Comma lists are echoed as arrays, numbers and booleans natively, defaults not",
                "operations/test_accounts.py::TestList::test_by_ids",
                "operations/test_accounts.py::TestList::test_count_within",
                f"{CONVENTIONS}test_the_default_count"),
            row("sort_by is echoed as a list", "operations/test_accounts.py::TestList::test_sort"),
            row("JSON endpoints echo path parameters alone, product sets their whole body, "
                "products "
                "their keys, the estimate null",
                "operations/test_cards.py::TestCreate::test_answer",
                f"{SETS}test_a_manual_set_holds_the_given_products",
                f"{CATALOGS}test_deletes_are_permanent_and_reported_per_key",
                "operations/test_audience_estimate.py::TestRequest::test_shape"),
            row("A catalog's own key is echoed as id",
                f"{CATALOGS}test_a_catalog_is_created_renamed_and_deleted_for_good",
                f"{SETS}test_a_set_is_read_with_its_own_id_echoed"),
            row("The batch of a do-not-reach list echoes params without users",
                "operations/test_do_not_reach_lists.py::test_a_batch_answers_per_operation"),
            row("entity_type of the account history is echoed as entity",
                "operations/test_account_history.py::TestEntries::test_entity_echo"),
            row("Curated categories always tell their total",
                "operations/test_curated_categories.py::TestList::test_shape"),
            row("An empty value on PUT unsets an optional field",
                f"{ITEMS}test_an_empty_value_unsets_an_optional_field",
                "operations/test_media_library.py::test_update"),
            row("Parameters of a write may stand in a form",
                f"{ITEMS}test_parameters_are_taken_from_a_form_as_well"),
            row("Unknown, read-only and repeated parameters are ignored with a warning",
                f"{ITEMS}test_a_whole_record_can_be_sent_back",
                "live/test_ads_sdk.py::test_saving_what_was_loaded_changes_nothing"),
            row("Static segments win over ids: PUT cards/poll is no card of the id poll",
                "operations/test_cards.py::TestPaths::test_no_card_has_such_an_id"),
            row("Catalog and set shapes that are not shown are refused by --strict",
                f"{SETS}test_a_set_is_deleted_for_good",
                "operations/test_custom_audiences.py::test_permissions_have_the_custom_audience_id",
                "operations/test_audience_estimate.py::TestRequest::test_strict",
                "operations/test_cards.py::TestDelete::test_strict"),
        ),
    ),
)  # fmt: skip
