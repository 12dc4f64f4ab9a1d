from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.verification.pact.document import Matcher

TEXT = {"type": "string"}
TYPE = {"match": "type"}
NULL = {"match": "null"}


def rules(values: list[Any], schema: dict[str, Any], **options: Any) -> tuple[Any, dict[str, Any]]:
    """The template of these values, and the matchers by path."""
    failed = options.pop("failed", False)
    matcher = Matcher(options, frozenset({"fixed"}), failed=failed)
    template = matcher.match(values, schema)
    return template, {path: rule["matchers"] for path, rule in matcher.rules.items()}


@pytest.mark.parametrize(("value", "schema", "expected"), [
    ("x", TEXT, [TYPE]),
    ("fixed", TEXT, [{"match": "equality"}]),
    (1, {"type": "integer"}, [{"match": "integer"}]),
    (1, {"type": "number"}, [{"match": "number"}]),
    (1.5, {}, [{"match": "number"}]),
    (True, {"type": "boolean"}, [{"match": "boolean"}]),
    ("A", {"enum": ["A", "B.C"]}, [TYPE, {"match": "regex", "regex": r"^(A|B\.C)$"}]),
    ("A", {"enum": ["B"]}, [TYPE]),
    ("a1", {"pattern": "^[a-z0-9]+$"}, [TYPE, {"match": "regex", "regex": "^[a-z0-9]+$"}]),
    ("a1", {"pattern": "^(?!x)"}, [TYPE]),
    (None, {"type": ["integer", "null"]}, [NULL, {"match": "integer"}]),
    (None, {}, [NULL]),
    ("x", {"type": ["string", "null"]}, [TYPE, NULL]),
])  # fmt: skip
def test_rule_of_a_value(value: Any, schema: dict[str, Any], expected: list[Any]) -> None:
    """The rule follows from the schema, and from the value where the schema says nothing."""
    assert (value, {"$": expected}) == rules([value], schema)


@pytest.mark.parametrize(("key", "value", "regex"), [
    ("id", "123", "^[0-9]+$"),
    ("campaign_id", "8wku2", "^[0-9a-z]+$"),
    ("media_key", "3_199", "^[0-9]+_[0-9]+$"),
    ("created_at", "2026-03-25T16:00:00Z", r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$"),
    ("name", "123", None),
    ("created_at", "Wed Mar 25", None),
])  # fmt: skip
def test_forms_of_ids_and_moments(key: str, value: str, regex: str | None) -> None:
    """An id keeps its form, and so does a moment; other texts may be any."""
    _, found = rules([{key: value}], {})

    assert [each["regex"] for each in found[f"$.{key}"] if "regex" in each] == (
        [] if regex is None else [regex]
    )


def test_a_list_becomes_one_template() -> None:
    """Only keys that all elements have are required, and null anywhere may be null everywhere."""
    items = {"items": {"properties": {"a": TEXT, "n": TEXT}}}

    template, found = rules([[{"a": "x", "b": 1, "n": None}, {"a": "y", "n": "z"}]], items)

    assert [{"a": "x", "n": "z"}] == template
    assert [{"match": "type", "min": 1}] == found["$"]
    assert [TYPE, NULL] == found["$[*].n"]
    assert "$[*].b" not in found


def test_an_empty_list_of_results_is_a_result() -> None:
    """`data` without records must be empty again; any other empty list may be filled."""
    template, found = rules([{"data": [], "tags": []}], {})

    assert {"data": [], "tags": []} == template
    assert {"$.tags": [TYPE]} == found


def test_references_and_alternatives() -> None:
    """The alternative whose constants and keys the value has is the one that counts."""
    chosen = {"properties": {"type": {"const": "http://x/b"}, "n": {"enum": ["1", "2"]}}}
    other = {"properties": {"type": {"const": "http://x/a"}, "n": TEXT}}
    schema = {"oneOf": [{"$ref": "#/components/schemas/Other"}, {"$ref": "#/c/Chosen"}]}

    _, found = rules([{"type": "http://me/b", "n": "1"}], schema, Other=other, Chosen=chosen)

    assert {"match": "regex", "regex": "^(1|2)$"} in found["$.n"]


def test_codes_of_failures_are_exact() -> None:
    """A failure's code and status are what a client reads; its words and address may differ."""
    body = {"type": "http://h:1/2/problems/x", "status": 400, "code": 89, "detail": "words"}

    _, found = rules([body], {}, failed=True)

    assert [{"match": "equality"}] == found["$.status"] == found["$.code"]
    assert {"match": "regex", "regex": "^https?://.+/2/problems/x$"} in found["$.type"]
    assert [TYPE] == found["$.detail"]


def test_keys_that_are_no_names() -> None:
    """A key with other characters is quoted in the path of its rule."""
    _, found = rules([{"a-b": 1}], {})

    assert ["$['a-b']"] == list(found)


def test_a_schema_that_contains_itself() -> None:
    """A circle of references ends."""
    assert rules(["x"], {"$ref": "#/A"}, A={"$ref": "#/A"})[0] == "x"


def test_original_names_have_the_rules_of_the_neutral_ones() -> None:
    """Keys and values of enumerations with original names are matched by the neutral schema."""
    ids = {"type": "array", "items": {"type": "integer"}}
    kinds = {"enum": ["MEDIA", "PROMOTED_POSTS"]}
    schema = {"properties": {"product_type": kinds, "post_ids": ids}}
    matcher = Matcher({}, frozenset(), originals=ORIGINAL_NAMES.pairs["ads"])

    matcher.match([{"product_type": "PROMOTED_TWEETS", "tweet_ids": [1]}], schema)

    assert {"match": "regex", "regex": "^(MEDIA|PROMOTED_TWEETS)$"} in (
        matcher.rules["$.product_type"]["matchers"]
    )
    assert [{"match": "integer"}] == matcher.rules["$.tweet_ids[*]"]["matchers"]
