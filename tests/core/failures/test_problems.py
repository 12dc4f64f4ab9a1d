"""The eighteen problem types of document A."""

from __future__ import annotations

import pytest

from mock_platform.core.failures.problems import PROBLEM_TYPES, problem, problem_type
from tests.spec.problem_types import REQUIRED, TYPES
from tests.spec.rows import EVERY_PROBLEM, PROBLEM_OBJECT


@pytest.mark.spec(EVERY_PROBLEM)
@pytest.mark.spec(PROBLEM_OBJECT, "Type values have", "each type exists")
def test_the_types_are_those_of_the_document() -> None:
    """All eighteen slugs exist with exactly the extra fields of document A."""
    found = {slug: set(kind.fields) for slug, kind in PROBLEM_TYPES.items()}

    assert 18 == len(TYPES)
    assert found == {slug: set(extras) for slug, extras in TYPES.items()}


@pytest.mark.spec(EVERY_PROBLEM)
@pytest.mark.spec(PROBLEM_OBJECT, "type: yes (discriminator)", "title: string: yes")
@pytest.mark.spec(PROBLEM_OBJECT, "detail: string", "status: integer", "Type values have")
@pytest.mark.spec("A, Errors", "Mapping from problem")
@pytest.mark.parametrize("slug", sorted(TYPES))
def test_each_type_can_be_built_and_served(slug: str) -> None:
    """Each type renders with its discriminator, title, status and extra fields."""
    extra = {name: field.example for name, field in TYPES[slug].items()}
    uri = slug if slug == "about:blank" else f"http://h/2/problems/{slug}"
    kind = problem_type(slug)

    shown = problem(slug, detail="why", **extra).as_json("http://h")

    assert shown == {
        "type": uri, "title": kind.title, "detail": "why", "status": kind.status, **extra,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "title"), [(None, "Internal Server Error"), (404, "Not Found"), (599, "Error")]
)
def test_a_generic_problem_is_titled_as_its_status(status: int | None, title: str) -> None:
    """Without a title of its own it carries the status's reason phrase (RFC 7807, 4.2)."""
    assert title == problem("about:blank", status=status).title
    assert "Mine" == problem("about:blank", status=status, title="Mine").title


@pytest.mark.parametrize(("url", "sound"), [
    ("https://developer.example.com/", True),
    ("urn:isbn:1", True),
    ("developer.example.com", False),
    ("https://a b", False),
    ("", False),
])  # fmt: skip
def test_registration_url_is_a_uri(url: str, *, sound: bool) -> None:
    """As document A says: string, uri."""
    if sound:
        assert {"registration_url": url} == problem("client-forbidden", registration_url=url).extra
    else:
        with pytest.raises(ValueError, match="Expected a URI such as"):
            problem("client-forbidden", registration_url=url)


@pytest.mark.spec(PROBLEM_OBJECT, "disallowed-resource", "not-authorized-for-field")
@pytest.mark.spec(PROBLEM_OBJECT, "not-authorized-for-resource", "resource-not-found")
@pytest.mark.spec(PROBLEM_OBJECT, "resource-unavailable")
@pytest.mark.parametrize("slug", sorted(REQUIRED))
def test_required_extra_fields_are_demanded(slug: str) -> None:
    """A type with required fields is not built without any one of them."""
    for name in REQUIRED[slug]:
        rest = {key: value for key, value in REQUIRED[slug].items() if key != name}
        with pytest.raises(ValueError, match=f'problem {slug}: "{name}" is a required parameter'):
            problem(slug, **rest)


@pytest.mark.spec(PROBLEM_OBJECT, "disallowed-resource", "operational-disconnect")
@pytest.mark.spec(PROBLEM_OBJECT, "resource-unavailable", "streaming-connection", "usage-capped: A")
@pytest.mark.spec(PROBLEM_OBJECT, "invalid-request", case="A minimum of 1 items")
@pytest.mark.spec(
    PROBLEM_OBJECT,
    "resource-not-found",
    case="A minimum of 1 characters must be provided for parameter",
)
@pytest.mark.parametrize(("slug", "extra", "text"), [
    ("usage-capped", {"period": "Dayly"}, "Expected a value in Daily, Monthly"),
    ("usage-capped", {"scope": "App"}, "Expected a value in Account, Product"),
    ("usage-capped", {"scop": "App"}, "Did you mean 'scope'?"),
    ("client-forbidden", {"reason": "no"}, "official-client-forbidden, client-not-enrolled"),
    ("streaming-connection", {"connection_issue": "x"}, "TooManyConnections"),
    ("operational-disconnect", {"disconnect_type": "x"}, "SlowReader"),
    ("invalid-request", {"errors": []}, "A minimum of 1 items"),
    ("invalid-request", {"errors": [{"message": "m"}]}, '"errors[0].parameters" is a required'),
    ("resource-not-found", REQUIRED["resource-not-found"] | {"parameter": ""},
     "A minimum of 1 characters must be provided for parameter"),
    ("resource-unavailable", REQUIRED["resource-unavailable"] | {"resource_type": "poll"},
     "in user, post, media, list, space, got"),
    ("disallowed-resource", REQUIRED["disallowed-resource"] | {"section": "meta"},
     "in data, includes, got"),
    ("conflict", {"job": "1"}, "its extra fields: none"),
])  # fmt: skip
def test_extra_fields_outside_the_document_are_refused(
    slug: str, extra: dict[str, object], text: str
) -> None:
    """Values outside an enumeration and unknown fields are refused, naming what is allowed."""
    with pytest.raises(ValueError, match=f"^problem {slug}: ") as caught:
        problem(slug, **extra)  # type: ignore[arg-type]

    assert text in str(caught.value)


@pytest.mark.spec(PROBLEM_OBJECT, "each type exists")
def test_an_unknown_slug_names_the_nearest() -> None:
    """A slug that does not exist is answered with the one that was probably meant."""
    with pytest.raises(LookupError, match="Did you mean 'usage-capped'"):
        problem("usage-caped")
