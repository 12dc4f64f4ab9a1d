"""Sample requests to each operation that a scenario of the package acts on.

The page on scenarios shows them as curl lines; `tests/scenario_library` sends the same ones.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from marshmallow import ValidationError
from marshmallow.fields import Field

from mock_platform.control.credential_texts import Credentials
from mock_platform.core.fields import Choice
from mock_platform.core.jsonio import loads
from mock_platform.core.operation import Location, Operation
from mock_platform.core.packaged import folder
from mock_platform.operations import TABLES

MINUTE = "$minute"
"""Placeholder for the current minute in UTC, yyyymmddhhmm."""
_HASHED = "a" * 64
_UPLOAD = [{"operation_type": "Update", "params": {"users": [{"email": [_HASHED]}]}}]
_PRODUCTS = [
    {
        "id": merchant_id,
        "title": title,
        "description": "Ground for the filter",
        "availability": "in stock",
        "condition": "new",
        "price": "18.00 USD",
        "link": f"https://shop.example.com/{merchant_id}",
        "image_link": f"https://shop.example.com/{merchant_id}.jpg",
        "brand": "Harbor Roasters",
    }
    for merchant_id, title in (("HR-900", "Dock blend"), ("HR-901", "Pier blend"))
]
_ACCOUNT = "18ce54d4x5t"
_PATHS = {
    "account_id": _ACCOUNT,
    "product_set_id": "1547081000000000001",
    "custom_audience_id": "1nmth",
    "tailored_audience_id": "1nmth",
    "card_id": "1712870000001000003",
    "participant_id": "3805104374",
    "scheduled_post_id": "1991600000000000203",
}
"""What is in the path where the first fitting record of the fixtures does not do."""
_GUESSES = ("Example", "1", "true", "2026-03-01T00:00:00Z")
"""Values of which one does for most required parameters."""
_REPLAY = {"webhook_id": "1146654567674912769", "from_date": MINUTE, "to_date": MINUTE}
_JSON: Mapping[str, Any] = {
    "webhooks.create": {"url": "http://127.0.0.1:8099/webhooks/new"},
    "webhooks.replay": _REPLAY,
    "dm_conversations.send_to_user": {"text": "The beans are ready."},
    "stream_rules.change": {"add": [{"value": "espresso"}, {"value": "roaster has:images"}]},
    "public_posts.create": {"text": "Fresh from the roaster"},
    "notes.create": {
        "test_mode": True,
        "post_id": "1712850617439551496",
        "info": {
            "text": "Opened in May: https://northbike.example/lanes",
            "classification": "misinformed_or_potentially_misleading",
            "misleading_tags": ["factual_error"],
            "trustworthy_sources": True,
        },
    },
    "evaluate_note.create": {
        "note_text": "Opened in May: https://northbike.example/lanes",
        "post_id": "1712850617439551496",
    },
    "custom_audiences.users": _UPLOAD,
    "do_not_reach_lists.users": _UPLOAD,
    "product_sets.update": {"name": "Gifts"},
    "product_catalogs.products.upsert": {"products": _PRODUCTS},
    "product_catalogs.products.delete": {"product_keys": ["1547080787865940084"]},
}
_DAY = {"start_time": "2026-11-16T08:00:00Z", "end_time": "2026-11-17T08:00:00Z"}
_FIGURES = {
    "entity": "LINE_ITEM",
    "entity_ids": "itttx",
    "granularity": "TOTAL",
    "placement": "ALL_ON_PLATFORM",
    "metric_groups": "ENGAGEMENT,BILLING",
    **_DAY,
}
_QUERY: Mapping[str, dict[str, str]] = {
    "account_history.list": {
        "entity_type": "CAMPAIGN",
        "entity_id": "8wku2",
        "start_time": "2026-03-01T00:00:00Z",
        "end_time": "2026-03-02T00:00:00Z",
    },
    "cards_poll.create": {
        "name": "Roast",
        "first_choice": "Light",
        "second_choice": "Dark",
        "duration_in_minutes": "60",
    },
    "insights.search_keywords": {
        "granularity": "DAY",
        "keywords": "coffee",
        "start_time": "2026-03-01T00:00:00Z",
        "end_time": "2026-03-05T00:00:00Z",
    },
    "scheduled_posts.create": {
        "as_user_id": "2244994945",
        "text": "Fresh from the roaster",
        "scheduled_at": "2027-03-01T08:00:00Z",
    },
    "cards_image_conversation.create": {
        "name": "Espresso or filter",
        "title": "Espresso or filter?",
        "first_cta": "#TeamEspresso",
        "first_cta_post": "Espresso, always.",
        "thank_you_text": "Thanks for choosing",
        "media_key": "3_1712850617439550001",
    },
    "scheduled_feeds.create": {
        "feed_url": "http://127.0.0.1:8099/products.csv",
        "feed_format": "CSV",
        "frequency": "DAILY",
        "start_time": "04:30",
        "time_zone": "America/Los_Angeles",
    },
    "users.show": {"screen_name": "northbike_co"},
    "stats.get": _FIGURES,
    "stats.active_entities": {"entity": "LINE_ITEM", **_DAY},
    "line_items.create": {
        "campaign_id": "8wku2",
        "objective": "WEBSITE_CLICKS",
        "product_type": "PROMOTED_POSTS",
        "placements": "ALL_ON_PLATFORM",
    },
    "stats.reach.campaigns": {"campaign_ids": "8wku2", **_DAY},
    "stats.reach.funding_instruments": {"funding_instrument_ids": "m2k8s", **_DAY},
    "stats_jobs.create": _FIGURES,
    "post.create": {"as_user_id": "2244994945", "text": "Fresh from the roaster"},
    "product_catalogs.create": {"name": "Second shop"},
    "custom_audiences.create": {"name": "Gift buyers"},
    "promoted_accounts.create": {"line_item_id": "iuj2q", "user_id": "2244994945"},
    "promoted_posts.create": {"line_item_id": "itttx", "post_ids": "1712850617439551491"},
    "targeting_criteria.create": {
        "line_item_id": "itttx",
        "targeting_type": "INTEREST",
        "targeting_value": "6001",
        "operator_type": "EQ",
    },
    "tailored_audiences.permissions.create": {
        "granted_account_id": "18ce55fw2ag",
        "permission_level": "READ_ONLY",
    },
}
_FORM: Mapping[str, Mapping[str, str]] = {
    "oauth2.token": {"grant_type": "client_credentials"},
    "oauth2.user_token": {"grant_type": "refresh_token", "refresh_token": "used-before"},
}
_CONDITIONS = {"with_total_count": "true", "media_key": "3_1712850617439550001"}
"""Values for the query conditions of the package's scenarios."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: `path` with its query, the headers, and `body` with `MINUTE` in it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None = None

    def curl(self, base_url: str, variables: Mapping[str, str], *headers: str) -> str:
        """Returns the request as a shell command; names of `variables` replace their values."""
        lines = ["curl -si" if self.method == "GET" else f"curl -si -X {self.method}"]
        for header in (*(f"{name}: {value}" for name, value in self.headers.items()), *headers):
            shown, quote = header, "'"
            for name, value in variables.items():
                if value in header:
                    shown, quote = header.replace(value, f"${name}"), '"'
            lines.append(f"-H {quote}{shown}{quote}")
        if self.body is not None:
            quoted = self.body.replace(MINUTE, f"'{MINUTE}'")
            lines.append(f"-d '{quoted}'")
        lines.append(f"'{base_url}{self.path}'")
        return " \\\n     ".join(lines)


