"""Everything that a reader wants to know of one operation, collected from where it is declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from mock_platform.control.known_credentials import credentials
from mock_platform.control.provoking import Provocation, find_provocations
from mock_platform.control.sample_records import use_records_of
from mock_platform.control.sample_values import MINUTE, NEEDS_STEPS
from mock_platform.control.samples import Sample, sample
from mock_platform.core.assumptions import Assumption
from mock_platform.core.fields import Choice
from mock_platform.core.operation import Location, Operation
from mock_platform.coverage.contract import list_documented
from mock_platform.coverage.outcomes import BATCH, Outcome
from mock_platform.platform import Platform
from mock_platform.world.world import World

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


def make_example(platform: Platform, operation: Operation, world: World) -> Sample | None:
    """Returns a request that can be sent as it is; `None` if the records have nothing for it."""
    found = credentials(world)
    try:
        example = use_records_of(world, sample(operation, found), found)
    except (LookupError, TypeError):  # a world without the published app or a record has none
        return None
    return _fill_in(example, world)


def collect(platform: Platform, operation: Operation, world: World) -> OperationDetails:
    """Returns everything about an operation, with an example for the credentials of a world."""
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
        make_example(platform, operation, world),
        operation.id in NEEDS_STEPS,
        operation.returns.status,
        failures,
        tuple(find_naming_scenarios(platform).get(operation.id, ())),
        tuple(dict.fromkeys(operation.all_assumptions)),
    )


def find_naming_scenarios(platform: Platform) -> dict[str, list[str]]:
    """Returns the scenarios of the package that name an operation, by its id."""
    found: dict[str, list[str]] = {}
    for scenario in platform.library:
        rules = platform.library.bind_defaults(scenario)
        named = (name for rule in rules if not rule.everywhere for name in rule.on)
        for name in dict.fromkeys(named):
            found.setdefault(name, []).append(scenario.name)
    return found


def _fill_in(example: Sample, world: World) -> Sample:
    """Returns an example with the current minute of the clock of the world."""
    minute = world.clock.now().strftime("%Y%m%d%H%M")
    path = example.path.replace(quote(MINUTE), minute)
    body = None if example.body is None else example.body.replace(MINUTE, minute)
    return Sample(example.method, path, example.headers, body)


def write_curl(example: Sample, base_url: str) -> str:
    """Returns an example as a shell command that can be copied."""
    return example.write_curl(base_url)


def write_python(example: Sample, base_url: str) -> str:
    """Returns an example as a Python program that can be copied."""
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
