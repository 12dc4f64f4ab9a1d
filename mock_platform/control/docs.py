"""Interactive documentation: Swagger UI for the whole description, without external files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from flask import Response, render_template, send_from_directory
from marshmallow import EXCLUDE
from werkzeug.exceptions import NotFound

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.examples import Sample, put_in_credentials
from mock_platform.control.operation_pages import find_naming_scenarios, make_example
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.call import FORM
from mock_platform.core.envelope import Lines
from mock_platform.core.fields import Choice
from mock_platform.core.jsonio import loads
from mock_platform.core.operation import NEW_CODE, NEW_REQUEST_TOKEN, NEW_VERIFIER
from mock_platform.core.schema import Schema
from mock_platform.platform import Platform
from mock_platform.world.ids import unguessable
from mock_platform.world.world import World

# The description as the interactive documentation shows it: with examples that work at once.
# The document of `/_mock/openapi.json` stays as it is. This one has values of the records in
# every required place, one bearer scheme for each kind of token, and links to the pages of the
# console; the platform and the control plane are apart.

JsonObject = dict[str, Any]
CONTROL = "control"
"""The tag of the control plane."""
PARTS = ("platform", CONTROL)
SIGNED: Mapping[str, str] = {
    "oauth1": "OAuth signed-by-this-page-as-user",
    "oauth1-app": "OAuth signed-by-this-page-as-app",
    "oauth1-request-token": "OAuth signed-by-this-page-with-a-new-request-token",
}
"""What the page fills in for schemes of OAuth 1.0a; it puts a signature in its place."""
MADE: Mapping[str, str] = {
    "request_token": NEW_REQUEST_TOKEN,
    "verifier": NEW_VERIFIER,
    "code": NEW_CODE,
}
"""What an example has in the place of values that the page gets with requests of its own."""
_MAX_EXACT = 2**53 - 1
"""A browser rounds greater numbers, so ids are texts in examples."""
_ALSO_A_FORM = "These parameters may also be sent as a form."
_BEARER = {"type": "http", "scheme": "bearer"}


def arrange(
    document: JsonObject, platform: Platform, world: World, base_url: str, part: str
) -> JsonObject:
    """Return one part of a description; `part` is one of `PARTS`."""
    shown = {path: dict(_choose(item, part)) for path, item in document["paths"].items()}
    document["paths"] = {path: item for path, item in shown.items() if item}
    document["tags"] = [
        tag for tag in document["tags"] if (tag["name"] == CONTROL) == (part == CONTROL)
    ]
    schemes = document["components"].get("securitySchemes", {})
    if "oauth2" in schemes:  # a token that is there already can be filled in only so
        schemes["oauth2"] = {**_BEARER, "description": "OAuth 2.0 user context: an access token."}
    _add_examples(document, platform, world, base_url)
    return document


def list_authorizations(world: World) -> dict[str, Any]:
    """Return what the page fills in: tokens by scheme, pairs of name and password, keys to sign.

    The keys are by the placeholder that they replace.
    """
    found = credentials(world)
    app, user = found["app"] or {}, found["user"] or {}
    of_app = {name: app.get(name) for name in ("consumer_key", "consumer_secret")}
    take_user = {"token": user.get("access_token"), "token_secret": user.get("access_token_secret")}
    signing = {}
    if app:
        signing = {SIGNED[scheme]: of_app for scheme in ("oauth1-app", "oauth1-request-token")}
    if app and take_user["token"]:
        signing[SIGNED["oauth1"]] = of_app | take_user
    return {
        "signing": signing,
        "callback": next(iter(app.get("callback_urls", ())), "oob"),
        "tokens": {"bearer": found["bearer_token"], "oauth2": user.get("oauth2_access_token")},
        "pairs": {
            "basic": [app.get("consumer_key"), app.get("consumer_secret")],
            "oauth2-client": [app.get("client_id"), app.get("client_secret")],
        },
    }


def list_steps(platform: Platform, world: World) -> dict[str, list[str]]:
    """Return the method and the path that the page sends first, by those of the request after."""
    steps = {}
    for operation in platform.operations:
        before = operation.example.before
        if before is not None:
            example = make_example(operation, world)
            if example is not None:
                steps[f"{example.method} {urlsplit(example.path).path}"] = [*before]
    return steps


def list_streams(platform: Platform) -> list[str]:
    """Return the paths of answers that do not end; the page shows how they begin."""
    return [each.path for each in platform.operations if isinstance(each.returns, Lines)]


def _choose(item: JsonObject, part: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield the entries of a path that a part has; sandbox addresses only if there is no other."""
    for method, entry in item.items():
        of_control = CONTROL in entry.get("tags", ())
        doubled = str(entry.get("operationId", "")).startswith("sandbox.")
        older = "operationId" not in entry
        if of_control == (part == CONTROL) and not doubled and not older:
            yield method, entry


