"""Document A, the release history: "Release history items that fix behavior"."""

from tests.spec.document_a.common import ENVELOPE, EVENTS, NAMES, ONLY_NAMED, RETIRED, ROWS
from tests.spec.table import Section, row

HISTORY = Section(
    "Release history",
    "operations/test_account_activity.py",
    (
        row("2026-06-11: Article draft and publish endpoints added", ROWS, ONLY_NAMED),
        row("2026-06-04: post.create and post.delete events added to the Activity interface", ROWS,
            f"{NAMES}test_an_event_type_holds_from_its_row_on[post.create]"),
        row("2026-06-03: paid_partnership boolean added to posts: settable on create, readable "
            "through the post fields parameter", ROWS, ONLY_NAMED),
        row("2026-05-04: Search endpoints (recent and all search, recent and all counts) moved to "
            "a new index; operators min_likes:, min_replies:, min_reposts: added; reposts no "
            "longer returned by keyword search", ROWS, ONLY_NAMED),
        row("2026-03-20: Deprecation announced of POST "
            "/2/account_activity/replay/webhooks/{webhook_id}/subscriptions/all, effective "
            "2026-03-25 12:00 ET; replaced by POST /2/webhooks/replay", ROWS,
            f"{NAMES}test_the_replay_path_ends_at_noon_eastern_time",
            f"{RETIRED}test_before_its_end_it_answers_in_its_own_shape",
            f"{RETIRED}test_its_end_is_exact",
            f"{RETIRED}test_after_its_end_it_names_its_successor",
            f"{RETIRED}test_its_deprecation_is_warned_of"),
        row("2026-03-18: Direction filter added to Activity subscriptions; event type naming moved "
            "to dot-separated lowercase", ROWS, f"{ENVELOPE}test_the_direction_came_with_a_release",
            f"{NAMES}test_dotted_names_hold_from_the_naming_change_on",
            f"{EVENTS}test_names_follow_the_worlds_clock"),
        row("2026-03-11: Legacy direct-message events added to the Activity interface", ROWS,
            f"{NAMES}test_an_event_type_holds_from_its_row_on[dm.received]"),
        row("2026-02-23: Programmatic replies through post creation allowed only when the original "
            "author summoned the replier (mention or quote); self-serve tiers only", ROWS,
            ONLY_NAMED),
        row("2026-01-28: spaces.start and spaces.end events", ROWS,
            f"{NAMES}test_an_event_type_holds_from_its_row_on[spaces.start]"),
        row("2026-01-15: OAuth 2.0 support in Account Activity v2", ROWS, ONLY_NAMED),
        row("2025-11-19: News endpoints: GET /2/news/search and GET /2/news/{id}", ROWS,
            ONLY_NAMED),
        row("2025-10-03: Post editing via edit_options containing previous_post_id", ROWS,
            ONLY_NAMED),
        row("2025-09-19: Connections endpoints: GET /2/connections, DELETE /2/connections/all, "
            "DELETE /2/connections/{endpoint_id}, DELETE /2/connections", ROWS, ONLY_NAMED),
        row("2025-09-17: POST /2/evaluate_note added", ROWS, ONLY_NAMED),
        row("2025-09-09: Filtered stream webhooks, rules via /2/posts/search/stream/rules", ROWS,
            ONLY_NAMED),
        row("2025-07-28: share_with_followers boolean on post creation, used with community_id",
            ROWS, ONLY_NAMED),
        row("2025-07-08: Community notes endpoints: GET /2/notes/search/posts_eligible_for_notes, "
            "GET /2/notes/search/notes_written, POST /2/notes", ROWS, ONLY_NAMED),
        row("2025-05-20: Account Activity v2 webhook endpoints launched", ROWS, ONLY_NAMED),
        row("2025-02-18: affiliation.user_id returns an array", ROWS, ONLY_NAMED),
    ),
)  # fmt: skip
