from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.search.matching import (
    RuleSelection,
    compile_rule,
    explain,
    find_failed_clauses,
)
from mock_platform.api.v2.search.operators import OPERATORS, Product
from mock_platform.api.v2.search.query import Node, read_rule, spell
from mock_platform.api.v2.search.subjects import Subject

USERS = {
    "1": {"id": "1", "username": "Harbor_Roasters", "verified": True},
    "2": {"id": "2", "username": "northbike", "verified": False},
}
POSTS = {
    "90": {"id": "90", "text": "Nothing beats a flat white", "author_id": "2"},
    "91": {"id": "91", "text": "Original", "author_id": "2"},
}
POST: dict[str, Any] = {
    "id": "100",
    "text": "Cold-brew coffee at the café ☕ #ColdBrew $HRBR @northbike https://t.example/a",
    "author_id": "1",
    "conversation_id": "95",
    "in_reply_to_user_id": "2",
    "lang": "en",
    "referenced_posts": [{"type": "replied_to", "id": "95"}, {"type": "quoted", "id": "90"}],
    "entities": {
        "hashtags": [{"tag": "ColdBrew"}],
        "cashtags": [{"tag": "HRBR"}],
        "mentions": [{"username": "northbike", "id": "2"}],
        "urls": [{"url": "https://t.example/a", "expanded_url": "https://shop.example/cold-brew"}],
    },
    "attachments": {"media_keys": ["3_1", "7_2"]},
    "geo": {"place_id": "x"},
    "public_metrics": {"like_count": 5, "reply_count": 2, "repost_count": 0},
}
REPOST: dict[str, Any] = {
    "id": "101",
    "text": "RT @northbike: Original",
    "author_id": "1",
    "referenced_posts": [{"type": "reposted", "id": "91"}],
    "nullcast": True,
}


def subject(post: dict[str, Any] = POST, product: Product = "stream") -> Subject:
    """A post as rules see it."""
    return Subject(post, product, USERS, POSTS)


def tree(rule: str, product: Product = "stream") -> Node:
    """A rule that must be sound."""
    checked = read_rule(rule, product)
    assert checked.tree is not None, checked.faults
    return checked.tree


MATCHING = [
    "coffee", "COFFEE", "cold", "coldbrew", "cold-brew", '"coffee at the"', "café", "☕",
    '"coffee café"~3', '"café coffee"~3', "#coldbrew", "$hrbr", "@NorthBike", "white",
    '"a flat white"', "from:harbor_roasters", "from:@harbor_roasters", "from:1", "to:northbike",
    "to:2", 'url:"https://shop.example"', "url:shop.example", "url:cold-brew", "conversation_id:95",
    "in_reply_to_post_id:95", "coffee is:reply", "coffee is:quote", "coffee is:verified",
    "coffee -is:nullcast", "coffee has:hashtags", "coffee has:cashtags", "coffee has:links",
    "coffee has:mentions", "coffee has:media", "coffee has:images", "coffee has:video_link",
    "coffee has:geo", "coffee lang:EN", "coffee sample:100", "coffee -tea", "tea OR coffee",
    "(tea OR coffee) cold", "coffee -(tea OR milk)", "bio:coffee OR coffee",
]  # fmt: skip
"""Rules of the stream that match the post, of which `white` is in the one that it quotes."""
OTHERS = [
    "tea", "brew-cold", '"coffee the"', "cafe", "😡", '"coffee café"~2', "#cold", "$hrb", "@north",
    '"a nothing"', "from:northbike", "to:1", "reposts_of:northbike", "url:shop-example-tea",
    "conversation_id:96", "in_reply_to_post_id:90", "reposts_of_post_id:91", "coffee is:repost",
    "coffee lang:de", "coffee -café", "tea OR coffee milk", "coffee -(tea OR cold)", "bio:coffee",
]  # fmt: skip
"""Rules that do not match it; a phrase does not reach across the two texts."""
TRUTHS = [*((rule, True) for rule in MATCHING), *((rule, False) for rule in OTHERS)]


@pytest.mark.parametrize("product", ["stream", "search"])
def test_the_beginning_of_a_conversation(product: Product) -> None:
    """conversation_id finds the replies, not the post that they answer."""
    matches = compile_rule(tree("conversation_id:95", product), product)
    assert matches(subject(product=product))
    assert not matches(subject(POST | {"id": "95"}, product))


