"""The evaluation of a note before it is written (document A, release history, 2025-09-17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Nested, Number, Text
from mock_platform.core.named import declare_named, limit_users
from mock_platform.core.operation import Location
from mock_platform.core.schema import Schema
from mock_platform.rules.notes import (
    EVALUATION_SINCE,
    SCORE,
    SHAPES,
    TEXT,
    WRITER,
    find_post_faults,
    find_text_faults,
    require_writer,
    score_note,
)
from mock_platform.settings import Settings
from mock_platform.world.world import World


class NoteToEvaluate(Schema):
    """The text of a note, and the post that it is about."""

    note_text = Text(required=True)
    post_id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")


class _Score(Schema):
    claim_opinion_score = Number(required=True)


class EvaluationAnswer(Schema):
    """How a note's text was scored."""

    data = Nested(_Score, required=True)


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


OPERATIONS = (
    declare_named(
        "evaluate_note.create",
        "POST",
        "/2/evaluate_note",
        evaluate,
        also=("/2/notes/evaluate",),
        summary="Score the text of a community note",
        spec="Versioning: 2025-09-17",
        params=NoteToEvaluate,
        location=Location.JSON,
        rules=find_faults,
        gates=(require_writer,),
        since=EVALUATION_SINCE,
        returns=Flat(EvaluationAnswer),
        auth=Auth(("oauth1", "oauth2"), scopes=("post.write",)),
        limit=limit_users("evaluate_note.create", 90),
        errors=("invalid-request", "about:blank"),
        statuses=(400, 403),
        assumptions=(SHAPES, SCORE, TEXT),
        may_assume=(WRITER,),
    ),
)
