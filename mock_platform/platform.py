"""The product without IO: worlds and operations; it takes a call and returns a reply."""

from __future__ import annotations

import itertools
import logging
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mock_platform.api.datasets import make_dataset
from mock_platform.api.served import (
    AGENT_TOOLS,
    ASSUMPTIONS,
    KINDS,
    NOT_SERVED,
    OPERATIONS,
    ORIGINAL_NAMES,
    PUBLISHED_IDS,
    SPEC_SENTENCES,
    TABLES,
)
from mock_platform.api.v2.activity.activities import Happenings
from mock_platform.api.v2.compliance.causes import record_changes
from mock_platform.api.v2.streams.open_streams import OpenStreams
from mock_platform.api.v2.user_relations.changes import accept_when_public
from mock_platform.core import installed as shipped
from mock_platform.core.address import may_be_of_agent
from mock_platform.core.assumptions import Assumption, register
from mock_platform.core.auth.authenticate import CORE_ASSUMPTIONS
from mock_platform.core.auth.lookup import CREDENTIAL_TABLES, WorldCredentials, credential_hints
from mock_platform.core.call import Call, Challenge, Reply
from mock_platform.core.cluster_peers import Alone, Peers
from mock_platform.core.description.openapi import V2_VERSION, describe
from mock_platform.core.description.views import Description
from mock_platform.core.failures.errors import (
    ADS_ERRORS,
    INVALID_TOKEN_REASON,
    NOT_SHOWN,
    OAUTH_CODES,
    ORDER_OF_ERRORS,
    Failure,
    NotStored,
    ProblemFailure,
)
from mock_platform.core.failures.problems import PROBLEM_TITLES, STATUS_BY_TYPE, problem
from mock_platform.core.failures.rendering import (
    RECORDED_STATUSES,
    make_internal_error,
    render,
)
from mock_platform.core.faults import V2_WORDS
from mock_platform.core.journal_entries import make_entry, make_markers, sort_assumptions
from mock_platform.core.limits import OAUTH_LIMIT, RECORDED_LIMITS
from mock_platform.core.operation import Operation
from mock_platform.core.operation_routes import TRAILING_SLASH_TAKEN, OperationRoutes
from mock_platform.core.original_names.description import write_description
from mock_platform.core.original_names.exchange import BOTH_NAMES_ARE_TAKEN
from mock_platform.core.pipeline import (
    HTTP_ON_LOOPBACK,
    RELEASE_CLOCK,
    Compiled,
    compile_operation,
)
from mock_platform.core.reasons import explain
from mock_platform.core.recorded_headers import (
    RECORDED_HEADERS,
    compress,
    dress_recorded,
    frame_recorded,
)
from mock_platform.core.tables import fixtures
from mock_platform.core.tables.fixtures import Overlays
from mock_platform.core.tables.table import Tables
from mock_platform.core.unanswered import (
    Unanswered,
    reply_to_closed_world,
    reply_to_unknown_world,
)
from mock_platform.core.unread import IGNORED_PARAMETERS, UNKNOWN_REFUSED
from mock_platform.core.wire import RECORDED_WIRE, choose_form
from mock_platform.core.wire_choice import read_wire
from mock_platform.delivery.deliverer import Deliverer
from mock_platform.delivery.sender import Stale
from mock_platform.scenario.director import CustomAnswers, ServerScenarios, bind_stages, find_engine
from mock_platform.settings import NamesMode, Settings
from mock_platform.world.blueprint import Blueprint, WorldSettings
from mock_platform.world.clock import UPTIME, machine_now
from mock_platform.world.journal import JournalEntry, JournalMemory
from mock_platform.world.names import TooManyWorlds, UnknownWorld
from mock_platform.world.store.errors import (
    StoreError,
    StoreUnreachable,
    StoreUnwritable,
    WorldLost,
)
from mock_platform.world.store.interface import Change
from mock_platform.world.store.memory import Base
from mock_platform.world.world import StoreMaker, World
from mock_platform.world.worlds import CredentialIndex, Owners, Worlds

if TYPE_CHECKING:
    from mock_platform.core.agents import AgentServers

