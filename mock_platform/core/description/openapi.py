"""The OpenAPI 3.1 description, made from the same operations that are served.

Nothing is declared twice: parameters and bodies come from the operations' schemas. The statuses of
failures come from rendering each failure that an operation's stages can raise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marshmallow import EXCLUDE, Schema

from mock_platform.core.assumptions import Assumption, find_sentence
from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.auth.oauth2 import SCOPES
from mock_platform.core.call import FORM, MULTIPART, Call
from mock_platform.core.description.schemas import (
    FAILURE_SCHEMAS,
    Converter,
    anchor_pattern,
    problem_schemas,
)
from mock_platform.core.description.views import HERE, RECORDED, JsonObject
from mock_platform.core.envelope import Configurable, Flat
from mock_platform.core.failures.codes import phrase
from mock_platform.core.failures.rendering import render
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Location, Operation, Origin, PathRules
from mock_platform.core.original_names.exchange import Translator
from mock_platform.core.pipeline import WRITES, possible_failures
from mock_platform.settings import Settings

if TYPE_CHECKING:
    from apispec import APISpec


# The order of tags in descriptions: that of the specification's sections.

_SECTIONS = (
    "A, Endpoints: POST {base_url}/2/webhooks/replay",
    "A, Endpoints: POST {base_url}/oauth/",
    "A, Endpoints: POST {base_url}/oauth2/",
    "A, ",
    "Not shown",
    "B, Product catalogs (early access only)",
    "B, Product catalogs: product sets",
    "B, Keyword insights",
    "B, Tailored audience permissions",
    "B, Custom audiences",
    "B, Do-not-reach lists",
    "B, Account media",
    "B, Cards",
    "B, Media library",
    "B, Poll cards",
    "B, Video conversation cards",
    "B, Posting on behalf of an advertiser",
    "B, Accounts",
    "B, Line items",
    "B, Line item curated categories",
    "B, ",
)
"""How `spec` of an operation begins, in the order of the documents; the rest of each comes last."""
_OWN = frozenset({Origin.DOCUMENT_A, Origin.DOCUMENT_B})


def sort_tags(operations: Iterable[Operation]) -> list[str]:
    """Return the families of operations, in the order in which the documents describe them.

    A family is where its documented operations are. Families of one section are in the order of
    the operations.
    """
    families: dict[str, list[Operation]] = {}
    for operation in operations:
        families.setdefault(tag_of(operation), []).append(operation)
    return sorted(families, key=lambda name: _rank(families[name]))


def tag_of(operation: Operation) -> str:
    """Return the family of an operation: the beginning of its id."""
    return operation.id.partition(".")[0]


def _rank(family: list[Operation]) -> int:
    documented = [operation for operation in family if operation.origin in _OWN]
    return min(_find_section(operation.spec) for operation in documented or family)


def _find_section(spec: str) -> int:
    found = (index for index, begin in enumerate(_SECTIONS) if spec.startswith(begin))
    return max(found, key=lambda index: len(_SECTIONS[index]), default=len(_SECTIONS))


V2_VERSION = "2.166"
"""The version in document A ("What the service does")."""

Extend = Callable[["APISpec", Converter], None]

SECURITY_SCHEMES: Mapping[Scheme, JsonObject] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "OAuth 2.0 app-only: the bearer token of POST /oauth2/token.",
    },
    "oauth2": {
        "type": "oauth2",
        "description": "OAuth 2.0 user context: the access token of POST /2/oauth2/token, in the "
        "header Authorization: Bearer.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{HERE}/2/oauth2/authorize",
                "tokenUrl": f"{HERE}/2/oauth2/token",
                "refreshUrl": f"{HERE}/2/oauth2/token",
                "scopes": {scope: f"The scope {scope}." for scope in SCOPES},
            }
        },
    },
    "basic": {
        "type": "http",
        "scheme": "basic",
        "description": "API key as user name, API key secret as password, each percent-encoded.",
    },
    "oauth1": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "OAuth 1.0a user context: `OAuth oauth_consumer_key=…, oauth_token=…, "
        "oauth_signature_method=HMAC-SHA1, oauth_signature=…, …`, signed for each request with the "
        "secrets of app and user.",
    },
    "oauth2-client": {
        "type": "http",
        "scheme": "basic",
        "description": "client_id as user name, client_secret as password. A public client sends "
        "client_id in the form instead.",
    },
    "oauth1-app": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "OAuth 1.0a without a token: signed with the app's secret alone.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "mock_platform_session_default",
        "description": "The login session of a browser; without one, the page asks to log in.",
    },
    "oauth1-request-token": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "OAuth 1.0a with a request token: signed with the secrets of app and "
        "request token.",
    },
}
_VARYING = re.compile(r":([a-z_]+)")


def describe(
    operations: Iterable[Operation],
    settings: Settings,
    *,
    title: str,
    version: str,
    text: str,
    original_names: Translator,
    spec_sentences: Mapping[str, str],
    published_ids: Mapping[str, str] = {},
    sandbox: bool = False,
    extend: Extend | None = None,
) -> JsonObject:
    """Return the document of these operations; `extend` adds everything else.

    `published_ids` are the ids of operations in a public description, by ours.
    With `sandbox` each advertising operation is also described under the sandbox address. Every
    address in the document begins with `HERE`.
    """
    # apispec costs some 15 ms, which a server should not pay before a description is requested.
    from apispec import APISpec
    from apispec.ext.marshmallow import MarshmallowPlugin

    names = _Names()
    plugin = MarshmallowPlugin(schema_name_resolver=names)
    spec = APISpec(
        title=title,
        version=version,
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": text},
        servers=[{"url": HERE}],
    )
    converter = Converter(plugin.converter)
    writer = _Writer(spec, converter, settings, original_names, spec_sentences, sandbox=sandbox)
    operations = tuple(operations)
    for operation in operations:
        writer.add(operation)
    if extend is not None:
        extend(spec, converter)
    writer.add_shared()
    document: JsonObject = spec.to_dict()
    for methods in document["paths"].values():
        for entry in methods.values():
            if entry.get("operationId") in published_ids:
                entry["operationId"] = published_ids[entry["operationId"]]
    document["tags"] = [{"name": name} for name in sort_tags(operations)] + document.get("tags", [])
    components = document["components"].get("schemas", {})
    converter.finish(components, names.owners)
    _open_sent(components, [x for methods in document["paths"].values() for x in methods.values()])
    return document


def _open_sent(components: JsonObject, entries: Iterable[JsonObject]) -> None:
    """Open the objects inside of bodies, of which unknown keys are ignored at any depth.

    Objects that are served, too, stay closed, and so do those that only the control plane takes.
    """
    sent: set[str] = set()
    closed: set[str] = set()
    for entry in entries:
        is_lenient = "x-mock-operation" in entry
        _gather(entry.get("requestBody"), components, sent if is_lenient else closed)
        _gather(entry.get("responses"), components, closed)
    for name in sent - closed:
        if components[name].get("additionalProperties") is False:
            del components[name]["additionalProperties"]


def _gather(value: Any, components: JsonObject, found: set[str]) -> None:
    """Add the names of the components that a part of the document refers to, directly or not."""
    if isinstance(value, dict):
        name = str(value.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in components and name not in found:
            found.add(name)
            _gather(components[name], components, found)
        for part in value.values():
            _gather(part, components, found)
    elif isinstance(value, list):
        for part in value:
            _gather(part, components, found)


def template_path(path: str) -> str:
    """Return a path of the spec's notation in that of OpenAPI: `/12/accounts/{account_id}`."""
    return _VARYING.sub(r"{\1}", path)


