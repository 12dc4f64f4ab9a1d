"""The machine-readable description of the v2 interface (document A, "What the service does").

It describes all operations, this one included, so a server makes it and attaches it to its worlds.
"""

from __future__ import annotations

from typing import Any

from marshmallow import INCLUDE

from mock_platform.core.assumptions import public_fact
from mock_platform.core.auth.authenticate import NO_AUTH
from mock_platform.core.call import Call
from mock_platform.core.description.views import Description
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Json, ListOf, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.world import World

DOCUMENT_ADDRESS = public_fact(
    "openapi.address",
    "The description of the v2 interface is served at /2/openapi.json without credentials; the "
    "spec names its version, not its address.",
)


class OpenApiDocument(Schema):
    """The top level of an OpenAPI document."""

    class Meta:
        """Further keys of the format are allowed."""

        unknown = INCLUDE

    openapi = Text(required=True)
    info = Json(required=True)
    servers = ListOf(Json(), required=True)
    paths = Json(required=True)
    components = Json()


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the description in the names, on the wire and of the date that the call asks for."""
    description = world.find_attachment(Description)
    return description.at(call.base_url, call.names, call.chosen, call.as_of)


OPERATIONS = (
    Operation(
        id="openapi.get",
        method="GET",
        path="/2/openapi.json",
        handler=get,
        summary="Read the description of the v2 interface",
        spec="A, What the service does",
        returns=Flat(OpenApiDocument, is_verbatim=True),
        auth=NO_AUTH,
        origin=Origin.PUBLIC_FACT,
        assumptions=(DOCUMENT_ADDRESS,),
    ),
)
