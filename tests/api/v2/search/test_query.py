from __future__ import annotations

import pytest

from mock_platform.api.v2.search.matching import compile_rule, explain
from mock_platform.api.v2.search.operators import OPERATORS
from mock_platform.api.v2.search.query import MAX_NESTING, CheckedRule, read_rule, spell
from mock_platform.api.v2.search.subjects import Subject

_NEGATED = (
    "Rules must contain a non-negation term (at position 1)",
    "Rules must contain at least one positive, non-stopword clause (at position 1)",
)
_STANDALONE = ("is/has/lang cannot be used as a standalone operator (at position 1)",)
_AMBIGUOUS = (
    "Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "
    '"and" to find occurrences of and in text (at position 7)'
)


@pytest.mark.parametrize(
    "rule",
    ['pepsi OR cola OR "coca cola"', "(😃 OR 😡) 😬", '("Harbor desk" OR #v2) -"filtered stream"',
     '"social media"~5', "#thankunext #fanart OR @harbor_roasters",
     "$twtr OR @harbor_roasters -$fb", "from:harbor_roasters OR from:2244994945 -is:repost",
     "to:harbor_roasters has:media has:links", 'url:"https://developer.example"',
     "snow day #NoSchool", "(grumpy cat) OR (#meme has:images)", "skiing -snow -day -noschool",
     "apple OR iphone ipad", '"Harbor data" has:mentions (has:media OR has:links)',
     "cat sample:10 lang:en -is:nullcast",
     "conversation_id:1334987486343299072 in_reply_to_post_id:1539382664746020864",
     "coffee place_country:US point_radius:[2.355128 48.861118 16km]",
     "(@harbor_roasters OR @northbike_co) -@x",
     "reposts_of:harbor_roasters OR retweets_of:2244994945",
     "from_affiliate_of:harbor_roasters OR to_affiliate_of:harbor_roasters",
     "url_title:snow url_description:weather url_contains:photos",
     "context:10.799022225751871488 OR context:47.*",
     'entity:"Harbor Roasters" bio:"data engineer" OR bio_name:phd',
     'bio_location:"big apple" OR place:"new york city" OR place:seattle',
     "bounding_box:[-105.301758 39.964069 -105.178505 40.09455]",
     '"mobile games" -is:nullcast -is:retweet is:verified',
     "#meme -has:hashtags has:cashtags has:images has:video_link has:geo",
     "#nowplaying @harbor_roasters sample:15",
     "min_followers:1000 followers_count:1000..10000 tweets_count:1000..10000",
     "following_count:1000..10000 listed_count:10..100",
     "in_reply_to_tweet_id:1539382664746020864 retweets_of_tweet_id:1539382664746020864",
     'source:"Harbor for phones"', "grumpy OR cat OR #meme", "ipad iphone OR android",
     "(happy OR happiness OR excited OR elated) lang:en -birthday -is:retweet -holidays",
     "diacrítica"],
)  # fmt: skip
def test_rules_that_are_accepted(rule: str) -> None:
    """Rules in the manner of the public examples have no fault."""
    checked = read_rule(rule, "stream")
    assert () == checked.faults
    assert checked.tree is not None


@pytest.mark.parametrize(
    ("rule", "faults"),
    [
        ("(cat", ("no viable alternative at input '<EOF>' (at position 5)",)),
        ("cat OR", ("no viable alternative at input '<EOF>' (at position 7)",)),
        ("OR cat", ("no viable alternative at input 'OR' (at position 1)",)),
        ("cat )", ("missing EOF at ')' (at position 5)",)),
        ("[cat]", ("no viable alternative at input '[' (at position 1)",)),
        ('cat "', ("no viable alternative at character '\"'(at position 5)",)),
        ("cat -", ("no viable alternative at character '-'(at position 5)",)),
        ("--b", _NEGATED),
        ("-cat", _NEGATED),
        ("-cat OR -dog", _NEGATED),
        ("cat --dog", ("no viable alternative at input '--' (at position 5)",)),
        ("has:media", _STANDALONE),
        ("has:links OR is:repost", _STANDALONE),
        ("lang:en -cat", _STANDALONE),
        ("snow  and day", (_AMBIGUOUS,)),
        ("snow  AND day", (_AMBIGUOUS,)),
        ("snow  And day", (_AMBIGUOUS,)),
        ("h:cat", ("Reference to invalid field 'h' (at position 1)",)),
        ("cat from:", ("Reference to invalid field 'from' (at position 5)",)),
        ("cat has:polls", ("Reference to invalid operator 'has:polls'",)),
        ("has:polls", (*_STANDALONE, "Reference to invalid operator 'has:polls'")),
        ("from:no-such!", ("Reference to invalid operator 'from:no-such!'",)),
        ("cat min_likes:5", ("Reference to invalid operator 'min_likes:5'",)),
        ("cat -sample:5", ("sample: cannot be negated (at position 6)",)),
        ("cat is:nullcast", ("is:nullcast must be negated (at position 5)",)),
        ('embedding:"cats"', ("Reference to invalid operator 'embedding:\"cats\"'. Operator is not "
                              "available in current product (at position 1)",)),
    ],
)  # fmt: skip
def test_rules_that_are_refused(rule: str, faults: tuple[str, ...]) -> None:
    """Each fault is worded as the platform words it, with the position where it has one."""
    assert faults == read_rule(rule, "stream").faults


