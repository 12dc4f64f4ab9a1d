"""The codes of failures: numbers for the OAuth and 1.1 interface, names for advertising.

Two tables: the codes of the spec and those of the public documentation. All code that raises,
renders, scripts or describes failures reads them. The `detail` texts of problems are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from msgspec import Struct


class NumericCode(Struct, frozen=True):
    """A numeric error of the OAuth and 1.1 interface."""

    code: int
    status: int
    message: str
    label: str | None = None
    documented: bool = False
    reason: str | None = None
    """The reason phrase of the status line, if it is not the standard one."""
    in_array: bool = False
    """Whether it is in an errors array under `/2` too, as on the other paths."""


_CODES = (
    NumericCode(17, 404, "No user matches for specified terms."),
    NumericCode(25, 400, "Query parameters are missing."),
    NumericCode(32, 401, "Could not authenticate you"),
    NumericCode(34, 404, "Sorry, that page does not exist"),
    NumericCode(38, 403, "A parameter is missing."),
    NumericCode(44, 400, "A parameter is invalid."),
    NumericCode(50, 404, "User not found."),
    NumericCode(63, 403, "User has been suspended."),
    NumericCode(64, 403, "Your account is suspended and is not permitted to access this feature."),
    NumericCode(68, 410, "The REST API v1 is no longer active."),
    NumericCode(87, 403, "Client is not permitted to perform this action."),
    NumericCode(88, 429, "Rate limit exceeded"),
    NumericCode(
        89, 401, "Invalid or expired token.", documented=True, reason="Authorization Required"
    ),
    NumericCode(92, 403, "SSL is required"),
    NumericCode(
        93,
        403,
        "This application is not allowed to access or delete your direct messages.",
        documented=True,
        in_array=True,
    ),
    NumericCode(
        99, 403, "Unable to verify your credentials", "authenticity_token_error", documented=True
    ),
    NumericCode(104, 403, "You aren't allowed to add members to this list."),
    NumericCode(108, 403, "Cannot find specified user."),
    NumericCode(109, 403, "The specified user is not a subscriber of this list."),
    NumericCode(112, 400, "You must specify either a list ID or a slug and owner."),
    NumericCode(130, 503, "Over capacity"),
    NumericCode(131, 500, "Internal error"),
    NumericCode(135, 401, "Timestamp out of bounds."),
    NumericCode(136, 403, "You have been blocked from the author of this Post."),
    NumericCode(139, 403, "You have already favorited this status."),
    NumericCode(144, 404, "No status found with that ID."),
    NumericCode(158, 403, "You can't follow yourself."),
    NumericCode(160, 403, "You've already requested to follow this user."),
    NumericCode(161, 403, "You are unable to follow more people at this time."),
    NumericCode(162, 403, "You have been blocked from following this account."),
    NumericCode(170, 403, "Missing required parameter."),
    NumericCode(172, 403, "You already have the maximum of 25 saved searches."),
    NumericCode(179, 403, "Sorry, you are not authorized to see this status."),
    NumericCode(183, 403, "You may not delete another user's status."),
    NumericCode(185, 403, "User is over daily status update limit."),
    NumericCode(186, 403, "Post needs to be a bit shorter."),
    NumericCode(187, 403, "Status is a duplicate."),
    NumericCode(195, 403, "Missing or invalid url parameter."),
    NumericCode(214, 400, "Webhook URL does not meet the requirements."),
    NumericCode(215, 400, "Bad Authentication data."),
    NumericCode(220, 403, "Your credentials do not allow access to this resource"),
    NumericCode(
        226, 403, "This request looks like it might be automated. We can't complete this action."
    ),
    NumericCode(231, 403, "User must verify login"),
    NumericCode(251, 410, "This endpoint has been retired and should not be used."),
    NumericCode(261, 403, "Application cannot perform write actions."),
    NumericCode(271, 403, "You can't mute yourself."),
    NumericCode(272, 403, "You are not muting the specified user."),
    NumericCode(324, 400, "The validation of media ids failed."),
    NumericCode(325, 400, "A media id was not found."),
    NumericCode(326, 403, "To protect our users, this account is temporarily locked."),
    NumericCode(327, 403, "You have already reposted this Post."),
    NumericCode(349, 403, "You cannot send messages to this user."),
    NumericCode(354, 403, "The text of your direct message is over the max character limit."),
    NumericCode(355, 409, "Subscription already exists."),
    NumericCode(
        385, 403, "You attempted to reply to a Post that is deleted or not visible to you."
    ),
    NumericCode(386, 403, "The Post exceeds the number of allowed attachment types."),
    NumericCode(407, 403, "The given URL is invalid."),
    NumericCode(415, 403, "Callback URL not approved for this client application."),
    NumericCode(416, 401, "Invalid / suspended application"),
    NumericCode(417, 401, "Desktop applications only support the oauth_callback value 'oob'"),
    NumericCode(433, 403, "The original Post author restricted who can reply to this Post."),
)
NUMERIC_CODES: Mapping[int, NumericCode] = {entry.code: entry for entry in _CODES}
"""All numeric codes of the spec and of the public table."""

ADS_STATUS: Mapping[str, int] = {
    code: status
    for status, codes in {
        400: "DUPLICATE_POST EXCLUSIVE_PARAMETERS FEATURE_NOT_AVAILABLE ILLEGAL_CHARACTERS "
        "INCLUSIVE_PARAMETERS INCOMPATIBLE_LINE_ITEM INVALID_DENOMINATION "
        "INVALID_FUNDING_INSTRUMENT INVALID_IMAGE "
        "INVALID_MEDIA INVALID_MEDIA_ID INVALID_PARAMETER INVALID_PLACEMENT_TYPE "
        "INVALID_TAILORED_AUDIENCE_TYPE INVALID_TARGETING_TYPE INVALID_TIME_WINDOW "
        "INVALID_TV_SHOW_LOCATIONS INVALID_POST INVALID_USER INVALID_USER_ID MISSING_PARAMETER "
        "REQUEST_TOO_COMPLEX SPEND_EXCEEDS_BUDGET TOO_MANY_CAMPAIGNS TOO_MANY_LINE_ITEMS "
        "TV_SHOW_OUTSIDE_MARKET POST_CANNOT_BE_BLANK UNKNOWN_CARD_TYPE UNKNOWN_CRITERIA_TYPE "
        "SCHEDULED_POST_LIMIT_EXCEEDED",
        401: "UNAUTHORIZED_ACCESS",
        403: "ACCOUNT_LOCKED_OUT ACCOUNT_NOT_FOUND ACTION_NOT_ALLOWED CURRENT_USER_SUSPENDED "
        "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED FUNDING_INSTRUMENT_EXCEEDS_AVAILABLE_CREDIT_LIMIT "
        "GENERIC_POST_ERROR MALWARE_STATUS READONLY_CLIENT_APPLICATION POST_IS_SPAM "
        "UNAUTHORIZED_CLIENT_APPLICATION USER_NOT_FOUND",
        404: "ACCOUNT_MEDIA_NOT_FOUND APP_EVENT_PROVIDER_CONFIGURATION_NOT_FOUND "
        "APP_EVENT_TAG_NOT_FOUND BEHAVIOR_OR_BEHAVIOR_EXPANDED_NOT_FOUND CAMPAIGN_NOT_FOUND "
        "CARD_NOT_FOUND FUNDING_INSTRUMENT_NOT_FOUND INVALID_APP_ID INVALID_APP_STORE "
        "INVALID_IAB_CATEGORY INVALID_ID_ILLEGAL_CHARACTERS LINE_ITEM_APP_NOT_FOUND "
        "LINE_ITEM_NOT_FOUND MACT_APP_NOT_FOUND MEDIA_CREATIVE_NOT_FOUND MEDIA_NOT_FOUND "
        "NO_PROVIDER_AVAILABLE_FOR_THIS_CLIENT_APPLICATION NOT_FOUND PROMOTABLE_USER_NOT_FOUND "
        "PROMOTED_ACCOUNT_NOT_FOUND PROMOTED_POST_NOT_FOUND ROUTE_NOT_FOUND "
        "TAILORED_AUDIENCE_CHANGE_FILE_NOT_FOUND TAILORED_AUDIENCE_NOT_FOUND "
        "TAILORED_AUDIENCE_OR_TAILORED_AUDIENCE_EXPANDED_NOT_FOUND TARGETING_CRITERION_NOT_FOUND "
        "POST_NOT_FOUND WEB_EVENT_TAG_NOT_FOUND",
        405: "METHOD_NOT_ALLOWED",
        408: "CANCELLED_REQUEST",
        413: "REQUEST_ENTITY_TOO_LARGE",
        415: "UNSUPPORTED_MEDIA_TYPE",
        423: "LOCK_ACQUISITION_TIMEOUT",
        429: "TOO_MANY_REQUESTS POST_RATE_LIMIT_EXCEEDED",
        500: "INTERNAL_ERROR",
        501: "NOT_IMPLEMENTED",
        503: "SERVICE_UNAVAILABLE OVER_CAPACITY",
        507: "INSUFFICIENT_STORAGE",
    }.items()
    for code in codes.split()
}
"""Status of each advertising code: the public table, INCOMPATIBLE_LINE_ITEM (publicly named beside
it), and 413, 415, 501, 507 added by us."""


# The reason phrases of HTTP statuses.

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def phrase(status: int) -> str:
    """Return the standard reason phrase of a status; empty if it has none."""
    return _PHRASES.get(status, "")


# The `detail` texts of problems, worded like the public samples.
# A type without a public sample uses its description in the machine-readable interface (public
# facts, section 5). Here texts are made from values; `problems` declares the types.

INVALID_REQUEST = "One or more parameters to your request was invalid."
CONFLICT = "You cannot create a new job if one is already in progress."

_NOT_ENROLLED = (
    "When authenticating requests to the v2 endpoints, you must use keys and tokens from a "
    "developer App that is attached to a Project. You can create a project via the developer "
    "portal."
)
_CONNECTIONS: Mapping[str, str] = {
    "TooManyConnections": "This stream is currently at the maximum allowed connection limit.",
    "ProvisioningSubscription": "Your subscription change is currently being provisioned, please "
    "try again in a minute.",
    "RuleConfigurationIssue": "You must define rules using the POST /2/posts/search/stream/rules "
    "endpoint before connecting to filtered stream.",
}
_APP_ONLY = "OAuth 2.0 Application-Only"
_USER_CONTEXTS = ("OAuth 1.0a User Context", "OAuth 2.0 User Context")


def could_not_find(noun: str, parameter: str, value: str) -> str:
    """Return the detail of resource-not-found."""
    return f"Could not find {noun} with {parameter}: [{value}]."


def not_authorized_to_see(noun: str, parameter: str, value: str) -> str:
    """Return the detail of not-authorized-for-resource."""
    shown = noun if noun == "user" else _title(noun)  # as recorded answers have it
    return f"Sorry, you are not authorized to see the {shown} with {parameter}: [{value}]."


def not_authorized_to_access(field: str, noun: str, resource_id: str | None = None) -> str:
    """Return the detail of not-authorized-for-field, with the public space before the colon."""
    if resource_id is None:
        return f"Sorry, you are not authorized to access '{field}' on a {_title(noun)}."
    return (
        f"Sorry, you are not authorized to access '{field}' on the {_title(noun)} with id : "
        f"[{resource_id}]."
    )


def describe_unavailable(noun: str, resource_id: str) -> str:
    """Return the detail of resource-unavailable; only that of a suspended user is public."""
    if noun == "user":
        return f"User has been suspended: [{resource_id}]."
    return f"{_title(noun)} is not available to you: [{resource_id}]."


def describe_unsupported_authentication(
    used: str = _APP_ONLY, supported: Sequence[str] = _USER_CONTEXTS
) -> str:
    """Return the detail of unsupported-authentication; two spaces separate its sentences."""
    return (
        f"Authenticating with {used} is forbidden for this endpoint.  Supported authentication "
        f"types are [{', '.join(supported)}]."
    )


def _title(noun: str) -> str:
    return noun[:1].upper() + noun[1:]


def _always(text: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda _: text


def _client_forbidden(extra: Mapping[str, Any]) -> str:
    if extra.get("reason") == "official-client-forbidden":
        return "Your client is forbidden from making this request."
    return _NOT_ENROLLED


def _usage_capped(extra: Mapping[str, Any]) -> str:
    words = [extra.get("period", ""), str(extra.get("scope", "")).lower(), "cap"]
    return f"Usage cap exceeded: {' '.join(word for word in words if word)}"


DETAILS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "client-disconnected": _always("Your client has gone away."),
    "client-forbidden": _client_forbidden,
    "conflict": _always(CONFLICT),
    "disallowed-resource": _always("The resource requested violates the precepts of this API."),
    "duplicate-rules": _always("The rule you have submitted is a duplicate."),
    "invalid-request": _always(INVALID_REQUEST),
    "invalid-rules": _always("The rule you have submitted is invalid."),
    "noncompliant-rules": _always("The user's rule set is not compliant."),
    "not-authorized-for-field": lambda extra: not_authorized_to_access(
        extra["field"], extra["resource_type"]
    ),
    "not-authorized-for-resource": lambda extra: not_authorized_to_see(
        extra["resource_type"], extra["parameter"], extra["value"]
    ),
    "operational-disconnect": _always(
        "This stream has been disconnected upstream for operational reasons."
    ),
    "resource-not-found": lambda extra: could_not_find(
        extra["resource_type"], extra["parameter"], extra["value"]
    ),
    "resource-unavailable": lambda extra: describe_unavailable(
        extra["resource_type"], extra["resource_id"]
    ),
    "rule-cap": _always("You have exceeded the maximum number of rules."),
    "streaming-connection": lambda extra: _CONNECTIONS.get(
        extra.get("connection_issue", ""), "Something is wrong with the connection."
    ),
    "unsupported-authentication": _always(describe_unsupported_authentication()),
    "usage-capped": _usage_capped,
}
"""Return the detail of each type from its extra fields, by slug.

For about:blank it is the title.
"""
