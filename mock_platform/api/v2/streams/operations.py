"""Connections to streams: list them, and disconnect them (document A's release history).

Their shapes are public facts (named endpoints, section 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import Rates, declare_named, get_app, wrap_data
from mock_platform.api.v2.pages import TOKEN_PAGES, PageMeta, make_token_field, show_list, take_page
from mock_platform.api.v2.release_history import find_release
from mock_platform.api.v2.streams.open_streams import CONNECTIONS
from mock_platform.api.v2.streams.stream import STREAM_ENDING
from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Flag,
    Instant,
    Integer,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.operation import Example, Location
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

CONNECTION_SHAPES = public_fact(
    "connections.shapes",
    "The endpoints of connections have their public shapes; the spec only names them. Every "
    "connection has an id. An app sees and disconnects its own connections alone, newest first.",
    "section 6 of the named endpoints",
    gap=True,
)
ACTIVITY_STREAM = public_fact(
    "connections.activity-stream",
    "The public list of endpoints has no name for the activity stream; here it is activity_stream, "
    "in answers and in the path.",
    "section 6 of the named endpoints, the enum",
)
DISCONNECT_REASON = public_fact(
    "connections.reason",
    "disconnect_reason is operator_disconnect for connections that were deleted; the other values "
    "are the sandbox's own.",
    "section 6 of the named endpoints, disconnect_reason",
)
ENDPOINTS = (
    "filtered_stream", "sample_stream", "sample10_stream", "firehose_stream",
    "posts_compliance_stream", "users_compliance_stream", "post_label_stream",
    "firehose_stream_lang_en", "firehose_stream_lang_ja", "firehose_stream_lang_ko",
    "firehose_stream_lang_pt", "likes_firehose_stream", "likes_sample10_stream",
    "likes_compliance_stream", "activity_stream",
)  # fmt: skip
OLDER_ENDPOINTS = {
    "posts_compliance_stream": "tweets_compliance_stream",
    "post_label_stream": "tweet_label_stream",
}
"""Older names of endpoints, which are taken too."""
_BY_OLDER_NAME = {older: name for name, older in OLDER_ENDPOINTS.items()}
REASONS = (
    "operator_disconnect", "client_disconnect", "slow_reader", "recovery_complete", "scenario",
    "reset", "server_stop",
)  # fmt: skip
"""Why a connection ended. Only the first is public."""
_FIELDS = (
    "client_ip", "connected_at", "disconnect_reason", "disconnected_at", "endpoint_name", "id",
)  # fmt: skip
_ALWAYS = ("id", "endpoint_name", "connected_at")
_NEWEST_FIRST = Order("connected_at", descending=True)


class ShownConnection(Schema):
    """A connection as clients see it; it is open until it has `disconnected_at`."""

    id = Text(required=True)
    endpoint_name = Choice(ENDPOINTS, required=True)
    connected_at = Instant(millis=True, required=True)
    disconnected_at = Instant(millis=True)
    disconnect_reason = Choice(REASONS)
    client_ip = Text()


class ConnectionRecord(ShownConnection):
    """A connection to a stream; it is open until it has `disconnected_at`."""

    client_ip = Text(required=True)
    _app_id = Text(required=True)


TABLES = (Table(CONNECTIONS, ConnectionRecord, references=(Reference("_app_id", "apps"),)),)


class NameOfEndpoint(Choice):
    """The name of an endpoint; an older name is read as the one that replaced it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        return _BY_OLDER_NAME.get(text, text)


class ConnectionsQuery(Schema):
    """Parameters of the list."""

    status = Choice(("active", "inactive", "all"), load_default="active")
    endpoints = CommaList(NameOfEndpoint(ENDPOINTS))
    max_results = Integer(low=1, high=100, load_default=10)
    pagination_token = make_token_field()
    connection_fields = CommaList(Choice(_FIELDS), data_key="connection.fields")


class Uuids(Schema):
    """The connections to disconnect."""

    uuids = ListOf(Text(min_length=1), least=1, most=100, required=True)


class EndpointPath(Schema):
    """The path of one endpoint's connections."""

    endpoint_id = Choice(ENDPOINTS)


class _Meta(PageMeta):
    pass


class ConnectionPage(Schema):
    """A page of connections."""

    data = ListOf(Nested(ShownConnection))
    meta = Nested(_Meta, required=True)


class _Result(Schema):
    uuid = Text(required=True)
    success = Flag(required=True)
    error_message = Text()


KillsAnswer = wrap_data(
    "KillsAnswer",
    successful_kills=Integer(required=True),
    failed_kills=Integer(required=True),
    results=ListOf(Nested(_Result), required=True),
)
"""What became of each connection that was to be disconnected."""


