"""The text of a post: its length, what it refers to, and the form in which answers have it.

A post is stored with its text as it was sent, and with the places of its entities in that text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.core.wire_choice import read_wire
from mock_platform.settings import NamesMode
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

LONG_TEXT = expectation(
    "posts.long-text",
    "The text of a post over the usual length is shown cut to 280 characters that end in an "
    "ellipsis; note_post has it whole, and searches and rules match the whole text.",
)
USUAL_LENGTH = 280
ESCAPED_TEXT = public_fact(
    "posts.escaped-text",
    "The text of a post has &amp;, &lt; and &gt; for &, < and > in answers and events, and the "
    "places of its entities are those in this text. Searches, rules and lengths go by the text as "
    "it was sent. A post with _as recorded is served as it was recorded.",
    "wire, section 3",
)
SHORT_LINKS = public_fact(
    "posts.short-links",
    "As recorded, links of posts and profiles are short ones of 23 characters; expanded_url has "
    "the whole address, display_url its host and the beginning of its path. The text of a post "
    "that quotes another or has media ends in a link to them. As documented, links are shown as "
    "they were sent.",
    "wire, section 3",
)
TEXT_WEIGHT = public_fact(
    "posts.weighted-length",
    "The length of a text is weighted: an address counts as 23 characters, a character of Chinese, "
    "Japanese or Korean and each emoji as 2, others as 1. Names that begin a reply and links to "
    "media and to a quoted post do not count.",
    "section 7.1 of the named endpoints, text",
)
ADDRESS_WEIGHT = 23
_URL = re.compile(r"https?://[^\s<>\"]*[^\s<>\".,;:!?')\]]")
_HASHTAG = re.compile(r"(?<![\w#&/])#(\w*[^\W\d_]\w*)")
_SYMBOL = re.compile(r"(?<![\w$])\$([A-Za-z]{1,6})\b")
_MENTION = re.compile(r"(?<![\w@/])@([A-Za-z0-9_]{1,15})")
_LIGHT = "\u0000-\u10ff\u2000-\u200d\u2010-\u201f\u2032-\u2037"
"""The ranges of characters that count as one; all others count as two."""
_ALL_LIGHT = re.compile(f"[{_LIGHT}]+")
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[0-9#*]\ufe0f?\u20e3"
    "|[\u00a9\u00ae]\ufe0f"
    "|[\u203c-\u3299\U0001f000-\U0001faff]"
    "(?:[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f])*"
    "(?:\u200d[\u2190-\u21ff\u2600-\u27ff\u2b00-\u2bff\U0001f000-\U0001faff]"
    "[\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
"""A flag, a key, or an emoji with the parts that are joined to it: together they count as two."""


class Links(Struct, frozen=True):
    """How short links, and those to pictures and posts, begin."""

    short: str
    pictures: str
    posts: str


_LINKS: Mapping[NamesMode, Links] = {
    "neutral": Links("https://s.example/", "pic.platform.example/", "https://platform.example/"),
    "original": Links("https://t.co/", "pic.x.com/", "https://x.com/"),
}
_CODE = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LETTERS = bytes(ord(_CODE[byte % len(_CODE)]) for byte in range(256))
"""The letter of a short link for each byte."""
_SHOWN_PATH = 15
"""Characters of a path that `display_url` shows of a short link."""
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile("[&<>]")
_WITH_LINKS = ("_reposted_post_id", "_quoted_post_id", "_media_keys")
_LONGEST_REPOST = 140
_REPEATED = re.compile(r"RT @\w+: ")
_ADDRESSED = re.compile(r"(?:@\w{1,15}\s+)+", re.ASCII)
_VIDEOS = ("7_", "13_")


def find_links(call: Call | World) -> Links | None:
    """Return how an answer, or an event of a world, writes links; `None`: as they were sent."""
    form = call.wire if isinstance(call, Call) else read_wire(call.wire or "spec").form
    return _LINKS[call.names or "neutral"] if form == "recorded" else None


def write_post(
    world: World, post: Record, links: Links | None = None, *, whole: bool = False
) -> Record:
    """Return a stored post with text and entities as answers have them.

    A long text has its beginning in `text` and the rest in `note_post`, unless it is to be `whole`.
    """
    text = post["full_text"]
    short = whole or 2 * len(text) <= USUAL_LENGTH
    # Most texts have none of these, and looking for each is faster than one pattern for all.
    is_plain = short and "&" not in text and "<" not in text and ">" not in text
    if is_plain and (links is None or not _has_links(post)):
        return post
    if post.get(AS) == RECORDED:
        return post
    if links is not None and post.get("_reposted_post_id"):
        post = _repeat(world, post, links)
        text = post["full_text"]
    entities = post.get("entities") or {}
    written = write_text(world, text, entities, links)
    ends = [] if links is None else _list_ends(world, post, links)
    shown: Record = {"display_text_range": written.move_all(post.get("display_text_range") or ())}
    if not short and is_long(post):
        note = {"text": written.text, "entities": show_entities(written.entities)}
        shown["note_post"] = {name: value for name, value in note.items() if value is not None}
        beginning = cut_text(text, USUAL_LENGTH - 1)
        kept = {
            name: [one for one in found or () if _find_end(one) <= len(beginning)]
            for name, found in entities.items()
        }
        written = write_text(world, f"{beginning}\u2026", kept, links)
        shown["text"] = written.text
    elif not ends and written.text == text:
        return post
    text, found = written.text, written.entities
    for end in ends:
        # All media of a post have the same link, which is in its text once.
        if not text.endswith(end["url"]):
            text = f"{text} {end['url']}" if text else end["url"]
        place = {"indices": [len(text) - len(end["url"]), len(text)]}
        found = {**found, "urls": [*found.get("urls", ()), {**end, **place}]}
    shown["text" if "text" in shown else "full_text"] = text
    return post | shown | {"entities": found}


def _has_links(post: Record) -> bool:
    """Return whether short links may be in a post's text, or follow it."""
    return any(post.get(name) for name in _WITH_LINKS) or bool(
        (post.get("entities") or {}).get("urls")
    )


