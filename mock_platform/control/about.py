"""Describes the server: health, credentials, operations, assumptions, OpenAPI."""

from __future__ import annotations

from typing import Any

from flask import Response

from mock_platform.control.known_credentials import credentials
from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.route import ControlRequest
from mock_platform.core.extras import MissingExtra
from mock_platform.core.spec_sentences import find_sentence
from mock_platform.platform import Platform
from mock_platform.version import __version__
from mock_platform.world.clock import UPTIME


def health(request: ControlRequest) -> dict[str, Any]:
    """The server's status, its version, and for how many seconds it has been running."""
    return {
        "status": "ok",
        "version": __version__,
        "uptime_seconds": round(UPTIME() - request.platform.started, 3),
    }


def ready(request: ControlRequest) -> dict[str, Any]:
    """Whether the server can answer now: 200, or 503 with the reason, for orchestrators."""
    platform = request.platform
    trouble = platform.peers.find_trouble() or platform.worlds.find_trouble()
    if trouble is None and platform.closing.is_set():
        trouble = "The server stops."
    if trouble is not None:
        raise ControlRefusal(503, f"Not ready: {trouble}", headers=[("Retry-After", "1")])
    return {
        "status": "ready",
        "processes": platform.peers.count,
        "warnings": list(platform.worlds.list_warnings()),
    }


def show_credentials(request: ControlRequest) -> dict[str, Any]:
    """The published test credentials of the world."""
    return credentials(request.world)


def list_operations(request: ControlRequest) -> dict[str, Any]:
    """The table of operations."""
    return operations(request.platform)


def list_assumptions(request: ControlRequest) -> dict[str, Any]:
    """All recorded assumptions of the sandbox."""
    return assumptions(request.platform)


def metrics(request: ControlRequest) -> Response:
    """Metrics in the text form of Prometheus."""
    try:
        text, media_type = request.services.metrics.exposition()
    except MissingExtra as fault:
        raise ControlRefusal(501, str(fault)) from fault
    return Response(text, content_type=media_type)


def describe(request: ControlRequest) -> dict[str, Any]:
    """The OpenAPI description of everything that is served."""
    return request.services.description.at(request.base_url)


def operations(platform: Platform) -> dict[str, Any]:
    """Returns every operation that a platform serves."""
    return {"operations": [operation.as_json() for operation in platform.operations]}


def assumptions(platform: Platform) -> dict[str, Any]:
    """Returns every recorded assumption, with the operations that depend on it."""
    resting: dict[str, list[str]] = {}
    for operation in platform.operations:
        for assumption in dict.fromkeys(operation.all_assumptions):
            resting.setdefault(assumption.id, []).append(operation.id)
    return {
        "assumptions": [
            assumption.as_json()
            | {
                "completes": find_sentence(assumption.id),
                "operations": resting.get(assumption.id, []),
            }
            for assumption in platform.assumptions().values()
        ]
    }