_CORE = (
    *CORE_ASSUMPTIONS,
    IGNORED_PARAMETERS,
    ADS_ERRORS,
    NOT_SHOWN,
    OAUTH_CODES,
    OAUTH_LIMIT,
    ORDER_OF_ERRORS,
    INVALID_TOKEN_REASON,
    HTTP_ON_LOOPBACK,
    BOTH_NAMES_ARE_TAKEN,
    RELEASE_CLOCK,
    STATUS_BY_TYPE,
    PROBLEM_TITLES,
    TRAILING_SLASH_TAKEN,
    RECORDED_WIRE,
    V2_WORDS,
    UNKNOWN_REFUSED,
    RECORDED_STATUSES,
    RECORDED_HEADERS,
    RECORDED_LIMITS,
)
Answerer = Callable[[Call, World, Exception | None], tuple[Reply, Sequence[Change]]]
"""Answers a call in a world, or refuses it; also returns what was changed."""
_LOG = logging.getLogger(__name__)


class Platform:
    """Answers calls. Uses no socket, no web framework and no real time."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        base: Base | None = None,
        store: StoreMaker | None = None,
        owners: Owners | None = None,
        worlds: Callable[..., Worlds] = Worlds,
        deliverer: Callable[..., Deliverer] = Deliverer,
    ) -> None:
        self.settings = settings = settings or Settings()
        self.tables: Tables = {table.name: table for table in TABLES}
        self.description = Description(self._describe, self.write_original, lambda: self.operations)
        """Return the v2 interface as an OpenAPI document."""
        self.operations = OPERATIONS
        self.base = base or load_base(settings)
        self.overlays = Overlays(
            lambda folders: load_base(replace(settings, fixtures=tuple(folders)))
        )
        """Return the fixtures of a world that asks for its own."""
        self._credentials = WorldCredentials(self.base)
        self.started = UPTIME()
        self.errors: list[BaseException] = []
        """Errors in the sandbox itself; the owner of the platform raises them."""
        self.on_error: Callable[[BaseException], None] = self.errors.append
        # The order of what follows is that of dependence: worlds ask for functions that prepare
        # them, and the default world is made as soon as `Worlds` is. Whoever registers later is
        # called for it as well, by `on_world`.
        self._prepare: list[Callable[[World], None]] = []
        blueprint = Blueprint(
            self.base,
            KINDS,
            WorldSettings(
                seed=settings.seed,
                freeze=settings.freeze,
                journal_entries=settings.journal_entries,
                journal_bytes=settings.journal_bytes,
                names=settings.names,
                wire=None if settings.wire is None else read_wire(settings.wire).name,
                refuse_warnings=settings.warnings == "error",
                all_releases=settings.releases == "all",
                as_of=settings.as_of,
            ),
            JournalMemory(settings.journal_total_bytes),
        )
        self.worlds = worlds(
            blueprint,
            limit=settings.max_worlds,
            store=store,
            prepare=self._prepare_world,
            credentials=CredentialIndex(CREDENTIAL_TABLES, self._credentials.compare),
            owners=owners,
        )
        self.peers: Peers = Alone()
        """The other processes of the server."""
        self.deliverer = deliverer(settings.delivery, self._report_error)
        """Delivers to webhooks; starts its threads with the first delivery."""
        for prepare in (
            self.deliverer.attach, self._attach_parts, accept_when_public, record_changes
        ):  # fmt: skip
            self.on_world(prepare)
        self.worlds.dropped_listeners += [
            self.deliverer.detach,
            lambda world: world.find_attachment(OpenStreams).close("world_removed"),
            lambda world: world.journal.close(),
        ]
        self.closing = threading.Event()
        """Set when the platform closes: all waiting ends."""
        self._scenarios = ServerScenarios(
            settings.scenarios, self.operations, self.tables, self.worlds
        )
        self.library = self._scenarios.library
        """The scenarios that every world knows."""
        self.start_up = self._scenarios.start_up
        """The scenarios of the start, and their files."""
        self.fired_rules = self._scenarios.fired_rules
        """The rules that acted so far, in any world: the name of a scenario and a number."""
        self.check_scenario = self._scenarios.check
        self.reload_scenario = self._scenarios.reload
        self.disable_connections = self._scenarios.disable_connections
        self.on_world(self._scenarios.add_engine)
        self._custom = CustomAnswers(settings)
        self._requests = itertools.count(1)
        self.observers: list[Callable[[JournalEntry], None]] = []
        """Called with each entry of every journal, after the reply was made: for metrics."""
        self.warning_observers: list[Callable[[JournalEntry], None]] = []
        """Called with each entry that has warnings, likewise."""
        self.shadow: Callable[[], dict[str, Any]] | None = None
        """Return how another service answers differently, if requests are sent there as well."""
        self.stray_listeners: list[Callable[[Call, str], None]] = []
        """Called for each request to a missing world, with the world's name."""
        self._routes = OperationRoutes(
            self.operations,
            self._compile_one,
            [entry.path for entry in NOT_SERVED],
            ORIGINAL_NAMES.list_paths,
        )
        self.where = self._routes.find_operation
        self.methods_at = self._routes.list_methods
        self.may_block = self._routes.may_block
        self.opens_stream = self._routes.opens_stream

    # -- a request -------------------------------------------------------------------------------

    def handle(
        self, call: Call, refused: Exception | None = None, through: Answerer | None = None
    ) -> Reply:
        """Return the reply to a call; `refused` ends it at once, in the call's dialect.

        `through` answers in place of `answer`, and may call that. `Reply.sending` describes
        what to do: a delay, a network fault.
        """
        started = UPTIME()
        call.request_id = f"r{next(self._requests)}"
        try:
            world = self.world_of(call)
        except (UnknownWorld, StoreError, TooManyWorlds) as error:
            return self._answer_without_world(call, error)
        except Exception as error:  # noqa: BLE001 - raised below, where the journal learns of it
            world, refused = self.worlds.default, error
        # The moment of the request is read before it is answered: an answer that moves the clock,
        # or waits, is journalled at the time at which the request came.
        call.came = world.clock.now(), world.clock.jumps
        changes: Sequence[Change] = ()
        failed: str | None = None
        try:
            # Three kinds of failure end here. A world that was dropped meanwhile: the call is
            # answered like one to an unknown world, or once more if the world was only put to rest.
            # A store that cannot write: nothing has changed, and the client is told so. Anything
            # else is a fault of the sandbox itself; it is kept for the owner of the platform, and
            # the client gets the interface's own internal error.
            reply, changes = (through or self.answer)(call, world, refused)
            self.worlds.check_still_here(world, changes)
        except (UnknownWorld, WorldLost) as error:  # dropped while the call waited for it
            call.take_back()
            again = world.moved and isinstance(error, UnknownWorld)  # put to rest meanwhile
            return (
                self.handle(call, refused, through)
                if again
                else self._answer_without_world(call, error)
            )
        except StoreError as error:
            reply = self._refuse_unstored(call, error)
        except Exception as error:  # noqa: BLE001 - handed to the embedder, told to the client
            failed = traceback.format_exc()
            self.on_error(error)
            reply = render(make_internal_error(error, call), call)
        # The operation opened a stream, and a rule or a hook then put another answer in its place.
        # Nobody will read the stream, so it is closed, or it would keep its slot.
        if call.stream is not None and reply.stream is not call.stream:
            call.stream.close()  # something else answered in its place
        # The journal has the answer as it is sent, so everything that changes it comes before the
        # entry is made.
        turn = world.count_request() if call.turn is None else call.turn
        packs = _complete(call, reply, world, turn, started)
        assumptions = sort_assumptions(tuple(call.assumptions))
        is_plain = reply.status < 400 and call.rule is None and call.without_effect is None
        why = None if is_plain else explain(call, reply, world.clock)
        if self.settings.markers:
            reply.headers += make_markers(call, assumptions, why)
        milliseconds = (UPTIME() - started) * 1000
        at = call.came[0]
        reply.entry = entry = make_entry(
            call, reply, world.name, at, milliseconds, assumptions, changes, failed, why, turn
        )
        self._record(entry, call, world)
        if call.tool is not None:
            call.tool.frame(call, reply)
            packs = call.wire != "spec" and frame_recorded(call, reply)
        if packs:
            compress(reply)
        return reply

    def answer(
        self, call: Call, world: World, refused: Exception | None = None
    ) -> tuple[Reply, Sequence[Change]]:
        """Return the answer of a call's operation, or its refusal, and what it changed."""
        call.as_of = world.as_of
        call.names, call.chosen = choose_form(call, world.names, world.wire)
        call.wire = call.chosen.form
        changes: Sequence[Change] = ()
        try:
            if refused is not None:
                raise refused
            # A path without an operation may still have an answer, from a scenario's own routes;
            # only if there is none either is it unknown.
            found = self._routes.find(call)
            if found.target is None:
                if may_be_of_agent(call.path):
                    for_agent = self._agents.answer(call, world)
                    if for_agent is not None:
                        return for_agent
                allowed = found.allowed
                return self._custom.answer(
                    call, world, lambda: self.unanswered_requests.failure(call, allowed)
                )
            if call.names == "original" and len(call.body) <= found.target.max_body:
                ORIGINAL_NAMES.read(call, found.target.operation)
            reply, changes = found.target.run(call, world, found.params)
        except Failure as failure:
            reply = render(failure, call)
            find_engine(world).rules.explain_refusal(call, reply.status)
        if call.names == "original":
            reply = ORIGINAL_NAMES.write(call, reply)
        return reply, changes

    def world_of(self, call: Call) -> World:
        """Return the world of a call: by path prefix, header or credential, or the default one.

        Raises:
            UnknownWorld: The named world does not exist.
        """
        # From the most explicit to the least: the prefix of the path, the header, and only then the
        # credentials, which choose a world if they belong to one alone. With a single world nothing
        # is looked up at all.
        name = call.world_prefix
        if name is None:
            name = call.header("x-mock-world")
        if name is not None:
            return self.worlds.get(name)
        if len(self.worlds) > 1 or self.worlds.shared:
            for hint in credential_hints(call):
                if not self.may_choose(hint):
                    continue
                world = self.worlds.owner_of(hint)
                if world is not None:
                    return world
        return self.worlds.default

    def may_choose(self, credential: str) -> bool:
        """Whether a credential may be of one world alone, and so choose it."""
        return not self._credentials.is_shared(credential)

    @cached_property
    def unanswered_requests(self) -> Unanswered:
        """The answers for requests that no operation answers."""
        return Unanswered(self.operations, NOT_SERVED)

    def repeat_of_agent(self, call: Call, tool: str | None) -> None:
        """Let a recorded request be answered as the call of a tool, or another message, it was."""
        self._agents.repeat(call, tool)

    def assumptions(self) -> dict[str, Assumption]:
        """Return the register of all assumptions, by id."""
        from mock_platform.core.agents import ASSUMPTIONS as OF_AGENTS  # as in `_agents`

        left_out = (entry.assumption for entry in NOT_SERVED)
        declared = (operation.all_assumptions for operation in self.operations)
        return register(_CORE, ASSUMPTIONS, OF_AGENTS, left_out, *declared)

    def reload(self, base: Base) -> None:
        """Reset the default world with other fixtures; new worlds start with them as well."""
        self._credentials.add_base(base)
        self.worlds.rebase(base)
        self.base = base

    def close(self) -> None:
        """Stop all background work: running deliveries and open streams are ended. Idempotent.

        Calls are still answered.
        """
        self.closing.set()
        for world in self.worlds:
            with suppress(UnknownWorld):  # dropped meanwhile
                world.find_attachment(OpenStreams).close("server_stop")
        self.deliverer.close()

    def number_requests(self, first: int, step: int) -> None:
        """Number the requests in steps, so that several processes never use the same number."""
        self._requests = itertools.count(first, step)

    def on_world(self, prepare: Callable[[World], None]) -> None:
        """Call `prepare` with every world: the existing ones, and each new one."""
        self._prepare.append(prepare)
        for world in self.worlds:
            prepare(world)

    # -- details ---------------------------------------------------------------------------------

    def _challenge(self, world: World, challenge: Challenge) -> None:
        """Make a challenge that a request waits for; no lock is held.

        Raises:
            ProblemFailure: The world was reset or dropped meanwhile.
        """
        try:
            self.deliverer.challenge(world, challenge)
        except Stale as error:
            detail = (
                "The world was reset or removed during the challenge, or the server stops; send "
                "the request again."
            )
            value = problem("about:blank", title="Service Unavailable", status=503, detail=detail)
            raise ProblemFailure(value) from error

    @cached_property
    def _agents(self) -> AgentServers:
        # Nothing else loads it, and most servers never meet an agent.
        from mock_platform.core.agents import AgentServers

        names = {*PUBLISHED_IDS.values(), *AGENT_TOOLS.values()}
        return AgentServers(
            self.settings, self.operations, names, self._describe_tools, self._compile_one,
            self.answer,
        )  # fmt: skip

    def _describe_tools(self, kind: Literal["v2", "ads"], names: NamesMode) -> dict[str, Any]:
        """Return the description of the operations that are tools of a server for agents."""
        if kind == "v2":
            return self.description.at("", names)
        ours = [operation for operation in self.operations if operation.id in AGENT_TOOLS]
        described = describe(
            ours,
            self.settings,
            original_names=ORIGINAL_NAMES,
            spec_sentences={},
            published_ids=AGENT_TOOLS,
            title="",
            version="",
            text="",
        )
        return self.write_original(described) if names == "original" else described

    def _compile_one(self, operation: Operation) -> Compiled:
        stages = bind_stages(operation)
        return compile_operation(operation, self.settings, *stages, self._challenge)

    def _attach_parts(self, world: World) -> None:
        world.attach(self.description)
        world.attach(Happenings())
        OpenStreams(world, self.settings, ORIGINAL_NAMES.write_event)

    def _describe(self) -> dict[str, Any]:
        return describe(
            [operation for operation in self.operations if operation.dialect == "v2"],
            self.settings,
            original_names=ORIGINAL_NAMES,
            spec_sentences=SPEC_SENTENCES,
            published_ids=PUBLISHED_IDS,
            title="Platform API v2",
            version=V2_VERSION,
            text="The v2 interface, as this sandbox serves it. `x-mock-spec` names the heading of "
            "the specification that an operation rests on, `x-mock-assumptions` what the "
            "specification does not show.",
        )

    def write_original(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a description of these operations with original names."""
        return write_description(document, self.operations, ORIGINAL_NAMES)

    def _refuse_unstored(self, call: Call, fault: StoreError) -> Reply:
        """Return the reply to a call that changed nothing, because the store has a fault."""
        _LOG.warning("%s", fault)
        call.rule = None  # whatever a rule did was undone
        call.take_back()
        full = isinstance(fault, StoreUnwritable) and not isinstance(fault, StoreUnreachable)
        return render(NotStored(str(fault)), call) if full else reply_to_closed_world(fault)

    def _answer_without_world(
        self, call: Call, fault: UnknownWorld | StoreError | TooManyWorlds
    ) -> Reply:
        """Return the reply to a call whose world does not exist, or cannot be opened here."""
        call.operation = None  # none answers
        if isinstance(fault, UnknownWorld):
            self._stray(call, fault.name)
            reply = reply_to_unknown_world(fault)
        else:
            _LOG.warning("%s", fault)
            reply = reply_to_closed_world(fault)
        if self.settings.markers:
            assumptions = sort_assumptions(tuple(call.assumptions))
            reply.headers += make_markers(call, assumptions, explain(call, reply))
        return reply

    def _record(self, entry: JournalEntry, call: Call, world: World) -> None:
        world.journal.add(entry)
        for observe in self.observers:
            observe(entry)
        if entry.coded_warnings:
            for observe in self.warning_observers:
                observe(entry)
        if world.closed:  # dropped while it answered
            self._stray(call, world.name)

    def _stray(self, call: Call, world: str) -> None:
        for listen in self.stray_listeners:
            listen(call, world)

    def _report_error(self, fault: BaseException) -> None:
        if isinstance(fault, StoreUnwritable):  # the disk's fault, not ours
            _LOG.warning("%s", fault)
        else:
            self.on_error(fault)

    def _prepare_world(self, world: World) -> None:
        for prepare in self._prepare:
            prepare(world)


def _complete(call: Call, reply: Reply, world: World, turn: int, started: float) -> bool:
    """Give a reply all headers of its wire; return whether its body is to be compressed."""
    if call.method == "HEAD":
        _remove_body(reply)
    if call.wire != "spec":
        return dress_recorded(call, reply, world, turn, (UPTIME() - started) * 1000)
    reply.headers += call.extra_headers
    return False


def _remove_body(reply: Reply) -> None:
    """Turn the reply to a GET into that to a HEAD."""
    if reply.header("content-length") is None and not reply.is_open_ended:
        reply.headers.append(("Content-Length", str(len(reply.body))))
    reply.body = b""


def load_base(settings: Settings) -> Base:
    """Return the fixtures for a server with these settings.

    Raises:
        BadFixtures: The fixtures have faults.
    """
    own = shipped.folder("fixtures") if settings.default_fixtures else None
    more = settings.default_fixtures and settings.dataset != "small"
    now = settings.freeze or machine_now()
    dataset = make_dataset(settings.dataset, now) if more else None
    return fixtures.load(settings.fixtures, TABLES, now, dataset, own)
