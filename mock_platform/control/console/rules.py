"""Rules of the filtered stream: which exist, and why one matches a post or does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.control.console.answers import ConsolePage, render
from mock_platform.control.console.forms import FormState, answer_form, read_json
from mock_platform.control.route import HTML, ControlRequest, Route, load_body
from mock_platform.control.rules import Explanation, explain_rule
from mock_platform.world.store.interface import Order

PATH = "/console/rules"
MAX_SHOWN = 200
"""Rules and posts that the page lists."""
_NEWEST_POSTS = Order("created_at", descending=True)
_PRODUCTS = [("stream", "the filtered stream"), ("search", "searches and counts")]


class ExplainedPart(Struct, frozen=True):
    """One part of an explained rule, as a line of the page."""

    text: str
    kind: str
    matches: bool
    depth: int
    failed: bool
    """Whether it is one of the parts that keep the rule from matching."""


def show_rules(
    request: ControlRequest, form: FormState | None = None, found: Mapping[str, Any] | None = None
) -> Response:
    """Return the rules of the stream, and a form that tries one against a post."""
    world = request.world
    with world.work():
        rules = [entry.record for entry in world.store.page("stream_rules", limit=MAX_SHOWN)]
        total = world.store.count("stream_rules")
        posts = world.store.page("posts", order=_NEWEST_POSTS, limit=MAX_SHOWN)
    return render(
        request,
        "rules.html",
        block="content",
        form=form,
        rules=rules,
        total=total,
        posts=[(entry.key, str(entry.record.get("text", ""))[:80]) for entry in posts],
        products=_PRODUCTS,
        found=found,
        clauses=[] if found is None else list(list_parts(found)),
    )


def try_rule(request: ControlRequest) -> Response:
    """Explain part by part why a rule matches a post, or does not."""

    def explain(values: Mapping[str, str]) -> Response:
        body: dict[str, Any] = {"rule": values.get("rule", "")}
        if values.get("product"):
            body["product"] = values["product"]
        if post_id := values.get("post_id", "").strip():
            body["post_id"] = post_id
        body |= read_json(values, "post", "The rule was not tried")
        found = explain_rule(replace(request, body=load_body(Explanation(), body)))
        return show_rules(request, FormState(values), found)

    return answer_form(request, explain, show_rules)


def list_parts(found: Mapping[str, Any]) -> Iterator[ExplainedPart]:
    """Return the parts of an explained rule from the whole to the smallest ones."""
    failed = {(each["text"], each["position"]) for each in found["failed"]}
    waiting = [(found["tree"], 0)]
    while waiting:
        part, depth = waiting.pop()
        is_failed = (part["text"], part.get("position")) in failed
        yield ExplainedPart(part["text"], part["kind"], part["matches"], depth, is_failed)
        waiting += [(term, depth + 1) for term in reversed(part.get("terms", ()))]


PAGE = ConsolePage(
    "Rules",
    PATH,
    (
        Route("GET", PATH, show_rules, media_type=HTML),
        Route("POST", PATH, try_rule, media_type=HTML, form=True),
    ),
)
