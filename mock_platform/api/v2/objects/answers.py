"""Answers of the v2 interface with posts or users: what was asked for, expansions, partial errors.

Searches, streams and notes build the same parts of their answers here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Unpack

from msgspec import Struct, field

from mock_platform.api.v2.conventions import find_absence, find_nothing
from mock_platform.api.v2.objects.figures import (
    PRIVATE_METRICS,
    find_private_metrics,
    refuse_private_fields,
)
from mock_platform.api.v2.objects.media_view import find_any_media, may_use, show_media
from mock_platform.api.v2.objects.object_types import (
    INCLUDES,
    MEDIA_OBJECT,
    PARTIAL_ERROR,
    PLACE_OBJECT,
    POLL_OBJECT,
    POST_OBJECT,
    USER_OBJECT,
)
from mock_platform.api.v2.objects.post_text import Links, find_links, find_user
from mock_platform.api.v2.objects.post_view import (
    find_references,
    list_versions,
    show_place,
    show_poll,
    show_post,
)
from mock_platform.api.v2.objects.relations import may_see, may_see_posts_of
from mock_platform.api.v2.objects.users import find_newest_post, select_user
from mock_platform.api.v2.pages import show_list
from mock_platform.api.v2.release_history import find_release, is_in_force
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.codes import not_authorized_to_see
from mock_platform.core.failures.problems import Problem, problem
from mock_platform.core.faults import Fault, unlisted
from mock_platform.core.fields import Choice, CommaList, FieldOptions
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Which fields and related objects of posts and users a client asks for. Several families take
# these query parameters: posts, users, searches, streams, notes.

FIELD_SELECTION = public_fact(
    "v2.fields",
    "post.fields, user.fields, media.fields, poll.fields, place.fields and expansions have the "
    "public values. Without them posts have id, text and edit_history_post_ids, users id, name "
    "and username. An expansion also selects the field that it follows. Other values answer "
    "400; so does paid_partnership before 2026-06-03, when no post shows it either. "
    "non_public_metrics and organic_metrics are for the author of a post for 30 days, and for "
    "those who may use a video; for others errors names them.",
    "section 7.2 of the named endpoints, defaults without fields",
)

POST_FIELDS, USER_FIELDS = tuple(POST_OBJECT.keys), tuple(USER_OBJECT.keys)
MEDIA_FIELDS, POLL_FIELDS, PLACE_FIELDS = (
    tuple(MEDIA_OBJECT.keys),
    tuple(POLL_OBJECT.keys),
    tuple(PLACE_OBJECT.keys),
)
EXPANSIONS = (
    "article.cover_media", "article.media_entities", "attachments.media_keys",
    "attachments.media_source_post", "attachments.poll_ids", "author_id", "edit_history_post_ids",
    "entities.mentions.username", "entities.note.mentions.username", "geo.place_id",
    "in_reply_to_user_id", "referenced_posts", "referenced_posts.id",
    "referenced_posts.id.attachments.media_keys", "referenced_posts.id.author_id", "username",
)  # fmt: skip
USER_EXPANSIONS = ("affiliation", "affiliation.user_id", "most_recent_post_id", "pinned_post_id")
_FOLLOWED_BY_USERS = {name.partition(".")[0] for name in USER_EXPANSIONS}
_DEFAULTS: Mapping[str, frozenset[str]] = {
    "post": frozenset({*POST_OBJECT.always, "edit_history_post_ids"}),
    "user": frozenset(USER_OBJECT.always),
    "media": frozenset(MEDIA_OBJECT.always),
    "poll": frozenset(POLL_OBJECT.always),
    "place": frozenset(PLACE_OBJECT.always),
}
_SELECTING = (
    "expansions", "post_fields", "older_post_fields", "user_fields", "media_fields", "poll_fields",
    "place_fields",
)  # fmt: skip
"""The parameters of a selection."""
_NAMED = {"entities.mentions.username", "in_reply_to_user_id"}
_MENTIONS = {"entities.mentions.username", "entities.note.mentions.username", "username"}
_DATED = {"paid_partnership": "paid-partnership"}
"""Fields of posts that the release history dates, each with its row."""
_PARAMETERS = {"post_fields": "post.fields", "older_post_fields": "tweet.fields"}
"""The parameters that choose fields of posts."""
_OLDER = {
    "edit_history_tweet_ids": "edit_history_post_ids",
    "email_tweet": "email_post",
    "quote_tweets": "quote_posts",
    "retweets": "reposts",
    "note_tweet": "note_post",
    "referenced_tweets": "referenced_posts",
    "most_recent_tweet_id": "most_recent_post_id",
    "pinned_tweet_id": "pinned_post_id",
    "tweet_id": "post_id",
    "twitter_user_id": "platform_user_id",
    "attachments.media_source_tweet": "attachments.media_source_post",
    "referenced_tweets.id": "referenced_posts.id",
    "referenced_tweets.id.attachments.media_keys": "referenced_posts.id.attachments.media_keys",
    "referenced_tweets.id.author_id": "referenced_posts.id.author_id",
    "tweet_count": "post_count",
}


class NameOfField(Choice):
    """The name of a field or an expansion; older names are read as those that replaced them."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        return _OLDER.get(text, text)


