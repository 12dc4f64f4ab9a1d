"""The Flask application: every operation is a rule of it, and users add routes and hooks.

Flask's own dispatch costs as much as a whole request of ours. So a request takes that path only if
something needs it: a hook, an error handler, a receiver of a signal, a replaced view, or an added
route where no operation answers. The edge checks this for each request; both paths answer alike.

An operation answers wherever one is found, so an added route cannot take its place; a route that
could never be reached is refused. To change an answer, replace the view of the operation's id, or
use a hook or a scenario.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence, Sized
from typing import TYPE_CHECKING, Any

import flask
from flask import Flask, Response
from flask.testing import FlaskClient
from msgspec import Struct
from werkzeug.exceptions import (
    HTTPException,
    InternalServerError,
    NotFound,
)
from werkzeug.exceptions import (
    MethodNotAllowed as WrongMethod,
)
from werkzeug.routing import Map, Rule, RuleFactory
from werkzeug.wsgi import ClosingIterator

from mock_platform.control.route import WORLD
from mock_platform.core.address import ICON, LIST, SANDBOX, is_control
from mock_platform.core.call import Call, Reply
from mock_platform.core.connection import Direct, Request
from mock_platform.core.failures.codes import phrase
from mock_platform.core.failures.errors import Failure, MethodNotAllowed
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.serving.flask.rules import CONVERTER, Segment, rules, sample
from mock_platform.world.store.interface import Change
from mock_platform.world.world import World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment
    from flask.sansio.blueprints import Blueprint
    from werkzeug.test import TestResponse


# The test client of the Flask application.


class PlatformClient(FlaskClient):
    """Flask's test client; relative addresses start at its base address if it has one."""

    def __init__(self, *args: Any, base_url: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base_url = base_url.rstrip("/")

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Send a request; `/2/…` is joined to the base address."""
        if args and isinstance(args[0], str) and args[0].startswith("/"):
            args = (self.base_url + args[0], *args[1:])
        return super().open(*args, **kwargs)


_EXCHANGE = "mock_platform.exchange"


class UnreachableRoute(ValueError):
    """An added route could never be reached."""


class Exchange(Struct):
    """A request on its way through Flask, and its operation's answer, if it was called."""

    platform: Platform
    call: Call
    world: World
    refused: Exception | None
    operation: Operation | None
    reply: Reply | None = None
    changes: Sequence[Change] = ()

    def answer(self, refused: Failure | None = None) -> Response:
        """Return the platform's answer or refusal as a response."""
        self.reply, self.changes = self.platform.answer(
            self.call, self.world, refused or self.refused
        )
        return _Answer([self.reply.body], self.reply.status, self.reply.headers)


class _Answer(Response):
    """A response with the headers of the reply only."""

    default_mimetype = None


class Views(dict[str, Callable[..., Any]]):
    """The views by endpoint; remembers which views of operations were replaced."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        super().__init__((operation.id, _answer_operation) for operation in operations)
        self.replaced: set[str] = set()
        self._operations = frozenset(self)

    def __setitem__(self, endpoint: str, view: Callable[..., Any]) -> None:
        if endpoint in self._operations:
            self.replaced.add(endpoint)
        super().__setitem__(endpoint, view)


def _answer_operation(**_: str) -> Response:
    exchange: Exchange = flask.request.environ[_EXCHANGE]
    return exchange.answer()


class RuleMap(Map):
    """A map that calls `check` with each rule before it is added."""

    admit: Callable[[Rule], None] | None = None
    """Raises for a rule that cannot be added."""

    def add(self, rulefactory: RuleFactory) -> None:
        """Add rules to the map.

        Raises:
            Unreachable: One of the rules could never be reached.
        """
        for rule in rulefactory.get_rules(self):
            if self.admit is not None:
                self.admit(rule)
        super().add(rulefactory)


class PlatformApplication(Flask):
    """A platform as a Flask application. Routes, blueprints and hooks can be added at any time."""

    url_map_class = RuleMap

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._map: Map | None = None
        self._map_lock = threading.RLock()
        self.adds_routes = False
        """Whether a user added a route."""
        super().__init__("mock_platform.serving.app", static_folder=None)
        self.view_functions = self._views = Views(platform.operations)
        self._error_handlers: list[Callable[..., Any]] = []
        # Flask keeps each kind of hook in a container of its own. The containers themselves are
        # listed here, not their contents, so that a hook that is added at any time is noticed by
        # the next request.
        self.listening: tuple[Sized, ...] = (
            self.before_request_funcs[None],
            self.after_request_funcs[None],
            self.teardown_request_funcs[None],
            self.url_value_preprocessors[None],
            self.teardown_appcontext_funcs,
            self._error_handlers,
            self._views.replaced,
            flask.request_started.receivers,
            flask.request_finished.receivers,
            flask.got_request_exception.receivers,
            flask.request_tearing_down.receivers,
        )
        """The places where Flask keeps hooks and handlers; while all are empty, requests go the
        direct path.
        """
        self.cli.help = "The sandbox as a Flask application."

    def test_client(
        self,
        use_cookies: bool = True,  # noqa: FBT001, FBT002 - as in Flask
        **kwargs: Any,
    ) -> FlaskClient:
        """Return the test client of Flask, for which relative addresses start at its base."""
        if self.test_client_class is None:
            self.test_client_class = PlatformClient
        return super().test_client(use_cookies, **kwargs)

    # -- called by Flask --------------------------------------------------------------------------

    @property
    def url_map(self) -> Map:
        """All rules: the operations under their ids, and the added routes.

        Compiling the rules takes longer than the rest of a start, so it waits until they are
        needed.
        """
        assert self._map is not None
        if not self._filled:
            with self._map_lock:
                if not self._filled:
                    self._fill(self._map)
        return self._map

    @url_map.setter
    def url_map(self, value: Map) -> None:
        """Replace the map; the operations are added when it is next read."""
        self._map, self._filled = value, False

    def register_blueprint(self, blueprint: Blueprint, **options: Any) -> None:
        """Add a blueprint beside the operations.

        Raises:
            ValueError: It has the name of a family of operations, so it would get their requests.
        """
        name = options.get("name", blueprint.name)
        if name in {operation.id.split(".")[0] for operation in self._platform.operations}:
            raise ValueError(
                f"The blueprint {name!r} is called as a family of operations, for which its hooks "
                "would run too. Register it under another name: register_blueprint(…, name=…)."
            )
        super().register_blueprint(blueprint, **options)

    def register_error_handler(self, code_or_exception: Any, f: Callable[..., Any]) -> None:
        """Register a handler for exceptions of hooks and added routes, and for unknown paths."""
        self._error_handlers.append(f)
        super().register_error_handler(code_or_exception, f)

    def dispatch_request(self) -> Any:
        """Return the answer: of the operation if one matches, else of an added route."""
        exchange: Exchange | None = flask.request.environ.get(_EXCHANGE)
        if exchange is None:
            return super().dispatch_request()
        # An operation answers through the platform. Flask's own dispatch is only used for views
        # that a user has replaced, and for added routes.
        found = exchange.operation
        if exchange.refused is not None or (found and found.id not in self._views.replaced):
            return exchange.answer()
        return super().dispatch_request()

    def handle_http_exception(self, e: HTTPException) -> Any:
        """Return the answer to an unknown path: of a registered handler, else of the platform."""
        exchange: Exchange | None = flask.request.environ.get(_EXCHANGE)
        unrouted = e is flask.request.routing_exception and isinstance(e, NotFound | WrongMethod)
        if exchange is None or not unrouted:
            return super().handle_http_exception(e)
        if self._find_error_handler(e, flask.request.blueprints) is not None:
            return super().handle_http_exception(e)
        return exchange.answer(self._wrong_method(e, exchange.call))

    def _check_setup_finished(self, f_name: str) -> None:
        """Change are allowed after the first request as well: a test adds what it needs."""

    # -- called by the edge ----------------------------------------------------------------------

    @property
    def listens(self) -> bool:
        """Whether a hook or handler must see every request, or a view was replaced."""
        return any(self.listening)

    def at_once(self, request: Request) -> Direct | None:
        """Return an object that answers a request on the loop, or `None`: call the application.

        `None`: call the WSGI application.
        """
        # Code that wraps or replaces `wsgi_app` must see every request.
        ask: Callable[[Request], Direct | None] | None = getattr(self.wsgi_app, "at_once", None)
        return None if ask is None else ask(request)

    def never_blocks(self, request: Request) -> bool:
        """Whether the WSGI application answers a request without blocking."""
        ask: Callable[[Request], bool] | None = getattr(self.wsgi_app, "never_blocks", None)
        return ask is not None and ask(request)

    def at_once_in_process(self, request: Request) -> Direct | None:
        """Return the same as `at_once`, for a caller in this process, who may want errors."""
        ask: Callable[[Request], Direct | None] | None = getattr(
            self.wsgi_app, "at_once_in_process", None
        )
        return self.at_once(request) if ask is None else ask(request)

    def through_flask(
        self, environ: WSGIEnvironment, operation: Operation | None
    ) -> Callable[[Call, World, Exception | None], tuple[Reply, Sequence[Change]]]:
        """Return a function that answers a call through Flask, for the platform."""

        def answer(
            call: Call, world: World, refused: Exception | None
        ) -> tuple[Reply, Sequence[Change]]:
            exchange = Exchange(self._platform, call, world, refused, operation)
            environ[_EXCHANGE], environ[WORLD] = exchange, world.name
            return self._reply(environ, exchange), exchange.changes

        return answer

    # -- details ---------------------------------------------------------------------------------

    def _reply(self, environ: WSGIEnvironment, exchange: Exchange) -> Reply:
        context = self.request_context(environ)
        context.push()
        error: BaseException | None = None
        try:
            try:
                response = self.full_dispatch_request()
            except Exception as fault:
                error = fault
                unhandled = InternalServerError(original_exception=fault)
                if self._find_error_handler(unhandled, context.request.blueprints) is None:
                    raise  # to the platform, which keeps it for whoever embeds it
                response = self.handle_exception(fault)
            return _reply_of(response, exchange)
        finally:
            if exchange.reply is None:
                exchange.call.custom = context.request.endpoint or exchange.call.path
            context.pop(error)

    def _wrong_method(self, fault: HTTPException, call: Call) -> MethodNotAllowed | None:
        """Return the refusal if an added route accepts other methods; `None`: the platform's."""
        if not self.adds_routes or not isinstance(fault, WrongMethod):
            return None
        known = self._platform.methods_at(call.path, call.surface)
        added = set(fault.valid_methods or ()) - set(known)
        if known:
            added -= {"HEAD", "OPTIONS"}
        return MethodNotAllowed(tuple(sorted({*known, *added})), "") if added else None

    def _fill(self, url_map: Map) -> None:
        url_map.merge_slashes = False
        url_map.redirect_defaults = False
        url_map.converters[CONVERTER] = Segment
        for rule in rules(self._platform.operations, SANDBOX):
            rule.provide_automatic_options = False  # type: ignore[attr-defined]
            url_map.add(rule)
        if isinstance(url_map, RuleMap):
            url_map.admit = self._admit
        self._filled = True

    def _admit(self, added: Rule) -> None:
        """Check a rule that a user adds.

        Raises:
            Unreachable: An operation or the control plane answers everything that it matches.
        """
        # A route that could never be reached is a mistake that would show as "my view is not
        # called". It is found when the route is added: a path that the rule matches is made up, and
        # whoever answers it now would answer it then.
        rule, methods = added.rule, sorted(added.methods or ("GET",))
        path = sample(rule)
        if path.startswith("/~") and not rule.startswith("/<"):
            raise UnreachableRoute(f"{rule}: what begins with /~ is the name of a world.")
        if is_control(path):
            raise UnreachableRoute(
                f"{rule}: the control plane answers whatever is below /_mock, {LIST} and {ICON}."
            )
        surface = "plain"
        if path.startswith(f"{SANDBOX}/"):
            surface, path = "sandbox", path.removeprefix(SANDBOX)
        for method in methods:  # GET before HEAD
            operation = self._platform.where(method, path, surface)
            if operation is not None:
                raise UnreachableRoute(
                    f"{method} {rule} would never be reached: {operation.id} answers "
                    f"{operation.method} {operation.path}. For another answer replace its view, "
                    f"app.view_functions[{operation.id!r}], use after_request, or a scenario."
                )
        self.adds_routes = True


def _reply_of(response: Response, exchange: Exchange) -> Reply:
    """Return a response as a reply: that of the platform if it answered, with changes by hooks."""
    # The platform's reply carries what a response cannot: a stream, a delay, a network fault. So it
    # stays, and takes over what hooks have changed: status, headers, body.
    reply = exchange.reply or Reply(response.status_code)
    if reply.status != response.status_code or exchange.reply is None:
        reply.reason = _reason(response)
    reply.status = response.status_code
    reply.headers = list(response.headers)
    if response.is_streamed and not isinstance(response, _Answer):
        reply.parts = iter(ClosingIterator(response.iter_encoded(), response.close))
    else:
        if reply.stream is not None:
            if reply.status == 200:
                reply.headers = [pair for pair in reply.headers if pair[0] != "Content-Length"]
            else:  # a hook replaced the answer
                reply.stream.close()
                reply.stream = None
        response.direct_passthrough = False
        reply.body = response.get_data()
        response.close()
    return reply


def _reason(response: Response) -> str | None:
    """Return the reason phrase, if it was set."""
    _, _, text = response.status.partition(" ")
    usual = phrase(response.status_code)
    return None if usual is None or text.casefold() == usual.casefold() else text
