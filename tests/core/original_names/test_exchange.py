"""The tables of names: each way is a function, and paths follow the declared segments."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mock_platform.api.served import OPERATIONS, ORIGINAL_NAMES
from mock_platform.core.operation import Operation
from mock_platform.core.original_names.translation import Names, Pairs
from mock_platform.core.unread import Shape, shape_of

TABLES = (*ORIGINAL_NAMES.pairs.values(), *ORIGINAL_NAMES.products.values())


def _list_names(pairs: Pairs) -> Iterator[Names]:
    yield pairs.names
    yield from pairs.values.values()
    for inner in pairs.within.values():
        yield from _list_names(inner)


@pytest.mark.parametrize("pairs", TABLES)
def test_each_original_has_one_neutral_name(pairs: Pairs) -> None:
    """So both ways are functions; and no original is the neutral name of something else."""
    for names in _list_names(pairs):
        assert len(set(names.values())) == len(names)
        assert not names.keys() & set(names.values())


def _shapes(shape: Shape) -> Iterator[Shape]:
    yield shape
    for inner in shape.keys.values():
        if inner is not None:
            yield from _shapes(inner)


_TWINS = {
    "post_mode", "post.fields", "like_with_post_author.fields", "in_reply_to_post_id",
    "quote_post_id",
}  # fmt: skip
"""Parameters of which the older name is taken also where names are neutral."""


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.id)
def test_no_object_declares_both_names(operation: Operation) -> None:
    """A neutral name and its original are never two parameters, except where both are taken."""
    names = ORIGINAL_NAMES.pairs[operation.dialect].names
    if operation.params is None:
        return
    for shape in _shapes(shape_of(operation.params())):
        both = {name for name in shape.keys if names.get(name) in shape.keys}
        assert both <= _TWINS


@pytest.mark.parametrize(("path", "originals"), [
    ("/12/accounts/:account_id/post", ["/12/accounts/:account_id/tweet"]),
    ("/12/accounts/:account_id/posts/:post_id/name",
     ["/12/accounts/:account_id/tweets/:post_id/name"]),
    ("/12/accounts/:account_id/draft_posts/preview/:draft_post_id",
     ["/12/accounts/:account_id/draft_tweets/preview/:draft_post_id"]),
    ("/12/accounts/:account_id", []),
])  # fmt: skip
def test_paths(path: str, originals: list[str]) -> None:
    """Segments have their original names, and each path of version 12 a twin of version 11."""
    eleven = [each.replace("/12/", "/11/") for each in [path, *originals]]

    assert sorted([*originals, *eleven]) == sorted(ORIGINAL_NAMES.list_paths(path, "ads"))


def test_versions_without_a_twin() -> None:
    """Version 5 keeps its paths; under /2 the older paths are always served."""
    assert [] == ORIGINAL_NAMES.list_paths("/5/accounts/:account_id/tailored_audiences", "ads")
    assert [] == ORIGINAL_NAMES.list_paths("/2/posts", "v2")
