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
from mock_platform.verification.fit.names import (
    UNBOUND,
    Bound,
    Expression,
    Names,
    OpenParameter,
    Trace,
    join_address,
)
from mock_platform.verification.fit.source import NameScope, SourceFile
from mock_platform.verification.fit.verdicts import CallVerdict, Judge

_VERBS = {
    **{name.lower(): name for name in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")},
    "del": "DELETE",
    "fetch_request_token": "POST", "fetch_access_token": "POST", "fetch_token": "POST",
    "refresh_token": "POST", "authorization_url": "GET", "getOAuthRequestToken": "POST",
}  # fmt: skip
_REQUESTS = frozenset(["request", "_request", "stream", "fetch"])
_FETCHES = frozenset(
    [
        "fetch",
        "nodeFetch",
        "fetchImpl",
        "$fetch",
        "ofetch",
        "got",
        "axios",
        "ky",
        "request",
        "needle",
        "urlopen",
        "Request",
    ]
)
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

    url: ast.expr
    method: ast.expr | str
    scope: NameScope
    bound: Bound


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
        self._calls: dict[str, list[tuple[ast.Call, NameScope]]] = {}
        for source in sources:
            for call, scope in source.calls:
                self._calls.setdefault(_name_of(call.func), []).append((call, scope))
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
            for call, scope in source.calls:
                self._left = _MOST_CALLS
                self._names.start()
                try:
                    found += self._send(call, scope, UNBOUND, call, scope, 0)
                except RecursionError:  # a text of hundreds of parts
                    if id(source) not in self._concerned:
                        self.elsewhere.append((source.path, call.lineno))
                        continue
                    verdict = CallVerdict("unknown", "", "too deeply nested")
                    found.append(ProjectCall(source.path, call.lineno, "", verdict))
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
        self,
        call: ast.Call,
        scope: NameScope,
        bound: Bound,
        place: ast.Call,
        where: NameScope,
        depth: int,
    ) -> Iterator[ProjectCall]:
        """Yield what a call sends; `place` is the call of a wrapper that leads to it."""
        sent = list(self._read(call, scope, bound))
        judged = [(each, self._judge.judge(each.method, each.url)) for each in sent]
        concerned = {id(where.file), id(scope.file)} & self._concerned
        # Not `cache.get("/2/users/me")`, and nothing of a project that never names the platform.
        if not self._concerned or not self._may_send(call, scope):
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
            yield self._make(each, verdict, place, where)
        openings = [one for way, _ in rest for one in way.trace.open]
        led = list(self._list_leading(openings, where, bound)) if depth < _DEEPEST_WRAPPER else []
        for function, other, around in led:
            within = self._names.bind(function, other, around, bound)
            at = (other, around) if self._is_inside(where, function) else (place, where)
            yield from self._send(call, scope, within, *at, depth + 1)
        if led and self._left > 0:
            self._used |= {id_ for way, _ in rest for id_ in way.trace.texts}
            return
        for each, verdict in rest:
            if not verdict.has_host and (whole or not self._is_http(call, scope)):
                continue
            if not verdict.has_host and not concerned:
                self.elsewhere.append((where.file.path, place.lineno))
                continue
            self._used |= each.trace.texts
            yield self._make(each, verdict, place, where)

    def _list_leading(
        self, openings: Sequence[OpenParameter], where: NameScope, bound: Bound
    ) -> Iterator[tuple[NameScope, ast.Call, NameScope]]:
        """Yield the calls of a function whose parameters are what is not known, with its scope.

        A function around the place comes first: its calls are the places that a reader wants.
        """
        bound_already = {id_ for id_, _ in bound}
        functions = {
            one.function: None for one in openings if id(one.function) not in bound_already
        }
        for function in sorted(functions, key=lambda one: not self._is_inside(where, one)):
            found = self._list_calls_of(function)
            for call, scope in found[: max(self._left, 0)]:
                self._left -= 1
                yield function, call, scope
            if found:
                return

    @staticmethod
    def _is_inside(scope: NameScope, function: NameScope) -> bool:
        here: NameScope | None = scope
        while here is not None:
            if here is function:
                return True
            here = here.parent
        return False

    def _make(
        self, sent: _Sent, verdict: CallVerdict, place: ast.Call, where: NameScope
    ) -> ProjectCall:
        return ProjectCall(
            where.file.path,
            place.lineno,
            sent.method,
            verdict,
            where.describe(),
            tuple(dict.fromkeys(sent.trace.variables)),
        )

    def _list_calls_of(self, function: NameScope) -> list[tuple[ast.Call, NameScope]]:
        name, holder = function.name, function.parent
        is_constructor = name in {"__init__", "constructor"} and holder is not None
        wanted = holder if is_constructor else function
        names = [wanted.name] if wanted is not None else []
        found = []
        for called in names:
            for call, scope in self._calls.get(called, []):
                if self._is_inside(scope, function):
                    continue
                meant = self._names.resolve(call.func, scope, UNBOUND)
                is_unknown = not meant or all(isinstance(each, OpenParameter) for each in meant)
                is_method = isinstance(call.func, ast.Attribute) and name not in _COMMON
                if wanted in meant or (is_unknown and is_method):
                    found.append((call, scope))
        return found

    def _read(self, call: ast.Call, scope: NameScope, bound: Bound) -> Iterator[_Sent]:
        """Yield the methods and addresses of a call, if it is one that sends something."""
        for tested, text, is_equal in scope.file.conditions.get(id(call), ()):
            values = self._names.texts(tested, scope, bound, Trace())
            if "{" not in "".join(values) and (text in values) is not is_equal:
                return
        asked = self._read_options(call, scope, bound) or self._read_arguments(call, scope, bound)
        if asked is None:
            return
        base, trace = self._find_base(call.func, scope, bound), Trace()
        verbs = [asked.method] if isinstance(asked.method, str) else []
        texts = self._names.texts(asked.url, asked.scope, asked.bound, trace)
        if not isinstance(asked.method, str):
            verbs = self._read_method(asked.method, asked.scope, asked.bound, trace)
        for text, verb in product(texts, verbs):
            yield _Sent(verb, join_address(base, text) if base else text, trace)

    def _read_options(self, call: ast.Call, scope: NameScope, bound: Bound) -> _Asked | None:
        """Return what `send({url, method})` and `post({url})` ask for."""
        name = _name_of(call.func)
        for each in self._names.resolve(call.args[0], scope, bound) if call.args else ():
            if isinstance(each, Expression) and isinstance(each.node, ast.Dict):
                url = _entry(each.node, "url", "uri", "endpoint") or _join_host(each.node)
                method: ast.expr | str | None = _entry(each.node, "method")
                if name in _VERBS and isinstance(call.func, ast.Attribute):
                    method = _VERBS[name]
                elif method is None and name in _REQUESTS | _FETCHES:
                    method = "GET"
                if url is not None and method is not None:
                    return _Asked(url, method, each.scope, each.bound)
        return None

    def _read_arguments(self, call: ast.Call, scope: NameScope, bound: Bound) -> _Asked | None:
        """Return what `get(url)`, `request(method, url)` and `fetch(url, options)` ask for."""
        name, is_method = _name_of(call.func), isinstance(call.func, ast.Attribute)
        values: list[ast.expr] = [e for e in call.args if not isinstance(e, ast.Starred)]
        named = {each.arg: each.value for each in call.keywords if each.arg}
        first = values[0] if values else None
        url = next((named[key] for key in _ADDRESS_NAMES if key in named), first)
        if name in _VERBS and is_method:
            return None if url is None else _Asked(url, _VERBS[name], scope, bound)
        is_request = is_method and name.lower().endswith("request")
        if url is None or not (is_request or name in _REQUESTS | _FETCHES):
            return None
        method: ast.expr | str = named.get("method", "")
        for at, value in enumerate(values[: 2 if name == "Request" else 1]):
            if not method and self._is_method(value, scope, bound):
                after = values[at + 1] if values[at + 1 :] else None
                url, method = named.get("url", after), value
        if method or url is None:
            return None if url is None else _Asked(url, method, scope, bound)
        if values[1:] and any(
            "://" in e for e in self._names.texts(values[1], scope, bound, Trace())
        ):
            return _Asked(values[1], values[0], scope, bound)
        if name == "Request":
            method = "POST" if len(values) > 1 or "data" in named else "GET"
        elif name in _FETCHES or name == "fetch":
            method = self._read_init(values[1], scope, bound) if values[1:] else "GET"
        makers = self._list_makers(url, scope, bound, 0) if name == "urlopen" else []
        if not method or any(_name_of(maker.func) == "Request" for maker, *_ in makers):
            return None  # of `urlopen(Request(…))` the request says it all
        return _Asked(url, method, scope, bound)

    def _read_init(self, options: ast.expr, scope: NameScope, bound: Bound) -> ast.expr | str:
        """Return the method in the options of `fetch`."""
        for each in self._names.resolve(options, scope, bound):
            if isinstance(each, Expression) and isinstance(each.node, ast.Dict):
                method = _entry(each.node, "method")
                if isinstance(method, ast.Constant) or (
                    method is None and None not in each.node.keys
                ):
                    return "GET" if method is None else method
        return ast.copy_location(ast.Attribute(options, "method"), options)

    def _is_method(self, node: ast.expr, scope: NameScope, bound: Bound) -> bool:
        trace = Trace()
        found = self._names.texts(node, scope, bound, trace)
        is_word = any(each.upper() in _METHODS for each in found)
        return is_word or (bool(trace.open) and "method" in trace.open[0].name.lower())

    def _read_method(
        self, node: ast.expr, scope: NameScope, bound: Bound, trace: Trace
    ) -> list[str]:
        found = [each.upper() for each in self._names.texts(node, scope, bound, trace)]
        return [each for each in found if each in _METHODS] or [""]

    def _find_base(self, func: ast.expr, scope: NameScope, bound: Bound) -> str:
        """Return the base address of the object that sends, if it was made with one."""
        if not isinstance(func, ast.Attribute):
            return ""
        makers = self._list_makers(func.value, scope, bound, 0)
        for maker, around, within in makers:
            named = {each.arg: each.value for each in maker.keywords}
            base = next((named[key] for key in _BASES if key in named), None)
            for each in maker.args:
                if isinstance(each, ast.Dict):
                    base = _entry(each, *_BASES)
            if base is None and maker.args and _name_of(maker.func) in _HOSTS:
                base = maker.args[0]
            if base is not None:
                for text in self._names.texts(base, around, within, Trace()):
                    return text if "://" in text or "{" in text else f"https://{text}"
        return ""

    def _list_makers(
        self, node: ast.expr, scope: NameScope, bound: Bound, depth: int
    ) -> list[tuple[ast.Call, NameScope, Bound]]:
        """Return the calls that made an object."""
        if isinstance(node, ast.Await):
            return self._list_makers(node.value, scope, bound, depth)
        if isinstance(node, ast.Call):
            return [(node, scope, bound)]
        found = []
        for each in self._names.look_up(node, scope, bound, 0) if depth < _DEEPEST_WRAPPER else ():
            if isinstance(each, Expression):
                found += self._list_makers(each.node, each.scope, each.bound, depth + 1)
        return found

    def _may_send(self, call: ast.Call, scope: NameScope) -> bool:
        """Whether a call looks like one that sends something, by the name of its object."""
        holder = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        return bool(_SENDERS.search(_name_of(holder))) or self._is_http(call, scope)

    def _is_http(self, call: ast.Call, scope: NameScope) -> bool:
        """Whether a call is one of a library for HTTP, or of an object that it made."""
        if isinstance(call.func, ast.Name) and call.func.id == "fetch":
            return True
        names = [e for e in self._names.resolve(call.func, scope, UNBOUND) if isinstance(e, str)]
        return any(_OF_LIBRARY.fullmatch(name) for name in names)

    # -- client libraries --------------------------------------------------------------------------

    def _use_clients(self, source: SourceFile) -> Iterator[ProjectCall]:
        """Yield the calls of client libraries, also methods that are passed on."""
        calls = {id(call.func): call for call, _ in source.calls}
        for node, scope in source.attributes:
            call = calls.get(id(node))
            self._names.start()
            if node.attr not in self._clients.methods:
                yield from self._use_foreign(node, call, scope)
                continue
            meant = self._names.resolve(node, scope, UNBOUND)
            names = [each for each in meant if isinstance(each, str)]
            sent = [one for name in names for one in self._find_sent(name, call, scope)]
            note = ""
            if not sent and (not meant or any(isinstance(e, OpenParameter) for e in meant)):
                library, sent = self._guess(node, call, scope)
                note = f"taken for {library}, by its name"
            elif not sent:
                yield from self._use_foreign(node, call, scope)
            for method, url in sent:
                host = "ads-api.x.com" if re.match(r"/\d\d/", url) else "api.x.com"
                verdict = self._judge.judge(
                    method, f"https://{host}{url}" if url[:1] == "/" else url
                )
                if verdict is not None:
                    notes = "; ".join(filter(None, [note, verdict.note]))
                    verdict = replace(verdict, note=notes)
                    yield ProjectCall(source.path, node.lineno, method, verdict, scope.describe())

    def _use_foreign(
        self, node: ast.Attribute, call: ast.Call | None, scope: NameScope
    ) -> Iterator[ProjectCall]:
        """Yield the calls of client libraries of which nothing is known."""
        if call is None or not self._has_foreign:
            return
        for each in self._names.resolve(node, scope, UNBOUND):
            found = _FOREIGN.fullmatch(each) if isinstance(each, str) else None
            if found is not None:
                sent = self._names.texts(call.args[0], scope, UNBOUND, Trace()) if call.args else []
                note = f"what {node.attr} of the library {found[1]} sends is not known"
                verdict = CallVerdict("unknown", "".join(sent[:1])[:100], note)
                if "://" not in verdict.path:
                    yield ProjectCall(scope.file.path, node.lineno, "", verdict, scope.describe())

    def _find_sent(
        self, dotted: str, call: ast.Call | None, scope: NameScope
    ) -> Iterator[tuple[str, str]]:
        """Yield the methods and addresses that a method of a library sends."""
        if dotted == "TwitterAPI.TwitterAPI().request" and call is not None and call.args:
            yield from self._find_endpoints(call, scope)
        for sent in self._clients.find(dotted) or ():
            method, _, url = sent.partition(" ")
            if url.endswith(_ARGUMENT) and call is not None and call.args:
                rest = self._names.texts(call.args[0], scope, UNBOUND, Trace())
                for text in rest or ["{…}"]:
                    yield method, text if "://" in text else url.removesuffix(_ARGUMENT) + text
            else:
                yield method, url

    def _find_endpoints(self, call: ast.Call, scope: NameScope) -> Iterator[tuple[str, str]]:
        """Yield what a call of `TwitterAPI.request` sends; its version is that of its object."""
        options = {each.arg: each.value for each in call.keywords}
        version = "1.1"
        holder = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        for maker, around, bound in self._list_makers(holder, scope, UNBOUND, 0):
            for each in maker.keywords:
                if each.arg == "api_version":
                    version = "".join(self._names.texts(each.value, around, bound, Trace())[:1])
        for text in self._names.texts(call.args[0], scope, UNBOUND, Trace()) or ["{…}"]:
            parts = [":PARAM" if each[:1] in {":", "{"} else each for each in text.split("/")]
            known = self._clients.known["TwitterAPI"].get(f"request {'/'.join(parts)}")
            methods = [each.partition(" ")[0] for each in known or [""]]
            if "method_override" in options:
                methods = self._read_method(options["method_override"], scope, UNBOUND, Trace())
            subdomain = known[0].partition(" ")[2] if known else "api"
            if subdomain == "ads-api":
                yield methods[0], f"https://ads-api.x.com/11/{text}"
            else:
                ending = ".json" if version == "1.1" else ""
                yield methods[0], f"https://{subdomain}.x.com/{version}/{text}{ending}"

    def _guess(
        self, node: ast.Attribute, call: ast.Call | None, scope: NameScope
    ) -> tuple[str, list[tuple[str, str]]]:
        """Return what a method sends of whose object nothing is known, if its name is enough."""
        imported = {
            library
            for source in self._sources
            if source.language == scope.file.language
            for name in source.module.imports.values()
            if (library := self._clients.find_library(name.replace("|", ".")))
        }
        name = node.attr
        # A method of a library alone is no method of the project, and not a common word either.
        is_telling = len(name) > 7 and ("_" in name or name.lower() != name)
        if not is_telling or name in self._defined:
            return "", []
        for library in sorted(imported):
            ways = {tuple(sent) for key, sent in self._clients.known[library].items()
                    if key.rpartition(".")[2] == name}  # fmt: skip
            if len(ways) == 1:
                pairs = [sent.partition(" ")[::2] for sent in ways.pop()]
                return library, pairs
        return "", []

    def _list_unused(self, source: SourceFile) -> Iterator[ProjectCall]:
        """Yield the addresses of the interface that are in no request that was found."""
        for node, scope in source.texts:
            trace = Trace()
            texts = self._names.texts(node, scope, UNBOUND, trace)
            if trace.texts & self._used:
                continue
            for text in texts:
                if _OF_INTERFACE.match(text):
                    verdict = self._judge.judge("", text)
                    if verdict is not None:
                        note = f"an address, but not in a call that is understood: {verdict.note}"
                        new = CallVerdict("unknown", verdict.path, note)
                        yield ProjectCall(source.path, node.lineno, "", new, scope.describe())
                    break


