"""The twelve tools with which agents steer the sandbox, over the views of the control plane.

Each tool acts on one world, answers in a few lines with the ids that the next step needs, and says
what that may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.guesses import hint_at_operation
from mock_platform.api.served import AGENT_TOOLS, PUBLISHED_IDS
from mock_platform.control.clock import ClockBody, get_clock, put_clock
from mock_platform.control.journal import StatusRange, find_entry, read_query
from mock_platform.control.making import make_answer
from mock_platform.control.operation_pages import find_operation, write_operation
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, load_body
from mock_platform.control.scenario_cards import make_cards, search_cards, split_words
from mock_platform.control.scenarios import activate, deactivate, deactivate_all
from mock_platform.control.webhooks import post_event
from mock_platform.control.worlds import WorldBody, put_world
from mock_platform.core.errors import UnknownScenario
from mock_platform.core.fields import Integer, Json, ListOf, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.core.tables.fixtures import MAKE
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.verification.costs.document import describe_costs
from mock_platform.world.journal import JournalEntry

_MOST_FOUND = 10
_MOST_RECORDS = 5
_MOST_CHARACTERS = 4000
_MOST_IN_LINE = 600
"""Characters of a record or a body that is alone in an answer, or one of several."""
_MOST_REASONS = 3
_AFTER_CLEARING = "Next: let the program call again, then list_requests."


class SteeringTool(Struct, frozen=True):
    """A tool of this server; its name and its description are those of the function."""

    view: Callable[[ControlRequest, Mapping[str, Any]], str]
    schema: type[Schema]
    reads_only: bool = False

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.view.__name__


class InWorld(Schema):
    """What every tool takes."""

    world = Text(metadata={"description": "name of the world to act on; default: the default one"})


# -- worlds --------------------------------------------------------------------------------------


class NewWorld(Schema):
    """A world to make."""

    world = Text(required=True, metadata={"description": "its name, such as shop-test"})
    source = Text(data_key="from", metadata={"description": "the world to copy"})
    seed = Integer(metadata={"description": "seed of its ids and tokens"})
    freeze = Text(
        metadata={"description": "moment at which its clock stops, such as 2026-03-25T16:00:00Z"}
    )
    as_of = Text(metadata={"description": "date of the contract that it has, such as 2026-03-01"})


def create_world(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Make a world of its own for a task or a test; one that exists stays as it is."""
    name = given["world"]
    wanted = {"from": given.get("source")} | {
        name: given.get(name) for name in ("seed", "freeze", "as_of")
    }
    sent = {key: value for key, value in wanted.items() if value is not None}
    known = {world.name for world in request.platform.worlds}
    made = put_world(
        replace(request, args={"name": name}, body=load_body(WorldBody(), sent, "The arguments"))
    )
    base = made["base_url"]
    ignored = "".join(f"{text}\n" for text in made.get("warnings", ()))
    return (
        f"World {made['name']} {'existed already' if name in known else 'is ready'}. "
        f"Base address: {base} (MCP: {base}/mcp and {base}/ads/mcp). "
        f"Test credentials: GET {made['control']}/credentials.\n{ignored}"
        "Next: point the program at the base address, or find_operations."
    )


