"""Targeting suggestions: keywords and users that go with those of a line item."""

from __future__ import annotations

from mock_platform.core.ads import Data, ads
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Integer, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.rules.related_keywords import find_related
from mock_platform.store.interface import Order
from mock_platform.world.world import World

KEYWORD, USER_ID = "KEYWORD", "USER_ID"
ALL = public_fact(
    "targeting-suggestions.all",
    "Suggestions are rows of a type and a value, up to 30 or count, without next_cursor.",
    "adjacent operations, section 9",
    gap=True,
)
VALUES = expectation(
    "targeting-suggestions.values",
    "Suggested keywords are those of the keyword insights, made up from the world's seed; "
    "suggested users are the others of the world, those with most followers first.",
)
_MOST_FOLLOWED = Order("followers_count", descending=True)


class SuggestionsQuery(Schema):
    """Parameters of the suggestions."""

    suggestion_type = Choice((KEYWORD, USER_ID), required=True)
    targeting_values = CommaList(Text(min_length=1), required=True)
    count = Integer(low=1, high=50, load_default=30)


class Suggestion(Schema):
    """A value that may be targeted as well."""

    suggestion_type = Choice((KEYWORD, USER_ID), required=True)
    suggestion_value = Text(required=True)


def list_(call: Call, world: World) -> list[dict[str, str]]:
    """Return what may be targeted beside the values that were sent."""
    kind, count = call.params["suggestion_type"], call.params["count"]
    given: list[str] = call.params["targeting_values"]
    if kind == KEYWORD:
        keywords = list(dict.fromkeys(value.casefold() for value in given))
        found = find_related(world.ids, keywords, (), "", most=count)
    else:
        users = world.store.page("users", order=_MOST_FOLLOWED, limit=count + len(set(given)))
        found = [entry.key for entry in users if entry.key not in given][:count]
    return [{"suggestion_type": kind, "suggestion_value": value} for value in found]


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "targeting_suggestions.list",
        "GET",
        "/12/accounts/:account_id/targeting_suggestions",
        list_,
        summary="List what may be targeted as well",
        spec="not shown",
        returns=Data(Suggestion, many=True),
        params=SuggestionsQuery,
        origin=Origin.ADJACENT,
        assumptions=(ALL, VALUES),
    ),
)
