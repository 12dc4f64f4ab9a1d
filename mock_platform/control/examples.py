"""Example requests: one for each operation, as far as the records have what it needs.

The interactive documentation, the pages of operations, the text pages and the page on scenarios
show the same ones, and tests send them.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from marshmallow import ValidationError
from marshmallow.fields import Field
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.served import EXAMPLE_PATHS, TABLES
from mock_platform.core.auth.tester_access import Credentials
from mock_platform.core.curl import SHOWN, split_at, write_curl
from mock_platform.core.fields import Choice
from mock_platform.core.installed import folder
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import (
    MINUTE,
    PUBLISHED_BEARER_TOKEN,
    PUBLISHED_CALLBACK,
    PUBLISHED_CLIENT_ID,
    PUBLISHED_USER_TOKEN,
    Location,
    Operation,
)
from mock_platform.world.store.interface import Entry, Record
from mock_platform.world.world import World

ACCOUNT = "18ce54d4x5t"
"""The account of the published credentials."""
_IN_ANY_PATH = {"account_id": ACCOUNT, "user_id": "2244994945", "username": "northbike_co"}
"""What is in the paths of all subjects: the account and the user of the published credentials."""
_CONDITIONS = {"with_total_count": "true"}
"""Values for the query conditions that the package's scenarios have for all operations."""
_GUESSES = ("Example", "1", "true", "2026-03-01T00:00:00Z")
"""Values of which one does for most required parameters."""


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
        """Return the request as a shell command; names of `variables` replace their values."""
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
    """Return a request to an operation; `conditions` are further names for its query.

    Raises:
        LookupError: The path, a required parameter or the token has no value.
    """
    path, before = "/sandbox" if operation.sandbox_only else "", ""
    for segment in operation.path.split("/")[1:]:
        path += "/" + (
            _path_value(segment[1:], before, operation) if segment.startswith(":") else segment
        )
        before = segment
    example = operation.example
    query = dict(_list_required_parameters(operation) if example.query is None else example.query)
    known = {**_CONDITIONS, **example.conditions}
    query |= {name: known[name] for name in conditions}
    if query:
        path += "?" + urlencode(put_in_credentials(query, credentials))
    headers = {"Authorization": _authorization(operation, credentials)}
    body = None
    if example.json is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(example.json)
    elif example.form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(put_in_credentials(example.form, credentials))
    return Sample(operation.method, path, headers, body)


def put_in_credentials(values: Mapping[str, str], credentials: Credentials) -> dict[str, str]:
    """Return values with those of the credentials in their places."""
    app, user = credentials["app"] or {}, credentials["user"] or {}
    known = {
        PUBLISHED_CLIENT_ID: app.get("client_id"),
        PUBLISHED_CALLBACK: next(iter(app.get("callback_urls", ())), None),
        PUBLISHED_BEARER_TOKEN: credentials["bearer_token"],
        PUBLISHED_USER_TOKEN: user.get("oauth2_access_token"),
    }
    return {name: str(known.get(value, value)) for name, value in values.items()}


def _path_value(name: str, table_name: str, operation: Operation) -> str:
    """Return what a path has for `:name`: a record, if the segment before is a table's name."""
    for known in (operation.example.path, EXAMPLE_PATHS.get(operation.id, {}), _IN_ANY_PATH):
        if name in known:
            return known[name]
    table = next((table for table in TABLES if table.name == table_name), None)
    if table is None:
        raise LookupError(f"Which :{name} is an example? Add it to EXAMPLE_PATHS of the subject.")
    for record in loads((folder("fixtures") / f"{table.name}.json").read_bytes()):
        if not record.get("deleted") and record.get("_account_id", ACCOUNT) == ACCOUNT:
            return str(record[table.key])
    raise LookupError(f"fixtures/{table.name}.json has no record of the account {ACCOUNT}.")


def _list_required_parameters(operation: Operation) -> dict[str, str]:
    """Return a value for each parameter of the query that has to be there."""
    if operation.params is None or operation.location is not Location.QUERY:
        return {}
    return {
        field.data_key or name: _guess(operation, name, field)
        for name, field in operation.params().load_fields.items()
        if field.required
    }


def _guess(operation: Operation, name: str, field: Field[Any]) -> str:
    """A value that a parameter takes."""
    for guess in field.values if isinstance(field, Choice) else _GUESSES:
        try:
            field.deserialize(guess)
        except ValidationError:
            continue
        return guess
    raise LookupError(
        f"What does {name} of {operation.id} take? Add it to the operation's example."
    )


_PAIRS = {
    "basic": ("consumer_key", "consumer_secret"),
    "oauth2-client": ("client_id", "client_secret"),
}
"""What an app sends as name and password, by scheme."""


