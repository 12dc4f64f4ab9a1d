"""Spaces of the v2 interface: lookups, the search, buyers, and shared posts."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    Rates,
    check_path,
    declare_public,
    forbid,
    get_user_id,
    make_id_field,
    require_record,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    PARTIAL_ERRORS,
    USER_FIELDS,
    ObjectAnswer,
    PostAnswer,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.lists import (
    PageOfPosts,
    PageOfUsers,
    PostPageQuery,
    UserPageQuery,
    list_related_posts,
    list_related_users,
)
from mock_platform.api.v2.objects.object_types import SPACE_OBJECT
from mock_platform.api.v2.objects.relations import SPACE_POSTS
from mock_platform.api.v2.objects.users import NEWEST_FIRST
from mock_platform.api.v2.pages import TIMED_POSTS, TOKEN_FORMS, USERS, make_token_field
from mock_platform.api.v2.prices import POST_READ, SPACE_READ, USER_READ
from mock_platform.api.v2.spaces.changes import SPACE, SPACE_STATES
from mock_platform.api.v2.spaces.records import (
    ENDED,
    EXPANSIONS,
    FIELDS,
    LIVE,
    SCHEDULED,
    SPACE_BUYERS,
    SPACE_ID,
    SPACES,
    TOPIC_FIELDS,
    TOPICS,
    USER_EXPANSIONS,
    show_space,
    show_topic,
)
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Integer, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record, Term, Within, words, words_of
from mock_platform.world.world import World

SPACE_SHAPES = public_fact(
    "spaces.shapes",
    "Spaces are read by id, by creator and by the words of their title. Ended ones are served by "
    "id alone. A Space has participant_count while it is live. Lists of Spaces have no pages.",
    "all of v2, section 12",
    gap=True,
)
SPACE_VIEWS = expectation(
    "spaces.views",
    "A search finds a Space if each word of the query is, in any case, a word of its title; the "
    "newest first, also by creators. subscriber_count and invited_user_ids are shown to the "
    "creator alone.",
)
TICKET_BUYERS = expectation(
    "spaces.buyers",
    "The buyers of a Space are for its creator, if it is ticketed; else 403.",
)


class SpaceSelectionQuery(Schema):
    """What to show of Spaces, and of their users and topics."""

    space_fields = make_names_field(FIELDS, data_key="space.fields")
    expansions = make_names_field(EXPANSIONS)
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")
    topic_fields = make_names_field(TOPIC_FIELDS, data_key="topic.fields")


class SeveralSpacesQuery(SpaceSelectionQuery):
    """The Spaces to read, and what to show of them."""

    ids = CommaList(
        Text(pattern=SPACE_ID, pattern_text="a Space id"), most=100, exact=True, required=True
    )


class SpacesByCreatorsQuery(SpaceSelectionQuery):
    """Whose Spaces to read, and what to show of them."""

    user_ids = CommaList(make_id_field("a user id of "), most=100, exact=True, required=True)


class SpaceSearch(SpaceSelectionQuery):
    """Which Spaces to find, and what to show of them."""

    query = Text(required=True, min_length=1, max_length=2048)
    state = Choice((LIVE, SCHEDULED, "all"), load_default="all")
    max_results = Integer(low=1, high=100, load_default=100)


class BuyerPageQuery(UserPageQuery):
    """The page of a list of buyers, and what to show of them."""

    pagination_token = make_token_field()


class SingleSpaceAnswer(ObjectAnswer):
    """A Space with the selected fields, and what it refers to."""

    data = SPACE_OBJECT.one()


class SpacesAnswer(ObjectAnswer):
    """Spaces with the selected fields, what they refer to, and what was not found."""

    data = SPACE_OBJECT.several()


class SpaceCount(Schema):
    """How many Spaces there are."""

    result_count = Integer(required=True)


class FoundSpaces(SpacesAnswer):
    """Spaces that were found, and how many."""

    meta = Nested(SpaceCount, required=True)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the Space that the path names."""
    space = _require_space(call, world)
    return _answer(call, world, [space]).show_one()


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return several Spaces; those that are not found are named in `errors`."""
    found = {id_: _find_space(world, id_) for id_ in call.params["ids"]}
    answer = _answer(call, world, [space for space in found.values() if space is not None])
    for id_, space in found.items():
        if space is None:
            call.assume(PARTIAL_ERRORS)
            answer.add_missing("space", "ids", id_)
    return answer.show_all()


def get_by_creators(call: Call, world: World) -> dict[str, Any]:
    """Return the Spaces of some users that have not ended, the newest first."""
    _settle(world)
    creators = Within("creator_id", list(dict.fromkeys(call.params["user_ids"])))
    entries = world.store.page(SPACES, order=NEWEST_FIRST, within=creators, where=_is_open)
    return _show_found(call, world, [entry.record for entry in entries])


def search(call: Call, world: World) -> dict[str, Any]:
    """Return the Spaces whose titles have all words of the query, the newest first."""
    _settle(world)
    wanted, state = words(call.params["query"]), call.params["state"]
    if not wanted:
        return _show_found(call, world, [])
    entries = world.store.page(
        SPACES,
        term=Term(("title",), max(wanted, key=len)),
        order=NEWEST_FIRST,
        limit=call.params["max_results"],
        within=Within("state", (LIVE, SCHEDULED) if state == "all" else (state,)),
        where=lambda space: wanted <= words_of(space, ("title",)),
    )
    return _show_found(call, world, [entry.record for entry in entries])


def list_buyers(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users who bought a ticket for a Space of the caller.

    Raises:
        ProblemFailure: It is another's, or has no tickets (403).
    """
    space = _require_space(call, world)
    if space["creator_id"] != get_user_id(call) or not space["is_ticketed"]:
        raise forbid("You are not permitted to see the buyers of this Space.", TICKET_BUYERS)
    return list_related_users(call, world, SPACE_BUYERS, space["id"], USERS)