def _list_functions(scope: NameScope) -> Iterator[NameScope]:
    for each in scope.inner.values():
        if each.kind == "function":
            yield each
        yield from _list_functions(each)


def _list_texts(source: SourceFile) -> Iterator[str]:
    for node, _ in source.texts:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


def concerns_platform(source: SourceFile, clients: Clients) -> bool:
    """Whether a file names a host of the platform or the sandbox, or imports a client library."""
    names = [each.replace("|", ".") for each in source.module.imports.values()]
    if any(clients.find_library(each) or _SANDBOX.match(each) for each in names):
        return True
    return any(_NAMED.search(text) for text in _list_texts(source))


_SANDBOX = re.compile(r"mock[_-]platform\b")
_NAMED = re.compile(
    r"//(?:" + "|".join(map(re.escape, PLATFORM_HOSTS)) + r")\b|^MOCK_PLATFORM_\w*URL$"
)
_FOREIGN = re.compile(
    r"(twitter|twitter-lite|twit|twitter-v2|twython|birdy|peony|rettiwt-api|agent-twitter-client)"
    r"(?:\.\w+)*\(\)\.\w+"
)
"""Methods of client libraries whose requests are not known."""
_FOREIGN_PACKAGES = frozenset(_FOREIGN.pattern[1:].partition(")")[0].split("|"))
_ARGUMENT = "{url}"
"""In the address of a method that takes the rest of it as its first argument."""
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"})
_COMMON = frozenset({*_VERBS, *_REQUESTS, *_FETCHES, "send", "call", "execute", "run", "__init__"})


def _name_of(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    if isinstance(func, ast.Call):
        return _name_of(func.func)
    return func.id if isinstance(func, ast.Name) else ""


def _entry(node: ast.Dict, *names: str) -> ast.expr | None:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in names:
            return value
    return None


def _join_host(node: ast.Dict) -> ast.expr | None:
    """Return the address in options that have host and path apart, as node's `https` takes them."""
    host, path = _entry(node, "hostname", "host"), _entry(node, "path")
    if host is None or path is None:
        return None
    return ast.BinOp(ast.BinOp(ast.Constant("https://"), ast.Add(), host), ast.Add(), path)
