"""Compliance jobs: which posts or users of a list are gone, protected or suspended.

A client makes a job, puts its ids to the job's upload address, and gets lines of JSON from the
download address, one for each id that something has happened to. The operations of jobs are public
facts (all of v2, section 15); the two addresses are the sandbox's own, where the service has those
of a file store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.compliance.causes import find_latest
from mock_platform.api.v2.conventions import (
    ID,
    Rates,
    declare_public,
    find_id_faults,
    find_nothing,
    forbid,
    get_app,
    make_id_field,
    require_record,
)
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS
from mock_platform.api.v2.pages import show_list
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER, Auth
from mock_platform.core.call import Call, Reply
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    Json,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Example, Location, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

JOB_SHAPES = public_fact(
    "compliance-jobs.shapes",
    "Compliance jobs have their public shapes. The upload address holds for 15 minutes, the "
    "download address for 7 days; a job whose ids did not come in time is expired.",
    "all of v2, section 15",
    gap=True,
)
JOB_RESULTS = public_fact(
    "compliance-jobs.results",
    "Results are lines of JSON, one for each affected id: action is delete; reason is deleted, "
    "deactivated, protected, suspended or scrub_geo.",
    "all of v2, section 15",
)
JOB_RULES = expectation(
    "compliance-jobs.rules",
    "An app may have any number of jobs, and sees its own, newest first. A job is complete after 2 "
    "seconds (the transition compliance_job); it fails if a line is no id. compliance_job.fields "
    "leaves out name and resumable alone, as all other fields are required. bounced never occurs.",
)
FILE_ADDRESSES = expectation(
    "compliance-jobs.addresses",
    "Both addresses are the sandbox's own, with a key in place of credentials. Ids come in one PUT "
    "of text/plain with at most 4 MiB; for a resumable job a POST comes first, whose Location "
    "takes the PUT, whole or in parts with Content-Range. Beyond its time an address answers 403, "
    "a second upload 409, a download before the job is complete 404.",
    gap=True,
)
TABLE, KIND = "compliance_jobs", "compliance_job"
MOST_BYTES = 4 * 1024 * 1024
UPLOAD_TIME, DOWNLOAD_TIME = timedelta(minutes=15), timedelta(days=7)
TYPES = ("posts", "users")
CREATED, IN_PROGRESS, COMPLETE, FAILED, EXPIRED = (
    "created", "in_progress", "complete", "failed", "expired",
)  # fmt: skip
_REQUIRED = (
    "id", "type", "created_at", "upload_url", "upload_expires_at", "download_url",
    "download_expires_at", "status",
)  # fmt: skip
FIELDS = (*_REQUIRED, "name", "resumable")
EXAMPLE_PATHS = {"id": "1990735000000000101", "key": "k3v9Qm2Zt8Lw5Xr1Bn7Yc4Hd"}
_NEWEST_FIRST = Order("created_at", descending=True)
_PART = re.compile(r"bytes ([0-9]{1,12})-([0-9]{1,12})/([0-9]{1,12}|\*)", re.ASCII)


class ComplianceJobRecord(Schema):
    """A job; `_key` and `_resume_key` are parts of its addresses, `_text` is what was uploaded."""

    id = make_id_field(required=True)
    type = Choice(TYPES, required=True)
    name = Text(max_length=64)
    resumable = Flag(load_default=False)
    status = Choice((CREATED, IN_PROGRESS, COMPLETE, FAILED, EXPIRED), load_default=CREATED)
    created_at = Instant(millis=True, required=True)
    _app_id = Text(required=True)
    _key = Text(required=True)
    _resume_key = Text(load_default=None, allow_none=True)
    _text = Text(load_default="")
    _results = ListOf(Json(), load_default=list)


class NameOfType(Choice):
    """What the ids of a job are of; the older word for posts is read too."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        return "posts" if text == "tweets" else text


class NewJob(Schema):
    """A job to make, and what to show of it."""

    type = NameOfType(TYPES, required=True)
    name = Text(max_length=64)
    resumable = Flag(load_default=False)
    job_fields = CommaList(Choice(FIELDS), data_key="compliance_job.fields")


class JobQuery(Schema):
    """What to show of a job."""

    job_fields = CommaList(Choice(FIELDS), data_key="compliance_job.fields")


class JobsQuery(JobQuery):
    """Which jobs to list."""

    type = NameOfType(TYPES, required=True)
    status = Choice((CREATED, IN_PROGRESS, FAILED, COMPLETE))


