from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.spec.rows import PROBLEM_OBJECT, REPLAY, REPLAY_REQUEST, REPLAY_RESPONSE
from tests.support import BEARER, body_of
from tests.support_receiver import unused_port
from tests.support_replay import NOW, WEBHOOK, Desk
from tests.waits import PATIENCE

SECOND_WEBHOOK = "1146654567674912770"
"""Another webhook of the same app."""
FOREIGN_WEBHOOK = "1201845037316968449"
"""A webhook of another app."""
PROBLEM = "application/problem+json"
PRESENT = "202611201200"


def nowhere() -> str:
    """An address at which nothing listens."""
    return f"http://127.0.0.1:{unused_port()}/"


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A sandbox at 12:00:30 whose webhooks lead nowhere, and whose jobs stay in progress."""
    with Desk(nowhere()) as found:
        found.lead_to(nowhere(), SECOND_WEBHOOK)
        found.pace("manual")
        yield found
        assert [] == found.platform.errors


def send(desk: Desk, data: bytes = b"{}", content_type: str = "application/json") -> TestResponse:
    """Send a body as it is."""
    more: dict[str, Any] = {"data": data, "content_type": content_type}
    return desk.call("POST", "/2/webhooks/replay", keys=BEARER, **more)


def faults_in(answer: TestResponse) -> dict[str, str]:
    """Each parameter of an invalid-request problem with its message."""
    assert (400, PROBLEM) == (answer.status_code, answer.content_type)
    body = answer.get_json()
    assert "http://localhost/2/problems/invalid-request" == body["type"]
    return {name: error["message"] for error in body["errors"] for name in error["parameters"]}


def jobs(desk: Desk) -> int:
    """How many jobs there are."""
    return desk.world.store.count("replay_jobs")


class TestCreated:
    """A request that is accepted."""

    @pytest.mark.spec(REPLAY_RESPONSE, "job_id: yes: Identifier", "created_at: yes")
    @pytest.mark.spec(REPLAY, "Purpose: create", "Success: HTTP 200")
    @pytest.mark.spec("A, Authentication", "HTTP bearer token")
    def test_the_answer_is_flat(self, desk: Desk) -> None:
        """The answer has job_id, and created_at with milliseconds and Z, and nothing else."""
        answer = desk.post()
        body = body_of(answer)

        assert "application/json; charset=utf-8" == answer.content_type
        assert {"job_id", "created_at"} == set(body)
        assert re.fullmatch(r"[0-9]{19}", body["job_id"])
        assert "2026-11-20T12:00:30.000Z" == body["created_at"]
        marked = set(answer.headers["X-Mock-Assumptions"].split(","))
        assert {"replay.to-date-exclusive", "replay.window", "replay.crc"} <= marked

    @pytest.mark.spec(REPLAY_RESPONSE, "job_id: yes: Identifier")
    @pytest.mark.spec(REPLAY, "Purpose: create")
    def test_the_job_stands_in_its_table(self, desk: Desk) -> None:
        """What was asked for is on record, in progress."""
        dates = {"from_date": "202611201000", "to_date": "202611201100"}
        job_id = desk.create(**dates)

        expected = dates | {"id": job_id, "webhook_id": WEBHOOK, "_app_id": "11827"}
        times = {"created_at": "2026-11-20T12:00:30.000Z", "state": "IN_PROGRESS"}
        assert (expected | times).items() <= desk.job(job_id).items()

    @pytest.mark.spec(REPLAY_REQUEST, "webhook_id: yes")
    @pytest.mark.spec("A, Webhook config id", "A string of 1 to")
    @pytest.mark.spec("A, Limits", "webhook_id: 1 to", side="inside")
    @pytest.mark.parametrize("webhook_id", ["7", "1" * 19])
    def test_a_webhook_id_has_1_to_19_digits(self, desk: Desk, webhook_id: str) -> None:
        """The shortest and the longest id are accepted."""
        desk.put("webhooks", webhook_id, desk.record("webhooks", WEBHOOK) | {"id": webhook_id})
        desk.create(webhook_id=webhook_id)

    @pytest.mark.spec("A, Other v2 endpoints", "The job re-delivers")
    @pytest.mark.spec("A, Limits", "Replay window: events", side="inside")
    @pytest.mark.parametrize("to_date", ["202611201200", "202611191200"])
    def test_the_window_may_be_24_hours(self, desk: Desk, to_date: str) -> None:
        """From the minute 24 hours ago to the present minute is the largest window; or none."""
        desk.create(from_date="202611191200", to_date=to_date)

    def test_unknown_keys_are_ignored_with_a_warning(self, desk: Desk) -> None:
        """A key that the spec does not name changes nothing, and the journal says so."""
        desk.create(reason="audit")
        (entry,) = desk.world.journal
        assert ["key 'reason' is unknown and was ignored"] == list(entry.warnings)

    def test_strict(self) -> None:
        """With --strict the same key is refused, naming the assumption; the rest is served."""
        with Desk(nowhere(), strict=True) as desk:
            refused = body_of(desk.post(reason="audit"), 501)
            desk.create()
        assert "parameters.ignored" in refused["detail"]


class TestRefused:
    """A request whose parameters do not fit."""

    @pytest.mark.spec(REPLAY_REQUEST, "webhook_id: yes", "from_date: yes", "to_date: yes: UTC")
    @pytest.mark.spec(PROBLEM_OBJECT, "invalid-request")
    def test_everything_missing_is_told_at_once(self, desk: Desk) -> None:
        """An empty object lacks three parameters; the problem is exactly this."""
        answer = desk.post(webhook_id=None, from_date=None, to_date=None)

        assert {
            "type": "http://localhost/2/problems/invalid-request",
            "title": "Invalid Request",
            "detail": "One or more parameters to your request was invalid.",
            "status": 400,
            "errors": [
                {"message": f"$.{name}: is missing but it is required", "parameters": {name: []}}
                for name in ("webhook_id", "from_date", "to_date")
            ],
        } == answer.get_json()
        assert (400, PROBLEM) == (answer.status_code, answer.content_type)
        assert 0 == jobs(desk)

    @pytest.mark.spec(REPLAY_REQUEST, "webhook_id: yes")
    @pytest.mark.spec("A, Webhook config id", "A string of 1 to")
    @pytest.mark.spec("A, Limits", "webhook_id: 1 to", side="outside")
    @pytest.mark.parametrize("value", ["", "1" * 20, "12a", " 1", "-1", "١٢", "1\n", 5, None, []])
    def test_other_webhook_ids_are_refused(self, desk: Desk, value: Any) -> None:
        """1 to 19 ASCII digits in a string, nothing else; the problem contains the value."""
        body = desk.body() | {"webhook_id": value}
        answer = desk.call("POST", "/2/webhooks/replay", keys=BEARER, json=body)
        assert ["webhook_id"] == list(faults_in(answer))

    @pytest.mark.spec(REPLAY_REQUEST, "from_date: yes", "to_date: yes: UTC")
    @pytest.mark.spec("A, Limits", "from_date, to_date", side="outside")
    @pytest.mark.parametrize("name", ["from_date", "to_date"])
    @pytest.mark.parametrize(
        "value",
        ["20261120100", "2026112010000", "2026-11-2010", "٢٠٢٦١١٢٠١٠٠٠", "202611201000 ",
         202611201000, "202602301200"],
    )  # fmt: skip
    def test_dates_have_exactly_12_digits(self, desk: Desk, name: str, value: Any) -> None:
        """11 and 13 characters, other characters, numbers and 30 February are refused."""
        wrong = "does not match the regex pattern ^[0-9]{12}$"
        said = wrong if isinstance(value, str) else "integer found, string expected"
        if value == "202602301200":
            said = "expected a minute of the calendar as yyyymmddhhmm (day is out of range for mont"

        ((found, message),) = faults_in(desk.post(**{name: value})).items()
        assert (name, f"$.{name}: {said}") == (found, message.removesuffix("h)"))

    @pytest.mark.spec(REPLAY_REQUEST, "The description")
    @pytest.mark.spec("A, Events", "A webhook receives")
    @pytest.mark.spec("A, Limits", "Replay window: events", side="outside")
    @pytest.mark.parametrize(
        ("changes", "faults"),
        [
            ({"from_date": "202611191159"}, {"from_date": "from_date may lie at most 24 hours back:"
             " it is before 202611191200, got 202611191159"}),
            ({"from_date": "202611201201", "to_date": "202611201201"}, {
                name: f"{name} must not be in the future: it is after {PRESENT}, got 202611201201"
                for name in ("from_date", "to_date")}),
            ({"from_date": "202611201101", "to_date": "202611201100"}, {"from_date": "from_date "
             "must not be after to_date, got 202611201101 and 202611201100"}),
        ],
    )  # fmt: skip
    def test_windows(self, desk: Desk, changes: dict[str, str], faults: dict[str, str]) -> None:
        """A minute too old is refused, not clipped; so are the future, and dates out of order."""
        assert faults == faults_in(desk.post(**changes))

    def test_faults_are_told_together(self, desk: Desk) -> None:
        """What cannot be read does not hide a window that is too old and ends in the future."""
        old = {"from_date": "202611191159"}
        several = faults_in(desk.post(webhook_id="x", to_date="202611201201", **old))
        unread = faults_in(desk.post(to_date="tomorrow", **old))
        both = desk.post(from_date="202611201205", to_date="202611190000").get_json()["errors"]

        assert {"webhook_id", "from_date", "to_date"} == set(several)
        assert {"from_date", "to_date"} == set(unread)
        assert "24 hours back" in unread["from_date"]
        first, second = (error["message"] for error in both)
        assert "from_date must not be in the future" in first
        assert "from_date must not be after to_date" in second

    def test_the_minimum_age_is_a_setting(self) -> None:
        """With --replay-minimum-age, 31 and 10 minutes pass and a minute less does not."""
        with Desk(nowhere(), replay_minimum_age=True) as desk:
            young = faults_in(desk.post(from_date="202611201130", to_date="202611201151"))
            desk.create(from_date="202611201129", to_date="202611201150")

        assert young == {
            name: f"{name} must be at least {age} minutes ago: it is after {last}, got {sent}"
            for name, age, last, sent in (
                ("from_date", 31, "202611201129", "202611201130"),
                ("to_date", 10, "202611201150", "202611201151"),
            )
        }

    def test_the_window_is_read_against_the_worlds_clock(self, desk: Desk) -> None:
        """After a time travel the window follows the new time."""
        desk.world.clock.travel(NOW - timedelta(days=30))
        desk.create(from_date="202610201200", to_date="202610211200")
        later = desk.post(from_date="202611201100", to_date="202611201200")
        assert ["from_date", "to_date"] == list(faults_in(later))

    @pytest.mark.spec(REPLAY_REQUEST, "JSON body, Content-Type")
    @pytest.mark.spec(REPLAY, "Request: JSON body")
    @pytest.mark.parametrize(
        "content_type",
        ["text/plain", "application/x-www-form-urlencoded", "", "application/xml", PROBLEM],
    )
    def test_another_content_type_is_refused(self, desk: Desk, content_type: str) -> None:
        """Only application/json is read."""
        answer = send(desk, content_type=content_type)
        assert PROBLEM == answer.content_type
        assert "needs Content-Type application/json" in body_of(answer, 415)["detail"]

    @pytest.mark.spec(REPLAY_REQUEST, "JSON body, Content-Type")
    @pytest.mark.parametrize(
        "content_type", ["application/json;charset=utf-8", "Application/JSON", "application/json ;"]
    )
    def test_parameters_of_the_content_type_do_not_matter(
        self, desk: Desk, content_type: str
    ) -> None:
        """A charset after application/json, and its case, are no reason to refuse."""
        found = faults_in(send(desk, content_type=content_type))
        assert {"webhook_id", "from_date", "to_date"} == set(found)

    @pytest.mark.spec(REPLAY_REQUEST, "JSON body, Content-Type")
    @pytest.mark.spec(REPLAY, "Request: JSON body")
    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"null", b"[" * 100 + b"]" * 100])
    def test_a_body_that_is_no_object_is_refused(self, desk: Desk, body: bytes) -> None:
        """Nothing, half of it, an array, a text, null and too deep a nest all answer 400."""
        answer = send(desk, body)
        assert {} == faults_in(answer)
        assert 1 == len(answer.get_json()["errors"])

    @pytest.mark.parametrize(
        ("body", "kind"),
        [(b'"x"', "string"), (b"null", "null"), (b"true", "boolean"), (b"1", "integer")],
    )
    def test_another_kind_of_body_is_named(self, desk: Desk, body: bytes, kind: str) -> None:
        """What was sent instead of an object is called by its name in JSON."""
        (error,) = body_of(send(desk, body), 400)["errors"]
        assert f"The body must be a JSON object or array, got {kind}." == error["message"]


class TestWhoMay:
    """Authentication, and whose webhook it is."""

    @pytest.mark.spec(PROBLEM_OBJECT, "about:blank: Generic")
    @pytest.mark.spec(REPLAY, "Auth: bearer token")
    @pytest.mark.spec("A, Authentication", "HTTP bearer token")
    @pytest.mark.parametrize("bearer", [None, "", "nobody's"])
    def test_without_a_bearer_token_it_is_unauthorized(
        self, desk: Desk, bearer: str | None
    ) -> None:
        """A token that is missing or was never issued answers the generic problem, 401."""
        answer = desk.post(bearer=bearer)
        body = body_of(answer, 401)

        assert (PROBLEM, "about:blank", "Unauthorized") == (
            answer.content_type, body["type"], body["title"]
        )  # fmt: skip

    @pytest.mark.spec(REPLAY, "Failure (default")
    @pytest.mark.spec("A, Errors", "Use of an invalidated")
    def test_an_invalidated_token_has_code_89(self, desk: Desk) -> None:
        """A token that was valid once answers 401 with code 89 in an errors array."""
        desk.change("tokens", BEARER, state="invalidated")
        assert [89] == [error["code"] for error in body_of(desk.post(), 401)["errors"]]

    @pytest.mark.spec(PROBLEM_OBJECT, "unsupported-authentication")
    @pytest.mark.spec(REPLAY, "Auth: bearer token")
    def test_a_users_token_is_not_supported(self, desk: Desk) -> None:
        """OAuth 1.0a user context answers unsupported-authentication, 403."""
        answer = desk.call("POST", "/2/webhooks/replay", json=desk.body())
        problem = "http://localhost/2/problems/unsupported-authentication"
        assert problem == body_of(answer, 403)["type"]

    @pytest.mark.spec(PROBLEM_OBJECT, "resource-not-found")
    @pytest.mark.parametrize("webhook_id", ["404", FOREIGN_WEBHOOK])
    def test_an_unknown_webhook_is_not_found(self, desk: Desk, webhook_id: str) -> None:
        """A webhook that does not exist, or is another app's, is the same problem."""
        answer = desk.post(webhook_id=webhook_id)

        assert (404, PROBLEM) == (answer.status_code, answer.content_type)
        assert {
            "type": "http://localhost/2/problems/resource-not-found", "title": "Not Found Error",
            "detail": f"Could not find webhook with id: [{webhook_id}].", "status": 404,
            "parameter": "webhook_id", "value": webhook_id, "resource_id": webhook_id,
            "resource_type": "user",
        } == answer.get_json()  # fmt: skip
        assert "problem.webhook-resource-type" in answer.headers["X-Mock-Assumptions"]

    def test_parameters_come_before_the_webhook(self, desk: Desk) -> None:
        """An unknown webhook with a wrong window is an invalid request."""
        assert ["to_date"] == list(faults_in(desk.post(webhook_id="404", to_date="202611201201")))


