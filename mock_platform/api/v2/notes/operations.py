"""Community notes: written, deleted and listed by the users who may write them.

Document A names the endpoints (release history, 2025-07-08); the shapes are public facts (named
endpoints, section 8.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from marshmallow import fields

from mock_platform.api.v2.conventions import (
    PAGES,
    declare_named,
    find_nothing,
    limit_users,
    make_token_field,
    take_page,
)
from mock_platform.api.v2.notes.evaluation import (
    NOTES_SINCE,
    SCORE,
    SHAPES,
    TEXT,
    WRITER,
    evaluate_test_note,
    find_note,
    find_post_faults,
    find_text_faults,
    require_writer,
)
from mock_platform.api.v2.objects.answers import (
    PARTIAL,
    SELECTION,
    PostSelectionQuery,
    may_see,
    read_selection,
    start_answer,
)
from mock_platform.api.v2.objects.user_view import NEWEST_FIRST
from mock_platform.api.v2.posts.creation import refuse
from mock_platform.api.v2.usage.counting import COUNTED, count_posts
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import InvalidParameters, ProblemFailure
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import Limit, Location
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ONCE = expectation(
    "notes.once",
    "A second note of a user for a post is refused with 400 and the public message; a note of "
    "test mode and a real one do not count for each other.",
)
ELIGIBLE = expectation(
    "notes.eligible",
    "Posts are eligible for a note of a user who did not write them and has none for them in that "
    "mode, if everybody sees them. A feed has the newest 100 posts in the language (small), 1,000 "
    "(large), 10,000 (xl) or all (xxl).",
)
FIELDS = expectation(
    "notes.fields",
    "Without note.fields a note has its id and its post_id; with it, also what was asked for. "
    "A new note needs more ratings.",
)
CLASSIFICATIONS = ("misinformed_or_potentially_misleading", "not_misleading")
MISLEADING_TAGS = (
    "disputed_claim_as_fact", "factual_error", "manipulated_media", "misinterpreted_satire",
    "missing_important_context", "other", "outdated_information",
)  # fmt: skip
STATUSES = (
    "currently_rated_helpful", "currently_rated_not_helpful", "firm_reject",
    "insufficient_consensus", "minimum_ratings_not_met", "needs_more_ratings", "needs_your_help",
)  # fmt: skip
NOTE_FIELDS = ("id", "info", "scoring_status", "status", "test_result")
_FEED_SIZES = {"small": 100, "large": 1000, "xl": 10_000, "xxl": None}
_SELECTION = re.compile(r"feed_(size|lang)\s*:\s*([A-Za-z-]{1,10})")
_DAY = 86_400


class NoteInfo(Schema):
    """What a note says."""

    text = Text(required=True)
    classification = Choice(CLASSIFICATIONS, required=True)
    misleading_tags = ListOf(Choice(MISLEADING_TAGS), required=True)
    trustworthy_sources = Flag(required=True)
    is_media_note = Flag()


class NoteRecord(Schema):
    """A note of a user (`_user_id`) for a post; `_test_mode` says to which set it belongs."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    post_id = Text(required=True)
    info = Nested(NoteInfo, required=True)
    status = Choice(STATUSES, load_default="needs_more_ratings")
    scoring_status = Json(load_default=lambda: {"has_access": False})
    test_result = Json(load_default=None, allow_none=True)
    created_at = Instant(millis=True, required=True)
    _user_id = Text(required=True)
    _test_mode = Flag(load_default=True)


class NewNote(Schema):
    """A note to write."""

    test_mode = Flag(required=True)
    post_id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    info = Nested(NoteInfo, required=True)


class _ListQuery(Schema):
    test_mode = Flag(required=True)
    max_results = Integer(low=1, high=100, load_default=10)
    pagination_token = make_token_field()


class WrittenQuery(_ListQuery):
    """Which notes to list, and what of them."""

    note_fields = CommaList(Choice(NOTE_FIELDS), data_key="note.fields")


class EligibleQuery(_ListQuery, PostSelectionQuery):
    """From which posts to list those without a note, and what of them."""

    post_selection = Text(min_length=1)


class _NoteId(Schema):
    id = Text(required=True)


class WrittenNoteAnswer(Schema):
    """The id of a new note."""

    data = Nested(_NoteId, required=True)


class _DeletedNote(Schema):
    deleted = Flag(required=True)


class DeletedNoteAnswer(Schema):
    """The answer of a deletion."""

    data = Nested(_DeletedNote, required=True)


class _TestResult(Schema):
    evaluator_type = Text()
    evaluator_score_bucket = Text()


