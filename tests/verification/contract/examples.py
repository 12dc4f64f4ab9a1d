"""A small contract for the tests of comparisons, and the changes that each rule is about."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

from ruamel.yaml import YAML

Document = dict[str, Any]
Edit = Callable[[Document], object]

KEY = {"type": "string"}
DOCUMENT = """
mock_platform_contract: 1
version: "1"
openapi:
  openapi: 3.1.0
  info: {title: t, version: "1"}
  paths:
    /items/{item_id}:
      get:
        operationId: items.get
        parameters:
        - {in: path, name: item_id, required: true, schema: {type: string}}
        - {in: query, name: fields, explode: false, schema: {type: array, items: {type: string}}}
        security: [oauth2: [read], bearer: []]
        responses:
          "200":
            headers: {X-Left: {schema: {type: integer}}}
            content:
              application/json:
                schema:
                  type: object
                  properties: {data: {type: array, items: {$ref: "#/components/schemas/Item"}}}
          "404": {description: gone}
    /items:
      post:
        operationId: items.create
        requestBody:
          required: true
          content: {application/json: {schema: {$ref: "#/components/schemas/Body"}}}
        responses: {"201": {description: made}}
  components:
    schemas:
      Item:
        type: object
        required: [id, name]
        properties:
          id: {type: string}
          name: {type: string, maxLength: 80}
          status: {type: string, enum: [ACTIVE, PAUSED]}
          amount: {type: integer, format: int64, minimum: 1}
          made_at: {type: string, format: date-time}
      Body:
        type: object
        required: [name]
        properties:
          name: {type: string, maxLength: 80}
          status: {type: string, enum: [ACTIVE, PAUSED], default: ACTIVE}
          amount: {type: integer, format: int64, minimum: 1}
          target: {oneOf: [$ref: "#/components/schemas/Web"]}
      Web: {type: object, properties: {url: {type: string}}}
      App: {type: object, properties: {app: {type: string}}}
operations:
  items.get:
    since: "2026-03-01T00:00:00+00:00"
    failures: [{status: 404, code: NOT_FOUND}]
    limits: {reads: {count: 100, seconds: 900, per: user, source: spec}}
    max_body_bytes: null
  items.create: {since: null, failures: [], limits: {}, max_body_bytes: 1000}