def find_path_faults(
    _params: Mapping[str, Any], call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the endpoint in the path."""
    if _read_endpoint(call) not in ENDPOINTS:
        yield "endpoint_id", f"endpoint_id must be one of {', '.join(ENDPOINTS)}"


def _read_endpoint(call: Call) -> str:
    name = call.path_params["endpoint_id"]
    return _BY_OLDER_NAME.get(name, name)


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the connections of the caller's app."""
    status, endpoints = call.params["status"], call.params.get("endpoints")
    match = {"_app_id": get_app(call)["id"]}
    keys = [
        entry.key
        for entry in world.store.page(CONNECTIONS, match)
        if status in {"all", _status_of(entry.record)}
        and (endpoints is None or entry.record["endpoint_name"] in endpoints)
    ]
    page = take_page(call, world, CONNECTIONS, match, order=_NEWEST_FIRST, keys=keys)
    shown = call.params.get("connection_fields", _FIELDS)
    data = [
        {name: record[name] for name in _FIELDS if name in record and name in {*shown, *_ALWAYS}}
        for record in page.records
    ]
    return show_list(data, meta=page.meta())


def _status_of(record: Record) -> str:
    return "inactive" if "disconnected_at" in record else "active"


def delete_some(call: Call, world: World) -> dict[str, Any]:
    """Disconnect the connections with these ids; unknown ones are reported beside the others."""
    return _disconnect(call, world, dict.fromkeys(call.params["uuids"]))


def delete_all(call: Call, world: World) -> dict[str, Any]:
    """Disconnect every connection of the caller's app."""
    return _disconnect(call, world, _list_open(call, world))


def delete_endpoint(call: Call, world: World) -> dict[str, Any]:
    """Disconnect the connections of the caller's app to one endpoint."""
    return _disconnect(call, world, _list_open(call, world, _read_endpoint(call)))


def _list_open(call: Call, world: World, endpoint: str | None = None) -> list[str]:
    match = {"_app_id": get_app(call)["id"]}
    if endpoint is not None:
        match["endpoint_name"] = endpoint
    return [
        entry.key
        for entry in world.store.page(CONNECTIONS, match)
        if _status_of(entry.record) == "active"
    ]


def _disconnect(call: Call, world: World, ids: Iterable[str]) -> dict[str, Any]:
    """End connections; each gets its last line after the commit."""
    app_id = get_app(call)["id"]
    results: list[dict[str, Any]] = []
    for id_ in ids:
        record = world.store.get(CONNECTIONS, id_)
        text = None
        if record is None or record["_app_id"] != app_id:
            text = f"No connection of the app has the uuid {id_}."
        elif "disconnected_at" in record:
            text = f"The connection {id_} was disconnected at {record['disconnected_at']}."
        else:
            ended = {
                "disconnected_at": wire_millis(world.clock.now()),
                "disconnect_reason": "operator_disconnect",
            }
            world.store.put(CONNECTIONS, id_, record | ended)  # ends the stream at the commit
        failed = {} if text is None else {"error_message": text}
        results.append({"uuid": id_, "success": text is None, **failed})
    good = sum(result["success"] for result in results)
    counts = {"successful_kills": good, "failed_kills": len(results) - good}
    return {"data": {**counts, "results": results}}


_declare = partial(
    declare_named,
    spec="Versioning",
    since=find_release("connections").effective,
    auth=BEARER,
    limit=(),
)
OPERATIONS = (
    _declare(
        "connections.list",
        "GET /2/connections",
        list_,
        "List an app's connections to streams",
        params=ConnectionsQuery,
        returns=ConnectionPage,
        assumptions=(CONNECTION_SHAPES, TOKEN_PAGES, ACTIVITY_STREAM, DISCONNECT_REASON),
    ),
    _declare(
        "connections.delete_some",
        "DELETE /2/connections",
        delete_some,
        "Disconnect some connections by their ids",
        params=Uuids,
        location=Location.JSON,
        returns=KillsAnswer,
        assumptions=(CONNECTION_SHAPES, STREAM_ENDING),
        example=Example(json={"uuids": ["b2c1d7a0-6f3e-4a58-9c1b-3d5e7f901234"]}),
    ),
    _declare(
        "connections.delete_all",
        "DELETE /2/connections/all",
        delete_all,
        "Disconnect every connection of an app",
        returns=KillsAnswer,
        limit=Rates(app=25, user=25),
        assumptions=(CONNECTION_SHAPES, STREAM_ENDING),
    ),
    _declare(
        "connections.delete_endpoint",
        "DELETE /2/connections/:endpoint_id",
        delete_endpoint,
        "Disconnect an app's connections to one endpoint",
        path_form=EndpointPath,
        rules=find_path_faults,
        returns=KillsAnswer,
        assumptions=(CONNECTION_SHAPES, STREAM_ENDING, ACTIVITY_STREAM),
    ),
)
