"""Worlds with original names: the same contract under other words, chosen at each level."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from mock_platform import MockPlatform
from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS, ORIGINAL_NAMES
from mock_platform.control.examples import Sample, sample
from mock_platform.core.envelope import Flat, Lines
from mock_platform.core.operation import MINUTE, Operation
from mock_platform.core.original_names.translation import Spelling
from mock_platform.settings import NamesMode, Settings
from tests.support import ACCOUNT, BEARER, NORTHBIKE, Sandbox, sandbox, signed
from tests.test_kept_worlds import NOON

STREAMS = {operation.id for operation in OPERATIONS if isinstance(operation.returns, Lines)}
SETTINGS = {"names": "original"}


def _samples() -> Iterator[Operation]:
    found = credentials(Sandbox(Settings(freeze=NOON)).platform.worlds.default)
    for operation in OPERATIONS:
        try:
            sample(operation, found)
        except LookupError:
            continue
        is_as_it_is = isinstance(operation.returns, Flat) and operation.returns.is_verbatim
        if operation.id not in STREAMS and not is_as_it_is:
            yield operation


@cache
def _pair() -> tuple[Sandbox, Sandbox]:
    """Two sandboxes that begin alike, but for their names."""
    neutral = Settings(freeze=NOON, limits="off")
    return Sandbox(neutral), Sandbox(replace(neutral, names="original"))


def translate(operation: Operation, asked: Sample) -> Sample:
    """The same request with original names, as far as they differ."""
    pairs = ORIGINAL_NAMES.pairs[operation.dialect]
    spelling = Spelling(pairs)
    path, _, query = asked.path.partition("?")
    for neutral, original in zip(
        operation.path.split("/"), _original_path(operation).split("/"), strict=True
    ):
        path = path.replace(f"/{neutral}", f"/{original}", 1) if neutral else path
    shown = [
        (pairs.names.get(name, name), pairs.values.get(name, {}).get(value, value))
        for name, value in parse_qsl(query)
    ]
    body = asked.body
    if body is not None and body.startswith("{"):
        body = json.dumps(spelling.write(json.loads(body)))
    return Sample(
        asked.method, f"{path}?{urlencode(shown)}" if shown else path, asked.headers, body
    )


def _mask_proof(page: str) -> str:
    """A page without the drawn value that proves where its form came from."""
    return re.sub(r'(name="authenticity_token" value=")[^"]+', r"\1", page)


def _original_path(operation: Operation) -> str:
    found = [
        p for p in ORIGINAL_NAMES.list_paths(operation.path, operation.dialect) if "/11/" not in p
    ]
    return found[0] if found else operation.path


def _send(box: Sandbox, asked: Sample) -> Any:
    body = None if asked.body is None else asked.body.replace(MINUTE, "202603011159")
    return box.client.open(asked.path, method=asked.method, headers=asked.headers, data=body)


@pytest.mark.parametrize("operation", list(_samples()), ids=lambda each: each.id)
def test_the_same_answer_under_other_names(operation: Operation) -> None:
    """Every operation: the neutral answer, translated, is the original one; records are alike."""
    neutral, original = _pair()
    for each in (neutral, original):
        each.platform.worlds.default.reset()
    asked = sample(operation, credentials(neutral.platform.worlds.default))

    expected = _send(neutral, asked)
    found = _send(original, translate(operation, asked))

    assert expected.status_code == found.status_code
    if expected.data and expected.mimetype.endswith("json"):
        told = Spelling(ORIGINAL_NAMES.find_pairs(operation)).write(expected.get_json())
        assert told == found.get_json()
    elif expected.mimetype == "application/octet-stream":
        assert expected.data == found.data
    else:
        assert _mask_proof(expected.text) == _mask_proof(found.text)
    stores = [each.platform.worlds.default.save().records for each in (neutral, original)]
    assert repr(stores[0]) == repr(stores[1])


def test_neutral_is_the_default() -> None:
    """Without the option an original path is unknown, and answers have neutral names."""
    box = sandbox()

    assert 404 == box.call("GET", "/11/accounts").status_code
    assert "X-Mock-Names" not in box.call("GET", "/12/accounts").headers


def test_signature_of_original_names(box: Sandbox) -> None:
    """A signature covers what was sent; the journal shows it, under the neutral operation."""
    form = {"as_user_id": "2244994945", "text": "tweet_mode", "tweet_mode": "extended"}

    answer = box.call("POST", f"/12/accounts/{ACCOUNT}/tweet", form=form)

    assert 200 == answer.status_code
    assert "extended" == answer.get_json()["request"]["params"]["tweet_mode"]
    assert "retweet_count" in answer.get_json()["data"]
    entry = box.world.journal.find()[-1].as_json()
    assert "post.create" == entry["operation"]
    assert "tweet_mode=extended" in entry["request"]["body"]["text"]


def test_version_11(box: Sandbox) -> None:
    """It answers as version 12, and names itself in the header."""
    answer = box.call("GET", f"/11/accounts/{ACCOUNT}/line_items")

    assert (200, "11") == (answer.status_code, answer.headers["x-current-api-version"])
    assert "PROMOTED_TWEETS" in {each["product_type"] for each in answer.get_json()["data"]}


def test_refusals_have_original_codes_and_parameters(box: Sandbox) -> None:
    """Codes, names of parameters and texts follow; what the client sent does not."""
    answer = box.call("PUT", f"/12/accounts/{ACCOUNT}/tweets/1/name", form={"name": "post_id"})

    (error,) = answer.get_json()["errors"]
    assert ("TWEET_NOT_FOUND", "tweet_id") == (error["code"], error["parameter"])


@pytest.mark.parametrize(
    ("world", "header", "expected"),
    [
        ("neutral", None, "repost_count"),
        ("neutral", "original", "retweet_count"),
        ("original", None, "retweet_count"),
        ("original", "neutral", "repost_count"),
    ],
)
def test_the_nearest_choice_wins(world: str, header: str | None, expected: str) -> None:
    """A header chooses for its request, a world for its clients, the server for the rest."""
    box = sandbox()
    made = box.client.put("/_mock/worlds/w1", json={"names": world})
    assert 200 == made.status_code
    headers = {} if header is None else {"X-Mock-Names": header}

    path = "/~w1/2/posts/1712850617439551496?post.fields=public_metrics"
    answer = box.call("GET", path, headers=headers)

    assert expected in answer.get_json()["data"]["public_metrics"]


def test_an_unknown_choice_is_reported(box: Sandbox) -> None:
    """A header with another value is ignored with a warning; as a world's names it is refused."""
    answer = box.call("GET", "/12/accounts", headers={"X-Mock-Names": "old"})

    assert "unknown-names" in answer.headers["X-Mock-Warnings"]
    assert 422 == box.client.put("/_mock/worlds/w1", json={"names": "old"}).status_code


