"""Walks through all pages of a list of the v2 interface, there and back."""

from __future__ import annotations

from typing import Any

from tests.support import BEARER, Keys, Sandbox


def walk_both_ways(
    box: Sandbox, path: str, keys: Keys | str, count: int | None = None, **query: Any
) -> tuple[list[list[str]], list[str]]:
    """The ids on each page, and the tokens of the way there; the way back has the same pages.

    Some lists have no way back.
    """
    asked: dict[str, Any] = {"max_results": count} | query
    pages, tokens = [], []
    while True:
        page = box.read(path, keys=keys, **asked)
        pages.append([each["id"] for each in page.get("data", ())])
        token = page["meta"].get("next_token")
        if token is None:
            break
        tokens.append(token)
        asked["pagination_token"] = token
    back = [pages[-1]]
    while "previous_token" in page["meta"]:
        asked["pagination_token"] = page["meta"]["previous_token"]
        page = box.read(path, keys=keys, **asked)
        back.append([each["id"] for each in page["data"]])
    assert len(back) == 1 or pages == back[::-1]
    return pages, tokens


def walk(
    box: Sandbox, path: str, keys: Keys | str = BEARER, count: int | None = None, **query: Any
) -> list[list[str]]:
    """The ids on each page of a list."""
    return walk_both_ways(box, path, keys, count, **query)[0]
