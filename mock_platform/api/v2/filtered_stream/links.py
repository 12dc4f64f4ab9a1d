"""What an app's filtered stream says of a post, and the webhooks that are linked to it.

Streams send the line of a post, with all rules that match it, and linked webhooks receive it.
Document A names filtered-stream webhooks in its release history; the shapes are public facts (named
endpoints, sections 5.3 and 5.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from marshmallow import ValidationError
from msgspec import Struct

from mock_platform.api.v2.conventions import declare_named, get_app, refuse_unenrolled, wrap_data
from mock_platform.api.v2.filtered_stream.rules import find_rule_book
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    PostAnswer,
    PostSelectionQuery,
    Selection,
    read_selection,
)
from mock_platform.api.v2.objects.relations import may_see, may_see_posts_of
from mock_platform.api.v2.release_history import find_release, is_in_force
from mock_platform.api.v2.search.subjects import Subject, make_object_subject, make_subject
from mock_platform.api.v2.usage.counting import count_posts
from mock_platform.api.v2.webhooks.event_log import log_event
from mock_platform.api.v2.webhooks.validation import WebhookPath, find_own_webhook, make_refusal
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Flag, Instant, ListOf, Nested, Text
from mock_platform.core.operation import Example, Location
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

POST_LINES = public_fact(
    "filtered-stream.lines",
    "A post is one line with all rules that match it; each has a tag, empty for a rule without "
    "one. Rules match the text of the post and of a post that it quotes. An edited post is a new "
    "line.",
    "section 5.3 of the named endpoints",
)
RULES_AT_THE_TIME = expectation(
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
            return PostMatch((), "the author is protected or suspended")
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
    if author is not None and not may_see_posts_of(world, author, None):
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
    line = show_posted(world, activity, selection, base_url)
    errors = {"errors": line.pop("errors")} if "errors" in line else {}
    return {**line, "matching_rules": matching, **errors}


def show_posted(
    world: World, activity: Record, selection: Selection, base_url: str
) -> dict[str, Any]:
    """Return the line for the post of an activity, as the store has it now, else as it was."""
    post = world.store.get("posts", activity["payload"]["id"])
    if post is None:
        return {"data": _select(activity["payload"], selection)}
    answer = PostAnswer(world, selection, base_url)
    answer.add_posts([post])
    return answer.show_one()


def _select(payload: Mapping[str, Any], selection: Selection) -> dict[str, Any]:
    """Return those fields of a post in an activity that a client wants to see."""
    whole = {"edit_history_post_ids": [payload["id"]], **payload}
    return {name: value for name, value in whole.items() if name in selection.post}


TABLE = "stream_links"
LINK_SHAPES = public_fact(
    "stream-links.shapes",
    "The endpoints that link webhooks to the filtered stream have their public shapes; the spec "
    "only says that an enterprise app's webhooks can receive it.",
    "section 5.4 of the named endpoints",
    gap=True,
)
MUST_BE_ENROLLED = public_fact(
    "stream-links.enrolled",
    "An app whose _tier is self_serve may link no webhooks: client-forbidden, 403, with the reason "
    "client-not-enrolled.",
    "section 5.4 of the named endpoints",
)
LINE_AS_BODY = expectation(
    "stream-links.delivered",
    "A webhook receives the line of the stream as its body, in the moment in which the post is "
    "made, with the fields that the link was made with. Linking a webhook again changes its "
    "fields. instance_id is the id of the webhook, business_user_id the owner of the app.",
)


def require_enrolled(app: Record) -> None:
    """Require that an app may link webhooks to its filtered stream.

    Raises:
        ProblemFailure: It may not (client-forbidden).
    """
    if app["_tier"] == "self_serve":
        raise refuse_unenrolled(app, "Enterprise", MUST_BE_ENROLLED)


def put_link(
    world: World, app: Record, webhook_id: str, fields: Iterable[str], base_url: str
) -> None:
    """Link a webhook of an app to its filtered stream, or change the fields of the link.

    `base_url` is the address that the app calls, which types of problems begin with.
    """
    # Linking twice is no error: the second time changes the fields. The key is the webhook, so
    # there is one link for each, and it keeps its place.
    known = world.store.get(TABLE, webhook_id)
    record = {
        "webhook_id": webhook_id,
        "fields": list(fields),
        "created_at": wire_millis(world.clock.now()) if known is None else known["created_at"],
        "_app_id": app["id"],
        "_base_url": base_url,
    }
    world.store.put(TABLE, webhook_id, record)


def show_link(record: Record, app: Record) -> Record:
    """Return a link as clients see it."""
    return {
        "application_id": app["id"],
        "business_user_id": app["_owner_user_id"] or app["id"],
        "created_at": record["created_at"],
        "fields": record["fields"],
        "instance_id": record["webhook_id"],
        "webhook_id": record["webhook_id"],
    }


def spell_fields(params: Mapping[str, Any]) -> list[str]:
    """Return checked parameters of a selection as they are written in a query."""
    names = {
        attribute: field.data_key or attribute
        for attribute, field in PostSelectionQuery().load_fields.items()
    }
    return [f"{names[key]}={','.join(values)}" for key, values in params.items() if key in names]


@lru_cache(maxsize=256)
def read_fields(fields: tuple[str, ...]) -> Selection:
    """Return what the fields of a link ask for."""
    sent = dict(field.partition("=")[::2] for field in fields)
    return read_selection(PostSelectionQuery().load(sent))


class StreamLinkRecord(Schema):
    """That a webhook gets the filtered stream of its app.

    `fields` are the fields and expansions of its posts, as they are written in a query.
    """

    webhook_id = Text(required=True)
    fields_ = ListOf(Text(), load_default=list, data_key="fields", attribute="fields")
    created_at = Instant(millis=True, required=True)
    _app_id = Text(required=True)
    _base_url = Text()
    """The address that the app called, which types of problems begin with."""


def _check_link(record: Record) -> Iterator[tuple[str, str]]:
    try:
        read_fields(tuple(record["fields"]))
    except ValidationError as fault:
        yield "fields", f"fields must be as in a query, such as user.fields=username: {fault}"


TABLES = (
    Table(
        TABLE,
        StreamLinkRecord,
        key="webhook_id",
        references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
        check=_check_link,
    ),
)


def add_link_events(world: World, activity: Record) -> tuple[list[Record], list[str]]:
    """Add a post to the log of each linked webhook whose app has rules that match it.

    Returns the events, and why there are no others.
    """
    events: list[Record] = []
    why_not: list[str] = []
    links = [entry.record for entry in world.store.page(TABLE)] if is_of_post(activity) else []
    if links and not is_in_force("filtered-stream-webhooks", world):
        return [], [f"filtered stream: it has no webhooks yet, and {world.explain_too_early()}"]
    for link in links:
        event, reason = _add_event(world, link, activity)
        events += event
        if reason is not None:
            why_not.append(f"filtered stream at webhook {link['webhook_id']}: {reason}")
    return events, why_not


def _add_event(world: World, link: Record, activity: Record) -> tuple[list[Record], str | None]:
    app_id = link["_app_id"]
    app = world.store.get("apps", app_id)
    match = match_post(world, app_id, activity)
    if app is None or match.reason is not None:
        return [], match.reason
    try:
        count_posts(world, app, [activity["payload"]["id"]])
    except ProblemFailure as reached:
        return [], f"app {app_id} has read as many posts as it may: {reached}"
    selection = read_fields(tuple(link["fields"]))
    line = make_line(world, activity, match.rules, selection, link.get("_base_url") or "")
    event, reason = log_event(world, "filtered_stream", link["webhook_id"], activity, line)
    return [event], reason


class StreamLink(Schema):
    """A link as clients see it."""

    application_id = Text(required=True)
    business_user_id = Text(required=True)
    created_at = Instant(millis=True, required=True)
    fields_ = ListOf(Text(), required=True, data_key="fields")
    instance_id = Text(required=True)
    webhook_id = Text(required=True)


StreamLinksAnswer = wrap_data("StreamLinksAnswer", "_Links", links=ListOf(Nested(StreamLink)))
ProvisionAnswer = wrap_data("ProvisionAnswer", provisioned=Flag(required=True))
UnlinkedAnswer = wrap_data("UnlinkedAnswer", deleted=Flag(required=True))


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the links of the caller's app."""
    app = get_app(call)
    require_enrolled(app)
    entries = world.store.page(TABLE, {"_app_id": app["id"]})
    return {"data": {"links": [show_link(entry.record, app) for entry in entries]}}


