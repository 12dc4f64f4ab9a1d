"""Users by id, by name and as the caller; those found by words, and those of an organization.

Their shapes are public facts (named endpoints, section 7.4; all of v2, section 3); document A names
`affiliation`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    ANY_USER,
    OLDER_NAMES,
    Rates,
    check_path,
    declare_named,
    declare_public,
    find_id_faults,
    get_user,
    limit_users,
    require_record,
    start_on,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    PARTIAL_ERRORS,
    ObjectAnswer,
    UserSelectionQuery,
    collect,
    get_viewer_id,
    start_answer,
)
from mock_platform.api.v2.objects.lists import LongUserPageQuery, PageOfUsers, show_users
from mock_platform.api.v2.objects.object_types import USER_OBJECT
from mock_platform.api.v2.objects.older_forms import NAME
from mock_platform.api.v2.objects.post_text import find_user
from mock_platform.api.v2.objects.relations import FOLLOWS, count_at_least, is_blocked, is_present
from mock_platform.api.v2.pages import NUMBERS, POSTS, TOKEN_FORMS, take_page_both_ways, take_slice
from mock_platform.api.v2.prices import USER_READ
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import CommaList, Integer, Text
from mock_platform.core.operation import Example
from mock_platform.world.store.interface import Record, Term, words, words_of
from mock_platform.world.world import World

USER_SHAPES = public_fact(
    "users.shapes",
    "Users are read by id, by name and as the caller in their public shapes; the spec names "
    "affiliation.user_id, which is an array from 2025-02-18 on.",
    "section 7.4 of the named endpoints",
    gap=True,
)
USER_LIMITS = public_fact(
    "users.limits",
    "In 15 minutes a user may call GET /2/users/me 75 times, each of the others 900 times, and an "
    "app 300 times. Affiliates have no published limit.",
    "section 7.4 of the named endpoints; all of v2, section 3",
)


class SeveralUsersQuery(UserSelectionQuery):
    """The users to read, and what to show of them."""

    ids = CommaList(
        Text(pattern=r"[0-9]{1,19}", pattern_text="a user id"), most=100, exact=True, required=True
    )


class UsersByNameQuery(UserSelectionQuery):
    """The names of the users to read, and what to show of them."""

    usernames = CommaList(
        Text(pattern=NAME.pattern, pattern_text="a name of 1 to 15 letters, digits and _"),
        most=100,
        exact=True,
        required=True,
    )


class SingleUserAnswer(ObjectAnswer):
    """A user with the selected fields, and what it refers to."""

    data = USER_OBJECT.one()


class UsersAnswer(ObjectAnswer):
    """Users with the selected fields, what they refer to, and what was not found."""

    data = USER_OBJECT.several()


def show_caller(call: Call, world: World) -> dict[str, Any]:
    """Return the user who calls."""
    return _show(call, world, get_user(call))


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the user with the id in the path."""
    return _show(call, world, require_record(call, world, "users", "user", PARTIAL_ERRORS))


def get_by_name(call: Call, world: World) -> dict[str, Any]:
    """Return the user with the name in the path, in any case."""
    find = partial(find_user, world)
    user = require_record(
        call, world, "users", "user", PARTIAL_ERRORS, parameter="username", find=find
    )
    return _show(call, world, user)


def get_many(call: Call, world: World) -> dict[str, Any]:
    """Return the users with these ids; those that are not found are named in `errors`."""
    answer = start_answer(call, world)
    collect(call, answer, "user", "ids", partial(world.store.get, "users"))
    return answer.show_all()


def get_many_by_name(call: Call, world: World) -> dict[str, Any]:
    """Return the users with these names; those that are not found are named in `errors`."""
    answer = start_answer(call, world)
    collect(call, answer, "user", "usernames", partial(find_user, world))
    return answer.show_all()


def _show(call: Call, world: World, user: Record) -> dict[str, Any]:
    answer = start_answer(call, world)
    answer.add_users([user])
    return answer.show_one()


SEARCH_SHAPES = public_fact(
    "users.search",
    "A search takes letters, digits, spaces, _ and ' and answers pages of users by relevance, "
    "whose tokens next_token takes; result_count is the number on the page.",
    "all of v2, section 3",
    gap=True,
)
SEARCH_MATCHES = expectation(
    "users.search-matches",
    "Each word of the query begins a word of the username or of the name, in any case. First comes "
    "the user with this name, then who has most followers; each page searches again. Users who are "
    "suspended or deactivated, whom the caller blocks or who block the caller, are left out.",
)
AFFILIATE_SHAPES = public_fact(
    "users.affiliates",
    "Affiliates of an organization are the users whose affiliation.user_id names it, those who "
    "joined the world last first; tokens are numbers. A user without affiliates has none.",
    "all of v2, section 3",
    gap=True,
)


