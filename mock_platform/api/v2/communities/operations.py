"""Communities: read by id, and searched by the words of their names and descriptions.

Facts: all of v2, section 14. `POST /2/posts` makes posts in the communities of this table.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    Rates,
    declare_public,
    find_id_faults,
    make_id_field,
    require_record,
    start_on,
)
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS, make_names_field
from mock_platform.api.v2.pages import (
    POSTS,
    TOKEN,
    TOKEN_PAGES,
    TokenPage,
    show_list,
    take_page_both_ways,
)
from mock_platform.api.v2.prices import COMMUNITY_READ
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Instant, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Shown, Table
from mock_platform.world.store.interface import Record, Term, words, words_of
from mock_platform.world.world import World

COMMUNITY_SHAPES = public_fact(
    "communities.shapes",
    "Communities are read by id and searched in their public shapes; without community.fields one "
    "has id and name.",
    "all of v2, section 14",
    gap=True,
)
COMMUNITY_SEARCH = expectation(
    "communities.search",
    "A search finds the communities whose name and description have all words of the query, in "
    "any case, the newest first. next_token and pagination_token mean the same; meta has "
    "result_count too.",
)
UNKNOWN_COMMUNITY = expectation(
    "communities.unknown-id",
    "The resource_type of an unknown community is list, whose scope is needed to read communities, "
    "because the enumeration has no value for them.",
)
COMMUNITY_FIELDS = (
    "access", "created_at", "description", "id", "join_policy", "member_count", "name",
)  # fmt: skip
_TEXTS = ("name", "description")


class Community(Schema):
    """A community with the selected fields."""

    id = Text(required=True)
    name = Text()
    access = Text()
    created_at = Instant(millis=True)
    description = Text()
    join_policy = Text()
    member_count = Integer()


class CommunityRecord(Schema):
    """A community; `access` and `join_policy` are plain texts, whose values are not public."""

    id = make_id_field(required=True)
    name = Text(required=True, min_length=1)
    access = Text(load_default="Public")
    created_at = Instant(millis=True, required=True)
    description = Text(load_default="")
    join_policy = Text(load_default="Open")
    member_count = Integer(low=0, load_default=1)


class CommunityQuery(Schema):
    """The fields of a community to return."""

    community_fields = make_names_field(COMMUNITY_FIELDS, data_key="community.fields")


class CommunitySearch(CommunityQuery):
    """The words of a search, and the page of what it finds."""

    query = Text(required=True, min_length=1, max_length=4096)
    max_results = Integer(low=10, high=100, load_default=10)
    next_token = Text(min_length=1)
    pagination_token = Text(min_length=1)


class CommunityAnswer(Schema):
    """The community with that id."""

    data = Nested(Community, required=True)


class _Found(Schema):
    result_count = Integer(required=True)
    next_token = Text()


class CommunityList(Schema):
    """A page of communities."""

    data = ListOf(Nested(Community))
    meta = Nested(_Found)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the community in the path."""
    found = require_record(
        call,
        world,
        "communities",
        "community",
        PARTIAL_ERRORS,
        UNKNOWN_COMMUNITY,
        resource_type="list",
    )
    return {"data": _show(call, found)}


def search(call: Call, world: World) -> dict[str, Any]:
    """Return the page of communities that have all words of the query."""
    wanted = words(call.params["query"])
    page = take_page_both_ways(
        call,
        world,
        "communities",
        {},
        form=POSTS,
        term=Term(_TEXTS, min(wanted, default="")),  # a query without words finds nothing
        where=lambda community: wanted <= words_of(community, _TEXTS),
        token="next_token" if "next_token" in call.params else TOKEN,
    )
    meta = TokenPage(page.records, page.next_token).meta()
    return show_list([_show(call, each) for each in page.records], meta=meta)


def _show(call: Call, community: Record) -> dict[str, Any]:
    wanted = {"id", "name", *(call.params.get("community_fields") or ())}
    return {name: community[name] for name in COMMUNITY_FIELDS if name in wanted}


TABLES = (
    Table(
        "communities",
        CommunityRecord,
        shown=Shown(
            ("name", "created_at"), "community.fields", ("communities.get", "communities.search")
        ),
    ),
)
_declare = partial(
    declare_public,
    since=start_on("2025-01-08"),
    limit=Rates(app=300, user=300),
    price=COMMUNITY_READ,
)
OPERATIONS = (
    _declare(
        "communities.search",
        "GET /2/communities/search",
        search,
        "Search communities",
        params=CommunitySearch,
        returns=CommunityList,
        auth=Auth(ANY_USER, scopes=("post.read", "users.read")),
        assumptions=(COMMUNITY_SHAPES, COMMUNITY_SEARCH, TOKEN_PAGES),
        example=Example(query={"query": "coffee"}),
    ),
    _declare(
        "communities.get",
        "GET /2/communities/:id",
        get,
        "Read a community",
        params=CommunityQuery,
        rules=find_id_faults,
        returns=CommunityAnswer,
        auth=Auth(ANY_CALLER, scopes=("list.read", "post.read", "users.read")),
        errors=("invalid-request", "resource-not-found"),
        assumptions=(COMMUNITY_SHAPES,),
        may_assume=(PARTIAL_ERRORS, UNKNOWN_COMMUNITY),
    ),
)