class ComplianceJob(Schema):
    """A job as clients see it."""

    id = Text(required=True)
    type = Choice(TYPES, required=True)
    name = Text()
    resumable = Flag()
    status = Choice((CREATED, IN_PROGRESS, COMPLETE, FAILED, EXPIRED), required=True)
    created_at = Instant(millis=True, required=True)
    upload_url = Text(required=True)
    upload_expires_at = Instant(millis=True, required=True)
    download_url = Text(required=True)
    download_expires_at = Instant(millis=True, required=True)


class ComplianceJobAnswer(Schema):
    """A compliance job, as it is made or read."""

    data = Nested(ComplianceJob, required=True)


class _JobsMeta(Schema):
    result_count = Integer(required=True)


class ComplianceJobList(Schema):
    """The compliance jobs of an app, newest first."""

    data = ListOf(Nested(ComplianceJob))
    meta = Nested(_JobsMeta)


class PlainText(Struct, frozen=True):
    """An answer without a form: what is in a file, or nothing."""

    status: int = 200
    media_type: str = "text/plain"
    schema: None = None

    def describe_body(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the body: a text."""
        return {"type": "string"}

    def reply(self, call: Call, result: bytes | Reply) -> Reply:
        """Return the reply for a text, or the handler's own."""
        if isinstance(result, Reply):
            return result
        return Reply(self.status, result, [("Content-Type", "text/plain; charset=utf-8")])


def create(call: Call, world: World) -> dict[str, Any]:
    """Make a job that waits for its ids."""
    job: Record = {
        "id": world.ids.snowflake(),
        **{
            name: call.params[name] for name in ("type", "name", "resumable") if name in call.params
        },
        "status": CREATED,
        "created_at": wire_millis(world.clock.now()),
        "_app_id": get_app(call)["id"],
        "_key": world.ids.alphanumeric(24),
        "_resume_key": None,
        "_text": "",
        "_results": [],
    }
    world.store.put(TABLE, job["id"], job)
    return {"data": _show(call, world, job)}


def list_(call: Call, world: World) -> dict[str, Any]:
    """Return the app's jobs of a type, newest first."""
    world.transitions.evaluate_all(KIND)
    match = {"_app_id": get_app(call)["id"], "type": call.params["type"]}
    found = world.store.page(TABLE, match, order=_NEWEST_FIRST)
    shown = [_show(call, world, entry.record) for entry in found]
    wanted = call.params.get("status")
    data = [job for job in shown if wanted in {None, job["status"]}]
    return show_list(data, meta={"result_count": len(data)})


def get(call: Call, world: World) -> dict[str, Any]:
    """Return a job of the app."""

    def find(id_: str) -> Record | None:
        world.transitions.evaluate(KIND, id_, poll=True)
        job = world.store.get(TABLE, id_)
        return job if job is not None and job["_app_id"] == get_app(call)["id"] else None

    job = require_record(call, world, TABLE, "job", PARTIAL_ERRORS, find=find, resource_type="post")
    return {"data": _show(call, world, job)}


def _show(call: Call, world: World, job: Record) -> dict[str, Any]:
    address = f"{call.base_url}/2/compliance/jobs/{job['id']}"
    upload_until, download_until = _find_ends(job)
    is_late = job["status"] == CREATED and world.clock.now() >= upload_until
    whole = {
        "id": job["id"],
        "type": job["type"],
        "name": job.get("name"),
        "resumable": job["resumable"],
        "status": EXPIRED if is_late else job["status"],
        "created_at": job["created_at"],
        "upload_url": f"{address}/upload/{job['_key']}",
        "upload_expires_at": wire_millis(upload_until),
        "download_url": f"{address}/download/{job['_key']}",
        "download_expires_at": wire_millis(download_until),
    }
    wanted = {*call.params.get("job_fields", FIELDS), *_REQUIRED}
    return {name: value for name, value in whole.items() if name in wanted and value is not None}


def _find_ends(job: Record) -> tuple[datetime, datetime]:
    """Return until when the addresses of a job hold: that of the upload, and of the download."""
    created = parse_instant(job["created_at"])
    return created + UPLOAD_TIME, created + DOWNLOAD_TIME


# The files.


def begin_upload(call: Call, world: World) -> Reply:
    """Begin the upload of a resumable job, and name the address that takes the ids."""
    job = _find_job_for_upload(call, world, "_key")
    if not job["resumable"]:
        raise forbid("The job is not resumable: PUT the ids to its upload_url.", FILE_ADDRESSES)
    resume_key = world.ids.alphanumeric(24)
    world.store.put(TABLE, job["id"], job | {"_resume_key": resume_key, "_text": ""})
    location = f"{call.base_url}/2/compliance/jobs/{job['id']}/upload/{resume_key}"
    return Reply(201, b"", [("Location", location), ("Content-Type", "text/plain")])


def upload(call: Call, world: World) -> bytes | Reply:
    """Take the ids of a job, whole or the next part of them; with the last one the job begins."""
    job = _find_job_for_upload(call, world, "_key", "_resume_key")
    if job["resumable"] and call.path_params["key"] != job["_resume_key"]:
        text = "The job is resumable: POST to its upload_url, and PUT the ids to the Location."
        raise forbid(text, FILE_ADDRESSES)
    before = job["_text"] if job["resumable"] else ""
    ends = True
    named = call.header("content-range") if job["resumable"] else None
    if named is not None:
        part = _PART.fullmatch(named)
        first, last = (int(part[1]), int(part[2])) if part else (-1, -1)
        if part is None or first != len(before) or last - first + 1 != len(call.body):
            text = f"Content-Range must be bytes {len(before)}-LAST/TOTAL and fit the body."
            raise forbid(text, FILE_ADDRESSES, status=416, title="Range Not Satisfiable")
        ends = part[3] == str(last + 1)
    text = before + call.body.decode("ascii", "replace")
    if len(text) > MOST_BYTES:
        detail = f"The ids of a job may have {MOST_BYTES:,} bytes."
        raise forbid(detail, FILE_ADDRESSES, status=413, title="Content Too Large")
    job = job | {"_text": text} | ({"status": IN_PROGRESS} if ends else {})
    world.store.put(TABLE, job["id"], job)
    if not ends:
        return Reply(308, b"", [("Range", f"bytes=0-{len(text) - 1}")])
    are_ids = all(ID.fullmatch(line) for line in _list_lines(text))
    world.transitions.begin(KIND, job["id"], to=COMPLETE if are_ids else FAILED)
    return b""


def download(call: Call, world: World) -> bytes:
    """Return the results of a job as lines of JSON."""
    world.transitions.evaluate(KIND, call.path_params["id"], poll=True)
    job = _find_job(call, world, "_key")
    if job["status"] != COMPLETE:
        raise _refuse_unknown(call)
    _check_time(world, _find_ends(job)[1])
    return b"".join(dumps(line) + b"\n" for line in job["_results"])


def _find_job(call: Call, world: World, *keys: str) -> Record:
    job = world.store.get(TABLE, call.path_params["id"])
    if job is None or call.path_params["key"] not in [job[name] for name in keys]:
        raise _refuse_unknown(call)
    return job


def _find_job_for_upload(call: Call, world: World, *keys: str) -> Record:
    job = _find_job(call, world, *keys)
    if job["status"] != CREATED:
        text = f"The ids of the job are here already: it is {job['status']}."
        raise forbid(text, FILE_ADDRESSES, status=409, title="Conflict")
    _check_time(world, _find_ends(job)[0])
    return job


def _check_time(world: World, until: datetime) -> None:
    if world.clock.now() >= until:
        raise forbid(f"The address expired at {wire_millis(until)}.", FILE_ADDRESSES)


def _refuse_unknown(call: Call) -> ProblemFailure:
    value = call.path_params["id"]
    missing = find_nothing("file", "id", value, resource_type="post")
    return ProblemFailure(missing, FILE_ADDRESSES)


def _list_lines(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.strip())]


