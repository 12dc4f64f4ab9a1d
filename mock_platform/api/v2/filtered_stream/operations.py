"""The filtered stream: the posts that match an app's rules, one JSON object on a line; its rules.

Document A names the paths in its release history; the shapes are public facts (named endpoints,
section 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import declare_named, get_app, make_id_field, wrap_data
from mock_platform.api.v2.filtered_stream.links import (
    POST_LINES,
    RULES_AT_THE_TIME,
    make_line,
    match_post,
)
from mock_platform.api.v2.filtered_stream.rules import (
    AT_ONCE,
    INVALID_RULES,
    MOST_AT_ONCE,
    MOST_CHARACTERS,
    NO_RULES,
    PARTIAL_SUCCESS,
    RULE_CAP,
    RULE_SHAPES,
    TABLE,
    UNKNOWN_RULE,
    RuleOutcome,
    add_rules,
    count_rules,
    delete_rules,
    find_allowance,
    list_rules,
    remove_rules,
    require_rules,
    show_rule,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    ObjectAnswer,
    PostSelectionQuery,
    Selection,
    read_selection,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.objects.post_text import find_links
from mock_platform.api.v2.pages import RULES, TOKEN_PAGES, make_token_field, show_list, take_page
from mock_platform.api.v2.prices import POST_READ
from mock_platform.api.v2.release_history import find_release
from mock_platform.api.v2.search.query import RULE_LANGUAGE, RULE_NESTING
from mock_platform.api.v2.streams.endpoint import (
    Line,
    StreamEndpoint,
    WindowQuery,
    find_window_faults,
)
from mock_platform.api.v2.streams.open_streams import OPENING, open_stream
from mock_platform.api.v2.streams.stream import STREAM_ENDING, STREAM_WIRE, Stream
from mock_platform.api.v2.usage.counting import (
    COUNTED_ONCE,
    MONTHLY_CAP,
    count_posts,
    find_reached_cap,
)
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call, Reply
from mock_platform.core.envelope import Flat, Lines
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.rendering import RECORDED_STATUSES
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import Example, Handler
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreError
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STREAM_SHAPE = public_fact(
    "filtered-stream.shape",
    "GET /2/posts/search/stream takes app tokens alone and sends the posts that match the app's "
    "rules. A self-serve app may have 1 connection, others 2.",
    "section 5.3 of the named endpoints",
    gap=True,
)
STREAM_CAPPED = expectation(
    "filtered-stream.capped",
    "When the monthly cap of posts is reached, the stream ends with usage-capped as its last line, "
    "and connecting answers 429 usage-capped.",
)
STREAM = "filtered_stream"
"""The id of the filtered stream among the streams."""
_CONNECTIONS = {"self_serve": 1}
_MORE_CONNECTIONS = 2


class FilteredStreamQuery(WindowQuery, PostSelectionQuery):
    """What the stream begins with, and what it shows of each post."""


class _MatchingRule(Schema):
    id = Text(required=True)
    tag = Text(required=True)


class PostLine(ObjectAnswer):
    """A line of the filtered stream: a post with all rules that match it."""

    data = POST_OBJECT.one()
    matching_rules = ListOf(Nested(_MatchingRule), required=True)


def open_(call: Call, world: World) -> Stream:
    """Open a stream of the posts that match the app's rules.

    Raises:
        ProblemFailure: The app has no rules (409), or has read as many posts as it may (429).
    """
    app = get_app(call)
    require_rules(world, app)
    reached = find_reached_cap(world, app)
    if reached is not None:
        raise ProblemFailure(reached, MONTHLY_CAP, STREAM_CAPPED)
    selection = read_selection(call.params, find_links(call))
    return open_stream(call, world, _make_endpoint(world, app, selection, call.base_url))


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
            with suppress(UnknownWorld, StoreError), world.work():
                count_posts(world, owner, [activity["payload"]["id"]])
            yield make_line(world, activity, rules, selection, base_url)

    return StreamEndpoint(
        STREAM,
        connections=_CONNECTIONS.get(app["_tier"], _MORE_CONNECTIONS),
        concerns=lambda activity, app_id: bool(match_post(world, app_id, activity).rules),
        make_lines=make_lines,
        explain=lambda activity, app_id: match_post(world, app_id, activity).reason,
    )


_COUNTS = (
    "all_project_client_apps", "cap_per_client_app", "cap_per_project", "client_app_rules_count",
    "project_rules_count",
)  # fmt: skip


class RulesQuery(Schema):
    """Parameters of the list."""

    ids = CommaList(make_id_field("a rule id of "), most=MOST_AT_ONCE, repeatable=True)
    max_results = Integer(low=1, high=1000, load_default=1000)
    pagination_token = make_token_field(longest=16)


class NewRule(Schema):
    """A rule to add."""

    value = Text(required=True)
    tag = Text()


class RulesToDelete(Schema):
    """Rules to delete: their ids, or their values."""

    ids = ListOf(Text(), least=1, most=MOST_AT_ONCE)
    values = ListOf(Text(), least=1, most=MOST_AT_ONCE)


class RulesChange(Schema):
    """Rules to add or to delete; the first two parameters are in the query."""

    body_refusal = "JSON doesn't match expected schema"
    dry_run = Flag(load_default=False)
    delete_all = Flag(load_default=False)
    add = ListOf(Nested(NewRule), least=1, most=MOST_AT_ONCE)
    delete = Nested(RulesToDelete)


class CountsQuery(Schema):
    """Which counts to return; without it all of them."""

    rules_count_fields = CommaList(Choice(_COUNTS), data_key="rules_count.fields")


class StreamRule(Schema):
    """A rule as clients see it."""

    value = Text(required=True)
    tag = Text()
    id = Text(required=True)


class _RulesMeta(Schema):
    sent = Instant(millis=True, required=True)
    result_count = Integer()
    next_token = make_token_field(longest=16)


class RulesPage(Schema):
    """A page of rules."""

    data = ListOf(Nested(StreamRule))
    meta = Nested(_RulesMeta, required=True)


class _Summary(Schema):
    created = Integer()
    not_created = Integer()
    valid = Integer()
    invalid = Integer()
    deleted = Integer()
    not_deleted = Integer()


class _ChangeMeta(Schema):
    sent = Instant(millis=True, required=True)
    summary = Nested(_Summary, required=True)


class RulesAnswer(Schema):
    """What a change did: the rules that were added, and why others were not."""

    data = ListOf(Nested(StreamRule))
    meta = Nested(_ChangeMeta, required=True)
    errors = ListOf(Json())


class _AppCount(Schema):
    client_app_id = Text(required=True)
    rule_count = Integer(required=True)


RuleCounts = wrap_data(
    "RuleCounts",
    "_Counts",
    cap_per_client_app=Integer(),
    cap_per_project=Integer(),
    client_app_rules_count=Nested(_AppCount),
    project_rules_count=Integer(),
    all_project_client_apps=ListOf(Nested(_AppCount)),
)
"""How many rules there are and may be."""


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the rules of the caller's app."""
    match = {"_app_id": get_app(call)["id"]}
    page = take_page(call, world, TABLE, match, keys=call.params.get("ids"), form=RULES)
    meta = {"sent": wire_millis(world.clock.now()), **page.meta()}
    return show_list([show_rule(record) for record in page.records], meta=meta)


