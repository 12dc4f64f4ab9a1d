"""Jobs that compute figures: creation, states, results."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.analytics.jobs import MOST_AT_ONCE
from tests.api.ads.support import echo
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of, refusal

PATH = f"/12/stats/jobs/accounts/{ACCOUNT}"
SYNCHRONOUS = f"/12/stats/accounts/{ACCOUNT}"
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
QUERY: dict[str, Any] = {
    "entity": "LINE_ITEM", "entity_ids": "itttx", "start_time": "2026-11-16T08:00:00Z",
    "end_time": "2026-11-18T08:00:00Z", "granularity": "HOUR",
    "metric_groups": "ENGAGEMENT,BILLING", "placement": "ALL_ON_PLATFORM",
}  # fmt: skip
SETTINGS = {"freeze": NOW}


def ask(box: Sandbox, **params: str) -> TestResponse:
    """Create a job, with some parameters changed."""
    return box.ask("POST", PATH, **QUERY | params)


def create(box: Sandbox, **params: str) -> dict[str, Any]:
    """A new job."""
    found: dict[str, Any] = data_of(ask(box, **params))
    return found


def read(box: Sandbox, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    """Jobs as they are now; all of them if none is named."""
    wanted = ",".join(job["id_str"] for job in jobs) or None
    found: list[dict[str, Any]] = data_of(box.ask("GET", PATH, job_ids=wanted))
    return found


def finish(box: Sandbox, **params: str) -> dict[str, Any]:
    """A job that has ended well."""
    job = create(box, **params)
    box.world.clock.advance(2)
    (found,) = read(box, job)
    assert found["status"] == "SUCCESS"
    return found


def fetch(box: Sandbox, url: str, **more: Any) -> TestResponse:
    """The result, without credentials."""
    return box.client.get(urlsplit(url).path, **more)


def unpack(box: Sandbox, job: dict[str, Any]) -> dict[str, Any]:
    """What the file of a job says."""
    found: dict[str, Any] = json.loads(gzip.decompress(fetch(box, job["url"]).data))
    return found


def test_a_new_job(box: Sandbox) -> None:
    """What was asked for, a number and a text as id, and no result yet."""
    job = create(box)
    unset = ("segmentation_type", "country", "platform", "url", "expires_at")

    assert job == QUERY | dict.fromkeys(unset) | {
        "id": int(job["id_str"]), "id_str": job["id_str"], "account_id": ACCOUNT,
        "entity_ids": ["itttx"], "metric_groups": ["ENGAGEMENT", "BILLING"],
        "status": "PROCESSING", "created_at": "2026-11-20T10:00:00Z",
        "updated_at": "2026-11-20T10:00:00Z",
    }  # fmt: skip


def test_the_result_is_what_the_synchronous_operation_answers(box: Sandbox) -> None:
    """A gzip file of exactly that media type, without a content encoding."""
    job = finish(box)
    headers = fetch(box, job["url"]).headers
    found, answer = unpack(box, job), box.read(SYNCHRONOUS, **QUERY)

    assert job["url"].startswith("http://localhost/")
    assert job["expires_at"] == "2026-11-22T10:00:00Z"
    assert headers["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in headers
    assert (found, list(found)) == (answer, list(answer))


def test_the_result_is_that_of_the_creation(box: Sandbox) -> None:
    """Figures of later hours are not in it, whenever it is read."""
    job = finish(box, start_time="2026-11-20T08:00:00Z", end_time="2026-11-20T20:00:00Z")
    box.world.clock.advance(5 * 3600)
    impressions = unpack(box, job)["data"][0]["id_data"][0]["metrics"]["impressions"]

    assert [count > 0 for count in impressions] == [True] * 2 + [False] * 10


def test_a_result_expires(box: Sandbox) -> None:
    """After 48 hours it is not found, as one that never was."""
    job = finish(box)
    box.world.clock.freeze(datetime(2026, 11, 22, 9, 59, 59, tzinfo=UTC))
    assert fetch(box, job["url"]).status_code == 200
    box.world.clock.freeze(datetime(2026, 11, 22, 10, tzinfo=UTC))

    assert fetch(box, job["url"]).status_code == 404
    assert fetch(box, "/12/stats/jobs/results/unknown.json.gz").status_code == 404


@pytest.mark.parametrize("status", ["FAILED", "CANCELLED"])
def test_a_job_may_end_otherwise(box: Sandbox, status: str) -> None:
    """A test decides how it ends; there is no result then."""
    job = create(box)
    with box.world.work():
        box.world.transitions.move("stats_job", job["id_str"], status)
    (found,) = read(box, job)
    assert (found["status"], found["url"], found["expires_at"]) == (status, None, None)


def test_jobs_that_end_after_some_reads(box: Sandbox) -> None:
    """Each read in the list counts."""
    box.world.transitions.set_pace("stats_job", progression="polls", polls=3)
    job = create(box)
    seen = [read(box, job)[0]["status"] for _ in range(3)]

    assert seen == ["PROCESSING", "PROCESSING", "SUCCESS"]


def test_jobs_are_listed(box: Sandbox) -> None:
    """By id, by page, and only those of the account."""
    jobs = [*read(box), *(create(box, entity_ids=f"id{number}") for number in range(2))]
    page = box.read(PATH, count="2")
    rest = box.read(PATH, count="2", cursor=page["next_cursor"])
    chosen = box.ask("GET", PATH, job_ids=jobs[1]["id_str"])

    assert [job["id"] for job in (*page["data"], *rest["data"])] == [job["id"] for job in jobs]
    assert [job["id"] for job in data_of(chosen)] == [jobs[1]["id"]]
    assert echo(chosen) == {"account_id": ACCOUNT, "job_ids": [jobs[1]["id_str"]]}
    assert box.read(PATH.replace(ACCOUNT, OTHER_ACCOUNT), keys=NORTHBIKE)["data"] == []


def test_a_job_is_cancelled(box: Sandbox) -> None:
    """Once; a job that has ended, and an unknown one, cannot be."""
    path, ended = f"{PATH}/{create(box)['id_str']}", (400, [("INVALID_PARAMETER", "job_id")])

    assert data_of(box.call("DELETE", path))["status"] == "CANCELLED"
    assert refusal(box.call("DELETE", path)) == ended
    assert refusal(box.call("DELETE", f"{PATH}/{finish(box)['id_str']}")) == ended
    assert refusal(box.call("DELETE", f"{PATH}/5")) == (404, [("NOT_FOUND", "job_id")])


def test_a_hundred_jobs_at_once(box: Sandbox) -> None:
    """The headers count them; one more is refused until one of them has ended."""
    box.world.transitions.set_pace("stats_job", progression="manual")
    taken = [ask(box) for _ in range(MOST_AT_ONCE)]
    refused, remaining = ask(box), "x-concurrent-job-limit-remaining"

    assert [int(answer.headers[remaining]) for answer in taken] == list(range(99, -1, -1))
    assert refused.headers["x-concurrent-job-limit"] == "100"
    assert refusal(refused) == (429, [("TOO_MANY_REQUESTS", None)])
    box.call("DELETE", f"{PATH}/{data_of(taken[-1])['id_str']}")
    assert box.call("GET", PATH).headers[remaining] == "1"
    assert ask(box).status_code == 200


@pytest.mark.parametrize(("start", "params", "status"), [
    ("2026-08-20T08", {}, 200),
    ("2026-08-20T07", {}, 400),
    ("2026-10-04T08", {"segmentation_type": "GENDER"}, 200),
    ("2026-10-04T07", {"segmentation_type": "GENDER"}, 400),
])  # fmt: skip
def test_ninety_days_at_most(box: Sandbox, start: str, params: Any, status: int) -> None:
    """Half as many with segments."""
    assert ask(box, start_time=f"{start}:00:00Z", **params).status_code == status


def test_metros_are_those_of_a_country(box: Sandbox) -> None:
    """The country is required for them, and only for them."""
    refused = ask(box, segmentation_type="METROS")

    assert refusal(refused) == (400, [("MISSING_PARAMETER", "country")])
    assert ask(box, segmentation_type="METROS", country="96683cc9126741d1").status_code == 200


@pytest.mark.parametrize("kind", ["AGE", "GENDER", "METROS", "PLATFORMS", "CONVERSION_TAGS"])
def test_segments_add_up_to_the_whole(box: Sandbox, kind: str) -> None:
    """In every hour, for every metric."""
    job = finish(box, segmentation_type=kind, country="96683cc9126741d1")
    parts = unpack(box, job)["data"][0]["id_data"]
    whole = box.read(SYNCHRONOUS, **QUERY)["data"][0]["id_data"][0]

    assert {*parts[0]["segment"]} == {"segment_name", "segment_value"}
    for name, counts in whole["metrics"].items():
        values = [part["metrics"][name] for part in parts if part["metrics"][name]]
        assert all(count >= 0 for series in values for count in series)
        assert [sum(each) for each in zip(*values, strict=True)] == (counts or [])


def test_a_job_in_a_world_of_its_own(box: Sandbox) -> None:
    """The address of the result is in that world."""
    box.client.put("/_mock/worlds/other")
    clock = box.platform.worlds.get("other").clock
    clock.freeze(NOW)
    job = data_of(box.ask("POST", f"/~other{PATH}", **QUERY))
    clock.advance(2)
    (found,) = box.read(f"/~other{PATH}", job_ids=job["id_str"])["data"]

    assert found["url"].startswith("http://localhost/~other/")
    assert fetch(box, found["url"]).status_code == 200
    assert fetch(box, found["url"].replace("/~other", "")).status_code == 404


def test_results_have_the_names_of_the_request(box: Sandbox) -> None:
    """With original names the file has them too, as the synchronous answer has."""
    url = finish(box)["url"]
    plain, original = (
        gzip.decompress(fetch(box, url, headers=headers).data)
        for headers in ({}, {"X-Mock-Names": "original"})
    )

    assert b'"reposts":' in plain
    assert b'"reposts":' not in original
    assert b'"retweets":' in original