# The results.


def _process(world: World, job: Mapping[str, Any], to: str) -> str:
    """Find what has happened to the ids of a job that completes."""
    find = _find_post_result if job["type"] == "posts" else _find_user_result
    lines = dict.fromkeys(_list_lines(job["_text"])) if to == COMPLETE else ()
    results = [result for id_ in lines if (result := find(world, id_)) is not None]
    world.store.put(TABLE, job["id"], {**job, "_results": results, "_text": ""})
    return to


def _find_post_result(world: World, id_: str) -> Record | None:
    post = world.store.get("posts", id_)
    if post is None:
        return _describe_removed(world, id_, "delete")
    author = world.store.get("users", post["_user_id"])
    if author is None:
        return None
    reason = next(_find_reasons(author), None)
    if reason is None and post["id"] <= int(author.get("_geo_scrubbed_up_to") or 0):
        reason = ("scrub_geo", "scrub_geo")
    return None if reason is None else _describe(world, id_, post, author["id"], *reason)


def _find_user_result(world: World, id_: str) -> Record | None:
    user = world.store.get("users", id_)
    if user is None:
        return _describe_removed(world, id_, "user_delete")
    reason = next(_find_reasons(user), None)
    return None if reason is None else _describe(world, id_, user, id_, *reason)


def _find_reasons(user: Record) -> Iterator[tuple[str, str]]:
    """Yield the reasons to forget a user, each with the kind of event that says it."""
    if user.get("_deactivated"):
        yield "deactivated", "user_delete"
    if user.get("_suspended"):
        yield "suspended", "user_suspend"
    if user.get("protected"):
        yield "protected", "user_protect"


