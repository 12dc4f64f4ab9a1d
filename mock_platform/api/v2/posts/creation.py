"""Whether a user may make the post that a request of the v2 interface describes, and of what.

Named endpoints, section 7.1. What cannot be read answers 400, what may not be done 403.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from mock_platform.api.v2.conventions import forbid
from mock_platform.api.v2.media.uploads import explain_unusable, find_own_media, keep_media
from mock_platform.api.v2.objects.post_text import (
    ADDRESS_WEIGHT,
    TEXT_WEIGHT,
    USUAL_LENGTH,
    find_post_ids,
    weigh_post,
    weigh_text,
)
from mock_platform.api.v2.objects.post_view import (
    MAX_EDITS,
    find_editable_until,
    is_edit_eligible,
    list_versions,
    name_reply_setting,
)
from mock_platform.api.v2.objects.relations import FOLLOWS, may_see
from mock_platform.api.v2.objects.users import NEWEST_FIRST
from mock_platform.api.v2.release_history import find_release, is_in_force
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import Fault, missing
from mock_platform.core.unread import NO_EFFECT, UNKNOWN_KEY, Finding, report
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

POST_REFUSALS = public_fact(
    "posts.refusals",
    "A post that may not be made answers 403 about:blank: a text repeated within 24 hours, a text "
    "that is too long, a reply that nobody asked for, an edit of another's post, too late, too "
    "often or without a subscription.",
    "section 7.1 of the named endpoints, refusals",
)
TEXT_LENGTHS = public_fact(
    "posts.lengths",
    "A text has a weighted length of up to 280, for users with a subscription_type other than None "
    "of up to 25,000. The same users may edit.",
    "section 7.1 of the named endpoints, text; document A, limits",
)
SUMMONED_REPLIES = public_fact(
    "posts.summoned",
    "From 2026-02-23 on, apps of the tier self_serve may reply only to posts of the caller, and to "
    "those that mention the caller or quote a post of the caller.",
    "section 7.1 of the named endpoints, reply",
)
UNREACHED_POSTS = expectation(
    "posts.unreached",
    "A reply to a post whose author is protected and not followed, suspended, or separated from "
    "the user by a block is refused with 403; so are quotes and reposts, and those of every "
    "protected user but by the user. Users whom an author follows may reply under the setting "
    "following, those who subscribe to the author (_subscribes_to) under subscribers, users whom "
    "the post mentions under both.",
)
EDITED_POSTS = expectation(
    "posts.edits",
    "An edit is a whole new version, without what it does not say again, such as media or a place. "
    "Whom the post answers and quotes stays, and who may reply unless the edit says so: reply and "
    "quote_post_id have no effect.",
)
LINKED_POSTS = expectation(
    "posts.linked",
    "A text with the address of a post (https://x.com/NAME/status/ID) makes a quote of that post, "
    "of the last one if there are several, as quote_post_id would: if everybody may see it, and "
    "without media, poll or card. An edit changes no quote.",
)
ANY_PLACE = expectation(
    "posts.places",
    "geo.place_id takes any id. A place that a stored post has is known by its name, any other by "
    "its id alone.",
)
KNOWN_COMMUNITY = expectation(
    "posts.communities",
    "community_id names a record of communities; an unknown one answers 400. Anybody may post in "
    "any community.",
)
LONGEST = 25_000
_WEIGHED = 250_000
"""Characters of a long text that are weighed first."""
_REPEATED = "You are not allowed to create a Post with duplicate content."
_NOT_SUMMONED = (
    "Reply to this conversation is not allowed because you have not been mentioned or otherwise "
    "engaged by the author of the post you are replying to."
)
_REPEAT_AFTER = timedelta(hours=24)
_CARD_TABLES = ("cards", "poll_cards", "video_conversation_cards")
_MOST = {"IMAGE": 4, "GIF": 1, "VIDEO": 1}
_DATED = {
    "paid_partnership": "paid-partnership",
    "edit_options": "post-editing",
    "share_with_followers": "share-with-followers",
}
"""Keys of the body that the release history dates, each with its row."""
_REPLY, _OLDER_REPLY = "in_reply_to_post_id", "in_reply_to_tweet_id"
_OLDER_QUOTE = "quote_tweet_id"
_CONTENTS = ("media", "poll", "quote_post_id", "card_uri")


DATED = (
    *(
        find_release(row).make_change("sent-key-added", f"body: {name}")
        for name, row in _DATED.items()
    ),
    find_release("programmatic-replies").make_change(
        "failure-added", "failure about:blank", new="403 without a mention or a quote by the author"
    ),
)
"""What the release history changes of making a post."""


def read_known_keys(call: Call, world: World, settings: Settings) -> dict[str, Any]:
    """Return the parameters of a new post without the keys that are not known yet.

    They are reported like other unknown keys.
    """
    params = use_neutral_names(call.params)
    for name, row in _DATED.items():
        release = find_release(row)
        if name not in params or is_in_force(row, world):
            continue
        del params[name]
        since = f"the release history adds it on {release.date}, and {world.explain_too_early()}"
        text = f"key {name!r} is unknown and was ignored: {since}"
        found = Finding(UNKNOWN_KEY, text, f"the key {name!r} before {release.date}")
        report(call, [found], strict=settings.strict)
    if "auto_populate_reply_metadata" in params.get("reply", {}):
        text = "reply.auto_populate_reply_metadata has no effect: the text is posted as it was sent"
        call.warn(text, NO_EFFECT)
    return params


def use_neutral_names(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a new post with the neutral names of keys that have an older one."""
    found = dict(params)
    if _OLDER_QUOTE in found:
        found.setdefault("quote_post_id", found.pop(_OLDER_QUOTE))
    if _OLDER_REPLY in found.get("reply", {}):
        reply = dict(found["reply"])
        reply.setdefault(_REPLY, reply.pop(_OLDER_REPLY))
        found["reply"] = reply
    return found


