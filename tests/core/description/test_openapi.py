from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from marshmallow import Schema
from openapi_spec_validator import validate

from mock_platform.api.ads.conventions import Batch, Data, Many, One
from mock_platform.api.served import OPERATIONS, ORIGINAL_NAMES, SPEC_SENTENCES
from mock_platform.core.assumptions import settled
from mock_platform.core.auth.authenticate import BEARER, NO_AUTH, USER, Auth
from mock_platform.core.call import Call
from mock_platform.core.description.openapi import describe, template_path
from mock_platform.core.description.views import HERE, Description
from mock_platform.core.envelope import Flat, Page, Pairwise
from mock_platform.core.failures.errors import Failure, NumericFailure
from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Content,
    Flag,
    Instant,
    Integer,
    ListOf,
    Long,
    Nested,
    Text,
)
from mock_platform.core.operation import Limit, Location, Operation
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.world import World
from tests.spec.rows import PROBLEM_OBJECT
from tests.support import Sandbox, sandbox


class Part(Schema):
    """The parts of a thing."""

    name = Text(required=True)


class Thing(Schema):
    """A record."""

    id = Text(required=True)
    part = Nested(Part, allow_none=True)
    size = Long(allow_none=True)
    created_at = Instant(required=True)
    deleted_at = Instant(allow_none=True)
    _owner = Text(required=True)


class Find(Schema):
    """Parameters of all kinds."""

    ids = CommaList(Text(min_length=1), most=200, required=True)
    count = Integer(low=1, high=1000, load_default=200)
    kind = Choice(("A", "B"), allow_none=True)
    code = Text(pattern="[0-9]{2}", max_length=2)
    either = Text(pattern="a|b")
    since = Instant()
    deep = Flag(load_default=False)


def answer(call: Call, world: World) -> dict[str, Any]:
    """A handler that does nothing."""
    return {}


def worded(fault: Failure) -> Failure:
    """The one answer to all refusals."""
    return NumericFailure(99)


def operation(**more: Any) -> Operation:
    """An operation with what matters to a test."""
    given: dict[str, Any] = {
        "id": "things.list", "method": "GET", "path": "/12/accounts/:account_id/things",
        "handler": answer, "summary": "List things", "spec": "B, Things", "returns": Many(Thing),
        "auth": USER,
    }  # fmt: skip
    return Operation(**(given | more))


def document(*operations: Operation, **settings: Any) -> dict[str, Any]:
    """The document over these operations, which must be valid."""
    made = Description(
        lambda: describe(operations, Settings(**settings), title="T", version="1", text="x",
                         original_names=ORIGINAL_NAMES, spec_sentences=SPEC_SENTENCES),
    ).at("http://localhost")  # fmt: skip
    validate(made)
    return made


def only(*operations: Operation, **settings: Any) -> dict[str, Any]:
    """The description of the first operation."""
    item = next(iter(document(*operations, **settings)["paths"].values()))
    found: dict[str, Any] = next(iter(item.values()))
    return found


