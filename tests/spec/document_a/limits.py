"""Document A, "Limits": each with what tries it just inside and what tries it just outside."""

from tests.spec.document_a.common import BEARER, REPLAY, RUN
from tests.spec.table import Limit, Row, beyond

LIMITS = (
    Limit(
        "Replay window: events from up to the past 24 hours",
        (
            f"{REPLAY}TestCreated::test_the_window_may_be_24_hours",
            f"{RUN}TestWhatArrives::test_the_window_arrives_in_order",
        ),
        (f"{REPLAY}TestRefused::test_a_minute_too_old_is_refused",),
    ),
    Limit(
        "from_date, to_date: exactly 12 digits, yyyymmddhhmm, UTC",
        ("core/test_replay.py::test_a_minute_is_read_and_written",),
        (f"{REPLAY}TestRefused::test_dates_have_exactly_12_digits",),
    ),
    Limit(
        "webhook_id: 1 to 19 digits",
        (f"{REPLAY}TestCreated::test_a_webhook_id_has_1_to_19_digits",),
        (f"{REPLAY}TestRefused::test_other_webhook_ids_are_refused",),
    ),
    Limit(
        "Outstanding bearer tokens per app: one",
        (f"{BEARER}test_an_app_has_one_outstanding_bearer_token",),
        (f"{BEARER}test_a_new_creation_yields_a_different_token",),
    ),
)

_NAMED = "of an endpoint that the document only names"
ELSEWHERE: tuple[Row, ...] = (
    beyond(
        "Editing a post: own post, created within the last hour, premium subscription required",
        _NAMED,
    ),
    beyond("Long-form post length: 25,000 characters instead of 4,000", _NAMED),
    beyond(
        "Filtered-stream webhook delivery: enterprise only, 25,000 or more rules per project, rule "
        "length up to 2,048 characters",
        _NAMED,
    ),
    beyond(
        "Monthly post cap (2020 basic access, project level): 500,000 posts",
        f"{_NAMED}; the problem usage-capped has a scenario",
    ),
)
"""Limits of what is not shown."""