def _repeat(world: World, repost: Record, links: Links) -> Record:
    """Return a repost with the text of the original as it is with short links, and then cut."""
    original = world.store.get("posts", repost["_reposted_post_id"])
    begin = _REPEATED.match(repost["full_text"])
    if original is None or begin is None or original.get(AS) == RECORDED:
        return repost
    entities = original.get("entities") or {}
    written = write_text(world, original["full_text"], entities, links, escape=False)
    text = cut_repost(f"{begin[0]}{written.text}")
    found: dict[str, list[Any]] = {
        "user_mentions": [
            one
            for one in _list(repost.get("entities") or {}, "user_mentions")
            if one["indices"][1] < begin.end()
        ]
    }
    for name, values in written.entities.items():
        for one in values:
            place = [begin.end() + at for at in one.get("indices", ())]
            if place and (place[1] < len(text) or text.endswith(written.text)):
                found.setdefault(name, []).append({**one, "indices": place})
    return repost | {"full_text": text, "entities": found, "display_text_range": [0, len(text)]}


def cut_repost(text: str) -> str:
    """Return the text of a repost, which is as long as texts once were."""
    return text if len(text) <= _LONGEST_REPOST else f"{text[: _LONGEST_REPOST - 1]}\u2026"


class WrittenText(Struct, frozen=True):
    """A text as answers have it, its entities, and how places in it have moved."""

    text: str
    entities: dict[str, Any]
    stops: Sequence[int] = ()
    shifts: Sequence[int] = (0,)

    def move_all(self, places: Iterable[int]) -> list[int]:
        """Return where places of the text that was sent are now."""
        return [place + self.shifts[bisect_right(self.stops, place)] for place in places]


def write_text(
    world: World,
    text: str,
    entities: Mapping[str, Any],
    links: Links | None,
    *,
    escape: bool = True,
) -> WrittenText:
    """Return a text with its entities (1.1 form), escaped and with short links if there are any."""
    edits: list[tuple[int, int, str]] = []
    short: dict[int, dict[str, str]] = {}
    at = 0
    for start, stop in [*_find_links(text, entities if links else {}), (len(text), len(text))]:
        if start < at:
            continue
        if escape:
            found = _SPECIAL.finditer(text, at, start)
            edits += [(one.start(), one.end(), _ESCAPES[one[0]]) for one in found]
        if links is not None and start < stop:
            short[start] = shorten(world, text[start:stop], links)
            edits.append((start, stop, short[start]["url"]))
        at = stop
    if not edits:
        return WrittenText(text, dict(entities))
    parts, at = [], 0
    for start, stop, new in edits:
        parts += [text[at:start], new]
        at = stop
    sizes = accumulate((len(new) - stop + start for start, stop, new in edits), initial=0)
    written = WrittenText(
        "".join([*parts, text[at:]]), {}, [stop for _, stop, _ in edits], list(sizes)
    )
    for name, values in entities.items():
        written.entities[name] = [_move(written, one, short) for one in values or ()]
    return written


