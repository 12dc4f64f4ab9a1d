"""The `detail` texts of problems, worded like the public samples.

A type without a public sample uses its description in the machine-readable interface (public facts,
section 5). This module makes texts from values; `problems` declares the types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
    return f"Sorry, you are not authorized to see the {_title(noun)} with {parameter}: [{value}]."


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