class TestConflict:
    """One job at a time for each webhook."""

    @pytest.mark.spec(PROBLEM_OBJECT, "conflict: A new")
    @pytest.mark.spec(REPLAY, "Conflict problem")
    @pytest.mark.spec("A, States and transitions", "while a job is")
    @pytest.mark.spec("A, Errors", "Create replay job")
    def test_a_second_job_is_a_conflict(self, desk: Desk) -> None:
        """A second create answers the conflict problem, 409; the journal names the job."""
        job_id = desk.create()
        answer = desk.post()

        assert (409, PROBLEM) == (answer.status_code, answer.content_type)
        assert {
            "type": "http://localhost/2/problems/conflict", "title": "Conflict",
            "detail": "You cannot create a new job if one is already in progress.", "status": 409,
        } == answer.get_json()  # fmt: skip
        text = (
            f"replay job {job_id} is in progress for webhook {WEBHOOK} until it ends by its "
            "transition (/_mock/transitions/replay_job)"
        )
        diagnosis = list(desk.world.journal)[-1].diagnosis
        assert {"mistake": "conflict", "explanation": text} == diagnosis
        assert 1 == jobs(desk)

    def test_another_webhook_is_free(self, desk: Desk) -> None:
        """A job of one webhook does not block another webhook's."""
        desk.create()
        assert 200 == desk.post(webhook_id=SECOND_WEBHOOK).status_code
        assert 409 == desk.post(webhook_id=SECOND_WEBHOOK).status_code

    @pytest.mark.spec(PROBLEM_OBJECT, "Type values have")
    def test_another_world_is_free(self, desk: Desk) -> None:
        """Worlds do not see each other's jobs; the problem's type has the world's address."""
        desk.create()
        other = desk.platform.worlds.create("w1")
        with other.work():
            other.transitions.set_pace("replay_job", progression="manual")

        assert 200 == desk.post(prefix="/~w1").status_code
        answer = desk.post(prefix="/~w1")
        assert "http://localhost/~w1/2/problems/conflict" == answer.get_json()["type"]

    @pytest.mark.spec("A, States and transitions", "while a job is")
    @pytest.mark.parametrize("end", ["COMPLETE", "INCOMPLETE"])
    def test_a_job_that_ended_is_in_nobodys_way(self, desk: Desk, end: str) -> None:
        """After either end another job may be created."""
        job_id = desk.create()
        with desk.world.work():
            desk.world.transitions.move("replay_job", job_id, end)
        assert 200 == desk.post().status_code

    def test_the_clock_outlives_the_conflict(self, desk: Desk) -> None:
        """Two seconds after the last attempt, on the world's clock, the next job is accepted."""
        desk.pace("time")
        desk.create()
        desk.wait()

        desk.world.clock.advance(1.999)
        assert 409 == desk.post().status_code
        desk.world.clock.advance(0.001)
        assert 200 == desk.post().status_code

    def test_a_refused_request_counts_as_a_look(self, desk: Desk) -> None:
        """Under `polls` a refusal changes nothing but the count, and the count stays."""
        desk.pace("polls", polls=2)
        desk.create()
        desk.wait()
        assert [409, 200] == [desk.post().status_code for _ in range(2)]

    @pytest.mark.spec(REPLAY, "Conflict problem")
    def test_thirty_two_clients_create_one_job(self, desk: Desk) -> None:
        """Of 32 requests at the same time one is accepted and 31 are conflicts."""
        start, statuses = threading.Barrier(32), list[int]()

        def ask() -> None:
            start.wait(PATIENCE)
            statuses.append(desk.post().status_code)

        threads = [threading.Thread(target=ask) for _ in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)

        assert [200, *[409] * 31] == sorted(statuses)
        assert 1 == jobs(desk)
        assert 32 == len(desk.world.journal)