def parameters(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters by name."""
    return {parameter["name"]: parameter for parameter in described["parameters"]}


# -- what goes in ------------------------------------------------------------------------------


def test_paths() -> None:
    """What varies in a path becomes a required parameter in braces."""
    described = document(operation(path="/12/accounts/:account_id/things/:thing_id", params=None))

    (path,) = described["paths"]
    assert "/12/accounts/{account_id}/things/{thing_id}" == path
    assert [
        {"in": "path", "name": name, "required": True, "schema": {"type": "string"}}
        for name in ("account_id", "thing_id")
    ] == described["paths"][path]["get"]["parameters"]


def test_query_parameters() -> None:
    """Bounds, defaults, enumerations, patterns and lengths are those that are checked."""
    found = parameters(only(operation(params=Find)))

    assert {"type": "integer", "minimum": 1, "maximum": 1000, "default": 200} == (
        found["count"]["schema"]
    )
    assert {"type": "string", "enum": ["A", "B"]} == found["kind"]["schema"]
    assert {"type": "string", "pattern": "^[0-9]{2}$", "maxLength": 2} == found["code"]["schema"]
    assert "^(?:a|b)$" == found["either"]["schema"]["pattern"]
    assert {"type": "string", "format": "date-time"} == found["since"]["schema"]
    assert {"type": "boolean", "default": False} == found["deep"]["schema"]
    assert not found["count"]["required"]


def test_comma_lists() -> None:
    """Lists in the query are joined by commas, not repeated."""
    ids = parameters(only(operation(params=Find)))["ids"]

    assert (True, False, "form") == (ids["required"], ids["explode"], ids["style"])
    items = {"type": "string", "minLength": 1}
    assert {"type": "array", "items": items, "minItems": 1, "maxItems": 200} == ids["schema"]


def test_unset_on_put() -> None:
    """On PUT a parameter that may be unset may be empty."""
    described = only(operation(method="PUT", params=Find))

    empty = [name for name, p in parameters(described).items() if p.get("allowEmptyValue")]
    assert ["kind"] == empty


def test_form_of_a_write() -> None:
    """Writes take their parameters in a form as well, none of them required there."""
    described = only(operation(method="POST", params=Find))

    body = described["requestBody"]
    media = body["content"]["application/x-www-form-urlencoded"]
    assert not body["required"]
    assert set(parameters(described)) - {"account_id"} == set(media["schema"]["properties"])
    assert "required" not in media["schema"]
    assert {"ids": {"style": "form", "explode": False}} == media["encoding"]


def test_form_of_an_oauth_step() -> None:
    """OAuth endpoints take their parameters in a form, those required that the spec requires."""

    class Request(Schema):
        grant_type = Text(metadata={"x_required": True})
        other = Text()

    described = only(
        operation(
            id="oauth2.x", method="POST", path="/oauth2/x", params=Request, returns=Flat(Part)
        )
    )

    schema = described["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    assert ["grant_type"] == schema["required"]
    assert {"type": "string"} == schema["properties"]["grant_type"]
    assert "parameters" not in described


def test_json_body() -> None:
    """A JSON body is a component; unknown keys of it are ignored, and so are not forbidden.

    So are those of the objects in it, if they are in no answer.
    """

    class Line(Schema):
        part = Nested(Part)

    class Order(Schema):
        items = ListOf(Nested(Line), least=1, most=25, required=True)

    made = document(operation(method="PUT", params=Order, location=Location.JSON))
    described = made["paths"]["/12/accounts/{account_id}/things"]["put"]
    schema = made["components"]["schemas"]["Order"]

    assert {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}},
    } == described["requestBody"]
    assert ("array", 1, 25) == tuple(
        schema["properties"]["items"][key] for key in ("type", "minItems", "maxItems")
    )
    assert "additionalProperties" not in schema
    components = made["components"]["schemas"]
    assert "additionalProperties" not in components["Line"]
    assert components["Part"]["additionalProperties"] is False


def test_json_body_with_a_query() -> None:
    """Parameters in the query are described beside the body, which may then be missing."""

    class Change(Schema):
        dry_run = Flag(load_default=False)
        items = ListOf(Nested(Part), least=1)

    described = only(
        operation(method="POST", params=Change, location=Location.JSON, in_query=("dry_run",))
    )

    assert {"account_id", "dry_run"} == set(parameters(described))
    assert not described["requestBody"]["required"]
    body = described["requestBody"]["content"]["application/json"]["schema"]
    assert ["items"] == list(body["properties"])


class Upload(Schema):
    """A file, and what it is."""

    media = Content(required=True)
    kind = Text()


def test_contents() -> None:
    """The content of a file is base64 in JSON, and bytes in a form of several parts."""
    described = document(operation(method="POST", params=Upload, location=Location.UPLOAD))
    (operations,) = described["paths"].values()
    content = operations["post"]["requestBody"]["content"]
    form = content["multipart/form-data"]["schema"]["properties"]

    assert {"$ref": "#/components/schemas/Upload"} == content["application/json"]["schema"]
    shown = described["components"]["schemas"]["Upload"]["properties"]["media"]
    assert "base64" == shown["contentEncoding"]
    assert ({"type": "string", "format": "binary"}, {"type": "string"}) == (
        form["media"], form["kind"])  # fmt: skip


# -- what comes out ----------------------------------------------------------------------------


def test_records() -> None:
    """A record's schema has none of the mock's own keys, and closes the record."""
    schema = document(operation())["components"]["schemas"]["Thing"]

    assert {"id", "part", "size", "created_at", "deleted_at"} == set(schema["properties"])
    assert ["created_at", "id"] == schema["required"]
    assert schema["additionalProperties"] is False
    assert {"type": ["string", "null"], "format": "date-time"} == (
        schema["properties"]["deleted_at"]
    )
    assert {"type": ["integer", "null"], "format": "int64"} == schema["properties"]["size"]
    assert {"anyOf": [{"$ref": "#/components/schemas/Part"}, {"type": "null"}]} == (
        schema["properties"]["part"]
    )


def test_names_of_components() -> None:
    """Two schemas of one name are distinguished by the name that one of them declares."""
    named = {"component_name": "PartsPart", "size": Integer()}
    other = type("Part", (Schema,), {"__module__": "other.parts", **named})

    schemas = document(operation(), operation(id="a.b", path="/12/parts", returns=One(other)))[
        "components"
    ]["schemas"]

    assert {"name"} == set(schemas["Part"]["properties"])
    assert {"size"} == set(schemas["PartsPart"]["properties"])


@pytest.mark.parametrize("name", ["Part", "_Part"])
def test_two_components_of_one_name(name: str) -> None:
    """A schema that would replace another is refused, also one that clients would call the same."""
    other = type(name, (Schema,), {"__module__": "other.parts", "size": Integer()})

    with pytest.raises(TypeError, match=rf"other\.parts\.{name} and .*\.Part are both .* '{name}'"):
        document(operation(), operation(id="a.b", path="/12/parts", returns=One(other)))


THING = {"$ref": "#/components/schemas/Thing"}


@pytest.mark.parametrize(("returns", "data"), [
    (One(Thing), THING),
    (Many(Thing), {"type": "array", "items": THING}),
    (Data(Thing), THING),
    (Data(Thing, many=True), {"type": "array", "items": THING}),
    (Batch(Thing), {"type": "array", "items": THING}),
])  # fmt: skip
def test_envelopes(returns: Any, data: dict[str, Any]) -> None:
    """Each envelope is described around its data."""
    content = only(operation(returns=returns))["responses"]["200"]["content"]
    described = content["application/json"]

    assert data == described["schema"]["properties"]["data"]
    assert {"request", "data"} <= set(described["schema"]["required"])


@pytest.mark.parametrize(("setting", "shape"), [("object", "object"), ("array", "array")])
def test_card_envelope(setting: Any, shape: str) -> None:
    """Envelopes are described as the server's settings make them."""

    class Card(Schema):
        id = Text(required=True)

    described = only(operation(returns=One(Card, card=True)), card_envelope=setting)

    data = described["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
    assert ("array" == shape) == ("items" in data["data"])


def test_texts() -> None:
    """Pairs and pages are texts."""
    pairs = only(operation(path="/oauth/x", returns=Pairwise(Part)))
    page = only(operation(path="/oauth/x", returns=Page()))

    for described in (pairs, page):
        assert "string" == described["responses"]["200"]["content"]["text/html"]["schema"]["type"]


# -- failures ----------------------------------------------------------------------------------


def statuses(described: dict[str, Any]) -> list[str]:
    """The statuses of an operation."""
    return list(described["responses"])


def test_statuses_follow_from_what_can_fail() -> None:
    """An operation names the statuses of the stages it has, and those it declares itself."""
    bare = operation(path="/12/things", auth=NO_AUTH)
    limited = operation(auth=NO_AUTH, limits=(Limit("x", 1, 60),))
    json = operation(auth=NO_AUTH, method="PUT", params=Find, location=Location.JSON)

    assert ["200", "500"] == statuses(only(bare))
    assert ["200", "401", "403", "500"] == statuses(only(operation()))
    assert ["200", "400", "500"] == statuses(only(operation(auth=NO_AUTH, params=Find)))
    assert ["200", "404", "500"] == statuses(only(operation(auth=NO_AUTH, statuses=(404,))))
    assert ["200", "429", "500"] == statuses(only(limited))
    assert ["200", "500"] == statuses(only(limited, limits="off"))
    assert ["200", "400", "413", "415", "500"] == statuses(only(json))
    assert ["200", "500", "501"] == statuses(only(bare, strict=True))


def test_statuses_of_oauth() -> None:
    """On the OAuth addresses the same failures have other statuses."""
    described = only(operation(path="/oauth/x", returns=Flat(Part), params=Find, oauth_step=True))

    assert ["200", "400", "401", "403", "500"] == statuses(described)
    assert ["application/json"] == list(described["responses"]["403"]["content"])


def test_one_answer_to_all_refusals() -> None:
    """An endpoint that words its refusals itself has their statuses only."""
    auth = Auth(("basic",), on_failure=worded)

    described = only(operation(path="/oauth2/x", returns=Flat(Part), auth=auth))

    assert ["200", "403", "500"] == statuses(described)


@pytest.mark.spec("A, POST {base_url}/2/webhooks/replay", "Failure (default")
def test_failures_of_v2() -> None:
    """The v2 interface has one default failure: an error object or one of the problems."""
    made = document(operation(path="/2/things", returns=Flat(Part), auth=BEARER))
    described = made["paths"]["/2/things"]["get"]["responses"]
    schemas = made["components"]["schemas"]
    problem = schemas["Problem"]

    assert ["200", "default"] == list(described)
    assert ["application/problem+json", "application/json"] == list(described["default"]["content"])
    assert len(PROBLEM_TYPES) == len(problem["oneOf"])
    assert len(PROBLEM_TYPES) == len(problem["discriminator"]["mapping"])
    assert "type" == problem["discriminator"]["propertyName"]
    for kind in PROBLEM_TYPES.values():
        reference = problem["discriminator"]["mapping"][kind.uri("http://localhost")]
        described_type = schemas[reference.rpartition("/")[2]]
        assert kind.uri("http://localhost") == described_type["properties"]["type"]["const"]
        own = {*kind.fields, *kind.public_fields, *(["errors"] if kind.repeatable else [])}
        assert {"type", "title", "detail", "status", *own} == set(described_type["properties"])


# -- what is said beside -----------------------------------------------------------------------


def test_extras() -> None:
    """Operations name their heading, their assumptions, their tag, and that they are deprecated."""
    assumption = settled("things.order", "Things come in order.")

    described = only(operation(assumptions=(assumption,), deprecated=True))

    assert ("things.list", ["things"], True, "B, Things") == (
        described["operationId"],
        described["tags"],
        described["deprecated"],
        described["x-mock-spec"],
    )
    assert {"id": "things.order", "text": "Things come in order."} in (
        described["x-mock-assumptions"]
    )
    assert [{"oauth1": []}] == described["security"]


def test_original_names() -> None:
    """An operation shows the names that it has under `--names original` beside its own."""
    plain = only(operation(path="/12/things", params=None))
    (found,) = [each for each in OPERATIONS if each.id == "promoted_posts.list"]
    described = only(found)["x-mock-original-names"]

    assert {"paths": ["/11/things"]} == plain["x-mock-original-names"]
    assert "/11/accounts/{account_id}/promoted_tweets" in described["paths"]
    assert {"promoted_post_ids": "promoted_tweet_ids"} == described["parameters"]


def test_other_spellings() -> None:
    """Other spellings of a path are listed too, with their own parameters and without its id."""
    made = document(
        operation(path="/12/:kind/things", also=("/12/things", "/12/things.json"), params=None)
    )
    first, second, third = made["paths"].values()

    assert ("operationId" in first["get"], "operationId" in second["get"]) == (True, False)
    assert "parameters" not in second["get"]
    assert second == third


def test_sandbox_only() -> None:
    """What exists on the sandbox address alone is described under it."""
    made = document(operation(), operation(id="things.create", method="POST", sandbox_only=True))

    assert ["/12/accounts/{account_id}/things", "/sandbox/12/accounts/{account_id}/things"] == (
        list(made["paths"])
    )


def test_only_used_security_schemes() -> None:
    """Schemes that no operation takes are left out."""
    none = document(operation(auth=NO_AUTH))
    bearer = document(operation(auth=BEARER))

    assert "securitySchemes" not in none["components"]
    assert ["bearer"] == list(bearer["components"]["securitySchemes"])


def test_session_is_optional() -> None:
    """A page answers without a session as well: it asks to log in."""
    described = only(operation(path="/oauth/x", returns=Page(), auth=Auth(("session",))))

    assert [{"session": []}, {}] == described["security"]


def test_templated() -> None:
    """Only what follows a colon is a parameter."""
    assert "/12/accounts/{account_id}/x.json" == template_path("/12/accounts/:account_id/x.json")


# -- the document as a whole -------------------------------------------------------------------


def counting(made: list[int]) -> Callable[[], dict[str, Any]]:
    """Makes documents and counts them."""

    def make() -> dict[str, Any]:
        made.append(1)
        return {"servers": [{"url": HERE}]}

    return make


def test_made_once() -> None:
    """A document is made when it is first asked for, and only then."""
    made: list[int] = []
    description = Description(counting(made))
    before = list(made)

    urls = [description.at(url)["servers"][0]["url"] for url in ("http://a", 'http://"b\\', "é")]

    assert ([], [1]) == (before, made)
    assert ["http://a", 'http://"b\\', "é"] == urls


def test_documents_are_copies() -> None:
    """Whoever changes a document changes no other one."""
    description = Description(counting([]))

    description.at("http://a")["servers"].clear()

    assert [{"url": "http://a"}] == description.at("http://a")["servers"]


@pytest.mark.spec("A, Other v2 endpoints", "Every v2 path begins", "The v2 interface")
@pytest.mark.spec("A, Versioning", "The v2 description")
def test_served_description_of_v2(box: Sandbox) -> None:
    """The v2 interface is described by a document of version 2.166 and nothing beyond /2."""
    answer = box.call("GET", "/2/openapi.json", keys=None)
    made = answer.get_json()

    validate(made)
    assert ("3.1.0", "2.166") == (made["openapi"], made["info"]["version"])
    assert [{"url": "http://localhost"}] == made["servers"]
    assert paths(box.platform, "v2") == sorted(made["paths"])
    assert "application/json; charset=utf-8" == answer.content_type


@pytest.mark.spec("A, Other v2 endpoints", "The v2 interface")
def test_served_address(box: Sandbox) -> None:
    """Server and problem types are those of the address called, world prefix included."""
    made = box.call(
        "GET", "/~default/2/openapi.json", keys=None, headers={"Host": "127.0.0.1:81"}
    ).get_json()

    base = "http://127.0.0.1:81/~default"
    conflict = made["components"]["schemas"]["ConflictProblem"]["properties"]["type"]
    assert [{"url": base}] == made["servers"]
    assert f"{base}/2/problems/conflict" == conflict["const"]


@pytest.mark.spec("A, Error object (media type application/json)", "code: integer (int32)")
@pytest.mark.spec("A, Error object (media type application/json)", "message: string")
@pytest.mark.spec("A, POST {base_url}/2/webhooks/replay", "Success: HTTP 200", "Failure (default")
@pytest.mark.spec(PROBLEM_OBJECT, "type: yes (discriminator)")
def test_replay_is_described_as_the_spec_has_it() -> None:
    """Body, success and failure of the replay job creation are those of document A."""
    made = sandbox().call("GET", "/2/openapi.json", keys=None).get_json()
    schemas = made["components"]["schemas"]
    replay = made["paths"]["/2/webhooks/replay"]["post"]
    body = schemas["ReplayRequest"]

    assert ["from_date", "to_date", "webhook_id"] == body["required"]
    assert "^[0-9]{1,19}$" == body["properties"]["webhook_id"]["pattern"]
    assert "^[0-9]{12}$" == body["properties"]["from_date"]["pattern"]
    assert ["created_at", "job_id"] == schemas["ReplayJob"]["required"]
    assert [{"bearer": []}] == replay["security"]
    assert ["200", "default"] == list(replay["responses"])


def paths(platform: Platform, dialect: str) -> Sequence[str]:
    """The paths of a dialect's operations."""
    return sorted({
        template_path(path)
        for operation in platform.operations
        if operation.dialect == dialect
        for path in (operation.path, *operation.also)
    })  # fmt: skip
