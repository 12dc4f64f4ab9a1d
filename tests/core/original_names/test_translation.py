"""Translation by declared name: what is the user's own stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.core.original_names.translation import Pairs, Reading, Spelling

ADS, V2 = ORIGINAL_NAMES.pairs["ads"], ORIGINAL_NAMES.pairs["v2"]
ADS_WORDS, V2_WORDS = Spelling(ADS), Spelling(V2)
DECLARED = frozenset(ADS.names) | frozenset(ADS.values)

TEXT = st.sampled_from(["tweet_id", "post_id", "PROMOTED_POSTS", "ALL_ON_PLATFORM", "x", "posted"])
FIELDS = sorted(set(ADS.values) - {"code"})
LEAVES = st.none() | st.booleans() | st.integers() | TEXT
NEUTRAL_KEYS = st.sampled_from(["name", "text", "id", *ADS.names])


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    chosen = st.sampled_from(FIELDS).flatmap(
        lambda name: st.sampled_from([*ADS.values[name], "OTHER"]).map(lambda v: (name, v))
    )
    return st.tuples(
        st.dictionaries(NEUTRAL_KEYS, inner, max_size=4), st.lists(chosen, max_size=2)
    ).map(lambda parts: {**parts[0], **dict(parts[1])})


BODIES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | _objects(inner))


def _fail(neutral: str, sent: str) -> None:
    pytest.fail(f"{neutral} was there as {sent}")


@given(BODIES)
def test_there_and_back(body: Any) -> None:
    """What is written with original names is read as it was, in the same order and types."""
    reading = Reading(ADS, DECLARED)

    read = reading.read(ADS_WORDS.write(body), _fail)

    assert repr(body) == repr(read)


@given(BODIES)
def test_neutral_names_are_read_as_they_are(body: Any) -> None:
    """A client with neutral names is understood as well."""
    reading = Reading(ADS, DECLARED)

    assert repr(body) == repr(reading.read(body, _fail))


def test_texts_of_the_user_stay() -> None:
    """A name, a text or a free object may contain the words; only declared places change."""
    body = {
        "name": "PROMOTED_POSTS", "text": "posted by tweet_id", "product_type": "PROMOTED_POSTS",
        "entities": {"post_id": 1}, "placements": [["ALL_ON_PLATFORM"], ["PUBLISHER_NETWORK"]],
    }  # fmt: skip

    assert {
        "name": "PROMOTED_POSTS", "text": "posted by tweet_id", "product_type": "PROMOTED_TWEETS",
        "entities": {"post_id": 1}, "placements": [["ALL_ON_TWITTER"], ["PUBLISHER_NETWORK"]],
    } == ADS_WORDS.write(body)  # fmt: skip


@pytest.mark.parametrize(("neutral", "original"), [
    ('Expected a value in MEDIA, PROMOTED_POSTS, got "PROMOTED_POSTS" for product_type',
     'Expected a value in MEDIA, PROMOTED_TWEETS, got "PROMOTED_POSTS" for product_type'),
    ('"post_ids" is a required parameter', '"tweet_ids" is a required parameter'),
    ('Expected Long, got "post_id" for post_ids', 'Expected Long, got "post_id" for tweet_ids'),
    ("post_id and text are exclusive parameters", "tweet_id and text are exclusive parameters"),
    ("posted a post", "posted a post"),
    ('Expected Long, got "a\\"post_id" for x', 'Expected Long, got "a\\"post_id" for x'),
])  # fmt: skip
def test_sentences(neutral: str, original: str) -> None:
    """Names and values follow, plain words and what is quoted from the request do not."""
    assert original == ADS_WORDS.write_sentence(neutral)


def test_nouns_of_v2() -> None:
    """The sentence that says what was not found names it in the original word; ids stay."""
    assert "Could not find tweet with id: [post_id]." == V2_WORDS.write_sentence(
        "Could not find post with id: [post_id]."
    )
    hidden = "Sorry, you are not authorized to see the {} with ids: [7]."
    assert hidden.format("Tweet") == V2_WORDS.write_sentence(hidden.format("Post"))


def test_lists_in_sentences_of_v2() -> None:
    """A list of known names has the original ones; the value that was sent stays."""
    sentence = "The `{0}.fields` query parameter value [post_count] is not one of [end,{0}_count]"
    assert sentence.format("tweet") == V2_WORDS.write_sentence(sentence.format("post"))


def test_whole_sentences() -> None:
    """A sentence that programs compare has words of its own in either language."""
    neutral = "You cannot repost a Post that you have already reposted."
    original = "You cannot retweet a Tweet that you have already retweeted."
    pairs = Pairs(spoken=frozenset({"message"}), sentences={neutral: original})

    assert {"message": original} == Spelling(pairs).write({"message": neutral})
    assert {"message": neutral} == Spelling.to_neutral(pairs).write({"message": original})


def test_places_of_v2() -> None:
    """The same name differs by place: included posts, the kind of a reference, a problem's keys."""
    body = {
        "data": {
            "referenced_posts": [{"type": "reposted", "id": "1"}], "type": "reposted", "posts": [],
        },
        "includes": {"posts": [{"edit_history_post_ids": ["1"]}]},
        "errors": [{"parameter": "post.fields",
                    "parameters": {"reply.in_reply_to_post_id": ["a"]}}],
    }  # fmt: skip

    assert {
        "data": {
            "referenced_tweets": [{"type": "retweeted", "id": "1"}],
            "type": "reposted",
            "posts": [],
        },
        "includes": {"tweets": [{"edit_history_tweet_ids": ["1"]}]},
        "errors": [
            {"parameter": "tweet.fields", "parameters": {"reply.in_reply_to_tweet_id": ["a"]}}
        ],
    } == V2_WORDS.write(body)


def test_both_names_at_once() -> None:
    """The first one counts, and the other is reported."""
    seen: list[tuple[str, str]] = []
    reading = Reading(ADS, DECLARED)

    read = reading.read({"tweet_id": 1, "post_id": 2}, lambda *names: seen.append(names))

    assert ({"post_id": 1}, [("post_id", "post_id")]) == (read, seen)


def test_pairs_of_a_form() -> None:
    """Names and comma-separated values are read; a text with the same words is not changed."""
    reading = Reading(ADS, DECLARED)

    assert [
        ("placements", "ALL_ON_PLATFORM,PUBLISHER_NETWORK"),
        ("post_ids", "1,2"),
        ("text", "ALL_ON_TWITTER"),
    ] == reading.read_pairs([
        ("placements", "ALL_ON_TWITTER,PUBLISHER_NETWORK"),
        ("tweet_ids", "1,2"),
        ("text", "ALL_ON_TWITTER"),
    ])  # fmt: skip
