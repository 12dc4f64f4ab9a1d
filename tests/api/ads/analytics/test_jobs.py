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
from tests.support import ACCOUNT, NORTHBIKE, Sandbox, refusal

PATH = f"/12/stats/jobs/accounts/{ACCOUNT}"
SYNCHRONOUS = f"/12/stats/accounts/{ACCOUNT}"
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
QUERY = {
    "entity": "LINE_ITEM",
    "entity_ids": "itttx",
    "start_time": "2026-11-16T08:00:00Z",
    "end_time": "2026-11-18T08:00:00Z",
    "granularity": "HOUR",
    "metric_groups": "ENGAGEMENT,BILLING",
    "placement": "ALL_ON_PLATFORM",
}


@pytest.fixture(autouse=True)
def _clock_stands(box: Sandbox) -> None:
    box.world.clock.freeze(NOW)


def ask(box: Sandbox, **params: str) -> TestResponse:
    """Create a job, with some parameters changed."""
    return box.call("POST", PATH, query_string=QUERY | params)


def create(box: Sandbox, **params: str) -> dict[str, Any]:
    """A new job."""
    response = ask(box, **params)
    assert response.status_code == 200, response.get_json()
    found: dict[str, Any] = response.get_json()["data"]
    return found


def read(box: Sandbox, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    """Jobs as they are now; all of them if none is named."""
    query = {"job_ids": ",".join(job["id_str"] for job in jobs)} if jobs else {}
    found: list[dict[str, Any]] = box.call("GET", PATH, query_string=query).get_json()["data"]
    return found


def finish(box: Sandbox, **params: str) -> dict[str, Any]:
    """A job that has ended well."""
    job = create(box, **params)
    box.world.clock.advance(2)
    (found,) = read(box, job)
    assert found["status"] == "SUCCESS"
    return found


def fetch(box: Sandbox, url: str) -> TestResponse:
    """The result, without credentials."""
    return box.client.get(urlsplit(url).path)


def test_a_new_job(box: Sandbox) -> None:
    """What was asked for, a number and a text as id, and no result yet."""
    job = create(box)

    assert job == {
        "id": int(job["id_str"]),
        "id_str": job["id_str"],
        "account_id": ACCOUNT,
        "entity": "LINE_ITEM",
        "entity_ids": ["itttx"],
        "start_time": "2026-11-16T08:00:00Z",
        "end_time": "2026-11-18T08:00:00Z",
        "granularity": "HOUR",
        "placement": "ALL_ON_PLATFORM",
        "metric_groups": ["ENGAGEMENT", "BILLING"],
        "segmentation_type": None,
        "country": None,
        "platform": None,
        "status": "PROCESSING",
        "url": None,
        "created_at": "2026-11-20T10:00:00Z",
        "updated_at": "2026-11-20T10:00:00Z",
        "expires_at": None,
    }


def test_the_result_is_what_the_synchronous_operation_answers(box: Sandbox) -> None:
    """A gzip file of exactly that media type, without a content encoding."""
    job = finish(box)
    result = fetch(box, job["url"])

    assert job["url"].startswith("http://localhost/")
    assert job["expires_at"] == "2026-11-22T10:00:00Z"
    assert result.headers["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in result.headers
    found = json.loads(gzip.decompress(result.get_data()))
    answer = box.call("GET", SYNCHRONOUS, query_string=QUERY).get_json()
    assert found == answer
    assert list(found) == list(answer)


def test_the_result_is_that_of_the_creation(box: Sandbox) -> None:
    """Figures of later hours are not in it, whenever it is read."""
    job = finish(box, start_time="2026-11-20T08:00:00Z", end_time="2026-11-20T20:00:00Z")
    box.world.clock.advance(5 * 3600)

    found = json.loads(gzip.decompress(fetch(box, job["url"]).get_data()))
    impressions = found["data"][0]["id_data"][0]["metrics"]["impressions"]
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

    assert [read(box, job)[0]["status"] for _ in range(3)] == [
        "PROCESSING",
        "PROCESSING",
        "SUCCESS",
    ]


def test_jobs_are_listed(box: Sandbox) -> None:
    """By id, by page, and only those of the account."""
    jobs = [*read(box), *(create(box, entity_ids=f"id{number}") for number in range(2))]
    page = box.call("GET", PATH, query_string={"count": "2"}).get_json()
    query = {"count": "2", "cursor": page["next_cursor"]}
    rest = box.call("GET", PATH, query_string=query).get_json()

    assert [job["id"] for job in (*page["data"], *rest["data"])] == [job["id"] for job in jobs]
    chosen = box.call("GET", PATH, query_string={"job_ids": jobs[1]["id_str"]}).get_json()
    assert [job["id"] for job in chosen["data"]] == [jobs[1]["id"]]
    assert chosen["request"]["params"] == {"account_id": ACCOUNT, "job_ids": [jobs[1]["id_str"]]}
    other = box.call("GET", "/12/stats/jobs/accounts/18ce551k9m7", keys=NORTHBIKE)
    assert other.get_json()["data"] == []


def test_a_job_is_cancelled(box: Sandbox) -> None:
    """Once; a job that has ended, and an unknown one, cannot be."""
    job = create(box)
    path = f"{PATH}/{job['id_str']}"

    assert box.call("DELETE", path).get_json()["data"]["status"] == "CANCELLED"
    assert refusal(box.call("DELETE", path)) == (400, [("INVALID_PARAMETER", "job_id")])
    done = finish(box)
    ended = box.call("DELETE", f"{PATH}/{done['id_str']}")
    assert refusal(ended) == (400, [("INVALID_PARAMETER", "job_id")])
    assert refusal(box.call("DELETE", f"{PATH}/5")) == (404, [("NOT_FOUND", "job_id")])


def test_a_hundred_jobs_at_once(box: Sandbox) -> None:
    """The headers count them; one more is refused until one of them has ended."""
    box.world.transitions.set_pace("stats_job", progression="manual")
    left = []
    for _ in range(MOST_AT_ONCE):
        response = ask(box)
        left.append(int(response.headers["x-concurrent-job-limit-remaining"]))
    refused = ask(box)

    assert left == list(range(99, -1, -1))
    assert refused.headers["x-concurrent-job-limit"] == "100"
    assert refusal(refused) == (429, [("TOO_MANY_REQUESTS", None)])
    box.call("DELETE", f"{PATH}/{response.get_json()['data']['id_str']}")
    listed = box.call("GET", PATH)
    assert listed.headers["x-concurrent-job-limit-remaining"] == "1"
    assert ask(box).status_code == 200


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"start_time": "2026-08-20T08:00:00Z"}, 200),
        ({"start_time": "2026-08-20T07:00:00Z"}, 400),
        ({"start_time": "2026-10-04T08:00:00Z", "segmentation_type": "GENDER"}, 200),
        ({"start_time": "2026-10-04T07:00:00Z", "segmentation_type": "GENDER"}, 400),
    ],
)
def test_ninety_days_at_most(box: Sandbox, params: dict[str, str], status: int) -> None:
    """Half as many with segments."""
    assert ask(box, **params).status_code == status