def reset_world(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Return a world to its start: records, failures, clock, ids, an empty journal."""
    world = request.world
    world.reset()
    return f"World {world.name} is at its start. Next: run the program again, then list_requests."


# -- operations ----------------------------------------------------------------------------------


class OperationWords(InWorld):
    """A search for operations."""

    operation = Text(
        required=True, metadata={"description": "words, such as `delete post`, or part of an id"}
    )


class OneOperation(InWorld):
    """One operation to read."""

    operation = Text(
        required=True,
        metadata={"description": "its id, the name of its tool, or METHOD /path"},
    )


def find_operations(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Find operations of the platform by words of their path, their summary or their id."""
    words = split_words(given["operation"])
    rated = [
        (sum(word in text for word in words), operation)
        for operation in request.platform.operations
        for text in [_describe_for_search(operation)]
    ]
    best = max((rate for rate, _ in rated), default=0)
    found = [operation for rate, operation in rated if rate == best] if best else []
    found.sort(key=lambda operation: len(operation.path))  # the plainest first
    if not found:
        return (
            f"No operation has any of the words {given['operation']!r}. Try others: post, search."
        )
    lines = [_describe_operation(each) for each in found[:_MOST_FOUND]]
    more = len(found) - len(lines)
    if more:
        lines.append(f"and {more} more: use more words")
    return "\n".join([*lines, "Next: describe_operation with an id."])


def describe_operation(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Read one operation: parameters, an example that works, its failures and how to cause them."""
    operation = _find_operation(request.platform, given["operation"])
    page = write_operation(request.platform, operation, request.world, request.base_url)
    text, _, assumed = page.partition("\n## Assumptions\n")
    before, _, rest = text.partition("\nimport requests\n")
    text = before + rest[rest.index("\n## ") :] if rest else before
    ids = [line[2:].partition(":")[0] for line in assumed.splitlines() if line.startswith("- ")]
    tools = _list_tools(operation)
    return (
        f"{text.strip()}\n\n"
        + (f"Tool of the platform's own server: {', '.join(tools)}\n" if tools else "")
        + (f"Assumed, not shown in the specification: {', '.join(ids)}\n" if ids else "")
        + "Next: call it, or set_failure with one of the scenarios, or with a documented failure "
        f"as {operation.id}-STATUS-CODE."
    )


def _find_operation(platform: Platform, text: str) -> Operation:
    method, _, path = text.strip().partition(" ")
    at = platform.where(method.upper(), path.strip()) if path.strip().startswith("/") else None
    if at is not None:
        return at
    ours = {name: id_ for table in (PUBLISHED_IDS, AGENT_TOOLS) for id_, name in table.items()}
    known = {**ours, **{each.id: each.id for each in platform.operations}}
    if text not in known:
        hint = hint_at_operation(text) or " find_operations finds some by words."
        raise ControlRefusal(404, f"There is no operation {text!r}.{hint}")
    return find_operation(platform, known[text])


def _list_tools(operation: Operation) -> list[str]:
    named = PUBLISHED_IDS.get(operation.id), AGENT_TOOLS.get(operation.id)
    return [name for name in named if name is not None]


def _describe_for_search(operation: Operation) -> str:
    parts = operation.id, operation.method, operation.path, operation.summary
    return " ".join([*parts, *_list_tools(operation)]).lower().replace("_", " ")


def _describe_operation(operation: Operation) -> str:
    return f"{operation.id}: {operation.method} {operation.path}: {operation.summary}"


# -- failures and time ---------------------------------------------------------------------------


class FailureToSet(InWorld):
    """A failure to switch on."""

    failure = Text(
        required=True,
        metadata={
            "description": "name of a scenario, a documented failure as OPERATION-STATUS-CODE, or "
            "words to find a scenario, such as `rate limit`"
        },
    )
    parameters = Json(metadata={"description": "values of its parameters, by name"})


class FailureToClear(InWorld):
    """A failure to switch off."""

    failure = Text(metadata={"description": "name of a scenario; without it, all"})


def set_failure(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Let requests fail from now on: a scenario, switched on by its name. Words list some."""
    engine, wanted = find_engine(request.world), given["failure"]
    try:
        engine.find(wanted)
    except UnknownScenario as fault:
        cards = search_cards(make_cards(request.platform, engine.list_scenarios()), wanted)
        if not cards:
            raise
        lines = [f"{card.name}: {card.description} On: {card.on}" for card in cards[:_MOST_FOUND]]
        text = f"No failure is named {wanted!r}, and nothing was switched on. These fit:"
        text = "\n".join([text, *lines, "Next: set_failure with such a name."])
        raise ControlRefusal(404, text) from fault
    body = {"parameters": given.get("parameters", {})}
    shown = activate(replace(request, args={"name": wanted}, body=body))
    hidden = "".join(
        f"Rule {rule['rule']} cannot act: {rule['hidden_by']} acts on each of its requests first.\n"
        for rule in shown["rules"]
        if rule["hidden_by"] is not None
    )
    return (
        f"{wanted} is on in world {request.world.name}: {shown['description']} "
        f"Parameters: {dumps(shown['given'] or shown['parameters']).decode()}.\n{hidden}"
        "Next: let the program call, then list_requests; clear_failures switches it off."
    )


def clear_failures(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Switch one failure off, or all of them."""
    active = [each["name"] for each in find_engine(request.world).describe_active()]
    wanted = given.get("failure")
    if wanted is None:
        deactivate_all(request)
        which = f" (were on: {', '.join(active)})" if active else ""
        return f"No failure is on in world {request.world.name}{which}.\n{_AFTER_CLEARING}"
    deactivate(replace(request, args={"name": wanted}))
    left = ", ".join(name for name in active if name != wanted) or "none"
    was = "" if wanted in active else " It was not on."
    text = f"{wanted} is off in world {request.world.name}.{was} Still on: {left}."
    return f"{text}\n{_AFTER_CLEARING}"


class ClockMove(InWorld):
    """A move of the clock."""

    to = Text(metadata={"description": "a moment, such as 2026-03-25T16:00:00Z, now, or next"})
    by = Text(metadata={"description": "a duration, such as 90s, 15m, 2h, 1d; -7d moves it back"})


def move_clock(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Move the world's clock `to` a moment, or what is due next, or `by` a duration; or read it."""
    if "to" in given and "by" in given:
        raise ControlRefusal(422, "The clock moves to a moment or by a duration, not both.")
    shown = get_clock(request)
    if "to" in given or "by" in given:
        by_itself = "by" in given or given["to"] == "next"
        action = {"action": "advance" if by_itself else "travel"}
        action |= {"seconds": given["by"]} if "by" in given else {"to": given["to"]}
        shown = put_clock(replace(request, body=load_body(ClockBody(), action, "The arguments")))
    state = "stopped" if shown["frozen"] else "running"
    lines = (
        f"The clock of world {request.world.name} is at {shown['now']}, {state}.",
        *(
            f"Happened: {each['kind']} {each.get('table', '')} {each['id']}"
            for each in shown.get("happened", ())
        ),
        "Next: what was due has happened; read_records or list_requests shows it.",
    )
    return "\n".join(lines)


# -- the journal ---------------------------------------------------------------------------------


class RequestsQuery(InWorld):
    """Which requests to list."""

    operation = Text(metadata={"description": "only those of this operation, by its id"})
    status = StatusRange(metadata={"description": "only these answers: 404, or a class as 4xx"})
    limit = Integer(
        low=1, high=100, load_default=_MOST_FOUND, metadata={"description": "the newest so many"}
    )


class OneRequest(InWorld):
    """One request of the journal."""

    request_id = Text(
        metadata={"description": "as in X-Mock-Request-Id, such as r12; default: the newest"}
    )


def list_requests(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """List the newest requests, why they were refused, and what all would have cost so far."""
    world = request.world
    wanted = {name: value for name, value in given.items() if name in {"operation", "status"}}
    query = read_query(request.platform, world, wanted)
    found = world.journal.find(query, given["limit"])
    lines = [_describe_entry(entry) for entry in found]
    if not found:
        lines = [f"No request {'matches' if wanted else 'came to world ' + world.name} yet."]
    costs = describe_costs(request.services.costs.document(world))
    total = f"{world.journal.count(query)} in all. So far: {costs}."
    following = (
        "Next: explain_request with an id. To hand all of it over: "
        f"mock-platform case FILE --world {world.name}"
    )
    return "\n".join([*lines, total, following])


def explain_request(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Explain the answer to one request: caller, rule, changes, warnings, what would help."""
    world, asked = request.world, given.get("request_id")
    if asked is None:
        newest = world.journal.find(read_query(request.platform, world, {}), 1)
        if not newest:
            raise ControlRefusal(404, f"World {world.name} had no request yet.")
        return "\n".join(_explain(newest[0]))
    return "\n".join(_explain(find_entry(request.platform, world, asked)))


def _describe_entry(entry: JournalEntry) -> str:
    shown = entry.summary()
    operation = entry.operation or entry.custom or "no operation"
    tool = f" [tool {entry.tool}]" if entry.tool else ""
    why = f": {entry.why}" if entry.why else ""
    return f"{entry.id} {entry.status} {entry.method} {shown['url']} {operation}{tool}{why}"


def _explain(entry: JournalEntry) -> Iterator[str]:
    shown = entry.as_json()
    yield _describe_entry(entry)
    yield from _explain_reasons(shown)
    for change in shown["changes"]:
        yield f"Record {change['change']}: {change['table']}/{change['id']}"
    yield from (f"Warning: {warning}" for warning in shown["warnings"])
    if shown["cost"] is not None:
        yield f"Would have cost: ${shown['cost']['usd']} ({shown['cost']['why']})"
    if shown["assumptions"]:
        yield f"Assumed, not shown in the specification: {', '.join(shown['assumptions'])}"
    for part in ("request", "response"):
        text = shown[part]["body"]["text"]
        if text:
            yield f"Body of the {part}: {_cut(text)}"
    if entry.operation is None:
        yield "Next: find_operations."
    else:
        yield f"Next: describe_operation {entry.operation}, or read_records."


def _explain_reasons(shown: Mapping[str, Any]) -> Iterator[str]:
    caller, ended, rule = shown["caller"], shown["ended"], shown["rule"]
    if caller is not None:
        yield f"Caller: {caller['how']} (app {caller['app']}, user {caller['user']})"
    if ended is not None and ended["how"] != "complete":
        yield f"The answer ended: {dumps(ended).decode()}"
    if rule is not None:
        yield f"Failure that acted: {rule['scenario']}; clear_failures switches it off"
    for miss in shown["near_misses"]:
        yield f"Failure that did not act: {miss['scenario']}: {miss['difference']}"
    if shown["diagnosis"] is not None:
        yield f"Diagnosis: {dumps(shown['diagnosis']).decode()}"


# -- records and events --------------------------------------------------------------------------


class RecordsQuery(InWorld):
    """Which records to read."""

    table = Text(metadata={"description": "name of a table; without it, all names are listed"})
    records = ListOf(Text(), metadata={"description": "ids; without them, the first records"})
    limit = Integer(
        low=1, high=100, load_default=_MOST_RECORDS, metadata={"description": "so many records"}
    )


class RecordsToWrite(InWorld):
    """Records to make, change or remove."""

    table = Text(required=True, metadata={"description": "name of a table, as in read_records"})
    records = ListOf(
        Json(),
        required=True,
        metadata={
            "description": "objects: one with the id of a record changes these fields of it, any "
            'other is a new record, {"id": …, "_remove": true} removes one, and {"_make": 50, …} '
            "makes so many believable ones with these fields"
        },
    )


def read_records(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Read records of a world, by their ids or the first of a table."""
    state = request.state
    if "table" not in given:
        tables = ", ".join(f"{name} ({len(state[name])})" for name in state)
        return f"Tables of world {request.world.name}: {tables}\nNext: read_records with a table."
    table = state[given["table"]]
    if "records" in given:
        found = [(key, table.get(key)) for key in given["records"]]
        missing = [key for key, record in found if record is None]
        shown = [record for _, record in found if record is not None]
        more = f"{table.name} has no record {', '.join(missing)}." if missing else ""
    else:
        shown = table.all()
        more = f"{min(len(shown), given['limit'])} of {len(shown)} records of {table.name}."
    shown = shown[: given["limit"]]
    most = _MOST_CHARACTERS if len(shown) == 1 else _MOST_IN_LINE
    lines = [_cut(dumps(record).decode(), most) for record in shown]
    return "\n".join(filter(None, [*lines, more, "Next: write_records changes them."]))


def write_records(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Make records, change some, or remove some; each is checked like a fixture."""
    table, done = request.state[given["table"]], []
    name_of_key = request.platform.tables[table.name].key
    with request.world.work():  # all or none
        for record in given["records"]:
            key = record.get(name_of_key)
            if MAKE in record:
                fields = {name: value for name, value in record.items() if name != MAKE}
                made = make_answer(request, table.name, record[MAKE], fields, None)
                done.append(f"{made['made']} made ({_cut(', '.join(made['ids']), _MOST_IN_LINE)})")
            elif record.get("_remove") is True:
                table.delete(str(key))
                done.append(f"{key} removed")
            elif isinstance(key, str) and key in table:
                table.patch(key, record)
                done.append(f"{key} changed")
            else:
                done.append(f"{table.put(record)[name_of_key]} made")
    return f"{table.name}: {', '.join(done) or 'nothing to do'}.\nNext: let the program call."


class EventToEmit(InWorld):
    """Something that happens to a user."""

    event_type = Text(required=True, metadata={"description": "such as profile.update.bio"})
    user = Text(metadata={"description": "id or screen name; default: the first user"})
    payload = Json(metadata={"description": "what happened; without it a believable one is made"})


def emit_event(request: ControlRequest, given: Mapping[str, Any]) -> str:
    """Let something happen to a user; webhooks and streams that are subscribed get it."""
    sent = {name: value for name, value in given.items() if name in {"event_type", "payload"}}
    if "user" in given:
        sent["user_id"] = given["user"]
    made = post_event(replace(request, body=sent))
    to = [f"{outlet['kind']} {outlet['id']}" for outlet in made["outlets"]]
    lines = [
        f"{given['event_type']} happened: {_cut(dumps(made['activity']).decode(), _MOST_IN_LINE)}",
        f"Sent to {', '.join(to)}." if to else "Sent to nobody.",
        *(f"Not sent: {why}" for why in made["why_not"][:_MOST_REASONS]),
        *(f"Warning: {warning}" for warning in made["warnings"]),
    ]
    return "\n".join([*lines, "Next: list_requests, or GET /_mock/deliveries."])


def _cut(text: str, most: int = _MOST_CHARACTERS) -> str:
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]}… ({more} more characters)"


TOOLS: Mapping[str, SteeringTool] = {
    tool.name: tool
    for tool in (
        SteeringTool(create_world, NewWorld),
        SteeringTool(reset_world, InWorld),
        SteeringTool(find_operations, OperationWords, reads_only=True),
        SteeringTool(describe_operation, OneOperation, reads_only=True),
        SteeringTool(set_failure, FailureToSet),
        SteeringTool(clear_failures, FailureToClear),
        SteeringTool(move_clock, ClockMove),
        SteeringTool(list_requests, RequestsQuery, reads_only=True),
        SteeringTool(explain_request, OneRequest, reads_only=True),
        SteeringTool(read_records, RecordsQuery, reads_only=True),
        SteeringTool(write_records, RecordsToWrite),
        SteeringTool(emit_event, EventToEmit),
    )
}
"""All tools, by their names."""
