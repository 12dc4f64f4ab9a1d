"""Community notes: written, deleted and listed by the users who may write them.

Document A names the endpoints (release history, 2025-07-08); the shapes are public facts (named
endpoints, section 8.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from marshmallow import fields

from mock_platform.api.v2.conventions import (
    ANY_USER,
    DAY_SECONDS,
    declare_named,
    find_id_faults,
    forbid,
    get_app,
    get_user,
    get_user_id,
    limit_users,
    make_id_field,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.notes.evaluation import (
    NOTE_SCORE,
    NOTE_SHAPES,
    NOTE_TEXT,
    NOTE_WRITERS,
    evaluate_test_note,
    find_note,
    find_post_faults,
    find_text_faults,
    require_writer,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    PARTIAL_ERRORS,
    ObjectAnswer,
    PostSelectionQuery,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import POST_OBJECT
from mock_platform.api.v2.objects.post_view import is_latest
from mock_platform.api.v2.objects.relations import may_see
from mock_platform.api.v2.objects.users import NEWEST_FIRST
from mock_platform.api.v2.pages import TOKEN_PAGES, PageMeta, make_token_field, show_list, take_page
from mock_platform.api.v2.posts.creation import POST_REFUSALS
from mock_platform.api.v2.prices import NOTE_POST_READ, NOTE_READ
from mock_platform.api.v2.release_history import find_release
from mock_platform.api.v2.usage.counting import COUNTED_ONCE, count_posts
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import InvalidParameters
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
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ONE_NOTE_EACH = expectation(
    "notes.once",
    "A second note of a user for a post is refused with 400 and the public message; a note of "
    "test mode and a real one do not count for each other.",
)
ELIGIBLE_POSTS = expectation(
    "notes.eligible",
    "Posts are eligible for a note of a user who did not write them and has none for them in that "
    "mode, if everybody sees them; reposts and older versions are not. A feed has the newest 100 "
    "posts in the language (small), 1,000 (large), 10,000 (xl) or all (xxl).",
)
USUAL_FIELDS = expectation(
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


class NoteInfo(Schema):
    """What a note says."""

    text = Text(required=True)
    classification = Choice(CLASSIFICATIONS, required=True)
    misleading_tags = ListOf(Choice(MISLEADING_TAGS), required=True)
    trustworthy_sources = Flag(required=True)
    is_media_note = Flag()


class NoteRecord(Schema):
    """A note of a user (`_user_id`) for a post; `_test_mode` says to which set it belongs."""

    id = make_id_field(required=True)
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
    post_id = make_id_field(required=True)
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


WrittenNoteAnswer = wrap_data("WrittenNoteAnswer", "_NoteId", id=Text(required=True))
DeletedNoteAnswer = wrap_data("DeletedNoteAnswer", deleted=Flag(required=True))


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


class _Meta(PageMeta):
    component_name: ClassVar = "Notes_Meta"


class NotesPage(Schema):
    """A page of notes."""

    data = ListOf(Nested(_Note))
    meta = Nested(_Meta, required=True)


class _PostsMeta(_Meta):
    newest_id = Text()
    oldest_id = Text()


class EligiblePostsPage(ObjectAnswer):
    """A page of posts."""

    data = POST_OBJECT.several()
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
    user, params = get_user(call), call.params
    post_id, test_mode = params["post_id"], params["test_mode"]
    if find_note(world, user, post_id, test_mode=test_mode) is not None:
        call.assume(ONE_NOTE_EACH)
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
    note = require_record(call, world, "notes", "note", PARTIAL_ERRORS, resource_type="post")
    if note["_user_id"] != get_user_id(call):
        raise forbid("You are not authorized to delete this note.", POST_REFUSALS)
    world.store.remove("notes", note["id"])
    return {"data": {"deleted": True}}


def list_written(call: Call, world: World) -> dict[str, Any]:
    """List the caller's notes, newest first."""
    match = {"_user_id": get_user_id(call), "_test_mode": call.params["test_mode"]}
    page = take_page(call, world, "notes", match, order=NEWEST_FIRST)
    wanted = {"id", "post_id", *call.params.get("note_fields", ())}
    data = [
        {name: value for name, value in note.items() if name in wanted and value is not None}
        for note in page.records
    ]
    return show_list(data, meta=page.meta())


