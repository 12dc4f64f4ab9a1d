"""What publications did: texts and names were replaced, lists were cut, requests left out.

An answer is made consistent again before it is loaded and compared, and a request is completed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from msgspec.structs import replace

from mock_platform.core.jsonio import dumps
from mock_platform.core.pairs import decode_pairs
from mock_platform.verification.compare.plan import PAGE_NAMES
from mock_platform.verification.fidelity.facts import HERE, Fact, read_body
from mock_platform.verification.fidelity.instrument import FactValues, dig, list_items
from mock_platform.verification.har.exchange import HarExchange
from mock_platform.world.clock import parse_instant

_RECENT = timedelta(days=7)
_REPLACED = "some_user"
_POSTS = frozenset({"posts", "tweets"})
_OF_REQUEST = frozenset({"ids", "id", "username", "usernames"})


def prepare(fact: Fact, own: Collection[str]) -> Fact:
    """Return a fact that can be asked, without the ids of the sandbox's `own` users."""
    request, response = fact.exchange.request, fact.exchange.response
    url, sent, body = request.url, request.body, response.body
    for each in own:
        other = f"{int(each) + 1}"
        url = url.replace(each, other)
        sent, body = (x.replace(each.encode(), other.encode()) for x in (sent, body))
    if fact.is_edited and isinstance(read := read_body(body), dict | list):
        body = dumps(_complete(_tell_apart(read), url))
    exchange = replace(
        fact.exchange,
        request=replace(request, url=url, body=sent),
        response=replace(response, body=body),
    )
    return replace(fact, exchange=exchange)


def _tell_apart(value: Any) -> Any:
    """Return an answer in which users whose names were replaced by one have different ones."""
    if isinstance(value, list):
        return [_tell_apart(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _tell_apart(each) for name, each in value.items()}
    for name in ("username", "screen_name"):
        if made.get(name) == _REPLACED and "id" in made:
            made[name] = f"user_{made['id']}"[:15]
    return made


def _complete(body: Any, url: str) -> Any:
    """Return an answer without what only the cut part of its lists referred to."""
    if not isinstance(body, dict) or "data" not in body:
        return body
    includes = body.get("includes") or {}
    shown = named = dumps(body["data"]).decode() + url
    for kind in sorted(includes, key=lambda kind: kind not in _POSTS):  # others are in these
        if isinstance(items := includes[kind], list):
            includes[kind] = [x for x in items if _is_named(x, shown if kind == "users" else named)]
        if kind in _POSTS:  # of these, users are included as authors alone
            named += dumps(includes[kind]).decode()
            shown += dumps([x.get("author_id") for x in list_items(includes[kind])]).decode()
    errors = [
        x
        for x in list_items(body.get("errors"))
        if x.get("parameter") in _OF_REQUEST or f'"{x.get("value")}"' in named
    ]
    return {
        **{name: each for name, each in body.items() if name != "errors"},
        **({"errors": errors} if errors else {}),
    }


def _is_named(record: Any, text: str) -> bool:
    """Whether a text of JSON refers to an included record."""
    keys = [record.get(name) for name in ("id", "media_key")] if isinstance(record, dict) else []
    return any(f'"{key}"' in text for key in keys if key is not None)


class LeftOutRequest:
    """The request of a fact, of which its publication shows only a part."""

    def __init__(self, fact: Fact, more: Mapping[str, Any], values: FactValues) -> None:
        """`more` is what the instrument says of such requests, `values` what the fact shows."""
        self._fact = fact
        self._more = more
        self._values = values

    def complete(self) -> HarExchange:
        """Return the exchange with the path, query and body that its publication left out."""
        sent = self._fact.exchange.request
        more = self._more
        path = "/".join(
            quote(self._find_parameter(part[1:]), safe="") if part.startswith(":") else part
            for part in self._choose_path(sent.path).split("/")
        )
        echoed = self._read_echo(sent.path)
        query = dict(decode_pairs(sent.query)) or {**more.get("query", {})}
        if sent.method == "GET" and not sent.query:
            query |= echoed
        if self._fact.is_edited and self._fact.exchange.response.status < 300:
            query |= more.get("edited", {})  # texts were replaced, and lists cut
            if not query.keys().isdisjoint(PAGE_NAMES):  # a cursor of another server
                query = {name: x for name, x in query.items() if name not in PAGE_NAMES}
                query |= more.get("paged", {})
        query = {name: self._fill_query(value) for name, value in query.items()}
        query = {name: value for name, value in query.items() if value}
        body, headers = sent.body, sent.headers
        if not body and "json" in more:
            body = dumps(self._values.fill(more["json"]))
            headers = (*headers, ("Content-Type", "application/json"))
        form = self._values.fill(more["form"]) if "form" in more else echoed
        if not body and sent.method != "GET" and form:
            body = urlencode(form).encode()
            headers = (*headers, ("Content-Type", "application/x-www-form-urlencoded"))
        base = sent.url.partition(sent.path)[0] or HERE
        url = base + path + ("?" + urlencode(query, quote_via=quote, safe="") if query else "")
        request = replace(
            sent, method=more.get("method", sent.method), url=url, body=body, headers=headers
        )
        return replace(self._fact.exchange, request=request)

    def _choose_path(self, sent: str) -> str:
        """Return the path to ask; a fixture of a search may mix posts of years."""
        first = self._values.moment - _RECENT
        times = (each.get("created_at") for each in list_items(dig(self._values.body, ["data"])))
        if "wide" in self._more and any(x and parse_instant(x) < first for x in times):
            return str(self._more["wide"])
        return str(self._more.get("path", sent))

    def _read_echo(self, path: str) -> dict[str, str]:
        """Return the parameters that an answer of the advertising interface repeats."""
        request = dig(self._values.body, ["request"])
        params = request.get("params") if isinstance(request, dict) else None
        if not isinstance(params, dict):
            return {}
        shown = list_items(dig(self._values.body, ["data"]))
        if any(each.get("deleted") is True for each in shown):  # which is listed on request alone
            params = {**params, "with_deleted": True}
        texts = {n: ",".join(map(str, x)) if isinstance(x, list) else x for n, x in params.items()}
        return {
            name: str(x).lower() if isinstance(x, bool) else str(x)
            for name, x in texts.items()
            if x not in (None, "") and f":{name}" not in path.split("/")
        }

    def _find_parameter(self, name: str) -> str:
        """Return what a publication left out of a path: the answer shows it, or nothing does."""
        body = self._values.body if isinstance(self._values.body, dict) else {}
        params = (body.get("request") or {}).get("params") or {}
        data = body.get("data")
        first = data[0] if isinstance(data, list) and data else data
        first = first if isinstance(first, dict) else {}
        errors = body.get("errors")
        wrong = errors[0] if isinstance(errors, list) and errors else {}
        other = next(
            (x for n, x in params.items() if n.endswith("_id") and n != "account_id"), None
        )
        places = (
            params.get(name), first.get(name), other if name.endswith("_id") else None,
            first.get("id"), wrong.get("value"),
        )  # fmt: skip
        return next((str(each) for each in places if isinstance(each, str | int)), "1")

    def _fill_query(self, value: Any) -> str:
        found = self._values.fill(value)
        return ",".join(map(str, found)) if isinstance(found, list) else str(found or "")
