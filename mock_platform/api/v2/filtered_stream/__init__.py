"""The filtered stream: rules, the stream itself, and webhooks that receive it."""

from mock_platform.api.v2.filtered_stream import links, operations, rules

OPERATIONS = (*operations.OPERATIONS, *links.OPERATIONS)
TABLES = (*rules.TABLES, *links.TABLES)
SPEC_SENTENCES = {
    "filtered-stream": "Filtered stream webhooks",
    "stream-links": "Filtered-stream webhook delivery",
    "stream-rules": "rule length up to 2,048 characters",
}
PUBLISHED_IDS = {
    "filtered_stream.open": "streamPosts",
    "stream_rules.list": "getRules",
    "stream_rules.change": "updateRules",
    "stream_rules.counts": "getRuleCounts",
    "stream_links.list": "getWebhooksStreamLinks",
    "stream_links.create": "createWebhooksStreamLink",
    "stream_links.delete": "deleteWebhooksStreamLink",
}