def list_eligible(call: Call, world: World) -> dict[str, Any]:
    """List the posts for which the caller may write a note, newest first."""
    keys = _find_eligible(call, world, get_user(call))
    page = take_page(call, world, "posts", {}, order=NEWEST_FIRST, keys=keys)
    answer = start_answer(call, world)
    answer.add_posts(page.records)
    ids = [post["id_str"] for post in page.records]
    count_posts(world, get_app(call), ids)
    ends = {"newest_id": ids[0], "oldest_id": ids[-1]} if ids else {}
    return answer.show_all(meta=page.meta(**ends))


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
        and entry.record["_reposted_post_id"] is None
        and is_latest(entry.record)
        and may_see(world, entry.record, None)
        and find_note(world, user, entry.key, test_mode=test_mode) is None
    ]


TABLES = (
    Table(
        "notes",
        NoteRecord,
        references=(Reference("post_id", "posts"), Reference("_user_id", "users")),
    ),
)
_declare = partial(
    declare_named,
    spec="Versioning: 2025-07-08",
    gates=(require_writer,),
    since=find_release("community-notes").effective,
    auth=Auth(ANY_USER, scopes=("post.read",)),
    errors=("invalid-request", "about:blank"),
    may_assume=(NOTE_WRITERS,),
)
_declare_write = partial(_declare, auth=Auth(ANY_USER, scopes=("post.write",)))
OPERATIONS = (
    _declare_write(
        "notes.create",
        "POST /2/notes",
        create,
        "Write a community note",
        params=NewNote,
        rules=find_note_faults,
        returns=WrittenNoteAnswer,
        limit=(
            *limit_users("notes.create", 90),
            *limit_users("notes.create.daily", 250, DAY_SECONDS),
        ),
        assumptions=(NOTE_SHAPES, NOTE_TEXT, NOTE_SCORE),
        may_assume=(NOTE_WRITERS, ONE_NOTE_EACH),
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
    _declare_write(
        "notes.delete",
        "DELETE /2/notes/:id",
        delete,
        "Delete a community note",
        rules=find_id_faults,
        returns=DeletedNoteAnswer,
        limit=limit_users("notes.delete", 90),
        errors=("invalid-request", "resource-not-found", "about:blank"),
        assumptions=(NOTE_SHAPES,),
        may_assume=(NOTE_WRITERS, PARTIAL_ERRORS),
    ),
    _declare(
        "notes.list_written",
        "GET /2/notes/search/notes_written",
        list_written,
        "List the community notes of a user",
        params=WrittenQuery,
        returns=NotesPage,
        limit=limit_users("notes.list_written", 90),
        assumptions=(NOTE_SHAPES, TOKEN_PAGES, USUAL_FIELDS),
        price=NOTE_READ,
    ),
    _declare(
        "notes.list_eligible",
        "GET /2/notes/search/posts_eligible_for_notes",
        list_eligible,
        "List posts for which a user may write a community note",
        params=EligibleQuery,
        rules=find_selection_faults,
        returns=EligiblePostsPage,
        limit=limit_users("notes.list_eligible", 90),
        errors=("invalid-request", "about:blank", "usage-capped"),
        assumptions=(NOTE_SHAPES, TOKEN_PAGES, ELIGIBLE_POSTS, FIELD_SELECTION, COUNTED_ONCE),
        may_assume=(NOTE_WRITERS, PARTIAL_ERRORS),
        price=NOTE_POST_READ,
    ),
)