class _Names:
    """Return the name of a component: the `component_name` of a class, or the class's own name."""

    def __init__(self) -> None:
        self.owners: dict[str, type[Schema]] = {}
        self._alike: dict[str, type[Schema]] = {}

    def __call__(self, schema: Schema | type[Schema]) -> str:
        owner = schema if isinstance(schema, type) else type(schema)
        own = re.sub(r"(?:Record|Schema)$", "", owner.__name__) or owner.__name__
        name = str(vars(owner).get("component_name", own))
        # Two classes of one name would overwrite each other silently, and one of them would be
        # described as the other. It is found when the document is made, so by the first test that
        # asks for it. Generators of clients leave out underscores and change case, so names that
        # differ in nothing else are one.
        self.owners.setdefault(name, owner)
        other = self._alike.setdefault(name.replace("_", "").lower(), owner)
        if other is not owner:
            raise TypeError(
                f"{owner.__module__}.{owner.__qualname__} and {other.__module__}."
                f"{other.__qualname__} are both described as {name!r}: give one of them another "
                "`component_name`."
            )
        return name


class _QuicklyCopied(dict[str, JsonObject]):
    """The methods of a path, which apispec copies.

    By way of JSON this is done at once: `copy.deepcopy` took a sixth of the time of a description.
    """

    def __deepcopy__(self, memo: object) -> JsonObject:
        copied: JsonObject = loads(dumps(self), max_nesting=256)
        return copied


