"""The worlds of the server: their addresses and credentials, made, copied, reset and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from flask import Response
from msgspec.structs import replace

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.console.answers import (
    ConsolePage,
    FormState,
    answer_form,
    ask,
    go,
    render,
    to_number,
)
from mock_platform.control.refusals import refuse_values
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.worlds import (
    WorldBody,
    addresses,
    delete_world,
    describe_world,
    list_worlds,
    put_world,
)
from mock_platform.core.fields import Text
from mock_platform.core.schema import Schema
from mock_platform.settings import NAMES
from mock_platform.world.clock import format_date, wire_millis
from mock_platform.world.names import DEFAULT, BadWorldName
from mock_platform.world.world import World

PATH = "/console/worlds"
_NOT_MADE = "The world was not made"


MAX_SHOWN = 200
"""Worlds that the list shows; a search finds the others."""


class WorldSearch(Schema):
    """Which worlds are shown."""

    q = Text(load_default="", metadata={"description": "a part of the world's name"})


def show_worlds(request: ControlRequest, form: FormState | None = None) -> Response:
    """Every world with its address, and a form for a new one."""
    clocks = {world.name: world.clock for world in request.platform.worlds}
    worlds, known = [], list_worlds(request)["worlds"]
    wanted = request.query.get("q", "").strip()
    found = [told for told in known if wanted.lower() in told["name"].lower()]
    for told in found[:MAX_SHOWN]:
        # Worlds of other processes, and resting ones, are listed without being opened here.
        clock = clocks.get(told["name"])
        shown = {"seed": "", "requests": "", "now": "", "frozen": False, "where": _locate(told)}
        shown["damaged"] = shown["as_of"] = ""
        shown["age"] = _describe_age(told.get("age_seconds"))
        if clock is not None:
            shown |= {"now": wire_millis(clock.now()), "frozen": clock.frozen}
        worlds.append(shown | told)
    return render(
        request,
        "worlds.html",
        block="content",
        form=form,
        worlds=worlds,
        found=len(found),
        names=[told["name"] for told in known],
        wanted=wanted,
        name_modes=NAMES,
        seed=request.platform.settings.seed,
    )


def make(request: ControlRequest) -> Response:
    """Make a world, and show its addresses and credentials."""

    def create(values: Mapping[str, str]) -> Response:
        name = _create(request, values)
        return _show_made(request, name, f"The world {name} was made.")

    return answer_form(request, create, show_worlds)


def show_world(request: ControlRequest, form: FormState | None = None) -> Response:
    """One world: its addresses, its credentials, and what can be done with it."""
    world = _find(request)
    told = describe_world(world.name, credentials(world), request.origin)
    return render(
        request,
        "world.html",
        block="content",
        form=form,
        shown=world,
        shown_now=wire_millis(world.clock.now()),
        shown_as_of=None if world.as_of is None else format_date(world.as_of),
        addresses=addresses(request.origin, world.name),
        credentials=[(title, _list_rows(title, told["credentials"])) for title in _GROUPS],
        is_default=world.name == DEFAULT,
    )


def show_credentials(request: ControlRequest) -> Response:
    """The test credentials of this world, to be copied."""
    world = request.world
    told = describe_world(world.name, credentials(world), request.origin)
    return render(
        request,
        "credentials.html",
        block="content",
        credentials=[(title, _list_rows(title, told["credentials"])) for title in _GROUPS],
        titles=dict(zip(_GROUPS, ("App", "User", "More"), strict=True)),
    )


def copy(request: ControlRequest) -> Response:
    """Copy a world: its records and clock, none of its scenarios."""
    source = _find(request).name

    def create(values: Mapping[str, str]) -> Response:
        name = _create(request, {"from": source, "name": values.get("name", "")})
        return _show_made(request, name, f"The world {name} is a copy of {source}.")

    return answer_form(request, create, show_world)


def ask_reset(request: ControlRequest) -> Response:
    """Ask whether a world shall be reset."""
    world = _find(request)
    loses = "Its records, scenarios, clock and ids return to its start, and its journal is emptied."
    return _ask(request, world, "reset", loses)


def reset_world(request: ControlRequest) -> Response:
    """Return a world to its start."""
    world = _find(request)
    world.reset()
    return go(request, f"{PATH}/{quote(world.name)}", f"The world {world.name} was reset.")


def ask_delete(request: ControlRequest) -> Response:
    """Ask whether a world shall be deleted; a damaged one is not opened for that."""
    name = request.args["name"]
    world = None if name in request.platform.worlds.list_damaged() else _find(request)
    return _ask(request, world, "delete", "It is gone with all its contents.")


def drop(request: ControlRequest) -> Response:
    """Delete a world; its own console is gone with it, so the list is that of the default world."""
    name, here = request.args["name"], request.world.name
    delete_world(request)
    response = go(request, PATH, f"The world {name} was deleted.")
    if name == here:
        response.headers["Location"] = f"{_locate_root(request, DEFAULT)}{PATH}"
    return response


# -- within ------------------------------------------------------------------------------------


_GROUPS = ("app", "user", "more")


def _create(request: ControlRequest, values: Mapping[str, str]) -> str:
    """Make a world from the values of a form, and return its name, which must be a new one."""
    name = values.get("name", "").strip()
    if name in {world.name for world in request.platform.worlds}:
        text = f"name: there is a world {name!r} already; choose another name, or delete it first"
        raise refuse_values(409, [("name", text)], _NOT_MADE)
    body: dict[str, Any] = {
        key: value
        for key in ("from", "freeze", "as_of", "names", "warnings")
        if (value := values.get(key, "").strip())
    }
    if values.get("seed", "").strip():
        body["seed"] = to_number(values["seed"].strip())
    body["own_credentials"] = "own_credentials" in values
    try:
        put_world(replace(request, args={"name": name}, body=load_body(WorldBody(), body)))
    except BadWorldName as fault:
        raise refuse_values(422, [("name", f"name: {fault}")], _NOT_MADE) from fault
    return name


def _show_made(request: ControlRequest, name: str, said: str) -> Response:
    """Leads to a new world under its own address: it may live in another process."""
    response = go(request, PATH, said)
    response.headers["Location"] = f"{_locate_root(request, name)}{PATH}/{quote(name)}"
    return response


def _locate(told: Mapping[str, Any]) -> str:
    """Return where a world lives, if it is not simply here: resting, or its process."""
    if told.get("resting"):
        return "resting"
    owner = told.get("owner") or told.get("process")
    return "" if owner is None else f"process {owner}"


def _describe_age(seconds: float | None) -> str:
    """Return an age in its largest unit; empty for a world that no process has open."""
    if seconds is None:
        return ""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def _find(request: ControlRequest) -> World:
    return request.platform.worlds.get(request.args["name"])


def _locate_root(request: ControlRequest, name: str) -> str:
    """Return the address of the control plane of a world."""
    return addresses(request.origin, name)["control"]


def _ask(request: ControlRequest, world: World | None, action: str, loses: str) -> Response:
    name = request.args["name"]
    has = "It is damaged and cannot be opened."
    if world is not None:
        requests, deliveries = len(world.journal), len(world.deliveries)
        has = f"It has {requests} requests in its journal and {deliveries} deliveries."
    return ask(
        request,
        f"{action.capitalize()} the world {name}?",
        f"{loses} {has} This cannot be undone.",
        f"{PATH}/{name}/{action}",
        button=f"{action.capitalize()} {name}",
        back=PATH if world is None else f"{PATH}/{name}",
    )


def _list_rows(title: str, credentials: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a group of credentials as pairs of name and value."""
    if title == "more":
        held: Mapping[str, Any] = {
            name: value for name, value in credentials.items() if name not in {"app", "user"}
        }
    else:
        held = credentials[title] or {}
    return [
        (name, ", ".join(value) if isinstance(value, list) else str(value))
        for name, value in held.items()
        if value not in (None, [])
    ]


PAGE = ConsolePage(
    "Worlds",
    PATH,
    (
        Route("GET", PATH, show_worlds, query=WorldSearch, media_type=HTML),
        Route("POST", PATH, make, media_type=HTML, form=True),
        Route("GET", f"{PATH}/<name>", show_world, media_type=HTML),
        Route("POST", f"{PATH}/<name>/copy", copy, media_type=HTML, form=True),
        Route("GET", f"{PATH}/<name>/reset", ask_reset, media_type=HTML),
        Route("POST", f"{PATH}/<name>/reset", reset_world, media_type=HTML, form=True),
        Route("GET", f"{PATH}/<name>/delete", ask_delete, media_type=HTML),
        Route("POST", f"{PATH}/<name>/delete", drop, media_type=HTML, form=True),
    ),
    section="Data",
)
CREDENTIALS = ConsolePage(
    "Credentials",
    "/console/credentials",
    (Route("GET", "/console/credentials", show_credentials, media_type=HTML),),
    section="Reference",
)