class _Note(Schema):
    id = Text(required=True)
    post_id = Text(required=True)
    info = Nested(NoteInfo)
    status = Choice(STATUSES)
    scoring_status = fields.Dict()
    test_result = Nested(_TestResult)


class _Meta(Schema):
    component_name: ClassVar = "Notes_Meta"
    result_count = Integer(required=True)
    next_token = Text()


class NotesPage(Schema):
    """A page of notes."""

    data = ListOf(Nested(_Note))
    meta = Nested(_Meta, required=True)


class _PostsMeta(_Meta):
    newest_id = Text()
    oldest_id = Text()


class EligiblePostsPage(Schema):
    """A page of posts, and what they refer to."""

    data = ListOf(fields.Dict())
    includes = fields.Dict()
    errors = ListOf(fields.Dict())
    meta = Nested(_PostsMeta, required=True)


def find_note_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with a note."""
    info = params.get("info", {})
    if "text" in info:
        yield from find_text_faults("info.text", info["text"])
    tags, classification = info.get("misleading_tags"), info.get("classification")
    if classification == CLASSIFICATIONS[0] and tags == []:
        yield "info.misleading_tags", f"misleading_tags needs at least one for {classification}"
    elif classification == CLASSIFICATIONS[1] and tags:
        yield "info.misleading_tags", f"misleading_tags must be empty for {classification}"
    if "post_id" in params:
        yield from find_post_faults(world, "post_id", params["post_id"])


def find_selection_faults(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with `post_selection`."""
    text = params.get("post_selection")
    if text is None:
        return
    parts = [_SELECTION.fullmatch(part.strip()) for part in text.split(",")]
    names = [part[1] for part in parts if part is not None]
    sizes = [part[2] for part in parts if part is not None and part[1] == "size"]
    if None in parts or len(names) != len(set(names)) or not set(sizes) <= _FEED_SIZES.keys():
        allowed = ", ".join(_FEED_SIZES)
        yield (
            "post_selection",
            f"post_selection takes one feed_size ({allowed}) and one feed_lang (a language such as "
            f"en, or all), such as 'feed_size: large, feed_lang: en', got {text!r}",
        )