class TestLimit:
    """100 requests per app and 15 minutes, a public number."""

    def test_the_hundred_and_first_request_is_refused(self) -> None:
        """With --limits public the window counts, shows its state, and ends by the clock."""
        with Desk(nowhere(), limits="public") as desk:
            desk.pace("manual")
            answers = [desk.post(webhook_id="404") for _ in range(100)]
            assert {404} == {answer.status_code for answer in answers}
            refused = desk.post(webhook_id="404")

            assert {"code": 88, "message": "Rate limit exceeded"} == body_of(refused, 429)
            assert ["100", "0"] == [
                refused.headers[f"x-rate-limit-{name}"] for name in ("limit", "remaining")
            ]
            desk.world.clock.advance(15 * 60 - 1)
            assert 429 == desk.post().status_code
            desk.world.clock.advance(1)
            answer = desk.post()
            assert (200, "99") == (answer.status_code, answer.headers["x-rate-limit-remaining"])

    @pytest.mark.spec("A, Versioning", "Numeric rate limits")
    def test_it_is_off_by_default(self, desk: Desk) -> None:
        """The spec shows no number, so by default nothing is counted or shown."""
        statuses = {desk.post(webhook_id="404").status_code for _ in range(101)}
        assert {404} == statuses
        assert "x-rate-limit-limit" not in desk.post().headers