@pytest.mark.parametrize(
    ("rule", "values"), [("cat sample:{}", (0, 1, 100, 101)), ('"social media"~{}', (0, 1, 6, 7))]
)
def test_bounds(rule: str, values: tuple[int, ...]) -> None:
    """A sample is from 1 to 100 percent, words near each other are 1 to 6 tokens apart."""
    faults = [read_rule(rule.format(value), "stream").faults for value in values]
    assert [True, False, False, True] == [bool(each) for each in faults]


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("-(cat ", ")"), ("(cat OR -(dog ", "))")]
)
def test_nesting(opening: str, closing: str) -> None:
    """Groups and negations are nested up to a bound, and deeper ones are refused however deep."""
    step = opening.count("(") + opening.count("-")

    def nest(times: int) -> CheckedRule:
        text = f"cat ({opening * times}cat{closing * times})"
        return read_rule(text, "stream", longest=len(text))

    most = (MAX_NESTING - 1) // step
    fitting = nest(most)
    assert () == fitting.faults
    assert fitting.tree is not None
    described = explain(fitting.tree, Subject({"id": "1", "text": "cat"}, "stream", {}, {}))
    assert spell(fitting.tree) == described["text"]
    assert compile_rule(fitting.tree, "stream")(Subject({"id": "1"}, "stream", {}, {})) is False
    for times in (most + 1, 200, 2000):
        (fault,) = nest(times).faults
        assert f"may be nested {MAX_NESTING} deep" in fault


def test_signs_are_nested_as_well() -> None:
    """Many signs in front of one term are refused, too."""
    (fault,) = read_rule("cat " + "-" * 2000 + "dog", "stream", longest=4096).faults
    assert fault.endswith("use fewer brackets and signs (at position 5)")


def test_length() -> None:
    """A rule may be as long as the limit, and not one character longer."""
    text = "Rules must be at most 1024 characters long, this one has 1025"
    assert [(), (text,)] == [read_rule("a" * length, "stream").faults for length in (1024, 1025)]


def test_search_operators() -> None:
    """Counts of likes, replies and reposts belong to searches, samples and profiles to streams."""
    assert () == read_rule("cat min_likes:5 min_replies:1 min_reposts:2", "search").faults
    (fault,) = read_rule("cat sample:5", "search").faults
    assert "Reference to invalid operator 'sample:5'" == fault


@pytest.mark.parametrize("operator", ["min_faves:5", "since:2026-01-01", "until:2026-01-01"])
def test_operators_of_older_searches(operator: str) -> None:
    """Operators of the older search are refused by their name."""
    name = operator.partition(":")[0]
    expected = (f"Reference to invalid field '{name}' (at position 5)",)
    assert expected == read_rule(f"cat {operator}", "search").faults


@pytest.mark.parametrize(
    ("older", "neutral"),
    [("cat is:retweet", "cat is:repost"), ("retweets_of:harbor", "reposts_of:harbor"),
     ("in_reply_to_tweet_id:12", "in_reply_to_post_id:12"),
     ("retweets_of_tweet_id:12", "reposts_of_post_id:12")],
)  # fmt: skip
def test_older_names(older: str, neutral: str) -> None:
    """The older words are read as the neutral ones."""
    tree = read_rule(older, "stream").tree
    assert tree is not None
    assert neutral == spell(tree)
    assert tree == read_rule(neutral, "stream").tree


def test_negated_group() -> None:
    """A negated group is evaluated with a warning, and refused under --strict."""
    text = "a negated group is evaluated, but the documentation advises against it (at position 5)"
    assert (text,) == read_rule("cat -(dog OR fish)", "stream").warnings
    assert (text,) == read_rule("cat -(dog OR fish)", "stream", strict=True).faults


@pytest.mark.parametrize(
    "name", [name for name, operator in OPERATORS.items() if not operator.evaluated]
)
def test_operators_that_never_match(name: str) -> None:
    """What is accepted and not evaluated is warned of."""
    expected = (f"{name}: is accepted here but never matches (at position 5)",)
    product = OPERATORS[name].products[0]
    assert expected == read_rule(f"cat {name}:1", product).warnings
