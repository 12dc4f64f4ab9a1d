"""Plain text for programs that read: a page for each operation, and the list of all pages.

The list has the form of `llms.txt`: a title, a sentence, and links in sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response
from msgspec import Struct

from mock_platform.api.guesses import hint_at_operation
from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.examples import Sample, sample, use_records_of
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.assumptions import Assumption
from mock_platform.core.call import Call
from mock_platform.core.errors import BadParameters, did_you_mean
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.rendering import render
from mock_platform.core.fields import Choice
from mock_platform.core.installed import folder
from mock_platform.core.operation import MINUTE, Location, Operation
from mock_platform.platform import Platform
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.checking import find_unread_names
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.effects.effect import RefusingEffect
from mock_platform.scenario.library import Library
from mock_platform.scenario.outcomes import (
    BATCH,
    Outcome,
    find_codes,
    list_documented,
    make_call,
)
from mock_platform.world.world import World

# Which documented failures of an operation a scenario provokes, and with which parameters. The
# effects of its rules say what they would answer. Failures that depend on what happens to records
# or connections meanwhile are not known beforehand, and no scenario is named for them.


class Provocation(Struct, frozen=True):
    """A scenario that provokes an outcome of an operation."""

    scenario: str
    parameters: Mapping[str, str]
    """What points it at the operation; empty if it acts there anyway."""
    outcomes: frozenset[Outcome]

    @property
    def query(self) -> str:
        """The query with which the scenario's page points it there."""
        named = list(self.parameters.values())
        return f"?{urlencode({'operation': named[0]})}" if named else ""

    def __str__(self) -> str:
        given = ", ".join(f"{name}: {value}" for name, value in self.parameters.items())
        return f"{self.scenario} ({given})" if given else self.scenario


def find_provocations(
    library: Library, operation: Operation, documented: Sequence[Outcome]
) -> Iterator[Provocation]:
    """Yield the scenarios that provoke documented outcomes of an operation.

    Those that act on it without parameters come first.
    """
    pointed = []
    for scenario in library:
        rules = library.bind_defaults(scenario)
        acting = [rule for rule in rules if _acts_on(rule, operation, library.catalog)]
        outcomes = _foresee(acting, operation, documented)
        if outcomes:
            yield Provocation(scenario.name, {}, outcomes)
        elif not acting:
            pointed += list(_point(scenario, rules, operation, documented))
    yield from pointed


def find_operation_parameter(scenario: Scenario) -> str | None:
    """Return the parameter that names the operation on which a rule acts, if there is one."""
    for rule in scenario.document["rules"]:
        on = rule.get("on")
        if isinstance(on, str) and on.startswith("$"):
            return on[1:]
    return None


def _acts_on(rule: Rule, operation: Operation, catalog: Catalog) -> bool:
    """Return whether a request to the operation can meet the conditions of a rule."""
    if operation.id not in rule.on:
        return False
    when: Mapping[str, Any] = rule.when
    scheme = when.get("caller", {}).get("scheme")
    return (
        (not isinstance(scheme, str) or scheme in operation.auth.schemes)
        and set(when.get("path", {})) <= set(operation.path_names)
        and not find_unread_names({"on": operation.id, "when": when}, catalog)
    )


def _point(
    scenario: Scenario,
    rules: Sequence[Rule],
    operation: Operation,
    documented: Sequence[Outcome],
) -> Iterator[Provocation]:
    """Yield the scenario with the parameter that names its operation, if it has one."""
    parameter = find_operation_parameter(scenario)
    if parameter is None:
        return
    pointed = [
        rule
        for raw, rule in zip(scenario.document["rules"], rules, strict=True)
        if raw.get("on") == f"${parameter}"
    ]
    outcomes, parameters = _foresee(pointed, operation, documented), {parameter: operation.id}
    if outcomes and _can_bind(scenario, parameters):
        yield Provocation(scenario.name, parameters, outcomes)


