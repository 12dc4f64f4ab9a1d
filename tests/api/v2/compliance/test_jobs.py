"""Compliance jobs: made, filled, processed, and what they find."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.compliance.jobs import MOST_BYTES
from mock_platform.api.v2.posts.changes import delete_post
from tests.api.v2.filtered_stream.support import PostingClient
from tests.refusals import Refusal, make_refusal_test
from tests.support import body_of, data_of
from tests.support_streams import OTHER_USER, USER

PATH = "/2/compliance/jobs"
EMPTY = ("compliance_jobs",)
THIRD_USER = "2790441185"
NOW = "2026-11-20T12:00:30.000Z"


class Client(PostingClient):
    """The well-known app, and its jobs."""

    def make(self, type_: str = "posts", **more: Any) -> Any:
        """Make a job."""
        return data_of(self.call("POST", PATH, json={"type": type_, **more}))

    def put(self, url: str, *ids: str, body: str = "", **headers: str) -> TestResponse:
        """Upload ids, as anybody who knows the address can."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body or "\n".join(ids) + "\n"
        return self.desk.client.put(url, data=data, headers=named, content_type="text/plain")

    def fetch(self, job: Any) -> TestResponse:
        """Download the results of a job."""
        return self.desk.client.get(job["download_url"])

    def look(self, job: Any) -> Any:
        """The status of a job."""
        return self.read(f"{PATH}/{job['id']}")["data"]["status"]

    def find(self, type_: str, *ids: str) -> list[dict[str, Any]]:
        """What a job of these ids finds."""
        job = self.make(type_)
        assert 200 == self.put(job["upload_url"], *ids).status_code
        assert "in_progress" == self.look(job)
        self.desk.advance(seconds=2)
        assert "complete" == self.look(job)
        answer = self.fetch(job)
        assert (200, "text/plain") == (answer.status_code, answer.mimetype)
        return [json.loads(line) for line in answer.text.splitlines()]


def test_a_new_job(client: Client) -> None:
    """It waits for its ids, with both addresses and until when they hold."""
    job = client.make(name="Weekly")
    address = f"http://localhost{PATH}/{job['id']}"

    upload, key = job.pop("upload_url").rsplit("/", 1)
    assert (f"{address}/upload", 24) == (upload, len(key))
    assert f"{address}/download/{key}" == job.pop("download_url")
    assert job == {
        "id": job["id"], "type": "posts", "name": "Weekly", "resumable": False,
        "status": "created", "created_at": NOW,
        "upload_expires_at": "2026-11-20T12:15:30.000Z",
        "download_expires_at": "2026-11-27T12:00:30.000Z",
    }  # fmt: skip


def test_addresses_are_below_the_prefix_of_the_world(client: Client) -> None:
    """A job of another world has addresses that lead to it."""
    client.desk.client.put("/_mock/worlds/other", json={})
    job = client.call("POST", f"/~other{PATH}", json={"type": "users"}).get_json()["data"]
    assert job["upload_url"].startswith(f"http://localhost/~other{PATH}/")
    assert 200 == client.put(job["upload_url"], USER).status_code


def test_what_became_of_posts(client: Client) -> None:
    """Only the ids of posts that are gone or hidden are in the results, each once."""
    gone, hidden, kept = (client.post("Bread", user=user) for user in (USER, OTHER_USER, USER))
    other = client.post("Bread", user=THIRD_USER)
    client.desk.advance(seconds=60)
    with client.desk.world.work():
        delete_post(client.desk.world, gone)
    client.desk.change("users", OTHER_USER, protected=True)
    client.desk.change("users", THIRD_USER, _geo_scrubbed_up_to=other["id_str"])
    ids = [post["id_str"] for post in (gone, hidden, kept, other)]
    common = {"action": "delete", "created_at": NOW, "redacted_at": "2026-11-20T12:01:30.000Z"}

    assert [
        {"id": ids[0], **common, "reason": "deleted"},
        {"id": ids[1], **common, "reason": "protected"},
        {"id": ids[3], **common, "reason": "scrub_geo"},
    ] == client.find("posts", *ids, ids[0], "404")