class UserSearchQuery(UserSelectionQuery):
    """The words to search users by, and what to show of them."""

    query = Text(
        pattern=r"[A-Za-z0-9_' ]{1,50}",
        pattern_text="1 to 50 letters, digits, spaces, _ and '",
        required=True,
    )
    max_results = Integer(low=1, high=1000, load_default=100)
    next_token = Text(min_length=1)


def list_affiliates(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users who belong to an organization."""
    user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
    term = Term(("affiliation.user_id",), user["id"])
    page = take_page_both_ways(call, world, "users", {}, form=NUMBERS, term=term, where=is_present)
    return show_users(call, world, page, page.records)


def search(call: Call, world: World) -> dict[str, Any]:
    """Return the page of users whom a query finds, the most relevant first."""
    found = _find_by_words(world, call.params["query"], get_viewer_id(call))
    page = take_slice(call, found, form=POSTS, token="next_token")
    return show_users(call, world, page, page.records)


_SEARCHED = ("screen_name", "name")
_INDEXED_LETTERS = 3


def _find_by_words(world: World, query: str, viewer_id: str | None) -> list[Record]:
    """Return the users with words that begin like those of a query; see `SEARCH_MATCHES`."""
    wanted = sorted(words(query), key=len)
    if not wanted:
        return []

    def is_found(user: Record) -> bool:
        own = words_of(user, _SEARCHED)
        if not all(any(each.startswith(word) for each in own) for word in wanted):
            return False
        blocked = viewer_id is not None and is_blocked(world, user["id"], viewer_id)
        return is_present(user) and not blocked

    def rank(user: Record) -> tuple[bool, int]:
        followers = FOLLOWS.count_sources(world, user["id"])
        is_exact = user["screen_name"].casefold() == query.strip().casefold()
        return not is_exact, -count_at_least(user.get("followers_count"), followers)

    # An index of the first letters of all words finds the candidates without a look at each user.
    beginning = wanted[-1][:_INDEXED_LETTERS]
    term = Term(_SEARCHED, beginning, len(beginning))
    found = [entry.record for entry in world.store.page("users", term=term, where=is_found)]
    return sorted(found, key=rank)


_SCOPES = ("post.read", "users.read")
_declare = partial(
    declare_named,
    spec="Versioning: 2025-02-18",
    params=UserSelectionQuery,
    returns=SingleUserAnswer,
    auth=Auth(ANY_CALLER, scopes=_SCOPES),
    limit=Rates(app=300, user=900),
    errors=("invalid-request", "resource-not-found"),
    assumptions=(USER_SHAPES, FIELD_SELECTION, OLDER_NAMES, USER_LIMITS),
    may_assume=(PARTIAL_ERRORS,),
    price=USER_READ,
)
_declare_list = partial(_declare, returns=UsersAnswer, errors=("invalid-request",))
OPERATIONS = (
    _declare(
        "users.me",
        "GET /2/users/me",
        show_caller,
        "Read the user who calls",
        auth=Auth(ANY_USER, scopes=_SCOPES),
        limit=limit_users("users.me", 75),
        errors=("invalid-request",),
        may_assume=(),
    ),
    _declare_list(
        "users.list",
        "GET /2/users",
        get_many,
        "Read several users by id",
        params=SeveralUsersQuery,
    ),
    _declare_list(
        "users.list_by_name",
        "GET /2/users/by",
        get_many_by_name,
        "Read several users by name",
        params=UsersByNameQuery,
    ),
    _declare("users.get", "GET /2/users/:id", get, "Read a user by id", rules=find_id_faults),
    _declare(
        "users.get_by_name",
        "GET /2/users/by/username/:username",
        get_by_name,
        "Read a user by name",
        rules=check_path(username=NAME, text="does not match ^[A-Za-z0-9_]{1,15}$"),
    ),
    declare_public(
        "users.search",
        "GET /2/users/search",
        search,
        "Search users by name",
        params=UserSearchQuery,
        returns=PageOfUsers,
        auth=Auth(ANY_USER, scopes=_SCOPES),
        limit=Rates(app=300, user=900),
        assumptions=(SEARCH_SHAPES, SEARCH_MATCHES, FIELD_SELECTION),
        may_assume=(PARTIAL_ERRORS,),
        example=Example(query={"query": "harbor"}),
        price=USER_READ,
    ),
    declare_public(
        "users.affiliates",
        "GET /2/users/:id/affiliates",
        list_affiliates,
        "List the users of an organization",
        params=LongUserPageQuery,
        rules=find_id_faults,
        returns=PageOfUsers,
        auth=Auth(ANY_CALLER, scopes=_SCOPES),
        since=start_on("2026-01-29"),
        errors=("invalid-request", "resource-not-found"),
        assumptions=(AFFILIATE_SHAPES, FIELD_SELECTION, TOKEN_FORMS),
        may_assume=(PARTIAL_ERRORS,),
        price=USER_READ,
    ),
)
