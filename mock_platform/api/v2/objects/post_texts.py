"""What the text of a post refers to, and how long it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from mock_platform.core.assumptions import public_fact
from mock_platform.world.world import World

CARD_URI = r"card://[0-9]{1,19}"

TEXT_WEIGHT = public_fact(
    "posts.weighted-length",
    "The length of a text is weighted: an address counts as 23 characters, a character of Chinese, "
    "Japanese or Korean and each emoji as 2, others as 1.",
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
    "|[\u203c-\u3299\U0001f000-\U0001faff]"
    "(?:[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f])*"
    "(?:\u200d[\u2640-\u27ff\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
"""A flag, or an emoji with the parts that are joined to it: together they count as two."""


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
    folded = name.casefold()
    for user in world.store.prefix("users", {}, "screen_name", name):
        if user["screen_name"].casefold() == folded:
            return user
        break
    return None


def weigh_text(text: str) -> int:
    """Return the weighted length of a text (`posts.weighted-length`)."""
    rest, addresses = _URL.subn("", unicodedata.normalize("NFC", text))
    rest, emoji = (rest, 0) if rest.isascii() else _EMOJI.subn("", rest)
    return ADDRESS_WEIGHT * addresses + 2 * emoji + _weigh_characters(rest)


def cut_text(text: str, weight: int) -> str:
    """Return the beginning of a text whose characters together have at most this weight."""
    for end, character in enumerate(text):
        weight -= _weigh_characters(character)
        if weight < 0:
            return text[:end]
    return text


def _weigh_characters(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_ALL_LIGHT.sub("", text))


def _find_tags(pattern: re.Pattern[str], text: str) -> list[dict[str, Any]]:
    return [{"text": tag[1], "indices": list(tag.span())} for tag in pattern.finditer(text)]
