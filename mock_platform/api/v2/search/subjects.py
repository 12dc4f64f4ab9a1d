"""Posts as rules and searches see them: taken apart once, from an object or from a record."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from html import unescape
from typing import Any

from msgspec import Struct

from mock_platform.api.v2.objects.post_text import show_entities
from mock_platform.api.v2.objects.post_view import find_conversation, find_references
from mock_platform.api.v2.objects.relations import list_public_memberships
from mock_platform.api.v2.search.operators import Product
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# A word, or one character of an emoji. Punctuation separates and is dropped, and so are the
# invisible parts of emoji (joiners, variation selectors).
_TOKEN = re.compile(r"\w+|[^\w\s!-/:-@\[-`{-~\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f]")
_HASHTAG = re.compile(r"[#\uff03](\w+)")
_CASHTAG = re.compile(r"\$([A-Za-z]{1,8})\b", re.ASCII)
_MENTION = re.compile(r"@([A-Za-z0-9_]{1,15})", re.ASCII)
_REFERENCE_TYPES = {"reposted": "repost", "replied_to": "reply", "quoted": "quote"}
_MEDIA_PREFIXES = {"3": "images", "7": "video_link", "13": "video_link"}

_VALUES: Mapping[str, Callable[[Subject], Iterable[str]]] = {
    "token": lambda post: post.tokens,
    "hashtag": lambda post: post.hashtags,
    "cashtag": lambda post: post.cashtags,
    "mention": lambda post: post.mentions,
    "from": lambda post: post.author,
    "to": lambda post: post.replied_to,
    "reposts_of": lambda post: post.reposted_author,
    "url": lambda post: [token for tokens in post.urls for token in tokens],
    "conversation_id": lambda post: (post.post.get("conversation_id") or "",),
    "in_reply_to_post_id": lambda post: (post.references.get("reply", ""),),
    "reposts_of_post_id": lambda post: (post.references.get("repost", ""),),
    "quotes_of_post_id": lambda post: (post.references.get("quote", ""),),
}
"""The kinds of conditions by which rules are found, with their values in a post."""

Key = tuple[str, str]
"""A condition that a post can fulfil, such as `("token", "coffee")`: by these rules are found."""


def fold_text(text: str) -> str:
    """Return a text without case and diacritics, as searches compare it."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFD", folded)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def tokens_of(text: str, product: Product) -> tuple[str, ...]:
    """Split a text into words and symbols without case; searches ignore diacritics as well."""
    return tuple(_TOKEN.findall(fold_text(text) if product == "search" else text.casefold()))


class Subject(Struct, frozen=True, dict=True):
    """A post (v2 object) as rules see it.

    `users` and `posts` hold, by id, what the post refers to; what is missing there does not match.
    """

    post: Mapping[str, Any]
    product: Product
    users: Mapping[str, Mapping[str, Any]]
    posts: Mapping[str, Mapping[str, Any]]
    find_lists: Callable[[], Iterable[str]] = tuple
    """Returns the public lists that have the author as a member."""

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The text in tokens. In streams the text of a quoted post follows, after a gap."""
        own = tokens_of(self.post.get("text", ""), self.product)
        quoted = self.posts.get(self.references.get("quote", ""))
        if quoted is None or self.product != "stream":
            return own
        return (*own, "", *tokens_of(quoted.get("text", ""), self.product))

    @cached_property
    def references(self) -> dict[str, str]:
        """The ids of the posts that this one refers to, by `repost`, `reply` and `quote`."""
        return {
            _REFERENCE_TYPES.get(reference["type"], reference["type"]): reference["id"]
            for reference in self.post.get("referenced_posts") or ()
        }

    @cached_property
    def hashtags(self) -> frozenset[str]:
        """Hashtags without sign and case."""
        return self._entities("hashtags", "tag", _HASHTAG)

    @cached_property
    def cashtags(self) -> frozenset[str]:
        """Cashtags without sign and case."""
        return self._entities("cashtags", "tag", _CASHTAG)

    @cached_property
    def mentions(self) -> frozenset[str]:
        """Names of the users mentioned, without sign and case."""
        return self._entities("mentions", "username", _MENTION)

    @cached_property
    def urls(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of each address in the post, short and expanded."""
        found = (self.post.get("entities") or {}).get("urls") or ()
        addresses = [
            url[name] for url in found for name in ("url", "expanded_url", "unwound_url")
            if url.get(name)
        ]  # fmt: skip
        return tuple(tokens_of(address, self.product) for address in dict.fromkeys(addresses))

    @cached_property
    def author(self) -> frozenset[str]:
        """Id and name of the author, without case."""
        return self._user(self.post.get("author_id"))

    @cached_property
    def lists(self) -> frozenset[str]:
        """Ids of the public lists that have the author as a member."""
        return frozenset(self.find_lists())

    @cached_property
    def replied_to(self) -> frozenset[str]:
        """Id and name of the user whom the post replies to."""
        return self._user(self.post.get("in_reply_to_user_id"))

    @cached_property
    def reposted_author(self) -> frozenset[str]:
        """Id and name of the author of the post that this one reposts."""
        original = self.posts.get(self.references.get("repost", ""))
        return frozenset() if original is None else self._user(original.get("author_id"))

    @cached_property
    def features(self) -> frozenset[str]:
        """What `is:` and `has:` ask for, as `is:reply`, `has:links` and so on."""
        found = {f"is:{name}" for name in self.references}
        author = self.users.get(self.post.get("author_id") or "") or {}
        if author.get("verified"):
            found.add("is:verified")
        if self.post.get("nullcast"):
            found.add("is:nullcast")
        keys = (self.post.get("attachments") or {}).get("media_keys") or ()
        has = {
            "hashtags": self.hashtags, "cashtags": self.cashtags, "mentions": self.mentions,
            "links": self.urls, "media": keys, "geo": self.post.get("geo"),
        }  # fmt: skip
        found.update(f"has:{name}" for name, value in has.items() if value)
        for key in keys:
            kind = _MEDIA_PREFIXES.get(str(key).partition("_")[0])
            if kind is not None:
                found.add(f"has:{kind}")
        return frozenset(found)

    def find_values(self, name: str) -> Iterable[str]:
        """Return the values of one kind of condition that the post fulfils."""
        return _VALUES[name](self)

    def _entities(self, name: str, part: str, pattern: re.Pattern[str]) -> frozenset[str]:
        """Entities as the post lists them; those of its text where it lists none at all."""
        entities = self.post.get("entities")
        if entities is None:
            return frozenset(pattern.findall(self.post.get("text", "").casefold()))
        return frozenset(str(entity[part]).casefold() for entity in entities.get(name) or ())

    def _user(self, user_id: str | None) -> frozenset[str]:
        if not user_id:
            return frozenset()
        user = self.users.get(user_id)
        return frozenset({user_id} if user is None else {user_id, user["username"].casefold()})


