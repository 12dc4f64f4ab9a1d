"""The rules of an app's filtered stream: adding and deleting them, and finding those that match.

The shapes are public facts (named endpoints, section 5); document A names the endpoints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from mock_platform.api.v2.conventions import make_id_field
from mock_platform.api.v2.search.matching import RuleSelection
from mock_platform.api.v2.search.query import read_rule
from mock_platform.api.v2.search.subjects import Subject
from mock_platform.api.v2.webhooks.validation import list_apps_of_owner
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem, problem_type
from mock_platform.core.fields import Flag, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TABLE = "stream_rules"
RULE_SHAPES = public_fact(
    "stream-rules.shapes",
    "The endpoints of stream rules have their public shapes; the spec only names their path.",
    "section 5.1 of the named endpoints",
    gap=True,
)
PARTIAL_SUCCESS = public_fact(
    "stream-rules.partial-success",
    "Each rule is judged by itself: good ones are created, and errors has a duplicate-rules or "
    "invalid-rules problem for each other one, beside status 200. A duplicate has the value of an "
    "earlier rule of the app, whatever the tag; it counts as not created and invalid.",
    "section 5.1 of the named endpoints, partial success",
)
RULE_CAP = public_fact(
    "stream-rules.cap",
    "The apps of one owner may together have 1,000 rules of at most 1,024 characters, or 25,000 of "
    "2,048 if the app's _tier is enterprise or partner. More refuse the whole request with the "
    "rule-cap problem, title RulesCapExceeded.",
    "section 5.1 of the named endpoints, caps",
)
UNKNOWN_RULE = expectation(
    "stream-rules.unknown-rule",
    "A rule to delete that the app does not have counts as not deleted; errors has an "
    "invalid-request problem for it with the message Rule does not exist, beside status 200.",
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

MOST_AT_ONCE = 1_000
MOST_CHARACTERS = 131_072
AT_ONCE = expectation(
    "stream-rules.at-once",
    f"One request adds or deletes up to {MOST_AT_ONCE:,} rules, as many as one may ask for by ids; "
    f"those that it adds have up to {MOST_CHARACTERS:,} characters together. More answers 400.",
)


class Allowance(Struct, frozen=True):
    """How many rules a project may have, and of how many characters."""

    rules: int
    characters: int


_ALLOWANCES = {
    "self_serve": Allowance(1_000, 1_024),
    "enterprise": Allowance(25_000, 2_048),
    "partner": Allowance(25_000, 2_048),
}
LONGEST_RULE = max(allowance.characters for allowance in _ALLOWANCES.values())
_PLAIN = re.compile(r"[#@]?\w+(?: [#@]?\w+)*")
_KEYWORDS = {"and", "or"}
_NO_RULE = "Rule does not exist"
_MOST_NAMED_RULES = 3


def find_allowance(app: Record) -> Allowance:
    """Return how many rules an app may have, and of how many characters."""
    return _ALLOWANCES[app["_tier"]]


def find_rule_faults(text: str) -> Sequence[str]:
    """Return what is wrong with the text of a rule; nothing if it is a rule."""
    # The parser takes as long to load as a server takes to start, and every start reads the
    # packaged fixtures. Words in a row need no parser to be a rule.
    fits = len(text) <= LONGEST_RULE and _PLAIN.fullmatch(text) is not None
    if fits and _KEYWORDS.isdisjoint(text.lower().split()):
        return ()
    return read_rule(text, "stream", longest=LONGEST_RULE).faults


def count_rules(world: World, app: Record) -> list[tuple[str, int]]:
    """Return the apps of an app's owner, each with the number of its rules."""
    ids = list_apps_of_owner(world, app)
    return [(each, world.store.count(TABLE, {"_app_id": each})) for each in ids]


class RuleOutcome(Struct):
    """What a request did: the rules concerned, the problems of others, and remarks."""

    rules: list[Record] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def add_rules(
    world: World,
    app: Record,
    wanted: Iterable[Mapping[str, str]],
    base_url: str,
    *,
    strict: bool,
    dry_run: bool,
) -> RuleOutcome:
    """Add those rules of a request that are good and new; with `dry_run` none is kept.

    Raises:
        ProblemFailure: They would be more rules than the app's project may have.
    """
    outcome = RuleOutcome()
    allowance = find_allowance(app)
    added: dict[str, Record] = {}
    for item in wanted:
        value = item["value"]
        same = added.get(value) or find_rule(world, app, value)
        if same is not None:
            outcome.errors.append(describe_duplicate(same, base_url))
            continue
        checked = read_rule(value, "stream", longest=allowance.characters, strict=strict)
        outcome.warnings += [f"rule {value!r}: {text}" for text in checked.warnings]
        if checked.tree is None:
            outcome.errors.append(describe_invalid(value, checked.faults, base_url))
            continue
        tag = {"tag": item["tag"]} if "tag" in item else {}
        own = {"_app_id": app["id"], "_added": True}
        added[value] = {"value": value, **tag, "id": world.ids.snowflake(), **own}
    outcome.rules = list(added.values())
    _require_room(world, app, allowance, len(outcome.rules))
    if not dry_run:
        for record in outcome.rules:
            world.store.put(TABLE, record["id"], record)
    return outcome


def _require_room(world: World, app: Record, allowance: Allowance, more: int) -> None:
    held = sum(count for _, count in count_rules(world, app))
    if more and held + more > allowance.rules:
        text = (
            f"You have exceeded the maximum number of rules: {held} exist, {more} are new, and "
            f"{allowance.rules} are allowed."
        )
        raise ProblemFailure(problem("rule-cap", detail=text), RULE_CAP)


