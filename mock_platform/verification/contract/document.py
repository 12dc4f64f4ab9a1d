"""The contract as one document, made and read: OpenAPI, failures, limits, assumptions, releases.

Its order is always the same, so that the documents of two versions can be compared line by line.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct, field

from mock_platform.api.served import ORIGINAL_NAMES, SPEC_SENTENCES
from mock_platform.api.v2.release_history import RELEASES
from mock_platform.core.description.openapi import V2_VERSION, describe
from mock_platform.core.description.views import HERE
from mock_platform.core.documents.source import explain_yaml
from mock_platform.core.errors import BadDocument, Complaint
from mock_platform.core.failures.codes import ADS_STATUS, NUMERIC_CODES
from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.jsonio import BadJson, dumps, loads
from mock_platform.core.operation import Limit, Operation
from mock_platform.platform import Platform
from mock_platform.scenario.outcomes import list_documented
from mock_platform.settings import Settings
from mock_platform.version import __version__

FORMAT = 1
"""The number of the document's form; it changes when an older reader would misread it."""
_TEXT = (
    "The interface that the sandbox serves, without its control plane. Operations that only the "
    "sandbox address of the advertising interface has are under /sandbox."
)


def make_contract(platform: Platform) -> dict[str, Any]:
    """Return the contract of everything that a platform serves under its settings."""
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
    """Return the document as JSON for a file: indented, with sorted keys and an end of line."""
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
    """Sort the lists of an OpenAPI document whose order means nothing; return the document."""
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


_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MAX_BYTES = 64 * 1024 * 1024
_NESTING = 256
_NAME = re.compile(r"\{[^{}]*\}")
_CONTROL = "/_mock"
"""How the paths of the control plane begin, which belongs to no platform."""
_SANDBOX = "/sandbox"
_YAML = (".yaml", ".yml")


class BadContract(BadDocument):
    """A file that is neither a contract nor an OpenAPI document; the message begins with it."""


class DescribedOperation(Struct, frozen=True):
    """One operation of an OpenAPI document, with what the contract adds to it."""

    id: str
    method: str
    path: str
    entry: Mapping[str, Any]
    parameters: tuple[Mapping[str, Any], ...]
    """Those of the path and of the operation; references are resolved."""
    security: tuple[Mapping[str, Any], ...]
    more: Mapping[str, Any] = field(default_factory=dict)
    """What the contract says of it beside OpenAPI; empty for a plain OpenAPI file."""

    @property
    def key(self) -> tuple[str, str]:
        """The method and the path without the names of its parameters."""
        return self.method, _NAME.sub("{}", self.path)


class Contract(Struct, frozen=True):
    """A document that was read."""

    name: str
    version: str
    operations: tuple[DescribedOperation, ...]
    components: Mapping[str, Any]
    """The components of its OpenAPI document, by kind."""
    extra: Mapping[str, Any]
    """The contract itself; empty for a plain OpenAPI file."""


