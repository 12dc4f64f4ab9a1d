"""What was sent and nothing reads: warned of at every depth, refused by --strict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.core.unread import WARNINGS
from tests.oauth_steps import last
from tests.support import ACCOUNT, BEARER, Sandbox, sandbox

CATALOG = "/12/product_catalogs/1547080787865939968"
CARDS = f"/12/accounts/{ACCOUNT}/cards"
LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"
ESTIMATE = f"/12/accounts/{ACCOUNT}/audience_estimate"
LIKES = "/2/users/2244994945/likes"
AUDIENCE = f"/12/accounts/{ACCOUNT}/custom_audiences/1nmth/users"
HASH = "a" * 64
COFFEE = {"targeting_type": "BROAD_KEYWORD", "targeting_value": "coffee"}
FILTER = {"attribute": "price", "operator": "LESS_THAN", "value": "10.00 USD"}
MEDIA = {"type": "MEDIA", "media_key": "3_1712850617439550001"}
BUTTON = {
    "type": "BUTTON",
    "label": {"type": "ENUM", "value": "OPEN"},
    "destination": {"type": "APP", "country_code": "US", "ios_app_store_identifier": "1"},
}
PRODUCT = {"id": "P1"}


def send(box: Sandbox, method: str, path: str, body: Any, **more: Any) -> TestResponse:
    """Send JSON."""
    more.setdefault("content_type", "application/json")
    return box.call(method, path, data=json.dumps(body), **more)


def with_key(value: Any, *place: str | int, key: str) -> Any:
    """A copy of a JSON value with an unknown key at a place."""
    copied = json.loads(json.dumps(value))
    inner = copied
    for step in place:
        inner = inner[step]
    inner[key] = "x"
    return copied


CARD = {"name": "C", "components": [MEDIA, BUTTON]}
SET = {"name": "S", "type": "FILTERED", "filters": [FILTER]}
UPLOAD = [{"operation_type": "Update", "params": {"users": [{"email": [HASH]}]}}]
DEEP = [
    ("POST", CARDS, with_key(CARD, key="nmae"), "key 'nmae'", "name"),
    ("POST", CARDS, with_key(CARD, "components", 0, key="mediakey"),
     "key 'mediakey' at components[0]", "media_key"),
    ("POST", CARDS, with_key(CARD, "components", 1, "destination", key="ios_deeplink"),
     "key 'ios_deeplink' at components[1].destination", "ios_deep_link"),
    ("POST", CARDS, with_key(CARD, "components", 1, "label", key="valeu"),
     "key 'valeu' at components[1].label", "value"),
    ("POST", f"{CATALOG}/product_sets", with_key(SET, "filters", 0, key="vaule"),
     "key 'vaule' at filters[0]", "value"),
    ("POST", ESTIMATE, {"targeting_criteria": [COFFEE | {"operatortype": "EQ"}]},
     "key 'operatortype' at targeting_criteria[0]", "operator_type"),
    ("POST", ESTIMATE, [COFFEE | {"operatortype": "EQ"}], "key 'operatortype' at [0]",
     "operator_type"),
    ("POST", AUDIENCE, with_key(UPLOAD, 0, key="operationtype"), "key 'operationtype' at [0]",
     "operation_type"),
    ("POST", AUDIENCE, with_key(UPLOAD, 0, "params", key="expiresat"),
     "key 'expiresat' at [0].params", "expires_at"),
    ("POST", AUDIENCE, with_key(UPLOAD, 0, "params", "users", 0, key="emial"),
     "key 'emial' at [0].params.users[0]", "email"),
    ("PUT", f"{CATALOG}/products", {"products": [PRODUCT | {"titel": "x"}]},
     "key 'titel' at products[0]", "title"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "place", "near"), DEEP)
def test_unknown_keys_are_warned_of_at_every_depth(
    box: Sandbox, method: str, path: str, body: Any, place: str, near: str
) -> None:
    """The warning has the place in the body and the nearest key; the answer has the code."""
    answer = send(box, method, path, body)

    assert 200 == answer.status_code
    assert "unknown-key" == answer.headers["X-Mock-Warnings"]
    assert [f"{place} is unknown and was ignored; did you mean {near!r}?"] == last(box).warnings


@pytest.mark.parametrize(("method", "path", "body", "place", "near"), DEEP)
def test_strict_refuses_unknown_keys_at_every_depth(
    method: str, path: str, body: Any, place: str, near: str
) -> None:
    """Nothing is done; the refusal names the key, and the journal the nearest one."""
    box = sandbox(strict=True)

    answer = send(box, method, path, body)

    if path == ESTIMATE:  # refused as a whole: the spec shows no answer
        assert 501 == answer.status_code
        return
    assert (501, "unknown-key") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert f"The spec does not show the {place}" in answer.get_json()["errors"][0]["message"]
    assert last(box).warnings[0].endswith(f"did you mean {near!r}?")
    assert not last(box).changes


def test_alike_keys_are_one_warning(box: Sandbox) -> None:
    """The same key in many items is one warning, which says in how many places it is."""
    users = [{"email": [HASH], "zz": []} for _ in range(3)]

    send(box, "POST", AUDIENCE, [{"operation_type": "Update", "params": {"users": users}}] * 2)

    assert ["key 'zz' at [0].params.users[0] is unknown and was ignored (in 6 places)"] == last(
        box
    ).warnings


@pytest.mark.parametrize(("count", "warned"), [(50, 50), (51, 51), (2000, 51)])
def test_the_number_of_warnings_is_bounded(box: Sandbox, count: int, warned: int) -> None:
    """Beyond 50 different keys one more warning says that there are more."""
    send(
        box, "POST", ESTIMATE, {"targeting_criteria": [COFFEE]} | {f"k{n}": 1 for n in range(count)}
    )

    warnings = last(box).warnings
    assert warned == len(warnings)
    assert (count > 50) == (warnings[-1] == "more keys are unknown and were ignored")


def test_a_long_name_is_cut(box: Sandbox) -> None:
    """A key of any length makes a short warning."""
    send(box, "POST", ESTIMATE, {"targeting_criteria": [COFFEE], "k" * 100_000: 1})

    assert len(last(box).warnings[0]) < 200


def test_keys_of_a_product_that_the_service_sets_are_read_only() -> None:
    """They are fields of a product, so --strict takes them; that they change nothing is said."""
    box = sandbox(strict=True)

    answer = send(box, "PUT", f"{CATALOG}/products", {"products": [PRODUCT | {"product_key": "1"}]})

    assert (200, "read-only-key") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert ["key 'product_key' at products[0] is read-only and was ignored"] == last(box).warnings


JSON_OPERATIONS = [
    ("POST", CARDS, CARD),
    ("POST", f"{CATALOG}/product_sets", SET),
    ("PUT", f"{CATALOG}/products", {"products": [PRODUCT]}),
    ("DELETE", f"{CATALOG}/products", {"product_keys": ["1"]}),
    ("POST", ESTIMATE, {"targeting_criteria": [COFFEE]}),
    ("POST", AUDIENCE, UPLOAD),
]


@pytest.mark.parametrize(("method", "path", "body"), JSON_OPERATIONS)
def test_the_query_of_a_json_operation_is_looked_at(
    box: Sandbox, method: str, path: str, body: Any
) -> None:
    """Its parameters are ignored with a warning that says where they belong."""
    answer = send(box, method, path, body, query_string={"name": "x"})

    assert (200, "unknown-parameter") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert [
        "parameter 'name' is not one of this operation and was ignored; parameters of this "
        "operation belong in the JSON body"
    ] == last(box).warnings


@pytest.mark.parametrize(("method", "path", "body"), JSON_OPERATIONS[:4])
def test_strict_refuses_the_query_of_a_json_operation(method: str, path: str, body: Any) -> None:
    """A parameter that would be ignored is refused."""
    answer = send(sandbox(strict=True), method, path, body, query_string={"name": "x"})

    assert 501 == answer.status_code
    assert "the parameter 'name' here" in answer.get_json()["errors"][0]["message"]


def test_the_query_of_a_replay_is_looked_at(box: Sandbox) -> None:
    """The replay of document A has its parameters in the body alone."""
    answer = box.call("POST", "/2/webhooks/replay?webhook_id=1", keys=BEARER, json={})

    assert (400, "unknown-parameter") == (answer.status_code, answer.headers["X-Mock-Warnings"])


@pytest.mark.parametrize(("strict", "status"), [(False, 200), (True, 501)])
def test_a_parameter_that_contradicts_the_path_is_told(strict: bool, status: int) -> None:
    """The path counts; the same value twice is no contradiction."""
    box = sandbox(strict=strict)
    answer = box.call("PUT", LINE_ITEM, query_string={"line_item_id": "8v7jo", "name": "N"})
    warnings = last(box).warnings
    same = box.call("PUT", LINE_ITEM, query_string={"line_item_id": "itttx", "name": "N"})

    assert (status, "contradicts-path") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert [
        "parameter 'line_item_id' contradicts the path, where it is 'itttx'; the path counts"
    ] == warnings
    assert (200, None) == (same.status_code, same.headers.get("X-Mock-Warnings"))


@pytest.mark.parametrize(("text", "name", "repeated"), [
    ('{"name":"a","name":"C",%s}', "C", ["name"]),
    ('{"name" : "a",%s,"name"\n:"C","zz":{"b":1,"b":12345678901234567890}}', "C", ["name", "b"]),
    ('{"name":"C",%s}', "C", []),
    ('{"name":"\\"name\\":1",%s}', '"name":1', []),
    ('{"name":"C","zz":{"name":1},%s}', "C", []),
])  # fmt: skip
def test_a_key_that_an_object_repeats_is_told(
    box: Sandbox, text: str, name: str, repeated: list[str]
) -> None:
    """Its last value counts; keys in texts, and equal ones of other objects, are no repetition."""
    body = text % f'"components":{json.dumps([MEDIA, BUTTON])}'

    answer = box.call("POST", CARDS, data=body, content_type="application/json")

    assert name == answer.get_json()["data"]["name"]
    told = [warning for warning in last(box).warnings if "more than once" in warning]
    said = "key '{}' occurs more than once in an object; the last value counts"
    assert sorted(said.format(key) for key in repeated) == sorted(told)
    assert ("repeated-key" in answer.headers.get("X-Mock-Warnings", "")) == bool(repeated)


def test_strict_refuses_repeated_keys() -> None:
    """The spec does not say which of two values counts."""
    box = sandbox(strict=True)

    answer = box.call(
        "POST", CARDS, data='{"name":"a","name":"b"}', content_type="application/json"
    )

    assert (501, "repeated-key") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert "the key 'name' occurring more than once" in answer.get_data(as_text=True)


@pytest.mark.parametrize(("path", "body"), [
    (CARDS, '{"name":"a","name":"b"}'),
    ("/2/media/upload", '{"media":"YQ==","media":"Yg=="}'),
    (LIKES, '{"tweet_id":"1712850617439551489","post_id":"1712850617439551492"}'),
])  # fmt: skip
def test_repeated_keys_are_refused_where_warnings_are(path: str, body: str) -> None:
    """Whichever reader reads the body, and where the name is repeated in its older form."""
    box = sandbox(warnings="error")

    answer = box.call("POST", path, data=body, content_type="application/json")

    assert (400, "repeated-key") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert not last(box).changes


@pytest.mark.parametrize(
    ("account", "warned"), [(ACCOUNT, None), ("other", "contradicts-path"), (5, "contradicts-path")]
)
def test_a_key_that_contradicts_the_path_is_told(
    box: Sandbox, account: Any, warned: str | None
) -> None:
    """What holds of parameters holds of the keys of a body."""
    answer = send(box, "POST", ESTIMATE, {"targeting_criteria": [COFFEE], "account_id": account})

    assert (200, warned) == (answer.status_code, answer.headers.get("X-Mock-Warnings"))


@pytest.mark.parametrize(
    ("body", "warned"), [(b"", None), (b"{}", None), (b" ", None), (b'{"count":1}', "ignored-body")]
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_body_that_is_not_read_is_told(method: str, body: bytes, warned: str | None) -> None:
    """Reads and deletes have their parameters in the query; an empty body holds nothing."""
    answer = sandbox().call(method, LINE_ITEM, data=body, content_type="application/json")

    assert (200, warned) == (answer.status_code, answer.headers.get("X-Mock-Warnings"))


def test_codes_are_named_once_and_in_order(box: Sandbox) -> None:
    """Several kinds of things that were ignored are listed together."""
    answer = box.call("PUT", f"{LINE_ITEM}?zz=1&yy=2&name=a&name=b&account_id=x")

    assert (
        "contradicts-path,repeated-parameter,unknown-parameter"
        == (answer.headers["X-Mock-Warnings"])
    )
    assert 4 == len(last(box).warnings)


def test_a_value_without_effect_is_told(box: Sandbox) -> None:
    """A bid amount with AUTO, and a second order, are accepted and change nothing."""
    amount = box.call(
        "PUT", LINE_ITEM, query_string={"bid_strategy": "AUTO", "bid_amount_local_micro": "1"}
    )
    orders = {"sort_by": "created_at-asc,updated_at-desc"}
    order = box.call("GET", f"/12/accounts/{ACCOUNT}/line_items", query_string=orders)

    assert ["no-effect"] * 2 == [a.headers["X-Mock-Warnings"] for a in (amount, order)]


def test_an_answer_without_anything_ignored_has_no_warnings() -> None:
    """The header is there only where something was ignored, and not without markers."""
    clean = sandbox().call("GET", LINE_ITEM)
    unmarked = sandbox(markers=False).call("GET", LINE_ITEM, query_string={"zz": "1"})

    assert (200, None) == (clean.status_code, clean.headers.get("X-Mock-Warnings"))
    assert (200, None) == (unmarked.status_code, unmarked.headers.get("X-Mock-Warnings"))


def test_every_code_is_documented() -> None:
    """The page on the control plane lists the codes, each with what was ignored."""
    page = (Path(__file__).parents[2] / "docs/control-plane.md").read_text()

    missing = [code for code, text in WARNINGS.items() if f"| `{code}` | {text} |" not in page]
    assert missing == []


def test_a_refusal_names_what_was_ignored_too() -> None:
    """Failures have the header as successes do."""
    answer = sandbox().call("GET", LINE_ITEM, query_string={"zz": "1", "with_deleted": "maybe"})

    assert (400, "unknown-parameter") == (answer.status_code, answer.headers["X-Mock-Warnings"])


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_compressed_body(encoding: str) -> None:
    """Nothing undoes a Content-Encoding, and the journal says so beside the refusal."""
    box = sandbox()
    headers = {"Content-Encoding": encoding}
    more: Any = {"keys": BEARER, "content_type": "application/json", "headers": headers}
    answer = box.call("POST", "/2/webhooks", data=b"\x1f\x8b\x08", **more)

    assert 400 == answer.status_code
    text = f"the body has the Content-Encoding {encoding}, and is read as it was sent"
    assert text in last(box).warnings
