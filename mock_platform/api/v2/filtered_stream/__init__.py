"""The filtered stream: rules, the stream itself, and webhooks that receive it."""

from mock_platform.api.v2.filtered_stream import links, operations, records, rule_operations

OPERATIONS = (
    *operations.OPERATIONS,
    *links.OPERATIONS,
    *rule_operations.OPERATIONS,
)
TABLES = (*records.TABLES,)
SPEC_SENTENCES = {
    "filtered-stream": "Filtered stream webhooks",
    "stream-links": "Filtered-stream webhook delivery",
    "stream-rules": "rule length up to 2,048 characters",
}