def find_change_faults(
    params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what does not go together in a change of the rules."""
    wanted = [name for name in ("add", "delete") if name in call.sent]
    if params.get("delete_all"):
        others = [*wanted, *(["dry_run"] if params.get("dry_run") else [])]
        if others:
            yield others[0], f"delete_all cannot be used with {' or '.join(others)}"
    elif len(wanted) != 1:
        yield "add", "exactly one of add and delete is required, or delete_all=true in the query"
    elif sum(len(rule.get("value", "")) for rule in params.get("add", ())) > MOST_CHARACTERS:
        most = f"{MOST_CHARACTERS:,} characters together"
        yield "add", f"the rules of one request may have {most}; add them in several requests"
    elif "delete" in params and len(params["delete"]) != 1:
        yield "delete", "delete needs exactly one of ids and values"


def make_change(settings: Settings) -> Handler:
    """Return what changes the rules of an app, under these settings."""

    def change(call: Call, world: World) -> dict[str, Any]:
        app, params, base_url = get_app(call), call.params, call.base_url
        dry_run = params["dry_run"]
        if params["delete_all"]:
            outcome = RuleOutcome(list_rules(world, app))
            remove_rules(world, outcome.rules)
            return _describe_deletion(world, outcome)
        if "delete" in params:
            outcome = delete_rules(
                world, app, **params["delete"], base_url=base_url, dry_run=dry_run
            )
            if outcome.errors:
                call.assume(UNKNOWN_RULE)
            return _describe_deletion(world, outcome)
        outcome = add_rules(
            world, app, params["add"], base_url, strict=settings.strict, dry_run=dry_run
        )
        for text in outcome.warnings:
            call.warn(text)
        return _describe_addition(world, outcome)

    return change


def _describe_addition(world: World, outcome: RuleOutcome) -> dict[str, Any]:
    good, bad = len(outcome.rules), len(outcome.errors)
    summary = {"created": good, "not_created": bad, "valid": good, "invalid": bad}
    shown = [show_rule(record) for record in outcome.rules]
    return show_list(shown, **_describe_summary(world, summary, outcome))


def _describe_deletion(world: World, outcome: RuleOutcome) -> dict[str, Any]:
    summary = {"deleted": len(outcome.rules), "not_deleted": len(outcome.errors)}
    return _describe_summary(world, summary, outcome)


def _describe_summary(
    world: World, summary: dict[str, int], outcome: RuleOutcome
) -> dict[str, Any]:
    meta = {"sent": wire_millis(world.clock.now()), "summary": summary}
    return {"meta": meta, **({"errors": outcome.errors} if outcome.errors else {})}


def count(call: Call, world: World) -> dict[str, Any]:
    """Count the rules of the app and of all apps of its owner, and say how many there may be."""
    app = get_app(call)
    allowed = find_allowance(app).rules
    counts = [
        {"client_app_id": app_id, "rule_count": found} for app_id, found in count_rules(world, app)
    ]
    data = {
        "cap_per_client_app": allowed,
        "cap_per_project": allowed,
        "client_app_rules_count": next(c for c in counts if c["client_app_id"] == app["id"]),
        "project_rules_count": sum(found for _, found in count_rules(world, app)),
        "all_project_client_apps": counts,
    }
    wanted = call.params.get("rules_count_fields", data)
    return {"data": {name: value for name, value in data.items() if name in wanted}}


class _Changed(Flat, frozen=True):
    """The answer to a change of rules: as recorded, another status if any was made."""

    def reply(self, call: Call, result: Any) -> Reply:
        reply = super().reply(call, result)
        created = result["meta"]["summary"].get("created")
        if self.recorded_status is not None and call.chosen.rules == "201" and created:
            call.assume(RECORDED_STATUSES)
            reply.status = self.recorded_status
        return reply


_SPEC = "Versioning: 2025-09-09"
_RULES = "/2/posts/search/stream/rules"
_declare = partial(
    declare_named,
    spec=_SPEC,
    since=find_release("filtered-stream-webhooks").effective,
    auth=BEARER,
    limit=450,
)
OPERATIONS = (
    _declare(
        "filtered_stream.open",
        "GET /2/posts/search/stream",
        open_,
        "Stream the posts that match the app's rules",
        params=FilteredStreamQuery,
        rules=find_window_faults,
        since=None,
        returns=Lines(PostLine),
        limit=50,
        errors=("invalid-request", "streaming-connection", "usage-capped"),
        statuses=(409,),
        assumptions=(
            STREAM_SHAPE,
            STREAM_WIRE,
            POST_LINES,
            RULES_AT_THE_TIME,
            FIELD_SELECTION,
            COUNTED_ONCE,
        ),
        may_assume=(
            *OPENING,
            STREAM_ENDING,
            NO_RULES,
            INVALID_RULES,
            MONTHLY_CAP,
            STREAM_CAPPED,
        ),
        price=POST_READ,
    ),
    _declare(
        "stream_rules.list",
        f"GET {_RULES}",
        list_,
        "List the rules of the filtered stream",
        params=RulesQuery,
        returns=RulesPage,
        assumptions=(RULE_SHAPES, TOKEN_PAGES, AT_ONCE),
    ),
    _declare(
        "stream_rules.change",
        f"POST {_RULES}",
        make_change(Settings()),
        "Add or delete rules of the filtered stream",
        configure=make_change,
        params=RulesChange,
        in_query=("dry_run", "delete_all"),
        rules=find_change_faults,
        returns=_Changed(RulesAnswer, recorded_status=201),
        limit=100,
        errors=("invalid-request", "rule-cap", "invalid-rules", "duplicate-rules"),
        assumptions=(RULE_SHAPES, PARTIAL_SUCCESS, AT_ONCE, RULE_LANGUAGE, RULE_NESTING),
        may_assume=(RULE_CAP, UNKNOWN_RULE),
        example=Example(json={"add": [{"value": "espresso"}, {"value": "roaster has:images"}]}),
    ),
    _declare(
        "stream_rules.counts",
        f"GET {_RULES}/counts",
        count,
        "Count the rules of the filtered stream",
        params=CountsQuery,
        returns=RuleCounts,
        assumptions=(RULE_SHAPES, RULE_CAP),
    ),
)
