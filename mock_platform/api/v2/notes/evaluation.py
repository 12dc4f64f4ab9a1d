"""Community notes: who may write them, how a text is scored, and its evaluation before writing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    declare_named,
    forbid,
    limit_users,
    make_id_field,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.objects.post_text import weigh_text
from mock_platform.api.v2.release_history import find_release
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Number, Text
from mock_platform.core.operation import Example, Origin
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

NOTE_SHAPES = public_fact(
    "notes.shapes",
    "The endpoints of community notes have their public shapes; the spec only names them. Notes "
    "with test_mode and real notes are separate.",
    "section 8.3 of the named endpoints",
    gap=True,
)
NOTE_WRITERS = public_fact(
    "notes.writer",
    "Only users who are API note writers (_note_writer) may use the endpoints of notes; others "
    "get 403 about:blank.",
    "section 8.3 of the named endpoints, refusals",
)
NOTE_TEXT = expectation(
    "notes.text",
    "A note has 1 to 280 characters and an address; its length is counted as that of a post, so "
    "an address counts 23.",
)
NOTE_SCORE = expectation(
    "notes.score",
    "The score of a note, from 0 to 1, follows from its text, its post and the seed of the world: "
    "the same note always has the same one. A note of test mode has it as its test_result, Low "
    "below a third, High from two thirds on.",
)
MOST_CHARACTERS = 280
_URL = re.compile(r"https?://\S+")
_BUCKETS = ("Low", "Medium", "High")


def require_writer(call: Call, _world: World) -> None:
    """Require that the caller is an API note writer.

    Raises:
        ProblemFailure: The user may not write notes (403 about:blank).
    """
    user = call.caller.user
    if user is None or not user.get("_note_writer"):
        raise forbid("User must be an API Note Writer to access this endpoint.", NOTE_WRITERS)


def find_text_faults(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the text of a note."""
    weight = weigh_text(text)
    if not 1 <= weight <= MOST_CHARACTERS:
        yield name, f"{name} must have 1 to {MOST_CHARACTERS} characters, got {weight}"
    if _URL.search(text) is None:
        yield name, f"{name} must contain an address that begins with https:// or http://"


def find_post_faults(world: World, name: str, post_id: str) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the post that a note is about."""
    if world.store.get("posts", post_id) is None:
        yield name, f"{name}: no post has the id {post_id}"


def score_note(world: World, post_id: str, text: str) -> float:
    """Return the score of a note (`notes.score`)."""
    return round(world.ids.fraction("note", post_id, text), 4)


def evaluate_test_note(world: World, post_id: str, text: str) -> dict[str, Any]:
    """Return the result of a note of test mode."""
    score = score_note(world, post_id, text)
    bucket = _BUCKETS[min(2, int(score * len(_BUCKETS)))]
    return {"evaluator_type": "ClaimOpinion", "evaluator_score_bucket": bucket}


def find_note(world: World, user: Record, post_id: str, *, test_mode: bool) -> Record | None:
    """Return the note that a user wrote for a post, `None` if they wrote nothing."""
    match = {"_user_id": user["id"], "post_id": post_id, "_test_mode": test_mode}
    return world.store.first("notes", match)


class NoteToEvaluate(Schema):
    """The text of a note, and the post that it is about."""

    note_text = Text(required=True)
    post_id = make_id_field(required=True)


EvaluationAnswer = wrap_data(
    "EvaluationAnswer", "_Score", claim_opinion_score=Number(required=True)
)


def find_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the text and the post."""
    if "note_text" in params:
        yield from find_text_faults("note_text", params["note_text"])
    if "post_id" in params:
        yield from find_post_faults(world, "post_id", params["post_id"])


def evaluate(call: Call, world: World) -> dict[str, Any]:
    """Score the text of a note; nothing is stored."""
    score = score_note(world, call.params["post_id"], call.params["note_text"])
    return {"data": {"claim_opinion_score": score}}


_declare = partial(
    declare_named,
    handler=evaluate,
    summary="Score the text of a community note",
    params=NoteToEvaluate,
    rules=find_faults,
    gates=(require_writer,),
    returns=EvaluationAnswer,
    auth=Auth(ANY_USER, scopes=("post.write",)),
    errors=("invalid-request", "about:blank"),
    assumptions=(NOTE_SHAPES, NOTE_SCORE, NOTE_TEXT),
    may_assume=(NOTE_WRITERS,),
    example=Example(
        json={
            "note_text": "Opened in May: https://northbike.example/lanes",
            "post_id": "1712850617439551496",
        }
    ),
)
OPERATIONS = (
    _declare(
        "evaluate_note.create",
        "POST /2/evaluate_note",
        spec="Versioning: 2025-09-17",
        since=find_release("evaluate-note").effective,
        limit=limit_users("evaluate_note.create", 90),
    ),
    _declare(
        "notes.evaluate",
        "POST /2/notes/evaluate",
        spec="Not shown in the specification",
        origin=Origin.PUBLIC_FACT,
        since=start_on("2026-08-07"),
    ),
)
