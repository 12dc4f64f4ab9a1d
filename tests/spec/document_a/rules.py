"""Document A: states, authentication, events, errors, versions."""

from tests.spec.document_a.common import (
    BEARER,
    BROWSER,
    CLIENTS,
    DELIVERY,
    ENVELOPE,
    EVENTS,
    EXCHANGE,
    OAUTH,
    ONLY_NAMED,
    REFUSALS,
    REPLAY,
    RETIRED,
    RUN,
    SCENARIOS,
)
from tests.spec.table import Section, beyond, row

NOT_SERVED = "an endpoint that is only named in the release history, of no shown shape"

RULES = (
    Section(
        "States and transitions",
        "operations/test_oauth_exchange.py",
        (
            row("Replay job states and transitions: not shown",
                f"{DELIVERY}TestProgressions::test_time_waits_for_the_worlds_clock",
                f"{DELIVERY}TestProgressions::test_immediate_ends_with_the_last_attempt",
                f"{DELIVERY}TestProgressions::test_manual_waits_to_be_moved"),
            row("while a job is in progress a new job cannot be created (problem type conflict)",
                f"{REPLAY}TestConflict::test_a_second_job_is_a_conflict",
                f"{REPLAY}TestConflict::test_a_job_that_ended_is_in_nobodys_way"),
            row("(none): POST oauth/request_token: valid signed request with oauth_callback: "
                "request token issued: response carries oauth_callback_confirmed=true",
                f"{OAUTH}test_request_token_answers_with_the_request_token_payload",
                f"{OAUTH}test_oauth_callback_is_required",
                f"{OAUTH}test_wrong_keys_are_refused_and_told_apart"),
            row("request token issued: POST oauth/access_token: oauth_token matches the one issued "
                "and the verifier (callback value, or PIN in out-of-band mode) is supplied: access "
                "token issued: returns user_id and screen_name",
                "test_access_token_answers_with_the_access_token_payload",
                "test_a_request_token_that_nobody_allowed_has_no_verifier",
                "test_a_request_token_is_exchanged_once",
                "test_the_token_must_be_the_one_that_was_issued"),
            row("access token issued: POST oauth/invalidate_token: user-context request signed "
                "with that token: invalidated: later use returns HTTP 401 with code 89; a new "
                "creation yields a different token",
                "test_an_invalidated_token_answers_401_with_code_89",
                "test_a_new_creation_yields_a_different_token",
                "test_invalidate_token_needs_the_user_context_of_that_token"),
            row("(none or invalidated): POST oauth2/token: Basic auth with API key and secret, "
                "grant_type=client_credentials: bearer token issued: only one outstanding bearer "
                "token per app; repeat calls return the same token",
                f"{BEARER}test_an_app_has_one_outstanding_bearer_token",
                f"{BEARER}test_token_answers_with_the_bearer_token_payload"),
            row("bearer token issued: POST oauth2/invalidate_token: client credentials presented: "
                "invalidated: a new creation yields a different token; the old one is no longer "
                "usable", f"{BEARER}test_a_revoked_token_is_no_longer_usable",
                f"{BEARER}test_a_new_creation_yields_a_different_token"),
        ),
    ),
    Section(
        "Authentication",
        "operations/test_oauth.py",
        (
            row("HTTP bearer token: POST /2/webhooks/replay: Authorization: Bearer <BEARER_TOKEN>",
                f"{REPLAY}TestCreated::test_the_answer_is_flat",
                f"{REPLAY}TestWhoMay::test_without_a_bearer_token_it_is_unauthorized"),
            row("OAuth 1.0a, three-legged: oauth endpoints, user-context calls",
                f"{CLIENTS}test_tweepy_with_a_callback",
                "live/test_ads_sdk.py::test_accounts_are_listed_and_loaded"),
            row("Header Authorization: OAuth with oauth_consumer_key, oauth_nonce (ASCII), "
                "oauth_signature, oauth_signature_method (HMAC-SHA1), oauth_timestamp, oauth_token "
                "(when a token exists), oauth_version (1.0), oauth_callback (request_token step "
                "only)", "core/test_oauth1.py::test_vendor_example",
                "core/test_oauth1.py::test_missing_or_empty",
                "core/test_oauth1.py::test_signature_method", "core/test_oauth1.py::test_version",
                "core/test_oauth1.py::test_nonce_limits",
                "test_signatures_other_than_hmac_sha1_are_refused"),
            row("Steps: request_token, authorize or authenticate, access_token",
                f"{CLIENTS}test_requests_oauthlib",
                "test_the_flow_runs_over_https_where_it_is_required"),
            row("OAuth 2.0 app-only: app context: Bearer token from oauth2/token via client "
                "credentials", f"{BEARER}test_token_answers_with_the_bearer_token_payload",
                "live/test_node_ads.py::test_app_login_and_a_problem"),
            beyond("OAuth 2.0 user context: v2 endpoints: Release history mentions PKCE and "
                   "fine-grained scopes", NOT_SERVED),
            row("All OAuth authorization steps must use HTTPS",
                "test_require_https_refuses_plain_http",
                "test_the_flow_runs_over_https_where_it_is_required",
                f"{CLIENTS}test_plain_http_is_refused_where_https_is_required"),
            beyond("When OAuth 1.0a permissions are present on an account activity subscription, "
                   "they override OAuth 2.0 scopes", NOT_SERVED),
            row("An app needing to create direct messages requires read, write and direct-message "
                "permissions. Without them the error is code 93",
                f"{REFUSALS}[direct-messages-not-permitted]"),
            row("Access token and secret are displayed only once at generation",
                f"{EXCHANGE}test_secrets_are_shown_once"),
            row("regenerating invalidates the previous pair",
                f"{EXCHANGE}test_a_regenerated_pair_invalidates_the_previous_one"),
            beyond("OAuth 2.0 scope names and consent rules: not shown", NOT_SERVED),
        ),
    ),
    Section(
        "Events",
        "core/test_release_history.py",
        (
            row("A webhook receives events. A replay job re-delivers the events delivered or "
                "attempted for that webhook within the chosen window, at most 24 hours back",
                f"{RUN}TestWhatArrives::test_the_window_arrives_in_order",
                f"{RUN}TestWhatArrives::test_only_attempted_events_of_the_webhook_arrive",
                f"{RUN}TestWhatArrives::test_from_date_is_inside_and_to_date_outside",
                f"{REPLAY}TestRefused::test_a_minute_too_old_is_refused"),
            row("The Activity interface delivers real-time events by persistent stream (GET "
                "/2/activity/stream) or by webhook",
                f"{EVENTS}test_an_added_event_is_kept_and_delivered", ONLY_NAMED),
            row("Subscriptions are managed at POST /2/activity/subscriptions", ONLY_NAMED),
            row("optionally by direction (values sent, received, or both) for direct-message and "
                "chat events",
                f"{ENVELOPE}test_direct_messages_have_the_direction_of_their_subscription"),
            row("dot-separated lowercase format effective 2026-03-18",
                "test_dotted_names_hold_from_the_naming_change_on",
                "test_an_event_type_holds_from_its_row_on",
                f"{EVENTS}test_names_follow_the_worlds_clock"),
            *(
                row(f"{name}: {meaning}",
                    "test_the_spec_names_twelve_event_types_and_five_former_names",
                    f"spec/test_document_a.py::test_the_event_types_of_the_document[{name}]")
                for name, meaning in (
                    ("profile.update.bio", "bio changed"),
                    ("profile.update.verified", "verification status changed"),
                    ("profile.update.affiliate", "affiliate badge changed"),
                    ("profile.update.screenname", "handle changed"),
                    ("post.create", "a user creates a post"),
                    ("post.delete", "a user deletes a post"),
                    ("spaces.start", "a Space starts"),
                    ("spaces.end", "a Space ends"),
                )
            ),
            row("dm.received, dm.sent, dm.read, dm.indicate_typing: legacy direct-message events",
                "spec/test_document_a.py::test_the_event_types_of_the_document[indicate_typing]",
                f"{ENVELOPE}test_direct_messages_have_the_direction_of_their_subscription"),
            row("The former PascalCase names ProfileBioUpdate, ProfilePictureUpdate, "
                "ProfileBannerUpdate, ProfileGeoUpdate and ProfileUrlUpdate are deprecated",
                "test_former_names_are_warned_of_once_they_are_deprecated",
                "test_the_spec_names_twelve_event_types_and_five_former_names",
                f"{EVENTS}test_a_deprecated_name_is_taken_with_a_warning"),
            beyond("participant_ids appears only on participants-join and participants-leave "
                   "events and lists only those who joined or left; message-create events no "
                   "longer carry it", "payloads are what the events of the world hold"),
            row("Event payload shapes: not shown",
                f"{ENVELOPE}test_an_event_goes_out_in_the_public_envelope"),
        ),
    ),
    Section(
        "Errors",
        "operations/test_oauth_exchange.py",
        (
            row("Replay request fails: Error object (code, message) or Problem object", SCENARIOS,
                "scenario/test_effects.py::test_errors_under_2"),
            row("Create replay job while one is in progress: Problem type conflict",
                f"{REPLAY}TestConflict::test_a_second_job_is_a_conflict",
                "scenario_library/test_others.py::test_replay_conflict_is_for_one_webhook"),
            row("Use of an invalidated access token: HTTP 401, body with errors array containing "
                "code 89 and message about an invalid or expired token",
                "test_an_invalidated_token_answers_401_with_code_89",
                f"{REPLAY}TestWhoMay::test_an_invalidated_token_has_code_89",
                "live/test_node_ads.py::test_v1_requests_in_user_context"),
            row("oauth2/token requested too frequently: HTTP 403, code 99",
                f"{BEARER}test_too_frequent_requests_are_403_with_code_99",
                f"{REFUSALS}[token-requests-too-frequent]"),
            row("App lacks direct-message permission: code 93",
                f"{REFUSALS}[direct-messages-not-permitted]"),
            row("Streaming connection limit: Problem type streaming-connection with "
                "connection_issue TooManyConnections", f"{SCENARIOS}[TooManyConnections]"),
            row("Mapping from problem types to HTTP status codes: not shown",
                "core/test_problems.py::test_each_type_can_be_built_and_served", SCENARIOS),
        ),
    ),
    Section(
        "Versioning",
        "core/test_openapi.py",
        (
            row("The v2 description is at version 2.166 and paths start with /2",
                "test_served_description_of_v2"),
            row("The token revocation endpoint is under /1.1. OAuth 2.0 endpoints are under "
                "/oauth2",
                f"{EXCHANGE}test_invalidate_token_answers_with_the_token",
                f"{BEARER}test_token_answers_with_the_bearer_token_payload",
                f"{BEARER}test_invalidate_token_describes_the_revoked_token"),
            row("brand word inside identifiers is replaced by the neutral word 'platform'",
                "spec/test_conventions.py::test_names_are_neutral",
                f"{RETIRED}test_before_its_end_it_answers_in_its_own_shape"),
            row("Numeric rate limits: not shown", f"{REPLAY}TestLimit::test_it_is_off_by_default",
                f"{OAUTH}test_oauth_endpoints_are_not_limited_by_default",
                f"{BROWSER}test_the_oauth_limit_counts_the_pages_of_an_app"),
        ),
    ),
)  # fmt: skip
