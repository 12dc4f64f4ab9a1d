"""Example requests: one for each operation, as far as the records have what it needs.

The interactive documentation, the pages of operations, the text pages and the page on scenarios
show the same ones, and tests send them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from marshmallow import ValidationError
from marshmallow.fields import Field
from msgspec import Struct

from mock_platform.control.credential_texts import Credentials
from mock_platform.control.sample_values import (
    ACCOUNT,
    BEARER_TOKEN,
    CALLBACK,
    CLIENT_ID,
    CONDITIONS,
    FAMILY_PATHS,
    FORM,
    GUESSES,
    JSON,
    MINUTE,
    PATHS,
    QUERY,
    USER_TOKEN,
)
from mock_platform.core.curl import SHOWN, split_at, write_curl
from mock_platform.core.fields import Choice
from mock_platform.core.jsonio import loads
from mock_platform.core.operation import Location, Operation
from mock_platform.core.packaged import folder
from mock_platform.operations import TABLES


class Sample(Struct, frozen=True):
    """One request: `path` with its query, the headers, and `body` with `MINUTE` in it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None = None

    def write_curl(
        self,
        base_url: str,
        variables: Mapping[str, str] = MappingProxyType({}),
        *headers: str,
        options: Sequence[str] = SHOWN,
    ) -> str:
        """Returns the request as a shell command; names of `variables` replace their values."""
        named = [*(f"{name}: {value}" for name, value in self.headers.items()), *headers]
        body = None if self.body is None else split_at(self.body, {MINUTE.strip("$"): MINUTE})
        return write_curl(
            self.method,
            base_url + self.path,
            [split_at(header, variables) for header in named],
            body,
            options=options,
        )


def sample(
    operation: Operation, credentials: Credentials, conditions: Iterable[str] = ()
) -> Sample:
    """Returns a request to an operation; `conditions` are further names for its query.

    Raises:
        LookupError: This module does not know a value for the path or for a required parameter.
    """
    path, before = "/sandbox" if operation.sandbox_only else "", ""
    for segment in operation.path.split("/")[1:]:
        path += "/" + (
            _path_value(segment[1:], before, operation) if segment.startswith(":") else segment
        )
        before = segment
    query = QUERY[operation.id] if operation.id in QUERY else _list_required_parameters(operation)
    query = query | {name: CONDITIONS[name] for name in conditions}
    if query:
        path += "?" + urlencode(put_in_credentials(query, credentials))
    headers = {"Authorization": _authorization(operation, credentials)}
    body = None
    if operation.id in JSON:
        headers["Content-Type"] = "application/json"
        body = json.dumps(JSON[operation.id])
    elif operation.id in FORM:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(put_in_credentials(FORM[operation.id], credentials))
    return Sample(operation.method, path, headers, body)


def put_in_credentials(values: Mapping[str, str], credentials: Credentials) -> dict[str, str]:
    """Returns values with those of the credentials in their places."""
    app, user = credentials["app"] or {}, credentials["user"] or {}
    known = {
        CLIENT_ID: app.get("client_id"),
        CALLBACK: next(iter(app.get("callback_urls", ())), None),
        BEARER_TOKEN: credentials["bearer_token"],
        USER_TOKEN: user.get("oauth2_access_token"),
    }
    return {name: str(known.get(value, value)) for name, value in values.items()}


def _path_value(name: str, table_name: str, operation: Operation) -> str:
    """What a path has for `:name`: if the segment before is a table's name, a record of it."""
    for key in (operation.id, operation.id.partition(".")[0]):
        if name in FAMILY_PATHS.get(key, {}):
            return FAMILY_PATHS[key][name]
    if name in PATHS:
        return PATHS[name]
    table = next((table for table in TABLES if table.name == table_name), None)
    if table is None:
        raise LookupError(f"Which :{name} is an example? Add it to PATHS of sample_values.")
    for record in loads((folder("fixtures") / f"{table.name}.json").read_bytes()):
        if not record.get("deleted") and record.get("_account_id", ACCOUNT) == ACCOUNT:
            return str(record[table.key])
    raise LookupError(f"fixtures/{table.name}.json has no record of the account {ACCOUNT}.")


def _list_required_parameters(operation: Operation) -> dict[str, str]:
    """A value for each parameter of the query that has to be there."""
    if operation.params is None or operation.location is not Location.QUERY:
        return {}
    return {
        field.data_key or name: _guess(operation, name, field)
        for name, field in operation.params().load_fields.items()
        if field.required
    }


def _guess(operation: Operation, name: str, field: Field[Any]) -> str:
    """A value that a parameter takes."""
    for guess in field.values if isinstance(field, Choice) else GUESSES:
        try:
            field.deserialize(guess)
        except ValidationError:
            continue
        return guess
    raise LookupError(f"What does {name} of {operation.id} take? Add it to QUERY of sample_values.")


def _authorization(operation: Operation, credentials: Credentials) -> str:
    if operation.id == "oauth.request_token":
        return 'OAuth oauth_timestamp="1"'  # far from the clock, and refused before anything else
    if "basic" in operation.auth.schemes:
        app = credentials["app"]
        pair = f"{app['consumer_key']}:{app['consumer_secret']}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    if "oauth2-client" in operation.auth.schemes:
        app = credentials["app"]
        pair = f"{app['client_id']}:{app['client_secret']}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    if "bearer" not in operation.auth.schemes and "oauth2" in operation.auth.schemes:
        return f"Bearer {credentials['user']['oauth2_access_token']}"
    return f"Bearer {credentials['bearer_token']}"