def make_names_field(values: Sequence[str], **options: Unpack[FieldOptions]) -> CommaList:
    """Return the parameter that lists some of these names."""
    return CommaList(NameOfField(values), **options)


def find_early_fields(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find fields of posts that the release history adds later, which are unknown until then."""
    for parameter, name in _PARAMETERS.items():
        for value in params.get(parameter) or ():
            row = _DATED.get(value)
            if row is None or is_in_force(row, world):
                continue
            known = [one for one in POST_FIELDS if one != value]
            since = f"The release history adds it on {find_release(row).date}"
            hint = f"{since}, and {world.explain_too_early()}"
            fault = unlisted(known, value).naming(name)
            yield name, Fault(fault, hint=hint, said=fault.said)


DATED_FIELDS = (
    *(
        find_release(row).make_change(
            "sent-value-accepted", f"query parameter {parameter}", new=name
        )
        for name, row in _DATED.items()
        for parameter in _PARAMETERS.values()
    ),
    *(
        find_release(row).make_change("answer-key-added", f"answer 200: {name}")
        for name, row in _DATED.items()
    ),
    find_release("affiliation-array").make_change(
        "answer-type-changed", "answer 200: affiliation.user_id", "string", "array"
    ),
)
"""What the release history changes of operations that show posts and users."""


class _CommonFields(Schema):
    """The lists that all selections have."""

    find_faults = staticmethod(find_early_fields)
    dated = DATED_FIELDS

    post_fields = make_names_field(POST_FIELDS, data_key="post.fields")
    older_post_fields = make_names_field(POST_FIELDS, data_key="tweet.fields")
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")


class PostSelectionQuery(_CommonFields):
    """What a client wants to see of posts, and of what they refer to."""

    media_fields = make_names_field(MEDIA_FIELDS, data_key="media.fields")
    poll_fields = make_names_field(POLL_FIELDS, data_key="poll.fields")
    place_fields = make_names_field(PLACE_FIELDS, data_key="place.fields")
    expansions = make_names_field(EXPANSIONS)


class UserSelectionQuery(_CommonFields):
    """What a client wants to see of users, and of the posts that they refer to."""

    expansions = make_names_field(USER_EXPANSIONS)


class ObjectAnswer(Schema):
    """What is beside the objects of an answer: what they refer to, and what was not found."""

    includes = INCLUDES.one()
    errors = PARTIAL_ERROR.several()


class Selection(Struct, frozen=True):
    """The fields to show of each kind of object, and the expansions."""

    post: frozenset[str]
    user: frozenset[str]
    media: frozenset[str]
    poll: frozenset[str]
    place: frozenset[str]
    expansions: frozenset[str]
    links: Links | None = None
    """How links are written; `None`: as they were sent."""


def read_selection(params: Mapping[str, Any], links: Links | None = None) -> Selection:
    """Return what the checked parameters of a selection ask for.

    `params` has the names of the schemas above: `post_fields`, `expansions` and so on.
    """
    asked = [tuple(params.get(name) or ()) for name in _SELECTING]
    return _select(*asked, links=links)


@lru_cache(500)
def _select(
    expansions: tuple[str, ...],
    posts: tuple[str, ...],
    older: tuple[str, ...],
    users: tuple[str, ...],
    *others: tuple[str, ...],
    links: Links | None,
) -> Selection:
    """Return the selection of what `_SELECTING` asks for; a program asks for the same each time."""
    followed = {name.partition(".")[0] for name in expansions}
    asked = {
        "post": {*posts, *older, *(followed & set(POST_FIELDS))},
        "user": {*users, *(followed & _FOLLOWED_BY_USERS)},
        **dict(zip(("media", "poll", "place"), map(set, others), strict=True)),
    }
    found = {kind: default | asked[kind] for kind, default in _DEFAULTS.items()}
    return Selection(**found, expansions=frozenset(expansions), links=links)


PARTIAL_ERRORS = public_fact(
    "v2.partial-errors",
    "What is missing among several posts or users, or what an expansion does not find, is named in "
    "errors of a 200; the rest is in data. A single missing one answers 404 with the problem at "
    "the top and once more in errors. A suspended user is missing with the title Forbidden and the "
    "detail User has been suspended; a deactivated one like any other. What several posts refer to "
    "and an expansion does not find is named once for each. With --wire recorded a post's mentions "
    "and the user it replies to are not shown of protected users whom the caller does not follow.",
    "section 7.2 of the named endpoints, a missing one among several; all of v2, section 1.3",
)
_ASKED_FOR = {"id", "ids", "media_key", "media_keys"}


class PostAnswer(Struct):
    """What an answer consists of, while it is put together.

    `viewer_id` is the user who asks, if one does.
    """

    world: World
    selection: Selection
    base_url: str
    viewer_id: str | None = None
    hides_protected: bool = False
    """Whether expansions leave out protected users whom the caller does not follow."""
    data: list[dict[str, Any]] = field(default_factory=list)
    includes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)

    def add_posts(self, posts: Iterable[Record]) -> None:
        """Add posts to the data, and to the includes what the expansions ask for."""
        world, wanted, links = self.world, self.selection.post, self.selection.links
        has_private = not wanted.isdisjoint(PRIVATE_METRICS)
        for post in posts:
            shown = show_post(world, post, wanted, links)
            if has_private:
                private, hidden = find_private_metrics(world, post, wanted, self.viewer_id)
                shown |= private
                self._add_error(*hidden)
            self.data.append(shown)
            if self.selection.expansions:
                self._expand_post(post)

    def add_users(self, users: Iterable[Record]) -> None:
        """Add users to the data, and to the includes what the expansions ask for."""
        for user in users:
            self.data.append(self._select_user(user))
            if self.selection.expansions:
                self._expand_user(user)

    def add_media(self, media: Record) -> None:
        """Add media to the data."""
        self.data.append(self._show_media(media, "data"))

    def add_missing(self, kind: str, parameter: str, value: str) -> None:
        """Add the error for a post, user, medium or place that does not exist."""
        self._add_absence(find_nothing(kind, parameter, value))

    def add_hidden_post(self, parameter: str, value: str) -> None:
        """Add the error for a post that the caller may not see."""
        self._add_absence(hide_record(parameter, value))

    def find_shown(self, user: Record | None, parameter: str, value: str) -> Record | None:
        """Return a user who can be shown; of another one add the error."""
        absence = find_absence(user, parameter, value)
        if absence is None:
            return user
        self._add_absence(absence)
        return None

    def parts(self) -> dict[str, Any]:
        """Return `includes` and `errors`, each only if there are some."""
        shown: dict[str, Any] = {}
        if self.includes:
            shown["includes"] = {
                name: list(found.values()) for name, found in self.includes.items()
            }
        if self.errors:
            shown["errors"] = self.errors
        return shown

    def show_one(self) -> dict[str, Any]:
        """Return the answer with the only object, and what it refers to."""
        return {"data": self.data[0], **self.parts()}

    def show_all(self, **parts: Any) -> dict[str, Any]:
        """Return the answer with all objects and what they refer to; `parts` come behind."""
        return show_list(self.data, **self.parts(), **parts)

    def _select_user(self, user: Record) -> dict[str, Any]:
        wanted = self.selection
        return select_user(
            self.world, user, wanted.user, viewer_id=self.viewer_id, links=wanted.links
        )

    def _show_media(self, media: Record, section: str = "includes") -> dict[str, Any]:
        wanted, viewer = self.selection.media, self.viewer_id
        own = viewer is not None and may_use(self.world, viewer, media)
        if not own:
            self._add_error(*refuse_private_fields("media", media["media_key"], wanted, section))
        return show_media(self.world, media, wanted, private=own)

    def _add_absence(self, absence: Problem) -> None:
        """Add the error for what cannot be shown: once for each object that refers to it."""
        self.errors.append(absence.as_item(self.base_url))

    def _add_error(self, *found: Problem) -> None:
        shown = [each.as_item(self.base_url) for each in found]
        self.errors += [each for each in shown if each not in self.errors]

    def _expand_post(self, post: Record) -> None:
        wanted = self.selection.expansions
        if "author_id" in wanted:
            self.include_user("author_id", post["_user_id"])
        if "in_reply_to_user_id" in wanted and post.get("in_reply_to_user_id_str"):
            self.include_user("in_reply_to_user_id", post["in_reply_to_user_id_str"])
        if wanted & _MENTIONS:
            self._include_mentioned(post)
        if "attachments.media_keys" in wanted:
            self.include_media(post)
        if "attachments.media_source_post" in wanted:
            for each in post.get("_media_source_post_ids") or ():
                self.include_post("attachments.media_source_post", each)
        if "article.cover_media" in wanted and post.get("_article_id"):
            self._include_cover(post["_article_id"])
        if "attachments.poll_ids" in wanted and post.get("_poll"):
            shown = show_poll(self.world, post, self.selection.poll)
            self._include("polls", post["_poll"]["id"], shown)
        if "geo.place_id" in wanted and (post.get("place") or {}).get("id"):
            shown = show_place(post["place"], self.selection.place)
            self._include("places", post["place"]["id"], shown)
        if "edit_history_post_ids" in wanted:
            for each in list_versions(post):
                self.include_post("edit_history_post_ids", each)
        self._expand_references(post)

    def _expand_references(self, post: Record) -> None:
        wanted = self.selection.expansions
        if not any(name.startswith("referenced_posts") for name in wanted):
            return
        for target in find_references(post).values():
            referenced = self.include_post("referenced_posts.id", target)
            if referenced is None:
                continue
            if "referenced_posts.id.author_id" in wanted:
                self.include_user("referenced_posts.id.author_id", referenced["_user_id"])
            if "referenced_posts.id.attachments.media_keys" in wanted:
                self.include_media(referenced)

    def _expand_user(self, user: Record) -> None:
        wanted = self.selection.expansions
        if "pinned_post_id" in wanted and user.get("pinned_post_id"):
            self.include_post("pinned_post_id", user["pinned_post_id"])
        if "most_recent_post_id" in wanted:
            newest = find_newest_post(self.world, user["id"])
            if newest is not None:
                self.include_post("most_recent_post_id", newest["id_str"])
        if wanted & {"affiliation", "affiliation.user_id"}:
            for each in (user.get("affiliation") or {}).get("user_id") or ():
                self.include_user("affiliation.user_id", each)

    def include_post(self, parameter: str, post_id: str) -> Record | None:
        """Add a post to the includes, or the error if it cannot be shown; return the post."""
        post = self.world.store.get("posts", post_id)
        if post is None:
            self.add_missing("post", parameter, post_id)
        elif not may_see(self.world, post, self.viewer_id):
            self.add_hidden_post(parameter, post_id)
            return None
        elif not self._includes("posts", post_id):
            wanted = self.selection
            self._include("posts", post_id, show_post(self.world, post, wanted.post, wanted.links))
        return post

    def include_user(self, parameter: str, user_id: str) -> None:
        """Add a user to the includes, or the error if the user cannot be shown."""
        self._include_user(parameter, user_id, self.world.store.get("users", user_id))

    def _include_user(self, parameter: str, value: str, user: Record | None) -> None:
        shown = self.find_shown(user, parameter, value)
        hides = self.hides_protected and parameter in _NAMED
        if shown is not None and hides and not may_see_posts_of(self.world, shown, self.viewer_id):
            self._add_absence(hide_record(parameter, value, "user"))
        elif shown is not None and not self._includes("users", shown["id"]):
            self._include("users", shown["id"], self._select_user(shown))

    def _include_mentioned(self, post: Record) -> None:
        mentions = (post.get("entities") or {}).get("user_mentions") or ()
        for name in dict.fromkeys(str(each.get("screen_name") or "") for each in mentions):
            self._include_user("entities.mentions.username", name, find_user(self.world, name))

    def _include_cover(self, article_id: str) -> None:
        article = self.world.store.get("articles", article_id)
        key = None if article is None else article.get("_cover_key")
        media = None if key is None else find_any_media(self.world, key)
        if media is not None:
            self._include("media", media["media_key"], self._show_media(media))

    def include_media(self, post: Record) -> None:
        """Add the media of a post or message to the includes, or the errors for what is missing."""
        for key in post.get("_media_keys") or ():
            media = find_any_media(self.world, key)
            if media is None:
                self.add_missing("media", "attachments.media_keys", key)
            else:
                self._include("media", key, self._show_media(media))

    def _includes(self, name: str, key: str) -> bool:
        """Return whether something is there already: many posts of a page have one author."""
        return key in self.includes.get(name, ())

    def _include(self, name: str, key: str, shown: dict[str, Any]) -> None:
        self.includes.setdefault(name, {}).setdefault(key, shown)


def start_answer(call: Call, world: World) -> PostAnswer:
    """Return an empty answer for the caller of a call, with the selection that was asked for."""
    selection = read_selection(call.params, find_links(call))
    hides = call.wire == "recorded"
    return PostAnswer(world, selection, call.base_url, get_viewer_id(call), hides)


def get_viewer_id(call: Call) -> str | None:
    """Return the id of the user who looks; `None` with a bearer token, as for a stranger."""
    user = call.caller.user if call.caller.scheme != "bearer" else None
    return None if user is None else user["id"]


def collect(
    call: Call,
    answer: PostAnswer,
    kind: Literal["post", "user"],
    parameter: str,
    find: Callable[[str], Record | None],
) -> None:
    """Add what a parameter names to an answer, or the errors for what cannot be shown.

    What it names twice is shown once, a name in another case too.
    """
    found = {value: find(value) for value in call.params[parameter]}
    named: set[Any] = set()
    for value, record in found.items():
        if record is not None and record["id"] in named:
            continue
        named |= set() if record is None else {record["id"]}
        if kind == "user":
            shown = answer.find_shown(record, parameter, value)
            answer.add_users([] if shown is None else [shown])
        elif record is None:
            answer.add_missing(kind, parameter, value)
        elif may_see(answer.world, record, answer.viewer_id):
            answer.add_posts([record])
        else:
            answer.add_hidden_post(parameter, value)
    if answer.errors:
        call.assume(PARTIAL_ERRORS)


def hide_record(parameter: str, value: str, kind: str = "post") -> Problem:
    """Return the problem that the caller may not see a post, or another `kind` of record."""
    return problem(
        "not-authorized-for-resource",
        detail=not_authorized_to_see(kind, parameter, value),
        value=value,
        resource_id=value,
        resource_type=kind,
        section="data" if parameter in _ASKED_FOR else "includes",
        parameter=parameter,
    )
