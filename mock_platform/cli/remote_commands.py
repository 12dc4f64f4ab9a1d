"""Acts on a running server: scenarios, clock, journal, worlds."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from mock_platform.cli.command import DEFAULT_URL, CheckFailed, align
from mock_platform.client.interface import WorldFace
from mock_platform.client.remote.control import connect, split_address
from mock_platform.client.remote.journal import RemoteEntry
from mock_platform.client.remote.world import RemotePlatform
from mock_platform.core.errors import (
    BadParameters,
    BadQuery,
    BadRecord,
    BadScenario,
    CannotPerform,
    NothingDue,
    Refused,
    UnknownScenario,
    UnknownTable,
    Unreachable,
    did_you_mean,
)
from mock_platform.core.jsonio import dumps, printable
from mock_platform.names import OwnName
from mock_platform.scenario.outline import is_file
from mock_platform.verification.costs.document import By, describe_costs
from mock_platform.world.clock import wire_millis
from mock_platform.world.endings import describe_end, is_unusual
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from mock_platform.cli.conditions import CoverageConditions
    from mock_platform.verification.coverage.pages import Format

_POLL_SECONDS = 0.3
_SHOWN_IDS = 5
_SECONDS = 90
"""How long an answer to an agent may take."""
_MOST_AT_ONCE = 1000
"""The number of entries that a poll asks for: more than come between two polls."""


@contextmanager
def open_platform(
    url: str | None, world: str | None, control_token: str | None, ca: Path | None
) -> Iterator[RemotePlatform]:
    """Connect to a server; `world` is not used.

    Raises:
        CheckFailed: No server answers, or it refuses.
        click.UsageError: The address is not one.
    """
    address, _ = _split_address(url)
    with _convert_refusals(), _connect(address, control_token, ca) as platform:
        yield platform


@contextmanager
def open_world(
    url: str | None, world: str | None, control_token: str | None, ca: Path | None
) -> Iterator[WorldFace]:
    """Connect to a world of a server.

    Raises:
        CheckFailed: No server answers, it refuses, or it has no world of this name.
        click.UsageError: The address is not one, or it names another world than `world`.
    """
    address, prefix = _split_address(url)
    if prefix and world and prefix != world:
        raise click.UsageError(f"The address names the world {prefix!r}, and --world {world!r}.")
    name = world or prefix or DEFAULT
    with _convert_refusals(), _connect(address, control_token, ca) as platform:
        if name == DEFAULT:
            yield platform
            return
        known = platform.worlds
        if name not in known:
            raise CheckFailed(
                f"{address} has no world {name!r}.{did_you_mean(name, known)} "
                f"It has {', '.join(known)}; PUT {address}/_mock/worlds/{name} makes one."
            )
        yield platform.world(name)


def activate(world: WorldFace, name: str, pairs: Sequence[str]) -> None:
    """Activate a scenario, or that of a file, with parameters written as KEY=VALUE."""
    parameters = _read_pairs(pairs)
    known = world.define(Path(name)) if is_file(name) else OwnName(name)
    world.activate(known, **parameters)
    given = "".join(f" {key}={json.dumps(value)}" for key, value in parameters.items())
    click.echo(f"{known}{given} is on in world {world.name}.")
    (now,) = [each for each in world.scenarios if each["name"] == known]
    for rule in now["rules"]:
        if rule.get("hidden_by") is not None:
            first = str(rule["hidden_by"])
            click.echo(
                f"Rule {rule['rule']} cannot act: {first}, which was on before, acts on each of "
                f"its requests. `mock-platform off {first.rpartition('/')[0]}` lets it."
            )


def deactivate(world: WorldFace, name: str | None) -> None:
    """Deactivate a scenario, or that of a file, or all of them.

    Raises:
        BadScenario: The file cannot be read.
    """
    if name is not None and is_file(name):
        from mock_platform.scenario.document import read_source  # quick commands do without

        found = read_source(Path(name)).data
        name = str(found.get("name")) if isinstance(found, dict) else name
    active = [each["name"] for each in world.scenarios if each["active"]]
    world.deactivate(None if name is None else OwnName(name))
    if name is not None:
        was = "" if name in active else " It was not on."
        click.echo(f"{name} is off in world {world.name}.{was}")
    else:
        which = f" (was on: {', '.join(active)})" if active else ""
        click.echo(f"All scenarios are off in world {world.name}{which}.")


def reset_world(world: WorldFace) -> None:
    """Return a world to its start."""
    world.reset()
    click.echo(f"World {world.name} is at its start.")


def show_clock(world: WorldFace) -> None:
    """Print the moment of a world, and whether its clock is stopped."""
    state = "stopped" if world.clock.frozen else "running"
    click.echo(f"{wire_millis(world.clock.now())} {state}")


def advance_to_next(world: WorldFace) -> None:
    """Move the clock of a world to the next thing that is due, and print what it was.

    Raises:
        CheckFailed: Nothing is due.
    """
    try:
        happened = world.clock.advance(to="next")
    except NothingDue as fault:
        raise CheckFailed(str(fault)) from fault
    for each in happened:
        of = each.id if each.table is None else f"{each.table}/{each.id}"
        click.echo(f"{wire_millis(each.at)} {each.kind} {of}")


def change_clock(
    world: WorldFace, action: str, moment: datetime | Literal["now"] | None, seconds: float
) -> None:
    """Change the clock of a world: `freeze` and `travel` to a moment, `advance`, or `resume`.

    Raises:
        CheckFailed: The clock cannot be at that moment.
    """
    try:
        if action == "freeze":
            world.clock.freeze(None if moment == "now" else moment)
        elif action == "travel" and moment is not None:
            world.clock.travel(moment)
        elif action == "advance":
            world.clock.advance(seconds=seconds)
        else:
            world.clock.resume()
    except OverflowError as fault:
        raise CheckFailed("The clock cannot go so far: the last year is 9999.") from fault
    except ValueError as fault:
        if isinstance(fault, Refused):
            raise
        raise CheckFailed(str(fault)) from fault


def show_requests(
    world: WorldFace,
    query: Mapping[str, Any],
    limit: int,
    form: Literal["text", "json"],
    *,
    follow: bool,
) -> None:
    """Print the newest entries of a journal, oldest first; with `follow` also those to come."""
    wanted = {name: value for name, value in query.items() if value is not None}
    found = world.journal.find(**wanted, limit=limit)
    _print_entries(found, form)
    if not found and form == "text":
        click.echo(_explain_nothing(world, wanted, follow=follow), err=True)
    last = max(map(_read_number, found), default=-1)
    pause = threading.Event()
    while follow:
        pause.wait(_POLL_SECONDS)
        found = world.journal.find(**wanted, limit=_MOST_AT_ONCE)
        # The numbers begin again when the server starts again.
        newest = max(map(_read_number, found), default=-1)
        if newest < last:
            last = -1
        _print_entries([entry for entry in found if _read_number(entry) > last], form)
        last = max(last, newest)


def show_costs(world: WorldFace, by: By, form: Literal["text", "json"]) -> None:
    """Print what the calls would have cost: a sentence, and a row for each item."""
    found = world.costs(by)
    if form == "json":
        _print_json(found)
        return
    click.echo(f"{describe_costs(found)}.")
    if found["items"]:
        names = ("usd", "calls", "resources", "key")
        rows = [[str(item[name]) for name in names] for item in found["items"]]
        click.echo(align([("US$", "calls", "charged", by), *rows]))


def show_coverage(world: WorldFace, form: Format, conditions: CoverageConditions) -> None:
    """Print the coverage of a world; the default one counts all.

    Raises:
        CheckFailed: The coverage is not as it must be.
        click.UsageError: The patterns or the baseline cannot be used.
    """
    from mock_platform.verification.coverage.pages import render  # loads all operations

    found = world.coverage()
    gate = conditions.make_gate([row["id"] for row in found["operations"]], "--")
    found = gate.scope.restrict(found)
    click.echo(render(found, form, gate), nl=False)
    if form == "json":
        click.echo()
    failures = gate.list_failures(found)
    if failures:
        raise CheckFailed("\n".join(line for each in failures for line in [each.text, *each.lost]))


def make_records(
    world: WorldFace,
    table: str,
    count: int,
    pairs: Sequence[str],
    seed: int | None,
    form: Literal["text", "json"],
) -> None:
    """Make records with fields that are written as KEY=VALUE, and print what was made."""
    fields = _read_pairs(pairs)
    reserved = fields.keys() & {"table", "count", "seed"}
    if reserved:
        raise click.UsageError(f"{min(reserved)} is no field: make TABLE COUNT --seed N KEY=VALUE.")
    try:
        made = world.make(OwnName(table), count, seed=seed, **fields)
    except TypeError as fault:  # a number that JSON has and nobody can send
        raise click.UsageError(f"{fault}.") from fault
    if form == "json":
        _print_json(made)
        return
    shown = ", ".join(made["ids"][:_SHOWN_IDS]) + (" …" if made["made"] > _SHOWN_IDS else "")
    click.echo(f"{made['made']:,} {table} were made in world {world.name}: {shown}")


def save_case(world: WorldFace, file: Path) -> None:
    """Write a world with its requests to a file.

    Raises:
        CheckFailed: The file cannot be written.
    """
    try:
        world.save_case(file)
    except OSError as fault:
        raise CheckFailed(f"{file} cannot be written: {fault.strerror}.") from fault
    count = len(world.journal)
    click.echo(
        f"World {world.name} with its {count:,} request{'' if count == 1 else 's'} is in {file}. "
        f"`mock-platform open {shlex.quote(str(file))}` serves the same world."
    )


def show_worlds(platform: RemotePlatform) -> None:
    """Print each world with its base address."""
    names = platform.worlds
    width = max(map(len, names))
    for name in names:
        prefix = "" if name == DEFAULT else f"/~{name}"
        click.echo(f"{name.ljust(width)}  {platform.base_url}{prefix}")


def pass_messages(world: WorldFace, token: str | None, ca: Path | None) -> None:
    """Pass each line of standard input to the server for agents, and its answer to the output."""
    # The whole address of a world lets the tools act on that world alone.
    url = f"{world.control_url}/mcp"
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    with connect(token, ca) as http:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            try:
                answer = http.post(url, data=line, headers=headers, timeout=_SECONDS)
                text, given = answer.content, answer.headers.get("Content-Type", "")
                told = text if given == "application/json" else _make_rpc_error(line, answer.text)
            except OSError as fault:
                told = _make_rpc_error(line, f"no server answers at {url}: {fault}")
            if told:
                sys.stdout.buffer.write(told.strip() + b"\n")
                sys.stdout.buffer.flush()


def _make_rpc_error(line: bytes, text: str) -> bytes:
    """Return the error that answers a message which reached no tool; nothing for a notice."""
    with suppress(ValueError):
        sent = json.loads(line)
        number = sent.get("id") if isinstance(sent, dict) else None
        if number is not None and text:
            error = {"code": -32000, "message": text}
            return dumps({"jsonrpc": "2.0", "id": number, "error": error})
    return b""


def _explain_nothing(world: WorldFace, wanted: Mapping[str, Any], *, follow: bool) -> str:
    """Return why nothing is listed, and what to do."""
    count = world.journal.count()
    if count and wanted:
        told = " and ".join(f"{name} {value}" for name, value in wanted.items())
        text = f"No request of world {world.name} has {told}; its journal has {count}."
    elif count:
        text = f"The journal of world {world.name} has {count}, and --limit 0 lists none."
    else:
        text = f"World {world.name} had no request yet. `mock-platform worlds` lists all worlds."
    return f"{text} Waiting for more." if follow else text


def _print_entries(entries: Sequence[Any], form: Literal["text", "json"]) -> None:
    for entry in entries:
        if form == "json":
            _print_json(entry.as_json())
        else:
            click.echo(_describe_entry(entry))


def _print_json(value: Any) -> None:
    """Print a value in one line, without what controls a terminal."""
    click.echo(printable(dumps(value).decode()))


def _describe_entry(entry: RemoteEntry) -> str:
    operation = entry.operation or entry.custom or "no operation"
    text = f"{wire_millis(entry.at)} {entry.status} {entry.method} {entry.url}  {operation}"
    if entry.tool is not None:
        text += f"  (tool {entry.tool})"
    if entry.rule is not None:
        text += f"  [{entry.rule['scenario']}/{entry.rule['rule']}]"
    if is_unusual(entry.ended):
        text += f"  {describe_end(entry.ended)}"
    notes = [] if entry.why is None else [entry.why]
    notes += [warning for warning in entry.warnings if f"{warning}." != entry.why]
    return "\n".join([text, *(f"    {note}" for note in notes)])


def _read_number(entry: Any) -> int:
    """Return the number in the id of an entry, which grows with each request."""
    return int(entry.id.removeprefix("r"))


def _read_pairs(texts: Sequence[str]) -> dict[str, Any]:
    """Return values written as KEY=VALUE.

    Raises:
        click.UsageError: One has another form, or two have the same key.
    """
    found: dict[str, Any] = {}
    for key, value in map(_read_pair, texts):
        if key in found:
            raise click.UsageError(f"{key!r} is given more than once; give one value.")
        found[key] = value
    return found


def _read_pair(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise click.UsageError(f"{text!r} is not KEY=VALUE, such as period=Daily.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _split_address(url: str | None) -> tuple[str, str | None]:
    """Return the address of the server, and the world that the end of `url` names."""
    return split_address(url or os.environ.get("MOCK_PLATFORM_URL") or DEFAULT_URL)


def _connect(address: str, token: str | None, ca: Path | None) -> RemotePlatform:
    try:
        return RemotePlatform(address, token=token, ca=ca)
    except Refused:
        raise
    except ValueError as fault:
        raise click.UsageError(str(fault)) from fault


@contextmanager
def _convert_refusals() -> Iterator[None]:
    """Convert what the Python interface raises into the message and status of a command."""
    try:
        yield
    except (Refused, Unreachable, UnknownScenario, BadParameters, BadQuery, CannotPerform) as fault:
        text = str(fault.args[0]) if isinstance(fault, LookupError) else str(fault)
        raise CheckFailed(text) from fault
    except (BadScenario, BadRecord, UnknownTable) as fault:
        raise CheckFailed(str(fault)) from fault
    except UnicodeEncodeError as fault:  # bytes of another encoding, which Python keeps like this
        raise click.UsageError(f"{fault.object!r} is not UTF-8 text.") from fault
