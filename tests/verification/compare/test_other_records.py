"""Equal sandboxes with other records: they differ in nothing, and what was not asked is named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from werkzeug import Request, Response

from mock_platform.core import installed
from mock_platform.core.jsonio import dumps, loads
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.compare.check import check
from mock_platform.verification.compare.client import SigningCredentials
from mock_platform.verification.compare.findings import DriftScope, Report, make_report
from mock_platform.verification.compare.report import render_text
from mock_platform.verification.compare.side import OwnSandbox
from mock_platform.world.clock import machine_now
from tests.verification.compare.servers import Beside, Comparison, Differing, asking, differing

pytestmark = pytest.mark.live
Records = dict[str, list[dict[str, Any]]]
Change = Callable[[Records], None]
Serve = Callable[[Change], Differing]
EMPTY = (
    "cards", "poll_cards", "video_conversation_cards", "stats_jobs", "scheduled_posts",
    "draft_posts", "media_library", "custom_audiences", "audience_users", "audience_permissions",
    "promoted_posts", "promoted_accounts", "scheduled_promoted_posts", "product_catalogs",
    "products", "product_sets", "scheduled_feeds", "notes", "news", "articles", "direct_messages",
    "targeting_criteria", "do_not_reach_lists", "tracking_tags", "media_creatives",
    "preroll_call_to_actions", "line_item_curated_categories",
)  # fmt: skip


def write_fixtures(folder: Path, change: Change) -> Settings:
    """Settings with the default fixtures after a change."""
    records = {
        file.stem: json.loads(file.read_text())
        for file in installed.folder("fixtures").glob("*.json")
    }
    change(records)
    for table, rows in records.items():
        (folder / f"{table}.json").write_text(json.dumps(rows))
    return Settings(default_fixtures=False, fixtures=(folder,))


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a sandbox with changed fixtures."""
    started: list[Differing] = []

    def start(change: Change) -> Differing:
        started.append(Differing(write_fixtures(tmp_path, change)))
        return started[-1]

    yield start
    for each in started:
        each.close()


def compare(comparison: Comparison, other: Differing, *only: str) -> Report:
    """What a reviewer reads."""
    drift = comparison.run(other, *only)
    return make_report(drift, "x", comparison.platform.assumptions())


def leave_little(records: Records) -> None:
    """Has no record in half of the tables."""
    records.update({table: [] for table in EMPTY})


def renumber(records: Records) -> None:
    """Gives the catalogs, their sets and feeds other ids, and lists no news."""
    for table in ("product_catalogs", "products", "product_sets", "scheduled_feeds"):
        text = json.dumps(records[table])
        for name in ("154708078786593", "154708100", "154708200"):
            text = text.replace(name, str(int(name) + 7))
        records[table] = json.loads(text)


def test_without_the_records_of_half_of_the_tables(comparison: Comparison, serve: Serve) -> None:
    """What a server has no record of is not asked with made-up ids, and is named with a reason."""
    report = compare(comparison, serve(leave_little))

    assert [] == [(each.kind, each.where, list(each.operations)) for each in report.findings]
    skipped = {each.operation: each.reason for each in report.skipped}
    assert "the server refuses :card_id, which none of its lists shows" in skipped["cards.get"]
    left_out = {each.operation: dict(each.left_out) for each in report.checked}
    assert "give it with --value" in left_out["stats_jobs.list"]["job_ids"]
    why = left_out["product_sets.get"]["unknown product_set_id"]
    assert "no answer of the server contains product_catalog_id" in why
    assert f"({why})" in render_text(report)


def search_otherwise(records: Records) -> None:
    """Media, languages and audiences whose names do not begin with what is searched."""
    for record in records["media_library"]:
        record["file_name"], record["name"] = f"{record['name']}.bin", f"x {record['name']}"
    for record in records["targeting_options"]:
        record["name"] = f"Any {record['name']}"


def change_moments(records: Records) -> None:
    """The same records, made at other moments and thus in another order."""
    rows = records["campaigns"]
    rows.reverse()
    for day, record in enumerate(rows, 1):
        record["created_at"] = f"2026-05-{day:02}T10:00:00Z"


BARE = (
    "accounts", "apps", "tokens", "users", "placements", "targeting_options", "content_categories",
    "iab_categories", "publishers", "advertiser_business_categories", "curated_categories",
)  # fmt: skip


def leave_nothing(records: Records) -> None:
    """Has accounts, users and constants, and no record beside."""
    for table in records:
        if table not in BARE:
            records[table] = []
    for user in records["users"]:
        for name in [each for each in user if "pinned" in each or "most_recent" in each]:
            del user[name]


BANNER = {"name": "banner", "title": "banner", "text": "banner"}