def _describe_removed(world: World, id_: str, kind: str) -> Record | None:
    """Return the result for a record that this world once had; `None` if it never had it."""
    event = find_latest(world, id_, kind)
    if event is None:
        return None
    shown = {"id": id_, "action": "delete", "created_at": event["since"]}
    return {**shown, "redacted_at": event["created_at"], "reason": "deleted"}


def _describe(
    world: World, id_: str, record: Record, user_id: str, reason: str, kind: str
) -> Record:
    created = wire_millis(parse_instant(record["created_at"]))
    shown = {"id": id_, "action": "delete", "created_at": created}
    event = find_latest(world, user_id, kind)
    if event is not None:  # a user of the fixtures may have been so from the start
        shown["redacted_at"] = event["created_at"]
    return {**shown, "reason": reason}


def _find_expiry(job: Record) -> datetime | None:
    """Return when the address that a job has now is gone: for its ids, or for its results."""
    upload, download = _find_ends(job)
    return {CREATED: upload, COMPLETE: download}.get(job["status"])


TABLES = (
    Table(
        TABLE,
        ComplianceJobRecord,
        references=(Reference("_app_id", "apps"),),
        draw=lambda draft: {"type": draft.pick(TYPES), "_key": draft.secret(24)},
        due=("expiry", _find_expiry),
    ),
)
KINDS = (
    TransitionKind(
        KIND,
        table=TABLE,
        field="status",
        first=IN_PROGRESS,
        ends=(COMPLETE, FAILED),
        pace=Pace(),
        act=_process,
    ),
)
_PATH = "/2/compliance/jobs"
_declare = partial(
    declare_public,
    auth=BEARER,
    limit=Rates(app=150),
    returns=ComplianceJobAnswer,
    assumptions=(JOB_SHAPES, JOB_RULES),
)
_declare_file = partial(
    declare_public,
    auth=Auth(),
    origin=Origin.EXPECTATION,
    returns=PlainText(),
    errors=("resource-not-found", "about:blank"),
    assumptions=(FILE_ADDRESSES,),
)
OPERATIONS = (
    _declare(
        "compliance_jobs.list",
        f"GET {_PATH}",
        list_,
        "List an app's compliance jobs",
        params=JobsQuery,
        returns=ComplianceJobList,
    ),
    _declare(
        "compliance_jobs.create",
        f"POST {_PATH}",
        create,
        "Create a compliance job",
        params=NewJob,
        in_query=("compliance_job.fields",),
        example=Example(json={"type": "posts", "name": "Weekly check"}),
    ),
    _declare(
        "compliance_jobs.get",
        f"GET {_PATH}/:id",
        get,
        "Read a compliance job",
        params=JobQuery,
        rules=find_id_faults,
        errors=("invalid-request", "resource-not-found"),
        may_assume=(PARTIAL_ERRORS,),
    ),
    _declare_file(
        "compliance_jobs.begin_upload",
        f"POST {_PATH}/:id/upload/:key",
        begin_upload,
        "Begin the upload of a resumable job's ids",
        returns=PlainText(201),
        statuses=(409,),
        example=Example(path={"id": "1990735000000000102", "key": "p6Wd1Ks8Fj3Vb9Ng5Tz2Rx7M"}),
    ),
    _declare_file(
        "compliance_jobs.upload",
        f"PUT {_PATH}/:id/upload/:key",
        upload,
        "Upload the ids of a compliance job",
        location=Location.TEXT,
        max_body=MOST_BYTES,
        statuses=(308, 409, 413, 416),
        example=Example(path={"id": "1990735000000000103", "key": "h2Cx7Lq4Mz9Ts6Bv1Wn8Fp3J"}),
    ),
    _declare_file(
        "compliance_jobs.download",
        f"GET {_PATH}/:id/download/:key",
        download,
        "Download the results of a compliance job",
        assumptions=(FILE_ADDRESSES, JOB_RESULTS),
    ),
)
