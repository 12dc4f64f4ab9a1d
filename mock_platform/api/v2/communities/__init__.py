"""Communities: groups of users in which posts can be made; read by id and searched."""

from mock_platform.api.v2.communities import operations

OPERATIONS = operations.OPERATIONS
TABLES = operations.TABLES
PUBLISHED_IDS = {
    "communities.search": "searchCommunities",
    "communities.get": "getCommunitiesById",
}