@pytest.mark.parametrize(("change", "only", "given"), [
    pytest.param(renumber, ("product_*", "scheduled_feeds.*"), {},
                 id="an id that a path and its echo name differently is no difference"),
    pytest.param(search_otherwise,
                 ("media_library.list", "targeting_options.*", "custom_audiences.list"), BANNER,
                 id="a search finds words, parts or beginnings, as declared for each list"),
    pytest.param(change_moments, ("campaigns.list",), {},
                 id="lists are ordered by what each server has"),
    pytest.param(leave_nothing,
                 ("users.*", "post_search.*", "notes.*", "account.*", "account_activity.*"), {},
                 id="an empty list lacks what is declared for one with records"),
])  # fmt: skip
def test_other_records_are_no_difference(
    comparison: Comparison,
    serve: Serve,
    change: Change,
    only: tuple[str, ...],
    given: dict[str, str],
) -> None:
    """What follows from the records alone is neither reported nor refutes an assumption."""
    drift = comparison.run(serve(change), *only, given=given)
    report = make_report(drift, "x", comparison.platform.assumptions())

    assert [] == [(each.kind, each.where, each.got) for each in report.findings]
    assert not report.list_assumptions("refuted")
    asked = {each.operation: [x.probe for x in each.probes] for each in report.checked}
    assert change is not renumber or "plain" in asked["scheduled_feeds.get"]


def test_a_search_that_finds_too_much(comparison: Comparison) -> None:
    """A search that does not look at its text is a difference, named by the declared rule."""

    def add(body: Any) -> None:
        found = {**body["data"][0], "media_key": "3_1", "name": "zz"}
        left_out = ("title", "file_name", "description")
        body["data"].append({name: found[name] for name in found if name not in left_out})

    with differing(asking("q", add)) as other:
        report = compare(comparison, other, "media_library.list")

    told = {(each.kind, each.where): each.expected for each in report.findings}
    assert "each word of q in one of name, title" in told["filter", "data[].name"]


def test_an_order_that_the_sandbox_cannot_show(comparison: Comparison, serve: Serve) -> None:
    """A list in the wrong order is reported though the sandbox's own is too short for one."""

    def keep_two(records: Records) -> None:
        first = records["tracking_tags"][0]
        rows = [{**first, "id": f"zz{n}", "created_at": f"2026-05-0{n}T10:00:00Z"} for n in (1, 2)]
        records["tracking_tags"] = rows

    other = serve(keep_two)
    other.patches.append(asking("sort_by", lambda body: body["data"].reverse()))
    report = compare(comparison, other, "tracking_tags.list")

    assert ("order", "data[].created_at") in [(each.kind, each.where) for each in report.findings]
    assert "ads.sort-by" in report.list_assumptions("refuted")


def test_a_bearer_token_alone(comparison: Comparison) -> None:
    """Both servers get credentials of the same kind: they refuse each kind in other words."""
    alone = SigningCredentials(bearer_token=comparison.credentials.bearer_token)
    with differing() as other:
        drift = comparison.run(other, "users.show", "campaigns.list", credentials=alone)

    assert [] == [(each.where, each.got) for each in make_report(drift, "x", {}).findings]
    assert "unknown token" in {x.probe for each in drift.checked for x in each.probes}


def announce_json(_: Request, response: Response) -> None:
    """Problems that are announced as any JSON."""
    if "problem" in response.headers.get("Content-Type", ""):
        response.headers["Content-Type"] = "application/json"


def test_another_media_type_hides_nothing(comparison: Comparison) -> None:
    """It is one difference, and says nothing about the assumptions behind an equal body."""

    def reword(asked: Request, response: Response) -> None:
        announce_json(asked, response)
        if response.status_code == 400:
            response.set_data(response.get_data().replace(b'"Invalid Request"', b'"Odd Request"'))

    with differing(announce_json) as other:
        report = compare(comparison, other, "users.me", "users.get")
    with differing(reword) as other:
        reworded = compare(comparison, other, "users.me", "users.get")

    assert [("media type", {})] == [(each.kind, each.assumptions) for each in report.findings]
    assert {"confirmed"} == set(report.assumptions.values())
    assert ("wording", "title") in [(each.kind, each.where) for each in reworded.findings]
    assert "problem.titles" in reworded.list_assumptions("refuted")


def test_files_are_read_and_the_rest_is_named(comparison: Comparison) -> None:
    """The result of a job is unpacked and compared; what has no end or is a page is named."""

    def change(asked: Request, response: Response) -> None:
        if "/jobs/results/" in asked.path and response.status_code == 200:
            body = loads(gzip.decompress(response.get_data()))
            del body["data_type"]
            response.set_data(gzip.compress(dumps(body)))

    then = Settings(freeze=datetime(2026, 11, 2, tzinfo=UTC))  # the result does not exist for long
    alone = SigningCredentials(bearer_token=comparison.credentials.bearer_token)
    platform, other = Platform(then), Differing(then)
    other.patches.append(change)
    scope = DriftScope(only=("stats_jobs.*", "filtered_stream.open", "oauth.*"))
    own = OwnSandbox(platform, alone)
    drift = check(Beside(other, alone), own, comparison.description, machine_now(), scope)
    other.close()
    platform.close()

    report = make_report(drift, "x", {})
    found = {(each.kind, each.where, *each.operations) for each in report.findings}
    assert {("missing", "data_type", "stats_jobs.result")} == found
    skipped = {each.operation: each.reason for each in report.skipped}
    assert "its answer is a stream, which does not end" == skipped["filtered_stream.open"]
    assert "its answer is text/html, a page for people" == skipped["oauth.authorize"]