@pytest.mark.parametrize(
    ("field", "reason"),
    [("protected", "protected"), ("_suspended", "suspended"), ("_deactivated", "deactivated")],
)
def test_what_became_of_users(client: Client, field: str, reason: str) -> None:
    """A user and the posts of the user have the same reason; who is as before is left out."""
    post = client.post("Bread")
    client.desk.change("users", OTHER_USER, **{field: True})
    (user,) = client.find("users", OTHER_USER, USER, "404")
    (found,) = client.find("posts", post["id_str"])

    assert (OTHER_USER, reason, NOW) == (user["id"], user["reason"], user["redacted_at"])
    assert (post["id_str"], reason, NOW) == (found["id"], found["reason"], found["redacted_at"])


def test_removed_users(client: Client) -> None:
    """A user whom the control plane removes is deleted."""
    client.desk.remove("users", THIRD_USER)
    assert ["deleted"] == [line["reason"] for line in client.find("users", THIRD_USER)]


def test_nothing_is_affected(client: Client) -> None:
    """Then the results are empty, as they are for no ids at all."""
    assert [] == client.find("users", USER)
    assert [] == client.find("users")


def test_a_line_that_is_no_id(client: Client) -> None:
    """The job fails, and there is nothing to download."""
    job = client.make()
    client.put(job["upload_url"], "12", "abc")
    client.desk.advance(seconds=2)

    assert "failed" == client.look(job)
    assert 404 == client.fetch(job).status_code


def test_ids_that_do_not_come(client: Client) -> None:
    """Until the last moment the address takes them; then the job is expired."""
    late, job = client.make(), client.make()
    client.desk.advance(seconds=899.999)
    assert 200 == client.put(job["upload_url"], USER).status_code
    client.desk.advance(seconds=0.001)

    refused = client.put(late["upload_url"], USER)
    assert (403, True) == (refused.status_code, "expired at" in refused.get_json()["detail"])
    assert "expired" == client.look(late)
    assert {"meta": {"result_count": 0}} == client.read(f"{PATH}?type=posts&status=created")


def test_results_that_nobody_fetches(client: Client) -> None:
    """After seven days the address no longer holds; the job stays complete."""
    job = client.make("users")
    client.put(job["upload_url"], USER)
    client.desk.advance(seconds=7 * 86_400 - 0.001)
    assert 200 == client.fetch(job).status_code
    assert "it is complete" in body_of(client.put(job["upload_url"], USER), 409)["detail"]
    client.desk.advance(seconds=0.001)

    assert 403 == client.fetch(job).status_code
    assert "complete" == client.look(job)


