from __future__ import annotations

from pathlib import Path

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS, SPEC_SENTENCES
from mock_platform.control.examples import sample
from mock_platform.core.assumptions import find_sentence
from mock_platform.core.envelope import Lines
from tests.support import Sandbox, sandbox
from tests.test_kept_worlds import NOON

_COPIES = Path(__file__).parents[1] / "spec"
INTRODUCTIONS = (
    "Campaign management: ad accounts, apps, account history, business categories, curated "
    "categories, account features, line items, placements",
    "The brand word inside identifiers is replaced by the neutral word 'platform'",
    "Subscriptions filter by user ID, optionally by keyword",
    "Release history items that fix behavior",
)
"""Sentences of the documents that the copies in `tests/spec/` do not have as rows."""


def test_every_assumption_completes_a_sentence(box: Sandbox) -> None:
    """Each has a sentence, and each sentence belongs to an assumption."""
    ids = list(box.platform.assumptions())

    assert [] == [each for each in ids if not find_sentence(SPEC_SENTENCES, each)]
    parts = {each.partition(".")[0] for each in ids}
    assert set() == set(SPEC_SENTENCES) - set(ids) - parts


def test_sentences_are_those_of_the_specification() -> None:
    """Each is in a document, word by word."""
    texts = [file.read_text("utf-8") for file in sorted(_COPIES.glob("document_*.yaml"))]
    known = " ".join(" ".join(texts).replace("''", "'").split())

    found = set(SPEC_SENTENCES.values())
    assert set() == {each for each in found if each not in known} - set(INTRODUCTIONS)


def test_the_page_shows_the_sentence(box: Sandbox) -> None:
    """Beside the assumption, and programs get it too."""
    page = box.client.get("/_mock/console/assumptions?q=replay.window").text

    sentence = "events from up to the past 24 hours"
    assert f"<q>{sentence}</q>" in page
    listed = box.client.get("/_mock/assumptions").get_json()["assumptions"]
    assert sentence == next(e for e in listed if e["id"] == "replay.window")["completes"]


def test_what_answers_rest_on_is_declared() -> None:
    """Each assumption of an answer is one of its operation, or of all: then none declares it."""
    box = sandbox(limits="off", freeze=NOON)
    known = credentials(box.world)
    listed = {each: {one.id for one in each.all_assumptions} for each in OPERATIONS}
    of_some = set().union(*listed.values())
    missing = set()
    for operation, declared in listed.items():
        if isinstance(operation.returns, Lines):
            continue
        try:
            asked = sample(operation, known)
        except LookupError:
            continue
        answer = box.client.open(
            asked.path, method=asked.method, headers=asked.headers, data=asked.body
        )
        if operation.method != "GET":
            box.world.reset()  # it may have ended the credentials
        named = answer.headers.get("X-Mock-Assumptions", "").split(",")
        if answer.status_code < 300:
            missing |= {(operation.id, each) for each in named if each in of_some - declared}
    assert set() == missing
