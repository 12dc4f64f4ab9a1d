"""Webhooks and subscriptions, and a form that lets something happen to a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response
from msgspec.structs import replace

from mock_platform.api.v2.activity.activities import DIRECTIONS
from mock_platform.api.v2.release_history import EVENT_NAMES, list_names_in_force
from mock_platform.control.console.answers import ConsolePage, go, render
from mock_platform.control.console.forms import FormState, answer_form, attempt, read_json
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.webhooks import post_event, validate
from mock_platform.core.jsonio import pretty

PATH = "/console/webhooks"
MAX_SHOWN = 200
"""Webhooks, subscriptions and users that the page lists, of each."""
_DIRECTIONS = [("", "not named"), *DIRECTIONS]
_GIVEN = ("event_type", "user_id", "webhook_id", "direction", "created_at")


def show_webhooks(
    request: ControlRequest,
    form: FormState | None = None,
    happened: Mapping[str, Any] | None = None,
) -> Response:
    """Webhooks, who is subscribed to what, and the form of an event."""
    world = request.world
    with world.work():
        tables = {
            name: [entry.record for entry in world.store.page(name, limit=MAX_SHOWN)]
            for name in (
                "webhooks", "activity_subscriptions", "account_activity_subscriptions", "users",
            )
        }  # fmt: skip
        now = world.clock.now()
    names = EVENT_NAMES if world.has_all_releases else list_names_in_force(now)
    return render(
        request,
        "webhooks.html",
        block="content",
        form=form,
        webhooks=tables["webhooks"],
        activity=tables["activity_subscriptions"],
        account_activity=tables["account_activity_subscriptions"],
        users=[(each["id"], each.get("username", "")) for each in tables["users"]],
        event_types=[name.name for name in names if not name.is_deprecated(now)],
        directions=_DIRECTIONS,
        limit=MAX_SHOWN,
        happened=happened,
        happened_text="" if happened is None else pretty(happened),
    )


def emit_event(request: ControlRequest) -> Response:
    """Let something happen to a user, and show where it went and where it did not."""

    def emit(values: Mapping[str, str]) -> Response:
        body: dict[str, Any] = {
            name: text for name in _GIVEN if (text := values.get(name, "").strip())
        }
        body |= read_json(values, "payload", "The event was not added")
        happened = post_event(replace(request, body=body))
        return show_webhooks(request, FormState(values), happened)

    return answer_form(request, emit, show_webhooks)


def challenge_webhook(request: ControlRequest) -> Response:
    """Challenge a webhook now, and say whether it answered as it must."""
    key = request.args["key"]
    found: dict[str, Any] = {}
    refused = attempt({}, lambda: found.update(validate(request)))
    if refused is not None:
        return show_webhooks(request, refused)
    if found["error"] is None:
        result = "is valid."
    elif found["valid"]:  # nothing was answered, so nothing was wrong
        result = f"did not answer, and stays valid for now: {found['error']}."
    else:
        result = f"is invalid: {found['error']}."
    return go(request, PATH, f"Webhook {key} {result}")


PAGE = ConsolePage(
    "Webhooks",
    PATH,
    (
        Route("GET", PATH, show_webhooks, media_type=HTML),
        Route("POST", f"{PATH}/events", emit_event, media_type=HTML, form=True),
        Route("POST", f"{PATH}/<key>/challenge", challenge_webhook, media_type=HTML, form=True),
    ),
)
