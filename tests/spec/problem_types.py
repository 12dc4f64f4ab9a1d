"""The table of problem types: extra fields of each, with examples, as document A has them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Extra(NamedTuple):
    """An extra field: a value that it may have, whether it must be there, and an enumeration."""

    example: Any
    required: bool = False
    values: tuple[str, ...] = ()


def one_of(*values: str, required: bool = False) -> Extra:
    """A field with an enumeration."""
    return Extra(values[0], required, values)


def needed(example: str) -> Extra:
    """A required text."""
    return Extra(example, required=True)


RESOURCES = ("user", "post", "media", "list", "space")
RESOURCE = one_of(*RESOURCES, required=True)
SECTION = one_of("data", "includes", required=True)

TYPES: dict[str, dict[str, Extra]] = {
    "about:blank": {},
    "client-disconnected": {},
    "client-forbidden": {
        "reason": one_of("official-client-forbidden", "client-not-enrolled"),
        "registration_url": Extra("https://developer.example.com/"),
    },
    "conflict": {},
    "disallowed-resource": {
        "resource_id": needed("1"), "resource_type": RESOURCE, "section": SECTION,
    },
    "duplicate-rules": {"id": Extra("1"), "value": Extra("cats")},
    "invalid-request": {"errors": Extra([{"message": "m", "parameters": {"id": ["1"]}}])},
    "invalid-rules": {},
    "noncompliant-rules": {},
    "not-authorized-for-field": {
        "field": needed("f"), "resource_type": RESOURCE, "section": SECTION,
    },
    "not-authorized-for-resource": {
        "value": needed("1"), "resource_id": needed("1"), "resource_type": RESOURCE,
        "section": SECTION, "parameter": needed("id"),
    },
    "operational-disconnect": {
        "disconnect_type": one_of("OperationalDisconnect", "UpstreamOperationalDisconnect",
                                  "ForceDisconnect", "UpstreamUncleanDisconnect", "SlowReader",
                                  "InternalError", "ClientApplicationStateDegraded",
                                  "InvalidRules"),
    },
    "resource-not-found": {
        "parameter": needed("id"), "value": needed("1"), "resource_id": needed("1"),
        "resource_type": one_of(*RESOURCES, "place", "poll", required=True),
    },
    "resource-unavailable": {
        "parameter": needed("id"), "resource_id": needed("1"), "resource_type": RESOURCE,
    },
    "rule-cap": {},
    "streaming-connection": {
        "connection_issue": one_of("TooManyConnections", "ProvisioningSubscription",
                                   "RuleConfigurationIssue", "RulesInvalidIssue"),
    },
    "unsupported-authentication": {},
    "usage-capped": {"period": one_of("Daily", "Monthly"), "scope": one_of("Account", "Product")},
}  # fmt: skip
REQUIRED: dict[str, dict[str, Any]] = {
    slug: examples
    for slug, extras in TYPES.items()
    if (examples := {name: extra.example for name, extra in extras.items() if extra.required})
}
"""The required fields of each type that has some, with examples."""
VALUES = {
    (slug, name): extra.values
    for slug, extras in TYPES.items()
    for name, extra in extras.items()
    if extra.values
}
"""The enumerations, by type and field."""