@pytest.mark.parametrize(("rule", "matches"), TRUTHS)
def test_stream(rule: str, matches: bool) -> None:
    """Each operator matches what it should in a stream, and nothing else."""
    assert matches == compile_rule(tree(rule), "stream")(subject())


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        ("cafe", True),
        ("café", True),
        ("white", False),  # searches do not look into quoted posts
        ("quotes_of_post_id:90", True),
        ("quotes_of_post_id:91", False),
        ("min_likes:5", True),
        ("min_likes:6", False),
        ("min_replies:2", True),
        ("min_replies:3", False),
        ("min_reposts:0", True),
        ("min_reposts:1", False),
    ],
)
def test_search(rule: str, matches: bool) -> None:
    """Searches ignore diacritics, know counts, and match a post's own text alone."""
    assert matches == compile_rule(tree(rule, "search"), "search")(subject(product="search"))


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        ("reposts_of:northbike", True),
        ("reposts_of:2", True),
        ("reposts_of:1", False),
        ("reposts_of_post_id:91", True),
        ("original is:repost", True),
        ("original -is:nullcast", False),
        ("original has:links", False),
        ("@northbike", True),  # from the text, where a post lists no entities
    ],
)
def test_reposts(rule: str, matches: bool) -> None:
    """Reposts are found by the post and its author; promoted-only posts can be left out."""
    assert matches == compile_rule(tree(rule), "stream")(subject(REPOST))


def test_every_evaluated_operator_is_in_the_table() -> None:
    """The tables above hold each operator once with a match and once without."""
    shown = " ".join(rule for rule, _ in TRUTHS) + " quotes_of_post_id: min_likes: min_replies:"
    shown += " min_reposts: list:"
    evaluated = {name for name, each in OPERATORS.items() if each.available and each.evaluated}
    assert set() == {name for name in evaluated if f"{name}:" not in shown}


def test_sample_repeats() -> None:
    """A sample lets the same posts through in each run, about as many as it says."""
    rule = tree("cat sample:30")

    def chosen() -> list[str]:
        match = compile_rule(rule, "stream", sample_key="0:7")
        posts = [{"id": str(number), "text": "cat"} for number in range(1000)]
        return [post["id"] for post in posts if match(subject(post))]

    assert chosen() == chosen()
    assert 250 < len(chosen()) < 350


def test_explanation() -> None:
    """An explanation names each part with its text, its position and whether it matches."""

    def part(text: str, matches: bool, kind: str, position: int = 0, **more: Any) -> Any:
        at = {"position": position} if position else {}
        return {"text": text, "matches": matches, "kind": kind} | at | more

    words = [part("tea", False, "word", 10), part("cold", True, "word", 17)]
    either = part("tea OR cold", True, "or", terms=words)
    neither = part("-(tea OR cold)", False, "not", 8, terms=[either])
    whole = part(
        "coffee -(tea OR cold)", False, "and", terms=[part("coffee", True, "word", 1), neither]
    )

    assert whole == explain(tree("coffee -(tea OR cold)"), subject())


@pytest.mark.parametrize(
    ("rule", "failed"),
    [("coffee", []), ("coffee tea milk", ["tea", "milk"]), ("tea OR milk", ["tea", "milk"]),
     ("coffee -cold", ["-cold"]), ("coffee (tea OR milk) lang:de", ["tea", "milk", "lang:de"])],
)  # fmt: skip
def test_failed_clauses(rule: str, failed: list[str]) -> None:
    """The clauses that keep a rule from matching are named, and no others."""
    assert failed == [spell(node) for node in find_failed_clauses(tree(rule), subject())]


def test_selection() -> None:
    """Many rules at once match as each by itself, in the order in which they were added."""
    rules = [(rule, tree(rule), "") for rule, _ in TRUTHS]
    selection = RuleSelection(rules, "stream")

    assert [rule for rule, matches in TRUTHS if matches] == selection.matching(subject())
    assert [
        rule for rule, node, _ in rules if compile_rule(node, "stream")(subject(REPOST))
    ] == selection.matching(subject(REPOST))