def create(call: Call, world: World) -> dict[str, Any]:
    """Write a note for a post."""
    user, params = _get_user(call), call.params
    post_id, test_mode = params["post_id"], params["test_mode"]
    if find_note(world, user, post_id, test_mode=test_mode) is not None:
        call.assume(ONCE)
        text = "User already created a note for this post."
        raise InvalidParameters([("post_id", text)], params)
    result = evaluate_test_note(world, post_id, params["info"]["text"]) if test_mode else None
    note = {
        "id": world.ids.snowflake(),
        "post_id": post_id,
        "info": params["info"],
        "status": "needs_more_ratings",
        "scoring_status": {"has_access": False},
        "test_result": result,
        "created_at": wire_millis(world.clock.now()),
        "_user_id": user["id"],
        "_test_mode": test_mode,
    }
    world.store.put("notes", note["id"], note)
    return {"data": {"id": note["id"]}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a note of the caller."""
    note_id = call.path_params["id"]
    note = world.store.get("notes", note_id)
    if note is None:
        value = find_nothing("note", "id", note_id, repeated=True, resource_type="post")
        raise ProblemFailure(value, PARTIAL)
    if note["_user_id"] != _get_user(call)["id"]:
        raise refuse("You are not authorized to delete this note.")
    world.store.remove("notes", note_id)
    return {"data": {"deleted": True}}


def list_written(call: Call, world: World) -> dict[str, Any]:
    """List the caller's notes, newest first."""
    match = {"_user_id": _get_user(call)["id"], "_test_mode": call.params["test_mode"]}
    page = take_page(call, world, "notes", match, order=NEWEST_FIRST)
    wanted = {"id", "post_id", *call.params.get("note_fields", ())}
    data = [
        {name: value for name, value in note.items() if name in wanted and value is not None}
        for note in page.records
    ]
    return {**({"data": data} if data else {}), "meta": page.meta()}


def list_eligible(call: Call, world: World) -> dict[str, Any]:
    """List the posts for which the caller may write a note, newest first."""
    app, user = call.caller.app, _get_user(call)
    assert app is not None
    keys = _find_eligible(call, world, user)
    page = take_page(call, world, "posts", {}, order=NEWEST_FIRST, keys=keys)
    answer = start_answer(call, world, read_selection(call.params))
    answer.add_posts(page.records)
    ids = [post["id_str"] for post in page.records]
    count_posts(world, app, ids)
    ends = {"newest_id": ids[0], "oldest_id": ids[-1]} if ids else {}
    data = {"data": answer.data} if ids else {}
    return {**data, **answer.parts(), "meta": page.meta(**ends)}


def _find_eligible(call: Call, world: World, user: Record) -> list[str]:
    """Return the ids of the posts in the feed for which a user may write a note."""
    chosen = dict(_SELECTION.findall(call.params.get("post_selection", "")))
    language, test_mode = chosen.get("lang", "en").lower(), call.params["test_mode"]

    def is_in_feed(post: Record) -> bool:
        return language in {"all", (post.get("lang") or "en").lower()}

    most = _FEED_SIZES[chosen.get("size", "small")]
    feed = world.store.page("posts", where=is_in_feed, order=NEWEST_FIRST, limit=most)
    return [
        entry.key
        for entry in feed
        if entry.record["_user_id"] != user["id"]
        and not entry.record["nullcast"]
        and may_see(world, entry.record, None)
        and find_note(world, user, entry.key, test_mode=test_mode) is None
    ]


def _get_user(call: Call) -> Record:
    user = call.caller.user
    assert user is not None, "every scheme of these operations establishes a user"
    return user


TABLES = (
    Table(
        "notes",
        NoteRecord,
        references=(Reference("post_id", "posts"), Reference("_user_id", "users")),
    ),
)
_SPEC = "Versioning: 2025-07-08"
_READ = Auth(("oauth1", "oauth2"), scopes=("post.read",))
_WRITE = Auth(("oauth1", "oauth2"), scopes=("post.write",))
OPERATIONS = (
    declare_named(
        "notes.create",
        "POST",
        "/2/notes",
        create,
        summary="Write a community note",
        spec=_SPEC,
        params=NewNote,
        location=Location.JSON,
        rules=find_note_faults,
        gates=(require_writer,),
        since=NOTES_SINCE,
        returns=Flat(WrittenNoteAnswer),
        auth=_WRITE,
        limit=(
            *limit_users("notes.create", 90),
            Limit("notes.create.daily", 250, _DAY, per="user", source="public"),
        ),
        errors=("invalid-request", "about:blank"),
        statuses=(400, 403),
        assumptions=(SHAPES, TEXT, SCORE),
        may_assume=(WRITER, ONCE),
        example=Example(
            json={
                "test_mode": True,
                "post_id": "1712850617439551496",
                "info": {
                    "text": "Opened in May: https://northbike.example/lanes",
                    "classification": "misinformed_or_potentially_misleading",
                    "misleading_tags": ["factual_error"],
                    "trustworthy_sources": True,
                },
            }
        ),
    ),
    declare_named(
        "notes.delete",
        "DELETE",
        "/2/notes/:id",
        delete,
        summary="Delete a community note",
        spec=_SPEC,
        gates=(require_writer,),
        since=NOTES_SINCE,
        returns=Flat(DeletedNoteAnswer),
        auth=_WRITE,
        limit=limit_users("notes.delete", 90),
        errors=("resource-not-found", "about:blank"),
        statuses=(403, 404),
        assumptions=(SHAPES,),
        may_assume=(WRITER, PARTIAL),
    ),
    declare_named(
        "notes.list_written",
        "GET",
        "/2/notes/search/notes_written",
        list_written,
        summary="List the community notes of a user",
        spec=_SPEC,
        params=WrittenQuery,
        gates=(require_writer,),
        since=NOTES_SINCE,
        returns=Flat(NotesPage),
        auth=_READ,
        limit=limit_users("notes.list_written", 90),
        errors=("invalid-request", "about:blank"),
        statuses=(400, 403),
        assumptions=(SHAPES, PAGES, FIELDS),
        may_assume=(WRITER,),
    ),
    declare_named(
        "notes.list_eligible",
        "GET",
        "/2/notes/search/posts_eligible_for_notes",
        list_eligible,
        summary="List posts for which a user may write a community note",
        spec=_SPEC,
        params=EligibleQuery,
        rules=find_selection_faults,
        gates=(require_writer,),
        since=NOTES_SINCE,
        returns=Flat(EligiblePostsPage),
        auth=_READ,
        limit=limit_users("notes.list_eligible", 90),
        errors=("invalid-request", "about:blank", "usage-capped"),
        statuses=(400, 403, 429),
        assumptions=(SHAPES, PAGES, ELIGIBLE, SELECTION, COUNTED),
        may_assume=(WRITER, PARTIAL),
    ),
)
