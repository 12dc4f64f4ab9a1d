"""The rules of filtered streams, and the webhooks that get what matches them."""

from __future__ import annotations

from collections.abc import Iterator

from marshmallow import ValidationError

from mock_platform.api.v2.filtered_stream.links import read_fields
from mock_platform.api.v2.filtered_stream.rules import LONGEST_RULE, find_rule_faults
from mock_platform.core.fields import Flag, Instant, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.store.interface import Record


class StreamRuleRecord(Schema):
    """A rule of an app: the posts that match `value` are in its filtered stream."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    value = Text(required=True, min_length=1, max_length=LONGEST_RULE)
    tag = Text()
    _app_id = Text(required=True)
    _added = Flag(load_default=False)
    """Whether it was added in this world: posts with lower ids were there before it."""


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


def _check_rule(record: Record) -> Iterator[tuple[str, str]]:
    for fault in find_rule_faults(record["value"]):
        yield "value", fault


def _check_link(record: Record) -> Iterator[tuple[str, str]]:
    try:
        read_fields(tuple(record["fields"]))
    except ValidationError as fault:
        yield "fields", f"fields must be as in a query, such as user.fields=username: {fault}"


STREAM_RULES = Table(
    "stream_rules",
    StreamRuleRecord,
    references=(Reference("_app_id", "apps"),),
    check=_check_rule,
    shown=Shown(("value",), operations=("stream_rules.list",), is_of_app=True),
)
STREAM_LINKS = Table(
    "stream_links",
    StreamLinkRecord,
    key="webhook_id",
    references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
    check=_check_link,
)
TABLES = (STREAM_RULES, STREAM_LINKS)
