"""Each row of document A's release history: what holds just before its moment, and from then on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.release_history import RELEASES, Release
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys, Sandbox, Sandboxes

OWN = "2244994945"
SECOND = timedelta(seconds=1)
WEBHOOK = "1146654567674912769"
Probe = Callable[[Sandbox], bool]
"""Whether a change is in force in a sandbox."""


def at(sandboxes: Sandboxes, moment: datetime, **settings: Any) -> Sandbox:
    """A sandbox with these settings, as it starts, whose clock is frozen at a moment."""
    box = sandboxes.get(**settings)
    box.world.clock.freeze(moment)
    return box


def ask(
    box: Sandbox, method: str, path: str, keys: Keys | str = BEARER, **more: Any
) -> TestResponse:
    """One request, by default with the app's bearer token."""
    return box.call(method, path, keys=keys, **more)


def exists(method: str, path: str) -> Probe:
    """An endpoint is there: some operation answers, whatever it says."""

    def probe(box: Sandbox) -> bool:
        answer = ask(box, method, path)
        text = answer.get_data(as_text=True) if answer.status_code in {404, 410} else ""
        return answer.status_code != 410 and "No operation answers" not in text

    return probe


def is_known_event(name: str) -> Probe:
    """An event of this type can happen."""

    def probe(box: Sandbox) -> bool:
        event = {"event_type": name, "user_id": OWN, "payload": {"id": "1"}}
        answer = box.call("POST", "/_mock/events", keys=None, json=event)
        assert answer.status_code in {201, 422}, answer.get_data(as_text=True)
        return answer.status_code == 201

    return probe


def is_known_key(**body: Any) -> Probe:
    """A key of a new post is read; before, it is reported as unknown."""

    def probe(box: Sandbox) -> bool:
        box.change("users", OWN, subscription_type="Premium")
        answer = ask(box, "POST", "/2/posts", HARBOR, json={"text": "Hello", **body})
        return "unknown-key" not in answer.headers.get("X-Mock-Warnings", "")

    return probe


def refuses_uninvited_replies(box: Sandbox) -> bool:
    """A reply to a post whose author did not mention the app's user is refused."""
    box.change("apps", "11827", _tier="self_serve")
    made = ask(box, "POST", "/2/posts", NORTHBIKE, json={"text": "Nobody is mentioned here"})
    reply = {"in_reply_to_post_id": made.get_json()["data"]["id"]}
    answer = ask(box, "POST", "/2/posts", HARBOR, json={"text": "Hi", "reply": reply})
    assert answer.status_code in {201, 403}, answer.get_data(as_text=True)
    return answer.status_code == 403


def takes_oauth2_for_account_activity(box: Sandbox) -> bool:
    """A user token of OAuth 2.0 may subscribe to account activity."""
    path = f"/2/account_activity/webhooks/{WEBHOOK}/subscriptions/all"
    answer = ask(box, "GET", path, USER_TOKEN)
    assert answer.status_code in {200, 403}, answer.get_data(as_text=True)
    return answer.status_code == 200


def takes_counts_in_searches(box: Sandbox) -> bool:
    """A search may ask for a number of likes."""
    answer = ask(box, "GET", "/2/posts/search/recent", query_string={"query": "coffee min_likes:1"})
    assert answer.status_code in {200, 400}, answer.get_data(as_text=True)
    return answer.status_code == 200


def lists_affiliations(box: Sandbox) -> bool:
    """affiliation.user_id is an array."""
    affiliation = {"badge_url": "", "description": "", "url": "", "user_id": ["3805104374"]}
    box.change("users", OWN, affiliation=affiliation)
    answer = ask(box, "GET", f"/2/users/{OWN}", query_string={"user.fields": "affiliation"})
    return isinstance(answer.get_json()["data"]["affiliation"]["user_id"], list)


OLD_REPLAY = "/2/account_activity/replay/webhooks/:id/subscriptions/all".replace(":id", WEBHOOK)
PROBES: dict[str, Probe] = {
    "articles": exists("POST", "/2/articles/draft"),
    "post-events": is_known_event("post.create"),
    "paid-partnership": is_known_key(paid_partnership=True),
    "search-index": takes_counts_in_searches,
    "replay-path-retired": lambda box: not exists("POST", OLD_REPLAY)(box),
    "event-names": is_known_event("profile.update.bio"),
    "direct-message-events": is_known_event("dm.received"),
    "programmatic-replies": refuses_uninvited_replies,
    "space-events": is_known_event("spaces.start"),
    "account-activity-oauth2": takes_oauth2_for_account_activity,
    "news": exists("GET", "/2/news/search"),
    "post-editing": is_known_key(edit_options={"previous_post_id": "1"}),
    "connections": exists("GET", "/2/connections"),
    "evaluate-note": exists("POST", "/2/evaluate_note"),
    "filtered-stream-webhooks": exists("GET", "/2/posts/search/stream/rules"),
    "share-with-followers": is_known_key(community_id="1", share_with_followers=True),
    "community-notes": exists("POST", "/2/notes"),
    "account-activity": exists("GET", "/2/webhooks"),
    "affiliation-array": lists_affiliations,
}


def test_every_row_is_tried() -> None:
    """No row of the history is left out, and none is made up."""
    assert {release.id for release in RELEASES} == set(PROBES)


@pytest.mark.parametrize("chosen", ["clock", "as_of"])
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.id)
def test_a_change_begins_at_its_moment(sandboxes: Sandboxes, release: Release, chosen: str) -> None:
    """A second before its moment the change is not in force, at its moment it is.

    The moment is that of the clock, or of `--as-of`, whatever the clock says.
    """
    probe, moment = PROBES[release.id], release.effective
    found = []
    for each in (moment - SECOND, moment):
        if chosen == "clock":
            box = at(sandboxes, each)
        else:
            box = at(sandboxes, datetime(2024, 1, 1, tzinfo=UTC), as_of=each)
        found.append(probe(box))

    assert [False, True] == found


@pytest.mark.parametrize(
    "operation", [each for each in OPERATIONS if each.since is not None], ids=lambda each: each.id
)
def test_an_endpoint_is_unknown_before_its_date(sandboxes: Sandboxes, operation: Any) -> None:
    """Before its date its path answers as one that does not exist; --releases all serves it."""
    path = operation.path
    for name in operation.path_names:
        path = path.replace(f":{name}", "1")
    is_there = exists(operation.method, path)

    assert not is_there(at(sandboxes, operation.since - SECOND))
    assert is_there(at(sandboxes, operation.since))
    assert is_there(at(sandboxes, datetime(2024, 1, 1, tzinfo=UTC), releases="all"))
