"""Asynchronous analytics: a job computes figures, and its result is a compressed file.

Jobs cover up to ninety days, and may split figures by segments.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import marshmallow
from marshmallow import ValidationError, validates_schema
from msgspec import Struct

from mock_platform.api.ads.analytics.figures import (
    NEEDS_COUNTRY,
    SEGMENTATION_TYPES,
    STATS_JOBS_SEGMENTS,
    STATS_MADE_UP,
    STATS_PINNED,
)
from mock_platform.api.ads.analytics.queries import (
    ENTITIES,
    EXAMPLE_QUERY,
    GRANULARITIES,
    STATS_ALONE,
    STATS_CONVERSIONS,
    STATS_PARAMETERS,
    STATS_SHAPE,
    EntityStats,
    Question,
    StatsQuery,
    answer,
    check_window,
    read_question,
    write_time,
)
from mock_platform.api.ads.analytics.versions import STATS_PAST, read_seconds, to_seconds
from mock_platform.api.ads.conventions import Many, One, Typed, ads, fail
from mock_platform.api.ads.lists import NEXT_CURSOR, PageOf, list_parameters, paginate
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.auth.authenticate import NO_AUTH
from mock_platform.core.call import Call, Reply
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import Fault, missing
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Text
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Example, Limit, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

STATS_JOBS_SHAPE = public_fact(
    "stats-jobs.shape",
    "A job is PROCESSING until it ends as SUCCESS, FAILED or CANCELLED; with SUCCESS come url and "
    "expires_at, 48 hours after the creation. The headers x-concurrent-job-limit and "
    "x-concurrent-job-limit-remaining count the jobs of the account that have not ended.",
    "adjacent operations, section 10.2",
    gap=True,
)
STATS_JOBS_PACE = settled(
    "stats-jobs.pace",
    "A job takes two seconds on the world's clock, unless /_mock/transitions/stats_job says "
    "otherwise. Its figures are those of its creation.",
)
STATS_JOBS_RESULT = public_fact(
    "stats-jobs.result",
    "url is an address of the sandbox that needs no credentials. It answers with the gzip file of "
    "what the synchronous operation would answer, as application/gzip without Content-Encoding.",
    "adjacent operations, section 10.2",
    gap=True,
)
STATS_JOBS_CANCEL = expectation(
    "stats-jobs.cancel",
    "Only a job that has not ended can be cancelled: others answer 400 INVALID_PARAMETER.",
    gap=True,
)

KIND = TransitionKind(
    name="stats_job",
    table="stats_jobs",
    field="status",
    first="PROCESSING",
    ends=("SUCCESS", "FAILED", "CANCELLED"),
    pace=Pace("time", seconds=2.0),
    since="created_at",
)
WAITING = ("QUEUED", KIND.first)
MOST_AT_ONCE = 100
LONGEST_DAYS = 90
LONGEST_SEGMENTED_DAYS = 45
EXPIRES_AFTER = timedelta(hours=48)
_LIMIT = Limit("stats", 250, 900, source="public", category="ads-stats")
_PATH = "/12/stats/jobs/accounts/:account_id"
_RESULTS = "/12/stats/jobs/results"


class _Shown(Schema):
    entity = Choice(ENTITIES, required=True)
    entity_ids = ListOf(Text(), required=True)
    start_time = Instant(required=True)
    end_time = Instant(required=True)
    granularity = Choice(tuple(GRANULARITIES), required=True)
    placement = Text(required=True)
    metric_groups = ListOf(Text(), required=True)
    segmentation_type = Text(load_default=None, allow_none=True)
    country = Text(load_default=None, allow_none=True)
    platform = Text(load_default=None, allow_none=True)
    status = Choice((*WAITING, *KIND.ends), load_default=KIND.first)
    created_at = Instant(required=True)
    updated_at = Instant(required=True)
    id_str = Text(required=True)


class StatsJobRecord(_Shown):
    """A job as stored. `_result` is the name of its file."""

    _account_id = Text(required=True)
    _result = Text(required=True)


class StatsJob(_Shown):
    """A job as served."""

    id = Integer(required=True)
    account_id = Text(required=True)
    url = Text(required=True, allow_none=True)
    expires_at = Instant(required=True, allow_none=True)


class StatsJobCreate(StatsQuery):
    """The parameters of a job: those of stats, and segments."""

    segmentation_type = Choice(SEGMENTATION_TYPES)
    country = Text(min_length=1)
    platform = Text(min_length=1)

    @validates_schema(skip_on_field_errors=False)
    def check_country(self, data: dict[str, Any], **_: Any) -> None:
        """Require the country whose metros are the segments."""
        if data.get("segmentation_type") == NEEDS_COUNTRY and "country" not in data:
            text = missing("country", f"when segmentation_type is {NEEDS_COUNTRY}")
            raise ValidationError([text], "country")


class Compressed(Struct, frozen=True):
    """A gzip file of what another envelope would answer."""

    content: Typed
    status: int = 200
    media_type: str = "application/gzip"

    @property
    def schema(self) -> type[marshmallow.Schema]:
        """The schema of the rows within the file."""
        return self.content.schema

    def describe_body(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the body: bytes."""
        return {"type": "string", "contentMediaType": self.media_type}

    def reply(self, call: Call, result: Mapping[str, Any]) -> Reply:
        """Return the reply with the compressed file."""
        body = dumps(self.content.make_body(call, result))
        headers = [("Content-Type", self.media_type)]
        return Reply(self.status, gzip.compress(body, mtime=0), headers)


