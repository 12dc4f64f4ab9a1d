"""What publications did to answers: texts and names were replaced, lists were cut.

An answer is made consistent again before it is loaded and compared.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from mock_platform.core.jsonio import dumps
from mock_platform.verification.fidelity.facts import Fact, read_body
from mock_platform.verification.fidelity.instrument import list_items

_REPLACED = "some_user"
_POSTS = frozenset({"posts", "tweets"})
_OF_REQUEST = frozenset({"ids", "id", "username", "usernames"})


def prepare(fact: Fact, own: Collection[str]) -> Fact:
    """Return a fact that can be asked, without the ids of the sandbox's `own` users."""
    request, response = fact.exchange.request, fact.exchange.response
    url, sent, body = request.url, request.body, response.body
    for each in own:
        other = f"{int(each) + 1}"
        url = url.replace(each, other)
        sent, body = (x.replace(each.encode(), other.encode()) for x in (sent, body))
    if fact.is_edited and isinstance(read := read_body(body), dict | list):
        body = dumps(_complete(_tell_apart(read), url))
    exchange = replace(
        fact.exchange,
        request=replace(request, url=url, body=sent),
        response=replace(response, body=body),
    )
    return replace(fact, exchange=exchange)


def _tell_apart(value: Any) -> Any:
    """Return an answer in which users whose names were replaced by one have different ones."""
    if isinstance(value, list):
        return [_tell_apart(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _tell_apart(each) for name, each in value.items()}
    for name in ("username", "screen_name"):
        if made.get(name) == _REPLACED and "id" in made:
            made[name] = f"user_{made['id']}"[:15]
    return made


def _complete(body: Any, url: str) -> Any:
    """Return an answer without what only the cut part of its lists referred to."""
    if not isinstance(body, dict) or "data" not in body:
        return body
    includes = body.get("includes") or {}
    shown = named = dumps(body["data"]).decode() + url
    for kind in sorted(includes, key=lambda kind: kind not in _POSTS):  # others are in these
        if isinstance(items := includes[kind], list):
            includes[kind] = [x for x in items if _is_named(x, shown if kind == "users" else named)]
        if kind in _POSTS:  # of these, users are included as authors alone
            named += dumps(includes[kind]).decode()
            shown += dumps([x.get("author_id") for x in list_items(includes[kind])]).decode()
    errors = [
        x
        for x in list_items(body.get("errors"))
        if x.get("parameter") in _OF_REQUEST or f'"{x.get("value")}"' in named
    ]
    return {
        **{name: each for name, each in body.items() if name != "errors"},
        **({"errors": errors} if errors else {}),
    }


def _is_named(record: Any, text: str) -> bool:
    """Whether a text of JSON refers to an included record."""
    keys = [record.get(name) for name in ("id", "media_key")] if isinstance(record, dict) else []
    return any(f'"{key}"' in text for key in keys if key is not None)