def read_contract_file(file: Path) -> Contract:
    """Return the document in a file: JSON, or YAML if its name ends so.

    Raises:
        BadContract: It cannot be read, or is neither a contract nor an OpenAPI document.
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_BYTES + 1)
    except OSError as fault:
        raise BadContract.make(file, f"cannot be read: {fault.strerror}") from fault
    if len(data) > _MAX_BYTES:
        raise BadContract.make(
            file, f"larger than {_MAX_BYTES:,} bytes, which is the most for a contract"
        )
    return read_contract(_parse(data, file), str(file))


def read_contract(document: Any, name: str) -> Contract:
    """Return a document as it is compared; `name` is for messages.

    Raises:
        BadContract: It is neither a contract nor an OpenAPI document.
    """
    if not isinstance(document, Mapping):
        raise BadContract.make(Path(name), "a contract is a JSON object, this is something else")
    extra: Mapping[str, Any] = {}
    openapi: Any = document
    if "mock_platform_contract" in document:
        number = document["mock_platform_contract"]
        if number != FORMAT:
            raise BadContract.make(
                Path(name),
                f"form {number!r} of the contract cannot be read, only {FORMAT}. Use the version "
                "of mock_platform that wrote it, or a newer one.",
            )
        extra, openapi = document, document.get("openapi")
    if not isinstance(openapi, Mapping) or not str(openapi.get("openapi", "")).startswith("3."):
        raise BadContract.make(
            Path(name),
            "neither a contract (`mock-platform contract --out FILE`) nor an OpenAPI 3 document: "
            "it has neither the key mock_platform_contract nor openapi: 3.x",
        )
    try:
        openapi = _drop_address(openapi)
        return Contract(
            name,
            str(extra.get("version") or openapi.get("info", {}).get("version", "")),
            tuple(_list_operations(openapi, extra)),
            openapi.get("components") or {},
            extra,
        )
    except (AttributeError, KeyError, TypeError) as fault:
        text = f"not a valid OpenAPI document ({type(fault).__name__}: {fault})"
        raise BadContract.make(Path(name), text) from fault


def find_component(components: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the component that a value refers to, or the value itself."""
    reference = value.get("$ref")
    if not isinstance(reference, str):
        return value
    kind, _, name = reference.removeprefix("#/components/").partition("/")
    found: Mapping[str, Any] = components.get(kind, {}).get(name, {})
    return found


def _parse(data: bytes, file: Path) -> Any:
    if file.suffix.lower() in _YAML:
        # Only few documents are YAML, and loading the library takes longer than a comparison.
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        try:
            return YAML(typ="safe", pure=True).load(data)
        except (YAMLError, UnicodeDecodeError, RecursionError) as fault:
            raise BadContract([explain_yaml(fault).complain(file)]) from fault
    try:
        return loads(data.removeprefix(BOM_UTF8), max_nesting=_NESTING)
    except BadJson as fault:
        raise BadContract([Complaint(file, fault.line, fault.column, "", str(fault))]) from fault


def _drop_address(openapi: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document in which the address of its server has no part: two have two of them."""
    servers = openapi.get("servers") or [{}]
    address = str(servers[0].get("url", "")).rstrip("/")
    if not address.startswith(("http://", "https://")):
        return openapi
    text = dumps(openapi).replace(dumps(address)[1:-1], dumps(HERE)[1:-1])
    found: Mapping[str, Any] = loads(text, max_nesting=_NESTING)
    return found


def _list_operations(
    openapi: Mapping[str, Any], extra: Mapping[str, Any]
) -> list[DescribedOperation]:
    components = openapi.get("components") or {}
    described = extra.get("operations", {})
    found: list[DescribedOperation] = []
    ids: dict[str, str] = {}
    paths = openapi.get("paths") or {}
    for path, entries in sorted(paths.items()):
        shared = entries.get("parameters", ())
        for method in _METHODS:
            entry = entries.get(method)
            if entry is None or path.startswith(_CONTROL):
                continue
            twin = (paths.get(path.removeprefix(_SANDBOX)) or {}).get(method, {})
            if path.startswith(_SANDBOX) and _is_same(twin, entry):
                continue  # this package describes it a second time, at the sandbox address
            label = f"{method.upper()} {path}"
            own = str(entry.get("x-mock-operation") or entry.get("operationId") or label)
            # A second spelling of a path has the same id, and is an operation of its own here.
            id_ = own if own not in ids else f"{own} ({label})"
            ids[id_] = label
            parameters = {
                (each["in"], each["name"]): each
                for listed in (shared, entry.get("parameters", ()))
                for each in (find_component(components, parameter) for parameter in listed)
            }
            security = entry.get("security", openapi.get("security", ()))
            found.append(
                DescribedOperation(
                    id_,
                    method.upper(),
                    path,
                    entry,
                    tuple(parameters.values()),
                    tuple(security),
                    described.get(id_, {}),
                )
            )
    return found


def _is_same(entry: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    key = "x-mock-operation"
    return entry.get(key) is not None and entry.get(key) == other.get(key)
