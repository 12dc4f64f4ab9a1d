"""Every row of document A has a test that names it, and what the rows say of operations holds."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.release_history import RELEASES, list_names_in_force
from mock_platform.core.failures.problems import PROBLEM_TYPES, problem
from mock_platform.core.operation import Operation, Origin
from tests.spec.problem_types import REQUIRED, VALUES
from tests.spec.rows import PROBLEM_OBJECT
from tests.spec.table import endpoint, faults, marks, section, sections
from tests.support import BEARER, Sandbox

SETTINGS = {"strict": True}
DOCUMENTED: dict[str, Operation] = {
    op.id: op for op in OPERATIONS if op.origin is Origin.DOCUMENT_A
}


def test_every_rule_has_tests() -> None:
    """Each row has tests that name it, or a reason why there can be none; limits on both sides."""
    assert [] == faults("A")
    assert () == marks()[1]


def test_every_operation_has_its_heading() -> None:
    """The eight documented operations have a heading each, with their method and path."""
    shown = {
        each.operation: endpoint(heading.title)
        for heading in sections("A")
        for each in heading.rows
        if each.operation
    }

    assert 8 == len(DOCUMENTED)
    assert {op.id: (op.method, op.path) for op in DOCUMENTED.values()} == shown


def test_every_problem_type_has_its_row() -> None:
    """The eighteen slugs of the table are those that are served."""
    (heading,) = (each for each in sections("A") if each.title.startswith("Problem object"))
    slugs = [re.match(r"about:blank|[a-z]+-[a-z-]+|conflict", each.says) for each in heading.rows]

    assert set(PROBLEM_TYPES) == {slug[0] for slug in slugs if slug}
    assert 18 == len(PROBLEM_TYPES)


@pytest.mark.spec("A, Release history", "2026-06-11: Article", "2026-06-04: post.create")
@pytest.mark.spec("A, Release history", "2026-06-03: paid_partnership", "2026-05-04: Search")
@pytest.mark.spec("A, Release history", "2026-03-20: Deprecation", "2026-03-18: Direction")
@pytest.mark.spec("A, Release history", "2026-03-11: Legacy", "2026-02-23: Programmatic")
@pytest.mark.spec("A, Release history", "2026-01-28: spaces.start", "2026-01-15: OAuth")
@pytest.mark.spec("A, Release history", "2025-11-19: News", "2025-10-03: Post")
@pytest.mark.spec("A, Release history", "2025-09-19: Connections", "2025-09-17: POST")
@pytest.mark.spec("A, Release history", "2025-09-09: Filtered", "2025-07-28: share_with_followers")
@pytest.mark.spec("A, Release history", "2025-07-08: Community", "2025-05-20: Account")
@pytest.mark.spec("A, Release history", "2025-02-18: affiliation.user_id")
def test_the_release_history_is_that_of_the_product() -> None:
    """Date and text of each of the nineteen rows are what the product holds."""
    rows = [each.says.partition(": ") for each in section("A", "Release history").rows]

    assert [(release.date, release.change) for release in RELEASES] == [
        (date, change) for date, _, change in rows
    ]


@pytest.mark.spec("A, Events", "profile.update.bio", case="profile.update.bio")
@pytest.mark.spec("A, Events", "profile.update.verified", case="profile.update.verified")
@pytest.mark.spec("A, Events", "profile.update.affiliate", case="profile.update.affiliate")
@pytest.mark.spec("A, Events", "profile.update.screenname", case="profile.update.screenname")
@pytest.mark.spec("A, Events", "post.create: a", case="post.create")
@pytest.mark.spec("A, Events", "post.delete: a", case="post.delete")
@pytest.mark.spec("A, Events", "spaces.start: a", case="spaces.start")
@pytest.mark.spec("A, Events", "spaces.end: a Space", case="spaces.end")
@pytest.mark.spec("A, Events", "dm.received, dm.sent", case="indicate_typing")
@pytest.mark.parametrize(("name", "meaning"), [
    ("profile.update.bio", "bio changed"),
    ("profile.update.verified", "verification status changed"),
    ("profile.update.affiliate", "affiliate badge changed"),
    ("profile.update.screenname", "handle changed"),
    ("post.create", "a user creates a post"),
    ("post.delete", "a user deletes a post"),
    ("spaces.start", "a Space starts"),
    ("spaces.end", "a Space ends"),
    *((f"dm.{kind}", "legacy direct-message event") for kind in ("received", "sent", "read",
                                                                 "indicate_typing")),
])  # fmt: skip
def test_the_event_types_of_the_document(name: str, meaning: str) -> None:
    """Each is known with the document's words, and in force today without a warning."""
    today = {entry.name: entry for entry in list_names_in_force(datetime(2026, 11, 20, tzinfo=UTC))}

    assert (meaning, True, None) == (
        today[name].meaning,
        today[name].documented,
        today[name].successor,
    )


