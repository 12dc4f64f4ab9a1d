"""Webhooks of an app: what an address must be like, how it is challenged, what a delete removes.

The shapes are public facts (named endpoints, section 2); document A names the endpoints.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from mock_platform.api.v2.conventions import get_app, make_id_field
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.core.fields import Choice, Flag, Instant, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.settings import NAMES, NamesMode, Settings, is_loopback
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


class WebhookPath(Schema):
    """The webhook that a path names; one that the app does not have is refused alike."""

    webhook_id = make_id_field("a webhook id of ")


WEBHOOK_SHAPES = public_fact(
    "webhooks.shapes",
    "The endpoints that create, list, validate and delete webhooks have their public shapes; the "
    "spec only names them. POST answers with the flat record, or with --webhook-envelope data and "
    "on the recorded wire with the record under data, as the newer description has it; PUT answers "
    "with attempted and valid.",
    "section 2 of the named endpoints",
    gap=True,
)
NAMED_FAILURES = public_fact(
    "webhooks.failures",
    "A refused webhook or account-activity subscription is an invalid-request problem (400) whose "
    "message begins with the public name: UrlValidationFailed, DuplicateUrlFailed, "
    "WebhookLimitExceeded, CrcValidationFailed, WebhookIdInvalid, DuplicateSubscriptionFailed, "
    "SubscriptionLimitExceeded, SubscriptionNotFound.",
    "sections 2 and 4.1 of the named endpoints, failure bodies",
)
ALLOWED_ADDRESS = settled(
    "webhooks.address",
    "The sandbox takes http, loopback addresses and ports in url; --strict wants https, a public "
    "host and no port, as the platform does.",
    "Events and streams",
)
FIRST_CHALLENGE = public_fact(
    "webhooks.challenge",
    "The challenge runs before POST and PUT answer. A failed one refuses the POST, and nothing is "
    "stored. A PUT that passes makes the webhook valid again.",
    "section 2 of the named endpoints, the challenge at create is synchronous",
)
WEBHOOK_VALIDITY = public_fact(
    "webhooks.validity",
    "A webhook that was created through the interface is challenged again when none was passed "
    "for 24 hours, every 30 minutes on the world's clock. It is invalid at once after a wrong "
    "answer, and after 28 hours without a pass where the receiver does not answer. Webhooks of "
    "fixtures are challenged in this way only if they have _passed_at.",
    "section 2 of the named endpoints, valid turns false",
)
WEBHOOK_CAP = settled(
    "webhooks.limit",
    "A developer account, all apps of one owner, may have 5 webhooks; --webhook-limit sets another "
    "number.",
    "Events and streams",
)
DELETED_WEBHOOK = public_fact(
    "webhooks.deleted",
    "Deleting a webhook deletes its events, replay jobs, account-activity subscriptions and links "
    "to the filtered stream as well, and takes it off the activity subscriptions that name it.",
    "section 2 of the named endpoints, deleting a webhook",
)


_TRUST = timedelta(hours=24)
"""How long a passed challenge is enough."""
_REPEAT = timedelta(minutes=30)
"""Between two challenges after that."""
_PATIENCE = timedelta(hours=28)
"""How long a receiver may not answer before its webhook is invalid."""


class WebhookRecord(Schema):
    """A webhook configuration: where the events of an app are delivered."""

    id = make_id_field(required=True)
    url = Text(required=True, min_length=1, max_length=200)
    valid = Flag(load_default=True)
    created_at = Instant(as_sent=True, required=True)
    _app_id = Text(required=True)
    _passed_at = Instant(millis=True, load_default=None, allow_none=True)
    """When it last passed a challenge; after a day it is challenged again (`webhooks.validity`)."""
    _challenged_at = Instant(millis=True, load_default=None, allow_none=True)
    _names = Choice(NAMES, load_default=None, allow_none=True)
    """The names of its deliveries, if its world has none set: those of who registered it."""


def _check_url(record: Record) -> Iterator[tuple[str, str]]:
    try:
        parts = urlsplit(record["url"])
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        yield "url", f"url must be an http or https address, got {record['url']!r}"


def find_next_challenge(webhook: Record) -> datetime | None:
    """Return when a webhook is to be challenged again; `None` if it is not."""
    if not webhook["valid"] or webhook.get("_passed_at") is None:
        return None
    passed = parse_instant(webhook["_passed_at"])
    tried = parse_instant(webhook.get("_challenged_at") or webhook["_passed_at"])
    return max(passed + _TRUST, tried + _REPEAT)


TABLES = (
    Table(
        "webhooks",
        WebhookRecord,
        references=(Reference("_app_id", "apps"),),
        check=_check_url,
        due=("challenge", find_next_challenge),
        shown=Shown(("url", "created_at"), operations=("webhooks.list",), is_of_app=True),
    ),
)


def make_refusal(name: str, text: str, parameter: str, *values: str) -> ProblemFailure:
    """Build the 400 of a webhook endpoint; its message begins with the public name."""
    message = f"{name}: {text}"
    value = problem(
        "invalid-request", errors=[{"message": message, "parameters": {parameter: list(values)}}]
    )
    return ProblemFailure(value, NAMED_FAILURES)


def find_address_faults(
    params: Mapping[str, Any], _call: Call, _world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the address of a webhook."""
    if "url" in params:
        fault = _explain_address_fault(params["url"], strict=settings.strict)
        if fault is not None:
            yield "url", f"UrlValidationFailed: {fault}"


