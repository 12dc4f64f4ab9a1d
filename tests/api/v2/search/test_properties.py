from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mock_platform.api.v2.search.matching import RuleSelection, compile_rule
from mock_platform.api.v2.search.query import (
    And,
    Clause,
    Node,
    Not,
    Or,
    combine,
    parse,
    read_rule,
    spell,
)
from mock_platform.api.v2.search.subjects import Subject

WORDS = ("coffee", "tea", "cold", "brew", "kaffee")
_CLAUSES = st.one_of(
    st.sampled_from(WORDS).map(lambda word: Clause("word", word)),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(
        lambda words: Clause("phrase", " ".join(words))
    ),
    st.sampled_from(WORDS).map(lambda word: Clause("hashtag", word)),
    st.sampled_from(("1", "harbor")).map(lambda name: Clause("operator", name, operator="from")),
    st.sampled_from(("links", "media")).map(lambda name: Clause("operator", name, operator="has")),
)


def _join(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(children, min_size=2, max_size=3)
    return st.one_of(
        several.map(lambda terms: combine(And, terms)),
        several.map(lambda terms: combine(Or, terms)),
        children.filter(lambda node: not isinstance(node, Not)).map(Not),
    )


TREES: st.SearchStrategy[Node] = st.recursive(_CLAUSES, _join, max_leaves=8)
TEXTS = st.lists(st.sampled_from((*WORDS, "#tea", "http")), max_size=8).map(" ".join)
POSTS: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda text, author, media: {
        "id": "5", "text": text, "author_id": author, "attachments": {"media_keys": media},
    },
    TEXTS, st.sampled_from(("1", "2")), st.lists(st.sampled_from(("3_1", "7_2")), max_size=2),
)  # fmt: skip


@given(TREES)
def test_written_rules_are_read_as_they_were(tree: Node) -> None:
    """A tree that is written as a rule and parsed is the same tree."""
    assert tree == parse(spell(tree))


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    """Any text is read: as a rule, or with faults that say what is wrong."""
    checked = read_rule(text, "stream")
    assert (checked.tree is None) == bool(checked.faults)


@given(st.text(alphabet='ab "-()[]:#@$~OR \u00e9\u2615', max_size=30))
def test_no_text_of_the_languages_own_characters_raises(text: str) -> None:
    """The same of texts that look like rules, and what is read can be matched."""
    checked = read_rule(text, "stream")
    if checked.tree is not None:
        compile_rule(checked.tree, "stream")(Subject({"id": "1", "text": "a b"}, "stream", {}, {}))


@given(st.lists(TREES, max_size=6), POSTS)
def test_a_selection_finds_what_each_rule_matches(trees: list[Node], post: dict[str, Any]) -> None:
    """Looking rules up by keys finds neither more nor fewer than evaluating each of them."""
    subject = Subject(post, "stream", {"1": {"username": "harbor"}}, {})
    rules = [(number, tree, "") for number, tree in enumerate(trees)]
    expected = [number for number, tree, _ in rules if compile_rule(tree, "stream")(subject)]
    assert expected == RuleSelection(rules, "stream").matching(subject)
