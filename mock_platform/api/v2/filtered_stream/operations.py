"""The filtered stream: the posts that match an app's rules, one JSON object on a line.

Document A names the stream with its rules; its form is a public fact (named endpoints, sections 5.3
and 5.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from mock_platform.api.v2.conventions import declare_named
from mock_platform.api.v2.filtered_stream.lines import HAPPENED, LINES, make_line, match_post
from mock_platform.api.v2.filtered_stream.rules import find_rule_book
from mock_platform.api.v2.objects.answers import (
    SELECTION,
    PostSelectionQuery,
    Selection,
    read_selection,
)
from mock_platform.api.v2.streams.lines import ENDING, WIRE, Line, StreamEndpoint
from mock_platform.api.v2.streams.opening import (
    BACKFILL,
    RECOVERY,
    SLOTS,
    WindowQuery,
    find_window_faults,
    open_stream,
)
from mock_platform.api.v2.streams.stream import Stream
from mock_platform.api.v2.usage.counting import CAP, COUNTED, count_posts, find_reached_cap
from mock_platform.api.v2.webhooks.validation import get_app
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Lines
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.core.fields import Json, ListOf, Nested, Text
from mock_platform.core.operation import Handler
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreUnwritable
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SHAPE = public_fact(
    "filtered-stream.shape",
    "GET /2/posts/search/stream takes app tokens alone and sends the posts that match the app's "
    "rules. A self-serve app may have 1 connection, others 2.",
    "section 5.3 of the named endpoints",
    gap=True,
)
NO_RULES = public_fact(
    "filtered-stream.no-rules",
    "An app without rules cannot connect: streaming-connection, 409, RuleConfigurationIssue.",
    "section 5.6 of the named endpoints",
)
INVALID_RULES = expectation(
    "filtered-stream.invalid-rules",
    "An app with a stored rule that is not valid cannot connect: streaming-connection, 409, "
    "RulesInvalidIssue. The interface stores no such rule, but PUT /_mock/state can.",
)
CAPPED = expectation(
    "filtered-stream.capped",
    "When the monthly cap of posts is reached, the stream ends with usage-capped as its last line, "
    "and connecting answers 429 usage-capped.",
)
STREAM = "filtered_stream"
"""The id of the filtered stream among the streams."""
_CONNECTS = 50
_CONNECTIONS = {"self_serve": 1}
_MORE_CONNECTIONS = 2
_MOST_NAMED_RULES = 3


class FilteredStreamQuery(WindowQuery, PostSelectionQuery):
    """What the stream begins with, and what it shows of each post."""


class _MatchingRule(Schema):
    id = Text(required=True)
    tag = Text(required=True)


class PostLine(Schema):
    """A line of the filtered stream: a post with all rules that match it."""

    data = Json(required=True)
    includes = Json()
    matching_rules = ListOf(Nested(_MatchingRule), required=True)
    errors = ListOf(Json())


def make_open(settings: Settings) -> Handler:
    """Return what opens a stream under these settings."""

    def open_(call: Call, world: World) -> Stream:
        app = get_app(call)
        _require_rules(world, app)
        reached = find_reached_cap(world, app)
        if reached is not None:
            raise ProblemFailure(reached, CAP, CAPPED)
        endpoint = _make_endpoint(world, app, read_selection(call.params), call.base_url)
        return open_stream(call, world, endpoint, settings)

    return open_


def _require_rules(world: World, app: Record) -> None:
    """Require that an app has rules, and no faulty ones.

    Raises:
        ProblemFailure: It has none, or a faulty one (streaming-connection, 409).
    """
    book = find_rule_book(world, app["id"])
    if len(book) == 0:
        value = problem("streaming-connection", connection_issue="RuleConfigurationIssue")
        raise ProblemFailure(value, NO_RULES)
    if book.faulty:
        shown = "; ".join(
            f"rule {key}: {faults[0]}"
            for key, faults in list(book.faulty.items())[:_MOST_NAMED_RULES]
        )
        value = problem(
            "streaming-connection",
            connection_issue="RulesInvalidIssue",
            detail=f"Your rules are not valid any more: {shown}.",
        )
        raise ProblemFailure(value, INVALID_RULES)


def _make_endpoint(
    world: World, app: Record, selection: Selection, base_url: str
) -> StreamEndpoint:
    """Return the filtered stream of an app, as one request wants to see it."""

    def make_lines(
        _world: World, activity: Record, app_id: str, _params: Mapping[str, Any]
    ) -> Iterator[Line]:
        owner = world.store.get("apps", app_id)
        rules = match_post(world, app_id, activity).rules
        if rules and owner is not None:
            with suppress(UnknownWorld, StoreUnwritable), world.work():
                count_posts(world, owner, [activity["payload"]["id"]])
            yield make_line(world, activity, rules, selection, base_url)

    return StreamEndpoint(
        STREAM,
        connections=_CONNECTIONS.get(app["_tier"], _MORE_CONNECTIONS),
        concerns=lambda activity, app_id: bool(match_post(world, app_id, activity).rules),
        make_lines=make_lines,
        explain=lambda activity, app_id: match_post(world, app_id, activity).reason,
    )


OPERATIONS = (
    declare_named(
        "filtered_stream.open",
        "GET",
        "/2/posts/search/stream",
        make_open(Settings()),
        configure=make_open,
        summary="Stream the posts that match the app's rules",
        spec="Versioning: 2025-09-09",
        params=FilteredStreamQuery,
        rules=find_window_faults,
        since=None,
        also=("/2/tweets/search/stream",),
        returns=Lines(PostLine),
        auth=BEARER,
        limit=_CONNECTS,
        errors=("invalid-request", "streaming-connection", "usage-capped"),
        statuses=(400, 409, 429),
        assumptions=(SHAPE, WIRE, LINES, HAPPENED, SELECTION, COUNTED),
        may_assume=(BACKFILL, RECOVERY, ENDING, SLOTS, NO_RULES, INVALID_RULES, CAP, CAPPED),
    ),
)