def _can_bind(scenario: Scenario, parameters: Mapping[str, str]) -> bool:
    try:
        scenario.bind(parameters)
    except BadParameters:  # this operation cannot have the effect
        return False
    return True


def _foresee(
    rules: Sequence[Rule], operation: Operation, documented: Sequence[Outcome]
) -> frozenset[Outcome]:
    """Return the documented outcomes that the effects of rules answer with."""
    effects = [effect for rule in rules for effect in rule.effects]
    return frozenset(
        outcome
        for effect in effects
        if isinstance(effect, RefusingEffect)
        for outcome in list_outcomes(effect, make_call(operation))
        if outcome in documented
    )


def list_outcomes(effect: RefusingEffect, call: Call) -> Iterator[Outcome]:
    """Yield the refusals that an effect answers a call with."""
    found = effect.foresee(call)
    reply = render(found, call) if isinstance(found, Failure) else found
    if reply.status >= 400:
        yield from (Outcome(reply.status, code) for code in find_codes(reply.status, reply.body))


# Everything that a reader wants to know of one operation, collected from where it is declared.

_MAX_VALUES = 12
"""More allowed values than this are counted."""


class Parameter(Struct, frozen=True):
    """One parameter: `place` is path, query, form or body."""

    name: str
    place: str
    required: bool
    allowed: str
    told: str


class FailureShown(Struct, frozen=True):
    """A documented failure, and the scenarios that provoke it on this operation."""

    outcome: Outcome
    scenarios: tuple[Provocation, ...]

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.outcome.status

    @property
    def code(self) -> str:
        """The code in its body; "" without one, or with one for each item of a batch."""
        return "" if self.outcome.code == BATCH else self.outcome.code


class OperationDetails(Struct, frozen=True):
    """One operation, ready to be shown."""

    operation: Operation
    path: str
    """The path that clients call: with `/sandbox` if the operation exists only there."""
    parameters: tuple[Parameter, ...]
    example: Sample | None
    """A request; `None` if the records have nothing for it."""
    needs_steps: bool
    """Whether the example is refused in a fresh world."""
    success: int
    failures: tuple[FailureShown, ...]
    scenarios: tuple[str, ...]
    """All scenarios of the package that name this operation."""
    assumptions: tuple[Assumption, ...]


def make_example(operation: Operation, world: World) -> Sample | None:
    """Return a request that can be sent as it is; `None` if the records have nothing for it."""
    found = credentials(world)
    try:
        example = use_records_of(world, sample(operation, found), found)
    except (LookupError, TypeError):  # a world without the published app or a record has none
        return None
    return _fill_in(example, world)


def collect(platform: Platform, operation: Operation, world: World) -> OperationDetails:
    """Return everything about an operation, with an example for the credentials of a world."""
    documented = list_documented(operation, platform.settings)
    provoking = list(find_provocations(platform.library, operation, documented))
    failures = tuple(
        FailureShown(outcome, tuple(each for each in provoking if outcome in each.outcomes))
        for outcome in documented
        if outcome.status >= 400
    )
    return OperationDetails(
        operation,
        ("/sandbox" if operation.sandbox_only else "") + operation.path,
        tuple(_list_parameters(operation)),
        make_example(operation, world),
        operation.example.is_refused,
        operation.returns.status,
        failures,
        tuple(find_naming_scenarios(platform).get(operation.id, ())),
        tuple(dict.fromkeys(operation.all_assumptions)),
    )


def find_naming_scenarios(platform: Platform) -> dict[str, list[str]]:
    """Return the scenarios of the package that name an operation, by its id."""
    found: dict[str, list[str]] = {}
    for scenario in platform.library:
        rules = platform.library.bind_defaults(scenario)
        named = (name for rule in rules if not rule.everywhere for name in rule.on)
        for name in dict.fromkeys(named):
            found.setdefault(name, []).append(scenario.name)
    return found


