"""Servers and recordings with original names: compared in neutral names, the others beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.cli.main import group
from mock_platform.core.original_names.translation import Spelling
from mock_platform.settings import Settings
from mock_platform.verification.compare.findings import make_report
from mock_platform.verification.compare.report import render_text
from mock_platform.verification.har.exchange import recognize_names
from tests.support import ACCOUNT, BEARER, Sandbox
from tests.verification.compare.servers import Comparison, Differing, Patch, each, on, shadowing
from tests.verification.har.support import read_one
from tests.verification.importing.support import (
    list_operations,
    send_original,
    write_bare_journal,
)

pytestmark = pytest.mark.live
OTHER = Settings(names="original")
SOME = ("posts.*", "promoted_posts.*", "public_posts.*", "users.me", "line_items.*")


def test_equal(comparison: Comparison, second: Differing) -> None:
    """A server that differs in names alone differs in nothing, and is asked with its own names."""
    drift = comparison.run_over_http(second.url, *SOME, names="original")

    assert [] == make_report(drift, second.url, {}).findings
    paths = {path for _, path in second.asked}
    assert {f"/12/accounts/{ACCOUNT}/tweets", "/2/tweets"} <= paths
    assert not any(
        "/posts" in path or "/promoted_posts" in path
        for path in paths - {"/2/notes/search/posts_eligible_for_notes"}
    )


def _recode(body: Any) -> None:
    for error in body["errors"]:
        error["code"] = "TWEET_IS_SPAM"


PLANTED: list[tuple[Patch, str, str, dict[str, str]]] = [
    (on("/promoted_tweets", each(lambda r: r.pop("tweet_id"))), "missing", "data[].post_id",
     {"where": "data[].tweet_id"}),
    (on("/promoted_tweets", each(lambda r: r.update(post_id=r.pop("tweet_id")))), "extra",
     "data[].post_id (its neutral name)", {"where": "data[].post_id"}),
    (on("/line_items", each(lambda r: r.update(product_type="PROMOTED_POSTS"))), "enum",
     "data[].product_type", {"got": "PROMOTED_POSTS"}),
    (on("*", _recode, 404), "code", "errors[].code", {"got": "TWEET_IS_SPAM"}),
]  # fmt: skip


@pytest.mark.parametrize(("patch", "kind", "where", "beside"), PLANTED)
def test_planted(
    comparison: Comparison,
    second: Differing,
    patch: Patch,
    kind: str,
    where: str,
    beside: dict[str, str],
) -> None:
    """A difference is reported under its neutral place, with the original names beside."""
    second.patches.append(patch)

    drift = comparison.run(second, "promoted_posts.*", "line_items.*", names="original")
    report = make_report(drift, second.url, {})

    found = next(x for x in report.findings if (x.kind, x.where) == (kind, where))
    assert beside.items() <= found.original.items()
    assert "original names: " in render_text(report)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reads of a service with original names, recorded without anything that says so."""
    box = Sandbox(Settings(names="original", limits="off"))
    wanted = {"posts.list", "promoted_posts.list", "line_items.list", "public_posts.list",
              "post_search.recent", "authenticated_user_access.get", "users.show"}  # fmt: skip
    for operation in list_operations():
        if operation.id in wanted:
            send_original(box, operation)
    return write_bare_journal(box, tmp_path_factory.mktemp("original") / "traffic.har")


def diff(file: Path, *options: str) -> tuple[int, Any]:
    """Status and report of a comparison with an archive."""
    words = ["diff", "--har", str(file), "--format", "json", *options]
    shown = CliRunner().invoke(group, words)
    return shown.exit_code, json.loads(shown.stdout.partition("\nError:")[0])


def test_recorded(recorded: Path) -> None:
    """A recording is read under the names that it shows, and differs in nothing."""
    status, found = diff(recorded)

    assert (0, []) == (status, found["findings"])
    assert any("original names" in note for note in found["notes"])


def test_recorded_difference(recorded: Path, tmp_path: Path) -> None:
    """A difference in it is found under the neutral name, with the original beside."""
    file = tmp_path / "changed.har"
    text = recorded.read_text()
    assert '\\"tweet_id\\"' in text
    file.write_text(text.replace('\\"tweet_id\\"', '\\"tweet_key\\"'))

    status, found = diff(file, "--names", "original")

    assert 1 == status
    places = {(x["kind"], x["where"]): x["original"] for x in found["findings"]}
    assert {"where": "data[].tweet_id"} == places["missing", "data[].post_id"]
    assert ("extra", "data[].tweet_key") in places


@pytest.mark.parametrize(("url", "headers", "body", "names"), [
    ("https://ads-api.x.com/12/accounts", {}, {"data": []}, "original"),
    ("https://gateway.example.com/12/accounts", {}, {"data": []}, "neutral"),
    ("https://gateway.example.com/11/accounts", {}, {"data": []}, "original"),
    ("https://gateway.example.com/12/a", {}, {"data": [{"tweet_id": "1"}]}, "original"),
    ("https://gateway.example.com/12/a", {}, {"entity": "PROMOTED_TWEET"}, "original"),
    ("https://ads-api.x.com/12/accounts", {"X-Mock-Operation": "a"}, {}, "neutral"),
    ("http://localhost/12/a", {"X-Mock-Names": "original"}, {}, "original"),
    ("https://gateway.example.com/12/a?tweet_ids=1", {}, {}, "original"),
    ("https://ads-api.x.com/12/a", {}, {"data": [{"post_id": "1"}]}, "neutral"),
])  # fmt: skip
def test_markers(tmp_path: Path, url: str, headers: dict[str, str], body: Any, names: str) -> None:
    """Markers of a sandbox decide, then the answer, then the host, then the request."""
    shown = [{"name": name, "value": value} for name, value in headers.items()]

    exchange = read_one(tmp_path, url=url, headers=shown, text=json.dumps(body))

    assert names == recognize_names(exchange, {"ads-api.x.com"})


def test_both_ways(traffic: Sandbox) -> None:
    """What was written with original names is read as it was, for every answer of the sandbox."""
    operations = {each.id: each for each in traffic.platform.operations}
    for entry in traffic.world.journal:
        operation = operations[entry.operation or ""]
        if entry.method != "GET" or operation.returns.media_type != "application/json":
            continue
        body = json.loads(entry.response_body)
        written = Spelling(ORIGINAL_NAMES.find_pairs(operation)).write(body)
        assert body == ORIGINAL_NAMES.make_neutral_spelling(operation).write(written), operation.id


def test_shadow(second: Differing) -> None:
    """What a client asks in neutral names reaches the service in its own, and nothing differs."""
    with shadowing(second, names="original") as (box, traffic):
        box.call("GET", f"/12/accounts/{ACCOUNT}/promoted_posts", keys=BEARER)
        box.call("GET", "/2/posts?ids=1991500000000000101&post.fields=public_metrics", keys=BEARER)
    report = traffic.report()

    assert ([], None) == (report["findings"], report["last_fault"])
    paths = {path for _, path in second.asked}
    assert {f"/12/accounts/{ACCOUNT}/promoted_tweets", "/2/tweets"} == paths