def shorten(world: World, address: str, links: Links) -> dict[str, str]:
    """Return an address as entities show it with a short link."""
    host, slash, path = address.partition("://")[2].removeprefix("www.").partition("/")
    shown = f"{host}{slash}{path}"
    if len(slash + path) > _SHOWN_PATH:
        shown = f"{shown[: len(host) + _SHOWN_PATH]}\u2026"
    return {
        "url": _make_short(world, address, links),
        "expanded_url": address,
        "display_url": shown,
    }


def _make_short(world: World, address: str, links: Links) -> str:
    size = ADDRESS_WEIGHT - len(links.short)
    noise = world.ids.noise(f"links/{address}")
    return links.short + noise[:size].translate(_LETTERS).decode()


def _find_links(text: str, entities: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the places of the links that are not short yet."""
    found = []
    for one in _list(entities, "urls"):
        start, stop = one.get("indices") or (0, 0)
        if one.get("url") == one.get("expanded_url") == text[start:stop]:
            found.append((start, stop))
    return sorted(found)


def _move(
    written: WrittenText, entity: Mapping[str, Any], short: Mapping[int, Mapping[str, str]]
) -> dict[str, Any]:
    """Return an entity at its new place, and with its short link if it has one."""
    if "indices" not in entity:  # of an annotation, which includes its end
        start, end = written.move_all([entity.get("start", 0), entity.get("end", 0) + 1])
        return {**entity, "start": start, "end": end - 1}
    indices = entity["indices"]
    link = short.get(indices[0], {}) if "expanded_url" in entity else {}
    return {**entity, **link, "indices": written.move_all(indices)}


def _find_end(entity: Mapping[str, Any]) -> int:
    end: int = entity["indices"][1] if "indices" in entity else entity.get("end", 0) + 1
    return end


def _list_ends(world: World, post: Record, links: Links) -> list[dict[str, Any]]:
    """Return the links that follow a text: to the quoted post, or to each of the media."""

    def name_address(id_: str) -> str | None:
        shown = post if id_ == post["id_str"] else world.store.get("posts", id_)
        author = world.store.get("users", "" if shown is None else shown["_user_id"])
        return None if author is None else f"{links.posts}{author['screen_name']}/status/{id_}"

    ends: list[dict[str, Any]] = []
    quoted, keys = post.get("_quoted_post_id"), post.get("_media_keys") or []
    known = [str(one.get("expanded_url")) for one in _list(post.get("entities") or {}, "urls")]
    if quoted and not any(re.search(rf"/status/{quoted}(?!\d)", address) for address in known):
        address = name_address(quoted)
        ends += [] if address is None else [shorten(world, address, links)]
    own = name_address(post["id_str"]) if keys else None
    if own is not None:
        kind = "video" if keys[0].startswith(_VIDEOS) else "photo"
        link = shorten(world, f"{own}/{kind}/1", links)
        link["display_url"] = links.pictures + link["url"].removeprefix(links.short)
        ends += [{**link, "media_key": key} for key in keys]
    return ends


def is_long(post: Record) -> bool:
    """Return whether the text of a post is over the usual length."""
    return weigh_post(post["full_text"], is_reply=bool(post.get("in_reply_to_status_id_str"))) > (
        USUAL_LENGTH
    )


def weigh_post(text: str, *, is_reply: bool) -> int:
    """Return the weighted length of a post: names at the beginning of a reply do not count."""
    return weigh_text(_ADDRESSED.sub("", text, count=1) if is_reply else text)


def show_entities(entities: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the entities of a text in the v2 form, or `None`."""
    entities = entities or {}
    found = {
        "hashtags": [_place(one) | {"tag": one.get("text")} for one in _list(entities, "hashtags")],
        "cashtags": [_place(one) | {"tag": one.get("text")} for one in _list(entities, "symbols")],
        "mentions": [_show_mention(one) for one in _list(entities, "user_mentions")],
        "urls": [_show_address(one) for one in _list(entities, "urls")],
        "annotations": list(_list(entities, "annotations")),
    }
    return {name: values for name, values in found.items() if values} or None


def _place(entity: Mapping[str, Any]) -> dict[str, int]:
    start, end = entity.get("indices") or (0, 0)
    return {"start": start, "end": end}


def _list(entities: Mapping[str, Any], name: str) -> Iterable[Mapping[str, Any]]:
    return entities.get(name) or ()


def _show_mention(mention: Mapping[str, Any]) -> dict[str, Any]:
    shown = _place(mention) | {"username": mention.get("screen_name")}
    return shown | {"id": mention["id_str"]} if "id_str" in mention else shown


def _show_address(address: Mapping[str, Any]) -> dict[str, Any]:
    return _place(address) | {name: value for name, value in address.items() if name != "indices"}


def find_entities(world: World, text: str) -> dict[str, Any]:
    """Return what a text refers to, each with its place in characters, in the 1.1 form.

    Only users who exist are mentioned.
    """
    urls = list(_URL.finditer(text))
    # Text inside an address is not a hashtag or mention.
    rest = _URL.sub(lambda found: " " * len(found.group()), text)
    mentions = []
    for found in _MENTION.finditer(rest):
        user = find_user(world, found[1])
        if user is not None:
            mentions.append(
                {
                    "screen_name": user["screen_name"],
                    "name": user["name"],
                    "id": int(user["id"]),
                    "id_str": user["id"],
                    "indices": list(found.span()),
                }
            )
    return {
        "hashtags": _find_tags(_HASHTAG, rest),
        "symbols": _find_tags(_SYMBOL, rest),
        "user_mentions": mentions,
        "urls": [show_address(found.group()) | {"indices": list(found.span())} for found in urls],
    }


_POST_ADDRESS = re.compile(
    r"https?://(?:www\.|mobile\.)?(?:x\.com|twitter\.com|platform\.example)"
    r"/(?:i/web|\w{1,15})/status/([0-9]{1,19})(?![0-9])",
    re.ASCII | re.IGNORECASE,
)


def find_post_ids(text: str) -> list[str]:
    """Return the ids of the posts whose addresses are in a text.

    Example:
        >>> find_post_ids("See https://x.com/harbor_roasters/status/17 and https://x.com/about")
        ['17']
    """
    return _POST_ADDRESS.findall(text)


def show_address(address: str) -> dict[str, str]:
    """Return an address as entities show it: short, whole, and without its scheme."""
    displayed = address.partition("://")[2]
    return {"url": address, "expanded_url": address, "display_url": displayed}


def make_source(app: Mapping[str, Any] | None) -> str:
    """Return the link to the app that made a post, as the 1.1 interface shows it."""
    app = app or {}
    return f'<a href="{app.get("url") or ""}" rel="nofollow">{app.get("name", "")}</a>'


def find_user(world: World, name: str) -> dict[str, Any] | None:
    """Return the user with a screen name, in any case, or `None`."""
    # Of all names that begin so, the name itself is the first.
    for user in world.store.prefix("users", {}, "screen_name", name, limit=1):
        if user["screen_name"].casefold() == name.casefold():
            return user
    return None


def weigh_text(text: str) -> int:
    """Return the weighted length of a text (`posts.weighted-length`)."""
    rest, addresses = _URL.subn("", unicodedata.normalize("NFC", text))
    rest, emoji = (rest, 0) if rest.isascii() else _EMOJI.subn("", rest)
    return ADDRESS_WEIGHT * addresses + 2 * emoji + _weigh_characters(rest)


def cut_text(text: str, weight: int) -> str:
    """Return the beginning of a text whose characters together have at most this weight."""
    if text[:weight].isascii():
        return text[:weight]  # each counts as one
    for end, character in enumerate(text):
        weight -= _weigh_characters(character)
        if weight < 0:
            return text[:end]
    return text


def _weigh_characters(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_ALL_LIGHT.sub("", text))


def _find_tags(pattern: re.Pattern[str], text: str) -> list[dict[str, Any]]:
    return [{"text": tag[1], "indices": list(tag.span())} for tag in pattern.finditer(text)]
