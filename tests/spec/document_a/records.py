"""Document A, "Resources and fields"."""

from tests.spec.document_a.common import (
    BEARER,
    DESCRIBED,
    EXCHANGE,
    OAUTH,
    PROBLEMS,
    REPLAY,
    RUN,
    SCENARIOS,
)
from tests.spec.table import Row, Section, beyond, row

BUILT = "test_each_type_can_be_built_and_served"
FIELDS = "test_the_types_are_those_of_the_document"
REQUIRED = "test_required_extra_fields_are_demanded"
REFUSED = "test_extra_fields_outside_the_document_are_refused"
VALUES = "spec/test_document_a.py::test_extra_fields_take_the_documented_values"


def problem(says: str, *more: str) -> Row:
    """One row of the table of problem types."""
    return row(says, FIELDS, BUILT, SCENARIOS, *more)


RECORDS = (
    Section(
        "Replay job create request",
        "operations/test_webhooks.py",
        (
            row("JSON body, Content-Type application/json",
                "TestRefused::test_another_content_type_is_refused",
                "TestRefused::test_parameters_of_the_content_type_do_not_matter",
                "TestRefused::test_a_body_that_is_no_object_is_refused"),
            row("webhook_id: yes: Webhook config identifier, pattern ^[0-9]{1,19}$",
                "TestCreated::test_a_webhook_id_has_1_to_19_digits",
                "TestRefused::test_other_webhook_ids_are_refused",
                "TestRefused::test_everything_missing_is_told_at_once"),
            row("from_date: yes: UTC timestamp, inclusive, format yyyymmddhhmm, pattern "
                "^[0-9]{12}$", "TestRefused::test_dates_have_exactly_12_digits",
                "TestRefused::test_dates_must_exist",
                "TestRefused::test_everything_missing_is_told_at_once",
                f"{RUN}TestWhatArrives::test_from_date_is_inside_and_to_date_outside"),
            row("to_date: yes: UTC timestamp, format yyyymmddhhmm, pattern ^[0-9]{12}$",
                "TestRefused::test_dates_have_exactly_12_digits",
                "TestRefused::test_everything_missing_is_told_at_once"),
            row("The description given for to_date repeats that of from_date; its exact role as "
                "the end of the window: not shown",
                f"{RUN}TestWhatArrives::test_from_date_is_inside_and_to_date_outside",
                "TestRefused::test_dates_out_of_order_are_refused"),
        ),
    ),
    Section(
        "Replay job create response (HTTP 200, application/json)",
        "operations/test_webhooks.py",
        (
            row("job_id: yes: Identifier of the created replay job",
                "TestCreated::test_the_answer_is_flat",
                "TestCreated::test_the_job_stands_in_its_table"),
            row("created_at: yes: date-time, UTC, ISO 8601 with milliseconds",
                "TestCreated::test_the_answer_is_flat"),
        ),
    ),
    Section(
        "Webhook config id",
        "operations/test_webhooks.py",
        (
            row("A string of 1 to 19 digits", "TestCreated::test_a_webhook_id_has_1_to_19_digits",
                "TestRefused::test_other_webhook_ids_are_refused"),
            beyond("Fields of the webhook configuration record beyond its identifier: not shown",
                   "the record has the shape of the public facts and no operation serves it"),
        ),
    ),
    Section(
        "Error object (media type application/json)",
        "scenario/test_effects.py",
        (
            row("code: integer (int32)", "test_errors_under_2", DESCRIBED),
            row("message: string", "test_errors_under_2", DESCRIBED),
        ),
    ),
    Section(
        "Problem object (media type application/problem+json, modelled on RFC 7807)",
        "core/test_problems.py",
        (
            row("type: yes (discriminator)", BUILT, SCENARIOS, DESCRIBED),
            row("title: string: yes", BUILT, SCENARIOS),
            row("detail: string: no", BUILT),
            row("status: integer: no", BUILT, SCENARIOS),
            row("Type values have the form {base_url}/2/problems/<slug>, plus the value "
                "about:blank for the generic problem", BUILT, FIELDS,
                f"{REPLAY}TestConflict::test_another_world_is_free"),
            problem("about:blank: Generic, only the HTTP status applies: none",
                    f"{REPLAY}TestWhoMay::test_without_a_bearer_token_it_is_unauthorized"),
            problem("client-disconnected: The client has gone away: none"),
            problem("client-forbidden: Client forbidden from making the request: reason (enum: "
                    "official-client-forbidden, client-not-enrolled); registration_url (string, "
                    "uri)", VALUES),
            problem("conflict: A new job cannot be created while one is in progress: none",
                    f"{REPLAY}TestConflict::test_a_second_job_is_a_conflict"),
            problem("disallowed-resource: Requested resource violates API precepts: required: "
                    "resource_id (string), resource_type (enum user, tweet-as-post, media, list, "
                    "space), section (enum data, includes)", REQUIRED, REFUSED, VALUES),
            problem("duplicate-rules: Submitted rule is a duplicate: id (string), value (string)"),
            problem("invalid-request: Request is invalid: errors (array, at least 1 item, each "
                    "with message string and parameters, an object mapping a name to an array of "
                    "strings)", f"{REFUSED}[A minimum of 1 items]",
                    f"{REPLAY}TestRefused::test_everything_missing_is_told_at_once"),
            problem("invalid-rules: Submitted rule is invalid: none"),
            problem("noncompliant-rules: The user's rule set is not compliant: none"),
            problem("not-authorized-for-field: Not allowed to see a field: required: field "
                    "(string), resource_type (enum as above), section (enum data, includes)",
                    REQUIRED, VALUES),
            problem("not-authorized-for-resource: Not allowed to see a resource: required: value, "
                    "resource_id, resource_type (enum as above), section (enum data, includes), "
                    "parameter", REQUIRED, VALUES),
            problem("operational-disconnect: Disconnected for operational reasons: disconnect_type "
                    "(enum: OperationalDisconnect, UpstreamOperationalDisconnect, ForceDisconnect, "
                    "UpstreamUncleanDisconnect, SlowReader, InternalError, "
                    "ClientApplicationStateDegraded, InvalidRules)", REFUSED, VALUES),
            problem("resource-not-found: Resource does not exist: required: parameter (string, min "
                    "length 1), value (string, matches the field's schema), resource_id (string), "
                    "resource_type (enum user, post, media, list, space, place, poll)", REQUIRED,
                    VALUES, f"{REFUSED}[A minimum of 1 characters must be provided for parameter]",
                    f"{REPLAY}TestWhoMay::test_an_unknown_webhook_is_not_found"),
            problem("resource-unavailable: Resource not available to the caller: required: "
                    "parameter (min length 1), resource_id, resource_type (enum user, post, media, "
                    "list, space)", REQUIRED, VALUES, REFUSED),
            problem("rule-cap: Maximum number of rules exceeded: none"),
            problem("streaming-connection: Connection problem: connection_issue (enum: "
                    "TooManyConnections, ProvisioningSubscription, RuleConfigurationIssue, "
                    "RulesInvalidIssue)", REFUSED, VALUES),
            problem("unsupported-authentication: The authentication used is not supported: none",
                    f"{REPLAY}TestWhoMay::test_a_users_token_is_not_supported"),
            problem("usage-capped: A usage cap was exceeded: period (enum Daily, Monthly); scope "
                    "(enum Account, Product)", REFUSED, VALUES,
                    "scenario_library/test_problems.py::test_usage_caps_of_all_kinds"),
            row("each type exists, and no other one", FIELDS,
                f"{PROBLEMS}test_an_unknown_slug_names_the_nearest"),
        ),
    ),
    Section(
        "Credential payloads",
        "operations/test_oauth.py",
        (
            row("Request token: oauth_token, oauth_token_secret, oauth_callback_confirmed (literal "
                "true)", "test_request_token_answers_with_the_request_token_payload"),
            row("Access token: oauth_token, oauth_token_secret, user_id, screen_name",
                f"{EXCHANGE}test_access_token_answers_with_the_access_token_payload"),
            row("Bearer token: token_type (value 'bearer'), access_token",
                f"{BEARER}test_token_answers_with_the_bearer_token_payload"),
            row("Access token invalidation: access_token (JSON)",
                f"{EXCHANGE}test_invalidate_token_answers_with_the_token"),
            row("Request token and access token responses are bodies of name=value pairs joined by "
                "&", "test_request_token_answers_with_the_request_token_payload",
                f"{EXCHANGE}test_access_token_answers_with_the_access_token_payload",
                f"{OAUTH}test_request_tokens_have_the_public_shape"),
        ),
    ),
)  # fmt: skip
