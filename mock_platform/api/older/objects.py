"""Posts and users as the older interface shows them: views of the stored records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mock_platform.api.older.conventions import SITE, Listing, make_page, run
from mock_platform.api.v2.conventions import get_app
from mock_platform.api.v2.objects import media_view, post_text, post_view, posts, relations, users
from mock_platform.api.v2.objects.answers import get_viewer_id
from mock_platform.api.v2.objects.lists import require_seen_post
from mock_platform.api.v2.objects.older_forms import CUT_TEXT, make_user_object
from mock_platform.api.v2.posts.changes import find_reposts
from mock_platform.api.v2.usage.counting import COUNTED_ONCE, count_posts
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, Json, ListOf, Long, Nested, Text
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

POST_FORMS = public_fact(
    "older.posts",
    "A post has its whole text as full_text with post_mode=extended; else text, which is cut to "
    "140 characters that end in an ellipsis and the address of the post if it is longer. "
    "card_uri is shown on request alone.",
    "developer pages of version 1.1, post objects",
)
_ADDRESS = f"{SITE}/i/web/status/"
_HIDDEN = {
    "nullcast", "conversation_settings", "post_type", "post_id", "scheduled_at", "name",
    "scheduled_status", "scopes", "full_text", "display_text_range", "card_uri",
}  # fmt: skip
NO_ENTITIES: Record = {"hashtags": [], "symbols": [], "user_mentions": [], "urls": []}


class OlderUser(users.UserObject):
    """A user, with the addresses in the profile and the last post."""

    entities = Json()
    status = Json()
    has_extended_profile = Flag()
    profile_location = Json(allow_none=True)
    show_all_inline_media = Flag()
    suspended = Flag()
    needs_phone_verification = Flag()


class OlderPost(posts.CreatedPost):
    """A post: with `text`, or in extended mode with `full_text` and its range."""

    class Meta:
        """Only posts of the advertising interface have these."""

        exclude = ("name", "scopes")

    user = Nested(OlderUser, required=True)
    is_quote_status = Flag(required=True)
    quoted_status_id = Long()
    quoted_status_id_str = Text()
    quoted_status = Json()
    reposted_status = Json()
    possibly_sensitive = Flag()


POSTS = Listing(OlderPost)
UserPage = make_page("OlderUserPage", users=ListOf(Nested(OlderUser), required=True))


def require_post(call: Call, world: World, post_id: str) -> Record:
    """Return a post that the caller may see.

    Raises:
        ProblemFailure: It does not exist (its number is 144), or is hidden from the caller (179).
    """
    post: Record = run(require_seen_post, call, world, {"id": post_id})
    return post


def show_found_posts(call: Call, world: World, answer: Record) -> list[Record]:
    """Return the posts that an operation of the v2 interface found and counted."""
    found = (world.store.get("posts", post["id"]) for post in answer.get("data", ()))
    return [show_post(call, world, post) for post in found if post is not None]


def show_read_posts(call: Call, world: World, read: Sequence[Record]) -> list[Record]:
    """Return stored posts as they are shown, and count them as read.

    Raises:
        ProblemFailure: The app's project has read as many posts as it may (usage-capped).
    """
    call.assume(COUNTED_ONCE)
    count_posts(world, get_app(call), [post["id_str"] for post in read])
    return [show_post(call, world, post) for post in read]


def show_post(call: Call, world: World, post: Record, *, nested: bool = False) -> Record:
    """Return a stored post; a `nested` one shows neither the post that it quotes nor the repost."""
    wanted, author = call.params, world.store.get("users", post["_user_id"])
    whole = posts.make_post_object(world, post, trim=True, links=post_text.find_links(call))
    shown = {name: value for name, value in whole.items() if name not in _HIDDEN}
    if author is not None and not wanted.get("trim_user"):
        shown["user"] = show_user(call, world, author, status=False)
    entities = NO_ENTITIES | (whole.get("entities") or {})
    # In a post of this interface the link to its media is among the media, not among the addresses.
    ends = [one for one in entities["urls"] if "media_key" in one]
    entities["urls"] = [one for one in entities["urls"] if one not in ends]
    names = ("url", "display_url", "expanded_url", "indices")
    link = {name: end[name] for end in ends[:1] for name in names}
    media = [one | link for one in _show_media(world, post)]
    if media:
        entities["media"] = media[:1]
        shown["extended_entities"] = {"media": media}
    shown |= {"entities": entities} | _count(call, world, post)
    shown |= _refer(call, world, post, nested=nested) | _show_text(call, whole, entities)
    if shown["entities"]["urls"] or shown["entities"].get("media"):
        shown["possibly_sensitive"] = bool(post.get("_possibly_sensitive"))
    if post.get(AS) == RECORDED:
        shown |= {name: True for name in ("favorited", "reposted") if post.get(name)}
    if wanted.get("include_card_uri") and post.get("card_uri"):
        shown["card_uri"] = post["card_uri"]
    if wanted.get("include_entities") is False:
        del shown["entities"]
    return shown


def _show_text(call: Call, post: Record, entities: Record) -> Record:
    text: str = post["full_text"]
    if "extended" in {call.params.get("post_mode"), call.params.get("tweet_mode")}:
        shown_range = post.get("display_text_range") or [0, len(text)]
        return {"full_text": text, "display_text_range": shown_range, "truncated": False}
    if len(text) <= CUT_TEXT:
        return {"text": text, "truncated": False}
    # The link counts as long as it would be on the platform, so as much text is left as there.
    begin = f"{text[: CUT_TEXT - post_text.ADDRESS_WEIGHT - 2]}\u2026 "
    link, start = post_text.show_address(f"{_ADDRESS}{post['id_str']}"), len(begin)
    kept = {name: [x for x in entities[name] if x["indices"][1] < start] for name in NO_ENTITIES}
    kept["urls"].append(link | {"indices": [start, start + len(link["url"])]})
    return {"text": begin + link["url"], "truncated": True, "entities": kept}


def _count(call: Call, world: World, post: Record) -> Record:
    """Return how often a post was liked and reposted, and whether the caller did it.

    A repost has the numbers of its original.
    """
    post = world.store.get("posts", post.get("_reposted_post_id") or "") or post
    viewer, id_ = get_viewer_id(call), post["id_str"]
    counts = post_view.show_post(world, post, ("public_metrics",))["public_metrics"]
    return {
        "repost_count": counts["repost_count"],
        "favorite_count": counts["like_count"],
        "favorited": viewer is not None and relations.LIKES.find(world, viewer, id_) is not None,
        "reposted": viewer is not None and bool(find_reposts(world, viewer, post)),
    }


def _refer(call: Call, world: World, post: Record, *, nested: bool) -> Record:
    """Return what a post shows of the posts that it quotes and reposts."""
    quoted = post.get("_quoted_post_id")
    shown: Record = {"is_quote_status": quoted is not None}
    shown |= {} if quoted is None else post_view.add_texts({"quoted_status_id": int(quoted)})
    references = {"quoted_status": quoted, "reposted_status": post.get("_reposted_post_id")}
    for name, id_ in references.items():
        other = None if id_ is None or nested else world.store.get("posts", id_)
        if other is not None and relations.may_see(world, other, get_viewer_id(call)):
            shown[name] = show_post(call, world, other, nested=name == "quoted_status")
    return shown


def _show_media(world: World, post: Record) -> list[Record]:
    """Return the media of a post, the first of which is also among the entities."""
    stored = (post.get("extended_entities") or {}).get("media")
    if stored:
        return list(stored)
    found = [media_view.find_any_media(world, key) for key in post.get("_media_keys") or ()]
    id_, end = post["id_str"], len(post["full_text"])
    return [show_media_entity(world, media, id_, end) for media in found if media is not None]


def show_media_entity(world: World, media: Record, post_id: str, end: int) -> Record:
    """Return media as a post or message shows them, behind the `end` of its text."""
    names = ("type", "width", "height", "duration_ms", "alt_text", "variants")
    known, number = media_view.show_media(world, media, names), media["media_key"].partition("_")[2]
    size = {"w": known.get("width") or 0, "h": known.get("height") or 0, "resize": "fit"}
    shown: Record = {
        **post_view.add_texts({"id": int(number)}),
        "indices": [end, end],
        **dict.fromkeys(("media_url", "media_url_https"), media["media_url"]),
        **post_text.show_address(f"{_ADDRESS}{post_id}"),
        "type": known["type"],
        "sizes": dict.fromkeys(("thumb", "small", "medium", "large"), size),
        "ext_alt_text": known.get("alt_text"),
    }
    if "variants" in known:
        ratio = [int(part) for part in (media.get("aspect_ratio") or "16:9").split(":")]
        shown["video_info"] = {"aspect_ratio": ratio, "variants": known["variants"]}
        if "duration_ms" in known:
            shown["video_info"]["duration_millis"] = known["duration_ms"]
    return shown


def show_user(call: Call, world: World, user: Record, *, status: bool = True) -> Record:
    """Return a stored user as the caller sees one; with `status`, the last post if it is wanted."""
    viewer, wanted = get_viewer_id(call), call.params
    profile = users.write_profile(world, user, post_text.find_links(call))
    shown = make_user_object(user | profile)
    if False not in {wanted.get("include_entities"), wanted.get("include_user_entities")}:
        entities = user.get("entities") or profile["entities"]
        shown["entities"] = {
            name: {"urls": posts.read_entities(found).get("urls", [])}
            for name, found in entities.items()
        }
    if viewer is not None:
        edges = {"following": relations.FOLLOWS, "follow_request_sent": relations.FOLLOW_REQUESTS}
        for name, edge in edges.items():
            shown[name] = edge.find(world, viewer, user["id"]) is not None
        shown["notifications"] = False
    is_wanted = status and not wanted.get("skip_status")
    newest = users.find_newest_post(world, user["id"]) if is_wanted else None
    if newest is not None and relations.may_see(world, newest, viewer):
        shown["status"] = show_post(call, world, newest, nested=True)
        shown["status"].pop("user", None)
    return shown


def show_found_users(call: Call, world: World, found: Iterable[Record]) -> list[Record]:
    """Return the users that an operation of the v2 interface found."""
    stored = (world.store.get("users", user["id"]) for user in found)
    return [show_user(call, world, user) for user in stored if user is not None]