def list_posts(call: Call, world: World) -> dict[str, Any]:
    """Return the page of posts that were shared in a Space."""
    space = _require_space(call, world)
    return list_related_posts(call, world, SPACE_POSTS, space["id"], TIMED_POSTS)


def _settle(world: World) -> None:
    world.transitions.evaluate_all(SPACE.name)


def _find_space(world: World, space_id: str) -> Record | None:
    world.transitions.evaluate(SPACE.name, space_id)
    return world.store.get(SPACES, space_id)


def _require_space(call: Call, world: World) -> Record:
    find = partial(_find_space, world)
    return require_record(call, world, SPACES, "space", PARTIAL_ERRORS, find=find)


def _is_open(space: Record) -> bool:
    return bool(space["state"] != ENDED)


def _show_found(call: Call, world: World, spaces: list[Record]) -> dict[str, Any]:
    return _answer(call, world, spaces).show_all(meta={"result_count": len(spaces)})


def _answer(call: Call, world: World, spaces: list[Record]) -> PostAnswer:
    """Return the answer with some Spaces, and with what the expansions ask for."""
    answer = start_answer(call, world)
    wanted = answer.selection.expansions
    asked = wanted.union(call.params.get("space_fields") or ())
    for space in spaces:
        shown = show_space(space, asked, answer.viewer_id)
        answer.data.append(shown)
        for name in (one for one in USER_EXPANSIONS if one in wanted):
            ids = shown.get(name, ())
            for user_id in [ids] if isinstance(ids, str) else ids:
                answer.include_user(name, user_id)
        for topic_id in space["topic_ids"] if "topic_ids" in wanted else ():
            topic = world.store.get(TOPICS, topic_id)
            if topic is not None:
                topics = answer.includes.setdefault("topics", {})
                topics[topic_id] = show_topic(topic, call.params.get("topic_fields") or ())
    return answer


_SCOPES = ("post.read", "space.read", "users.read")
_declare = partial(
    declare_public,
    returns=FoundSpaces,
    auth=Auth(("bearer", "oauth2"), scopes=_SCOPES),
    limit=Rates(app=300, user=300),
    assumptions=(SPACE_SHAPES, SPACE_VIEWS, SPACE_STATES, FIELD_SELECTION),
    price=SPACE_READ,
)
_declare_one = partial(
    _declare,
    rules=check_path(id=re.compile(SPACE_ID, re.ASCII), text=f"does not match ^{SPACE_ID}$"),
    errors=("invalid-request", "resource-not-found"),
    may_assume=(PARTIAL_ERRORS,),
)
OPERATIONS = (
    _declare(
        "spaces.list",
        "GET /2/spaces",
        get_many,
        "Read several Spaces",
        params=SeveralSpacesQuery,
        returns=SpacesAnswer,
        may_assume=(PARTIAL_ERRORS,),
    ),
    _declare_one(
        "spaces.get",
        "GET /2/spaces/:id",
        get,
        "Read a Space",
        params=SpaceSelectionQuery,
        returns=SingleSpaceAnswer,
    ),
    _declare(
        "spaces.list_by_creators",
        "GET /2/spaces/by/creator_ids",
        get_by_creators,
        "List the Spaces of some users",
        params=SpacesByCreatorsQuery,
        limit=Rates(app=300, user=300, in_a_second=1),
    ),
    _declare(
        "spaces.search",
        "GET /2/spaces/search",
        search,
        "Search Spaces",
        params=SpaceSearch,
        example=Example(query={"query": "coffee"}),
    ),
    _declare_one(
        "spaces.buyers",
        "GET /2/spaces/:id/buyers",
        list_buyers,
        "List who bought a ticket for a Space",
        params=BuyerPageQuery,
        returns=PageOfUsers,
        auth=Auth(("oauth2",), scopes=_SCOPES),
        errors=("invalid-request", "resource-not-found", "about:blank"),
        assumptions=(SPACE_SHAPES, TICKET_BUYERS, FIELD_SELECTION, TOKEN_FORMS),
        example=Example(path={"id": "1HarborTicket"}),
        price=USER_READ,
    ),
    _declare_one(
        "spaces.posts",
        "GET /2/spaces/:id/posts",
        list_posts,
        "List the posts shared in a Space",
        params=PostPageQuery,
        returns=PageOfPosts,
        errors=("invalid-request", "resource-not-found", "usage-capped"),
        assumptions=(SPACE_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
        may_assume=(PARTIAL_ERRORS, COUNTED_ONCE),
        price=POST_READ,
    ),
)
