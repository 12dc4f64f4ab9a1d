"""Writes interactions and messages of a Pact file (version 4 of the format)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, unquote

from mock_platform.core.description.openapi import template_path
from mock_platform.core.jsonio import BadJson, canonical, loads
from mock_platform.core.spelling.pairs import PAIRS
from mock_platform.pact.matching import Matcher
from mock_platform.pact.recorded import (
    NAMES,
    Headers,
    LeftOut,
    PactDelivery,
    PactExchange,
    find_header,
)
from mock_platform.pact.states import EVENT, make_signed
from mock_platform.world import redact

_KEPT_HEADERS = frozenset({"accept", "content-type", "prefer", "x-mock-scenario", "x-mock-names"})
_RATE = re.compile(r"x-(?:account-)?rate-limit-[a-z]+", re.ASCII)
_JSON = re.compile(r"application/(?:[a-z.+-]+\+)?json", re.ASCII)
_PAIRS = re.compile(r"[A-Za-z0-9_]+=[^&\s<]*(?:&[A-Za-z0-9_]+=[^&\s<]*)*", re.ASCII)
"""A form, which oauth/request_token answers."""
_NESTING = 64
JsonObject = dict[str, Any]


class InteractionWriter:
    """Writes interactions with the schemas of one OpenAPI document."""

    def __init__(self, openapi: Mapping[str, Any]) -> None:
        self._paths: Mapping[str, Any] = openapi["paths"]
        self._components: Mapping[str, Any] = openapi["components"]["schemas"]

    def write(self, exchange: PactExchange) -> JsonObject | LeftOut:
        """Returns the interaction of an exchange, or why it has no interaction."""
        reason = _find_obstacle(exchange)
        if reason is not None:
            return LeftOut(exchange.label, reason)
        query = parse_qsl(exchange.query, keep_blank_values=True)
        states = [dict(state) for state in exchange.states]
        request = _write_request(exchange, query)
        if exchange.credentials is not None:
            states.append(make_signed(exchange, query))
            request["headers"]["Authorization"] = ["credentials of the provider state"]
            request["generators"] = {
                "header": {
                    "Authorization": {
                        "type": "ProviderState",
                        "expression": "${authorization}",
                        "dataType": "STRING",
                    }
                }
            }
        return _finish(
            "Synchronous/HTTP",
            f"{exchange.operation.id} answers {exchange.status}: {exchange.label}",
            states,
            {"request": request, "response": self._write_response(exchange)},
        )

    def write_message(self, delivery: PactDelivery) -> JsonObject:
        """Returns the message of a delivery."""
        matcher = Matcher(self._components, frozenset())
        content = matcher.match([delivery.body], {})
        params = {"event": delivery.event_id, "names": delivery.names}
        state = {"name": EVENT, "params": params}
        return _finish(
            "Asynchronous/Messages",
            f"a webhook receives {delivery.event_type}",
            [*(dict(state) for state in delivery.states), state],
            {
                "contents": _write_body(content, "application/json"),
                "matchingRules": {"body": matcher.rules},
                "metadata": {"contentType": "application/json"},
            },
        )

    def _write_response(self, exchange: PactExchange) -> JsonObject:
        kind = find_header(exchange.answer_headers, "content-type")
        headers: dict[str, list[str]] = {"Content-Type": [kind]} if kind else {}
        rules: JsonObject = {}
        for name, value in exchange.answer_headers:
            if _RATE.fullmatch(name.lower()):
                headers[name] = [value]
                rules.setdefault("header", {})[name] = _make_regex("^[0-9]+$")
        response: JsonObject = {"status": exchange.status, "headers": headers}
        media_type = kind.partition(";")[0].strip().lower()
        text = redact.content(exchange.answer_body.decode(), kind)
        if _JSON.fullmatch(media_type):
            fixed = {unquote(part) for part in exchange.path.split("/")}
            matcher = Matcher(
                self._components,
                frozenset(fixed),
                failed=exchange.status >= 400,
                originals=PAIRS[exchange.operation.dialect]
                if exchange.names == "original"
                else None,
            )
            schema = self._find_schema(exchange, media_type)
            template = matcher.match([loads(text.encode(), max_nesting=_NESTING)], schema)
            response["body"] = _write_body(template, media_type)
            rules["body"] = matcher.rules
        elif text:
            # A form such as that of oauth/request_token: names are fixed, values are not.
            form = "&".join(
                f"{re.escape(pair.partition('=')[0])}=[^&]*" for pair in text.split("&")
            )
            response["body"] = _write_body(text, media_type)
            rules["body"] = {"$": _make_regex(f"^{form}$")}
        response["matchingRules"] = rules
        return response

    def _find_schema(self, exchange: PactExchange, media_type: str) -> Mapping[str, Any]:
        operation = exchange.operation
        prefix = "/sandbox" if operation.sandbox_only else ""
        methods = self._paths.get(prefix + template_path(operation.path), {})
        responses = methods.get(operation.method.lower(), {}).get("responses", {})
        found = responses.get(str(exchange.status)) or responses.get("default") or {}
        content = found.get("content", {})
        schema: Mapping[str, Any] = content.get(media_type, {}).get("schema", {})
        return schema


def _find_obstacle(exchange: PactExchange) -> str | None:
    """Returns why a request cannot be repeated with the same answer; `None` if it can."""
    shown = redact.content(exchange.body.decode("utf-8", "replace"), exchange.media_type)
    address = f"{exchange.path}?{exchange.query}"
    if exchange.body and shown.encode() != exchange.body:
        return "its body has a secret or is not text"
    if redact.address(address) != address or redact.MASK in address + shown:
        return "its address or body has a secret"
    sent = find_header(exchange.headers, "authorization")
    if exchange.status == 401 and sent and exchange.credentials is None:
        return "the wrong credentials that it sent are not recorded"
    if exchange.status == 429 and not exchange.is_made_to_fail:
        return "how many requests came before it decides its answer"
    return _find_obstacle_in_answer(exchange)


def _find_obstacle_in_answer(exchange: PactExchange) -> str | None:
    kind = find_header(exchange.answer_headers, "content-type")
    media_type = kind.partition(";")[0].strip().lower()
    try:
        text = exchange.answer_body.decode()
        if _JSON.fullmatch(media_type):
            loads(text.encode(), max_nesting=_NESTING)
            return None
    except (UnicodeDecodeError, BadJson):
        return "its answer cannot be read, or was cut"
    if text and not _PAIRS.fullmatch(text):
        return f"its answer is {media_type or 'no media type'}, for which there are no rules"
    return None


def _write_request(exchange: PactExchange, query: Sequence[tuple[str, str]]) -> JsonObject:
    request: JsonObject = {
        "method": exchange.method,
        "path": exchange.path,
        "headers": {name: [value] for name, value in _keep(exchange.headers) if value},
    }
    if exchange.names == "original":
        request["headers"][NAMES.title()] = ["original"]
    if query:
        asked: dict[str, list[str]] = {}
        for name, value in query:
            asked.setdefault(name, []).append(value)
        request["query"] = asked
    if exchange.body:
        text: Any = exchange.body.decode()
        kind = exchange.media_type or "text/plain"
        if _JSON.fullmatch(kind):
            try:
                text = loads(exchange.body, max_nesting=_NESTING)
            except BadJson:
                kind = "text/plain"  # it was refused for this; the header still says what was sent
        request["body"] = _write_body(text, kind)
    return request


def _keep(headers: Headers) -> list[tuple[str, str]]:
    return [
        (name.title(), value)
        for name, value in redact.headers(headers)
        if name.lower() in _KEPT_HEADERS
    ]


def _write_body(content: Any, kind: str) -> JsonObject:
    return {"content": content, "contentType": kind, "encoded": False}


def _make_regex(regex: str) -> JsonObject:
    return {"combine": "AND", "matchers": [{"match": "regex", "regex": regex}]}


def _finish(
    kind: str, description: str, states: Sequence[JsonObject], parts: JsonObject
) -> JsonObject:
    """Returns an interaction with a key that follows from its contents."""
    entry = {
        "type": kind,
        "description": description,
        "pending": False,
        "providerStates": list(states),
        **parts,
    }
    return entry | {"key": blake2b(canonical(entry), digest_size=8).hexdigest()}
