"""Changes of the package's own contract, as a new version of the specification might bring them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from mock_platform.platform import Platform
from mock_platform.verification.contract.compare import compare_contracts
from mock_platform.verification.contract.document import make_contract, read_contract

Document = dict[str, Any]
Edit = Callable[[Document], object]

LIST = "/12/accounts/{account_id}/line_items"
ONE = "/12/accounts/{account_id}/line_items/{line_item_id}"
CATALOGS = "/12/product_catalogs"


@pytest.fixture(scope="module")
def contract() -> Document:
    """The package's contract, of the operations of three paths."""
    platform = Platform()
    try:
        whole = make_contract(platform)
    finally:
        platform.close()
    openapi = whole["openapi"]
    paths = {path: openapi["paths"][path] for path in (LIST, ONE, CATALOGS)}
    kept = {each["operationId"] for entry in paths.values() for each in entry.values()}
    operations = {name: each for name, each in whole["operations"].items() if name in kept}
    return {**whole, "openapi": {**openapi, "paths": paths}, "operations": operations}


def listing(document: Document) -> Any:
    """The operation that lists line items."""
    return document["openapi"]["paths"][LIST]["get"]


def updating(document: Document) -> Any:
    """The operation that updates a line item."""
    return document["openapi"]["paths"][ONE]["put"]


def parameter(document: Document, name: str) -> Any:
    """A parameter of the list."""
    return next(each for each in listing(document)["parameters"] if each["name"] == name)


def record(document: Document) -> Any:
    """The schema of a line item."""
    return document["openapi"]["components"]["schemas"]["CampaignsLineItem"]


def answered(document: Document) -> Any:
    """The schema of the list's answer."""
    return listing(document)["responses"]["200"]["content"]["application/json"]["schema"]


def failures(document: Document) -> Any:
    """The failures of the list."""
    return document["operations"]["line_items.list"]["failures"]


def limits(document: Document) -> Any:
    """The limits of the list."""
    return document["operations"]["line_items.list"]["limits"]


def remove_operation(document: Document) -> None:
    """The list is gone."""
    del document["openapi"]["paths"][LIST]["get"]
    del document["operations"]["line_items.list"]


def move(document: Document) -> None:
    """The paths have another version."""
    paths = document["openapi"]["paths"]
    for path in list(paths):
        paths[path.replace("/12/", "/13/")] = paths.pop(path)


def add_parameter(document: Document, *, required: bool) -> None:
    """A new parameter of the list."""
    new = {"name": "region", "in": "query", "required": required, "schema": {"type": "string"}}
    listing(document)["parameters"].append(new)


def drop_parameter(document: Document, name: str) -> None:
    """A parameter of the list is gone."""
    listing(document)["parameters"].remove(parameter(document, name))


def set_property(document: Document, name: str, **keywords: Any) -> None:
    """Another schema of a key of a line item."""
    record(document)["properties"][name].update(keywords)


def break_status(document: Document) -> None:
    """Success has another status."""
    answers = listing(document)["responses"]
    answers["201"] = answers.pop("200")


def serve_null(document: Document) -> None:
    """The echo of the request may be null."""
    keys = answered(document)["properties"]
    keys["request"] = {"anyOf": [keys["request"], {"type": "null"}]}


def change_status(document: Document) -> None:
    """A failure has another status."""
    failures(document)[0]["status"] = 422


