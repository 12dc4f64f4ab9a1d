"""The eighteen problem types of document A."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.problems import PROBLEM_TYPES, problem, problem_type

DOCUMENTED = {
    "about:blank": set(),
    "client-disconnected": set(),
    "client-forbidden": {"reason", "registration_url"},
    "conflict": set(),
    "disallowed-resource": {"resource_id", "resource_type", "section"},
    "duplicate-rules": {"id", "value"},
    "invalid-request": {"errors"},
    "invalid-rules": set(),
    "noncompliant-rules": set(),
    "not-authorized-for-field": {"field", "resource_type", "section"},
    "not-authorized-for-resource": {
        "value",
        "resource_id",
        "resource_type",
        "section",
        "parameter",
    },
    "operational-disconnect": {"disconnect_type"},
    "resource-not-found": {"parameter", "value", "resource_id", "resource_type"},
    "resource-unavailable": {"parameter", "resource_id", "resource_type"},
    "rule-cap": set(),
    "streaming-connection": {"connection_issue"},
    "unsupported-authentication": set(),
    "usage-capped": {"period", "scope"},
}
REQUIRED: dict[str, dict[str, Any]] = {
    "disallowed-resource": {"resource_id": "1", "resource_type": "post", "section": "data"},
    "not-authorized-for-field": {"field": "f", "resource_type": "user", "section": "includes"},
    "not-authorized-for-resource": {
        "value": "1",
        "resource_id": "1",
        "resource_type": "media",
        "section": "data",
        "parameter": "id",
    },
    "resource-not-found": {
        "parameter": "id",
        "value": "1",
        "resource_id": "1",
        "resource_type": "poll",
    },
    "resource-unavailable": {"parameter": "id", "resource_id": "1", "resource_type": "space"},
}


def test_the_types_are_those_of_the_document() -> None:
    """All eighteen slugs exist with exactly the extra fields of document A."""
    found = {slug: set(kind.fields) for slug, kind in PROBLEM_TYPES.items()}

    assert found == DOCUMENTED


@pytest.mark.parametrize("slug", sorted(DOCUMENTED))
def test_each_type_can_be_built_and_served(slug: str) -> None:
    """Each type renders with its discriminator, title, status and extra fields."""
    extra = REQUIRED.get(slug, {})
    uri = slug if slug == "about:blank" else f"http://h/2/problems/{slug}"
    kind = problem_type(slug)

    shown = problem(slug, detail="why", **extra).as_json("http://h")

    assert shown == {
        "type": uri,
        "title": kind.title,
        "detail": "why",
        "status": kind.status,
        **extra,
    }


@pytest.mark.parametrize("slug", sorted(REQUIRED))
def test_required_extra_fields_are_demanded(slug: str) -> None:
    """A type with required fields is not built without any one of them."""
    for name in REQUIRED[slug]:
        rest = {key: value for key, value in REQUIRED[slug].items() if key != name}
        with pytest.raises(ValueError, match=f"problem {slug}: {name} is a required parameter"):
            problem(slug, **rest)


@pytest.mark.parametrize(
    ("slug", "extra", "text"),
    [
        ("usage-capped", {"period": "Dayly"}, "Expected one of [Daily, Monthly]"),
        ("usage-capped", {"scope": "App"}, "Expected one of [Account, Product]"),
        ("usage-capped", {"scop": "App"}, "Did you mean 'scope'?"),
        ("client-forbidden", {"reason": "no"}, "official-client-forbidden, client-not-enrolled"),
        ("streaming-connection", {"connection_issue": "x"}, "TooManyConnections"),
        ("operational-disconnect", {"disconnect_type": "x"}, "SlowReader"),
        ("invalid-request", {"errors": []}, "at least 1 items"),
        ("invalid-request", {"errors": [{"message": "m"}]}, "errors[0].parameters is a required"),
        (
            "resource-not-found",
            REQUIRED["resource-not-found"] | {"parameter": ""},
            "parameter must have at least 1 characters",
        ),
        (
            "resource-unavailable",
            REQUIRED["resource-unavailable"] | {"resource_type": "poll"},
            "[user, post, media, list, space]",
        ),
        (
            "disallowed-resource",
            REQUIRED["disallowed-resource"] | {"section": "meta"},
            "[data, includes]",
        ),
        ("conflict", {"job": "1"}, "its extra fields: none"),
    ],
)
def test_extra_fields_outside_the_document_are_refused(
    slug: str, extra: dict[str, object], text: str
) -> None:
    """Values outside an enumeration and unknown fields are refused, naming what is allowed."""
    with pytest.raises(ValueError, match=f"^problem {slug}: ") as caught:
        problem(slug, **extra)  # type: ignore[arg-type]

    assert text in str(caught.value)


def test_an_unknown_slug_names_the_nearest() -> None:
    """A slug that does not exist is answered with the one that was probably meant."""
    with pytest.raises(LookupError, match="Did you mean 'usage-capped'"):
        problem("usage-caped")
