"""The rules of the filtered stream: listing, changing and counting them.

Document A names the path of the rules in its release history; the shapes are public facts (named
endpoints, section 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mock_platform.api.v2.conventions import PAGES, declare_named, make_token_field, take_page
from mock_platform.api.v2.filtered_stream.rules import (
    AT_ONCE,
    CAP,
    MOST_AT_ONCE,
    MOST_CHARACTERS,
    PARTIAL,
    SHAPES,
    TABLE,
    UNKNOWN_RULE,
    RuleOutcome,
    add_rules,
    count_rules,
    delete_rules,
    find_allowance,
    list_rules,
    remove_rules,
    show_rule,
)
from mock_platform.api.v2.release_history import find_release
from mock_platform.api.v2.search.query import LANGUAGE, NESTING
from mock_platform.api.v2.webhooks.validation import get_app
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.example import Example
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
from mock_platform.core.operation import Handler, Location
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

_SPEC = "Versioning: 2025-09-09"
_SINCE = find_release("filtered-stream-webhooks").effective
_RULES = "/2/posts/search/stream/rules"
_OLDER = "/2/tweets/search/stream/rules"
_COUNTS = (
    "all_project_client_apps", "cap_per_client_app", "cap_per_project", "client_app_rules_count",
    "project_rules_count",
)  # fmt: skip
_READS = 450
_WRITES = 100


class RulesQuery(Schema):
    """Parameters of the list."""

    ids = CommaList(Text(min_length=1), most=MOST_AT_ONCE, repeatable=True)
    max_results = Integer(low=1, high=1000, load_default=1000)
    pagination_token = make_token_field(short=True)


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
    result_count = Integer(required=True)
    next_token = make_token_field(short=True)


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


class _Counts(Schema):
    cap_per_client_app = Integer()
    cap_per_project = Integer()
    client_app_rules_count = Nested(_AppCount)
    project_rules_count = Integer()
    all_project_client_apps = ListOf(Nested(_AppCount))


class RuleCounts(Schema):
    """How many rules there are and may be."""

    data = Nested(_Counts, required=True)


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the rules of the caller's app."""
    match = {"_app_id": get_app(call)["id"]}
    page = take_page(call, world, TABLE, match, keys=call.params.get("ids"), short=True)
    shown = {"data": [show_rule(record) for record in page.records]} if page.records else {}
    return {**shown, "meta": {"sent": wire_millis(world.clock.now()), **page.meta()}}


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
    elif "add" in params and _count_characters(params["add"]) > MOST_CHARACTERS:
        most = f"{MOST_CHARACTERS:,} characters together"
        yield "add", f"the rules of one request may have {most}; add them in several requests"
    elif "delete" in params and len(params["delete"]) != 1:
        yield "delete", "delete needs exactly one of ids and values"


def _count_characters(rules: Iterable[Mapping[str, str]]) -> int:
    return sum(len(rule.get("value", "")) for rule in rules)


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
    shown = {"data": [show_rule(record) for record in outcome.rules]} if good else {}
    return shown | _describe_summary(world, summary, outcome)


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


OPERATIONS = (
    declare_named(
        "stream_rules.list",
        "GET",
        _RULES,
        list_,
        summary="List the rules of the filtered stream",
        spec=_SPEC,
        params=RulesQuery,
        since=_SINCE,
        also=(_OLDER,),
        returns=Flat(RulesPage),
        auth=BEARER,
        limit=_READS,
        assumptions=(SHAPES, PAGES, AT_ONCE),
    ),
    declare_named(
        "stream_rules.change",
        "POST",
        _RULES,
        make_change(Settings()),
        configure=make_change,
        summary="Add or delete rules of the filtered stream",
        spec=_SPEC,
        params=RulesChange,
        location=Location.JSON,
        in_query=("dry_run", "delete_all"),
        rules=find_change_faults,
        since=_SINCE,
        also=(_OLDER,),
        returns=Flat(RulesAnswer),
        auth=BEARER,
        limit=_WRITES,
        errors=("invalid-request", "rule-cap", "invalid-rules", "duplicate-rules"),
        statuses=(400, 403),
        assumptions=(SHAPES, PARTIAL, AT_ONCE, LANGUAGE, NESTING),
        may_assume=(CAP, UNKNOWN_RULE),
        example=Example(json={"add": [{"value": "espresso"}, {"value": "roaster has:images"}]}),
    ),
    declare_named(
        "stream_rules.counts",
        "GET",
        f"{_RULES}/counts",
        count,
        summary="Count the rules of the filtered stream",
        spec=_SPEC,
        params=CountsQuery,
        since=_SINCE,
        also=(f"{_OLDER}/counts",),
        returns=Flat(RuleCounts),
        auth=BEARER,
        limit=_READS,
        assumptions=(SHAPES, CAP),
    ),
)
