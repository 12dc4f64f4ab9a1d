from __future__ import annotations

import pytest
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, MapAdapter

from mock_platform.api.served import OPERATIONS
from mock_platform.serving.flask.rules import CONVERTER, Segment, rules, sample

CARDS = "/12/accounts/a/cards"


@pytest.fixture(scope="module")
def adapter() -> MapAdapter:
    """All operations as werkzeug's rules."""
    found = Map(converters={CONVERTER: Segment})
    for rule in rules((operation for table in [OPERATIONS] for operation in table), "/sandbox"):
        found.add(rule)
    return found.bind("localhost")


@pytest.mark.claim("a static segment always wins over a parameter, whatever the method")
def test_a_static_segment_wins_whatever_the_method(adapter: MapAdapter) -> None:
    """`PUT /cards/poll` is a wrong method on the poll cards, not a card called poll."""
    with pytest.raises(MethodNotAllowed) as raised:
        adapter.match(f"{CARDS}/poll", "PUT")

    assert {"GET", "HEAD", "POST"} == set(raised.value.valid_methods or ())
    with pytest.raises(NotFound):
        adapter.match(f"{CARDS}/poll/x/y", "DELETE")
    assert ("cards.update", {"account_id": "a", "card_id": "polls"}) == adapter.match(
        f"{CARDS}/polls", "PUT"
    )


def test_operations_of_the_sandbox_are_below_its_prefix(adapter: MapAdapter) -> None:
    """An address that is built from an id is one that answers."""
    assert "/sandbox/12/accounts" == adapter.build("accounts.create", method="POST")
    assert "/12/accounts/a" == adapter.build("accounts.get", {"account_id": "a"})


def test_a_sample_is_like_no_word_of_a_path() -> None:
    """What varies becomes a segment of its own, or many for what spans segments."""
    assert "/a/~/b/~" == sample("/a/<x>/b/<int:y>")
    assert 21 == sample("/a/<path:rest>").count("/")