def test_both_names_of_a_parameter(box: Sandbox) -> None:
    """They are a repetition: the first counts, with a warning."""
    path = f"/12/accounts/{ACCOUNT}/promoted_tweets"
    form = {"line_item_id": "itttx", "tweet_ids": "one", "post_ids": "two"}

    answer = box.call("POST", path, form=form)

    (error,) = answer.get_json()["errors"]
    assert 'Expected Long, got "one" for tweet_ids' == error["message"]
    assert "repeated-parameter" in answer.headers["X-Mock-Warnings"]


def test_the_last_post_of_a_user_in_the_older_form(box: Sandbox) -> None:
    """It has the original keys, and all lists of entities, as clients of the 1.1 form expect."""
    status = box.call("GET", "/1.1/account/verify_credentials.json").get_json()["status"]

    assert {"retweet_count", "retweeted", "is_quote_status"} <= status.keys()
    assert {"hashtags", "symbols", "user_mentions", "urls"} <= status["entities"].keys()


@pytest.mark.parametrize("names", ["neutral", "original"])
def test_older_names_of_streams(names: NamesMode) -> None:
    """They are taken in the query and in the path, whichever names the world has."""
    box = sandbox(names=names)
    path = "/2/connections"

    listed = box.call("GET", f"{path}?endpoints=tweets_compliance_stream", keys=BEARER)
    ended = box.call("DELETE", f"{path}/tweet_label_stream", keys=BEARER)

    assert (200, 200) == (listed.status_code, ended.status_code)


def test_a_refusal_quotes_what_was_sent(box: Sandbox) -> None:
    """The value of a refused parameter has the names that the client gave to its keys."""
    answer = box.call(
        "POST", "/2/tweets", json={"text": "x", "reply": {"in_reply_to_tweet_id": "9"}}
    )

    (error,) = answer.get_json()["errors"]
    assert ['{"in_reply_to_tweet_id":"9"}'] == error["parameters"]["reply.in_reply_to_tweet_id"]


def test_scenarios_stay_neutral(box: Sandbox) -> None:
    """Conditions and patches of a scenario speak neutral names; the client sees original ones."""
    box.client.put(
        "/_mock/scenarios/counted",
        json={
            "name": "counted",
            "rules": [
                {
                    "on": "public_posts.get",
                    "when": {"query": {"post.fields": "public_metrics"}},
                    "then": {"patch": {"data": {"public_metrics": {"repost_count": 77}}}},
                }
            ],
        },
    )
    box.client.post("/_mock/scenarios/counted/activate")

    answer = box.call("GET", "/2/tweets/1712850617439551496?post.fields=public_metrics")

    assert 77 == answer.get_json()["data"]["public_metrics"]["retweet_count"]


def test_an_answer_of_a_scenario_is_sent_as_written(box: Sandbox) -> None:
    """What `respond` says is the user's own text."""
    then = {"respond": {"json": {"data": {"repost_count": 1}}}}
    rules = [{"on": "public_posts.get", "then": then}]
    box.client.put("/_mock/scenarios/own", json={"name": "own", "rules": rules})
    box.client.post("/_mock/scenarios/own/activate")

    answer = box.call("GET", "/2/tweets/1712850617439551496")

    assert {"data": {"repost_count": 1}} == answer.get_json()


def test_events_are_delivered_with_original_names() -> None:
    """A stream's line has them, like the answers."""
    with MockPlatform.start(names="original") as platform:
        client = platform.session(auth="bearer")
        client.post(
            "/2/activity/subscriptions",
            json={"event_type": "post.create", "filter": {"user_id": "3805104374"}},
        ).raise_for_status()
        with client.get("/2/activity/stream", stream=True) as stream:
            lines = (line for line in stream.iter_lines() if line)
            url = f"{platform.base_url}/2/tweets"
            headers = signed("POST", url, NORTHBIKE) | {"Content-Type": "application/json"}
            posted = platform.session().post(url, json={"text": "Hello"}, headers=headers)
            assert 201 == posted.status_code
            line = json.loads(next(lines))

    assert "edit_history_tweet_ids" in line["data"]["payload"]
    assert "retweet_count" in line["data"]["payload"]["public_metrics"]
