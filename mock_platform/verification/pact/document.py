"""Writes a Pact file (version 4): interactions with templates and matching rules from answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.core.description.openapi import template_path
from mock_platform.core.jsonio import BadJson, canonical, loads
from mock_platform.core.original_names.translation import Pairs
from mock_platform.verification.pact.recorded import (
    EVENT,
    NAMES,
    Headers,
    LeftOut,
    PactDelivery,
    PactExchange,
    find_header,
    make_signed,
)
from mock_platform.version import __version__
from mock_platform.world import redact

# Makes a template and matching rules from answers and their schema. The rules say what a client
# may rely on: types, values of enumerations, forms of moments and ids. The elements of a list
# become one template with the keys that all of them have.

Schema = Mapping[str, Any]
Rules = dict[str, dict[str, Any]]
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", re.ASCII)
_MOMENT_RULE = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$"
_ID_NAME = re.compile(r"(?:.*_)?(?:id|id_str|uuid|key)$", re.ASCII)
_ID_FORMS = (r"^[0-9]+$", r"^[0-9]+_[0-9]+$", r"^[0-9a-z]+$", r"^[0-9a-f]+(-[0-9a-f]+)+$")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LOOKAROUND = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]")
"""What the regular expressions of the verifier do not have."""
_HOST = re.compile(r"https?://[^/]+(/.*)", re.ASCII)
_EXACT_IN_FAILURES = frozenset({"code", "status", "title"})


class Matcher:
    """Makes templates and rules with the components of one OpenAPI document."""

    def __init__(
        self,
        components: Mapping[str, Schema],
        fixed: frozenset[str],
        *,
        failed: bool = False,
        originals: Pairs | None = None,
    ) -> None:
        """`fixed` are texts that come back as they were sent; `failed`: codes are exact.

        `originals` are the original names, if the values have them; schemas have the neutral ones.
        """
        self._components = components
        self._fixed = fixed
        self._failed = failed
        self._values = {} if originals is None else originals.values
        self._neutral: dict[str, str] = {}
        if originals is not None:
            for pairs in (*originals.within.values(), originals):
                self._neutral |= {original: name for name, original in pairs.names.items()}
        self.rules: Rules = {}

    def match(self, values: Sequence[Any], schema: Schema, path: str = "$", name: str = "") -> Any:
        """Return the template of these values, which all have one place; add its rules."""
        shown = [value for value in values if value is not None]
        schema = self._resolve(schema, shown[0] if shown else None)
        if shown and all(isinstance(value, dict) for value in shown):
            return self._match_objects(shown, schema, path)
        if shown and all(isinstance(value, list) for value in shown):
            return self._match_lists(shown, schema, path)
        template = shown[0] if shown else None
        matchers = self._choose(template, schema, name)
        # What a client may rely on is what all values at this place have in common. A value that is
        # sometimes null makes the rule an alternative; what was never seen otherwise is described
        # by its schema.
        nullable = template is None or len(shown) < len(values) or _allows_null(schema)
        if nullable and template is not None:
            matchers = [matchers[-1], {"match": "null"}]
        combine = "OR" if nullable and len(matchers) > 1 else "AND"
        self.rules[path] = {"combine": combine, "matchers": matchers}
        return template

    def _match_objects(
        self, values: Sequence[Mapping[str, Any]], schema: Schema, path: str
    ) -> dict[str, Any]:
        properties = schema.get("properties", {})
        more = schema.get("additionalProperties")
        other = more if isinstance(more, Mapping) else {}
        # Keys that some elements of a list lack cannot be relied on, so the template does not have
        # them.
        common = [key for key in values[0] if all(key in value for value in values)]
        return {
            key: self.match(
                [value[key] for value in values],
                self._find_property(properties, key, other),
                _extend(path, key),
                key,
            )
            for key in common
        }

    def _find_property(self, properties: Mapping[str, Schema], key: str, other: Schema) -> Schema:
        return properties.get(key) or properties.get(self._neutral.get(key, key), other)

    def _match_lists(self, values: Sequence[list[Any]], schema: Schema, path: str) -> list[Any]:
        # All elements of all lists at this place become one template: the verifier checks each
        # element of its own answer against it.
        elements = [element for value in values for element in value]
        if not elements:
            if path != "$.data":  # a list without results is a result
                self.rules[path] = {"combine": "AND", "matchers": [{"match": "type"}]}
            return []
        least = 1 if all(values) else 0
        self.rules[path] = {"combine": "AND", "matchers": [{"match": "type", "min": least}]}
        items = schema.get("items")
        return [self.match(elements, items if isinstance(items, Mapping) else {}, f"{path}[*]")]

    def _choose(self, value: Any, schema: Schema, name: str) -> list[dict[str, Any]]:
        if value is None:
            return _match_nothing(schema)
        exact = self._failed and name in _EXACT_IN_FAILURES
        if exact or (isinstance(value, str) and value in self._fixed):
            return [{"match": "equality"}]
        if not isinstance(value, str):
            return [{"match": _find_number_kind(value, schema)}]
        regex = self._find_form(value, schema, name)
        # A regular expression alone would also accept a number with these digits.
        more = [] if regex is None else [{"match": "regex", "regex": regex}]
        return [{"match": "type"}, *more]

    def _find_form(self, value: str, schema: Schema, name: str) -> str | None:
        """Return the regular expression of a text; `None` if it can be any text."""
        if "enum" in schema or "const" in schema:
            allowed = schema.get("enum", [schema.get("const")])
            originals = self._values.get(self._neutral.get(name, name), {})
            allowed = [originals.get(each, each) for each in allowed]
            texts = [re.escape(each) for each in allowed if isinstance(each, str)]
            if value in allowed and not _HOST.fullmatch(value):
                return f"^({'|'.join(texts)})$"
        address = _HOST.fullmatch(value)
        if address is not None and self._failed:
            return f"^https?://.+{re.escape(address[1].rpartition('/~')[2])}$"
        if _MOMENT.fullmatch(value):
            return _MOMENT_RULE
        pattern = schema.get("pattern")
        if pattern and not _LOOKAROUND.search(pattern):
            return str(pattern)
        if _ID_NAME.fullmatch(name):
            return next((form for form in _ID_FORMS if re.fullmatch(form, value)), None)
        return None

    def _resolve(self, schema: Schema, value: Any) -> Schema:
        """Return the schema without references, with the alternative that the value fits best."""
        found: Schema = schema
        for _ in range(16):  # references do not go deeper; a circle ends here
            if "$ref" in found:
                found = self._components.get(str(found["$ref"]).rpartition("/")[2], {})
            elif choices := [*found.get("oneOf", ()), *found.get("anyOf", ())]:
                found = max(choices, key=lambda each: self._rate(each, value))
            elif parts := found.get("allOf"):
                joined: dict[str, Any] = {key: v for key, v in found.items() if key != "allOf"}
                for part in parts:
                    more = self._resolve(part, value)
                    properties = {**more.get("properties", {}), **joined.get("properties", {})}
                    joined = {**more, **joined, "properties": properties}
                return joined
            else:
                break
        return found

    def _rate(self, schema: Schema, value: Any) -> int:
        """Return how well a value fits an alternative: by its constants, then by its keys."""
        # Alternatives such as the kinds of problems differ by a constant, usually an address of
        # which only the last part is the same everywhere. A constant that fits or contradicts
        # outweighs any number of keys.
        resolved = self._resolve(schema, value)
        if not isinstance(value, Mapping):
            return int(_find_type(value) in _read_types(resolved))
        points = 0
        for key, declared in resolved.get("properties", {}).items():
            if key in value:
                points += 1
                if "const" in declared:
                    same = (
                        str(declared["const"]).rpartition("/")[2]
                        == str(value[key]).rpartition("/")[2]
                    )
                    points += 100 if same else -100
        return points - sum(key not in value for key in resolved.get("required", ()))


def _match_nothing(schema: Schema) -> list[dict[str, Any]]:
    """Return the rules for a value that was null, and may be what its schema says as well."""
    others = {
        "string": {"match": "regex", "regex": "(?s)^.*$"},
        "integer": {"match": "integer"},
        "number": {"match": "number"},
        "boolean": {"match": "boolean"},
    }
    found = [others[kind] for kind in sorted(_read_types(schema)) if kind in others]
    return [{"match": "null"}, *found]


def _find_number_kind(value: Any, schema: Schema) -> str:
    if isinstance(value, bool):
        return "boolean"
    whole = isinstance(value, int) and "number" not in _read_types(schema)
    return "integer" if whole else "number"


def _read_types(schema: Schema) -> Sequence[str]:
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else kinds


def _allows_null(schema: Schema) -> bool:
    return "null" in _read_types(schema) or None in schema.get("enum", ())


def _find_type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "null")


def _extend(path: str, key: str) -> str:
    return f"{path}.{key}" if _IDENTIFIER.fullmatch(key) else f"{path}['{key}']"


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
        """Return the interaction of an exchange, or why it has no interaction."""
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
        """Return the message of a delivery."""
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
                originals=ORIGINAL_NAMES.find_pairs(exchange.operation)
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
    """Return why a request cannot be repeated with the same answer; `None` if it can."""
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
            # Without its secrets, as the file has it: where a text ends like the name of one, JSON
            # may not be left.
            loads(redact.content(text, kind).encode(), max_nesting=_NESTING)
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
    """Return an interaction with a key that follows from its contents."""
    entry = {
        "type": kind,
        "description": description,
        "pending": False,
        "providerStates": list(states),
        **parts,
    }
    return entry | {"key": blake2b(canonical(entry), digest_size=8).hexdigest()}


class Parties(NamedTuple):
    """Who uses the interface, and who provides it."""

    consumer: str
    provider: str


def make_pact(
    parties: Parties,
    recorded: Iterable[PactExchange | PactDelivery | LeftOut],
    openapi: Mapping[str, Any],
) -> tuple[dict[str, Any], list[LeftOut]]:
    """Return the file, and which requests are not in it.

    `openapi` describes the operations. Requests that are alike, but for the moment at which they
    came, are one interaction.
    """
    writer = InteractionWriter(openapi)
    found: dict[bytes, dict[str, Any]] = {}
    left_out: dict[LeftOut, None] = {}
    for each in recorded:
        if isinstance(each, LeftOut):
            left_out[each] = None
            continue
        written = (
            writer.write_message(each) if isinstance(each, PactDelivery) else writer.write(each)
        )
        if isinstance(written, LeftOut):
            left_out[written] = None
        else:
            found.setdefault(_identify(written), written)
    return _assemble(parties, _name_apart(list(found.values()))), list(left_out)


def _assemble(parties: Parties, interactions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "consumer": {"name": parties.consumer},
        "provider": {"name": parties.provider},
        "interactions": interactions,
        "metadata": {
            "pactSpecification": {"version": "4.0"},
            "mock_platform": {"version": __version__},
        },
    }


def _identify(interaction: Mapping[str, Any]) -> bytes:
    """Return what two interactions that are alike have in common."""
    states = [
        {**state, "params": {k: v for k, v in state["params"].items() if k != "clock"}}
        for state in interaction["providerStates"]
    ]
    if "contents" in interaction:
        # Two deliveries with the same keys and types of values are one message.
        return canonical([interaction["description"], interaction["matchingRules"]])
    status = interaction["response"]["status"]
    return canonical([interaction["description"], interaction["request"], status, states])


def _name_apart(interactions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Number those with the same description, which has to be unique."""
    seen: dict[str, int] = {}
    for each in interactions:
        description = each["description"]
        number = seen[description] = seen.get(description, 0) + 1
        if number > 1:
            each["description"] = f"{description} ({number})"
    return interactions
