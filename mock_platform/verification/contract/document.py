"""The contract of a platform as one document: OpenAPI, failures, limits, assumptions, releases.

Its order is always the same, so that the documents of two versions can be compared line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from mock_platform.api.served import ORIGINAL_NAMES, SPEC_SENTENCES
from mock_platform.api.v2.release_history import RELEASES
from mock_platform.core.description.openapi import HERE, V2_VERSION, describe
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.operation import Limit, Operation
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.coverage.contract import list_documented
from mock_platform.version import __version__

FORMAT = 1
"""The number of the document's form; it changes when an older reader would misread it."""
_TEXT = (
    "The interface that the sandbox serves, without its control plane. Operations that only the "
    "sandbox address of the advertising interface has are under /sandbox."
)


def make_contract(platform: Platform) -> dict[str, Any]:
    """Returns the contract of everything that a platform serves under its settings."""
    settings = platform.settings
    openapi = describe(
        platform.operations,
        settings,
        title="mock_platform",
        version=V2_VERSION,
        text=_TEXT,
        original_names=ORIGINAL_NAMES,
        spec_sentences=SPEC_SENTENCES,
    )
    return {
        "mock_platform_contract": FORMAT,
        "version": __version__,
        "openapi": _order(openapi),
        "operations": {
            operation.id: _describe(operation, settings) for operation in platform.operations
        },
        "failures": {
            "advertising": {code: {"status": status} for code, status in ADS_STATUS.items()},
            "numeric": {
                str(code): {"status": entry.status, "message": entry.message}
                for code, entry in NUMERIC_CODES.items()
            },
            "problems": {
                slug: {"status": kind.status, "title": kind.title}
                for slug, kind in PROBLEM_TYPES.items()
            },
        },
        "assumptions": {
            name: {key: value for key, value in assumption.as_json().items() if key != "id"}
            for name, assumption in platform.assumptions().items()
        },
        "releases": {
            release.id: {"change": release.change, "effective": release.effective.isoformat()}
            for release in RELEASES
        },
    }


def render_contract(contract: Mapping[str, Any]) -> str:
    """Returns the document as JSON for a file: indented, with sorted keys and an end of line."""
    form = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(contract, option=form).decode()


def _describe(operation: Operation, settings: Settings) -> dict[str, Any]:
    limits = [*operation.limits]
    if operation.set_limits is not None:
        limits += operation.set_limits(settings)
    outcomes = list_documented(operation, settings)
    return {
        "method": operation.method,
        "path": ("/sandbox" if operation.sandbox_only else "") + operation.path,
        "summary": operation.summary,
        "spec": operation.spec,
        "origin": operation.origin.value,
        "since": None if operation.since is None else operation.since.isoformat(),
        "failures": [
            {"status": outcome.status, "code": outcome.code}
            for outcome in sorted(outcomes)
            if outcome.status >= 300
        ],
        "limits": {limit.name: _describe_limit(limit) for limit in limits},
        "max_body_bytes": (
            (operation.max_body or settings.max_body)
            if operation.method in {"POST", "PUT", "PATCH"}
            else None
        ),
        "assumptions": sorted({assumption.id for assumption in operation.all_assumptions}),
    }


def _describe_limit(limit: Limit) -> dict[str, Any]:
    return {
        "count": limit.count,
        "seconds": limit.seconds,
        "per": limit.per,
        "source": limit.source,
        "category": limit.category,
        "some_requests_only": limit.when is not None,
    }


def _order(openapi: dict[str, Any]) -> dict[str, Any]:
    """Sort the lists of an OpenAPI document whose order means nothing; returns the document."""
    openapi["tags"] = sorted(openapi["tags"], key=lambda tag: str(tag["name"]))
    for methods in openapi["paths"].values():
        for entry in methods.values():
            # The document has them once, by id.
            assumed = entry.pop("x-mock-assumptions", ())
            entry["x-mock-assumptions"] = sorted(each["id"] for each in assumed)
            if "parameters" in entry:
                entry["parameters"].sort(key=lambda each: (each["in"], each["name"]))
    for schema in openapi["components"].get("schemas", {}).values():
        if "required" in schema:
            schema["required"] = sorted(schema["required"])
    openapi["servers"] = [{"url": HERE}]
    return openapi
