"""Streams: open connections that get a line whenever an activity matches.

An endpoint says which activities an app gets and how they look as lines. `stream` is one,
`open_streams` opens those of a world and holds them. No thread belongs to a
stream: the server asks it for bytes when it is woken or when a keep-alive is due. The endpoints are
in `v2.activity` and `v2.filtered_stream`; here is only what an app does with its own connections.
"""

from mock_platform.api.v2.streams import operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*operations.TABLES,)
EXAMPLE_PATHS = {"endpoint_id": "filtered_stream"}
ORIGINAL_NAMES = Pairs(
    values=dict.fromkeys(("endpoint_name", "endpoints", "endpoint_id"), operations.OLDER_ENDPOINTS)
)
SPEC_SENTENCES = {
    "connections": "Connections endpoints: GET /2/connections",
    "streams": "connection_issue (enum: TooManyConnections",
}
PUBLISHED_IDS = {
    "connections.list": "getConnectionHistory",
    "connections.delete_some": "deleteConnectionsByUuids",
    "connections.delete_all": "deleteAllConnections",
    "connections.delete_endpoint": "deleteConnectionsByEndpoint",
}