def _add_examples(document: JsonObject, platform: Platform, world: World, base_url: str) -> None:
    operations = {operation.id: operation for operation in platform.operations}
    scenarios = find_naming_scenarios(platform)
    known = credentials(world)
    for path, item in document["paths"].items():
        for entry in item.values():
            operation = operations.get(entry.get("x-mock-operation", ""))
            if operation is None:
                continue
            named = [
                f"[{name}]({base_url}/_mock/console/scenarios/{name})"
                for name in scenarios.get(operation.id, ())
            ]
            if named:
                scenarios_named = f"Scenarios: {', '.join(named)}."
                entry["description"] = _join(entry.get("description"), scenarios_named)
            entry["externalDocs"] = {
                "description": "Page with scenarios, failures and an example",
                "url": f"{base_url}/_mock/console/operations/{operation.id}",
            }
            # Swagger UI sends the last scheme for which it has a value.
            if "security" in entry:
                entry["security"] = entry["security"][::-1]
            if operation.example.before is not None:
                first = " ".join(operation.example.before)
                step = f"In a fresh world this is refused, so this page sends `{first}` first."
                entry["description"] = _join(entry.get("description"), step)
            example = make_example(operation, world)
            if example is not None:
                made = put_in_credentials(operation.example.page_values, known)
                _fill(path, entry, example, made)


def _fill(path: str, entry: JsonObject, example: Sample, made: dict[str, str]) -> None:
    """Put the values of an example into the parameters and the body of an entry."""
    address = urlsplit(example.path)
    values = dict(parse_qsl(address.query)) | _read_path(path, address.path) | made
    parameters = entry.get("parameters", [])
    entry["parameters"] = [
        each | {"example": _convert(values[each["name"]], each.get("schema", {}))}
        if each["name"] in values
        else each
        for each in parameters
    ]
    content = entry.get("requestBody", {}).get("content", {})
    if FORM in content:
        form = content[FORM]["schema"]["properties"]
        if set(form) <= {each["name"] for each in parameters}:
            del entry["requestBody"]
            entry["description"] = _join(entry.get("description"), _ALSO_A_FORM)
            return
        sent = made or dict(parse_qsl(example.body or ""))
        content[FORM]["schema"] = content[FORM]["schema"] | {
            "properties": {
                # Swagger UI invents a value where there is no example.
                name: schema | {"example": sent.get(name, "")}
                for name, schema in form.items()
            }
        }
    elif "application/json" in content and example.body is not None:
        content["application/json"]["example"] = loads(example.body.encode())


def _join(*texts: str | None) -> str:
    return "\n\n".join(text for text in texts if text)


def _read_path(template: str, path: str) -> dict[str, str]:
    """Return the values that a path has in the places of a template."""
    return {
        name[1:-1]: unquote(value)
        for name, value in zip(template.split("/"), path.split("/"), strict=True)
        if name.startswith("{")
    }


def _convert(value: str, schema: Mapping[str, Any]) -> Any:
    """Return a value of a query as the type that its schema names."""
    kind = schema.get("type")
    if kind == "array":
        return value.split(",")
    if kind == "integer" and value.lstrip("-").isdigit():
        number = int(value)
        return number if abs(number) <= _MAX_EXACT else value
    if kind == "boolean" and value in {"true", "false"}:
        return value == "true"
    return value


ASSETS = "/_mock/docs/assets"
_FOLDER = files("flask_swagger_ui") / "dist"
_SUFFIXES = (".css", ".js", ".png")


class QueryOfDocs(Schema):
    """Which part is shown."""

    part = Choice(PARTS, metadata={"description": "platform unless another one is named"})


class AnyQuery(Schema):
    """A query of which nothing is read."""

    class Meta:
        """What else is sent is left out."""

        unknown = EXCLUDE


def show_asset(request: ControlRequest) -> Response:
    """One file of Swagger UI; its own pages are no part of it."""
    name = request.args["name"]
    if not name.endswith(_SUFFIXES):
        raise NotFound
    return send_from_directory(str(_FOLDER), name)


def docs(request: ControlRequest) -> Response:
    """Return the page that describes the world's address; it has the test tokens filled in."""
    part = request.query.get("part", PARTS[0])
    nonce = unguessable(24)
    page = render_template(
        "docs.html",
        root=request.base_url,
        nonce=nonce,
        assets=f"{request.base_url}{ASSETS}",
        description=f"{request.base_url}/_mock/docs/openapi.json?part={part}",
        authorizations=list_authorizations(request.world),
        signed=SIGNED,
        made=MADE,
        steps=list_steps(request.platform, request.world),
        streams=list_streams(request.platform),
        part=part,
    )
    return Response(
        page,
        headers={
            "Content-Security-Policy": (
                f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
                "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
                "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
            )
        },
    )


def describe_for_trying(request: ControlRequest) -> dict[str, Any]:
    """One part of the description, with examples from the records that work at once."""
    document = request.services.description.at(request.base_url)
    part = request.query.get("part", PARTS[0])
    return arrange(document, request.platform, request.world, request.base_url, part)


ROUTES = (
    Route("GET", "/docs/openapi.json", describe_for_trying, query=QueryOfDocs),
    Route("GET", "/docs/", docs, query=QueryOfDocs, media_type=HTML),
)
ASSET = Route("GET", "/docs/assets/<name>", show_asset, query=AnyQuery, media_type="*/*")
"""The files of the page, which the description leaves out."""