def _fill_in(example: Sample, world: World) -> Sample:
    """Return an example with the current minute of the clock of the world."""
    minute = world.clock.now().strftime("%Y%m%d%H%M")
    path = example.path.replace(quote(MINUTE), minute)
    body = None if example.body is None else example.body.replace(MINUTE, minute)
    return Sample(example.method, path, example.headers, body)


def write_python(example: Sample, base_url: str) -> str:
    """Return an example as a Python program that can be copied."""
    lines = ["import requests", "", "answer = requests.request("]
    lines += [f"    {example.method!r},", f"    {base_url + example.path!r},"]
    lines.append(f"    headers={dict(example.headers)!r},")
    if example.body is not None:
        lines.append(f"    data={example.body!r},")
    return "\n".join([*lines, ")", "print(answer.status_code, answer.text)"])


def _list_parameters(operation: Operation) -> Iterator[Parameter]:
    for name in operation.path_names:
        yield Parameter(name, "path", required=True, allowed="", told="")
    if operation.params is None:
        return
    for name, field in operation.params().load_fields.items():
        shown = field.data_key or name
        place = _find_place(operation, shown)
        told = str(field.metadata.get("description", ""))
        yield Parameter(shown, place, field.required, _list_allowed(field), told)


def _find_place(operation: Operation, name: str) -> str:
    if operation.location in {Location.JSON, Location.UPLOAD}:
        return "query" if name in operation.in_query else "body"
    return "form" if operation.location is Location.FORM else "query"


def _list_allowed(field: Any) -> str:
    if not isinstance(field, Choice):
        return ""
    values: Sequence[str] = [str(value) for value in field.values]
    many = len(values) > _MAX_VALUES
    return f"{len(values)} values" if many else ", ".join(values)


TEXT = "text/plain; charset=utf-8"
_PAGES = {
    "SKILL": "start here: everything that an agent needs, with commands that work as they stand",
    "any-language": "start a sandbox, get credentials, make worlds, fail on command, with curl",
    "for-test-authors": "pytest fixtures and markers",
    "for-javascript": "the npm package, with node:test, vitest and jest",
    "control-plane": "every route under /_mock: scenarios, clock, records, journal, worlds",
    "scenarios": "every failure that can be switched on by name",
    "scenario-format": "how to write a scenario",
    "tables": "how to bring records, and the fields of all of them",
    "command-line": "every command and option",
    "python": "the Python interface",
    "glossary": "what the words mean",
}
"""The pages that the list names, with what each is for."""
_INTRODUCTION = """\
# mock_platform

> A sandbox that runs instead of a social platform's real API: v2 webhooks, posts, users and
> streams, OAuth 1.0a and 2.0, and the advertising interface. It follows the specification, keeps
> state, and fails on command.

- Credentials are published and always the same: GET {root}/_mock/credentials
- Why a request was answered as it was: GET {root}/_mock/requests, and /_mock/requests/ID
- Switch a failure on: POST {root}/_mock/scenarios/NAME/activate with {{"parameters": {{}}}};
  or for one request the header X-Mock-Scenario: NAME
- Move the clock: PUT {root}/_mock/clock with {{"action": "advance", "seconds": 3600}}
- Return to the start: POST {root}/_mock/reset
- A world of its own for each test: PUT {root}/_mock/worlds/NAME, then /~NAME in front of any path
- Everything as OpenAPI: GET {root}/_mock/openapi.json
"""


def write_list(
    operations: tuple[Operation, ...],
    root: str,
    locate_page: Callable[[str], str],
    locate_operation: Callable[[str], str],
) -> str:
    """Return the list of all pages; the functions return the address of a page and an operation.

    `root` is the address of the sandbox.
    """
    lines = [_INTRODUCTION.format(root=root), "## Pages", ""]
    lines += [f"- [{name}]({locate_page(name)}): {told}" for name, told in _PAGES.items()]
    lines += ["", "## Operations", ""]
    for each in operations:
        shown = f"{each.method} {'/sandbox' if each.sandbox_only else ''}{each.path}"
        lines.append(f"- [{each.id}]({locate_operation(each.id)}): {shown}: {each.summary}")
    return "\n".join(lines) + "\n"