def create(call: Call, world: World) -> dict[str, Any]:
    """Link a webhook to the filtered stream."""
    app = get_app(call)
    require_enrolled(app)
    webhook = find_own_webhook(call, world)
    put_link(world, app, webhook["id"], spell_fields(call.params), call.base_url)
    return {"data": {"provisioned": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """End the link of a webhook."""
    require_enrolled(get_app(call))
    webhook = find_own_webhook(call, world)
    if world.store.remove(TABLE, webhook["id"]) is None:
        text = f"webhook {webhook['id']} is not linked to the filtered stream"
        raise make_refusal("WebhookIdInvalid", text, "webhook_id", webhook["id"])
    return {"data": {"deleted": True}}


_ALL = "/2/posts/search/webhooks"
_declare = partial(
    declare_named,
    spec="Versioning: 2025-09-09",
    since=find_release("filtered-stream-webhooks").effective,
    auth=BEARER,
    limit=450,
    path_form=WebhookPath,
    errors=("invalid-request", "client-forbidden"),
    assumptions=(LINK_SHAPES,),
    may_assume=(MUST_BE_ENROLLED,),
)
OPERATIONS = (
    _declare(
        "stream_links.list",
        f"GET {_ALL}",
        list_,
        "List the webhooks that receive the filtered stream",
        returns=StreamLinksAnswer,
        errors=("client-forbidden",),
    ),
    _declare(
        "stream_links.create",
        f"POST {_ALL}/:webhook_id",
        create,
        "Let a webhook receive the filtered stream",
        params=PostSelectionQuery,
        location=Location.QUERY,
        returns=ProvisionAnswer,
        assumptions=(LINK_SHAPES, LINE_AS_BODY, POST_LINES, RULES_AT_THE_TIME, FIELD_SELECTION),
    ),
    _declare(
        "stream_links.delete",
        f"DELETE {_ALL}/:webhook_id",
        delete,
        "Stop a webhook from receiving the filtered stream",
        returns=UnlinkedAnswer,
        example=Example(before=("POST", "/2/posts/search/webhooks/1146654567674912769")),
    ),
)