def sample(
    operation: Operation, credentials: Credentials, conditions: Iterable[str] = ()
) -> Sample:
    """Returns a request to an operation; `conditions` are further names for its query.

    Raises:
        LookupError: This module does not know a value for the path or for a required parameter.
    """
    path, before = "/sandbox" if operation.sandbox_only else "", ""
    for segment in operation.path.split("/")[1:]:
        path += "/" + (_path_value(segment[1:], before) if segment.startswith(":") else segment)
        before = segment
    query = _QUERY.get(operation.id) or _required_parameters(operation)
    query = query | {name: _CONDITIONS[name] for name in conditions}
    if query:
        path += "?" + urlencode(query)
    headers = {"Authorization": _authorization(operation, credentials)}
    body = None
    if operation.id in _JSON:
        headers["Content-Type"] = "application/json"
        body = json.dumps(_JSON[operation.id])
    elif operation.id in _FORM:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(_FORM[operation.id])
    return Sample(operation.method, path, headers, body)


def _path_value(name: str, table_name: str) -> str:
    """What a path has for `:name`: if the segment before is a table's name, a record of it."""
    if name in _PATHS:
        return _PATHS[name]
    table = next((table for table in TABLES if table.name == table_name), None)
    if table is None:
        raise LookupError(f"Which :{name} is an example? Add it to _PATHS in {__name__}.")
    for record in loads((folder("fixtures") / f"{table.name}.json").read_bytes()):
        if not record.get("deleted") and record.get("_account_id", _ACCOUNT) == _ACCOUNT:
            return str(record[table.key])
    raise LookupError(f"fixtures/{table.name}.json has no record of the account {_ACCOUNT}.")


def _required_parameters(operation: Operation) -> dict[str, str]:
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
    for guess in field.values if isinstance(field, Choice) else _GUESSES:
        try:
            field.deserialize(guess)
        except ValidationError:
            continue
        return guess
    raise LookupError(f"What does {name} of {operation.id} take? Add it to _QUERY in {__name__}.")


def _authorization(operation: Operation, credentials: Credentials) -> str:
    if operation.id == "oauth.request_token":
        return 'OAuth oauth_timestamp="1"'  # far from the clock, and refused before anything else
    if operation.id == "oauth2.token":
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
