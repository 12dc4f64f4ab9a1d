"""Drafts and scheduled posts: what a plan must satisfy, and what happens when it is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from mock_platform.api.ads.accounts.users_and_apps import find_full_user
from mock_platform.api.ads.advertiser_posts.operations import (
    describe_advertiser_post,
    find_text_faults,
    has_card,
    make_advertiser_post,
    may_post,
    require_author,
    require_card,
    require_fit,
    require_media,
)
from mock_platform.api.ads.conventions import fail
from mock_platform.api.ads.lists import PageOf, paginate
from mock_platform.api.ads.media.media_library import find_media
from mock_platform.api.ads.resource import Resource
from mock_platform.api.v2.objects.post_text import make_source
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import Fault
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis, wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

SCHEDULED, SUCCESS, FAILED, DELETED = "SCHEDULED", "SUCCESS", "FAILED", "DELETED"
TABLE, KIND_NAME = "scheduled_posts", "scheduled_post"
MOST_IN_WINDOW = 30
WINDOW_MINUTES = 15
FARTHEST = timedelta(days=365)

PLANS_SERVED = public_fact(
    "planned-posts.all",
    "Drafts and scheduled posts have no deleted: a delete removes them, and answers the record "
    "with the status DELETED. text is empty where there is none. An empty card_uri, media_keys or "
    "name on PUT removes it; text or media must be left. No echo holds account_id.",
    "adjacent operations, section 8.4",
    gap=True,
)
PLANS_OF_USER = public_fact(
    "planned-posts.whose",
    "A list shows the plans of user_id, by default those of the account's FULL promotable user.",
    "adjacent operations, section 8.4",
)
SCHEDULED_MOMENT = public_fact(
    "scheduled-posts.moment",
    "scheduled_at is in whole minutes (seconds are ignored), later than now and at most one year "
    "ahead. When the world's clock passes it, the post exists: scheduled_status SUCCESS, "
    "completed_at and post_id are set. FAILED if it cannot be posted any more.",
    "adjacent operations, section 8.4",
)
POST_LIMIT = settled(
    "scheduled-posts.limit",
    "More than 30 posts of a user in one quarter of an hour, counted from the full hour, answer "
    "400 SCHEDULED_POST_LIMIT_EXCEEDED.",
)
FINAL_STATUS = expectation(
    "scheduled-posts.done",
    "A scheduled post that is out, or has failed, is not changed or deleted any more: 403 "
    "ACTION_NOT_ALLOWED. The post itself stays.",
)

Published = Callable[[World, Record, Record], None]
"""Does what follows from a scheduled post that is out: gets the plan and the post."""


def make_kind(published: Published) -> TransitionKind:
    """Return the transition of scheduled posts; `published` runs when one is out."""

    def act(world: World, plan: Mapping[str, Any], to: str) -> str:
        return publish(world, dict(plan), to, published)

    return TransitionKind(
        name=KIND_NAME,
        table=TABLE,
        field="scheduled_status",
        first=SCHEDULED,
        ends=(SUCCESS, FAILED),
        pace=Pace("time", seconds=0.0),
        act=act,
        since="scheduled_at",
        due_as="scheduled_post",
    )


def publish(world: World, plan: Record, to: str, published: Published) -> str:
    """Post what was scheduled; return SUCCESS, or FAILED if it cannot be posted any more."""
    if plan["post_id"] is not None:
        return to
    moment = min(world.clock.now(), parse_instant(plan["scheduled_at"]))
    done = {"completed_at": wire_seconds(moment), "updated_at": wire_seconds(moment)}
    obstacle = "it was moved to FAILED by hand" if to == FAILED else _find_obstacle(world, plan)
    if obstacle is not None:
        world.store.put(TABLE, plan["id"], plan | done | {"_failure": obstacle})
        return FAILED
    author = world.store.get("users", plan["user_id"])
    assert author is not None
    described = describe_plan(world, plan) | {
        "scheduled_at": plan["scheduled_at"],
        "scheduled_status": SUCCESS,
    }
    media = find_plan_media(world, plan)
    when = wire_millis(moment)
    made = make_advertiser_post(world, author, plan["text"], media, described, created_at=when)
    post = made.record
    world.store.put(TABLE, plan["id"], plan | done | {"post_id": post["id_str"], "_failure": None})
    published(world, plan, post)
    return SUCCESS


def describe_plan(world: World, plan: Record) -> Record:
    """Return what the record of a planned post has beside its text."""
    fields: Record = {
        "name": plan["name"],
        "source": make_source(world.store.get("apps", plan["_app_id"] or "")),
        "nullcast": plan["nullcast"],
    }
    if plan["card_uri"] is not None:
        fields["card_uri"] = plan["card_uri"]
    media = find_plan_media(world, plan)
    account_id, caller, author = plan["_account_id"], plan["_caller_user_id"], plan["user_id"]
    return describe_advertiser_post(
        world, account_id, caller or author, author, plan["text"], media, said={}, fields=fields
    )


def find_plan_media(world: World, plan: Record) -> list[Record]:
    """Return those media of a plan that still exist."""
    found = [find_media(world, plan["_account_id"], key) for key in plan["media_keys"]]
    return [one for one in found if one is not None]


def _find_obstacle(world: World, plan: Record) -> str | None:
    """Return why a scheduled post cannot be posted any more, `None` if it can."""
    account = world.store.get("accounts", plan["_account_id"])
    author, caller = plan["user_id"], plan["_caller_user_id"] or plan["user_id"]
    if account is None or account["deleted"]:
        return f"account {plan['_account_id']} is gone"
    if world.store.get("users", author) is None:
        return f"user {author} is gone"
    if not may_post(account, caller, author):
        return f"user {author} does not let user {caller} post any more"
    if len(find_plan_media(world, plan)) < len(plan["media_keys"]):
        return "some of its media are gone"
    if plan["card_uri"] is not None and not has_card(world, account["id"], plan["card_uri"]):
        return f"the card {plan['card_uri']} is gone"
    return None


# -- requests ----------------------------------------------------------------------------------


def list_plans(call: Call, world: World, table: str) -> PageOf:
    """Return one page of the plans of a user of the account."""
    account_id = call.path_params["account_id"]
    user_id = call.params.get("user_id") or find_full_user(world, account_id)
    return paginate(call, world, table, {"_account_id": account_id, "user_id": user_id})


def make_plan(call: Call, world: World, table: str) -> Record:
    """Return the record of a new plan, whose parameters are checked here.

    Raises:
        AdsFailure: The caller may not post for the user, or media or card are not there.
    """
    assert call.account is not None
    assert call.caller.user is not None
    sent = call.params
    user_id = require_author(call, world, str(sent["as_user_id"]))
    _check_content(call, world, user_id, nullcast=sent["nullcast"])
    while world.store.get(table, key := world.ids.snowflake()) is not None:
        pass
    now = wire_seconds(world.clock.now())
    return {
        "id": key,
        "name": sent.get("name"),
        "text": sent.get("text", ""),
        "user_id": user_id,
        "nullcast": sent["nullcast"],
        "media_keys": sent.get("media_keys", []),
        "card_uri": sent.get("card_uri"),
        "created_at": now,
        "updated_at": now,
        "_account_id": call.account["id"],
        "_caller_user_id": call.caller.user["id"],
        "_app_id": None if call.caller.app is None else call.caller.app["id"],
    }


def change_plan(call: Call, world: World, plan: Record) -> Record:
    """Return a plan with the changes that a request asks for.

    Raises:
        AdsFailure: Neither text nor media would be left, or media or card are not there.
    """
    empty = {"text": "", "media_keys": []}
    sent = {n: empty.get(n) if v is None else v for n, v in call.params.items()}
    after = plan | sent | {"updated_at": wire_seconds(world.clock.now())}
    faults = list(find_text_faults(after))
    if faults:
        raise AdsFailure(*(AdsError.from_fault(name, fault) for name, fault in faults))
    _check_content(call, world, plan["user_id"], nullcast=after["nullcast"])
    return after


def _check_content(call: Call, world: World, user_id: str, *, nullcast: bool) -> None:
    assert call.caller.user is not None
    media = require_media(call, world)
    require_card(call, world)
    require_fit(call, media, own=user_id == call.caller.user["id"], nullcast=nullcast)


def find_moment_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, Fault]]:
    """Yield what is wrong with the moment of a scheduled post."""
    name = "scheduled_at"
    if name not in params:
        return
    moment, now = parse_instant(params[name]), world.clock.now()
    if moment <= now:
        whole = f"{name}, in whole minutes ({wire_seconds(moment)}),"
        yield name, Fault(f"{whole} must be later than now ({wire_seconds(now)})")
    elif moment > now + FARTHEST:
        latest = wire_seconds(now + FARTHEST)
        yield name, Fault(f"{name} may be at most one year ahead ({latest})")


def require_room(world: World, plan: Record) -> None:
    """Require that not too many posts of a user are scheduled for the same quarter of an hour.

    Raises:
        AdsFailure: SCHEDULED_POST_LIMIT_EXCEEDED (400).
    """
    begin = _begin_window(parse_instant(plan["scheduled_at"]))

    def is_beside(other: Record) -> bool:
        return (
            other["id"] != plan["id"]
            and _begin_window(parse_instant(other["scheduled_at"])) == begin
        )

    match = {"user_id": plan["user_id"], "scheduled_status": SCHEDULED}
    if len(world.store.page(TABLE, match, where=is_beside)) >= MOST_IN_WINDOW:
        text = (
            f"A maximum of {MOST_IN_WINDOW} posts may be scheduled in {WINDOW_MINUTES} minutes "
            f"({wire_seconds(begin)} and later)"
        )
        raise fail("SCHEDULED_POST_LIMIT_EXCEEDED", text, "scheduled_at")


def _begin_window(moment: datetime) -> datetime:
    late = timedelta(minutes=moment.minute % WINDOW_MINUTES, seconds=moment.second)
    return moment.replace(microsecond=0) - late


def require_pending(call: Call, world: World, resource: Resource) -> Record:
    """Return the scheduled post in the path, which must not be out.

    Raises:
        AdsFailure: It does not exist (404), or is out or has failed (403).
    """
    plan = resource.get_by_id(call, world)
    if plan["scheduled_status"] != SCHEDULED:
        call.assume(FINAL_STATUS)
        text = f"Scheduled post {plan['id']} has the status {plan['scheduled_status']} already"
        raise fail("ACTION_NOT_ALLOWED", text, "scheduled_post_id")
    return plan
