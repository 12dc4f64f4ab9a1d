"""Finds the requests of a project: what its calls send, as far as its texts say so.

A request is a method and an address, in which `{name}` is in the place of what is not written down.
Where an address comes from the parameter of a function, the calls of that function are looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.verification.fit.clients import Clients
from mock_platform.verification.fit.names import Names, OpenParameter, Trace, join_address
from mock_platform.verification.fit.source import (
    Bound,
    CallExpression,
    Expression,
    NameScope,
    SourceFile,
    name_of,
)
from mock_platform.verification.fit.verdicts import CallVerdict, Judge

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"})
_VERBS = {
    **{name.lower(): name for name in _METHODS},
    "del": "DELETE",
    "fetch_request_token": "POST", "fetch_access_token": "POST", "fetch_token": "POST",
    "refresh_token": "POST", "authorization_url": "GET", "getOAuthRequestToken": "POST",
}  # fmt: skip
_REQUESTS = frozenset(["request", "_request", "stream", "fetch"])
_FETCHES = frozenset(
    ["fetch", "nodeFetch", "fetchImpl", "$fetch", "ofetch", "got", "axios", "ky", "request",
     "needle", "urlopen", "Request"]
)  # fmt: skip
_COMMON = frozenset({*_VERBS, *_REQUESTS, *_FETCHES, "send", "call", "execute", "run", "__init__"})
_OF_LIBRARY = re.compile(
    r"(?:requests|httpx|aiohttp|urllib3?|http|requests_oauthlib|authlib|axios|node-fetch|got|ky|needle"
    r"|undici|superagent|cross-fetch|https|rauth|oauth2|isomorphic-fetch|request|requests_toolbelt)"
    r"(?:\.\w+)*(?:\.(?:[A-Z]\w*|create|extend|instance|session|agent)\(\)\.\w+)?"
)
_BASES = ("base_url", "baseURL", "baseUrl", "prefixUrl", "prefix_url")
_ADDRESS_NAMES = ("url", "uri", "token_url")
_HOSTS = ("HTTPSConnection", "ClientSession", "BaseUrlSession")
_SENDERS = re.compile(
    r"session|client|http|axios|api|request|oauth|fetch|instance|conn|self|twitter|^x$|got|ky|url",
    re.IGNORECASE,
)
_DEEPEST_WRAPPER = 6
_MOST_CALLS = 1000
"""Places that are looked at for one call that sends something."""
_OF_INTERFACE = re.compile(
    r"(?:https?:)?//(?:(?:api|upload|ads-api|ads-api-sandbox|stream)\.(?:x|twitter)\.com"
    r"|(?:x|twitter)\.com/(?:i/)?oauth2?)/(?!2/problems/)[^?#]*[^/?#\d.]"
)
_SANDBOX = re.compile(r"mock[_-]platform\b")
_NAMED = re.compile(
    r"//(?:" + "|".join(map(re.escape, PLATFORM_HOSTS)) + r")\b|^MOCK_PLATFORM_\w*URL$"
)
_FOREIGN_PACKAGES = (
    "twitter", "twitter-lite", "twit", "twitter-v2", "twython", "birdy", "peony", "rettiwt-api",
    "agent-twitter-client",
)  # fmt: skip
"""Client libraries whose requests are not known."""
_FOREIGN = re.compile(rf"({'|'.join(_FOREIGN_PACKAGES)})(?:\.\w+)*\(\)\.\w+")
_ARGUMENT = "{url}"
"""In the address of a method that takes the rest of it as its first argument."""


class ProjectCall(Struct, frozen=True):
    """A request of a project, with its verdict."""

    file: str
    line: int
    method: str
    verdict: CallVerdict
    function: str = ""
    """The function that it is in, with its classes."""
    variables: tuple[str, ...] = ()
    """Variables of the environment that may replace its address."""


class _Sent(NamedTuple):
    """What a call sends, in one of the ways that its texts allow."""

    method: str
    url: str
    trace: Trace


class _Asked(NamedTuple):
    """The address and the method of a call, before their texts are known."""

    url: Expression
    method: Expression | str


class Finder:
    """Finds the requests of files."""

    def __init__(self, sources: Sequence[SourceFile], judge: Judge, clients: Clients) -> None:
        """With no `clients`, the sources are taken for those of a client library."""
        self._sources = sources
        self._judge = judge
        self._names = Names(sources)
        self._clients = clients
        self._has_foreign = any(
            _FOREIGN.fullmatch(f"{name.partition('|')[0].partition('.')[0]}().x")
            for source in sources
            for name in source.module.imports.values()
        ) or any(text in _FOREIGN_PACKAGES for source in sources for text in _list_texts(source))
        self._used: set[int] = set()
        self._left = 0
        """How many places that lead to the call at hand may still be looked at."""
        self._calls: dict[str, list[CallExpression]] = {}
        for source in sources:
            for call in source.calls:
                self._calls.setdefault(name_of(call.node), []).append(call)
        self.elsewhere: list[tuple[str, int]] = []
        """Calls of HTTP whose address is not known, in files that do not name the platform."""
        self._defined = {
            scope.name
            for source in sources
            if "test" not in source.path
            for scope in _list_functions(source.module)
        }
        """The names of functions of the project."""
        self._concerned = {
            id(each) for each in sources if not clients.known or concerns_platform(each, clients)
        }

    def find(self) -> list[ProjectCall]:
        """Return all requests, by file and line; each only once."""
        found: list[ProjectCall] = []
        for source in self._sources:
            for call in source.calls:
                self._left = _MOST_CALLS
                self._names.start()
                try:
                    found += self._send(call, call, 0)
                except RecursionError:  # a text of hundreds of parts
                    if id(source) not in self._concerned:
                        self.elsewhere.append((source.path, call.node.lineno))
                        continue
                    verdict = CallVerdict("unknown", "", "too deeply nested")
                    found.append(_make(call, "", verdict))
            found += self._use_clients(source)
        for source in self._sources:
            found += self._list_unused(source)
        kept = {
            (f.file, f.line, f.method, re.sub(r"\{[^{}]*\}", "{}", f.verdict.path)): f
            for f in reversed(found)
        }
        return sorted(kept.values(), key=lambda each: (each.file, each.line, each.verdict.path))

    # -- calls of HTTP -----------------------------------------------------------------------------

    def _send(
        self, call: CallExpression, place: CallExpression, depth: int
    ) -> Iterator[ProjectCall]:
        """Yield what a call sends; `place` is the call of a wrapper that leads to it."""
        where = place.scope
        sent = list(self._read(call))
        judged = [(each, self._judge.judge(each.method, each.url)) for each in sent]
        concerned = {id(where.file), id(call.scope.file)} & self._concerned
        # Not `cache.get("/2/users/me")`, and nothing of a project that never names the platform.
        if not self._concerned or not self._may_send(call):
            judged = [
                (e, v) for e, v in judged if v is not None and (v.has_host or not v.operation)
            ]
        whole = [(each, v) for each, v in judged if v is not None and v.status != "unknown"]
        rest = [
            (each, v) for each, v in judged
            if v is not None and v.status == "unknown" and ({"/", "{"} & set(each.url))
        ]  # fmt: skip
        for each, verdict in whole:
            self._used |= each.trace.texts
            yield _make(place, each.method, verdict, each.trace)
        openings = [one for way, _ in rest for one in way.trace.open]
        is_deep = depth >= _DEEPEST_WRAPPER
        led = [] if is_deep else list(self._list_leading(openings, where, call.bound))
        for function, leading in led:
            bound = self._names.bind(function, leading.bind(call.bound))
            at = leading if _is_inside(where, function) else place
            yield from self._send(call.bind(bound), at, depth + 1)
        if led and self._left > 0:
            self._used |= {id_ for way, _ in rest for id_ in way.trace.texts}
            return
        for each, verdict in rest:
            if not verdict.has_host and (whole or not self._is_http(call)):
                continue
            if not verdict.has_host and not concerned:
                self.elsewhere.append((where.file.path, place.node.lineno))
                continue
            self._used |= each.trace.texts
            yield _make(place, each.method, verdict, each.trace)

    def _list_leading(
        self, openings: Sequence[OpenParameter], where: NameScope, bound: Bound
    ) -> Iterator[tuple[NameScope, CallExpression]]:
        """Yield the calls of a function whose parameters are what is not known, with its scope.

        A function around the place comes first: its calls are the places that a reader wants.
        """
        bound_already = {id_ for id_, _ in bound}
        functions = {
            one.function: None for one in openings if id(one.function) not in bound_already
        }
        for function in sorted(functions, key=lambda one: not _is_inside(where, one)):
            found = self._list_calls_of(function)
            for call in found[: max(self._left, 0)]:
                self._left -= 1
                yield function, call
            if found:
                return

    def _list_calls_of(self, function: NameScope) -> list[CallExpression]:
        is_constructor = function.name in {"__init__", "constructor"}
        wanted = (is_constructor and function.parent) or function
        found = []
        for call in self._calls.get(wanted.name, []):
            if _is_inside(call.scope, function):
                continue
            meant = self._names.resolve(call.move_to(call.node.func))
            is_unknown = not meant or all(isinstance(each, OpenParameter) for each in meant)
            is_method = isinstance(call.node.func, ast.Attribute) and function.name not in _COMMON
            if wanted in meant or (is_unknown and is_method):
                found.append(call)
        return found

    def _read(self, call: CallExpression) -> Iterator[_Sent]:
        """Yield the methods and addresses of a call, if it is one that sends something."""
        for tested, text, is_equal in call.scope.file.conditions.get(id(call.node), ()):
            values = self._write(call.move_to(tested))
            if "{" not in "".join(values) and (text in values) is not is_equal:
                return
        asked = self._read_options(call) or self._read_arguments(call)
        if asked is None:
            return
        base, trace, method = self._find_base(call), Trace(), asked.method
        texts = self._names.texts(asked.url, trace)
        verbs = [method] if isinstance(method, str) else self._read_method(method, trace)
        for text, verb in product(texts, verbs):
            yield _Sent(verb, join_address(base, text) if base else text, trace)

    def _write(self, one: Expression) -> list[str]:
        """Return the texts that an expression may be."""
        return self._names.texts(one, Trace())

    def _list_objects(self, one: Expression) -> list[Expression]:
        """Return the dictionaries that an expression may be."""
        found = [each for each in self._names.resolve(one) if isinstance(each, Expression)]
        return [each for each in found if isinstance(each.node, ast.Dict)]

    def _read_options(self, call: CallExpression) -> _Asked | None:
        """Return what `send({url, method})` and `post({url})` ask for."""
        node, name = call.node, name_of(call.node)
        for each in self._list_objects(call.move_to(node.args[0])) if node.args else ():
            url = each.find_entry("url", "uri", "endpoint") or _join_host(each)
            own = each.find_entry("method")
            method: Expression | str = own or ""
            if name in _VERBS and isinstance(node.func, ast.Attribute):
                method = _VERBS[name]
            elif own is None and name in _REQUESTS | _FETCHES:
                method = "GET"
            if url is not None and method:
                return _Asked(url, method)
        return None

    def _read_arguments(self, call: CallExpression) -> _Asked | None:
        """Return what `get(url)`, `request(method, url)` and `fetch(url, options)` ask for."""
        name, is_method = name_of(call.node), isinstance(call.node.func, ast.Attribute)
        values = [call.move_to(e) for e in call.node.args if not isinstance(e, ast.Starred)]
        named = {each.arg: call.move_to(each.value) for each in call.node.keywords if each.arg}
        first = values[0] if values else None
        url = next((named[key] for key in _ADDRESS_NAMES if key in named), first)
        if name in _VERBS and is_method:
            return None if url is None else _Asked(url, _VERBS[name])
        is_request = is_method and name.lower().endswith("request")
        if url is None or not (is_request or name in _REQUESTS | _FETCHES):
            return None
        method: Expression | str = named.get("method", "")
        for at, value in enumerate(values[: 2 if name == "Request" else 1]):
            if not method and self._is_method(value):
                after = values[at + 1] if values[at + 1 :] else None
                url, method = named.get("url", after), value
        if method or url is None:
            return None if url is None else _Asked(url, method)
        if values[1:] and any("://" in each for each in self._write(values[1])):
            return _Asked(values[1], values[0])
        if name == "Request":
            method = "POST" if len(values) > 1 or "data" in named else "GET"
        elif name in _FETCHES or name == "fetch":
            method = self._read_init(values[1]) if values[1:] else "GET"
        makers = self._list_makers(url) if name == "urlopen" else []
        if not method or any(name_of(maker.node) == "Request" for maker in makers):
            return None  # of `urlopen(Request(…))` the request says it all
        return _Asked(url, method)

    def _read_init(self, options: Expression) -> Expression | str:
        """Return the method in the options of `fetch`."""
        for each in self._list_objects(options):
            method = each.find_entry("method")
            if method is not None and isinstance(method.node, ast.Constant):
                return method
            if method is None and None not in getattr(each.node, "keys", ()):
                return "GET"
        whole = ast.Attribute(options.node, "method")
        return options.move_to(ast.copy_location(whole, options.node))

    def _is_method(self, one: Expression) -> bool:
        trace = Trace()
        is_word = any(each.upper() in _METHODS for each in self._names.texts(one, trace))
        return is_word or (bool(trace.open) and "method" in trace.open[0].name.lower())

    def _read_method(self, one: Expression, trace: Trace) -> list[str]:
        found = [each.upper() for each in self._names.texts(one, trace)]
        return [each for each in found if each in _METHODS] or [""]

    def _find_base(self, call: CallExpression) -> str:
        """Return the base address of the object that sends, if it was made with one."""
        if not isinstance(call.node.func, ast.Attribute):
            return ""
        for maker in self._list_makers(call.move_to(call.node.func.value)):
            node = maker.node
            named = {each.arg: maker.move_to(each.value) for each in node.keywords}
            given = [maker.move_to(each) for each in node.args]
            base = next((named[key] for key in _BASES if key in named), None)
            base = next((entry for e in given if (entry := e.find_entry(*_BASES))), base)
            if base is None and given and name_of(node) in _HOSTS:
                base = given[0]
            if base is not None:
                for text in self._write(base):
                    return text if "://" in text or "{" in text else f"https://{text}"
        return ""

    def _list_makers(self, one: Expression, depth: int = 0) -> list[CallExpression]:
        """Return the calls that made an object."""
        node = one.node
        if isinstance(node, ast.Await):
            return self._list_makers(one.move_to(node.value), depth)
        if isinstance(node, ast.Call):
            return [CallExpression(node, one.scope, one.bound)]
        found = self._names.look_up(one) if depth < _DEEPEST_WRAPPER else []
        values = [each for each in found if isinstance(each, Expression)]
        return [maker for each in values for maker in self._list_makers(each, depth + 1)]

    def _may_send(self, call: CallExpression) -> bool:
        """Whether a call looks like one that sends something, by the name of its object."""
        func = call.node.func
        holder = func.value if isinstance(func, ast.Attribute) else func
        return bool(_SENDERS.search(name_of(holder))) or self._is_http(call)

    def _is_http(self, call: CallExpression) -> bool:
        """Whether a call is one of a library for HTTP, or of an object that it made."""
        func = call.node.func
        if isinstance(func, ast.Name) and func.id == "fetch":
            return True
        return any(_OF_LIBRARY.fullmatch(e) for e in self._list_dotted(call.scope.express(func)))

    def _list_dotted(self, one: Expression) -> list[str]:
        """Return the dotted names of libraries that an expression may mean."""
        return [each for each in self._names.resolve(one) if isinstance(each, str)]

    # -- client libraries --------------------------------------------------------------------------

    def _use_clients(self, source: SourceFile) -> Iterator[ProjectCall]:
        """Yield the calls of client libraries, also methods that are passed on."""
        calls = {id(call.node.func): call for call in source.calls}
        for node, scope in source.attributes:
            one, call = scope.express(node), calls.get(id(node))
            self._names.start()
            if node.attr not in self._clients.methods:
                yield from self._use_foreign(one, call)
                continue
            meant = self._names.resolve(one)
            sent = [s for e in meant if isinstance(e, str) for s in self._find_sent(e, call)]
            note = ""
            if not sent and (not meant or any(isinstance(e, OpenParameter) for e in meant)):
                library, sent = self._guess(node.attr, source)
                note = f"taken for {library}, by its name"
            elif not sent:
                yield from self._use_foreign(one, call)
            for method, url in sent:
                host = "ads-api.x.com" if re.match(r"/\d\d/", url) else "api.x.com"
                whole = f"https://{host}{url}" if url[:1] == "/" else url
                verdict = self._judge.judge(method, whole)
                if verdict is not None:
                    notes = "; ".join(filter(None, [note, verdict.note]))
                    yield _make(one, method, replace(verdict, note=notes))

    def _use_foreign(self, one: Expression, call: CallExpression | None) -> Iterator[ProjectCall]:
        """Yield the calls of client libraries of which nothing is known."""
        for each in self._list_dotted(one) if call is not None and self._has_foreign else ():
            found = _FOREIGN.fullmatch(each)
            if found is not None and call is not None:
                sent = self._write(call.move_to(call.node.args[0])) if call.node.args else []
                name = each.rpartition(".")[2]
                note = f"what {name} of the library {found[1]} sends is not known"
                verdict = CallVerdict("unknown", "".join(sent[:1])[:100], note)
                if "://" not in verdict.path:
                    yield _make(one, "", verdict)

    def _find_sent(self, dotted: str, call: CallExpression | None) -> Iterator[tuple[str, str]]:
        """Yield the methods and addresses that a method of a library sends."""
        has_argument = call is not None and call.node.args
        if dotted == "TwitterAPI.TwitterAPI().request" and call is not None and has_argument:
            yield from self._find_endpoints(call)
        for sent in self._clients.find(dotted) or ():
            method, _, url = sent.partition(" ")
            if url.endswith(_ARGUMENT) and call is not None and has_argument:
                for text in self._write(call.move_to(call.node.args[0])) or ["{…}"]:
                    yield method, text if "://" in text else url.removesuffix(_ARGUMENT) + text
            else:
                yield method, url

    def _find_endpoints(self, call: CallExpression) -> Iterator[tuple[str, str]]:
        """Yield what a call of `TwitterAPI.request` sends; its version is that of its object."""
        options = {each.arg: each.value for each in call.node.keywords}
        version, func = "1.1", call.node.func
        holder = func.value if isinstance(func, ast.Attribute) else func
        for maker in self._list_makers(call.move_to(holder)):
            for each in maker.node.keywords:
                if each.arg == "api_version":
                    version = "".join(self._write(maker.move_to(each.value))[:1])
        for text in self._write(call.move_to(call.node.args[0])) or ["{…}"]:
            parts = [":PARAM" if each[:1] in {":", "{"} else each for each in text.split("/")]
            known = self._clients.known["TwitterAPI"].get(f"request {'/'.join(parts)}")
            methods = [each.partition(" ")[0] for each in known or [""]]
            if "method_override" in options:
                methods = self._read_method(call.move_to(options["method_override"]), Trace())
            subdomain = known[0].partition(" ")[2] if known else "api"
            if subdomain == "ads-api":
                yield methods[0], f"https://ads-api.x.com/11/{text}"
            else:
                ending = ".json" if version == "1.1" else ""
                yield methods[0], f"https://{subdomain}.x.com/{version}/{text}{ending}"

    def _guess(self, name: str, file: SourceFile) -> tuple[str, list[tuple[str, str]]]:
        """Return what a method sends of whose object nothing is known, if its name is enough."""
        # A method of a library alone is no method of the project, and not a common word either.
        is_telling = len(name) > 7 and ("_" in name or name.lower() != name)
        if not is_telling or name in self._defined:
            return "", []
        same = [source for source in self._sources if source.language == file.language]
        for library in sorted(self._clients.list_imported(same)):
            ways = {tuple(sent) for key, sent in self._clients.known[library].items()
                    if key.rpartition(".")[2] == name}  # fmt: skip
            if len(ways) == 1:
                return library, [sent.partition(" ")[::2] for sent in ways.pop()]
        return "", []

    def _list_unused(self, source: SourceFile) -> Iterator[ProjectCall]:
        """Yield the addresses of the interface that are in no request that was found."""
        for one in source.texts:
            trace = Trace()
            texts = self._names.texts(one, trace)
            text = next(filter(_OF_INTERFACE.match, texts), None)
            verdict = None if text is None else self._judge.judge("", text)
            if verdict is not None and not trace.texts & self._used:
                note = f"an address, but not in a call that is understood: {verdict.note}"
                yield _make(one, "", CallVerdict("unknown", verdict.path, note))


def concerns_platform(source: SourceFile, clients: Clients) -> bool:
    """Whether a file names a host of the platform or the sandbox, or imports a client library."""
    if clients.list_imported([source]):
        return True
    if any(_SANDBOX.match(each.replace("|", ".")) for each in source.module.imports.values()):
        return True
    return any(_NAMED.search(text) for text in _list_texts(source))


def _make(
    place: Expression, method: str, verdict: CallVerdict, trace: Trace | None = None
) -> ProjectCall:
    variables = tuple(dict.fromkeys(trace.variables)) if trace is not None else ()
    line, scope = place.node.lineno, place.scope
    return ProjectCall(scope.file.path, line, method, verdict, scope.describe(), variables)


def _is_inside(scope: NameScope, function: NameScope) -> bool:
    return function in scope.list_around()


def _list_functions(scope: NameScope) -> Iterator[NameScope]:
    for each in scope.inner.values():
        if each.kind == "function":
            yield each
        yield from _list_functions(each)


def _list_texts(source: SourceFile) -> Iterator[str]:
    for one in source.texts:
        for part in ast.walk(one.node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


def _join_host(options: Expression) -> Expression | None:
    """Return the address in options that have host and path apart, as node's `https` takes them."""
    host, path = options.find_entry("hostname", "host"), options.find_entry("path")
    if host is None or path is None:
        return None
    start = ast.BinOp(ast.Constant("https://"), ast.Add(), host.node)
    return options.move_to(ast.BinOp(start, ast.Add(), path.node))