@pytest.mark.spec(PROBLEM_OBJECT, "client-forbidden", "disallowed-resource")
@pytest.mark.spec(PROBLEM_OBJECT, "not-authorized-for-field", "not-authorized-for-resource")
@pytest.mark.spec(PROBLEM_OBJECT, "operational-disconnect", "resource-not-found")
@pytest.mark.spec(PROBLEM_OBJECT, "resource-unavailable", "streaming-connection", "usage-capped: A")
@pytest.mark.parametrize(("slug", "field"), VALUES)
def test_extra_fields_take_the_documented_values(slug: str, field: str) -> None:
    """Each value of an enumeration is accepted, and no others."""
    required = REQUIRED.get(slug, {})
    for value in VALUES[slug, field]:
        assert value == problem(slug, **required | {field: value}).as_json("http://h")[field]
    for other in ("", "other", "tweet", *{"place", "poll"} - {*VALUES[slug, field]}):
        with pytest.raises(ValueError, match=f"problem {slug}: "):
            problem(slug, **required | {field: other})


@pytest.mark.spec("A, Other v2 endpoints", "Other v2 endpoints")
@pytest.mark.spec("A, Events", "The Activity interface", "Subscriptions are")
@pytest.mark.spec("A, Release history", "2026-06-11: Article", "2026-06-03: paid_partnership")
@pytest.mark.spec("A, Release history", "2026-05-04: Search", "2026-02-23: Programmatic")
@pytest.mark.spec("A, Release history", "2026-01-15: OAuth", "2025-11-19: News", "2025-10-03: Post")
@pytest.mark.spec("A, Release history", "2025-09-19: Connections", "2025-09-17: POST")
@pytest.mark.spec("A, Release history", "2025-09-09: Filtered", "2025-07-28: share_with_followers")
@pytest.mark.spec("A, Release history", "2025-07-08: Community", "2025-05-20: Account")
@pytest.mark.spec("A, Release history", "2025-02-18: affiliation.user_id")
@pytest.mark.parametrize("request_", [
    "GET /2/activity/stream", "POST /2/activity/subscriptions", "GET /2/news/search",
    "GET /2/news/1", "GET /2/connections", "DELETE /2/connections", "DELETE /2/connections/all",
    "DELETE /2/connections/filtered_stream", "POST /2/evaluate_note", "POST /2/notes",
    "GET /2/posts/search/stream/rules", "GET /2/notes/search/posts_eligible_for_notes",
    "GET /2/notes/search/notes_written", "POST /2/posts", "POST /2/articles/draft",
    "GET /2/webhooks",
])  # fmt: skip
def test_what_is_only_named_is_no_documented_route(box: Sandbox, request_: str) -> None:
    """--strict serves no shape that the document does not show: no route, or 501."""
    method, path = request_.split()
    response = box.call(method, path, keys=BEARER)
    operation = box.platform.where(method, path)

    assert operation is None or operation.origin is Origin.NAMED
    assert (404 if operation is None else 501) == response.status_code
    assert "application/problem+json" == response.mimetype
    assert 404 != response.status_code or "about:blank" == response.get_json()["type"]
