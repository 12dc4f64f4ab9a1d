"""The machine-readable description of the v2 interface."""

from mock_platform.api.v2.description import operations

OPERATIONS = (*operations.OPERATIONS,)
PUBLISHED_IDS = {"openapi.get": "getOpenApiSpec"}