# -- handlers ----------------------------------------------------------------------------------


def check(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of the window."""
    days = LONGEST_DAYS if params.get("segmentation_type") is None else LONGEST_SEGMENTED_DAYS
    yield from check_window(params, call, world, timedelta(days=days), f"{days}.days")


def create(call: Call, world: World) -> Record:
    """Create a job.

    Raises:
        AdsFailure: Too many jobs of the account have not ended (TOO_MANY_REQUESTS).
    """
    account_id = call.path_params["account_id"]
    # Jobs that have ended by now do not count against the limit, so they are settled before
    # counting.
    world.transitions.evaluate_all(KIND.name)
    running = _count_running(world, account_id)
    if running >= MOST_AT_ONCE:
        _add_headers(call, running)
        raise fail("TOO_MANY_REQUESTS", "The limit of concurrent jobs has been reached")
    question = read_question(call, world)
    now = wire_seconds(world.clock.now())
    key = world.ids.snowflake()
    record = {
        "id_str": key,
        "entity": question.entity,
        "entity_ids": list(dict.fromkeys(question.entity_ids)),
        "start_time": write_time(question.start),
        "end_time": write_time(question.end),
        "granularity": question.granularity,
        "placement": question.placement,
        "metric_groups": list(question.metric_groups),
        **{name: call.params.get(name) for name in ("segmentation_type", "country", "platform")},
        "status": KIND.first,
        "created_at": now,
        "updated_at": now,
        "_account_id": account_id,
        "_result": f"{world.ids.alphanumeric(43)}.json.gz",
    }
    if question.segmentation_type is not None:
        call.assume(STATS_JOBS_SEGMENTS)
    world.store.put(KIND.table, key, record)
    world.transitions.begin(KIND.name, key)
    _add_headers(call, _count_running(world, account_id))
    return _show(call, world, key)


def list_(call: Call, world: World) -> PageOf:
    """Return one page of the account's jobs; each that is listed counts as read."""
    account_id = call.path_params["account_id"]
    found = paginate(
        call, world, KIND.table, {"_account_id": account_id}, keys=call.params.get("job_ids")
    )
    # A list is a read of each job on it, and with the progression `polls` reads are what ends a
    # job. The records of the page are older than that, so each is shown from the store again.
    for record in found.records:
        world.transitions.evaluate(KIND.name, record["id_str"], poll=True)
    _add_headers(call, _count_running(world, account_id))
    return PageOf([_show(call, world, r["id_str"]) for r in found.records], found.next_cursor)


def cancel(call: Call, world: World) -> Record:
    """Cancel a job that has not ended.

    Raises:
        AdsFailure: The account has no such job (NOT_FOUND), or it has ended (INVALID_PARAMETER).
    """
    key = call.path_params["job_id"]
    record = world.store.get(KIND.table, key)
    if record is None or record["_account_id"] != call.path_params["account_id"]:
        raise fail("NOT_FOUND", f"No job has the id {key!r}", "job_id")
    world.transitions.evaluate(KIND.name, key)
    status = (world.store.get(KIND.table, key) or record)["status"]
    if status not in WAITING:
        text = f"Only a job that has not ended can be cancelled, and this one is {status}"
        raise fail("INVALID_PARAMETER", text, "job_id")
    world.transitions.move(KIND.name, key, "CANCELLED")
    return _show(call, world, key)


def read_result(call: Call, world: World) -> dict[str, Any]:
    """Return the figures of a job that has ended well.

    Raises:
        AdsFailure: No such result exists, or it has expired (NOT_FOUND).
    """
    match = {"_result": call.path_params["file_name"], "status": "SUCCESS"}
    found = world.store.page(KIND.table, match, limit=1)
    if not found or wire_seconds(world.clock.now()) >= _find_expiry(found[0].record):
        raise AdsFailure(AdsError("NOT_FOUND", "No result has this address, or it has expired"))
    job = found[0].record
    names = (
        "start_time", "end_time", "entity", "entity_ids", "granularity", "placement",
        "metric_groups", "segmentation_type", "country", "platform",
    )  # fmt: skip
    call.echo = {name: job[name] for name in names}
    question = Question(
        entity=job["entity"],
        entity_ids=job["entity_ids"],
        start=read_seconds(job["start_time"]),
        end=read_seconds(job["end_time"]),
        granularity=job["granularity"],
        metric_groups=job["metric_groups"],
        placement=job["placement"],
        segmentation_type=job["segmentation_type"],
        # The file is not stored. It is computed when it is read, with the moment of the job's
        # creation as "now": so it is the same each time, however late it is fetched.
        now=to_seconds(parse_instant(job["created_at"])),
    )
    return answer(world, job["_account_id"], question)


def _count_running(world: World, account_id: str) -> int:
    counted = ({"_account_id": account_id, "status": status} for status in WAITING)
    return sum(world.store.count(KIND.table, match) for match in counted)


def _add_headers(call: Call, running: int) -> None:
    left = max(0, MOST_AT_ONCE - running)
    call.extra_headers += [
        ("x-concurrent-job-limit", str(MOST_AT_ONCE)),
        ("x-concurrent-job-limit-remaining", str(left)),
    ]


def _find_expiry(job: Record) -> str:
    return wire_seconds(parse_instant(job["created_at"]) + EXPIRES_AFTER)


def _show(call: Call, world: World, key: str) -> Record:
    job = world.store.get(KIND.table, key)
    assert job is not None
    done = job["status"] == "SUCCESS"
    return {
        "id": int(key),
        "account_id": job["_account_id"],
        **job,
        "url": f"{call.base_url}{_RESULTS}/{job['_result']}" if done else None,
        "expires_at": _find_expiry(job) if done else None,
    }


TABLES = (
    Table(
        KIND.table,
        StatsJobRecord,
        key="id_str",
        references=(Reference("_account_id", "accounts"),),
    ),
)
KINDS = (KIND,)
_declare = partial(
    ads,
    spec="next to it: analytics",
    origin=Origin.ADJACENT,
    public_limits=False,
    limits=(_LIMIT,),
)
OPERATIONS: tuple[Operation, ...] = (
    _declare(
        "stats_jobs.create",
        "POST",
        _PATH,
        create,
        summary="Create a job that computes figures",
        returns=One(StatsJob),
        params=StatsJobCreate,
        rules=check,
        assumptions=(STATS_JOBS_SHAPE, STATS_JOBS_PACE, STATS_PARAMETERS, STATS_ALONE),
        may_assume=(STATS_JOBS_SEGMENTS,),
        errors=("INVALID_TIME_WINDOW", "TOO_MANY_REQUESTS"),
        example=Example(query=EXAMPLE_QUERY),
    ),
    _declare(
        "stats_jobs.list",
        "GET",
        _PATH,
        list_,
        summary="List jobs that compute figures",
        returns=Many(StatsJob),
        params=list_parameters(
            "StatsJobList",
            {"job_ids": CommaList(Text(min_length=1), most=200)},
            with_deleted=False,
            with_total_count=False,
        ),
        assumptions=(STATS_JOBS_SHAPE, STATS_JOBS_PACE, NEXT_CURSOR),
    ),
    _declare(
        "stats_jobs.cancel",
        "DELETE",
        f"{_PATH}/:job_id",
        cancel,
        summary="Cancel a job that computes figures",
        returns=One(StatsJob),
        assumptions=(STATS_JOBS_SHAPE, STATS_JOBS_PACE, STATS_JOBS_CANCEL),
        errors=("NOT_FOUND",),
        statuses=(404,),
        example=Example(is_refused=True),
    ),
    Operation(
        id="stats_jobs.result",
        method="GET",
        path=f"{_RESULTS}/:file_name",
        handler=read_result,
        summary="Read the result of a job",
        spec="B, next to it: analytics",
        returns=Compressed(Typed(EntityStats, "stats", members=("time_series_length", "data"))),
        auth=NO_AUTH,
        origin=Origin.ADJACENT,
        assumptions=(
            STATS_JOBS_RESULT,
            STATS_SHAPE,
            STATS_MADE_UP,
            STATS_PINNED,
            STATS_PAST,
            STATS_CONVERSIONS,
        ),
        errors=("NOT_FOUND",),
        statuses=(404,),
        example=Example(is_refused=True),
    ),
)