def test_uploads_that_are_refused(client: Client) -> None:
    """An address takes ids once, and only with its key and as plain text."""
    job = client.make()
    url, send = job["upload_url"], client.desk.client.put
    assert 415 == send(url, data="1", content_type="application/json").status_code
    assert 404 == client.put(url[:-1] + "_", USER).status_code
    assert 404 == client.fetch(job).status_code
    assert 413 == client.put(url, body="1" * (MOST_BYTES + 1)).status_code
    assert 403 == client.desk.client.post(url).status_code, "it is not resumable"
    assert 200 == client.put(url, body="1\n" * (MOST_BYTES // 2)).status_code

    assert 409 == client.put(url, USER).status_code
    assert "in_progress" == client.look(job)


def test_resumable_uploads(client: Client) -> None:
    """A POST names the address that takes the ids, in parts if the client likes."""
    job = client.make("users", resumable=True)
    client.desk.change("users", USER, protected=True)
    assert 403 == client.put(job["upload_url"], USER).status_code
    begun = client.desk.client.post(job["upload_url"])
    assert (201, b"") == (begun.status_code, begun.data)
    session, half = begun.headers["Location"], len(USER) // 2
    total = len(USER)

    part = client.put(session, body=USER[:half], Content_Range=f"bytes 0-{half - 1}/{total}")
    assert (308, f"bytes=0-{half - 1}") == (part.status_code, part.headers["Range"])
    assert "created" == client.look(job)
    for wrong in (f"bytes 0-{half - 1}/{total}", "bytes 5", f"bytes {half}-99/{total}"):
        refused = client.put(session, body=USER[half:], Content_Range=wrong)
        assert 416 == refused.status_code
    rest = f"bytes {half}-{total - 1}/{total}"
    assert 200 == client.put(session, body=USER[half:], Content_Range=rest).status_code
    client.desk.advance(seconds=2)
    (line,) = client.fetch(job).text.splitlines()
    assert (USER, "protected") == (json.loads(line)["id"], json.loads(line)["reason"])


def test_parts_of_a_resumable_upload_are_limited_together(client: Client) -> None:
    """What all parts have together is limited too."""
    job = client.make(resumable=True)
    session = client.desk.client.post(job["upload_url"]).headers["Location"]
    body = "1\n" * (MOST_BYTES // 2)
    first = client.put(session, body=body, Content_Range=f"bytes 0-{MOST_BYTES - 1}/*")
    more = client.put(session, body="1", Content_Range=f"bytes {MOST_BYTES}-{MOST_BYTES}/*")

    assert (308, 413) == (first.status_code, more.status_code)


def test_lists(client: Client) -> None:
    """An app sees its own jobs of a type, newest first, of a status if it asks for one."""
    first, _ = client.make(), client.make("users")
    client.desk.advance(seconds=1)
    second = client.make()
    client.put(first["upload_url"], USER)
    stored = client.desk.record("compliance_jobs", first["id"])
    client.desk.put("compliance_jobs", "5", stored | {"id": "5", "_app_id": "20993"})

    def listed(query: str) -> list[str]:
        body = client.read(f"{PATH}?{query}")
        found = [job["id"] for job in body.get("data", ())]
        assert len(found) == body["meta"]["result_count"]
        return found

    assert [second["id"], first["id"]] == listed("type=posts")
    assert [second["id"]] == listed("type=posts&status=created")
    assert [first["id"]] == listed("type=posts&status=in_progress")
    assert [] == listed("type=posts&status=failed")
    client.desk.advance(seconds=2)
    assert [first["id"]] == listed("type=posts&status=complete")
    client.read(f"{PATH}/5", 404)


def test_fields(client: Client) -> None:
    """Name and resumable are left out if other fields are named; the rest is always there."""
    query = "?compliance_job.fields=status,name"
    job = data_of(client.call("POST", PATH + query, json={"type": "users", "name": "N"}))
    read = client.read(f"{PATH}/{job['id']}?compliance_job.fields=id")["data"]
    (listed,) = client.read(f"{PATH}{query}&type=users")["data"]

    assert {"name", "status", "upload_url"} <= set(job)
    assert "resumable" not in job
    assert set(job) - {"name"} == set(read)
    assert job == listed


def test_the_control_plane_moves_jobs(client: Client) -> None:
    """Jobs are a kind of transition: they can wait, or fail by hand."""
    with client.desk.world.work():
        client.desk.world.transitions.set_pace("compliance_job", progression="manual")
    job = client.make()
    client.put(job["upload_url"], USER)
    client.desk.advance(seconds=60)
    assert "in_progress" == client.look(job)
    with client.desk.world.work():
        client.desk.world.transitions.move("compliance_job", job["id"], "failed")

    assert "failed" == client.look(job)


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("compliance-upload-expired", (403, "created", 404)),
        ("compliance-job-failed", (200, "failed", 404)),
    ],
)
def test_scenarios(client: Client, scenario: str, expected: tuple[int, str, int]) -> None:
    """A late upload, and a job that fails, without waiting for either."""
    job = client.make()
    client.desk.client.post(f"/_mock/scenarios/{scenario}/activate")
    uploaded = client.put(job["upload_url"], USER)
    read, fetched = client.look(job), client.fetch(job)

    assert expected == (uploaded.status_code, read, fetched.status_code)


REFUSED = [
    Refusal(f"POST {PATH}/404/upload/x", "an upload for an unknown job", 404, keys=None,
            problem="resource-not-found"),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