failures: {numeric: {"89": {status: 401, message: Invalid token.}}}
assumptions: {items.sorted: {text: Lists are sorted.}}
releases: {items: {change: new, effective: "2026-03-01T00:00:00+00:00"}}
"""


@cache
def _read() -> Document:
    found: Document = YAML(typ="safe", pure=True).load(DOCUMENT)
    return found


def make_document() -> Document:
    """A contract with two operations."""
    return deepcopy(_read())


def get(document: Document) -> Any:
    """The operation that reads."""
    return document["openapi"]["paths"]["/items/{item_id}"]["get"]


def post(document: Document) -> Any:
    """The operation that writes."""
    return document["openapi"]["paths"]["/items"]["post"]


def item(document: Document) -> Any:
    """The schema that is answered."""
    return document["openapi"]["components"]["schemas"]["Item"]


def body(document: Document) -> Any:
    """The schema that is sent."""
    return document["openapi"]["components"]["schemas"]["Body"]


def said(document: Document) -> Any:
    """What only the contract says of the operation that reads."""
    return document["operations"]["items.get"]


def query(document: Document) -> Any:
    """The query parameter."""
    return get(document)["parameters"][1]


def answer(document: Document) -> Any:
    """The answer with status 200."""
    return get(document)["responses"]["200"]


def move_path(document: Document) -> None:
    """The operation that writes has another path."""
    paths = document["openapi"]["paths"]
    paths["/things"] = paths.pop("/items")


def add_value(values: list[str]) -> None:
    """One more value, not at the end: the order means nothing."""
    values.insert(0, "DRAFT")


class Example(NamedTuple):
    """One edit: the rules that it shows, and those that it shows when it is taken back."""

    edit: Edit
    forward: str
    backward: str
    place: str = ""


PARAMETER: Document = {"in": "query", "name": "count", "schema": {"type": "integer"}}
FORM = "application/x-www-form-urlencoded"
WEB: Document = {"$ref": "#/components/schemas/App"}
NULL = ["string", "null"]

EXAMPLES = tuple(Example(*row) for row in (
    (lambda d: d["openapi"]["paths"].pop("/items"), "operation-removed", "operation-added"),
    (move_path, "operation-moved", "operation-moved"),
    (lambda d: get(d).update(deprecated=True), "operation-deprecated", "operation-restored"),
    (lambda d: said(d).update(since="2026-04-01T00:00:00+00:00"),
     "operation-dated-later", "operation-dated-earlier"),
    (lambda d: get(d)["security"].pop(), "authentication-removed", "authentication-added"),
    (lambda d: post(d).update(security=[{"bearer": []}]),
     "authentication-required", "authentication-dropped"),
    (lambda d: get(d)["security"][0]["oauth2"].append("write"),
     "scope-required", "scope-dropped", "oauth2"),
    (lambda d: get(d)["parameters"].append(PARAMETER | {"required": True}),
     "required-parameter-added", "parameter-removed", "query parameter count"),
    (lambda d: get(d)["parameters"].append(PARAMETER), "parameter-added", "parameter-removed"),
    (lambda d: query(d).update(required=True), "parameter-required", "parameter-optional"),
    (lambda d: query(d).update(explode=True), "parameter-form-changed", "parameter-form-changed"),
    (lambda d: query(d).update(allowEmptyValue=True),
     "empty-parameter-accepted", "empty-parameter-refused"),
    (lambda d: query(d)["schema"].update(default=["id"]),
     "parameter-default-changed", "parameter-default-changed"),
    (lambda d: get(d).update(requestBody={"required": True, "content": {}}),
     "required-body-added", "body-removed"),
    (lambda d: get(d).update(requestBody={"content": {}}), "body-added", "body-removed"),
    (lambda d: post(d)["requestBody"].pop("required"), "body-optional", "body-required"),
    (lambda d: post(d)["requestBody"]["content"].update({FORM: {}}),
     "request-media-type-added", "request-media-type-removed"),
    (lambda d: d["operations"]["items.create"].update(max_body_bytes=999),
     "body-size-lowered", "body-size-raised"),
    (lambda d: body(d)["properties"]["amount"].update(type=["integer", "string"]),
     "sent-type-widened", "sent-type-narrowed", "body: amount"),
    (lambda d: body(d)["properties"]["name"].update(type=NULL),
     "sent-null-accepted", "sent-null-refused"),
    (lambda d: add_value(body(d)["properties"]["status"]["enum"]),
     "sent-value-accepted", "sent-value-refused", "body: status"),
    (lambda d: body(d)["properties"]["name"].update(maxLength=79),
     "sent-limit-narrowed", "sent-limit-widened"),
    (lambda d: body(d)["properties"]["amount"].update(minimum=0),
     "sent-limit-widened", "sent-limit-narrowed"),
    (lambda d: body(d)["properties"]["amount"].update(exclusiveMaximum=9),
     "sent-limit-narrowed", "sent-limit-widened"),
    (lambda d: body(d)["properties"]["name"].update(pattern="^a"),
     "sent-pattern-added", "sent-pattern-removed"),
    (lambda d: body(d)["properties"]["amount"].update(format="int32"),
     "sent-format-narrowed", "sent-format-widened"),
    (lambda d: body(d)["properties"]["status"].update(default="PAUSED"),
     "sent-default-changed", "sent-default-changed"),
    (lambda d: body(d)["properties"].update(note=KEY),
     "sent-key-added", "sent-key-removed", "body: note"),
    (lambda d: (body(d)["properties"].update(note=KEY), body(d)["required"].append("note")),
     "required-key-added", "sent-key-removed"),
    (lambda d: body(d)["required"].append("amount"), "sent-key-needed", "sent-key-spared"),
    (lambda d: body(d).update(additionalProperties=False), "sent-keys-closed", "sent-keys-opened"),
    (lambda d: body(d)["properties"]["target"]["oneOf"].append(WEB),
     "sent-choice-added", "sent-choice-removed"),
    (lambda d: body(d).update(dependentRequired={"amount": ["status"]}),
     "sent-condition-changed", "sent-condition-changed"),
    (lambda d: get(d)["responses"].update({"202": {}}), "success-added", "success-removed"),
    (lambda d: answer(d)["content"].update({"text/csv": {}}),
     "answer-media-type-added", "answer-media-type-removed"),
    (lambda d: item(d)["properties"].update(note=KEY),
     "answer-key-added", "answer-key-removed", "answer 200: data[].note"),
    (lambda d: item(d)["required"].remove("name"), "answer-key-optional", "answer-key-certain"),
    (lambda d: item(d)["properties"]["amount"].update(type=["integer", "string"]),
     "answer-type-changed", "answer-type-narrowed"),
    (lambda d: item(d)["properties"]["name"].update(type=NULL),
     "answer-null-added", "answer-null-removed"),
    (lambda d: add_value(item(d)["properties"]["status"]["enum"]),
     "answer-value-added", "answer-value-removed"),
    (lambda d: item(d)["properties"]["name"].update(maxLength=81),
     "answer-limit-widened", "answer-limit-narrowed"),
    (lambda d: item(d)["properties"]["made_at"].pop("format"),
     "answer-format-changed", "answer-format-narrowed"),
    (lambda d: item(d)["properties"]["id"].update(pattern="^[0-9]+$"),
     "answer-pattern-added", "answer-pattern-changed"),
    (lambda d: item(d).update(minProperties=2), "answer-limit-narrowed", "answer-limit-widened"),
    (lambda d: item(d).update(dependentRequired={"amount": ["status"]}),
     "answer-condition-changed", "answer-condition-changed"),
    (lambda d: answer(d)["headers"].update({"x-more": {}}),
     "answer-header-added", "answer-header-removed"),
    (lambda d: get(d)["responses"].update({"410": {}}), "failure-added", "failure-removed"),
    (lambda d: said(d)["failures"].append({"status": 400, "code": "INVALID"}),
     "failure-added", "failure-removed"),
    (lambda d: said(d)["failures"][0].update(status=410),
     "failure-status-changed", "failure-status-changed"),
    (lambda d: d["failures"]["numeric"]["89"].update(message="Bad token."),
     "failure-text-changed", "failure-text-changed", "numeric failure 89"),
    (lambda d: said(d)["limits"].update(all=said(d)["limits"]["reads"]),
     "limit-added", "limit-removed"),
    (lambda d: said(d)["limits"]["reads"].update(count=99), "limit-lowered", "limit-raised"),
    (lambda d: said(d)["limits"]["reads"].update(seconds=901), "limit-lowered", "limit-raised"),
    (lambda d: said(d)["limits"]["reads"].update(per="app"),
     "limit-counted-otherwise", "limit-counted-otherwise"),
    (lambda d: d["assumptions"].update(more={"text": "More."}),
     "assumption-added", "assumption-removed"),
    (lambda d: d["assumptions"]["items.sorted"].update(text="Lists are not sorted."),
     "assumption-changed", "assumption-changed"),
    (lambda d: d["releases"].update(more={"change": "x", "effective": "2026-05-01"}),
     "release-added", "release-removed"),
    (lambda d: d["releases"]["items"].update(effective="2026-05-01"),
     "release-moved", "release-moved"),
))  # fmt: skip
"""Each rule in an edit, and in the edit that takes it back, which is just outside of it."""


def set_target(*choices: Any) -> Edit:
    """A key of the answer with these alternatives."""
    return lambda d: item(d)["properties"].update(target={"oneOf": list(choices)})


def set_note(schema: Any) -> Edit:
    """A key of the answer with this schema."""
    return lambda d: item(d)["properties"].update(note=schema)


def set_fields(**keywords: Any) -> Edit:
    """The query parameter takes other lists."""
    return lambda d: query(d)["schema"].update(keywords)


def as_they_are(_: Document) -> None:
    """Nothing is edited."""


def move_all(document: Document) -> None:
    """All paths have another beginning."""
    paths = document["openapi"]["paths"]
    document["openapi"]["paths"] = {x.replace("/items", "/13"): paths[x] for x in paths}


CHOICE = {"$ref": "#/components/schemas/Web"}
WORDS = {"items": {"enum": ["id", "name"]}}
OTHER_EXAMPLES: tuple[tuple[Edit, Edit, set[str]], ...] = (
    (lambda d: body(d)["properties"]["name"].update(pattern="^a"),
     lambda d: body(d)["properties"]["name"].update(pattern="^b"), {"sent-pattern-changed"}),
    (set_target(WEB), set_target(WEB, CHOICE), {"answer-choice-added"}),
    (set_target(WEB, CHOICE), set_target(WEB), {"answer-choice-removed"}),
    (set_note(KEY | {"default": ""}), set_note(KEY), {"answer-key-optional"}),
    (set_note(KEY), set_note({"anyOf": [KEY, {"type": "null"}]}), {"answer-null-added"}),
    (set_fields(**WORDS), set_fields(items={"enum": ["id"]}), {"sent-value-refused"}),
    (set_fields(items={"enum": ["id"]}), set_fields(**WORDS), {"sent-value-accepted"}),
    (set_fields(maxItems=9), set_fields(maxItems=8), {"sent-limit-narrowed"}),
    (as_they_are, set_fields(items={"type": "integer"}), {"sent-type-narrowed"}),
    (as_they_are, lambda d: query(d).update(name="show"), {"parameter-removed", "parameter-added"}),
    (as_they_are, move_all, {"operation-moved"}),
    (as_they_are, lambda d: get(d)["responses"].update({"201": get(d)["responses"].pop("200")}),
     {"success-removed", "success-added"}),
)  # fmt: skip
"""Rules that need an edit of both documents, and edits that several rules are about."""

LEVELS_FELT = {
    "breaking": {
        "operation-removed", "operation-moved", "required-parameter-added", "parameter-required",
        "sent-value-refused", "sent-limit-narrowed", "parameter-form-changed", "sent-type-narrowed",
        "answer-key-removed", "answer-key-optional", "answer-type-changed", "answer-null-added",
        "answer-format-changed", "failure-status-changed", "success-removed",
        "authentication-removed"},
    "dangerous": {"operation-deprecated", "parameter-removed", "parameter-default-changed",
                  "answer-value-added", "failure-added", "limit-lowered", "limit-counted-otherwise",
                  "success-added"},
    "harmless": {"parameter-added", "sent-value-accepted", "sent-limit-widened", "answer-key-added",
                 "answer-null-removed", "answer-value-removed", "failure-removed"},
}  # fmt: skip
"""How grave the changes are that a new version of the specification brings most often."""

HARMLESS_EDITS: tuple[Edit, ...] = (
    lambda d: item(d).update(description="other words", title="T", example={"id": "1"}),
    lambda d: get(d).update(summary="other words", tags=["x"]),
    lambda d: body(d)["properties"]["status"]["enum"].reverse(),
    lambda d: item(d)["required"].reverse(),
    lambda d: get(d)["parameters"].reverse(),
    lambda d: item(d)["properties"]["status"].update({"x-note": 1}),
    lambda d: d.update(version="2"),
    lambda d: d["openapi"].update(servers=[{"url": "http://elsewhere:1"}]),
)
"""Edits that no client notices."""
