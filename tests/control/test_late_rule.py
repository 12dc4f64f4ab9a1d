"""Tests of routes that compile only what finds them."""

from __future__ import annotations

from collections.abc import Callable

from werkzeug.routing import Map, Rule

from mock_platform.control.routes import LateRule


def test_addresses_are_built_as_by_a_plain_rule() -> None:
    """A late rule builds an address with its parameters and a query, more than once."""
    rules = Map([LateRule("/worlds/<name>", endpoint="one"), LateRule("/worlds", endpoint="all")])
    adapter = rules.bind("127.0.0.1")
    assert adapter.build("one", {"name": "a b"}) == "/worlds/a%20b"
    assert adapter.build("one", {"name": "c", "limit": 3}) == "/worlds/c?limit=3"
    assert adapter.build("all") == "/worlds"


def test_nothing_is_compiled_before_it_is_needed() -> None:
    """Making a rule compiles no function: its cost would be paid by each application."""
    compiled: list[bool] = []

    class Counting(Rule):
        """Notes each function that werkzeug compiles."""

        def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
            compiled.append(append_unknown)
            return super()._compile_builder(append_unknown)

    class Watched(LateRule, Counting):
        """A late rule of which each compiling is noted."""

    rules = Map([Watched("/worlds/<name>", endpoint="one")])
    assert rules.bind("127.0.0.1").match("/worlds/x") == ("one", {"name": "x"})
    assert not compiled
    assert rules.bind("127.0.0.1").build("one", {"name": "x"}) == "/worlds/x"
    assert compiled == [True]
