"""What an app's filtered stream says of a post: its line, with all rules that match.

Streams send the line, and webhooks that are linked to the stream receive it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.filtered_stream.rules import find_rule_book
from mock_platform.api.v2.objects.answers import PostAnswer, Selection, may_see
from mock_platform.api.v2.search.subjects import Subject, make_object_subject, make_subject
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LINES = public_fact(
    "filtered-stream.lines",
    "A post is one line with all rules that match it; each has a tag, empty for a rule without "
    "one. Rules match the text of the post and of a post that it quotes. An edited post is a new "
    "line.",
    "section 5.3 of the named endpoints",
)
HAPPENED = expectation(
    "filtered-stream.happened",
    "A post is matched with the rules that were there when it was recorded and still are. A post "
    "that was deleted since, or that only POST /_mock/events names, is shown as its post.create "
    "has it.",
)
_MADE = "post.create"
_NOT_A_POST = (TypeError, KeyError, AttributeError, ValueError)
"""What the parts of a payload raise that have another form than those of a post."""


def is_of_post(activity: Record) -> bool:
    """Return whether an activity is that a post was made, which filtered streams carry."""
    return activity["event_type"] == _MADE and isinstance(activity["payload"].get("id"), str)


class PostMatch(Struct, frozen=True):
    """The rules of an app that match a post; `reason` says why none does."""

    rules: Sequence[Record]
    reason: str | None = None


def match_post(world: World, app_id: str, activity: Record) -> PostMatch:
    """Return which rules of an app match the post of an activity (`filtered-stream.happened`).

    Called under the world's lock.
    """
    if not is_of_post(activity):
        return PostMatch((), f"it carries {_MADE}, not {activity['event_type']}")
    try:
        subject = world.cache(_LastSubject).find(world, activity)
        if subject is None:
            return PostMatch((), "the author is protected")
        found = find_rule_book(world, app_id).find_matching(subject)
    except _NOT_A_POST as fault:
        return PostMatch((), f"the payload does not have the form of a post: {fault!r}")
    recorded = _order(activity["id"])
    rules = [rule for rule in found if not rule.get("_added") or _order(rule["id"]) < recorded]
    if rules:
        return PostMatch(rules)
    text = f"no rule of app {app_id} matches; POST /_mock/rules/explain shows why"
    return PostMatch((), text)


class _LastSubject:
    """The post of the last activity as rules see it: many apps may have rules for it."""

    def __init__(self) -> None:
        self._state: object = None
        self._subject: Subject | None = None

    def find(self, world: World, activity: Record) -> Subject | None:
        """Return the post of an activity; `None` if streams must not carry it."""
        state = (activity["id"], world.store.version("posts"), world.store.version("users"))
        if state != self._state:
            self._subject, self._state = _find_subject(world, activity), state
        return self._subject


def _find_subject(world: World, activity: Record) -> Subject | None:
    payload = activity["payload"]
    post = world.store.get("posts", payload["id"])
    if post is not None:
        return make_subject(world, post, "stream") if may_see(world, post, None) else None
    author = world.store.get("users", activity["user_id"] or "")
    if author is not None and author["protected"]:
        return None
    return make_object_subject(world, payload, "stream", activity["includes"])


def _order(id_: str) -> tuple[int, str]:
    """Return what sorts the ids that a world draws by when they were drawn."""
    return len(id_), id_


def make_line(
    world: World,
    activity: Record,
    rules: Sequence[Record],
    selection: Selection,
    base_url: str,
) -> dict[str, Any]:
    """Return the line for the post of an activity, with the rules that match it."""
    matching = [{"id": rule["id"], "tag": rule.get("tag", "")} for rule in rules]
    post = world.store.get("posts", activity["payload"]["id"])
    if post is None:
        return {"data": _select(activity["payload"], selection), "matching_rules": matching}
    answer = PostAnswer(world, selection, base_url)
    answer.add_posts([post])
    parts = answer.parts()
    errors = {"errors": parts.pop("errors")} if "errors" in parts else {}
    return {"data": answer.data[0], **parts, "matching_rules": matching, **errors}


def _select(payload: Mapping[str, Any], selection: Selection) -> dict[str, Any]:
    """Return those fields of a post in an activity that a client wants to see."""
    whole = {"edit_history_post_ids": [payload["id"]], **payload}
    return {name: value for name, value in whole.items() if name in selection.post}