B, D, H = "breaking", "dangerous", "harmless"
CASES: list[tuple[str, Edit, set[tuple[str, str]]]] = [
    ("operation removed", remove_operation, {(B, "operation-removed")}),
    ("paths moved", move, {(B, "operation-moved")}),
    ("deprecated", lambda d: listing(d).update(deprecated=True), {(D, "operation-deprecated")}),
    ("required parameter", lambda d: add_parameter(d, required=True),
     {(B, "required-parameter-added")}),
    ("optional parameter", lambda d: add_parameter(d, required=False), {(H, "parameter-added")}),
    ("parameter now required", lambda d: parameter(d, "q").update(required=True),
     {(B, "parameter-required")}),
    ("parameter removed", lambda d: drop_parameter(d, "q"), {(D, "parameter-removed")}),
    ("parameter renamed", lambda d: parameter(d, "q").update(name="query"),
     {(D, "parameter-removed"), (H, "parameter-added")}),
    ("enumeration narrowed", lambda d: parameter(d, "sort_by")["schema"]["items"]["enum"].pop(),
     {(B, "sent-value-refused")}),
    ("enumeration wider",
     lambda d: parameter(d, "sort_by")["schema"]["items"]["enum"].append("name-asc"),
     {(H, "sent-value-accepted")}),
    ("page size lowered", lambda d: parameter(d, "count")["schema"].update(maximum=500),
     {(B, "sent-limit-narrowed")}),
    ("page size raised", lambda d: parameter(d, "count")["schema"].update(maximum=2000),
     {(H, "sent-limit-widened")}),
    ("other default", lambda d: parameter(d, "count")["schema"].update(default=100),
     {(D, "parameter-default-changed")}),
    ("fewer ids at once", lambda d: parameter(d, "line_item_ids")["schema"].update(maxItems=50),
     {(B, "sent-limit-narrowed")}),
    ("lists repeated, not with commas",
     lambda d: parameter(d, "line_item_ids").update(explode=True),
     {(B, "parameter-form-changed")}),
    ("parameter of another type",
     lambda d: parameter(d, "count")["schema"].update(type="string"),
     {(B, "sent-type-narrowed")}),
    ("shorter texts", lambda d: parameter(d, "q")["schema"].update(maxLength=80),
     {(B, "sent-limit-narrowed")}),
    ("key of the answer removed", lambda d: record(d)["properties"].pop("name"),
     {(B, "answer-key-removed")}),
    ("key of the answer added",
     lambda d: record(d)["properties"].update(labels={"type": "array", "default": []}),
     {(H, "answer-key-added")}),
    ("key of the answer not always there",
     lambda d: answered(d)["required"].remove("next_cursor"), {(B, "answer-key-optional")}),
    ("key of a record not always there",
     lambda d: record(d)["properties"]["bid_strategy"].pop("default"),
     {(B, "answer-key-optional")}),
    ("answer of another type", lambda d: set_property(d, "deleted", type="string"),
     {(B, "answer-type-changed")}),
    ("null in an answer", lambda d: set_property(d, "pay_by", type=["string", "null"]),
     {(B, "answer-null-added")}),
    ("null in place of an object", serve_null, {(B, "answer-null-added")}),
    ("no null in an answer any more", lambda d: set_property(d, "name", type="string"),
     {(H, "answer-null-removed")}),
    ("new value in an answer",
     lambda d: record(d)["properties"]["pay_by"]["enum"].append("SWIPE"),
     {(D, "answer-value-added")}),
    ("value that does not come any more",
     lambda d: record(d)["properties"]["pay_by"]["enum"].remove("LEAD"),
     {(H, "answer-value-removed")}),
    ("moments as texts of any form", lambda d: record(d)["properties"]["created_at"].pop("format"),
     {(B, "answer-format-changed")}),
    ("new error code", lambda d: failures(d).append({"code": "NO_BUDGET", "status": 400}),
     {(D, "failure-added")}),
    ("error code gone", lambda d: failures(d).pop(0), {(H, "failure-removed")}),
    ("error code with another status", change_status, {(B, "failure-status-changed")}),
    ("lower rate limit", lambda d: limits(d)["account reads"].update(count=100),
     {(D, "limit-lowered")}),
    ("longer window", lambda d: limits(d)["account reads"].update(seconds=3600),
     {(D, "limit-lowered")}),
    ("limit for each user", lambda d: limits(d)["account reads"].update(per="user"),
     {(D, "limit-counted-otherwise")}),
    ("another status of success", break_status, {(B, "success-removed"), (D, "success-added")}),
    ("one way to sign less", lambda d: listing(d)["security"].pop(),
     {(B, "authentication-removed")}),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "expected"), [row[1:] for row in CASES],
                         ids=[row[0] for row in CASES])  # fmt: skip
def test_level(contract: Document, edit: Edit, expected: set[tuple[str, str]]) -> None:
    """Each change has the level that clients feel, and nothing else is reported."""
    new = copy.deepcopy(contract)
    edit(new)

    found = compare_contracts(read_contract(contract, "old"), read_contract(new, "new"))

    assert expected == {(each.level, each.rule) for each in found}, found