def _authorization(operation: Operation, credentials: Credentials) -> str:
    if operation.example.authorization:
        return operation.example.authorization
    for scheme, names in _PAIRS.items():
        if scheme in operation.auth.schemes:
            pair = ":".join(str(credentials["app"][name]) for name in names)
            return "Basic " + base64.b64encode(pair.encode()).decode()
    if "bearer" not in operation.auth.schemes and "oauth2" in operation.auth.schemes:
        token = credentials["user"]["oauth2_access_token"]
    else:
        token = credentials["bearer_token"]
    if token is None:
        raise LookupError("The world has no token for an example.")
    return f"Bearer {token}"


# Example requests with the records of a world. The examples are written for the default
# fixtures. Where a world does not have a record that its example names, the example gets a
# record of the same table that the world has.

_NAME = re.compile(r"[A-Za-z0-9_]{4,}")
"""What may be the id of a record, or the name of a user."""
_NAMED_BY = {"users": ("screen_name",), "media_library": ("media_id",)}
"""Fields beside the key by which requests name records of a table."""
_ACCOUNT = "_account_id"
_MAX_COMPARED = 200
"""Maximum number of records of which the most similar one is chosen."""


class _Place(Struct, frozen=True):
    """Where the default fixtures have a name: in a table, as a key or in a `field` of a record."""

    table: str
    record: Record
    field: str = ""

    def find_name(self, entry: Entry) -> str | None:
        """Return what an entry of the table has there."""
        value = entry.record.get(self.field) if self.field else entry.key
        return value if isinstance(value, str) else None


def use_records_of(world: World, example: Sample, credentials: Credentials) -> Sample:
    """Return an example that names records of a world wherever it names default ones.

    `credentials` are those of the world: its own account, user and webhook are used first.

    Raises:
        LookupError: The world has no record of a table from which the example needs one.
    """
    text = f"{example.path}\n{example.body or ''}"
    places = _read_places()
    chosen: dict[str, str] = {}
    with world.lock:
        for name in dict.fromkeys(_NAME.findall(text)):
            place = places.get(name)
            if place is not None and not _has(world, place, name):
                chosen[name] = _choose(world, place, credentials, chosen)
    if not chosen:
        return example

    # Ids of a world's own records may have any characters, and each place writes them in its way.
    in_address = {name: quote(other, safe="") for name, other in chosen.items()}
    body = example.body
    if body is not None:
        in_json = {name: dumps(other).decode()[1:-1] for name, other in chosen.items()}
        is_json = example.headers.get("Content-Type") == "application/json"
        body = _put_in(body, in_json if is_json else in_address)
    return replace(example, path=_put_in(example.path, in_address), body=body)


def _put_in(text: str, names: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: names.get(found[0], found[0]), text)


def _has(world: World, place: _Place, name: str) -> bool:
    """Return whether a world has a record that is not deleted under a name."""
    if not place.field:
        record = world.store.get(place.table, name)
        return record is not None and not record.get("deleted")
    found = world.store.page(place.table, {place.field: name})
    return any(not entry.record.get("deleted") for entry in found)


def _choose(
    world: World, place: _Place, credentials: Credentials, chosen: Mapping[str, str]
) -> str:
    """Return the name of a record that the example does not have yet."""
    taken = set(chosen.values())
    preferred = _prefer(place, credentials)
    if preferred is not None and preferred not in taken and _has(world, place, preferred):
        return preferred
    account = next(iter(credentials["accounts"]), None)

    def is_own(record: Record) -> bool:
        return not record.get("deleted") and record.get(_ACCOUNT, account) == account

    found = world.store.page(place.table, where=is_own, limit=_MAX_COMPARED)
    # A record of the same kind and in the same state is most likely accepted in its place.
    for entry in sorted(found, key=lambda each: -_count_equal(each.record, place.record)):
        name = place.find_name(entry)
        if name is not None and name not in taken:
            return name
    raise LookupError(f"The world {world.name} has no record of {place.table} for an example.")


def _prefer(place: _Place, credentials: Credentials) -> str | None:
    """Return the name of the record that belongs to the published credentials."""
    user: Mapping[str, Any] = credentials["user"] or {}
    if place.table == "accounts":
        return next(iter(credentials["accounts"]), None)
    if place.table == "webhooks":
        return None if credentials["webhook_id"] is None else str(credentials["webhook_id"])
    if place.table == "users":
        return user.get("screen_name" if place.field == "screen_name" else "id")
    return None


def _count_equal(one: Record, other: Record) -> int:
    return sum(one.get(field) == value for field, value in other.items())


@lru_cache(maxsize=1)
def _read_places() -> Mapping[str, _Place]:
    """Return where the default fixtures have each name. The files do not change."""
    return MappingProxyType(dict(_list_places()))


def _list_places() -> Iterator[tuple[str, _Place]]:
    for table in TABLES:
        file = folder("fixtures") / f"{table.name}.json"
        if not file.exists():
            continue
        for record in loads(file.read_bytes()):
            yield str(table.key_of(record)), _Place(table.name, record)
            for field in _NAMED_BY.get(table.name, ()):
                if isinstance(record.get(field), str):
                    yield record[field], _Place(table.name, record, field)