# Stored posts as rules and searches see them.


def make_subject(
    world: World, post: Record, product: Product, *, without_text: bool = False
) -> Subject:
    """Return a post with its whole text, its author and what it refers to, for rules to match.

    `without_text` leaves the text out, so that no word is found in it.
    """
    posts = {
        target: _show(world, referenced)
        for target in find_references(post).values()
        if (referenced := world.store.get("posts", target)) is not None
    }
    ids = [post["_user_id"], post.get("in_reply_to_user_id_str")]
    ids += [one["author_id"] for one in posts.values()]
    users: dict[str, dict[str, Any]] = {}
    for user_id in filter(None, ids):
        users |= _find_user(world, user_id)
    shown = _show(world, post)
    if without_text:
        shown["text"] = ""
    lists = partial(list_public_memberships, world, post["_user_id"])
    return Subject(shown, product, users, posts, lists)


def make_object_subject(
    world: World,
    post: Mapping[str, Any],
    product: Product,
    includes: Mapping[str, Any] | None = None,
) -> Subject:
    """Return a v2 object of a post for rules to match; it need not be stored.

    What it refers to is found in `includes`, and otherwise among the stored records.
    """
    included = includes or {}
    users = {user["id"]: user for user in included.get("users") or ()}
    posts = {one["id"]: one for one in included.get("posts") or ()}
    for reference in post.get("referenced_posts") or ():
        stored = world.store.get("posts", reference["id"])
        if reference["id"] not in posts and stored is not None:
            posts[reference["id"]] = _show(world, stored)
    ids = [post.get("author_id"), post.get("in_reply_to_user_id")]
    ids += [one.get("author_id") for one in posts.values()]
    for user_id in ids:
        if user_id and user_id not in users:
            users |= _find_user(world, user_id)
    text = post.get("text")
    if isinstance(text, str):
        post = {**post, "text": unescape(text)}
    return Subject(post, product, users, posts)


def _find_user(world: World, user_id: str) -> dict[str, dict[str, Any]]:
    user = world.store.get("users", user_id)
    if user is None:
        return {}
    return {user_id: {"username": user["screen_name"], "verified": user["verified"]}}


def _show(_world: World, post: Record) -> dict[str, Any]:
    """Return what rules read of a post, and no more: a search asks for this thousands of times."""
    entities, place = post.get("entities"), post.get("place")
    shown: dict[str, Any] = {
        "id": post["id_str"],
        "text": post["full_text"],
        "author_id": post["_user_id"],
        "conversation_id": find_conversation(post),
        "in_reply_to_user_id": post.get("in_reply_to_user_id_str"),
        "lang": post.get("lang"),
        "nullcast": bool(post.get("nullcast")),
        # Entities that are left out would be looked for in the text.
        "entities": (show_entities(entities) or {}) if entities else {},
        "attachments": {"media_keys": post.get("_media_keys") or ()},
        "geo": place or post.get("coordinates"),
        "public_metrics": {
            "like_count": post.get("favorite_count") or 0,
            "reply_count": post.get("_reply_count") or 0,
            "repost_count": post.get("repost_count") or 0,
        },
        "referenced_posts": [
            {"type": kind, "id": target} for kind, target in find_references(post).items()
        ],
    }
    return shown