class _Writer:
    """Writes operations into a document."""

    def __init__(
        self,
        spec: APISpec,
        converter: Converter,
        settings: Settings,
        original_names: Translator,
        spec_sentences: Mapping[str, str],
        *,
        sandbox: bool,
    ) -> None:
        self._spec_sentences = spec_sentences
        self._original_names = original_names
        self._spec = spec
        self._converter = converter
        self._settings = settings
        self._sandbox = sandbox
        self._schemes: set[Scheme] = set()
        self._shared: set[str] = set()

    def add(self, operation: Operation) -> None:
        """Add an operation under each of its paths."""
        described = self._operation(operation)
        self._schemes.update(operation.auth.schemes)
        forms = self._describe_path(operation)
        for prefix in self._prefixes(operation):
            for path in (operation.path, *operation.also):
                entry = dict(described)
                addressed = _path_parameters(path, forms)
                if addressed or "parameters" in entry:
                    entry["parameters"] = [*addressed, *entry.get("parameters", ())]
                # OpenAPI has no aliases: each further spelling is a path of its own with the same
                # content.
                if path != operation.path:
                    del entry["operationId"]  # an id may stand only once
                elif prefix and not operation.sandbox_only:
                    entry["operationId"] = f"sandbox.{operation.id}"
                methods = _QuicklyCopied({operation.method.lower(): entry})
                self._spec.path(prefix + template_path(path), operations=methods)

    def _describe_path(self, operation: Operation) -> Mapping[str, JsonObject]:
        """Return the schemas of those parameters of the path that do not take any text."""
        rules: object = operation.rules
        form = operation.path_form
        described: JsonObject = {}
        if isinstance(rules, PathRules):
            for name, pattern in rules.path_patterns.items():
                described[name] = {"type": "string", "pattern": anchor_pattern(pattern.pattern)}
        return described | ({} if form is None else self._converter.properties(form))

    def _prefixes(self, operation: Operation) -> Sequence[str]:
        """Return the addresses of an operation: the plain one, and that of the sandbox."""
        if operation.sandbox_only:
            return ("/sandbox",)
        return ("", "/sandbox") if self._sandbox and operation.dialect == "ads" else ("",)

    def add_shared(self) -> None:
        """Add the components that operations refer to: failure bodies and security schemes."""
        for scheme, value in SECURITY_SCHEMES.items():
            if scheme in self._schemes:
                self._spec.components.security_scheme(scheme, value)
        if "Problem" in self._shared:
            for name, schema in problem_schemas(self._converter, HERE).items():
                self._spec.components.schema(name, schema)
        for name in sorted(self._shared - {"Problem"}):
            self._spec.components.schema(name, FAILURE_SCHEMAS[name])

    def _operation(self, operation: Operation) -> JsonObject:
        declared = operation.returns
        if isinstance(declared, Configurable):
            returns = declared.configure(self._settings)
        else:
            returns = declared
        success: JsonObject = {"description": operation.summary}
        data = {} if returns.schema is None else self._converter.reference(returns.schema)
        media: JsonObject = {"schema": returns.describe_body(data)}
        if returns.media_type:
            success["content"] = {returns.media_type: media}
        if isinstance(returns, Flat) and returns.recorded_in_data:
            wrapped = {"type": "object", "required": ["data"], "properties": {"data": data}}
            media[RECORDED] = {"schema": wrapped}
        responses: JsonObject = {str(returns.status): success, **self._failures(operation)}
        if isinstance(returns, Flat) and returns.recorded_status is not None:
            responses[RECORDED] = {str(returns.recorded_status): success}
        entry: JsonObject = {
            "operationId": operation.id,
            "summary": operation.summary,
            "tags": [tag_of(operation)],
            "responses": responses,
            "x-mock-operation": operation.id,
            "x-mock-spec": operation.spec,
            "x-mock-origin": operation.origin.value,
            "x-mock-assumptions": [
                _describe_assumption(assumption, self._spec_sentences)
                for assumption in dict.fromkeys(operation.all_assumptions)
            ],
        }
        if operation.auth.schemes:
            scopes = list(operation.auth.scopes)
            entry["security"] = [
                {scheme: scopes if scheme == "oauth2" else []} for scheme in operation.auth.schemes
            ]
            if not operation.auth.refuses:
                entry["security"].append({})  # without a session, too, it answers
        if operation.deprecated:
            entry["deprecated"] = True
        if original := self._original_names.describe(operation, template_path):
            entry["x-mock-original-names"] = original
        self._input(operation, entry)
        return entry

    # -- requests --------------------------------------------------------------------------------

    def _input(self, operation: Operation, entry: JsonObject) -> None:
        if operation.location is Location.TEXT:
            text = {"schema": {"type": "string"}, "example": "2244994945\n3805104374\n"}
            entry["requestBody"] = _body({"text/plain": text}, required=False)
        if operation.params is None:
            return
        schema = operation.params(unknown=EXCLUDE)
        form = operation.method in WRITES and operation.location is not Location.JSON
        if operation.location is Location.JSON:
            if operation.in_query:
                fields = schema.load_fields.items()
                names = [name for name, f in fields if (f.data_key or name) in operation.in_query]
                shown = operation.params(unknown=EXCLUDE, only=names)
                entry["parameters"] = self._converter.parameters(shown)
                schema = operation.params(unknown=EXCLUDE, exclude=names)
                body = self._converter.inline(schema)
            else:
                body = self._converter.reference(schema)
            if body.get("type") == "array":
                body["minItems"] = 1  # a batch of nothing is refused
            content = {"application/json": {"schema": body}}
            entry["requestBody"] = _body(content, required=not operation.in_query)
        elif operation.location is Location.UPLOAD:
            where = "The same parameters in a JSON body, where contents are base64, or in a form."
            bodies = {"application/json": self._converter.reference(schema)}
            bodies[MULTIPART] = _show_contents(self._converter.inline(schema))
            kinds = {kind: {"schema": body} for kind, body in bodies.items()}
            entry["requestBody"] = _body(kinds, required=True, description=where)
        elif operation.location is Location.FORM:
            entry["requestBody"] = self._form(schema, "Parameters belong in a form alone.")
        elif form and operation.dialect == "oauth":
            where = "Parameters belong in a form; the query is taken as well."
            entry["requestBody"] = self._form(schema, where)
        else:
            nullable = operation.method == "PUT"
            entry["parameters"] = self._converter.parameters(schema, allow_empty=nullable)
            if form and schema.fields:
                where = "The same parameters, in the query or in a form."
                entry["requestBody"] = self._form(schema, where, required=False)

    def _form(self, schema: Schema, where: str, *, required: bool = True) -> JsonObject:
        """Return a form body: its parameters are not required if they can be in the query."""
        described = self._converter.inline(schema)
        if not required:
            described.pop("required", None)
        encoding = {
            name: {"style": "form", "explode": False}
            for name, value in described["properties"].items()
            if value.get("type") == "array"
        }
        media: JsonObject = {"schema": described}
        if encoding:
            media["encoding"] = encoding
        return _body({FORM: media}, required=False, description=where)

    # -- failures --------------------------------------------------------------------------------

    def _failures(self, operation: Operation) -> JsonObject:
        call = Call(operation.method, HERE + operation.path, operation.path, HERE, [])
        statuses: dict[int, None] = dict.fromkeys(operation.statuses)
        for failure in possible_failures(operation, self._settings):
            statuses[render(failure, call).status] = None
        if operation.gates or operation.tier_gate is not None:
            statuses |= {400: None, 403: None}
        if operation.dialect == "v2":
            return {"default": self._v2_failure(operation, sorted(statuses))}
        return {
            str(status): self._failure(operation, status)
            for status in sorted(statuses)
            if status != operation.returns.status
        }

    def _v2_failure(self, operation: Operation, statuses: Sequence[int]) -> JsonObject:
        names = ["Error", "Errors"]
        if "oauth2-client" in operation.auth.schemes:
            names.append("TokenError")
        self._shared |= {"Problem", *names}
        shown = ", ".join(str(status) for status in statuses)
        # Generated clients read the first kind alone, and nearly all refusals are problems.
        content: JsonObject = {
            "application/problem+json": {"schema": _ref("Problem")},
            "application/json": {"schema": {"anyOf": [_ref(name) for name in names]}},
        }
        if operation.returns.media_type == "text/html":
            content["text/html"] = {"schema": {"type": "string"}}
        return {
            "description": f"The request failed ({shown}): an error object or a problem object.",
            "content": content,
        }

    def _failure(self, operation: Operation, status: int) -> JsonObject:
        if status < 400:
            address = {"description": "where to go", "schema": {"type": "string"}}
            return {"description": phrase(status), "headers": {"Location": address}}
        if operation.dialect == "oauth":
            self._shared.add("Errors")
            content: JsonObject = {"application/json": {"schema": _ref("Errors")}}
            if operation.returns.media_type == "text/html":
                content["text/html"] = {"schema": {"type": "string"}}
            return {"description": phrase(status), "content": content}
        kinds = {400: ["AdsErrors", "BatchErrors"], 401: ["AdsErrors", "Errors"]}
        names = kinds.get(status, ["AdsErrors"])
        self._shared.update(names)
        references = [_ref(name) for name in names]
        schema = references[0] if len(references) == 1 else {"anyOf": references}
        return {
            "description": phrase(status),
            "content": {"application/json": {"schema": schema}},
        }


def _path_parameters(path: str, forms: Mapping[str, JsonObject]) -> list[JsonObject]:
    return [
        {
            "in": "path",
            "name": name,
            "required": True,
            "schema": forms.get(name, {"type": "string"}),
        }
        for name in _VARYING.findall(path)
    ]


def _show_contents(body: JsonObject) -> JsonObject:
    """Return the form in which contents are bytes: clients would send the base64 of JSON."""
    content = {"type": "string", "format": "binary"}
    parts = {
        name: content if part.get("contentEncoding") == "base64" else part
        for name, part in body["properties"].items()
    }
    return {**body, "properties": parts}


def _body(content: JsonObject, *, required: bool, description: str = "") -> JsonObject:
    body: JsonObject = {"content": content, "required": required}
    if description:
        body["description"] = description
    return body


def _ref(name: str) -> JsonObject:
    return {"$ref": f"#/components/schemas/{name}"}


def _describe_assumption(assumption: Assumption, sentences: Mapping[str, str]) -> JsonObject:
    sentence = find_sentence(sentences, assumption.id)
    told = {"id": assumption.id, "text": assumption.text}
    return told | {"completes": sentence} if sentence else told
