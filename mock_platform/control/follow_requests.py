"""Requests to follow protected users, which those users accept or deny.

No public operation does that: people do it in the app.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.objects.relations import FOLLOW_REQUESTS
from mock_platform.api.v2.user_relations.changes import (
    RelationChange,
    accept_request,
    deny_request,
)
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import ControlRequest, Route
from mock_platform.core.fields import ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record


class FollowRequest(Schema):
    """That a user wants to follow a protected one."""

    id = Text(required=True, metadata={"description": "of both users, as 12:34"})
    user_id = Text(required=True, metadata={"description": "who wants to follow"})
    target_user_id = Text(required=True, metadata={"description": "the protected user"})
    created_at = Text(required=True)


class FollowRequests(Schema):
    """All requests that wait for an answer, oldest first."""

    follow_requests = ListOf(Nested(FollowRequest), required=True)


def list_requests(request: ControlRequest) -> dict[str, Any]:
    """Every request to follow a protected user that waits for an answer."""
    with request.world.work():
        found = request.world.store.page(FOLLOW_REQUESTS.name)
    return {"follow_requests": [entry.record for entry in found]}


def accept(request: ControlRequest) -> Record:
    """Let the protected user accept a request: the other one follows then."""
    return _answer(request, accept_request)


def deny(request: ControlRequest) -> Record:
    """Let the protected user deny a request, which ends it."""
    return _answer(request, deny_request)


def _answer(request: ControlRequest, answer: RelationChange) -> Record:
    world, key = request.world, request.args["key"]
    with world.work():
        edge = world.store.get(FOLLOW_REQUESTS.name, key)
        if edge is None:
            text = f"No request to follow is called {key!r}; GET /_mock/follow-requests has them."
            raise ControlRefusal(404, text)
        users = [world.store.get("users", edge[name]) for name in ("user_id", "target_user_id")]
        if None in users:
            raise ControlRefusal(404, f"One of the users {key!r} does not exist.")
        answer(world, *(user for user in users if user is not None))
    return edge


_PATH = "/follow-requests/<key>"
ROUTES = (
    Route("GET", "/follow-requests", list_requests, returns=FollowRequests),
    Route("POST", f"{_PATH}/accept", accept, returns=FollowRequest),
    Route("POST", f"{_PATH}/deny", deny, returns=FollowRequest),
)