def _explain_address_fault(url: str, *, strict: bool) -> str | None:
    """Say what is wrong with an address, if anything."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as fault:
        return f"url cannot be read: {fault}"
    wrong = {
        "must be ASCII without blanks": not url.isascii() or any(map(str.isspace, url)),
        "must be an http or https address with a host": parts.scheme not in {"http", "https"}
        or not host
        or port == 0,
        "must not contain a user name or a fragment": parts.username is not None
        or bool(parts.fragment),
        "must begin with https": strict and parts.scheme != "https",
        "must not contain a port": strict and port is not None,
        "must be publicly reachable": strict and not _is_public(host),
    }
    return next((f"url {text}" for text, found in wrong.items() if found), None)


def _is_public(host: str) -> bool:
    if is_loopback(host):
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host


def find_own_webhook(call: Call, world: World) -> Record:
    """Return the webhook that the path names.

    Raises:
        ProblemFailure: The caller's app has no such webhook (WebhookIdInvalid).
    """
    return find_webhook(world, get_app(call), call.path_params["webhook_id"])


def find_webhook(world: World, app: Record, webhook_id: str) -> Record:
    """Return a webhook of an app.

    Raises:
        ProblemFailure: The app has no such webhook (WebhookIdInvalid).
    """
    webhook = world.store.get("webhooks", webhook_id)
    if webhook is None or webhook["_app_id"] != app["id"]:
        text = f"the app has no webhook {webhook_id}"
        raise make_refusal("WebhookIdInvalid", text, "webhook_id", webhook_id)
    return webhook


def require_room(world: World, app: Record, url: str, limit: int) -> None:
    """Require that the app does not have this address yet, and may have one more webhook.

    Raises:
        ProblemFailure: DuplicateUrlFailed or WebhookLimitExceeded.
    """
    for entry in world.store.page("webhooks", {"_app_id": app["id"]}):
        if entry.record["url"] == url:
            text = f"webhook {entry.key} of this app has this url already"
            raise make_refusal("DuplicateUrlFailed", text, "url", url)
    held = sum(
        world.store.count("webhooks", {"_app_id": each}) for each in list_apps_of_owner(world, app)
    )
    if held >= limit:
        text = f"the account has {held} webhooks, and {limit} are allowed (--webhook-limit)"
        raise make_refusal("WebhookLimitExceeded", text, "url", url)


def list_apps_of_owner(world: World, app: Record) -> list[str]:
    """Return the ids of all apps of an app's owner, who is one developer account."""
    owner = app.get("_owner_user_id")
    if owner is None:
        return [app["id"]]
    return [entry.key for entry in world.store.page("apps", {"_owner_user_id": owner})]


def add_webhook(world: World, webhook_id: str, app: Record, url: str, names: NamesMode) -> Record:
    """Store a webhook that passed its challenge just now."""
    now = wire_millis(world.clock.now())
    record = {
        "id": webhook_id,
        "url": url,
        "valid": True,
        "created_at": now,
        "_app_id": app["id"],
        "_passed_at": now,
        "_challenged_at": now,
        "_names": names,
    }
    world.store.put("webhooks", webhook_id, record)
    return record


def apply_challenge(webhook: Record, now: datetime, *, passed: bool | None) -> Record:
    """Return a webhook as it is after a challenge (`webhooks.validity`).

    `passed` is `None` where the receiver did not answer, or with a status that may change.
    """
    # A wrong answer decides at once. No answer at all decides only after a time without a pass,
    # because a receiver may be restarting. Webhooks of the fixtures never passed a challenge
    # (`last` is `None`): time does not make them invalid, and they are not challenged again.
    changed = dict(webhook)
    last = webhook.get("_passed_at")
    if passed is not None:
        changed["valid"] = passed
    elif last is not None and now - parse_instant(last) >= _PATIENCE:
        changed["valid"] = False
    if last is not None:
        changed["_challenged_at"] = wire_millis(now)
        if passed:
            changed["_passed_at"] = wire_millis(now)
    return changed


def delete_webhook(world: World, webhook_id: str) -> None:
    """Delete a webhook with everything that belongs to it (`webhooks.deleted`)."""
    for table in ("events", "replay_jobs", "account_activity_subscriptions", "stream_links"):
        for entry in world.store.page(table, {"webhook_id": webhook_id}):
            world.store.remove(table, entry.key)
    for entry in world.store.page("activity_subscriptions", {"webhook_id": webhook_id}):
        rest = {name: value for name, value in entry.record.items() if name != "webhook_id"}
        world.store.put("activity_subscriptions", entry.key, rest)
    world.store.remove("webhooks", webhook_id)


def show_webhook(record: Record) -> Record:
    """Return the four fields of a webhook that clients see."""
    created = wire_millis(parse_instant(record["created_at"]))
    return {"created_at": created, **{name: record[name] for name in ("id", "url", "valid")}}