def write_operation(platform: Platform, operation: Operation, world: World, root: str) -> str:
    """Return the page of an operation, with an example for the sandbox at the address `root`."""
    return "\n".join(_write(collect(platform, operation, world), root)) + "\n"


def find_operation(platform: Platform, name: str) -> Operation:
    """Return the operation with an id.

    Raises:
        ControlRefusal: 404; no operation has it, and the message has the nearest id.
    """
    known = {operation.id: operation for operation in platform.operations}
    if name not in known:
        hint = hint_at_operation(name, known)
        raise ControlRefusal(
            404, f"There is no operation {name!r}.{hint} GET /_mock/operations lists all."
        )
    return known[name]


def show_operation(request: ControlRequest) -> Response:
    """One operation as plain text: parameters, an example that works, failures, assumptions."""
    operation = find_operation(request.platform, request.args["name"])
    text = write_operation(request.platform, operation, request.world, request.base_url)
    return Response(text, content_type=TEXT)


def show_page(request: ControlRequest) -> Response:
    """One page of the documentation as Markdown."""
    names = {file.stem: file for file in folder("docs").glob("*.md")}
    name = request.args["name"]
    if name not in names:
        hint = did_you_mean(name, names)
        raise ControlRefusal(404, f"There is no page {name!r}.{hint} GET /llms.txt lists some.")
    return Response(names[name].read_bytes(), content_type="text/markdown; charset=utf-8")


def show_list(request: ControlRequest) -> Response:
    """Return what there is to read as plain text, for coding agents; also at `/llms.txt`."""
    root = request.base_url
    text = write_list(
        request.platform.operations,
        root,
        lambda name: f"{root}/_mock/pages/{name}.md",
        lambda name: f"{root}/_mock/operations/{name}.txt",
    )
    return Response(text, content_type=TEXT)


def _write(shown: OperationDetails, root: str) -> Iterator[str]:
    operation = shown.operation
    yield f"# {operation.id}"
    yield from ("", f"{operation.method} {shown.path}", "", operation.summary, "")
    yield f"Specification: {operation.spec} (origin: {operation.origin.value})"
    names = ", ".join(operation.auth.names) or "none"
    yield f"Authentication, one of: {names}"
    yield f"Success: {shown.success}"
    yield from ("", "## Parameters", "")
    for each in shown.parameters:
        required = ", required" if each.required else ""
        told = f": {each.told}" if each.told else ""
        allowed = f" One of: {each.allowed}." if each.allowed else ""
        yield f"- {each.name} ({each.place}{required}){told}{allowed}"
    if not shown.parameters:
        yield "None."
    yield from ("", "## Example", "")
    yield from _write_example(shown, root)
    yield from ("", "## Documented failures", "")
    for failure in shown.failures:
        provoked = (
            f": scenario {', '.join(map(str, failure.scenarios))}" if failure.scenarios else ""
        )
        yield f"- {failure.status} {failure.code}".rstrip() + provoked
    yield from ("", "## Scenarios", "", ", ".join(shown.scenarios) or "None names it.")
    yield from ("", "## Assumptions", "")
    yield from (f"- {each.id}: {each.text}" for each in shown.assumptions)
    if not shown.assumptions:
        yield "None."


def _write_example(shown: OperationDetails, root: str) -> Iterator[str]:
    if shown.example is None:
        yield "The records have nothing for an example."
        return
    if shown.needs_steps:
        yield "In a fresh world it is refused: a step before it, a receiver or a record is missing."
        yield ""
    yield from (shown.example.write_curl(root), "", write_python(shown.example, root))


ROUTES = (
    Route("GET", "/operations/<name>.txt", show_operation, media_type="text/plain"),
    Route("GET", "/pages/<name>.md", show_page, media_type="text/markdown"),
    Route("GET", "/llms.txt", show_list, media_type="text/plain"),
)
