"""Explains why a rule matches a post, or does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from mock_platform.api.v2.filtered_stream.rules import LONGEST_RULE
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.search.matching import explain, find_failed_clauses
from mock_platform.api.v2.search.query import And, Node, Or, list_clauses, read_rule, spell
from mock_platform.api.v2.search.subjects import Subject, make_object_subject, make_subject
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.errors import MAX_FAULTS, describe_unknown_field, did_you_mean
from mock_platform.core.fields import Anything, Choice, Flag, Json, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.world.world import World

_LONGEST_QUERY = 4_096
_NO_OBJECT = (TypeError, KeyError, AttributeError, ValueError)
"""What the parts of a post raise that have another form than the interface's."""
_POSITION = re.compile(r" ?\(at position ([0-9]+)\)")


class Explanation(Schema):
    """A rule and a post: a v2 object with what it refers to, or the id of a stored one."""

    rule = Text(required=True, metadata={"description": "the text of a rule or of a query"})
    post = Json(metadata={"description": "a post as the v2 interface serves it"})
    includes = Json(
        metadata={"description": "users and posts to which `post` refers, as in an answer of /2"}
    )
    post_id = Text(metadata={"description": "the id of a stored post, in place of `post`"})
    product = Choice(
        ("stream", "search"),
        load_default="stream",
        metadata={"description": "the filtered stream, or searches and counts"},
    )

    @validates_schema
    def require_one_post(self, data: dict[str, Any], **_more: Any) -> None:
        """Require exactly one of the two ways to name a post."""
        if ("post" in data) == ("post_id" in data):
            raise ValidationError("exactly one of post and post_id is required", "post")


class ExplainedRule(Schema):
    """Whether the rule matches, how each of its parts fares, and which parts keep it from it."""

    matches = Flag(required=True)
    tree = Anything(required=True)
    failed = ListOf(fields.Dict(), required=True)
    warnings = ListOf(Text(), required=True)


def explain_rule(request: ControlRequest) -> dict[str, Any]:
    """Explain whether a rule matches a post, part by part."""
    world, body = request.world, request.body
    product = body["product"]
    longest = LONGEST_RULE if product == "stream" else _LONGEST_QUERY
    checked = read_rule(body["rule"], product, longest=longest)
    if checked.tree is None:
        faults = [_describe_fault(text) for text in checked.faults]
        text = f"The rule cannot be used: {'; '.join(checked.faults)}."
        raise ControlRefusal(422, text, faults=faults)
    with world.work():
        subject = _find_subject(world, body)
        key = f"{world.seed}:"
        try:
            tree = explain(checked.tree, subject, sample_key=key)
            failed = find_failed_clauses(checked.tree, subject, sample_key=key)
        except _NO_OBJECT as fault:
            raise _refuse_object(fault) from fault
    return {
        "matches": tree["matches"],
        "tree": tree,
        "failed": [_describe_clause(node) for node in failed],
        "warnings": [
            *checked.warnings,
            *islice(_find_unknown_keys(body.get("post", {})), MAX_FAULTS),
        ],
    }


def _find_unknown_keys(post: Mapping[str, Any]) -> Iterator[str]:
    """Return the keys that no post of the v2 interface has, and that no rule looks at."""
    known = {*POST_OBJECT.keys, "nullcast"}
    for name in post:
        if name not in known:
            yield describe_unknown_field(name, "a post", sorted(known))


def _find_subject(world: World, body: Mapping[str, Any]) -> Subject:
    """Return the post of a request as rules see it.

    Raises:
        ControlRefusal: It is not stored, or is no object of a post.
    """
    if "post_id" in body:
        post = world.store.get("posts", body["post_id"])
        if post is None:
            known = [entry.key for entry in world.store.page("posts", limit=1000)]
            text = f"No post has the id {body['post_id']!r}.{did_you_mean(body['post_id'], known)}"
            raise ControlRefusal(404, text)
        return make_subject(world, post, body["product"])
    try:
        return make_object_subject(world, body["post"], body["product"], body.get("includes"))
    except _NO_OBJECT as fault:
        raise _refuse_object(fault) from fault


def _refuse_object(fault: Exception) -> ControlRefusal:
    return ControlRefusal(422, f"The post is not an object of the v2 interface: {fault!r}.")


def _describe_fault(text: str) -> dict[str, Any]:
    found = _POSITION.search(text)
    position = None if found is None else int(found[1])
    return {"field": "rule", "message": text, "position": position}


def _describe_clause(node: Node) -> dict[str, Any]:
    position = list_clauses(node)[0][0].position if isinstance(node, And | Or) else node.position
    return {"text": spell(node), "position": position}


ROUTES = (Route("POST", "/rules/explain", explain_rule, body=Explanation, returns=ExplainedRule),)
