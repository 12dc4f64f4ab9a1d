"""Connections to streams, open ones and those that have ended (named endpoints, section 6)."""

from __future__ import annotations

from mock_platform.core.fields import Choice, Instant, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table

ENDPOINTS = (
    "filtered_stream", "sample_stream", "sample10_stream", "firehose_stream",
    "posts_compliance_stream", "users_compliance_stream", "post_label_stream",
    "firehose_stream_lang_en", "firehose_stream_lang_ja", "firehose_stream_lang_ko",
    "firehose_stream_lang_pt", "likes_firehose_stream", "likes_sample10_stream",
    "likes_compliance_stream", "activity_stream",
)  # fmt: skip
REASONS = (
    "operator_disconnect", "client_disconnect", "slow_reader", "recovery_complete", "scenario",
    "reset", "server_stop",
)  # fmt: skip
"""Why a connection ended. Only the first is public."""


class ConnectionRecord(Schema):
    """A connection to a stream; it is open until it has `disconnected_at`."""

    id = Text(required=True)
    endpoint_name = Choice(ENDPOINTS, required=True)
    connected_at = Instant(millis=True, required=True)
    disconnected_at = Instant(millis=True)
    disconnect_reason = Choice(REASONS)
    client_ip = Text(required=True)
    _app_id = Text(required=True)


CONNECTIONS = Table("connections", ConnectionRecord, references=(Reference("_app_id", "apps"),))
TABLES = (CONNECTIONS,)