def test_metros_are_those_of_a_country(box: Sandbox) -> None:
    """The country is required for them, and only for them."""
    refused = ask(box, segmentation_type="METROS")

    assert refusal(refused) == (400, [("MISSING_PARAMETER", "country")])
    assert ask(box, segmentation_type="METROS", country="96683cc9126741d1").status_code == 200


@pytest.mark.parametrize("kind", ["AGE", "GENDER", "METROS", "PLATFORMS", "CONVERSION_TAGS"])
def test_segments_add_up_to_the_whole(box: Sandbox, kind: str) -> None:
    """In every hour, for every metric."""
    job = finish(box, segmentation_type=kind, country="96683cc9126741d1")
    found = json.loads(gzip.decompress(fetch(box, job["url"]).get_data()))
    whole = box.call("GET", SYNCHRONOUS, query_string=QUERY).get_json()["data"][0]["id_data"][0]

    parts = found["data"][0]["id_data"]
    assert {*parts[0]["segment"]} == {"segment_name", "segment_value"}
    for name, counts in whole["metrics"].items():
        values = [part["metrics"][name] for part in parts if part["metrics"][name]]
        assert all(count >= 0 for series in values for count in series)
        assert [sum(each) for each in zip(*values, strict=True)] == (counts or [])


def test_a_job_in_a_world_of_its_own(box: Sandbox) -> None:
    """The address of the result is in that world."""
    box.client.put("/_mock/worlds/other")
    box.platform.worlds.get("other").clock.freeze(NOW)
    job = box.call("POST", f"/~other{PATH}", query_string=QUERY).get_json()["data"]
    box.platform.worlds.get("other").clock.advance(2)
    query = {"job_ids": job["id_str"]}
    found = box.call("GET", f"/~other{PATH}", query_string=query).get_json()["data"][0]

    assert found["url"].startswith("http://localhost/~other/")
    assert fetch(box, found["url"]).status_code == 200
    assert fetch(box, found["url"].replace("/~other", "")).status_code == 404


def test_results_have_the_names_of_the_request(box: Sandbox) -> None:
    """With original names the file has them too, as the synchronous answer has."""
    path = urlsplit(finish(box)["url"]).path
    headers = {"X-Mock-Names": "original"}

    plain = gzip.decompress(box.client.get(path).data)
    original = gzip.decompress(box.client.get(path, headers=headers).data)

    assert b'"reposts":' in plain
    assert b'"reposts":' not in original
    assert b'"retweets":' in original
