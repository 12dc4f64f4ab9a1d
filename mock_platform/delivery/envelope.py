"""What a receiver gets: the body of an event or of a job's end, and its signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any
from urllib.parse import quote

from mock_platform.api.served import ORIGINAL_NAMES
from mock_platform.api.v2.activity.activities import make_envelope
from mock_platform.api.v2.release_history import DIRECTED_SINCE
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.settings import NamesMode
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record

_DIRECTED_SINCE = wire_millis(DIRECTED_SINCE)
_UNFILTERED = "oauth.revoke"
"""An event of the app itself: its filter is empty."""
_DESCRIPTIONS = {
    "COMPLETE": ("Complete", "Job completed successfully"),
    "INCOMPLETE": (
        "Incomplete",
        "Job failed to deliver all events, please retry your replay job",
    ),
}


def make_body(event: Record, owner_id: str, names: NamesMode | None = None) -> dict[str, Any]:
    """Return an event as its product delivers it, with neutral or original names.

    `owner_id` as for `make_activity`.
    """
    body = _make_neutral_body(event, owner_id)
    if names != "original":
        return body
    written: dict[str, Any] = ORIGINAL_NAMES.write_event(body, event.get("_product"))
    return written


def _make_neutral_body(event: Record, owner_id: str) -> dict[str, Any]:
    if event.get("_product") == "account_activity":
        return make_account_activity(event, owner_id)
    if event.get("_product") == "filtered_stream":
        return dict(event["payload"])
    return make_activity(event, owner_id)


def make_account_activity(event: Record, owner_id: str) -> dict[str, Any]:
    """Return an event as account activity delivers it (public facts, section 6).

    `for_user_id` is the subscribed user, `owner_id` if the event names none; the revocation of an
    app's access has none.
    """
    if "user_event" in event["payload"]:
        return dict(event["payload"])
    return {"for_user_id": event.get("_user_id") or owner_id, **event["payload"]}


def make_activity(event: Record, owner_id: str) -> dict[str, Any]:
    """Return an event as it is delivered (public facts, section 6, activity envelope).

    `owner_id` is the user whom the subscription follows if the event names none. Direction, tag and
    includes are left out where the event has none; the direction also of events from before
    subscriptions had one.
    """
    chosen: dict[str, Any] = dict(event.get("_filter") or {})
    if not chosen and event["event_type"] != _UNFILTERED:
        chosen["user_id"] = event.get("_user_id") or owner_id
    if event.get("_direction") and event["created_at"] >= _DIRECTED_SINCE:
        chosen["direction"] = event["_direction"]
    return make_envelope(
        event_uuid=event.get("_event_uuid") or event["id"],
        wanted=chosen,
        event_type=event["event_type"],
        tag=event.get("_tag"),
        payload=event["payload"],
        includes=event.get("_includes"),
    )


def make_job_status(job: Record) -> dict[str, Any]:
    """Return the event that announces a job's end (public facts, section 6)."""
    state, description = _DESCRIPTIONS[job["state"]]
    return {
        "replay_job_status": {
            "webhook_id": job["webhook_id"],
            "job_state": state,
            "job_state_description": description,
            "job_id": job["id"],
        }
    }


# Signatures by which receiver and platform know each other: HMAC with the consumer secret.
# Public facts, section 6: the signature of a delivery, and the challenge (CRC) that an address
# must answer before anything is delivered to it.

SIGNATURE_HEADERS = ("x-platform-webhooks-signature", "x-twitter-webhooks-signature")
"""The neutral name and the original one, which existing receivers read."""


def make_signature(consumer_secret: str, data: bytes) -> str:
    """Return `sha256=` and the base64 of HMAC-SHA256 over the raw bytes."""
    digest = hmac.new(consumer_secret.encode(), data, hashlib.sha256).digest()
    return "sha256=" + base64.b64encode(digest).decode()


def make_challenge_url(url: str, token: str) -> str:
    """Return the webhook's address with `crc_token` added to its query."""
    address, _, fragment = url.partition("#")
    del fragment  # never sent
    return f"{address}{'&' if '?' in address else '?'}crc_token={quote(token, safe='')}"


def find_challenge_fault(consumer_secret: str, token: str, status: int, body: bytes) -> str | None:
    """Return what is wrong with the answer to a challenge; `None` if it is right."""
    if not 200 <= status < 300:
        return f"the challenge was answered with status {status}, not 200"
    try:
        answer = loads(body)
    except BadJson as error:
        return f"the challenge's answer is {error}"
    given = answer.get("response_token") if isinstance(answer, dict) else None
    if not isinstance(given, str):
        return 'the challenge\'s answer lacks "response_token", a string'
    expected = make_signature(consumer_secret, token.encode())
    if not hmac.compare_digest(given.encode(), expected.encode()):
        return (
            "the challenge's response_token is wrong: it must be sha256= and the base64 of "
            "HMAC-SHA256 over crc_token, with the consumer secret as key"
        )
    return None