def find_rule(world: World, app: Record, value: str) -> Record | None:
    """Return the rule of an app with this value, if it has one."""
    return world.store.first(TABLE, {"_app_id": app["id"], "value": value})


def delete_rules(
    world: World,
    app: Record,
    *,
    ids: Iterable[str] = (),
    values: Iterable[str] = (),
    base_url: str,
    dry_run: bool,
) -> RuleOutcome:
    """Delete rules of an app by id or by value; with `dry_run` none is deleted."""
    outcome = RuleOutcome()
    found: dict[str, Record] = {}
    for parameter, items in (("ids", ids), ("values", values)):
        for item in items:
            if parameter == "ids":
                record = world.store.get(TABLE, item)
            else:
                record = find_rule(world, app, item)
            if record is None or record["_app_id"] != app["id"] or record["id"] in found:
                outcome.errors.append(_describe_unknown(parameter, item, base_url))
            else:
                found[record["id"]] = record
    outcome.rules = list(found.values())
    if not dry_run:
        remove_rules(world, outcome.rules)
    return outcome


def list_rules(world: World, app: Record) -> list[Record]:
    """Return all rules of an app, in the order in which they were added."""
    return [entry.record for entry in world.store.page(TABLE, {"_app_id": app["id"]})]


def remove_rules(world: World, rules: Iterable[Record]) -> None:
    """Remove rules from the store."""
    for record in rules:
        world.store.remove(TABLE, record["id"])


def show_rule(record: Record) -> Record:
    """Return a rule as clients see it; without a tag there is no `tag`."""
    return {name: record[name] for name in ("value", "tag", "id") if name in record}


def describe_duplicate(same: Mapping[str, Any], base_url: str) -> dict[str, Any]:
    """Return the entry of `errors` for a rule that has the value of an earlier one."""
    return {"value": same["value"], "id": same["id"], **_name("duplicate-rules", base_url)}


def describe_invalid(value: str, faults: Sequence[str], base_url: str) -> dict[str, Any]:
    """Return the entry of `errors` for a text that is not a rule."""
    return {"value": value, "details": list(faults), **_name("invalid-rules", base_url)}


def _name(slug: str, base_url: str) -> dict[str, Any]:
    kind = problem_type(slug)
    return {"title": kind.title, "type": kind.uri(base_url)}


def _describe_unknown(parameter: str, item: str, base_url: str) -> dict[str, Any]:
    error = {"parameters": {parameter: [item]}, "message": _NO_RULE}
    shown = problem("invalid-request", errors=[error]).as_json(base_url)
    return {name: shown[name] for name in ("errors", "title", "detail", "type")}


class RuleBook:
    """The rules of one app, ready to find those that match a post."""

    def __init__(self) -> None:
        self.version: int | None = None
        self.faulty: dict[str, Sequence[str]] = {}
        """The rules that are none, with what is wrong: records that were stored unchecked."""
        self._records: dict[str, Record] = {}
        self._selection: RuleSelection[str] = RuleSelection((), "stream")

    def __len__(self) -> int:
        return len(self._records)

    def update(self, world: World, app_id: str) -> None:
        """Take over what changed in the rules of the app; unchanged rules are not read again."""
        found = {e.key: e.record for e in world.store.page(TABLE, {"_app_id": app_id})}
        for key in [k for k, record in self._records.items() if found.get(k) is not record]:
            del self._records[key]
            self._selection.discard(key)
            self.faulty.pop(key, None)
        for key, record in found.items():
            if key not in self._records:
                self._records[key] = record
                self._add(key, record, world.seed)

    def _add(self, key: str, record: Record, seed: int) -> None:
        checked = read_rule(record["value"], "stream", longest=LONGEST_RULE)
        if checked.tree is None:
            self.faulty[key] = checked.faults
        else:
            self._selection.add(key, checked.tree, make_sample_key(seed, key))

    def find_matching(self, subject: Subject) -> list[Record]:
        """Return the rules that match a post, in the order in which they were added."""
        return [self._records[key] for key in self._selection.matching(subject)]


def make_sample_key(seed: int, rule_id: str) -> str:
    """Return what decides which posts `sample:` lets through for a rule."""
    return f"{seed}:{rule_id}"


class RuleBooks:
    """The rule books of a world by app; each follows the changes of the rules at its next use."""

    def __init__(self) -> None:
        self._books: dict[tuple[str, int], RuleBook] = {}

    def open(self, world: World, app_id: str) -> RuleBook:
        """Return the up-to-date rule book of an app. Called under the world's lock."""
        book = self._books.setdefault((app_id, world.seed), RuleBook())
        version = world.store.version(TABLE)
        if book.version != version:
            book.update(world, app_id)
            book.version = version
        return book


def find_rule_book(world: World, app_id: str) -> RuleBook:
    """Return the rule book of an app. Called under the world's lock."""
    return world.cache(RuleBooks).open(world, app_id)


def require_rules(world: World, app: Record) -> None:
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


class StreamRuleRecord(Schema):
    """A rule of an app: the posts that match `value` are in its filtered stream."""

    id = make_id_field(required=True)
    value = Text(required=True, min_length=1, max_length=LONGEST_RULE)
    tag = Text()
    _app_id = Text(required=True)
    _added = Flag(load_default=False)
    """Whether it was added in this world: posts with lower ids were there before it."""


def _check_rule(record: Record) -> Iterator[tuple[str, str]]:
    for fault in find_rule_faults(record["value"]):
        yield "value", fault


TABLES = (
    Table(
        TABLE,
        StreamRuleRecord,
        references=(Reference("_app_id", "apps"),),
        check=_check_rule,
        shown=Shown(("value",), operations=("stream_rules.list",), is_of_app=True),
    ),
)