def find_faults(
    valid: Mapping[str, Any], call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the keys of a new post, taken together."""
    params = use_neutral_names(valid)
    contents = [name for name in _CONTENTS if name in params]
    if "reply" in params and _REPLY not in params["reply"]:
        yield f"reply.{_REPLY}", missing(f"reply.{_REPLY}")
    if len(contents) > 1:
        yield contents[1], f"{' and '.join(contents)} exclude one another"
    sent = {"text", _OLDER_QUOTE, *_CONTENTS}.intersection(call.sent)
    refused = sent - {*valid, *params}  # they have faults of their own
    if not contents and not refused and not params.get("text", "").strip():
        yield "text", "text is required if there is no media, poll, quote_post_id or card_uri"
    if params.get("share_with_followers") and "community_id" not in params:
        yield "share_with_followers", "share_with_followers needs community_id"


def require_length(call: Call, user: Record, text: str, *, is_reply: bool = False) -> None:
    """Require that a text is not too long for its author.

    Raises:
        ProblemFailure: It is (403).
    """
    most = LONGEST if has_subscription(user) else USUAL_LENGTH
    # Weighing looks at each character and finds addresses. Most posts are so short that they fit
    # whatever their characters weigh.
    if len(text) * 2 <= most:  # no character counts as more than two
        return
    call.assume(TEXT_WEIGHT, TEXT_LENGTHS)
    hint = "" if most == LONGEST else f"; with a subscription_type it may be {LONGEST:,}"
    # Nothing else runs while megabytes are weighed, so the beginning of such a text has to be
    # enough. Its last address may end elsewhere than in the whole text.
    if len(text) > _WEIGHED and weigh_text(text[:_WEIGHED]) > most + ADDRESS_WEIGHT:
        raise forbid(
            f"Your Post is too long: its weighted length is more than {most:,}{hint}.",
            POST_REFUSALS,
        )
    weight = weigh_post(text, is_reply=is_reply)
    if weight > most:
        raise forbid(
            f"Your Post is too long: its weighted length is {weight:,} of {most:,}{hint}.",
            POST_REFUSALS,
        )


def has_subscription(user: Record) -> bool:
    """Return whether a user may edit and post long texts."""
    return bool(user.get("subscription_type", "None") != "None")


def require_new_text(world: World, user: Record, text: str, reply_to: Record | None) -> None:
    """Require that the user has not just posted the same text at the same place.

    Raises:
        ProblemFailure: The text is repeated (403).
    """
    match = {
        "_user_id": user["id"],
        "full_text": text,
        "in_reply_to_status_id_str": None if reply_to is None else reply_to["id_str"],
    }
    # The index on these three fields finds the newest equal post at once; only its age is compared.
    found = world.store.page("posts", match, order=NEWEST_FIRST, limit=1) if text else []
    if not found:
        return
    age = world.clock.now() - parse_instant(found[0].record["created_at"])
    if age < _REPEAT_AFTER:
        raise forbid(_REPEATED, POST_REFUSALS)


def require_access(world: World, user: Record, post: Record, *, to_share: bool = False) -> None:
    """Require that a user sees a post, and if it is to be quoted or reposted, that all may.

    Raises:
        ProblemFailure: Its author is protected, blocks the user or is blocked (403).
    """
    author = world.store.get("users", post["_user_id"])
    if author is None or author["id"] == user["id"]:
        return
    if (to_share and author["protected"]) or not may_see(world, post, user["id"]):
        raise forbid("You are not permitted to perform this action.", UNREACHED_POSTS)


def find_linked_post(call: Call, world: World, params: Mapping[str, Any]) -> Record | None:
    """Return the post that the text of a new post quotes by its address, if it quotes one."""
    if params.keys() & {"quote_post_id", "media", "poll", "card_uri", "edit_options"}:
        return None
    for id_ in reversed(find_post_ids(params.get("text", ""))):
        post = world.store.get("posts", id_)
        if post is not None and may_see(world, post, None):
            call.assume(LINKED_POSTS)
            return post
    return None


def require_reply_allowed(call: Call, world: World, user: Record, reply_to: Record) -> None:
    """Require that a user may reply to a post, as its author and the release history say.

    Raises:
        ProblemFailure: The author did not ask for it (403).
    """
    if reply_to["_user_id"] == user["id"]:
        return
    mentioned = mentions_user(world, reply_to, user["id"])
    app = call.caller.app or {}
    if app.get("_tier", "self_serve") == "self_serve" and is_in_force(
        "programmatic-replies", world
    ):
        call.assume(SUMMONED_REPLIES)
        if not mentioned:
            raise forbid(_NOT_SUMMONED, POST_REFUSALS)
    setting = name_reply_setting(reply_to)
    followed = FOLLOWS.find(world, reply_to["_user_id"], user["id"]) is not None
    allowed = {
        "mentionedUsers": mentioned,
        "following": mentioned or followed,
        "verified": bool(user["verified"]),
        "subscribers": mentioned or reply_to["_user_id"] in (user.get("_subscribes_to") or ()),
    }
    if not allowed.get(setting, True):
        raise forbid(_NOT_SUMMONED, POST_REFUSALS)


def mentions_user(world: World, post: Record, user_id: str) -> bool:
    """Return whether a post mentions a user, or quotes a post of that user."""
    mentions = (post.get("entities") or {}).get("user_mentions") or ()
    quoted = world.store.get("posts", post.get("_quoted_post_id") or "")
    return any(mention.get("id_str") == user_id for mention in mentions) or (
        quoted is not None and quoted["_user_id"] == user_id
    )


def find_previous_version(
    call: Call, world: World, user: Record, params: Mapping[str, Any]
) -> Record | None:
    """Return the newest version of the post that is edited, or `None`.

    Raises:
        InvalidParameters: No post has the id.
        ProblemFailure: The user may not edit it (403).
    """
    if "edit_options" not in params:
        return None
    post_id = params["edit_options"]["previous_post_id"]
    post = find_post(world, params, "edit_options.previous_post_id", post_id)
    if post["_user_id"] != user["id"]:
        raise forbid("You are not authorized to edit this Post.", POST_REFUSALS)
    if not has_subscription(user):
        raise forbid(
            "You are not permitted to edit this Post: editing needs a subscription.", POST_REFUSALS
        )
    if not is_edit_eligible(post) or "poll" in params:
        raise forbid("This Post is not eligible for editing.", POST_REFUSALS)
    until = find_editable_until(world, post)
    if world.clock.now() > until:
        raise forbid(
            f"This Post can no longer be edited: it could be until {until:%H:%M:%S} UTC.",
            POST_REFUSALS,
        )
    versions = list_versions(post)
    if len(versions) > MAX_EDITS:
        raise forbid(
            f"This Post can no longer be edited: it was edited {MAX_EDITS} times.", POST_REFUSALS
        )
    call.assume(EDITED_POSTS)
    ignored = [name for name in ("reply", "quote_post_id") if name in params]
    if ignored:
        text = f"{' and '.join(ignored)} have no effect: an edit answers and quotes what it did"
        call.warn(text, NO_EFFECT)
    return world.store.get("posts", versions[-1]) or post


def find_post(world: World, params: Mapping[str, Any], name: str, post_id: str) -> Record:
    """Return the post that a parameter names.

    Raises:
        InvalidParameters: No post has the id (400).
    """
    post = world.store.get("posts", post_id)
    if post is None:
        raise _make_fault(params, name, f"{name}: no post has the id {post_id}")
    return post


_BAD_MEDIA = "Your media IDs are invalid."


def take_media_of_post(world: World, user: Record, params: Mapping[str, Any]) -> list[str]:
    """Return the keys of the media that a user's new post shows, which are kept from then on.

    Raises:
        InvalidParameters: Media are unknown, not processed, of several kinds, or too many (400).
    """
    ids: Sequence[str] = params.get("media", {}).get("media_ids", ())
    name = "media.media_ids"
    found: list[Record] = []
    for media_id in ids:
        media = find_own_media(world, user["id"], media_id)
        if media is None:
            raise _make_fault(params, name, _BAD_MEDIA, f"The user has no media {media_id}")
        reason = explain_unusable(world, media)
        if reason is not None:
            raise _make_fault(params, name, _BAD_MEDIA, f"{media_id} cannot be used: {reason}")
        found.append(media)
    # All media are looked at before the first one is kept: a refusal changes nothing.
    kinds = Counter(one["media_type"] for one in found)
    if len(kinds) > 1 or any(number > _MOST[kind] for kind, number in kinds.items()):
        raise _make_fault(params, name, f"{name} takes up to 4 images, or 1 GIF, or 1 video")
    for media in found:
        keep_media(world, media)
    return [one["media_key"] for one in found]


def require_card(world: World, params: Mapping[str, Any]) -> None:
    """Require that the card of a new post exists.

    Raises:
        InvalidParameters: It does not (400).
    """
    uri = params.get("card_uri")
    match = {"card_uri": uri, "deleted": False}
    if uri and not any(world.store.page(table, match, limit=1) for table in _CARD_TABLES):
        raise _make_fault(params, "card_uri", f"card_uri: no card is {uri}")


def require_community(call: Call, world: World, params: Mapping[str, Any]) -> None:
    """Require that the community of a post exists, if one is named.

    Raises:
        InvalidParameters: No community has the id (400).
    """
    community_id = params.get("community_id")
    if community_id is None:
        return
    call.assume(KNOWN_COMMUNITY)
    if world.store.get("communities", community_id) is None:
        text = f"community_id: no community has the id {community_id}"
        raise _make_fault(params, "community_id", text)


def find_place(world: World, place_id: str) -> dict[str, Any]:
    """Return a place that a stored post has; of an unknown one only the id."""
    known = world.store.page(
        "posts", where=lambda post: (post.get("place") or {}).get("id") == place_id, limit=1
    )
    return known[0].record["place"] if known else {"id": place_id}


def _make_fault(
    params: Mapping[str, Any], name: str, text: str, hint: str = ""
) -> InvalidParameters:
    return InvalidParameters([(name, Fault(text, hint=hint))], dict(params))
